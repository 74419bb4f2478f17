"""Nemenyi's test: which learners differ in their average ranks over data sets."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

from scipy import stats

from labelrules._checks import counted, whole_number
from labelrules._report import (
    Columns,
    FigureTable,
    Lines,
    Part,
    Picture,
    Report,
    Table,
    Tabular,
    field_columns,
)
from labelrules.constraints.significance import checked_alpha
from labelrules.lab.comparing.ranks import AverageRanks, average_ranks
from labelrules.lab.comparing.score_tables import (
    Scores,
    p_text,
    table_for,
    verdict_on,
    yes_no,
)

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes


def critical_difference(*, n_datasets: int, n_learners: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference: average ranks that differ by as much differ significantly.

    Parameters
    ----------
    n_datasets : int
        The number of data sets, the chapter's N.
    n_learners : int
        The number of learners that are compared, the chapter's k.
    alpha : float, default=0.05
        The level of significance, for all pairs together.

    Notes
    -----
    ``q * sqrt(k (k + 1) / (6 N))``, where q is a quantile of the studentized range of k groups with
    infinite degrees of freedom, divided by the root of 2.

    Examples
    --------
    That of the chapter, ten learners on eight data sets:

    >>> round(critical_difference(n_datasets=8, n_learners=10, alpha=0.05), 3)
    4.789
    """
    n_datasets = whole_number(n_datasets, "n_datasets", low=2)
    n_learners = whole_number(n_learners, "n_learners", low=2)
    return _critical_value(n_learners, checked_alpha(alpha)) * _scale(n_datasets, n_learners)


@cache
def _critical_value(n_learners: int, alpha: float) -> float:
    """The critical value q of the differences, in units of `_scale`."""
    return float(stats.studentized_range.ppf(1 - alpha, n_learners, inf)) / sqrt(2)


def _scale(n_datasets: int, n_learners: int) -> float:
    """The standard error of a difference of average ranks."""
    return sqrt(n_learners * (n_learners + 1) / (6 * n_datasets))


class NemenyiPair(NamedTuple):
    """Two learners, the one with the smaller average rank first, and how they differ."""

    better: str
    worse: str
    difference: float
    p: float
    significant: bool


@dataclass(frozen=True, repr=False)
class NemenyiTest(Report, Tabular):
    """Which learners differ in their average ranks; from `nemenyi_test`.

    In a notebook it shows its critical-difference diagram.

    Attributes
    ----------
    ranks : AverageRanks
    alpha : float
        The level of significance, for all pairs together.
    critical_difference : float
        Average ranks that differ by as much or more differ significantly.
    p : tuple of tuple of float
        The p-values, learners by learners; 1 on the diagonal.
    """

    ranks: AverageRanks
    alpha: float
    critical_difference: float
    p: tuple[tuple[float, ...], ...]

    _gap = "\n\n"

    @property
    def pairs(self) -> tuple[NemenyiPair, ...]:
        """All pairs of learners, the smallest p first."""
        found = []
        for better, worse in combinations(self.ranks.order, 2):
            difference = self.ranks[worse] - self.ranks[better]
            significant = difference >= self.critical_difference
            p = self.p_of(better, worse)
            found.append(NemenyiPair(better, worse, difference, p, significant))
        return tuple(sorted(found, key=lambda pair: (-pair.difference, pair.better, pair.worse)))

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The largest groups of learners that do not differ significantly, the best first.

        A learner may be in several groups; one that differs from all others is in none.
        """
        return tuple(self._groups())

    def _groups(self) -> Iterator[tuple[str, ...]]:
        order, last_end = self.ranks.order, 1
        for start in range(len(order)):
            first = self.ranks[order[start]]
            gaps = [self.ranks[learner] - first for learner in order]
            end = sum(gap < self.critical_difference for gap in gaps)
            if end > max(last_end, start + 1):
                yield order[start:end]
            last_end = max(last_end, end)

    def p_of(self, first: str, second: str) -> float:
        """The p-value of two learners."""
        learners = self.ranks.learners
        self.ranks[first], self.ranks[second]  # which name unknown learners
        return self.p[learners.index(first)][learners.index(second)]

    def as_dict(self) -> Columns:
        """The pairs as columns: `better`, `worse`, `difference`, `p`, `significant`."""
        return field_columns(NemenyiPair, self.pairs)

    def svg(self) -> "Markup":
        """The critical-difference diagram, as by `critical_difference_svg`."""
        from labelrules.lab.comparing.diagrams import critical_difference_svg

        return critical_difference_svg(self)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The critical-difference diagram, as by `plot_critical_difference`."""
        from labelrules.lab.comparing.diagrams import plot_critical_difference

        return plot_critical_difference(self, ax)

    @property
    def verdict(self) -> str:
        """How many pairs differ, in words."""
        return verdict_on(self.pairs)

    @property
    def headline(self) -> str:
        """What was tested, and the critical difference."""
        ranks = self.ranks
        return (
            f"Nemenyi test of {counted(len(ranks.learners), 'learner')} over "
            f"{counted(len(ranks.datasets), 'data set')}: critical difference "
            f"{self.critical_difference:.3f} (alpha = {self.alpha:g})"
        )

    def rows(self) -> list[list[str]]:
        """The learners in their order, their average ranks, and letters of their groups."""
        return [
            [*row, "".join(_letter(number) for number in self._numbers(row[0]))]
            for row in self.ranks.rows()
        ]

    def _numbers(self, learner: str) -> list[int]:
        return [number for number, group in enumerate(self.groups) if learner in group]

    def _parts(self) -> Iterator[Part]:
        yield FigureTable(["learner", "average rank", "groups"], self.rows())
        shared = ["Learners that share a letter do not differ significantly."]
        yield Lines([f"{self.verdict}.", *(shared if self.groups else [])])

    def _page(self) -> Iterator[Part]:
        yield Lines([f"{self.verdict}."])
        yield Picture(self.svg())
        pairs = [
            [one.better, one.worse, f"{one.difference:.3f}", p_text(one.p), yes_no(one.significant)]
            for one in self.pairs
        ]
        yield Table(("better", "worse", "difference", "p", "significant"), pairs)

    def __repr__(self) -> str:
        return (
            f"<NemenyiTest: {counted(len(self.ranks.learners), 'learner')}, "
            f"{counted(len(self.ranks.datasets), 'data set')}, critical difference "
            f"{self.critical_difference:.3f}, {self.verdict}>"
        )


