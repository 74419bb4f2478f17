"""Average ranks of learners over data sets, and Friedman's test whether they differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf
from statistics import fmean

import numpy as np
from scipy import stats

from labelrules._checks import counted, one_of, truth_value
from labelrules._report import Columns, FigureTable, Lines, Part, Report, Tabular
from labelrules._types import Floats
from labelrules.constraints.significance import checked_alpha
from labelrules.lab.comparing.score_tables import (
    Scores,
    ordered_digits,
    p_text,
    table_for,
    yes_no,
)


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
    """Friedman's test whether learners differ over data sets, and that of Iman and Davenport.

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
