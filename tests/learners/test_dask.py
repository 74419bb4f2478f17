"""Learning on Dask collections: the same model as from the rows in memory."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from extras import needs
from labelrules import (
    BinaryRelevance,
    ClassifierChain,
    Dataset,
    LabelPowerset,
    LayeredTheory,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
    evaluate,
    load,
    planted,
    scan,
    summary,
)
from labelrules.constraints import find_constraints
from labelrules.data import DataError
from labelrules.mining import frequent_itemsets
from tables import category_tables, tables

dask = needs("dask")
distributed = needs("distributed")
da = needs("dask.array")
dd = needs("dask.dataframe")

# Dask's own, of loops and of clocks on a busy machine
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def frames(data: Dataset) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Features and labels as users have them."""
    columns = {}
    for feature in data.schema.features:
        values = data.column(feature.name)
        columns[feature.name] = values
        if feature.categories is not None:
            codes = np.where(np.isnan(values), -1, values).astype(int)
            is_ordered = feature.kind == "ordered"
            columns[feature.name] = pd.Categorical.from_codes(
                codes, feature.categories, ordered=is_ordered
            )
    X = pd.DataFrame(columns, index=range(len(data)))
    return X, pd.DataFrame(data.Y, columns=list(data.schema.labels))


def parted(frame: pd.DataFrame, cuts: list[int]):
    """The rows of a frame divided before these."""
    edges = [0, *sorted(cuts), len(frame)]
    parts = [frame.iloc[a:b] for a, b in pairwise(edges)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=frame.iloc[:0])


def assert_same_models(found: SeparateAndConquer, expected: SeparateAndConquer) -> None:
    assert found.theory_ == expected.theory_
    assert [r.evidence for r in found.theory_] == [r.evidence for r in expected.theory_]
    for name in ("ones", "zeros", "share"):
        assert np.array_equal(getattr(found.background_, name), getattr(expected.background_, name))
    assert found.why_without_rules_ == expected.why_without_rules_
    assert found.schema_ == expected.schema_


def clients(n_workers: int, processes: bool = False, threads: int = 1):
    cluster = distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=threads, processes=processes,
        dashboard_address=":0", silence_logs=50,
    )  # fmt: skip
    return cluster, distributed.Client(cluster)


@pytest.fixture(scope="module")
def client():
    cluster, client = clients(2)
    with cluster, client:
        yield client


OPTIONS = st.fixed_dictionaries({}, optional={
    "pruning": st.sampled_from([None, "significance"]), "polarity": st.sampled_from(["both"]),
    "max_rules": st.integers(1, 3), "default_rule": st.booleans(), "min_coverage": st.just(1),
    "last_resort": st.sampled_from([None, 0.2]),
})  # fmt: skip


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tables(max_rows=20, max_features=3, unknown=True).filter(lambda data: data.X.size)
    | category_tables(),
    st.data(),
    OPTIONS,
    st.integers(2, 5),
)
def test_any_partitions_give_the_model_of_the_rows(client, data, drawn, options, n_bins):
    X, Y = frames(data)
    cuts = drawn.draw(st.lists(st.integers(0, len(data)), max_size=3))
    expected = SeparateAndConquer(bins=n_bins, **options).fit(X, Y)
    found = SeparateAndConquer(bins=n_bins, **options).fit(parted(X, cuts), parted(Y, cuts))
    assert_same_models(found, expected)


def test_a_cluster_gives_the_model_of_the_rows(client) -> None:
    X, Y = frames(load("clinic"))
    expected = SeparateAndConquer(bins=15, max_rules=6).fit(X, Y)
    both = dd.from_pandas(pd.concat([X, Y], axis=1), npartitions=5)
    found = SeparateAndConquer(bins=15, max_rules=6).fit(both, list(Y.columns))
    assert_same_models(found, expected)
    assert len(found.theory_) == 6
    assert found.about_.n_rows == len(X)


def test_arrays_and_dask_without_a_client() -> None:
    data, _ = planted(500, n_labels=3, n_rules=6)
    Y = np.array(data.Y)
    expected = SeparateAndConquer(bins=15, max_rules=6).fit(data.X, Y)
    X = da.from_array(np.array(data.X), chunks=(130, 3))
    found = SeparateAndConquer(bins=15, max_rules=6).fit(X, da.from_array(Y, chunks=(200, 2)))
    assert_same_models(found, expected)
    assert np.array_equal(found.predict(data.X), expected.predict(data.X))


