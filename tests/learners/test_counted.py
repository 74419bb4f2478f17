"""Rules from counts by bins: the same as on the table of codes, for any parts of the rows."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labelrules import (
    UNSET,
    BinaryRelevance,
    ClassifierChain,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
    load,
    planted,
    theory_text,
)
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.codes.bins import Bins
from labelrules.data.weights import row_units
from labelrules.kernels.covering.grow import THEORY_WEIGHT, DescriptionCounts
from labelrules.learners.covering import counted_rows, learner, pruning
from labelrules.learners.covering.counted_rows import CountedPatience, CountedRows
from labelrules.learners.covering.local_rows import rows_in_memory
from labelrules.learners.covering.loop import Covering
from labelrules.learners.covering.row_counts import PartedRows
from labelrules.learners.covering.settings import checked_settings
from labelrules.learners.ripper import learner as ripper
from labelrules.measures.description_length import category_bits
from labelrules.rules import Body, Evidence
from labelrules.search.bodies.code_tables import CodedStep, condition_on_values, marked_columns
from labelrules.search.bodies.foil import FoilSearch
from labelrules.search.bodies.sorted_columns import SortedColumns
from strategies import datasets
from tables import category_tables

SETS = ("<=", ">", "=", "in")

CHOICES = {
    "polarity": ["rarer", "both", "presence"],
    "measure": ["f0.8", "precision", "f1", "accuracy", "laplace", "klosgen(2)"],
    "counting": ["head-relative", "chapter"],
    "pruning": ["mdl", "significance", None],
    "min_coverage": [1, 2],
    "max_conditions": [0, 1, 3, None],
    "min_gain": [0.0, 0.02],
    "label_conditions": [True, False],
    "operators": [None, ("<=", "="), (">", "!="), ("<=", ">", "=", "!=")],
    "default_rule": [None, True, False],
    "last_resort": [None, 0.2, 0.6],
    "max_rules": [None, 3],
    "readd": ["all"],
}


def _learner(choose):
    learner = SeparateAndConquer(
        bins=choose([2, 3, 5, 255]),
        **{name: choose(values) for name, values in CHOICES.items()},
    )
    if learner.counting == "chapter" and learner.measure == "laplace":
        learner.counting = "head-relative"
    return learner


@st.composite
def searches(draw):
    """A learner with a search that counts serve, and a table with ties and unknown labels."""
    learner = _learner(lambda values: draw(st.sampled_from(values)))
    data = draw(datasets(min_rows=1, max_rows=40, with_unknown=draw(st.booleans())))
    assume((data.Y != UNSET).any())
    seed = draw(st.integers(0, 1 << 20))
    return learner, _weighted(_with_structure(data, seed), seed)


@st.composite
def set_searches(draw):
    """The same for sets of categories, in tables where labels follow from such."""
    data, seed = draw(category_tables()), draw(st.integers(0, 1 << 20))
    rng = np.random.default_rng(seed)

    def choose(values):
        return values[rng.integers(len(values))]

    learner = _learner(choose)
    learner.operators = choose([SETS, ("in",), ("!=", "in"), None])
    if choose([False, False, True]):
        names = [choose(data.schema.feature_names)]
        setattr(learner, choose(["required", "forbidden"]), names)
    return learner, _weighted(data, seed)


def _with_structure(data, seed):
    """The same table with labels that follow from a column, so that there are rules to find."""
    rng = np.random.default_rng(seed)
    Y = data.Y.copy()
    for label in range(data.schema.n_labels):
        if data.schema.n_features and label % 2 == 0:
            values = data.column(label % data.schema.n_features)
            above = np.nan_to_num(values) > np.median(np.nan_to_num(values))
            Y[:, label] = np.where(Y[:, label] == UNSET, UNSET, above ^ (rng.random(len(Y)) < 0.1))
    return Dataset(data.schema, data.X, Y)


def _weighted(data, seed):
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 1:
        weights = rng.integers(1, 4, data.n_rows).astype(float)
    elif kind == 3:
        weights = rng.random(data.Y.shape) + 0.1
    else:
        return data
    return Dataset(data.schema, data.X, data.Y, weights=weights)


def told(model):
    """All that was learned."""
    background = model.background_
    rules = [(rule, rule.evidence) for rule in model.theory_]
    return model.theory_, rules, background.ones.tolist(), background.zeros.tolist()


@settings(max_examples=60)
@given(searches())
def test_counts_find_the_rules_of_the_table_of_codes(case):
    assert_counts_find_the_same(*case)


@settings(max_examples=100)
@given(set_searches(), st.sampled_from([1, 5]))
def test_counts_find_the_sets_of_the_table_of_codes(case, patience):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pruning, "PATIENCE", patience)
        assert_counts_find_the_same(*case)


def assert_counts_find_the_same(model, data):
    try:
        checked_settings(model, data.schema)
    except ValueError:  # what is required has no allowed operator
        return
    with pytest.MonkeyPatch.context() as patch:
        calls = []

        def noted(*given):
            calls.append(counted_rows.is_counted(*given))
            return calls[-1]

        patch.setattr(learner, "is_counted", noted)
        by_counts = told(model.fit(data))
        patch.setattr(learner, "is_counted", lambda *given: False)
        assert told(model.fit(data)) == by_counts
    assert calls == [True]


def test_sets_of_categories_are_found_by_counting():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 6, 300), rng.integers(0, 40, 300)]).astype(float)
    X[:9, 0] = np.nan
    Y = (np.isin(X[:, :1], [0, 3]) | (np.isin(X[:, :1], [1, 4, 5]) & (X[:, 1:] > 20))).astype(int)
    schema = Schema([Feature("region", tuple("abcdefg")), Feature("age")], ["label"])
    data = Dataset(schema, X, Y)
    model = SeparateAndConquer(bins=64, polarity="presence")
    assert counted_rows.is_counted(checked_settings(model, schema))
    assert theory_text(model.fit(data).theory_) == (
        "label <- age > 20, region in {a, b, d, e, f}\nlabel <- region in {a, d}"
    )


def test_growth_ends_by_the_bits_that_name_sets_too():
    description = DescriptionCounts(100, 40, 0, 0, 16, 5)
    single, among = (CountedPatience(description, 1.0, np.array([6])) for _ in range(2))
    single.ends(Evidence(10, 0), (CodedStep(0, 0, 1),))
    among.ends(Evidence(10, 0), (CodedStep(0, 0, 1, (1, 2)),))
    more = THEORY_WEIGHT * category_bits(6, 2)
    assert among.shortest - single.shortest == pytest.approx(more)


def test_a_category_that_does_not_occur_is_not_tested_for():
    """By counts alone `x != c` was a rule for all rows whose x is known, where none has c."""
    x = np.array([0.0, 1, 0, 1, np.nan, np.nan])
    schema = Schema([Feature("x", ("a", "b", "c"))], ["label"])
    data = Dataset(schema, x[:, np.newaxis], (~np.isnan(x)).astype(np.int8)[:, np.newaxis])
    model = SeparateAndConquer(
        bins=9, operators=("=", "!="), pruning=None, polarity="presence", required=["x"]
    )
    assert theory_text(model.fit(data).theory_) == "label <- x = a\nlabel <- x = b"


def learned_in_parts(model, data, numbers):
    """The theory from parts of the rows; `numbers` has the part of each row."""
    given = checked_settings(model, data.schema)
    bins = Bins.of(data, given.bins)
    marked = marked_columns(bins, given.allowed)
    parts = [
        rows_in_memory(data.take(numbers == number), bins, marked) for number in np.unique(numbers)
    ]
    covering = Covering(CountedRows(PartedRows(parts), bins, given), given)
    covering.go_on(lambda progress: None)
    theory = covering.finished()
    return theory, [rule.evidence for rule in theory]


@settings(max_examples=60)
@given(searches() | set_searches(), st.integers(1, 5), st.integers(0, 1 << 20))
def test_any_parts_of_the_rows_give_the_same_rules(case, n_parts, seed):
    model, data = case
    model.required = ()
    data = Dataset(data.schema, data.X, data.Y)
    together = learned_in_parts(model, data, np.zeros(data.n_rows, dtype=int))
    numbers = np.random.default_rng(seed).integers(0, n_parts, data.n_rows)
    assert learned_in_parts(model, data, numbers) == together


@pytest.mark.parametrize(
    "name",
    [
        "emotions",
        "flags",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("medical", "yeast", "birds")),
    ],
)
def test_real_data_in_parts(name, data_folder):
    data = load(name, data_folder, part="train")
    model = SeparateAndConquer(bins=255)
    theory = model.fit(data).theory_
    evidence = [rule.evidence for rule in theory]
    for n_parts in (1, 7):
        numbers = np.random.default_rng(n_parts).integers(0, n_parts, data.n_rows)
        assert learned_in_parts(model, data, numbers) == (theory, evidence)


def test_threads_do_not_change_the_rules(data_folder, monkeypatch):
    monkeypatch.setattr("labelrules.learners.covering.local_rows.WORTH_A_THREAD", 0)
    data = load("emotions", data_folder, part="train")
    one, three = (SeparateAndConquer(bins=255, n_jobs=n).fit(data) for n in (1, 3))
    assert told(one) == told(three)
    monkeypatch.setattr("labelrules.learners.covering.local_rows.STRETCH", 64)
    assert told(SeparateAndConquer(bins=255, n_jobs=3).fit(data)) == told(one)


class SlowFoilSearch(FoilSearch):
    """RIPPER's search on the table of codes, its conditions read as conditions on values."""

    def __init__(self, data, bins):
        self.bins = bins
        super().__init__(SortedColumns.of(bins.coded(data)), *row_units(data.weights))

    def body(self, cuts):
        return Body(condition_on_values(self.bins, one) for one in super().body(cuts))


