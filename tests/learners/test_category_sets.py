"""Learning rules that test for sets of categories: found, applied, read back, and refused."""

import numpy as np
import pytest
from scipy import sparse

from extras import pd
from labelrules import (
    UNSET,
    BinaryRelevance,
    ClassifierChain,
    Dataset,
    LabelPowerset,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
    from_json,
    parse,
    theory_text,
    to_json,
)
from labelrules.data import Feature, Schema

REGIONS = ("North", "East", "South", "West", "Centre", "Islands")
SCHEMA = Schema([Feature("region", REGIONS), Feature("age")], ["returns", "complains"])
WANTED = {"returns": {0, 3}, "complains": {1, 2, 4}}
SETS = ("<=", ">", "=", "in")


def shop(n_rows=240, seed=0, n_wrong=0, n_regions=6):
    """Two labels, each of which is present in some regions."""
    rng = np.random.default_rng(seed)
    region = rng.integers(0, n_regions, n_rows)
    age = rng.integers(18, 80, n_rows)
    Y = np.column_stack([np.isin(region, list(codes)) for codes in WANTED.values()])
    Y[rng.choice(n_rows, n_wrong, replace=False)] ^= True
    schema = Schema([Feature("region", REGIONS[:n_regions]), SCHEMA.features[1]], SCHEMA.labels)
    return Dataset(schema, np.column_stack([region, age]), Y.astype(np.int8))


def text(model):
    return theory_text(model.theory_)


EXPECTED = """\
complains <- region in {East, South, Centre}
returns <- region in {North, West}"""


def test_sets_are_found_and_read_back():
    model = SeparateAndConquer().fit(shop())
    assert text(model) == EXPECTED
    assert parse(text(model), SCHEMA) == model.theory_
    assert from_json(to_json(model)).theory_ == model.theory_
    assert (model.predict(shop(seed=5)) == shop(seed=5).Y).all()


def test_by_default_columns_of_few_categories_have_no_sets():
    """Four of them: `=` says it as well, and the rules of small tables stay as they were."""
    few = shop(n_regions=4)
    assert " in {" not in text(SeparateAndConquer().fit(few))
    assert " in {" in text(SeparateAndConquer(operators=SETS).fit(few))
    assert " in {" not in text(SeparateAndConquer(operators=("<=", ">", "=")).fit(shop()))


def test_a_set_of_one_category_is_an_equality():
    data = shop()
    schema = Schema(data.schema.features, ["south"])
    one = Dataset(schema, data.X, (data.X[:, :1] == 2).astype(np.int8))
    assert text(SeparateAndConquer(operators=("in",)).fit(one)) == "south <- region = South"


def test_chance_and_identifiers_make_no_sets():
    """A set must save more bits than name it: 2^k sets fit anything."""
    rng = np.random.default_rng(0)
    names = tuple(f"n{i}" for i in range(300))
    schema = Schema([Feature("name", names), Feature("kind", REGIONS)], ["a", "b"])
    X = np.column_stack([np.arange(300), rng.integers(0, 6, 300)])
    Y = (rng.random((300, 2)) < 0.3).astype(np.int8)
    model = SeparateAndConquer(operators=SETS, pruning=None, last_resort=None).fit(
        Dataset(schema, X, Y)
    )
    assert " in {" not in text(model)


@pytest.mark.parametrize(
    "way",
    [
        {"beam_width": 3},
        {"heads": "multi"},
        {"heads": 2, "fixed_head": False},
        {"order": "prepend", "pruning": None},
        {"polarity": "both"},
        {"polarity": "presence", "counting": "chapter"},
        {"measure": "correlation"},
        {"measure": "laplace", "pruning": "significance"},
        {"pruning": "irep"},
        {"fixed_head": False},
        {"required": ["region"]},
        {"max_conditions": 1},
        {"n_jobs": 2},
    ],
    ids=str,
)
def test_sets_are_found_in_every_way_of_searching(way):
    data = shop(n_wrong=6)
    model = SeparateAndConquer(**way).fit(data)
    assert " in {" in text(model)
    right = (model.predict(data) == data.Y).mean()
    assert right > 0.95
    shuffled = np.random.default_rng(3).permutation(data.n_rows)
    if "pruning" not in way or way["pruning"] != "irep":
        again = SeparateAndConquer(**way).fit(data.take(shuffled))
        assert again.theory_ == model.theory_


@pytest.mark.parametrize(
    "learner",
    [
        BinaryRelevance(SeparateAndConquer()),
        ClassifierChain(SeparateAndConquer()),
        StackedBinaryRelevance(SeparateAndConquer()),
        LabelPowerset(SeparateAndConquer()),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_sets_are_found_by_learners_made_of_it(learner):
    data = shop()
    model = learner.fit(data)
    assert " in {" in text(model)
    assert (model.predict(data) == data.Y).all()


def test_ripper_makes_no_sets():
    """It follows JRip, which has none."""
    data = shop()
    one = Dataset(Schema(SCHEMA.features, ["returns"]), data.X, data.Y[:, :1])
    assert " in {" not in text(Ripper().fit(one))


def test_sparse_tables_have_the_same_sets():
    data = shop(n_wrong=10)
    table = Dataset(data.schema, sparse.csc_array(data.X), data.Y)
    assert SeparateAndConquer().fit(table).theory_ == SeparateAndConquer().fit(data).theory_


def test_unknown_cells_do_not_count_in_sets():
    data = shop()
    Y = data.Y.copy()
    Y[np.random.default_rng(0).random(Y.shape) < 0.3] = UNSET
    model = SeparateAndConquer().fit(Dataset(data.schema, data.X, Y))
    assert text(model).splitlines()[:2] == EXPECTED.splitlines()


def test_whole_weights_are_repeated_rows():
    data = shop(n_wrong=20)
    weights = np.random.default_rng(1).integers(0, 4, data.n_rows)
    weighted = SeparateAndConquer().fit(data, sample_weight=weights)
    repeated = SeparateAndConquer().fit(data.take(np.repeat(np.arange(data.n_rows), weights)))
    assert weighted.theory_ == repeated.theory_


def test_real_weights_choose_sets():
    data = shop(n_wrong=10)
    halves = SeparateAndConquer().fit(data, sample_weight=np.full(data.n_rows, 0.5))
    assert " in {" in text(halves)


def test_missing_and_new_categories_are_in_no_set():
    data = shop()
    X = data.X.copy()
    X[:20, 0] = np.nan
    model = SeparateAndConquer().fit(Dataset(data.schema, X, data.Y))
    assert " in {" in text(model)
    rows = pd.DataFrame({"region": [None, "Moon", "North"], "age": [30.0, 30.0, 30.0]})
    assert model.predict(rows).tolist() == [[0, 0], [0, 0], [1, 0]]


def test_measures_of_whole_rows_find_no_sets():
    """By default they go without; on request they are refused."""
    data = shop(60)
    way = {"heads": "complete", "measure": "hamming", "polarity": "both", "fixed_head": False}
    assert " in {" not in text(SeparateAndConquer(**way, max_rules=1).fit(data))
    with pytest.raises(ValueError, match="'in' needs a measure of partial predictions"):
        SeparateAndConquer(**way, operators=SETS).fit(data)