def test_categories_that_are_unknown_beforehand(client) -> None:
    data = load("clinic")
    X, Y = frames(data)
    nominal = [f.name for f in data.schema.features if f.is_nominal]
    assert nominal
    texts = X.assign(**{name: X[name].astype("object") for name in nominal})
    expected = SeparateAndConquer(bins=15, max_rules=6).fit(texts, Y)
    parts = parted(X, [20, 90])
    unknown = parts.assign(**{name: parts[name].cat.as_unknown() for name in nominal})
    found = SeparateAndConquer(bins=15, max_rules=6).fit(unknown, parted(Y, [20, 90]))
    assert_same_models(found, expected)
    as_text = SeparateAndConquer(bins=15, max_rules=6).fit(parted(texts, [50]), parted(Y, [50]))
    assert_same_models(as_text, expected)


def test_texts_are_in_the_order_of_texts_and_columns_may_have_numbers() -> None:
    """Texts of digits were sorted by size, and a column called 0 was not found."""
    table = pd.DataFrame({0: [str(k % 12) for k in range(60)], 1: np.arange(60.0) // 5})
    table[2] = (table[0].isin(["1", "7", "11"]) | (table[1] > 9)).astype(int)
    parts = parted(table, [20, 30])
    expected = SeparateAndConquer(bins=9).fit(table[[0, 1]], table[[2]])
    assert len(expected.theory_) == 2
    for found in (
        SeparateAndConquer(bins=9).fit(parts[[0, 1]], parts[[2]]),
        SeparateAndConquer(bins=9).fit(parts, ["2"]),
    ):
        assert_same_models(found, expected)
        assert np.array_equal(found.predict(parts[[0, 1]]).compute(), table[[2]])


def small(n_rows: int) -> pd.DataFrame:
    """Features x0 and x1, and labels y0 and y1."""
    X = np.random.default_rng(0).random((n_rows, 2))
    return pd.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "y0": 1 * (X[:, 0] > 0.6), "y1": 0})


def broken(frame, wrong):
    """The frame, whose second partition is wrong."""
    parts = [frame.iloc[:50], wrong(frame.iloc[50:100]), frame.iloc[100:]]
    tasks = [dask.delayed(part) for part in parts]
    return dd.from_delayed(tasks, meta=frame.iloc[:0], verify_meta=False)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda part: part.drop(columns="x1"), "partition 1: X has no column 'x1'"),
        (
            lambda part: part.assign(x1=["a"] * len(part)),
            "partition 1: .*column 'x1' must hold numbers, but",
        ),
        (lambda part: part.assign(y0=2), "partition 1: Y has 2 in row 0, column 'y0'"),
    ],
)
def test_a_wrong_partition_is_named(wrong, message, client) -> None:
    both = broken(small(150), wrong)
    with pytest.raises(DataError, match=message):
        SeparateAndConquer(bins=9).fit(both, ["y0", "y1"])


def unreadable(part: pd.DataFrame) -> pd.DataFrame:
    if part.index[0] >= 50:
        raise OSError("disk/part.7.parquet: no magic bytes")
    return part


def test_a_partition_that_cannot_be_read_is_named(client) -> None:
    both = dd.from_pandas(small(150), npartitions=3)
    both = both.map_partitions(unreadable, meta=both._meta)
    message = "partition 1: reading it failed: OSError: disk/part.7.parquet: no magic bytes"
    with pytest.raises(DataError, match=message):
        SeparateAndConquer(bins=9).fit(both, ["y0", "y1"])