@settings(max_examples=60)
@given(searches(), st.booleans(), st.integers(1, 2))
def test_ripper_grows_the_same_rules_by_counting_codes(case, prunes, min_coverage):
    _, data = case
    data = Dataset(data.schema, data.X, data.Y, weights=data.weights)
    data = data.without(list(data.schema.labels[1:]))
    assume((data.Y != UNSET).any() and (data.weights is None or data.weights.ndim == 1))
    model = Ripper(bins=case[0].bins, pruning=prunes, min_coverage=min_coverage)
    by_codes = told(model.fit(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            ripper, "_search", lambda data, one: SlowFoilSearch(data, Bins.of(data, one.bins))
        )
        assert told(model.fit(data)) == by_codes


@pytest.mark.parametrize(
    "composed",
    [
        BinaryRelevance(SeparateAndConquer(bins=16)),
        ClassifierChain(Ripper(bins=16)),
        StackedBinaryRelevance(SeparateAndConquer(bins=16)),
    ],
)
def test_composed_learners_have_thresholds_of_the_bins_only(composed):
    data, _ = planted(400, 4, 1, 3, n_rules=6, noise=0.1, random_state=2)
    cuts = [set(column.cuts) for column in Bins.of(data, 16).columns]
    rules = list(composed.fit(data).theory_)
    tested = [one for rule in rules for one in rule.body.on_features if one.operator in "<=>"]
    assert any(one.operator in ("<=", ">") for one in tested)
    for one in tested:
        assert one.operator == "=" or one.value in cuts[one.column]
