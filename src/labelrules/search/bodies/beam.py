"""Growing rules side by side, for every measure: each refinement is counted and judged."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from labelrules._types import Integers, Mask
from labelrules.rules import Body, Condition
from labelrules.search.bodies.grow import Grown, Growth, may_conclude, rank_of
from labelrules.search.bodies.head_scorers import Counts, FixedHeadScorer, HeadScorer
from labelrules.search.bodies.refine import Covered, Refinement, Refiner

if TYPE_CHECKING:
    from labelrules.kernels.refine import RefinementSpace


class _ColumnRefinements(NamedTuple):
    """All refinements of a body by one column."""

    column: int
    places: Integers
    counts: Counts


class _Member(NamedTuple):
    """A body of the beam."""

    grown: Grown | None
    body: Body
    covered: Covered
    judge: HeadScorer


def grow_in_beam(
    refiner: Refiner,
    judge: HeadScorer,
    growth: Growth,
    width: int,
    remaining: Mask | None = None,
    fix: "Callable[[Grown], HeadScorer] | None" = None,
) -> Grown | None:
    """The best rule that is met when the `width` best bodies of each length are refined.

    `fix` gives the judge for the refinements of a rule whose head shall stay as it is.
    """
    start = Covered(refiner.everywhere.mask, refiner.everywhere.rows, refiner.columns.index)
    best = _judged(refiner, judge, Body(), start) if refiner.allowed.may_be_empty else None
    beam = [_Member(best, Body(), start, judge)]
    while beam and len(beam[0].body) != growth.max_conditions:
        found: list[tuple[Grown, HeadScorer]] = []
        for member in beam:
            found += _refined(refiner, member, growth, width, remaining)
        beam = []
        for grown, used in sorted(found, key=lambda pair: pair[0].merit, reverse=True):
            if len(beam) < width and grown.body not in [member.body for member in beam]:
                later = used if fix is None or isinstance(used, FixedHeadScorer) else fix(grown)
                beam.append(_Member(grown, grown.body, grown.covered, later))
        if beam and (best is None or beam[0].grown.merit > best.merit):  # type: ignore[union-attr]
            best = beam[0].grown
    return best


def _refined(
    refiner: Refiner, member: _Member, growth: Growth, width: int, remaining: Mask | None
) -> list[tuple[Grown, HeadScorer]]:
    """The best refinements of a body that are better than it."""
    if len(member.covered.rows) < 2 and member.body.conditions:
        return []
    covered = _narrowed(refiner, member.covered) if member.body.conditions else member.covered
    found = []
    for choice, condition in _best_choices(refiner, member, covered, growth, width, remaining):
        inside = refiner.narrow(covered, condition)
        # Its columns are narrowed down when its turn comes, from all rows.
        inside = inside._replace(listing=refiner.columns.index)
        body = member.body.and_(condition)
        counts = count_body(refiner, inside, choice.labels)
        head = member.judge.head(counts, inside.mask)
        found.append((Grown(head, body, inside, choice.rank, choice.correct), member.judge))
    return found


def _best_choices(
    refiner: Refiner,
    member: _Member,
    covered: Covered,
    growth: Growth,
    width: int,
    remaining: Mask | None,
) -> list[tuple[Refinement, Condition]]:
    """The best conditions to add, best first; of equal ones those that come first."""
    found: list[tuple[Refinement, Condition]] = []
    for part in _columns(refiner, member, covered):
        for choice in _better_choices(refiner, member, part, covered, growth, remaining):
            if len(found) == width and _merit(choice) <= _merit(found[-1][0]):
                break
            condition = refiner.condition(choice, covered, remaining)
            # Where rows have left, several cuts can be one condition.
            if condition not in [known for _, known in found]:
                found.append((choice, condition))
                found.sort(key=lambda pair: _merit(pair[0]), reverse=True)  # stable
                del found[width:]
    return found


def _better_choices(
    refiner: Refiner,
    member: _Member,
    part: _ColumnRefinements,
    covered: Covered,
    growth: Growth,
    remaining: Mask | None,
) -> list[Refinement]:
    """The refinements by one column that are better than the body, best first."""
    masks = _masks(refiner, part, covered, remaining) if member.judge.needs_rows else []
    values, correct = member.judge.merits(part.counts, masks)
    ranks = rank_of(values)
    better = np.isfinite(values)
    if member.grown is not None:
        rank, right = member.grown.merit
        better &= (ranks > rank) | ((ranks == rank) & (correct > right))
        better &= values - member.grown.value >= growth.min_gain
    where = np.flatnonzero(better)
    order = where[np.lexsort((-correct[where], -ranks[where]))]  # stable
    return [
        Refinement(
            int(ranks[i]), int(correct[i]), part.column, int(part.places[i]), part.counts.labels
        )
        for i in order.tolist()
    ]


def _merit(choice: Refinement) -> tuple[int, int]:
    return choice.rank, choice.correct


def _columns(refiner: Refiner, member: _Member, covered: Covered) -> Iterator[_ColumnRefinements]:
    """The refinements by each feature, then by each label that is written somewhere."""
    allowed = refiner.allowed
    is_first = not member.body.conditions
    features = allowed.first_features if is_first else allowed.features
    tested = allowed.first_labels if is_first else allowed.labels
    labels = may_conclude(allowed, np.arange(len(refiner.board)), member.body)
    space = refiner.space(covered.listing, features[np.newaxis])
    for column in np.flatnonzero(features).tolist():
        yield _counted(refiner, space, column, covered, labels, int(features[column]), column)
    label_space = refiner.label_space(covered, tested) if allowed.has_labels else None
    if label_space is None:
        return
    for column in range(len(refiner.board)):
        heads = labels[tested[labels, column] > 0]
        if heads.size and label_space.listing.stop[column] > label_space.listing.start[column]:
            yield _counted(
                refiner, label_space, column, covered, heads, 1, refiner.n_features + column
            )


def _counted(
    refiner: Refiner,
    space: "RefinementSpace",
    column: int,
    covered: Covered,
    labels: Integers,
    operators: int,
    number: int,
) -> _ColumnRefinements:
    """Count the refinements by a column, in the order of their places."""
    from labelrules.kernels.refine import count_refinements
    from labelrules.kernels.scoring import SECOND_PLACE

    n_layers = refiner.n_layers
    sums = np.empty((n_layers, len(labels), len(covered.rows) + 2), np.int64)
    totals = np.empty((n_layers, len(labels)), np.int64)
    n = count_refinements(space, column, covered.rows, refiner.cells, labels, sums, totals)
    first = sums[:, :, :n]
    second = totals[:, :, np.newaxis] - first
    nominal = bool(space.nominal[column])
    with_second = operators & 2 and (n > 2 or not nominal)
    chosen = [first] * (operators & 1) + [second] * bool(with_second)
    steps = np.arange(n)
    places = [steps if nominal else 2 * steps] * (operators & 1)
    places += [steps + SECOND_PLACE if nominal else 2 * steps + 1] * bool(with_second)
    if not places:
        return _ColumnRefinements(number, steps[:0], _counts(refiner, first[:, :, :0], labels))
    inside, place = np.concatenate(chosen, axis=2), np.concatenate(places)
    order = np.argsort(place)
    return _ColumnRefinements(number, place[order], _counts(refiner, inside[:, :, order], labels))


def _counts(refiner: Refiner, inside: Integers, labels: Integers) -> Counts:
    """Codes, layers by labels by bodies, taken apart."""
    everywhere = refiner.everywhere_codes(labels)
    ones, cells = inside & 0xFFFFFFFF, inside >> 32
    all_ones, all_cells = everywhere & 0xFFFFFFFF, everywhere >> 32
    absent, present = 0, refiner.n_layers - 1

    def pair(part: Integers) -> tuple[Integers, Integers]:
        return np.ascontiguousarray(part[absent].T), np.ascontiguousarray(part[present].T)

    zeros, all_zeros = cells - ones, all_cells - all_ones
    return Counts(pair(ones), pair(zeros), pair(all_ones), pair(all_zeros), labels)


def count_body(refiner: Refiner, covered: Covered, labels: Integers) -> Counts:
    """The counts of one body."""
    truth, counted = refiner.cells.truth[labels], refiner.cells.counted[:, labels]
    inside = counted[:, :, covered.rows].sum(axis=2, dtype=np.int64) << 32
    inside += (counted & (truth == 1))[:, :, covered.rows].sum(axis=2, dtype=np.int64)
    return _counts(refiner, inside[:, :, np.newaxis], labels)


def _judged(refiner: Refiner, judge: HeadScorer, body: Body, covered: Covered) -> Grown | None:
    counts = count_body(refiner, covered, np.arange(len(refiner.board)))
    values, correct = judge.merits(counts, [covered.mask])
    if not np.isfinite(values[0]):
        return None
    head = judge.head(counts, covered.mask)
    return Grown(head, body, covered, int(rank_of(values)[0]), int(correct[0]))


def _masks(
    refiner: Refiner, part: _ColumnRefinements, covered: Covered, remaining: Mask | None
) -> list[Mask]:
    """The rows that each refinement covers."""
    nothing = np.empty(0, np.int64)
    choices = [Refinement(0, 0, part.column, place, nothing) for place in part.places.tolist()]
    conditions: list[Condition] = [refiner.condition(c, covered, remaining) for c in choices]
    return [refiner.narrow(covered, condition).mask for condition in conditions]


def _narrowed(refiner: Refiner, covered: Covered) -> Covered:
    from labelrules.kernels.columns import narrow

    target = refiner.columns.space_for_narrowing
    narrow(refiner.columns.index, 0, refiner.n_features, covered.mask, target)
    return covered._replace(listing=target)
