"""Many labels of which most get no rule: a try costs what its label costs, not what all cost."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest

from labelrules import theory_text
from labelrules.learners import SeparateAndConquer
from labelrules.learners.covering.next_rule import RuleFinder
from labelrules.search.bodies.refine import Refiner

N_ROWS, N_LABELS = 600, 300

WAYS = {
    "default": {},
    "significance": {"pruning": "significance"},
    "irep": {"pruning": "irep"},
    "incomplete": {"readd": "incomplete"},
    "stops": {"stop_share": 0.1},
}


def noise(n_rows, n_labels, density=0.1, n_real=0):
    """Labels that have nothing to do with the features, and some that do."""
    random = np.random.default_rng(0)
    X = np.round(random.random((n_rows, 4)), 2)
    Y = (random.random((n_rows, n_labels)) < density).astype(int)
    for label in range(n_real):
        Y[:, 7 * label] = X[:, label % 4] > 0.9 - 0.05 * label
    return X, Y


@pytest.fixture
def searched(monkeypatch):
    """How often the first conditions of each label are searched; given up labels fail the test."""
    counts = Counter()
    original = Refiner.fill

    def fill(self, best, space, first, last, covered, targets, reached):
        labels = targets // self.n_layers
        if space.unlisted or not self.merging:  # merged labels share their conditions on labels
            assert (self.cells.values[labels] > 0).all()
        if covered is self.everywhere and space.listing is self.columns.index:
            counts.update(labels.tolist())
        return original(self, best, space, first, last, covered, targets, reached)

    monkeypatch.setattr(Refiner, "fill", fill)
    return counts


@pytest.mark.parametrize("n_labels", [20, 100])
def test_each_label_of_noise_is_searched_once_in_each_round(n_labels, searched):
    """At first, and then by a measure that weighs recall less."""
    model = SeparateAndConquer(last_resort=None).fit(*noise(300, n_labels))
    assert len(model.labels_without_rules_) == n_labels
    assert searched == dict.fromkeys(range(n_labels), 2)


@pytest.mark.parametrize("merging", [False, True])
def test_labels_given_up_are_not_searched_again(merging, searched):
    """However many rules for others are found."""
    heads = {"heads": "multi", "fixed_head": False} if merging else {}
    model = SeparateAndConquer(last_resort=0.1, **heads).fit(*noise(300, 40, n_real=3))
    assert len(model.theory_) > 2
    assert set(searched) == set(range(40))


@pytest.fixture
def peaks(monkeypatch):
    """The most memory allocated at one time in each try, but the first of each round."""
    found, known = [], []
    original = RuleFinder.exclude

    def exclude(self, head):
        before, peak = tracemalloc.get_traced_memory()
        if self in known:
            found.append(peak - before)
        known.append(self)
        original(self, head)
        tracemalloc.reset_peak()

    monkeypatch.setattr(RuleFinder, "exclude", exclude)
    return found


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("n_real", [0, 5])
def test_no_try_makes_an_array_of_the_size_of_the_board(way, n_real, peaks):
    X, Y = noise(N_ROWS, N_LABELS, n_real=n_real)
    SeparateAndConquer(**way).fit(X, Y[:, :20])  # what is kept for good
    del peaks[:]
    tracemalloc.start()
    try:
        SeparateAndConquer(**way).fit(X, Y)
    finally:
        tracemalloc.stop()
    assert len(peaks) > N_LABELS / 2
    assert max(peaks) < N_ROWS * N_LABELS / 2


def test_threads_change_nothing():
    data = noise(2000, 60, n_real=5)
    one, two = (SeparateAndConquer(n_jobs=n).fit(*data).theory_ for n in (1, 2))
    assert theory_text(one) == theory_text(two)