@pytest.mark.parametrize("with_client", [True, False])
def test_errors_name_the_file(with_client, tmp_path: Path, request) -> None:
    if with_client:
        request.getfixturevalue("client")
    for number in range(3):
        part = small(50).assign(x1="a") if number == 1 else small(50)
        part.to_parquet(tmp_path / f"part.{number}.parquet")
    paths = [str(tmp_path / f"part.{number}.parquet") for number in range(3)]
    rows = dd.read_parquet(paths)
    message = r"partition 1 \(.*part.1.parquet\): X does not fit the schema: column 'x1' must"
    with pytest.raises(DataError, match=message):
        SeparateAndConquer(bins=9).fit(rows, ["y0", "y1"])
    Path(paths[1]).write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"partition 1 \(.*part.1.parquet\): reading it failed"):
        SeparateAndConquer(bins=9).fit(rows, ["y0", "y1"])


def test_what_collections_are_not_for_is_refused() -> None:
    both = dd.from_pandas(small(40), npartitions=2)
    X, Y = both[["x0", "x1"]], both[["y0", "y1"]]
    learner = SeparateAndConquer(bins=9)
    for call, error, message in (
        ((X, Y.repartition(npartitions=1)), DataError, "X has 2 partitions but Y has 1"),
        ((X, Y["y0"]), DataError, r"a frame of one column by y.to_frame\(\)"),
        ((X, ["nothing"]), DataError, "X has no column 'nothing'"),
        ((X, None), DataError, "labels are missing"),
        ((X, np.zeros((40, 2))), DataError, "give its labels as one, too"),
        ((X, Y, np.ones(40)), ValueError, "leave sample_weight and theory out"),
    ):
        with pytest.raises(error, match=message):
            learner.fit(*call)
    with pytest.raises(ValueError, match="set bins, as in"):
        SeparateAndConquer().fit(X, Y)
    with pytest.raises(TypeError, match="LabelPowerset needs all rows in memory"):
        LabelPowerset().fit(X, Y)


def test_predictions_are_arrays_of_dask(client) -> None:
    X, Y = frames(load("clinic"))
    model = SeparateAndConquer(bins=15, max_rules=6).fit(X, Y)
    for name in ("predict", "predict_proba"):
        expected = getattr(model, name)(X)
        found = getattr(model, name)(parted(X, [10, 400]))
        assert found.dtype == expected.dtype
        assert found.shape[1] == expected.shape[1]
        assert np.array_equal(found.compute(), expected)
    parts = parted(X, [600])
    parts = parts.map_partitions(
        without_age_after_the_first, meta=X.iloc[:0], enforce_metadata=False
    )
    with pytest.raises(DataError, match=r"(?s)partition 1: .*age"):
        model.predict(parts).compute()


def without_age_after_the_first(part: pd.DataFrame) -> pd.DataFrame:
    return part.drop(columns="age") if part.index[0] else part


def test_evaluation_is_that_of_all_rows(client) -> None:
    X, Y = frames(load("clinic"))
    Y = Y.astype(float).mask(np.random.default_rng(0).random(Y.shape) < 0.2)
    model = SeparateAndConquer(bins=15, max_rules=6).fit(X, Y)
    expected = evaluate(Y, model.predict(X))
    found = evaluate(parted(Y, [10, 400, 400]), model.predict(parted(X, [10, 400, 400])))
    assert found == expected
    with pytest.raises(ValueError, match="Y has 2 partitions but predicted has 1"):
        evaluate(parted(Y, [10]), model.predict(parted(X, [])))
    with pytest.raises(ValueError, match=r"partition [01]: Y has the shape"):
        evaluate(parted(Y, [10]), model.predict(parted(X, [11])))
    with pytest.raises(ValueError, match="both be collections"):
        evaluate(Y, model.predict(parted(X, [11])))
    with pytest.raises(ValueError, match="scores and weights need"):
        evaluate(parted(Y, []), parted(Y, []), scores=Y)


@pytest.mark.parametrize("layered", [False, True])
def test_evidence_and_summaries_are_those_of_all_rows(layered, client) -> None:
    X, Y = frames(load("clinic"))
    model = SeparateAndConquer(bins=15, max_rules=6).fit(X, Y)
    theory = model.theory_
    if layered:
        theory = LayeredTheory(theory.schema, [theory], fallback=theory[:2])
    new, truth = X.iloc[::2], Y.iloc[::2]
    expected = theory.with_evidence(new, truth)
    found = theory.with_evidence(parted(new, [10, 40]), parted(truth, [10, 40]))
    assert found == expected
    assert [rule.evidence for rule in found] == [rule.evidence for rule in expected]
    whole, parts = summary(theory, new), summary(theory, parted(new, [10, 10, 40]))
    assert (parts.rules, parts.labels) == (whole.rules, whole.labels)
    assert str(parts) == str(whole)
    with pytest.raises(DataError, match="X and Y must both be"):
        theory.with_evidence(parted(new, []), truth)


