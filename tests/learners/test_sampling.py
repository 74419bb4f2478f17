"""Rows held out for pruning: a fair share of each label set, that growing does not look at."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from labelrules import Dataset
from labelrules.learners import SeparateAndConquer
from labelrules.learners.base.sampling import held_out_rows, row_keys
from labelrules.learners.covering.loop import Covering
from labelrules.learners.covering.settings import checked_settings
from labelrules.learners.covering.sorted_rows import SortedRows
from tables import schema_of

label_sets = st.lists(st.tuples(*[st.integers(0, 1)] * 2), min_size=1, max_size=40)
shares = st.sampled_from([1 / 3, 0.25, 0.5, 0.1, 0.9])


@given(label_sets, shares, st.integers(0, 5))
@settings(max_examples=100)
def test_each_label_set_gives_its_share_of_held_out_rows(Y, share, seed):
    keys = row_keys(np.arange(len(Y), dtype=float)[:, None])
    held = held_out_rows(np.array(Y, dtype=np.int8), keys, share, seed)
    for kind in set(Y):
        of_kind = held[[row == kind for row in Y]]
        assert abs(of_kind.sum() - share * len(of_kind)) <= 1 + 1e-9


def a_table(n_rows=60, seed=0, n_categories=0):
    """Three features that make three labels more or less probable."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n_rows, 3)).astype(float)
    Y = (rng.random((n_rows, 3)) < 0.1 + 0.25 * X).astype(np.int8)
    return Dataset(schema_of([n_categories] * 3, 3), X, Y)


@pytest.mark.parametrize("stored", [np.asarray, sparse.csc_array])
def test_the_split_does_not_depend_on_the_order_of_rows(stored):
    rng = np.random.default_rng(1)
    X, Y = rng.random((50, 2)) * (rng.random((50, 2)) < 0.5), rng.integers(0, 2, (50, 2))
    X[:, 0] += np.arange(1, 51)
    order = rng.permutation(50)
    held = held_out_rows(Y.astype(np.int8), row_keys(stored(X)), 1 / 3, 7)
    moved = held_out_rows(Y[order].astype(np.int8), row_keys(stored(X[order])), 1 / 3, 7)
    assert np.array_equal(moved, held[order])


def test_dense_and_sparse_tables_are_split_alike():
    data = a_table()
    stored = sparse.csc_array(data.X)
    assert np.array_equal(row_keys(data.X), row_keys(stored))


@pytest.mark.parametrize("n_labels", [2, 30])
def test_the_split_depends_on_the_seed(n_labels):
    """With many labels every label set occurs once; there too."""
    rng = np.random.default_rng(0)
    keys, Y = row_keys(rng.random((40, 2))), rng.integers(0, 2, (40, n_labels)).astype(np.int8)
    splits = {held_out_rows(Y, keys, 1 / 3, seed).tobytes() for seed in range(10)}
    assert len(splits) == 10


def first_grown(data, **parameters):
    """The first rule that is grown, before it is pruned, and the covering that grew it."""
    learner = SeparateAndConquer(polarity="both", min_coverage=1, **parameters)
    given = checked_settings(learner, data.schema)
    covering = Covering(SortedRows(data, given), given)
    return covering.finder.best_rule(), covering


@pytest.mark.parametrize("seed", range(5))
def test_held_out_rows_do_not_count_while_growing(seed):
    """The rule is the one that is grown where they are not there at all."""
    data = a_table(seed=seed, n_categories=4)
    grown, covering = first_grown(data, pruning="irep", random_state=seed)
    rest = np.flatnonzero(~covering.board.held_out)
    assert 0 < rest.size < data.n_rows
    alone, _ = first_grown(Dataset(data.schema, data.X[rest], data.Y[rest]), pruning=None)
    assert (grown.head, grown.body, grown.merit) == (alone.head, alone.body, alone.merit)


@pytest.mark.parametrize("pruning", ["mdl", "irep", "significance"])
def test_the_list_does_not_depend_on_the_order_of_rows(pruning):
    data = a_table()
    order = np.random.default_rng(2).permutation(data.n_rows)
    moved = Dataset(data.schema, data.X[order], data.Y[order])
    learner = SeparateAndConquer(pruning=pruning, random_state=3)
    theory = learner.fit(data).theory_
    assert theory == learner.fit(moved).theory_
    assert len(theory) > 1
