"""The growth engine: its two kinds of refinements agree, and a beam only finds better rules."""

import numpy as np
import pytest

from labelrules import Measure
from labelrules.measures import Merit
from labelrules.search.bodies import grow
from labelrules.search.bodies.grow import NO_MERIT, GreedyRefinements, Growth, grow_rule
from labelrules.search.bodies.head_scorers import (
    CountedRefinements,
    FixedHeadScorer,
    LiteralScorer,
)
from refinement_cases import CASES, FORMULAS, refiner_of

GROWTHS = [
    Growth(),
    Growth(fixed=True),
    Growth(max_conditions=2, fixed=True),
    Growth(min_gain=0.05, fixed=True),
    Growth(max_conditions=1),
    Growth(max_conditions=0),
]


def counted(refiner, formula, growth, remaining=None):
    """Every refinement counted and scored on its own, for heads of one label."""
    scorer = LiteralScorer(formula, "head-relative", refiner.cells.values, 1, False, 1)
    measure = Measure(formula, "micro", "partial")

    def fixed_scorer(head):
        return FixedHeadScorer(head, measure, "head-relative", 1)

    fixed = fixed_scorer if growth.fixed else None
    return CountedRefinements(refiner, scorer, growth, remaining, fixed)


def parts(grown):
    if grown is None:
        return None
    return grown.head, grown.body.conditions, grown.merit, grown.covered.rows.tolist()


@pytest.mark.parametrize("growth", GROWTHS, ids=str)
@pytest.mark.parametrize("values", [1, 2, 3])
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
@pytest.mark.parametrize("given", CASES)
def test_a_compiled_pass_finds_what_counting_every_refinement_finds(
    given, formula, values, growth, monkeypatch
):
    """Also the compiled run of a fixed head, even if it has to be given more room."""
    monkeypatch.setattr(grow, "STEPS", 1)
    refiner = refiner_of(given, formula, values=values)
    greedy = grow_rule(GreedyRefinements(refiner, growth), growth.max_conditions)
    expected = grow_rule(counted(refiner, formula, growth), growth.max_conditions)
    assert parts(greedy) == parts(expected)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("given", CASES[4:])
def test_thresholds_lie_between_rows_that_remain(given, fixed):
    """Cells of rows that have left do not count; which of these rows a rule covers matters, too."""
    growth, remaining = Growth(fixed=fixed), given.covered
    refiner = refiner_of(given, values=2)
    refiner.cells.counted[:, :, ~remaining] = False
    greedy = grow_rule(GreedyRefinements(refiner, growth, remaining))
    expected = grow_rule(counted(refiner, FORMULAS[0], growth, remaining))
    assert parts(greedy) == parts(expected)


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
@pytest.mark.parametrize("given", CASES)
def test_a_wider_beam_is_not_worse_at_the_first_condition(given, formula):
    refiner = refiner_of(given, formula)
    rules = [grow_rule(counted(refiner, formula, Growth()), 1, width) for width in (1, 2, 5)]
    assert len({None if rule is None else rule.merit for rule in rules}) == 1


@pytest.mark.parametrize("beam_width", [2, 4])
@pytest.mark.parametrize("given", CASES)
def test_the_bodies_of_a_beam_are_distinct_and_rise(given, beam_width):
    refinements = counted(refiner_of(given), FORMULAS[1], Growth())
    start = refinements.start()
    refined = refinements.refined(start, beam_width)
    assert len({one.body for one in refined}) == len(refined) <= beam_width
    merits = [one.merit for one in refined]
    assert merits == sorted(merits, reverse=True)
    assert all(merit > start.merit for merit in merits)


def test_a_gain_is_not_needed_where_there_was_no_rule():
    growth = Growth(min_gain=0.5)
    assert growth.improves(Merit(0.1, 1), NO_MERIT)
    assert not growth.improves(Merit(0.5, 9), Merit(0.1, 1))
    assert growth.improves(Merit(0.6, 1), Merit(0.1, 9))
    assert not Growth().improves(Merit(0.5, 3), Merit(0.5, 3))
    assert Growth().improves(Merit(0.5, 4), Merit(0.5, 3))
    assert np.isneginf(NO_MERIT.value)
