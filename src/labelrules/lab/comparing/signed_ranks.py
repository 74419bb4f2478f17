"""Wilcoxon's signed-rank test of pairs of learners over data sets, corrected by Holm's method."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from labelrules._checks import counted, one_of, truth_value
from labelrules._report import Columns, FigureTable, Lines, Part, Report, Tabular, field_columns
from labelrules._types import Floats
from labelrules.constraints.significance import adjusted, checked_alpha
from labelrules.lab.comparing.score_tables import (
    Scores,
    differences,
    p_text,
    pairs_of,
    table_for,
    verdict_on,
    yes_no,
)

ZERO_METHODS = ("wilcox", "pratt", "zsplit")


class SignedRanks(NamedTuple):
    """Wilcoxon's test of two learners.

    `plus` is the sum of the ranks of the data sets on which the first is better, `minus` that of
    those on which the second is; `n_equal` counts those on which both are equal.
    """

    first: str
    second: str
    plus: float
    minus: float
    n_equal: int
    p: float
    corrected: float
    significant: bool

    @property
    def better(self) -> str | None:
        """The learner that is significantly better, if one is."""
        if not self.significant:
            return None
        return self.first if self.plus > self.minus else self.second


@dataclass(frozen=True, repr=False)
class WilcoxonHolm(Report, Tabular):
    """Wilcoxon's test of pairs of learners, corrected by Holm's method; from `wilcoxon_holm`.

    Attributes
    ----------
    datasets, learners : tuple of str
    pairs : tuple of SignedRanks
        The smallest p first.
    alpha : float
        The level of significance, for all pairs together.
    zero_method : {"wilcox", "pratt", "zsplit"}
    """

    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    pairs: tuple[SignedRanks, ...]
    alpha: float
    zero_method: str = "wilcox"

    _gap = "\n\n"

    def pair(self, first: str, second: str) -> SignedRanks:
        """The test of two learners, in either order."""
        for name in (first, second):
            one_of(name, "learner", self.learners)
        for one in self.pairs:
            if {one.first, one.second} == {first, second}:
                return one
        raise ValueError(f"{first!r} and {second!r} were not compared with each other")

    def as_dict(self) -> Columns:
        """The pairs as columns, named by the fields of `SignedRanks`."""
        return field_columns(SignedRanks, self.pairs)

    @property
    def verdict(self) -> str:
        """How many pairs differ, in words."""
        return verdict_on(self.pairs)

    @property
    def headline(self) -> str:
        """What was tested."""
        return (
            f"Wilcoxon signed-rank tests over {counted(len(self.datasets), 'data set')}, corrected "
            f"by Holm's method (alpha = {self.alpha:g})"
        )

    def _parts(self) -> Iterator[Part]:
        titles = ["pair", "plus", "minus", "equal", "p", "corrected", "significant"]
        rows = [
            [
                f"{one.first} - {one.second}", f"{one.plus:g}", f"{one.minus:g}", f"{one.n_equal}",
                p_text(one.p), p_text(one.corrected), yes_no(one.significant),
            ]
            for one in self.pairs
        ]  # fmt: skip
        yield FigureTable(titles, rows)
        nothing = [one for one in self.pairs if one.n_equal == len(self.datasets)]
        told = [
            f"{one.first} and {one.second} are equal on every data set: there is nothing to test."
            for one in nothing
        ]
        yield Lines([f"{self.verdict}.", *told])

    def __repr__(self) -> str:
        n_rows = counted(len(self.datasets), "data set")
        return f"<WilcoxonHolm: {counted(len(self.learners), 'learner')}, {n_rows}, {self.verdict}>"


def wilcoxon_holm(
    scores: Scores,
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
    control: str | None = None,
    zero_method: str = "wilcox",
) -> WilcoxonHolm:
    """Wilcoxon's signed-rank test of pairs of learners, two-sided, corrected by Holm's method.

    For two learners the differences of their scores are ranked by size, the smallest first; if both
    are equally good, the ranks of positive and of negative differences have about the same sum.
    Other learners do not matter, but for the number of tests.

    Parameters
    ----------
    scores : frame, mapping, array or ScoreTable
        Data sets by learners, as for `score_table`.
    higher_is_better : bool, default=True
        Whether greater scores are better; False for losses, errors and times.
    alpha : float, default=0.05
        The level of significance, for all pairs together.
    control : str, optional
        A learner to compare all others with; by default all pairs are compared.
    zero_method : {"wilcox", "pratt", "zsplit"}, default="wilcox"
        What to do where both are equal: leave these data sets out before ranking ("wilcox"), or
        after it ("pratt"), or give half their ranks to each side ("zsplit", as Demšar does).

    Returns
    -------
    WilcoxonHolm
        A table when printed.

    Notes
    -----
    p-values are exact, whatever the ties and the number of data sets: each difference that is not 0
    could as well have the other sign. SciPy's are the same up to 50 data sets without ties or zeros
    and up to 13 with some, and else by a normal approximation. With n data sets p is at least
    2 / 2ⁿ, so that fewer than 6 never show a difference at 0.05.

    Differences are rounded to 12 significant digits of the scores, so that 0.8 - 0.7 and 0.7 - 0.6
    tie.

    References
    ----------
    F. Wilcoxon: Individual comparisons by ranking methods. Biometrics Bulletin 1, 1945.
    S. Holm: A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 1979.

    Examples
    --------
    >>> lists = [0.61, 0.72, 0.55, 0.83, 0.47, 0.66, 0.78]
    >>> chain = [0.58, 0.70, 0.54, 0.79, 0.42, 0.60, 0.71]
    >>> print(wilcoxon_holm({"lists": lists, "chain": chain}))
    Wilcoxon signed-rank tests over 7 data sets, corrected by Holm's method (alpha = 0.05)
    <BLANKLINE>
    pair           plus  minus  equal       p  corrected  significant
    lists - chain    28      0      0  0.0156     0.0156          yes
    <BLANKLINE>
    1 of 1 pair of learners differs significantly.
    """
    table = table_for(scores, "Wilcoxon's test", 2, 2)
    sign = 1.0 if truth_value(higher_is_better, "higher_is_better") else -1.0
    alpha = checked_alpha(alpha)
    one_of(zero_method, "zero_method", ZERO_METHODS)
    pairs = pairs_of(table.learners, control)
    gaps = [sign * differences(table.of(first), table.of(second)) for first, second in pairs]
    found = [_signed_ranks(one, zero_method) for one in gaps]
    corrected = adjusted([p for _, _, p in found], "holm").tolist()
    tests = [
        SignedRanks(*pair, plus, minus, int((one == 0).sum()), p, raised, raised <= alpha)
        for pair, one, (plus, minus, p), raised in zip(pairs, gaps, found, corrected, strict=True)
    ]
    tests.sort(key=lambda one: (one.p, one.first, one.second))
    return WilcoxonHolm(table.datasets, table.learners, tuple(tests), alpha, zero_method)


def _signed_ranks(gaps: Floats, zero_method: str) -> tuple[float, float, float]:
    """The sums of the ranks of positive and negative differences, and the p-value."""
    if zero_method == "wilcox":
        gaps = gaps[gaps != 0]
    ranks = stats.rankdata(np.abs(gaps))
    plus, minus = float(ranks[gaps > 0].sum()), float(ranks[gaps < 0].sum())
    p = _exact_p(ranks[gaps != 0], min(plus, minus))
    shared = float(ranks[gaps == 0].sum()) / 2 if zero_method == "zsplit" else 0.0
    return plus + shared, minus + shared, p


def _exact_p(ranks: Floats, smaller: float) -> float:
    """The two-sided p-value of the smaller sum, if each rank is as likely to have either sign.

    >>> _exact_p(np.array([1.0, 2.0, 3.0]), 0.0)
    0.25
    """
    doubled = np.rint(2 * ranks).astype(np.int64)  # ranks may be halves
    chances = np.zeros(int(doubled.sum()) + 1)  # of each sum of positive ranks
    chances[0] = 1.0
    for rank in np.sort(doubled).tolist():
        chances[rank:] = (chances[rank:] + chances[: len(chances) - rank]) / 2
        chances[:rank] /= 2
    return min(2 * float(chances[: round(2 * smaller) + 1].sum()), 1.0)
