"""Tables of one label with other labels as features, and rules that come back from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

from labelrules import Dataset, DecisionList, Feature, Schema, load, parse
from labelrules.learners import BinaryRelevance, StackedBinaryRelevance
from labelrules.learners.base.label_models import (
    LabelTask,
    label_table,
    rules_for,
)
from labelrules.learners.base.sampling import folds_of
from learners.registry import Stumps
from tables import tables
from theories import decision_lists
from twins import layered_learners as naive

READERS = load("magazines")


@given(data=tables(max_labels=4, storage=("dense", "sparse")), chosen=st.data())
def test_a_table_of_one_label(data, chosen):
    labels = range(data.schema.n_labels)
    label = chosen.draw(st.sampled_from(labels))
    tested = sorted(chosen.draw(st.sets(st.sampled_from(labels))))
    features = chosen.draw(st.booleans())
    shown = 1 - data.Y
    found = label_table(data, LabelTask(label, tuple(tested)), shown, features)
    expected = naive.table(data, label, tested, shown, features)
    assert found.schema.labels == (data.schema.labels[label],)
    assert [f.categories for f in found.schema.features] == [
        f.categories for f in expected.schema.features
    ]
    for column in range(found.schema.n_features):
        np.testing.assert_array_equal(found.column(column), expected.column(column))
    np.testing.assert_array_equal(found.Y, expected.Y)
    assert found.is_sparse == (data.is_sparse and features)


@given(data=tables(min_labels=2, max_labels=3), chosen=st.data())
def test_rules_that_come_back_do_the_same(data, chosen):
    """A list over the table of one label, and its rules over all labels that read the others."""
    label = chosen.draw(st.integers(0, data.schema.n_labels - 1))
    task = LabelTask(label, tuple(j for j in range(data.schema.n_labels) if j != label))
    table = label_table(data, task, data.Y)
    listed = chosen.draw(decision_lists(table.schema, st.sampled_from([0.0, 0.5, 1.0])))
    back = rules_for(task, listed, data.schema, table.schema.n_features)
    assert {rule.head.labels for rule in back} == {(label,)}
    assert len(back[-1].body) == 0
    found = DecisionList(data.schema, back).apply(data, reads=data.Y)
    np.testing.assert_array_equal(found[:, label], listed.predict(table)[:, 0])


def test_the_label_itself_has_another_name_as_a_feature():
    schema = Schema([Feature("a_")], ["a", "b"])
    data = Dataset(schema, np.zeros((1, 1)), np.array([[0, 1]]))
    task = LabelTask(0, (0, 1))
    table = label_table(data, task, data.Y)
    assert table.schema.feature_names == ("a_", "a__", "b")
    rules = rules_for(task, parse("a <- a__ != 0, b = 0", table.schema), schema, 3)
    assert str(DecisionList(schema, rules)) == "a <- a, not b\notherwise: not a"


@pytest.mark.parametrize("model", [BinaryRelevance, StackedBinaryRelevance])
def test_classifiers_get_sparse_numbers_from_sparse_tables(model):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (40, 4)) * rng.integers(0, 2, (40, 4))
    Y = (X[:, :3] + rng.integers(0, 2, (40, 3)) > 1).astype(int)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    dense = model(tree).fit(X, Y).predict(X)
    np.testing.assert_array_equal(
        model(tree).fit(sparse.csr_array(X), Y).predict(sparse.csr_array(X)), dense
    )


# ---------------------------------------------------------------- folds


@given(tables(max_rows=12), st.integers(2, 5), st.integers(0, 3))
def test_folds_are_even_and_belong_to_the_rows(data, n_folds, seed):
    folds = folds_of(data, n_folds, seed)
    sizes = np.bincount(folds, minlength=2)
    n = max(2, min(n_folds, len(data)))
    assert len(sizes) <= n
    assert sizes.max() - sizes[:n].min() <= 1
    order = np.random.default_rng(seed).permutation(len(data))
    again = folds_of(data.take(order), n_folds, seed)
    # Rows that are equal may change places among themselves.
    rows = [(x.tobytes(), y.tobytes()) for x, y in zip(naive_rows(data), data.Y, strict=True)]
    pairs = sorted(zip(rows, folds.tolist(), strict=True))
    shuffled = sorted(zip([rows[i] for i in order], again.tolist(), strict=True))
    assert pairs == shuffled


def naive_rows(data):
    return np.column_stack([np.empty((len(data), 0)), *naive.columns_of(data)]) + 0.0


def test_each_label_set_is_spread_over_the_folds():
    rng = np.random.default_rng(0)
    X, Y = rng.random((100, 2)), np.repeat(np.eye(4, dtype=int), 25, axis=0)
    data = Dataset(Schema([Feature("x"), Feature("y")], list("abcd")), X, Y)
    folds = folds_of(data, 5)
    for label in range(4):
        counts = np.bincount(folds[Y[:, label] == 1], minlength=5)
        np.testing.assert_array_equal(counts, 5)
    assert (folds_of(data, 5, 1) != folds).any()


def test_a_single_row_is_stacked_too():
    model = StackedBinaryRelevance(Stumps()).fit([[1.0]], [[1, 0]])
    assert model.predict([[3.0]]).tolist() == [[1, 0]]
