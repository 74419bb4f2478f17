"""The splitter: shares of labels and pairs, groups, seeds, unknown labels, and scikit-learn."""

import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from labelrules import dataset, planted
from labelrules.lab import IterativeStratifiedKFold
from labelrules.lab.stratification import even_sizes, stratified_folds

RANDOM = np.random.default_rng(0)
Y = (RANDOM.random((103, 6)) < [0.5, 0.3, 0.2, 0.2, 0.1, 0.05]).astype(np.int8)


def folds_of(splitter, Y, groups=None):
    """For each repeat the fold of each row; every row is in one test part."""
    n_rows = Y.shape[0] if hasattr(Y, "shape") else len(Y)
    X = np.zeros((n_rows, 1))
    parts = list(splitter.split(X, Y, groups))
    assert len(parts) == splitter.get_n_splits()
    found = []
    for first in range(0, len(parts), splitter.n_splits):
        folds = np.full(n_rows, -1)
        for fold, (train, test) in enumerate(parts[first : first + splitter.n_splits]):
            assert sorted([*train, *test]) == list(range(n_rows))
            assert (folds[test] == -1).all()
            folds[test] = fold
        found.append(folds)
    return found


def counts(cells, folds):
    """How often each column is true in each fold."""
    return np.array([np.asarray(cells)[folds == fold].sum(axis=0) for fold in np.unique(folds)])


@pytest.mark.parametrize("order", [1, 2])
def test_labels_are_in_all_folds_about_equally_often(order):
    (folds,) = folds_of(IterativeStratifiedKFold(5, order=order), Y)
    assert np.bincount(folds).tolist() == [21, 21, 21, 20, 20]
    found = counts(Y, folds)
    assert (found.max(axis=0) - found.min(axis=0)).max() <= order


def test_the_second_order_balances_pairs():
    pairs = np.column_stack([Y[:, i] & Y[:, j] for i in range(6) for j in range(i)])
    spread = []
    for order in (1, 2):
        (folds,) = folds_of(IterativeStratifiedKFold(5, order=order), Y)
        found = counts(pairs, folds)
        spread.append(int(((found - found.mean(axis=0)) ** 2).sum()))
    assert spread[1] < spread[0], spread


def test_repeats_and_seeds():
    splitter = IterativeStratifiedKFold(4, n_repeats=3, random_state=5)
    found = folds_of(splitter, Y)
    assert [one.tolist() for one in found] == [one.tolist() for one in folds_of(splitter, Y)]
    for repeat, folds in enumerate(found):
        (alone,) = folds_of(IterativeStratifiedKFold(4, random_state=5 + repeat), Y)
        assert (alone == folds).all()
    assert (found[0] != found[1]).any()
    (default,) = folds_of(IterativeStratifiedKFold(4), Y)
    (zero,) = folds_of(IterativeStratifiedKFold(4, random_state=0), Y)
    assert (default == zero).all()
    drawn = [folds_of(IterativeStratifiedKFold(4, random_state=np.random.RandomState(1)), Y)[0]
             for _ in range(2)]  # fmt: skip
    assert (drawn[0] == drawn[1]).all()


@pytest.mark.parametrize("as_text", [False, True])
def test_groups_stay_together(as_text):
    groups = np.random.default_rng(1).integers(0, 30, len(Y))
    given = np.array([f"g{one}" for one in groups]) if as_text else groups
    (folds,) = folds_of(IterativeStratifiedKFold(5), Y, given)
    assert all(len({*folds[groups == one]}) == 1 for one in groups)
    sizes = np.bincount(folds)
    assert sizes.max() - sizes.min() <= 3
    found = counts(Y, folds)
    assert (found.max(axis=0) - found.min(axis=0)).max() <= 5


def test_unknown_labels_are_neither_present_nor_absent():
    hidden = np.random.default_rng(2).random(Y.shape) < 0.2
    board = np.where(hidden, -1, Y)
    (folds,) = folds_of(IterativeStratifiedKFold(5, order=1), board)
    for cells in (board == 1, board == -1):
        found = counts(cells, folds)
        assert (found.max(axis=0) - found.min(axis=0)).max() <= 2
    (same,) = folds_of(IterativeStratifiedKFold(5, order=1), np.where(hidden, np.nan, Y))
    assert (same == folds).all()


def test_other_forms_of_labels():
    (folds,) = folds_of(IterativeStratifiedKFold(5), Y)
    (same,) = folds_of(IterativeStratifiedKFold(5), sparse.csr_array(Y))
    assert (same == folds).all()
    classes = np.array(["a", "b", "c"])[np.arange(90) % 3]
    (folds,) = folds_of(IterativeStratifiedKFold(3), classes)
    assert counts(classes[:, None] == ["a", "b", "c"], folds).tolist() == [[10, 10, 10]] * 3


def test_it_is_a_splitter_of_scikit_learn():
    data, _ = planted(60, random_state=1)
    X, Y = np.array(data.X), np.array(data.Y, dtype=int)
    tree, folds = DecisionTreeClassifier(random_state=0), IterativeStratifiedKFold(3)
    scores = cross_val_score(tree, X, Y, cv=folds)
    expected = [tree.fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in folds.split(X, Y)]
    assert scores.tolist() == expected
    search = GridSearchCV(tree, {"max_depth": [1, 3]}, cv=folds).fit(X, Y)
    assert search.n_splits_ == 3
    assert repr(folds) == (
        "IterativeStratifiedKFold(n_repeats=1, n_splits=3, order=2, random_state=None)"
    )


def test_folds_of_data_do_not_depend_on_the_order_of_rows():
    data = dataset(RANDOM.random((40, 2)), Y[:40])
    order = RANDOM.permutation(40)
    folds = stratified_folds(data, even_sizes(40, 4), 3)
    assert (stratified_folds(data.take(order), even_sizes(40, 4), 3) == folds[order]).all()
    assert (stratified_folds(data, even_sizes(40, 4), 4) != folds).any()


@pytest.mark.parametrize(
    ("settings", "given", "message"),
    [
        ({"n_splits": 1}, {}, "n_splits must be a whole number of at least 2, not 1"),
        ({"n_repeats": 0}, {}, "n_repeats must be a whole number of at least 1, not 0"),
        ({"order": 3}, {}, "order must be a whole number from 1 to 2, not 3"),
        ({"n_splits": 200}, {}, "200 folds need at least as many rows, not 103"),
        ({"random_state": "x"}, {}, "random_state must be a whole number"),
        ({}, {"y": None}, "stratification needs the labels: pass y"),
        ({}, {"groups": [0, 1]}, "inconsistent numbers of samples"),
        ({}, {"groups": np.arange(103) % 3}, "5 folds need at least as many groups, not 3"),
    ],
)
def test_wrong_settings_are_explained(settings, given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        next(IterativeStratifiedKFold(**settings).split(**{"X": Y, "y": Y} | given))
