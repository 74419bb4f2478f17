"""Rows in blocks: what is counted in a data set is counted in any partitions of it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labelrules import Dataset, dataset, load, parse, scan
from labelrules.data import DataError
from labelrules.data.codes.bins import Bins
from labelrules.learners.base.sampling import bootstrap_sample, folds_by_block, folds_of
from labelrules.learners.base.tallies import label_cells
from labelrules.learners.base.theory_classifier import Background
from tables import tables
from theories import decision_lists

TABLES = tables(max_rows=12, max_features=3, max_labels=3, unknown=True)
CUTS = st.lists(st.integers(0, 12), max_size=3)


def parts_of(data: Dataset, cuts: list[int]):
    """The rows divided before these."""
    edges = [0, *sorted(cut for cut in cuts if cut <= len(data)), len(data)]
    return scan([data.take(np.arange(a, b)) for a, b in pairwise(edges)])


def without_first_label(block: Dataset, beside: np.ndarray | None) -> Dataset:
    """Rows that are chosen beside the block, with the first label unknown."""
    Y = block.Y.copy()
    Y[:, 0] = -1
    changed = Dataset(block.schema, block.X, Y, block.name)
    return changed if beside is None else changed.take(np.flatnonzero(beside))


def board_in(block: Dataset) -> np.ndarray:
    return (block.Y == 1).sum(axis=0)


@settings(max_examples=50)
@given(TABLES, CUTS)
def test_totals_and_bins_are_those_of_all_rows(data, cuts):
    parts = parts_of(data, cuts)
    assert np.array_equal(parts.total(board_in, "counting"), data.total(board_in, "counting"))
    for one, other in zip(label_cells(parts), label_cells(data), strict=True):
        assert np.array_equal(one, other)
    assert Bins.of(parts, 3) == Bins.of(data.with_known_labels(), 3)


@settings(max_examples=50)
@given(TABLES, CUTS, st.data())
def test_changed_rows_are_those_of_all_rows_changed(data, cuts, drawn):
    chosen = np.array(drawn.draw(st.lists(st.booleans(), min_size=len(data), max_size=len(data))))
    parts = parts_of(data, cuts)
    ends = np.cumsum([len(part) for part in parts])
    beside = np.split(chosen, ends[:-1])
    whole = data.mapped(without_first_label, data.schema, [chosen], n_rows=int(chosen.sum()))
    found = parts.mapped(without_first_label, data.schema, beside, n_rows=int(chosen.sum()))
    blocks = list(found)
    assert len(found) == len(whole)
    assert np.array_equal(np.concatenate([one.Y for one in blocks]), whole.Y)
    assert np.array_equal(found.total(board_in, "counting"), board_in(whole))


@settings(max_examples=50)
@given(TABLES, CUTS, st.integers(2, 4), st.integers(0, 3))
def test_folds_and_samples_are_those_of_all_rows(data, cuts, n_folds, seed):
    known = data.with_known_labels()
    parts = parts_of(data, cuts)
    folds = np.concatenate(folds_by_block(parts, n_folds, seed))
    is_known = (data.Y != -1).any(axis=1)
    assert np.array_equal(folds[is_known], folds_of(known, n_folds, seed))
    assert (folds[~is_known] == -1).all()
    if not len(known):
        return
    (whole,) = bootstrap_sample(known, np.random.RandomState(seed))
    drawn = bootstrap_sample(parts, np.random.RandomState(seed))
    rows = [part.take(some) for part, some in zip(parts, drawn, strict=True)]
    times = sorted(cell for one in rows for cell in map(bytes, one.Y))
    assert times == sorted(map(bytes, known.take(whole).Y))


@settings(max_examples=50)
@given(TABLES, CUTS, st.data())
def test_evidence_and_what_is_left_open_are_those_of_all_rows(data, cuts, drawn):
    theory = drawn.draw(decision_lists(data.schema, st.sampled_from([0.0, 0.5, 1.0])))
    parts = parts_of(data, cuts)
    found, expected = theory.with_evidence(parts), theory.with_evidence(data)
    assert expected == theory.with_evidence(data, data.Y)
    assert [rule.evidence for rule in found] == [rule.evidence for rule in expected]
    left, right = Background.left_by(theory, parts), Background.left_by(theory, data)
    for name in ("ones", "zeros", "share"):
        assert np.array_equal(getattr(left, name), getattr(right, name))


def test_weights_count_in_the_one_block_of_a_data_set():
    X, Y = [[1.0], [2.0], [3.0]], [[1, 0], [0, 0], [0, 1]]
    light = Dataset(
        dataset(X, Y).schema, np.array(X), np.array(Y), weights=np.array([5.0, 1.0, 1.0])
    )  # fmt: skip
    assert label_cells(light).are_common.tolist() == [True, False]
    assert label_cells(dataset(X, Y)).are_common.tolist() == [False, False]
    assert label_cells(light).known.tolist() == [3, 3]


def test_evidence_needs_labels():
    theory = parse("quality <- sex = Male", load("magazines").schema)
    with pytest.raises(DataError):
        theory.with_evidence(np.zeros((2, 4)))
