"""Learners of several models from partitions: the same as from the rows in memory."""

import errno
import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from labelrules import (
    BinaryRelevance,
    ClassifierChain,
    Dataset,
    LayeredTheory,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
    dataset,
    load,
    planted,
    scan,
)
from labelrules.data import ClusterError, DataError, Partitions
from labelrules.learners.covering.loop import Covering
from labelrules.scale.files import counts as file_counts
from tables import tables


def parts_of(data: Dataset, *cuts: int, **options: int) -> Partitions:
    """The rows divided before these."""
    edges = [0, *sorted(cuts), len(data)]
    return scan([data.take(np.arange(a, b)) for a, b in pairwise(edges)], **options)


def assert_same_models(found, expected) -> None:
    assert getattr(found, "theory_", None) == getattr(expected, "theory_", None)
    for ours, theirs in zip(lists_of(found), lists_of(expected), strict=True):
        assert ours.rules == theirs.rules
        assert [rule.evidence for rule in ours] == [rule.evidence for rule in theirs]
    for name in ("ones", "zeros", "share"):
        assert np.array_equal(getattr(found.background_, name), getattr(expected.background_, name))
    for name in ("why_without_rules_", "last_resort_", "schema_", "orders_", "threshold_"):
        assert getattr(found, name, None) == getattr(expected, name, None)
    assert found.feature_names_in_.tolist() == expected.feature_names_in_.tolist()


def lists_of(model) -> list:
    """Every decision list of a model."""
    if "theory_" not in vars(model):
        return list(model.theories_)
    theory = model.theory_
    return list(theory.parts) if isinstance(theory, LayeredTheory) else [theory]


SETTINGS = settings(max_examples=30)
TABLES = tables(max_rows=16, max_features=3, max_labels=3, unknown=True)
PARTS = st.lists(st.integers(0, 16), max_size=3)
RIPPERS = st.builds(
    Ripper, bins=st.integers(2, 4), pruning=st.booleans(), n_passes=st.integers(0, 2),
    min_coverage=st.integers(1, 2), random_state=st.integers(0, 3),
)  # fmt: skip
BASES = RIPPERS | st.builds(
    SeparateAndConquer, bins=st.integers(2, 4), pruning=st.sampled_from([None, "mdl"]),
    min_coverage=st.integers(1, 2),
)  # fmt: skip


