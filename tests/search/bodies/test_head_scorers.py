"""Scores of many bodies, against scoring one head at a time."""

import numpy as np
import pytest

from labelrules import UNSET, Measure
from labelrules.measures import Merit
from labelrules.rules import Head
from labelrules.search.bodies.head_scorers import (
    FixedHeadScorer,
    LiteralScorer,
    RowScorer,
    TallyScorer,
    count_body,
)
from refinement_cases import CASES, FORMULAS, refiner_of

LABELS = np.arange(3)
EVERY_HEAD = [
    Head(
        {label: value for label, value in zip(LABELS.tolist(), cells, strict=True) if value >= 0}, 3
    )
    for cells in np.ndindex(3, 3, 3)
    if any(cells)
    for cells in [[cell - 1 for cell in cells]]
]


def counts_of(given, refiner):
    rows = np.flatnonzero(given.covered)
    return count_body(refiner, refiner.everywhere._replace(mask=given.covered, rows=rows), LABELS)


def merit_of(given, measure, counting, head):
    """None if a label has no right cell, or covers nothing that counts."""
    Y, covered, board = given.data.Y, given.covered, np.ascontiguousarray(given.board)
    for label, value in head:
        inside = covered & (board[:, label] == UNSET)
        if not (Y[inside, label] == value).any():
            return None
    return measure.merit_of_rule(Y, covered, head.vector(), board, counting)


@pytest.mark.parametrize("counting", ["head-relative", "chapter"])
@pytest.mark.parametrize("averaging", ["micro", "macro"])
@pytest.mark.parametrize("given", CASES)
def test_a_given_head(given, averaging, counting):
    measure = Measure(FORMULAS[1], averaging, "partial")
    counts = counts_of(given, refiner_of(given))
    for head in EVERY_HEAD:
        scorer = FixedHeadScorer(head, measure, counting, 1, factor=2.0)
        (value,), (correct,) = scorer.merits(counts, [])
        expected = merit_of(given, measure, counting, head)
        if expected is None:
            assert value == -np.inf
        else:
            assert (value, correct) == (pytest.approx(2 * expected.value), expected.correct)
        assert scorer.head(counts, given.covered) is head


@pytest.mark.parametrize("counting", ["head-relative", "chapter"])
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
@pytest.mark.parametrize("given", CASES)
def test_the_best_literal(given, formula, counting):
    measure = Measure(formula, "micro", "partial")
    counts = counts_of(given, refiner_of(given))
    scorer = LiteralScorer(formula, counting, np.full(3, 3, np.int8), 1, False, 1)
    found = Merit(*(part[0] for part in scorer.merits(counts, [])))
    singles = [head for head in EVERY_HEAD if len(head) == 1]
    merits = {head: merit_of(given, measure, counting, head) for head in singles}
    known = {head: merit for head, merit in merits.items() if merit is not None}
    if not known:
        assert found.value == -np.inf
        return
    assert found == max(known.values())
    assert known[scorer.head(counts, given.covered)] == found


@pytest.mark.parametrize("text", ["hamming/micro/full", "f1/macro/full", "precision/macro/partial"])
@pytest.mark.parametrize("given", CASES)
def test_tallies_and_rows_lead_to_the_same_value(given, text):
    measure, refiner = Measure.parse(text), refiner_of(given)
    truth, counted = refiner.cells.truth, refiner.cells.counted[0]
    counts = counts_of(given, refiner)
    by_tally = TallyScorer(measure, "head-relative", "both", 3, given.data.n_rows, False)
    by_row = RowScorer(
        measure, "head-relative", "both", truth, counted, None, 3, 1, np.zeros(3, np.bool_), False
    )  # fmt: skip
    one = by_tally.merits(counts, [])
    other = by_row.merits(counts, [given.covered])
    if np.isfinite(other.values[0]) and counted[:, given.covered].any(axis=1).all():
        assert one.values[0] == pytest.approx(other.values[0])
        assert by_tally.head(counts, given.covered) == by_row.head(counts, given.covered)
