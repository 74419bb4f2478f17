"""Ranks of learners over data sets, and their tests, from the outcomes of fits."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from labelrules.lab import (
    AverageRanks,
    FriedmanTest,
    NemenyiTest,
    average_ranks,
    friedman_test,
    nemenyi_test,
)

Outcomes: TypeAlias = dict[tuple[str, str], dict[str, Any]]
"""From learner and data set to what came of the fit."""

QUALITIES = ("micro_f1", "example_f1", "subset")
TOGETHER = ("micro_f1", "subset", "literals")
"""The measures whose ranks are averaged: quality of cells, quality of rows, size."""

LEAST_QUALITY, MOST_LITERALS = -1.0, 1e15
"""Of a fit without a result: it is behind all that have one, and ties with others without."""


def is_done(found: Outcomes, learner: str, name: str) -> bool:
    """Whether there is a result."""
    return found.get((learner, name), {}).get("status") == "done"


def scores(
    found: Outcomes, learners: Iterable[str], sets: Iterable[str], measure: str
) -> dict[str, list[float]]:
    """A measure by learner, one value for each data set."""
    worst = MOST_LITERALS if measure == "literals" else LEAST_QUALITY
    return {
        learner: [
            float(found[learner, name][measure]) if is_done(found, learner, name) else worst
            for name in sets
        ]
        for learner in learners
    }


def ranks(found: Outcomes, learners: list[str], sets: Iterable[str], measure: str) -> AverageRanks:
    """Average ranks by a measure, 1 for the best; of literals fewer are better."""
    table = scores(found, learners, [*sets], measure)
    return average_ranks(table, higher_is_better=measure != "literals")


def mean_ranks(found: Outcomes, learners: list[str], sets: Iterable[str]) -> dict[str, list[float]]:
    """For each learner and data set the mean of its ranks by the three measures together."""
    names = [*sets]
    tables = [ranks(found, learners, names, measure).ranks for measure in TOGETHER]
    return {
        learner: [
            sum(table[row][place] for table in tables) / len(tables) for row in range(len(names))
        ]
        for place, learner in enumerate(learners)
    }


def together(found: Outcomes, learners: list[str], sets: Iterable[str]) -> dict[str, float]:
    """The mean rank over data sets and the three measures, the best first; ties by name."""
    table = mean_ranks(found, learners, sets)
    means = {learner: sum(row) / len(row) for learner, row in table.items()}
    return dict(sorted(means.items(), key=lambda pair: (pair[1], pair[0])))


def tests_of(
    found: Outcomes, learners: list[str], sets: Iterable[str]
) -> tuple[FriedmanTest, NemenyiTest]:
    """Friedman's and Nemenyi's test of the mean ranks, the data sets being the blocks."""
    table = mean_ranks(found, learners, sets)
    return (
        friedman_test(table, higher_is_better=False),
        nemenyi_test(table, higher_is_better=False),
    )