def assert_same_from_parts(learner, data, cuts, in_files=False) -> None:
    expected = learner.fit(data)
    again = type(learner)(**learner.get_params(deep=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(file_counts, "PART_BYTES", 40)
        patch.setattr(file_counts, "MEGABYTE", 1 if in_files else 1 << 20)
        found = again.fit(parts_of(data, *(cut for cut in cuts if cut <= len(data))))
    assert_same_models(found, expected)


ONE_LABEL = tables(max_rows=16, max_features=3, max_labels=1, unknown=True)


@pytest.mark.filterwarnings("ignore")
@SETTINGS
@given(ONE_LABEL, PARTS, RIPPERS, st.booleans())
def test_ripper_of_any_partitions(data, cuts, learner, in_files):
    assert_same_from_parts(learner, data, cuts, in_files)


@pytest.mark.filterwarnings("ignore")
@SETTINGS
@given(TABLES, PARTS, BASES, st.booleans(), st.sampled_from(["cardinality", 0.3]))
def test_voting_chains_of_any_partitions(data, cuts, base, bootstrap, threshold):
    learner = ClassifierChain(base, n_chains=3, bootstrap=bootstrap, threshold=threshold)
    assert_same_from_parts(learner, data, cuts)


STACKED = st.fixed_dictionaries({}, optional={
    "labels_from": st.just("truth"), "with_features": st.just(False), "n_layers": st.just(3),
    "inference": st.sampled_from(["until stable", "label by label"]), "n_folds": st.just(2),
    "alpha": st.sampled_from([None, 0.9]), "last_resort": st.just(None),
})  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@SETTINGS
@given(TABLES, PARTS, BASES, STACKED)
def test_stacked_layers_of_any_partitions(data, cuts, base, options):
    assert_same_from_parts(StackedBinaryRelevance(base, **options), data, cuts)


LEARNERS = [
    BinaryRelevance(Ripper(bins=15), last_resort=0.3),
    BinaryRelevance(SeparateAndConquer(bins=15), last_resort=0.3),
    ClassifierChain(SeparateAndConquer(bins=15), max_literals=12),
    ClassifierChain(SeparateAndConquer(bins=15, max_rules=2), n_chains=3),
    StackedBinaryRelevance(SeparateAndConquer(bins=15, max_rules=2), n_folds=2, alpha=0.9),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_more_rows_give_the_model_of_the_rows(learner) -> None:
    data, _ = planted(300, n_nominal=0, n_labels=4, n_rules=6, noise=0.05)
    assert_same_from_parts(learner, data, [40, 41, 250], in_files=True)
    assert sum(map(len, lists_of(learner))) > 3


def rows_with_guesses() -> Dataset:
    """Rows of which some have no label that a rule finds, but one that is likely."""
    random = np.random.default_rng(0)
    X = random.random((300, 2)).round(2)
    kind = np.where(X[:, 0] > 0.7, 0, random.choice([1, 2, 3], 300, p=[0.45, 0.3, 0.25]))
    return dataset(X, (kind[:, None] == np.arange(4)).astype(int))


def test_rules_for_rows_without_a_label_are_found() -> None:
    data = rows_with_guesses()
    learner = BinaryRelevance(SeparateAndConquer(bins=9), last_resort=0.3)
    assert isinstance(learner.fit(data).theory_, LayeredTheory)
    assert_same_from_parts(learner, data, [10, 200], in_files=True)


def test_what_partitions_are_not_for_is_refused() -> None:
    parts = parts_of(load("magazines"), 5)
    with pytest.raises(ValueError, match="LogisticRegression as base needs all rows in memory"):
        BinaryRelevance(LogisticRegression()).fit(parts)
    with pytest.raises(ValueError, match="set bins, as in SeparateAndConquer"):
        BinaryRelevance(SeparateAndConquer()).fit(parts)
    wards = dataset([[ward] for ward in "abcdef"], np.eye(6, 2, dtype=int), feature_names=["ward"])
    for learner in (Ripper(), BinaryRelevance()):
        with pytest.raises(ValueError, match=r"set bins, as in Ripper\(bins=255\)"):
            learner.fit(parts_of(wards.without(["y0"]), 3))
    with pytest.raises(ValueError, match="Ripper learns one label"):
        Ripper(bins=9).fit(parts)
    again = SeparateAndConquer(bins=9, max_rules=1, warm_start=True).fit(parts)
    with pytest.raises(ValueError, match="warm_start needs all rows in memory"):
        again.fit(parts)
    with pytest.raises(ValueError, match="Gibbs sampling needs all rows in memory"):
        StackedBinaryRelevance(
            SeparateAndConquer(bins=9), labels_from="truth", inference="gibbs"
        ).fit(parts)
    with pytest.raises(ValueError, match="leave all other arguments out"):
        BinaryRelevance(SeparateAndConquer(bins=9)).fit(parts, np.zeros((14, 4)))
    with pytest.raises(ValueError, match="by counts alone: leave heads"):
        BinaryRelevance(SeparateAndConquer(bins=9, beam_width=2)).fit(parts)
    for learner in (Ripper(bins=9), BinaryRelevance(Ripper(bins=9)), SeparateAndConquer(bins=9)):
        with pytest.raises(ValueError, match=r"X has 0 sample\(s\)"):
            learner.fit(scan(load("magazines").take([])))
    unknown = dataset(np.ones((4, 1)), np.full((4, 2), -1))
    for chain in (ClassifierChain(Ripper(bins=9)), ClassifierChain(Ripper(bins=9), n_chains=2)):
        with pytest.raises(ValueError, match="all labels are unknown in all rows"):
            chain.fit(scan(unknown))


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="room on the disk is not asked for")
def test_a_full_disk_is_an_error_that_says_what_to_do(tmp_path: Path, monkeypatch) -> None:
    """Writing to a mapped file on a full disk would end the process without a word."""

    def is_full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(file_counts, "MEGABYTE", 1)
    monkeypatch.setattr(file_counts.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(file_counts.os, "posix_fallocate", is_full)
    monkeypatch.setattr(file_counts, "FiledRows", is_full)
    parts = parts_of(load("magazines"), 5, memory_limit=1)
    for base in (Ripper(bins=9), SeparateAndConquer(bins=9)):
        with pytest.raises(DataError, match=r"is full, .* let TMPDIR name a folder with more room"):
            BinaryRelevance(base).fit(parts)
    assert not list(tmp_path.iterdir())


def test_a_lost_cluster_is_an_error_of_the_whole(monkeypatch) -> None:
    def lose(covering, listener) -> None:
        covering.lost = ClusterError("the scheduler was lost")

    monkeypatch.setattr(Covering, "go_on", lose)
    parts = parts_of(load("magazines"), 5)
    with pytest.raises(ClusterError, match="the scheduler was lost; no rule"):
        SeparateAndConquer(bins=9).fit(parts)
    with pytest.raises(ClusterError, match=r"the scheduler was lost$"):
        BinaryRelevance(SeparateAndConquer(bins=9)).fit(parts)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tmc2007-500", "yeast", "flags"])
@pytest.mark.parametrize("number", range(5))
def test_real_data_give_the_same_models(name, number, data_folder) -> None:
    base = SeparateAndConquer(bins=255, max_rules=3, operators=["<=", ">", "="])
    learner = [
        BinaryRelevance(base),
        BinaryRelevance(Ripper(bins=255, n_passes=1)),
        ClassifierChain(base, order="dependence"),
        ClassifierChain(base, n_chains=2),
        StackedBinaryRelevance(base, n_folds=2, last_resort=None),
    ][number]
    data = load(name, data_folder)
    expected = clone(learner).fit(data)
    rows = np.random.default_rng(number).permutation(len(data))
    found = learner.fit(scan([data.take(some) for some in np.array_split(rows, 7)], memory_limit=1))
    assert_same_models(found, expected)
