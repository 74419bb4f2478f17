"""Average ranks of learners over data sets, and the tests of Friedman and Nemenyi."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import inf, isinf, sqrt
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from labelrules._checks import counted, one_of, truth_value, whole_number
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
from labelrules._types import Floats
from labelrules.constraints.significance import checked_alpha
from labelrules.lab.comparing.score_tables import (
    Scores,
    ordered_digits,
    p_text,
    table_for,
    verdict_on,
    yes_no,
)

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class AverageRanks(Report, Tabular):
    """The ranks of learners on data sets and their averages, 1 for the best; from `average_ranks`.

    Attributes
    ----------
    datasets, learners : tuple of str
    ranks : tuple of tuple of float
        For each data set the ranks of the learners; equal scores share the mean of their places.
    higher_is_better : bool
        Whether greater scores are better.
    """

    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    ranks: tuple[tuple[float, ...], ...]
    higher_is_better: bool = True

    _gap = "\n\n"

    @cached_property
    def averages(self) -> tuple[float, ...]:
        """The average rank of each learner."""
        return tuple(map(fmean, zip(*self.ranks, strict=True)))

    @property
    def order(self) -> tuple[str, ...]:
        """The learners by their average ranks, the best first; equal ones by name."""
        found = zip(self.averages, self.learners, strict=True)
        return tuple(learner for _, learner in sorted(found))

    def __getitem__(self, learner: str) -> float:
        return self.averages[self.learners.index(one_of(learner, "learner", self.learners))]

    def array(self) -> Floats:
        """The ranks as an array, data sets by learners."""
        return np.array(self.ranks, dtype=np.float64)

    def as_dict(self) -> Columns:
        """The learners in their order, as columns: `learner`, `average rank`, and all data sets."""
        places = [self.learners.index(learner) for learner in self.order]
        columns: Columns = {
            "learner": [*self.order],
            "average rank": [self.averages[place] for place in places],
        }
        for name, row in zip(self.datasets, self.ranks, strict=True):
            columns[name] = [row[place] for place in places]
        return columns

    @property
    def headline(self) -> str:
        """What was ranked."""
        better = "greater" if self.higher_is_better else "smaller"
        return (
            f"average ranks of {counted(len(self.learners), 'learner')} over "
            f"{counted(len(self.datasets), 'data set')} ({better} scores are better)"
        )

    def rows(self) -> list[list[str]]:
        """The learners in their order with their average ranks, as texts."""
        return [[learner, f"{self[learner]:.3f}"] for learner in self.order]

    def _parts(self) -> Iterator[Part]:
        yield FigureTable((), self.rows())

    def _page(self) -> Iterator[Part]:
        yield FigureTable(("learner", "average rank"), self.rows())

    def __repr__(self) -> str:
        shown = ", ".join(f"{learner} {self[learner]:.3f}" for learner in self.order[:3])
        more = ", …" if len(self.learners) > 3 else ""
        return f"<AverageRanks over {counted(len(self.datasets), 'data set')}: {shown}{more}>"


def average_ranks(scores: Scores, *, higher_is_better: bool = True) -> AverageRanks:
    """Rank learners on each data set, and average the ranks over the data sets.

    The best learner has rank 1. Learners with equal scores, to 12 significant digits, share the
    mean of their places: two best ones both have rank 1.5.

    Parameters
    ----------
    scores : frame, mapping, array or ScoreTable
        Data sets by learners, as for `score_table`.
    higher_is_better : bool, default=True
        Whether greater scores are better; False for losses, errors and times.

    Returns
    -------
    AverageRanks
        A table when printed; ``found["lists"]`` is the average rank of one learner.

    Examples
    --------
    >>> scores = {"lists": [0.6, 0.7, 0.5], "chain": [0.6, 0.6, 0.4], "trees": [0.5, 0.9, 0.3]}
    >>> found = average_ranks(scores)
    >>> print(found)
    average ranks of 3 learners over 3 data sets (greater scores are better)
    <BLANKLINE>
    lists  1.500
    chain  2.167
    trees  2.333
    >>> found.ranks[0]
    (1.5, 1.5, 3.0)
    """
    table = table_for(scores, "ranking", 2, 1)
    sign = -1.0 if truth_value(higher_is_better, "higher_is_better") else 1.0
    ranks = (stats.rankdata([sign * one for one in ordered_digits(row)]) for row in table.values)
    return AverageRanks(
        table.datasets, table.learners, tuple(tuple(row.tolist()) for row in ranks), sign < 0
    )


@dataclass(frozen=True, repr=False)
class FriedmanTest(Report, Tabular):
    """Friedman's test, and its form by Iman and Davenport; from `friedman_test`.

    Attributes
    ----------
    ranks : AverageRanks
    alpha : float
        The level of significance.
    statistic, p : float
        Friedman's chi-square statistic, with `degrees` of freedom, and its p-value.
    f_statistic, f_p : float
        The F statistic of Iman and Davenport, with `f_degrees` of freedom, and its p-value.
    corrects_ties : bool
        Whether the statistic is corrected for ties.
    """

    ranks: AverageRanks
    alpha: float
    statistic: float
    p: float
    f_statistic: float
    f_p: float
    corrects_ties: bool = True

    _gap = "\n\n"

    @property
    def degrees(self) -> int:
        """The degrees of freedom of the chi-square distribution: the learners less one."""
        return len(self.ranks.learners) - 1

    @property
    def f_degrees(self) -> tuple[int, int]:
        """The degrees of freedom of the F distribution."""
        return self.degrees, self.degrees * (len(self.ranks.datasets) - 1)

    @property
    def significant(self) -> bool:
        """Whether Friedman's test finds that learners differ."""
        return self.p <= self.alpha

    @property
    def f_significant(self) -> bool:
        """Whether the test of Iman and Davenport finds that learners differ."""
        return self.f_p <= self.alpha

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of this result: all ties, equal orders, few data sets or learners."""
        ranks = self.ranks.array()
        notes = []
        if (ranks == ranks[0, 0]).all():
            notes.append("All learners are equal on every data set: there is nothing to test.")
        if isinf(self.f_statistic):
            notes.append("The order of the learners is the same on every data set: F is infinite.")
        n_rows, n_learners = ranks.shape
        if n_rows <= 10 or n_learners <= 5:
            notes.append(
                f"p-values are approximate with {counted(n_rows, 'data set')} and "
                f"{counted(n_learners, 'learner')}: more than 10 and more than 5 are advised."
            )
        return tuple(notes)

    def as_dict(self) -> Columns:
        """Both tests as columns: `test`, `statistic`, `degrees`, `p`, `significant`."""
        return {
            "test": ["Friedman", "Iman-Davenport"],
            "statistic": [self.statistic, self.f_statistic],
            "degrees": [str(self.degrees), ", ".join(map(str, self.f_degrees))],
            "p": [self.p, self.f_p],
            "significant": [self.significant, self.f_significant],
        }

    @property
    def headline(self) -> str:
        """The question of the test."""
        ranks = self.ranks
        return (
            f"Do {counted(len(ranks.learners), 'learner')} differ over "
            f"{counted(len(ranks.datasets), 'data set')}? (alpha = {self.alpha:g})"
        )

    def _parts(self) -> Iterator[Part]:
        found = self.as_dict()
        found["statistic"] = [f"{value:.4f}" for value in found["statistic"]]
        found["p"] = [p_text(p) for p in found["p"]]
        found["significant"] = [yes_no(yes) for yes in found["significant"]]
        yield FigureTable([*found], list(zip(*found.values(), strict=True)))
        yield Lines(self.notes)

    def __repr__(self) -> str:
        n_rows, n_learners = len(self.ranks.datasets), len(self.ranks.learners)
        return (
            f"<FriedmanTest: {counted(n_learners, 'learner')}, {counted(n_rows, 'data set')}, "
            f"chi-square {self.statistic:.4f}, p {p_text(self.p)}>"
        )


def friedman_test(
    scores: Scores,
    *,
    higher_is_better: bool = True,
    alpha: float = 0.05,
    correct_ties: bool = True,
) -> FriedmanTest:
    """Test whether learners differ over data sets, as Friedman, and as Iman and Davenport do.

    The null hypothesis is that all learners are equally good, so that their average ranks differ by
    chance only. Friedman's statistic follows a chi-square distribution with many data sets, and is
    too cautious with few; Iman and Davenport made an F statistic of it.

    Parameters
    ----------
    scores : frame, mapping, array or ScoreTable
        Data sets by learners, as for `score_table`: at least 2 and at least 3.
    higher_is_better : bool, default=True
        Whether greater scores are better; False for losses, errors and times.
    alpha : float, default=0.05
        The level of significance.
    correct_ties : bool, default=True
        Whether ties raise the statistic, as they should, and do in SciPy; Demšar's formula and
        example leave them as they are.

    Returns
    -------
    FriedmanTest
        A table when printed.

    Notes
    -----
    With ties corrected, the F statistic is that of an analysis of variance of the ranks. If all
    learners are equal on every data set, the statistics are 0 and p is 1; if their order is the
    same on every data set, F is infinite. `notes` says so.

    References
    ----------
    M. Friedman: The use of ranks to avoid the assumption of normality implicit in the analysis of
    variance. Journal of the American Statistical Association 32, 1937.
    R. L. Iman, J. M. Davenport: Approximations of the critical region of the Friedman statistic.
    Communications in Statistics 9, 1980.
    J. Demšar: Statistical comparisons of classifiers over multiple data sets. Journal of Machine
    Learning Research 7, 2006.

    Examples
    --------
    >>> scores = {
    ...     "lists": [0.6, 0.7, 0.5, 0.8], "chain": [0.5, 0.6, 0.6, 0.7], "br": [0.4, 0.5, 0.3, 0.6]
    ... }
    >>> print(friedman_test(scores))
    Do 3 learners differ over 4 data sets? (alpha = 0.05)
    <BLANKLINE>
    test            statistic  degrees       p  significant
    Friedman           6.5000        2  0.0388          yes
    Iman-Davenport    13.0000     2, 6  0.0066          yes
    <BLANKLINE>
    p-values are approximate with 4 data sets and 3 learners: more than 10 and more than 5 are ...
    """
    table = table_for(scores, "the Friedman test", 3, 2)
    alpha = checked_alpha(alpha)
    corrects = truth_value(correct_ties, "correct_ties")
    ranks = average_ranks(table, higher_is_better=higher_is_better)
    statistic, p = _friedman(ranks.array(), corrects)
    f_statistic, f_p = _iman_davenport(statistic, *ranks.array().shape)
    return FriedmanTest(ranks, alpha, statistic, p, f_statistic, f_p, corrects)


def _friedman(ranks: Floats, corrects_ties: bool) -> tuple[float, float]:
    """The chi-square statistic and its p-value."""
    n_rows, n_learners = ranks.shape
    if (ranks == ranks[0, 0]).all():
        return 0.0, 1.0
    if corrects_ties:
        found = stats.friedmanchisquare(*ranks.T)
        return float(found.statistic), float(found.pvalue)
    squares = float(np.square(ranks.sum(axis=0)).sum()) / n_rows
    statistic = 12 * squares / (n_learners * (n_learners + 1)) - 3 * n_rows * (n_learners + 1)
    return statistic, float(stats.chi2.sf(statistic, n_learners - 1))


def _iman_davenport(statistic: float, n_rows: int, n_learners: int) -> tuple[float, float]:
    """The F statistic and its p-value; infinite if the order is always the same."""
    left = n_rows * (n_learners - 1) - statistic
    if left <= 1e-9 * n_rows * n_learners:
        return inf, 0.0
    f_statistic = (n_rows - 1) * statistic / left
    degrees = n_learners - 1
    return f_statistic, float(stats.f.sf(f_statistic, degrees, degrees * (n_rows - 1)))


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