def _letter(number: int) -> str:
    """A to Z, and then a1, b1 and so on, which no one should need."""
    return chr(ord("a") + number % 26) + (str(number // 26) if number >= 26 else "")


def nemenyi_test(
    scores: Scores, *, higher_is_better: bool = True, alpha: float = 0.05
) -> NemenyiTest:
    """Nemenyi's test which learners differ over data sets, all pairs at once.

    Two learners differ significantly if their average ranks differ by the critical difference or
    more. It follows a Friedman test that found that learners differ (`friedman_test`).

    Parameters
    ----------
    scores : frame, mapping, array or ScoreTable
        Data sets by learners, as for `score_table`: at least 2 and at least 2.
    higher_is_better : bool, default=True
        Whether greater scores are better; False for losses, errors and times.
    alpha : float, default=0.05
        The level of significance, for all pairs together.

    Returns
    -------
    NemenyiTest
        A table when printed; `svg` and `plot` draw it, `groups` are the learners not told apart.

    Notes
    -----
    Ties do not change the critical difference. The p-values are those of the studentized range.
    Whether two learners differ depends on the others that are compared with them: where that is not
    wanted, take `wilcoxon_holm` or `bayesian_signed_rank`, which look at two at a time.

    References
    ----------
    P. B. Nemenyi: Distribution-free multiple comparisons. Thesis, Princeton University, 1963.
    J. Demšar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine
    Learning Research 7, 2006.
    A. Benavoli, G. Corani, F. Mangili: Should we really use post-hoc tests based on mean-ranks?
    Journal of Machine Learning Research 17, 2016.

    Examples
    --------
    >>> scores = {
    ...     "lists": [0.6, 0.7, 0.5, 0.8], "chain": [0.5, 0.6, 0.6, 0.7], "br": [0.4, 0.5, 0.3, 0.6]
    ... }
    >>> found = nemenyi_test(scores)
    >>> print(found)
    Nemenyi test of 3 learners over 4 data sets: critical difference 1.657 (alpha = 0.05)
    <BLANKLINE>
    learner  average rank  groups
    lists           1.250       a
    chain           1.750      ab
    br              3.000       b
    <BLANKLINE>
    1 of 3 pairs of learners differs significantly.
    Learners that share a letter do not differ significantly.
    >>> found.groups
    (('lists', 'chain'), ('chain', 'br'))
    """
    table = table_for(scores, "the Nemenyi test", 2, 2)
    ranks = average_ranks(table, higher_is_better=higher_is_better)
    sizes = {"n_datasets": len(table.datasets), "n_learners": len(table.learners)}
    difference = critical_difference(**sizes, alpha=alpha)
    scale = _scale(**sizes)
    p = tuple(
        tuple(_p_value(abs(one - other) / scale, len(ranks.learners)) for other in ranks.averages)
        for one in ranks.averages
    )
    return NemenyiTest(ranks, float(alpha), difference, p)


def _p_value(difference: float, n_learners: int) -> float:
    """The p-value of a difference of average ranks in units of `_scale`."""
    if difference == 0.0:
        return 1.0
    p = float(stats.studentized_range.sf(difference * sqrt(2), n_learners, inf))
    return min(max(p, 0.0), 1.0)
