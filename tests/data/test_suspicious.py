"""Identifiers and free text are pointed out, real counts and codes are not."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from extras import pd
from labelrules import BinaryRelevance, Ripper, Scorecard, SeparateAndConquer, dataset, load
from labelrules.data.suspicious import suspicious_columns
from labelrules.data.table import is_frozen

N = 120
RANDOM = np.random.default_rng(0)
WORDS = np.array(["pain", "fever", "since", "monday", "no", "cough", "left", "arm"])
GOOD = {
    "age": RANDOM.integers(0, 90, N),
    "income": RANDOM.permutation(N) * 1000,  # whole and all different, but no identifier
    "visits": RANDOM.poisson(3, N),
    "weight": RANDOM.random(N),
    "city": RANDOM.choice([f"city {i}" for i in range(40)], N),
    "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(N), "D"),
    "paid": RANDOM.permutation(N),
}
BAD = {
    "row": (np.arange(N) + 5, "counts the rows"),
    "patient_id": (RANDOM.permutation(10**6)[:N], "has 120 different whole numbers in 120 rows"),
    "customerID": (RANDOM.permutation(10**6)[:N], "has 120 different whole numbers in 120 rows"),
    "name": ([f"P{i}" for i in range(N)], "has 120 different values in 120 rows"),
    "note": ([" ".join(RANDOM.choice(WORDS, 7)) for _ in range(N)], "holds texts of 7 words"),
}
Y = (GOOD["age"] > 40).astype(int).reshape(-1, 1)


def test_each_is_found_and_nothing_else():
    frame = pd.DataFrame(GOOD | {name: values for name, (values, _) in BAD.items()})
    found = dict(suspicious_columns(dataset(frame, Y)))
    assert found.keys() == BAD.keys()
    for name, (_, reason) in BAD.items():
        assert reason in found[name]


def test_few_rows_and_sparse_tables_are_left_alone():
    frame = pd.DataFrame({"name": BAD["name"][0]})
    assert not suspicious_columns(dataset(frame[:40], Y[:40]))
    assert not suspicious_columns(dataset(sparse.csc_array(np.arange(N).reshape(-1, 1)), Y))


@pytest.mark.parametrize(
    "learner", [SeparateAndConquer(), Scorecard(), Ripper(), BinaryRelevance(Ripper())]
)
def test_one_warning_for_a_fit(learner):
    with pytest.warns(UserWarning, match="look like identifiers or free text") as caught:
        learner.fit(pd.DataFrame({"name": BAD["name"][0], "age": GOOD["age"]}), Y.ravel())
    (message,) = caught
    assert "'name' has 120 different values in 120 rows. Leave them out" in str(message.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner.fit(pd.DataFrame(GOOD), Y.ravel())


@pytest.mark.parametrize("name", ["CAL500", "birds", "emotions", "flags", "scene", "yeast"])
def test_no_false_alarm(name, data_folder):
    assert not suspicious_columns(load(name, data_folder))


def test_the_proteins_of_genbase_are_names(data_folder):
    assert [one.name for one in suspicious_columns(load("genbase", data_folder))] == ["protein"]


def test_what_nobody_can_change_is_not_copied(tmp_path):
    X = np.asfortranarray(RANDOM.random((N, 3)))
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert np.shares_memory(dataset(mapped, Y).X, mapped)
    assert not np.shares_memory(dataset(X, Y).X, X)
    for other in (np.load(tmp_path / "x.npy", mmap_mode="r+"), mapped.astype(np.float32), X.copy()):
        assert not np.shares_memory(dataset(other, Y).X, other)
    X.setflags(write=False)
    assert is_frozen(X)
    assert dataset(X, Y).X.base is X or np.shares_memory(dataset(X, Y).X, X)
    by_row = np.ascontiguousarray(X)
    by_row.setflags(write=False)
    assert dataset(by_row, Y).X.flags.f_contiguous
    np.testing.assert_array_equal(dataset(by_row, Y).X, X)


def test_the_warning_points_at_the_call():
    frame = pd.DataFrame({"name": BAD["name"][0], "age": GOOD["age"]})
    for learner in (SeparateAndConquer(), BinaryRelevance(), Scorecard()):
        with pytest.warns(UserWarning, match="look like identifiers") as caught:
            learner.fit(frame, Y)
        assert {one.filename for one in caught} == {__file__}
