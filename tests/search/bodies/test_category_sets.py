"""Sets of categories: the best one of all, found among the cuts of their order by precision."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import UNSET, Dataset, Measure
from labelrules.data import Feature, Schema
from labelrules.data.codes.bins import Bins
from labelrules.kernels.compile import scoring_for
from labelrules.kernels.covering.category_sets import grow_set
from labelrules.kernels.scoring import value_of
from labelrules.measures import Formula, forget, formula
from labelrules.search.bodies.category_sets import (
    SetRefiner,
    finds_best_sets,
    room_for_sets,
)
from labelrules.search.bodies.code_tables import BestSums
from labelrules.search.bodies.grow import GreedyRefinements, Growth, grow_rule
from labelrules.search.bodies.head_scorers import (
    CountedRefinements,
    FixedHeadScorer,
    LiteralScorer,
)
from labelrules.search.bodies.refine import Covered
from labelrules.search.bodies.rule_language import language
from labelrules.search.bodies.sorted_columns import SortedColumns
from twins import category_sets as twin

EXACT = [
    Formula(name)
    for name in (
        "precision", "recall", "hamming", "f", "jaccard", "laplace", "m-estimate",
        "weighted-relative-accuracy", "klosgen", "correlation", "rate-difference", "linear-cost",
        "foil-gain",
    )
] + [Formula("f", 0.5), Formula("linear-cost", 1.5), Formula("klosgen", 1.0)]  # fmt: skip
COUNTS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=8)


# ---------------------------------------------------------------- which measures


def test_every_measure_that_is_taken_for_exact_is_tested():
    from labelrules.measures import formula_names

    known = {one for one in formula_names() if finds_best_sets(Formula(one), "head-relative")}
    assert {one.name for one in EXACT} >= known
    assert not finds_best_sets(Formula("subset"), "head-relative")
    assert not finds_best_sets(Formula("klosgen", 2.0), "head-relative")


@pytest.mark.parametrize("counting", ["head-relative", "chapter"])
@pytest.mark.parametrize("measure", EXACT, ids=str)
@settings(max_examples=60)
@given(
    counts=COUNTS,
    outside=st.tuples(st.integers(0, 9), st.integers(0, 9)),
    value=st.integers(0, 1),
)
def test_no_set_is_better_than_every_cut(measure, counting, counts, outside, value):
    """The proof of docs/covering.md by brute force, the empty and the full set included."""
    if not finds_best_sets(measure, counting):
        return
    named = dict(enumerate(counts))
    codes = sorted(
        (code for code in named if sum(named[code])),
        key=lambda code: -named[code][0] / sum(named[code]),
    )
    whole = twin.added(named, codes)
    everywhere = whole[0] + outside[0], whole[1] + outside[1]

    def value_of(chosen):
        cells = twin.confusion(value, counting, twin.added(named, chosen), everywhere)
        return float(measure(*cells))

    cuts = [codes[:k] for k in range(len(codes) + 1)] + [codes[k:] for k in range(len(codes))]
    best = max(value_of(chosen) for chosen in twin.subsets(codes, 0, len(codes)))
    assert max(map(value_of, cuts)) == pytest.approx(best, abs=1e-12)


def test_a_measure_that_is_not_quasi_convex_misses_sets_that_are_no_cut():
    """One wrong cell makes the subset accuracy 0, so that no cut below it is any good."""
    counts = {0: (3, 1), 1: (1, 0), 2: (0, 2), 3: (0, 1)}

    @formula("just-four")
    def just_four(tp, fp, tn, fn):
        """1 if three are right and two are wrong."""
        return (tp == 3) * (fp == 2) * 1.0

    try:
        measure = Formula("just-four")
        assert not finds_best_sets(measure, "head-relative")
        best = twin.best_sets(measure, 1, "head-relative", 1, counts, (4, 4))
        assert best == ((1.0, 3), [(0, 3)])  # though 1 is more precise than 0
    finally:
        forget("just-four")


@settings(max_examples=80)
@given(counts=COUNTS, outside=st.tuples(st.integers(0, 9), st.integers(0, 9)))
def test_the_greedy_set_is_that_of_the_twin(counts, outside):
    """For measures of which nothing is known; here by one that both can compute to the last bit."""
    measure = Formula("jaccard")
    counts = [(right, wrong) for right, wrong in counts if right]
    named = dict(enumerate(counts))
    whole = twin.added(named, list(named))
    everywhere = whole[0] + outside[0], whole[1] + outside[1]
    sums = np.array([packed(cells) for cells in counts], dtype=np.int64)
    order = np.arange(len(counts))
    scoring = scoring_for(measure, "head-relative", smallest=1)
    key, right, size = grow_set(sums, order, len(counts), 1, packed(everywhere), scoring)
    merit, chosen = twin.greedy_set(measure, named, everywhere)
    if len(chosen) < 2:
        assert size == 0
    else:
        assert (float(value_of(key)), int(right)) == merit
        assert order[:size].tolist() == chosen


def packed(cells):
    """Right and wrong cells as the kernels hold them."""
    return np.int64(((cells[0] + cells[1]) << 32) + cells[0])


# ---------------------------------------------------------------- the search


def table(seed, n_rows=60, storage="dense", noise=0.1):
    """Columns of 6 and 5 categories, one numeric, and labels for some of the categories."""
    rng = np.random.default_rng(seed)
    sizes = (6, 5)
    codes = np.column_stack([rng.integers(0, size, n_rows) for size in sizes]).astype(float)
    chosen = [rng.random(size) < 0.5 for size in sizes]
    marks = np.column_stack([chosen[j][codes[:, j].astype(int)] for j in range(2)])
    Y = np.column_stack([marks[:, 0], marks[:, 1], marks.all(axis=1)])
    Y = (Y ^ (rng.random(Y.shape) < noise)).astype(np.int8)
    X = np.hstack([codes, rng.normal(size=(n_rows, 1)).round(1)])
    if seed % 2:
        X[rng.random(X.shape) < 0.1] = np.nan
    features = [Feature(f"a{j}", tuple("pqrstu"[:size])) for j, size in enumerate(sizes)]
    schema = Schema([*features, Feature("x")], ["one", "two", "three"])
    return Dataset(schema, sparse.csc_array(X) if storage == "sparse" else X, Y)


def refiner_of(data, seed, measure, *, counting="head-relative", smallest=1, values=3,
               merging=False, layers=1, units=None):  # fmt: skip
    rng = np.random.default_rng(seed)
    truth = np.ascontiguousarray(data.Y.T)
    board = np.where(rng.random(truth.shape) < 0.1, rng.integers(0, 2, truth.shape), UNSET)
    board = board.astype(np.int8)
    is_open = board == UNSET
    counted = np.array([is_open] if layers == 1 else [board != 0, board != 1])
    if units is not None:
        counted = counted * units
    return SetRefiner(
        SortedColumns.of(data), truth, board, counted, np.full(len(truth), values, np.int8),
        formula=measure, allowed=language(data.schema, ("<=", ">", "=", "in")), counting=counting,
        smallest=smallest, merging=merging, largest=3 if merging else 1,
    )  # fmt: skip


def counts_of(refiner, data, column, covered, literal):
    """Right and wrong cells of the categories of a column, among covered and among all rows."""
    label, value = literal
    counted, truth = refiner.cells.counted[0, label], refiner.cells.truth[label]
    right, wrong = counted * (truth == value), counted * (truth != value)
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    values = X[:, column]
    counts = {
        code: tuple(int(part[covered & (values == code)].sum()) for part in (right, wrong))
        for code in range(len(data.schema.features[column].categories))
    }
    everywhere, around = (
        (int(right[rows].sum()), int(wrong[rows].sum())) for rows in (slice(None), covered)
    )
    n_categories = len(set(values[~np.isnan(values)].tolist()))
    return (
        {code: cells for code, cells in counts.items() if sum(cells)},
        everywhere,
        around,
        n_categories,
    )


def told(sets):
    return float(sets.scores[0]), int(sets.corrects[0]), int(sets.columns[0]), int(sets.sizes[0])


def from_sums(refiner, data, column, covered, literal):
    """The best set by the sums of the codes, of a column and of all covered rows."""
    label, value = literal
    cells, bins = refiner.cells, Bins.of(data, 255)
    counted, ones = cells.counted[0, label], cells.counted[0, label] * (cells.truth[label] == 1)
    table = np.zeros(int(bins.start[-1]), np.int64)
    for own, start in zip(bins.encode(data.X), bins.start[:-1], strict=True):
        np.add.at(table, start + own[covered].astype(int), sums(counted, ones)[covered])
    found = BestSums(room_for_sets(1, 6), np.zeros(1, np.int64))
    refiner.kernels.best_sets_in_tables(
        table[np.newaxis], bins.start, np.array([column]), sums(counted, ones).sum(keepdims=True),
        np.array([1 << value], np.int8), refiner.scoring, refiner.is_exact, bins.n_values,
        refiner.log_factorials, *found,
    )  # fmt: skip
    codes = np.flatnonzero(found.best.members[0])
    assert found.insides[0] == table[bins.start[column] + codes].sum()
    return *told(found.best), tuple(codes.tolist())


def sums(cells, ones):
    """Cells and present ones of each row as the kernels hold them."""
    return (cells.astype(np.int64) << 32) + ones


@pytest.mark.parametrize("counting", ["head-relative", "chapter"])
@pytest.mark.parametrize("measure", [Formula("f", 0.8), Formula("precision"), Formula("laplace")],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_the_best_of_all_sets(seed, storage, measure, counting):
    """If it is worth naming; where a single category or all of them are best, no set is needed."""
    data = table(seed, storage=storage)
    refiner = refiner_of(data, seed, measure, counting=counting)
    outcomes = set()
    for column, literal, is_whole in product(range(2), product(range(3), range(2)), (True, False)):
        covered = np.random.default_rng(seed).random(data.n_rows) < (1 if is_whole else 0.8)
        inside = refiner.everywhere
        if not is_whole:
            listing = refiner.columns.space_for_narrowing
            inside = Covered(covered, np.flatnonzero(covered), listing)
            refiner._narrow(refiner.columns.index, 0, 3, inside)
        targets, values = refiner.targets_of[literal[0]], np.array([1 << literal[1]], np.int8)
        found = refiner._search_sets(inside, targets, np.array([column]), values)
        by_sums = from_sums(refiner, data, column, covered, literal)
        assert by_sums == (*told(found), refiner._codes(inside, found, 0))
        counts, everywhere, around, n = counts_of(refiner, data, column, covered, literal)
        merit, best = twin.best_sets(measure, literal[1], counting, 1, counts, everywhere)
        sizes = {len(chosen) for chosen in best}
        if sizes & {1, len(counts)}:
            outcomes.add("no set")
            continue
        smallest = next(chosen for chosen in best if len(chosen) == min(sizes))
        cells = twin.added(counts, smallest)
        if twin.is_worth_naming(len(smallest), cells, counts, around, n):
            outcomes.add("worth")
            assert (float(found.scores[0]), int(found.corrects[0])) == merit
            assert refiner._codes(inside, found, 0) in best
        else:
            outcomes.add("not worth")
            assert found.columns[0] == -1
    assert outcomes - {"no set"}
    assert "worth" in outcomes or measure.name == "precision"


def counted(refiner, measure, growth):
    scorer = LiteralScorer(measure, "head-relative", refiner.cells.values, 1, False, 1)

    def fixed_scorer(head):
        return FixedHeadScorer(head, Measure(measure, "micro", "partial"), "head-relative", 1)

    fixed = fixed_scorer if growth.fixed else None
    return CountedRefinements(refiner, scorer, growth, None, fixed)


def parts(grown):
    if grown is None:
        return None
    return grown.head, grown.body.conditions, grown.merit, grown.covered.rows.tolist()


@pytest.mark.parametrize("growth", [Growth(), Growth(fixed=True), Growth(1), Growth(min_gain=0.05)],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("values", [1, 2, 3])
@pytest.mark.parametrize("measure", [Formula("f", 0.8), Formula("precision")], ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_compiled_passes_find_what_counting_finds(seed, measure, values, growth):
    refiner = refiner_of(table(seed, 80), seed, measure, values=values)
    greedy = grow_rule(GreedyRefinements(refiner, growth), growth.max_conditions)
    assert parts(greedy) == parts(
        grow_rule(counted(refiner, measure, growth), growth.max_conditions)
    )


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("values", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_without_a_set_worth_naming_growth_is_that_without_sets(seed, values, layers):
    data = table(seed, 40, noise=0.5)
    refiner = refiner_of(data, seed, Formula("f", 0.8), values=values, layers=layers)
    refiner.set_columns = refiner.first_set_columns = np.empty(0, np.int64)
    refiner.root_sets = room_for_sets(refiner.targets_of.size, refiner.most_values)
    growth = Growth(fixed=True)
    with_sets = grow_rule(GreedyRefinements(refiner, growth))
    refiner.growing_sets = lambda first, room: None
    assert parts(with_sets) == parts(grow_rule(GreedyRefinements(refiner, growth)))


def test_equal_weights_change_no_set():
    data = table(2)
    measure = Formula("f", 0.8)
    rules = [
        grow_rule(GreedyRefinements(refiner_of(data, 0, measure, units=units), Growth(fixed=True)))
        for units in (None, np.ones(data.n_rows, np.int64), np.full(data.n_rows, 3))
    ]
    assert len({(rule.head, rule.body) for rule in rules}) == 1
    assert any(condition.codes for condition in rules[0].body)
