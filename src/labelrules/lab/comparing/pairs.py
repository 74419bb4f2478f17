"""Signed-rank tests of pairs of learners over data sets: Wilcoxon's, and a Bayesian one."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from labelrules._checks import counted, number, one_of, random_numbers, truth_value, whole_number
from labelrules._report import Columns, FigureTable, Lines, Part, Report, Tabular, field_columns
from labelrules._types import Floats
from labelrules.constraints.significance import adjusted, checked_alpha
from labelrules.lab.comparing.score_tables import (
    DIGITS,
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
        found: SignedRanks = _pair_of(self, first, second)
        return found

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


def _pair_of(found: Any, first: str, second: str) -> Any:
    """The result for two learners, in either order."""
    for name in (first, second):
        one_of(name, "learner", found.learners)
    for one in found.pairs:
        if {one.first, one.second} == {first, second}:
            return one
    raise ValueError(f"{first!r} and {second!r} were not compared with each other")


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


_PIECE = 1 << 21
"""Numbers drawn at a time."""


class Posterior(NamedTuple):
    """Which of two learners is how probably the better one, or both are equivalent."""

    first: str
    second: str
    first_better: float
    equivalent: float
    second_better: float

    def decision(self, probability: float = 0.95) -> str:
        """What is at least so probable: the name of the better learner, "equivalent" or "open".

        Examples
        --------
        >>> Posterior("lists", "chain", 0.96, 0.03, 0.01).decision()
        'lists'
        """
        least = number(probability, "probability", above=0.5, high=1)
        names = (self.first, "equivalent", self.second)
        chances = (self.first_better, self.equivalent, self.second_better)
        return next((n for n, c in zip(names, chances, strict=True) if c >= least), "open")


@dataclass(frozen=True, repr=False)
class BayesianSignedRank(Report, Tabular):
    """Bayesian signed-rank tests of pairs of learners; from `bayesian_signed_rank`.

    Attributes
    ----------
    datasets, learners : tuple of str
    pairs : tuple of Posterior
    rope : float
        Half the width of the region of practical equivalence.
    n_samples : int
        Samples of the posterior distribution.
    prior_strength : float
        The weight of the prior observation, a difference of 0.
    """

    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    pairs: tuple[Posterior, ...]
    rope: float
    n_samples: int
    prior_strength: float = 0.5

    _gap = "\n\n"

    def pair(self, first: str, second: str) -> Posterior:
        """The probabilities for two learners, in the order in which they are named."""
        one: Posterior = _pair_of(self, first, second)
        if one.first == first:
            return one
        return Posterior(first, second, one.second_better, one.equivalent, one.first_better)

    @property
    def standard_error(self) -> float:
        """The greatest standard error of a probability that sampling leaves."""
        return 0.5 / sqrt(self.n_samples)

    def as_dict(self) -> Columns:
        """The pairs as columns, named by the fields of `Posterior`."""
        return field_columns(Posterior, self.pairs)

    @property
    def headline(self) -> str:
        """What was tested."""
        within = (
            f"differences up to {self.rope:g} are equivalent" if self.rope else "no equivalence"
        )
        return f"Bayesian signed-rank test over {counted(len(self.datasets), 'data set')}: {within}"

    def _parts(self) -> Iterator[Part]:
        titles = ["pair", "first better", "equivalent", "second better", "decision"]
        rows = [
            [
                f"{one.first} - {one.second}", f"{one.first_better:.3f}", f"{one.equivalent:.3f}",
                f"{one.second_better:.3f}", one.decision(),
            ]
            for one in self.pairs
        ]  # fmt: skip
        yield FigureTable(titles, rows)
        note = (
            f"Probabilities by {self.n_samples:,} samples, with a standard error of at most "
            f"{self.standard_error:.4f}; decisions are at least 0.95 probable."
        )
        yield Lines([note])

    def __repr__(self) -> str:
        n_rows = counted(len(self.datasets), "data set")
        n_pairs = counted(len(self.pairs), "pair")
        return f"<BayesianSignedRank: {n_pairs}, {n_rows}, rope {self.rope:g}>"


def bayesian_signed_rank(
    scores: Scores,
    *,
    rope: float = 0.01,
    higher_is_better: bool = True,
    control: str | None = None,
    n_samples: int = 50_000,
    prior_strength: float = 0.5,
    random_state: Any = None,
) -> BayesianSignedRank:
    """The Bayesian signed-rank test: the probability that a learner is better, or as good.

    A test of significance cannot say that two learners are equally good; this one can. Differences
    of scores within `rope`, the region of practical equivalence, count as equal.

    Parameters
    ----------
    scores : frame, mapping, array or ScoreTable
        Data sets by learners, as for `score_table`.
    rope : float, default=0.01
        The greatest difference without practical meaning, in units of the scores; 0 for none.
    higher_is_better : bool, default=True
        Whether greater scores are better; False for losses, errors and times.
    control : str, optional
        A learner to compare all others with; by default all pairs are compared.
    n_samples : int, default=50000
        Samples of the posterior distribution.
    prior_strength : float, default=0.5
        The weight of the prior observation, a difference of 0, where a data set has weight 1.
    random_state : int, RandomState or None, default=None
        Draws the samples. None is the same as 0.

    Returns
    -------
    BayesianSignedRank
        A table when printed.

    Notes
    -----
    The differences on the data sets and the prior observation get random weights by a Dirichlet
    distribution. For each sample of weights, all pairs of differences are summed, also each with
    itself, and a pair counts by the product of its weights for the first learner, the second, or
    equivalence, as its sum is above twice `rope`, below, or between. The probability of an outcome
    is the share of the samples in which it has the greatest weight. A sum exactly at twice `rope`
    counts half for each side; so do samples in which outcomes have equal weights.

    The result depends neither on the order of the data sets and learners nor on which of two is
    named first, as all pairs get the same samples and differences are sorted before.

    References
    ----------
    A. Benavoli, G. Corani, F. Mangili, M. Zaffalon, F. Ruggeri: A Bayesian Wilcoxon signed-rank
    test based on the Dirichlet process. International Conference on Machine Learning, 2014.
    A. Benavoli, G. Corani, J. Demšar, M. Zaffalon: Time for a change: a tutorial for comparing
    multiple classifiers through Bayesian analysis. Journal of Machine Learning Research 18, 2017.

    Examples
    --------
    >>> lists = [0.61, 0.72, 0.55, 0.83, 0.47, 0.66, 0.78]
    >>> chain = [0.58, 0.70, 0.54, 0.79, 0.42, 0.60, 0.71]
    >>> found = bayesian_signed_rank({"lists": lists, "chain": chain})
    >>> found
    <BayesianSignedRank: 1 pair, 7 data sets, rope 0.01>
    >>> found.pair("lists", "chain").decision()
    'lists'
    """
    table = table_for(scores, "the Bayesian signed-rank test", 2, 2)
    rope = number(rope, "rope", low=0)
    sign = 1.0 if truth_value(higher_is_better, "higher_is_better") else -1.0
    n_samples = whole_number(n_samples, "n_samples", low=1)
    prior_strength = number(prior_strength, "prior_strength", above=0)
    pairs = pairs_of(table.learners, control)
    gaps = [sign * differences(table.of(first), table.of(second)) for first, second in pairs]
    # the prior observation is a difference of 0, the first of all
    observed = [np.concatenate([[0.0], one]) for one in gaps]
    counts = np.zeros((len(pairs), 3))
    weights = np.concatenate([[prior_strength], np.ones(len(table.datasets))])
    random = random_numbers(random_state)
    piece = max(_PIECE // len(weights), 1)
    for start in range(0, n_samples, piece):
        drawn = random.dirichlet(weights, min(piece, n_samples - start))
        counts += [_winners(drawn, one, rope) for one in observed]
    chances = (counts / n_samples).tolist()
    found = (Posterior(*pair, *row) for pair, row in zip(pairs, chances, strict=True))
    return BayesianSignedRank(
        table.datasets, table.learners, tuple(found), rope, n_samples, prior_strength
    )


def _winners(weights: Floats, observed: Floats, rope: float) -> list[float]:
    """In how many samples each outcome has the greatest weight; equal ones share a sample.

    The first of `observed` is the prior observation. The others are sorted, and of the two signs
    that is taken whose sorted list is the greater one: neither the order of rows nor that of the
    two learners matters.
    """
    others, opposite = np.sort(observed[1:]), np.sort(-observed[1:])
    mirrored = opposite.tolist() > others.tolist()
    values = np.concatenate([[0.0], opposite if mirrored else others])
    above = _weights_above(weights, values, 2 * rope)
    below = _weights_above(weights, -values, 2 * rope)
    between = np.maximum(1.0 - above - below, 0.0) if rope else np.zeros_like(above)
    shares = np.column_stack([above, between, below])
    best = shares >= shares.max(axis=1, keepdims=True) - 1e-12
    won = (best / best.sum(axis=1, keepdims=True)).sum(axis=0)
    if opposite.tolist() == others.tolist():  # neither learner is before the other
        won = (won + won[::-1]) / 2
    return [float(one) for one in (won[::-1] if mirrored else won)]


def _weights_above(weights: Floats, values: Floats, limit: float) -> Floats:
    """For each sample the weight of the pairs whose sums are above the limit, half of those at it.

    With the values in order, the partners of each are the last ones.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    drawn = weights[:, order]
    from_here = np.cumsum(drawn[:, ::-1], axis=1)[:, ::-1]
    padded = np.column_stack([from_here, np.zeros(len(weights))])
    slack = 10.0**-DIGITS * max(float(np.abs(values).max()), limit)
    total = np.zeros(len(weights))
    for place, value in enumerate(ordered.tolist()):
        reaches = np.searchsorted(ordered, limit - value - slack, side="left")
        exceeds = np.searchsorted(ordered, limit - value + slack, side="right")
        total += drawn[:, place] * (padded[:, reaches] + padded[:, exceeds]) / 2
    return total
