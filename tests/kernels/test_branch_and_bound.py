"""The general branch and bound, against looking at every head; also run uncompiled."""

from itertools import product

import numpy as np
import pytest

from labelrules.kernels import heads as branch

ABSENT, PRESENT, SILENT = branch.ABSENT, branch.PRESENT, branch.SILENT


def precision(right, wrong):
    return right / (right + wrong) if right else 0.0


def recall(right, wrong):
    return float(right > 0)


def subset(right, wrong):
    return float(right > 0 and wrong == 0)


def zigzag(right, wrong):
    """Right cells may harm and wrong ones help: no bound by the best case holds."""
    return [0.0, 0.7, 0.2, 1.0, 0.1, 0.4][(right + 2 * wrong) % 6]


def problem(seed, n_labels, worth, full, absence, largest, lifted):
    """Rows with random effects and weights."""
    rng = np.random.default_rng(seed)
    n_rows = 4
    effect = rng.integers(-1, 2, (3, n_labels, n_rows)).astype(np.int8)
    effect[SILENT] = effect[ABSENT] if full else 0
    rows = branch.DistinctRows(
        effect, rng.integers(1, 4, n_rows) / 10, rng.integers(0, 2, n_rows).astype(np.int64)
    )
    sizes = range(n_labels + 1)
    table = np.array([[worth(r, w) for w in sizes] for r in sizes])
    worths = np.array([table, table[::-1, ::-1] / 2 if worth is zigzag else table / 2])
    flipped = worths[:, ::-1, ::-1]
    reach = np.maximum.accumulate(np.maximum.accumulate(flipped, axis=1), axis=2)[:, ::-1, ::-1]
    choices = [1, 0] if full else [1, 0, 2] if absence else [1, 2]
    space = branch.HeadSpace(
        np.array(choices, np.int8),
        full,
        0 if full and absence else 1,
        min(largest, n_labels),
        np.array([1.0, 1.0, 1.3, 0.8, 1.5][: n_labels + 1]) if lifted else np.ones(n_labels + 1),
        worths,
        np.ascontiguousarray(reach),
        worth is not zigzag,
    )
    return rows, space


def naive_value(head, rows, space):
    size = sum(choice == PRESENT if space.full else choice != SILENT for choice in head)
    total = 0.0
    for row, (weight, table) in enumerate(zip(rows.weight, rows.table, strict=True)):
        effects = [rows.effect[choice, label, row] for label, choice in enumerate(head)]
        total += weight * space.worth[table, effects.count(1), effects.count(-1)]
    return total * space.factors[size], size


def key(head):
    order = {PRESENT: 2, ABSENT: 1, SILENT: 0}
    said = sum(choice != SILENT for choice in head)
    return said, sum(choice == PRESENT for choice in head), [order[choice] for choice in head]


def best_of_all(rows, space):
    heads = {}
    for head in product(space.choices.tolist(), repeat=rows.effect.shape[1]):
        value, size = naive_value(head, rows, space)
        if space.smallest <= size <= space.largest:
            heads[head] = value
    best = max(heads.values())
    return best, max((head for head, value in heads.items() if value > best - 1e-12), key=key)


def start(rows, space):
    n_labels = rows.effect.shape[1]
    rest = ABSENT if space.full else SILENT
    return np.where(np.arange(n_labels) < space.largest, PRESENT, rest).astype(np.int8)


CASES = [
    (worth, full, absence, largest, lifted)
    for worth in (precision, recall, subset, zigzag)
    for full, absence in product((False, True), repeat=2)
    for largest, lifted in ((9, False), (2, False), (9, True))
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].__name__}-{case[1:]}")
def test_the_best_head(case):
    for seed, n_labels in ((0, 1), (1, 3), (2, 4)):
        rows, space = problem(seed, n_labels, *case)
        best, preferred = best_of_all(rows, space)
        head = start(rows, space)
        climbed = branch.climb(head, rows, space)
        assert climbed == pytest.approx(naive_value(head, rows, space)[0])
        value, missed, nodes = branch.search_heads(rows, space, head, 10_000)
        assert value == pytest.approx(best)
        assert tuple(head.tolist()) == preferred
        assert missed == -np.inf
        assert nodes <= sum(len(space.choices) ** depth for depth in range(1, n_labels + 1))


@pytest.mark.parametrize("max_nodes", [0, 1, 3, 10])
@pytest.mark.parametrize("case", CASES[::3], ids=lambda case: f"{case[0].__name__}-{case[1:]}")
def test_what_a_limit_leaves_open(case, max_nodes):
    rows, space = problem(3, 4, *case)
    best, _ = best_of_all(rows, space)
    head = start(rows, space)
    value, missed, nodes = branch.search_heads(rows, space, head, max_nodes)
    assert value <= best + 1e-12
    assert best <= max(value, missed) + 1e-12
    assert value == pytest.approx(naive_value(head, rows, space)[0])
    assert (missed > -np.inf) == (nodes > max_nodes)


def test_a_climb_never_loses():
    for seed in range(10):
        rows, space = problem(seed, 4, precision, False, True, 9, False)
        head = start(rows, space)
        before = branch.head_value(head, rows, space)
        assert before == pytest.approx(naive_value(head.tolist(), rows, space)[0])
        assert branch.climb(head, rows, space) >= before


@pytest.mark.parametrize("a", list(product((ABSENT, PRESENT, SILENT), repeat=2)))
def test_preference(a):
    for b in product((ABSENT, PRESENT, SILENT), repeat=2):
        found = branch._preferred(np.array(a, np.int8), np.array(b, np.int8))
        assert bool(found) == (key(a) > key(b))