def test_itemsets_and_constraints_are_those_of_all_rows(client) -> None:
    data, _ = planted(300, n_nominal=2, n_labels=3, n_rules=6)
    X, Y = frames(data)
    rows = scan(parted(X, [10, 10, 200]), labels=parted(Y, [10, 10, 200]))
    for options in ({"bins": "width"}, {"bins": "frequency", "kind": "closed"}):
        expected = frequent_itemsets(data, 0.1, max_conditions=3, **options)
        found = frequent_itemsets(rows, 0.1, max_conditions=3, **options)
        assert found.as_tuples() == expected.as_tuples()
        assert str(found) == str(expected)
    expected = find_constraints(data, max_conditions=2, tolerance=0.3)
    assert str(find_constraints(rows, max_conditions=2, tolerance=0.3)) == str(expected)
    assert str(find_constraints(parted(Y, [9]), max_conditions=2, tolerance=0.3)) == str(expected)
    wrong = parted(Y, [9]).map_partitions(lambda part: part * (1 + (part.index[0] > 0)), meta=Y)
    with pytest.raises(DataError, match=r"partition 1: Y has 2 in row \d+, column 'l"):
        find_constraints(wrong)
    with pytest.raises(DataError, match=r"labelrules.scan\(X, labels\)"):
        frequent_itemsets(parted(X, [9]))


RULES = SeparateAndConquer(bins=9, max_rules=2)


@pytest.mark.parametrize(
    "learner",
    [
        Ripper(bins=9),
        BinaryRelevance(RULES, last_resort=0.3),
        ClassifierChain(RULES, n_chains=2),
        pytest.param(StackedBinaryRelevance(RULES, n_folds=2, alpha=0.9), marks=pytest.mark.slow),
    ],
    ids=lambda one: type(one).__name__,
)
def test_other_learners_give_the_models_of_the_rows(learner, client) -> None:
    data, _ = planted(200, n_nominal=0, n_labels=3, n_rules=6)
    X, Y = frames(data)
    Y = Y[["l0"]] if isinstance(learner, Ripper) else Y
    expected = clone(learner).fit(X, Y)
    found = learner.fit(parted(X, [10, 90]), parted(Y, [10, 90]))
    assert str(getattr(found, "theory_", None)) == str(getattr(expected, "theory_", None))
    assert np.array_equal(found.predict_proba(X), expected.predict_proba(X))
    assert found.why_without_rules_ == expected.why_without_rules_
    parts = found.predict(parted(X, [50]))
    assert np.array_equal(parts.compute(), expected.predict(X))


def test_ctrl_c_and_time_limits_keep_the_rules(client) -> None:
    X, Y = frames(load("clinic"))
    parts = parted(X, [500]), parted(Y, [500])
    whole = SeparateAndConquer(bins=15, max_rules=2).fit(X, Y)

    def stop_at_the_second(report) -> None:
        if report.n_rules == 2:
            raise KeyboardInterrupt

    learner = SeparateAndConquer(bins=15, progress=stop_at_the_second)
    with pytest.warns(UserWarning, match="interrupted; the 2 rules"):
        learner.fit(*parts)
    assert learner.theory_.rules == whole.theory_.rules
    with pytest.warns(UserWarning, match="time limit of 0 s was reached"):
        none = SeparateAndConquer(bins=15, time_limit=0).fit(*parts)
    assert len(none.theory_) == 0


def test_names_of_an_earlier_fit_are_forgotten():
    X = np.random.default_rng(0).integers(0, 9, (40, 3)).astype(float)
    Y = (X[:, :2] > 4).astype(int)
    learner = SeparateAndConquer(bins=9).fit(pd.DataFrame(X, columns=list("abc")), Y)
    learner.fit(da.from_array(X, chunks=(20, 3)), da.from_array(Y, chunks=(20, 2)))
    assert not hasattr(learner, "feature_names_in_")
