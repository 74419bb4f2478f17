"""The kernels that list, count, score and choose refinements, against counting one by one.

Also run uncompiled: compiled code reads out of bounds without complaint.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from labelrules import UNSET, Condition
from labelrules.data.codes.thresholds import simplest_between
from labelrules.kernels.covering.refine import STEP, BestRefinements, count_refinements
from labelrules.kernels.index import count_written, list_labels, narrow, narrow_to_few
from labelrules.measures import Tally, confusion
from labelrules.search.bodies.best_by_column import most_of_columns
from labelrules.search.bodies.refine import Covered
from refinement_cases import CASES, FORMULAS, case, refiner_of

NOTHING = -np.inf


def narrowed(refiner, covered):
    """The covered rows, with the columns listing them only."""
    target = refiner.columns.space_for_narrowing
    narrow(refiner.columns.index, 0, refiner.n_features, covered, target)
    return Covered(covered, np.flatnonzero(covered), target)


def conditions(data, covered, j):
    """All refinements by a column, in order."""
    column = data.column(j)[covered]
    values = np.unique(column[~np.isnan(column)]).tolist()
    if data.schema.features[j].is_numeric:
        for low, high in pairwise(values):
            threshold = simplest_between(low, high)
            yield from (Condition.at_most(j, threshold), Condition.above(j, threshold))
        return
    yield from (Condition.equals(j, int(value)) for value in values)
    if len(values) > 2:
        yield from (Condition.differs(j, int(value)) for value in values)


class Literal(NamedTuple):
    """What a body is worth with a head of one label."""

    value: float
    right: int


def literal(refiner, data, inside, label, value, formula, relative, smallest):
    """Count the cells and score them; None if there is nothing right or too few cells."""
    counted = refiner.cells.counted[value if refiner.n_layers == 2 else 0, label]
    truth = data.Y[:, label]
    parts = (counted & inside, counted)
    tally = Tally(*(np.array((part & (truth == v)).sum()) for part in parts for v in (1, 0)))
    matrix = confusion(tally, value, "head-relative" if relative else "chapter")
    if matrix.tp == 0 or parts[0].sum() < smallest:
        return None
    return Literal(float(formula(*(int(count) for count in matrix))), int(matrix.tp))


# ---------------------------------------------------------------- columns


def check_listing(listing, data, covered):
    """Rows by rising value, the first of each value marked, missing ones last."""
    for j in range(data.schema.n_features):
        column = data.column(j)
        start, middle, valid, stop = (int(part[j]) for part in listing[1:])
        entries = listing.entries[start:stop]
        rows = np.where(entries < 0, ~entries, entries)
        assert covered[rows].all()
        assert len(set(rows.tolist())) == len(rows)
        assert np.isnan(column[rows[valid - start :]]).all()
        listed = column[rows[: valid - start]]
        is_first = np.concatenate([[True], listed[1:] != listed[:-1]])[: len(listed)]
        # Where the value that is not listed lies between, the next value begins anew anyway.
        assert ((entries[: valid - start] < 0) == is_first).all()
        unlisted = covered.copy()
        unlisted[rows] = False
        left_out = np.unique(column[unlisted])
        assert left_out.size <= 1
        in_order = np.concatenate([listed[: middle - start], left_out, listed[middle - start :]])
        assert (np.diff(in_order) >= 0).all()


@pytest.mark.parametrize("given", CASES)
def test_columns_list_the_covered_rows_in_order(given):
    refiner = refiner_of(given)
    everything = np.ones(given.data.n_rows, dtype=np.bool_)
    check_listing(refiner.columns.index, given.data, everything)
    check_listing(narrowed(refiner, given.covered).listing, given.data, given.covered)


@pytest.mark.parametrize("given", CASES)
def test_narrowing_step_by_step(given):
    """A listing can be narrowed down where it is, again and again."""
    refiner = refiner_of(given)
    half = given.covered & (np.arange(given.data.n_rows) % 2 == 0)
    listing = narrowed(refiner, given.covered).listing
    narrow(listing, 0, refiner.n_features, half, listing)
    check_listing(listing, given.data, half)


@pytest.mark.parametrize("given", [one for one in CASES if "dense" in one.id])
def test_picking_few_rows(given):
    refiner = refiner_of(given)
    columns, rows = refiner.columns, np.flatnonzero(given.covered)
    target = columns.space_for_narrowing
    narrow_to_few(
        columns.index, *columns.places, columns.by_column, 0, refiner.n_features, rows,
        given.covered, target,
    )  # fmt: skip
    check_listing(target, given.data, given.covered)


@pytest.mark.parametrize("given", CASES)
def test_labels_as_columns(given):
    board, rows = np.ascontiguousarray(given.board.T), np.flatnonzero(given.covered)
    labels = np.array([2, 0])
    n_written = count_written(board, labels, rows)
    assert n_written == (given.board[given.covered][:, labels] != UNSET).sum()
    listed, start, stop = np.empty(n_written, np.int32), *np.empty((2, len(labels)), np.int64)
    list_labels(board, labels, rows, listed, start, stop)
    for i, label in enumerate(labels):
        entries = listed[start[i] : stop[i]]
        absent, present = (rows[board[label, rows] == value].tolist() for value in (0, 1))
        assert np.where(entries < 0, ~entries, entries).tolist() == absent + present
        firsts = {group[0] for group in (absent, present) if group}
        assert (~entries[entries < 0]).tolist() == sorted(firsts, key=[*absent, *present].index)


# ---------------------------------------------------------------- counting


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("given", CASES)
def test_every_refinement_is_counted(given, layers):
    refiner = refiner_of(given, layers=layers)
    covered = narrowed(refiner, given.covered)
    labels = np.array([2, 0])
    space = refiner.space(covered.listing, np.full((1, 7), 3, np.int8))
    for j in range(refiner.n_features):
        sums = np.empty((layers, 2, len(covered.rows) + 2), np.int64)
        totals = np.empty((layers, 2), np.int64)
        n = count_refinements(space, j, covered.rows, refiner.cells, labels, sums, totals)
        known = given.covered & ~np.isnan(given.data.column(j))
        assert totals.tolist() == codes(refiner, given, labels, known)
        firsts = [c for c in conditions(given.data, given.covered, j) if c.operator in ("<=", "=")]
        assert n == len(firsts)
        for i, condition in enumerate(firsts):
            inside = given.covered & condition.holds(given.data.column(j))
            assert sums[:, :, i].tolist() == codes(refiner, given, labels, inside)


def codes(refiner, given, labels, inside):
    """Cells in the upper half of a number, ones in the lower; layers by labels."""
    counted = refiner.cells.counted[:, labels] & inside
    ones = counted & (given.data.Y.T[labels] == 1)
    return ((counted.sum(axis=2) << 32) + ones.sum(axis=2)).tolist()


# ---------------------------------------------------------------- scoring and choosing

WAYS = [
    pytest.param({"relative": relative, "smallest": smallest, "values": values, "layers": layers},
                 id=f"{relative}-{smallest}-{values}-{layers}")
    for relative, smallest, values, layers in [
        (True, 1, 3, 1), (False, 1, 3, 1), (True, 4, 3, 1), (True, 1, 1, 1), (True, 2, 2, 1),
        (True, 1, 3, 2), (False, 2, 3, 2),
    ]
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
@pytest.mark.parametrize("given", CASES)
def test_heads_of_one_label(given, formula, way):
    refiner = refiner_of(given, formula, **way)
    labels = np.array([1, 2])
    covered = narrowed(refiner, given.covered)
    scores, corrects = refiner.score(covered, labels)
    for i, label in enumerate(labels.tolist()):
        for value in (0, 1):
            expected = worth(refiner, given, given.covered, label, value, formula, way)
            if expected is None:
                assert scores[i, value] == NOTHING
            else:
                found = scores[i, value], corrects[i, value]
                assert found == expected


def worth(refiner, given, inside, label, value, formula, way):
    if not way["values"] >> value & 1:
        return None
    return literal(
        refiner, given.data, inside, label, value, formula, way["relative"], way["smallest"]
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
@pytest.mark.parametrize("given", CASES)
def test_the_best_refinement_for_each_label(given, formula, way):
    """Value, then right cells, then the first condition; with two layers for each value."""
    refiner = refiner_of(given, formula, **way)
    covered = narrowed(refiner, given.covered)
    targets = np.arange(3 * way["layers"])
    whole = (np.full(len(targets), -1) for _ in range(3))
    best = BestRefinements(np.full(len(targets), NOTHING), *whole)
    space = refiner.space(covered.listing, np.full((1, 7), 3, np.int8))
    reached = np.zeros((len(targets), refiner.slots.starts[-1]), np.int32)
    refiner.fill(best, space, 0, 7, covered, targets, reached)
    for target in targets.tolist():
        label, layer = divmod(target, way["layers"])
        values = (1, 0) if way["layers"] == 1 else (layer,)
        by_column = [best_of(refiner, given, formula, way, j, label, values) for j in range(7)]
        top = max((found for found, _ in by_column if found), default=None)
        if top is None:
            assert best.scores[target] == NOTHING
            assert not reached[target].any()
            continue
        first = next(j for j, (found, _) in enumerate(by_column) if found == top)
        assert (best.scores[target], best.corrects[target]) == top
        assert best.columns[target] == first
        place = int(best.places[target])
        n_inside = len(covered.rows)
        condition = refiner.columns.condition(first, place, covered.listing, n_inside)
        assert condition == by_column[first][1]
        expected = [f.right if f and f.value == top.value else 0 for f, _ in by_column]
        assert most_of_columns(reached[target], refiner.slots.starts).tolist() == expected


@pytest.mark.parametrize("formula", FORMULAS, ids=str)
def test_a_column_longer_than_what_is_scored_at_once(formula):
    given = case(4, 3 * STEP - 100, "dense")
    assert given.covered.sum() > STEP
    (way,) = WAYS[0].values
    test_the_best_refinement_for_each_label(given, formula, way)


def best_of(refiner, given, formula, way, j, label, values):
    """The best refinement by a column, and the first condition that reaches it."""
    best, first = None, None
    for condition in conditions(given.data, given.covered, j):
        inside = given.covered & condition.holds(given.data.column(j))
        found = [worth(refiner, given, inside, label, v, formula, way) for v in values]
        top = max((one for one in found if one), default=None)
        if top and (best is None or top > best):
            best, first = top, condition
    return best, first


@pytest.mark.parametrize("largest", [2, 3])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("given", CASES)
def test_the_best_refinement_for_all_labels_together(given, way, largest):
    """Labels of the best value make up the head, presences first; the right cells are summed."""
    formula = FORMULAS[0]
    refiner = refiner_of(given, formula, largest=largest, **way)
    best, first = None, None
    for j in range(7):
        for condition in conditions(given.data, given.covered, j):
            inside = given.covered & condition.holds(given.data.column(j))
            found = merged(refiner, given, inside, formula, way, largest)
            if found and (best is None or found > best):
                best, first = found, condition
    start = Covered(given.covered, np.flatnonzero(given.covered), refiner.columns.index)
    no_labels = np.zeros((3, 3), np.int8)
    object.__setattr__(refiner.allowed, "labels", no_labels)
    choice, covered = refiner.best(start, np.arange(3))
    if best is None:
        assert choice is None
        return
    assert choice.merit == best
    assert refiner.condition(choice.column, choice.place, covered) == first


def merged(refiner, given, inside, formula, way, largest):
    """The best value, and the right cells of the head of all labels that reach it."""
    scored = {}
    for value in (1, 0):
        for label in range(3):
            found = worth(refiner, given, inside, label, value, formula, way)
            if found:
                scored[label, value] = found
    if not scored:
        return None
    top = max(found.value for found in scored.values())
    head = {}
    for (label, _), found in scored.items():
        if found.value == top:
            head.setdefault(label, found.right)
    return top, sum(list(head.values())[:largest])
