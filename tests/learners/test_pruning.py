"""Pruning keeps what the rows warrant: by description length, significance or held-out rows."""

from math import log2

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import chi2, power_divergence

from labelrules import UNSET, Body, Dataset, Head
from labelrules.kernels.covering.grow import THEORY_WEIGHT
from labelrules.learners import SeparateAndConquer
from labelrules.learners.covering.board import TrainingBoard
from labelrules.learners.covering.loop import Covering
from labelrules.learners.covering.next_rule import RuleFinder
from labelrules.learners.covering.pruning import (
    DescriptionLength,
    HeldOut,
    RowPrefixes,
    Significance,
)
from labelrules.learners.covering.settings import checked_settings
from labelrules.learners.covering.sorted_rows import SortedRows
from labelrules.measures.description_length import (
    body_bits,
    condition_bits,
    exception_bits,
    label_bits,
)
from labelrules.search.bodies.grow import NO_MERIT, Grown
from labelrules.search.bodies.sorted_columns import SortedColumns
from tables import schema_of, tables
from theories import boards, bodies, heads

PRUNINGS = ("mdl", "irep", "significance")


@st.composite
def situations(draw):
    """A table, a board with some cells written and some rows ended, and a rule that was grown."""
    data = draw(tables(max_rows=20, storage=("dense", "sparse")))
    values = st.sampled_from([-0.5, 0.0, 0.5, 1.0, 1.5, 7.0])
    body, head = draw(bodies(data.schema, values)), draw(heads(data.schema))
    ground = TrainingBoard(data, "append")
    ground.board[:] = np.array(draw(boards(data.n_rows, data.schema.n_labels))).T
    ground.ended[:] = draw(st.lists(st.booleans(), min_size=data.n_rows, max_size=data.n_rows))
    ground.ended &= draw(st.booleans())
    ground.counted[0] = (ground.board == UNSET) & ~ground.ended
    ground.recount()
    return data, ground, Grown(body, None, NO_MERIT, np.empty(0), head)


def fronts_of(data, ground, body):
    """The rows that the first conditions cover, from none of them to all; one by one."""
    for n_conditions in range(len(body) + 1):
        front = Body(body.conditions[:n_conditions])
        covered = front.covers(data.X, np.ascontiguousarray(ground.board.T))
        yield np.array(
            [bool(is_in) and not gone for is_in, gone in zip(covered, ground.ended, strict=True)]
        )


def right_and_wrong(ground, head, covered, among=None):
    """Count, cell by cell, what a head would write."""
    right = wrong = 0
    for label, value in head:
        for row in np.flatnonzero(covered).tolist():
            counts = ground.board[label, row] == UNSET and not ground.ended[row]
            if counts and (among is None or among[row]):
                right += int(ground.truth[label, row] == value)
                wrong += int(ground.truth[label, row] != value)
    return right, wrong


@given(situations())
@settings(max_examples=40)
def test_fronts_of_a_body(situation):
    data, ground, grown = situation
    rows = SortedRows(data, checked_settings(SeparateAndConquer(), data.schema))
    rows.board = ground
    found = rows.prefixes(grown).masks
    expected = list(fronts_of(data, ground, grown.body))
    assert np.array_equal(found, expected)


# ---------------------------------------------------------------- description length


def told_apart(n, k, probability):
    """The bits for telling which k of n it is: the logarithm of the likelihood."""
    return sum(log2(1 / probability) for _ in range(k)) + sum(
        log2(1 / (1 - probability)) for _ in range(n - k)
    )


def cohens_bits(n_said, n_unsaid, n_wrong, n_missed, n_true):
    """Cohen's RIPPER: the errors of the larger part as they are expected, of the other as found."""
    n, n_errors = n_said + n_unsaid, n_wrong + n_missed
    bits = log2(n + 1)
    if n_said > n_unsaid:
        bits += told_apart(n_said, n_wrong, n_true / n * n_errors / n_said)
        return bits + (told_apart(n_unsaid, n_missed, n_missed / n_unsaid) if n_missed else 0)
    bits += told_apart(n_unsaid, n_missed, (1 - n_true / n) * n_errors / n_unsaid)
    return bits + (told_apart(n_said, n_wrong, n_wrong / n_said) if n_wrong else 0)


@st.composite
def outcomes(draw):
    """Rows that are said to have a label and others, with wrong and missed ones, by halves."""
    n_said, n_unsaid = draw(st.integers(0, 30)), draw(st.integers(0, 30))
    n_wrong, n_missed = draw(st.integers(0, n_said)), draw(st.integers(0, n_unsaid))
    return n_said, n_unsaid, n_wrong, n_missed, n_said - n_wrong + n_missed


def expected_share(n_said, n_unsaid, n_wrong, n_missed, n_true):
    """How many errors are expected in the larger part, as a share of it."""
    share = n_true / (n_said + n_unsaid)
    larger = max(n_said, n_unsaid)
    return (share if n_said > n_unsaid else 1 - share) * (n_wrong + n_missed) / larger


@given(outcomes())
@settings(max_examples=200)
def test_exceptions_are_coded_as_ripper_does(outcome):
    assume(outcome[0] + outcome[1] > 0 and 0 < expected_share(*outcome) < 1)
    assert exception_bits(*outcome) == pytest.approx(cohens_bits(*outcome))


@given(outcomes())
@settings(max_examples=200)
def test_no_exception_is_free(outcome):
    """Errors in a part of the rows that is not wholly wrong cost bits, whatever was expected."""
    n_said, n_unsaid, n_wrong, n_missed, _ = outcome
    assume(0 < n_wrong < n_said or 0 < n_missed < n_unsaid)
    assert exception_bits(*outcome) > log2(n_said + n_unsaid + 1) + 1e-9


@pytest.mark.parametrize("k", range(1, 6))
def test_bits_of_a_body(k):
    size = log2(k) + (2 * log2(log2(k)) if k > 1 else 0)
    assert body_bits(k, 40) == pytest.approx(size + told_apart(40, k, k / 40))
    assert body_bits(0, 40) == 0


@given(st.integers(0, 200), st.integers(1, 10_000))
def test_each_further_condition_takes_as_many_bits(k, n_possible):
    """In lists; by the bits of a body, long bodies would be cheap."""
    first = condition_bits(1, n_possible)
    assert first > 0
    assert condition_bits(k + 1, n_possible) - condition_bits(k, n_possible) == pytest.approx(first)
    assert condition_bits(0, n_possible) == 0


def test_labels_of_heads_are_paid_for():
    assert label_bits(1) == 0
    assert label_bits(8) == 4.5


@given(tables(storage=("dense", "sparse")))
@settings(max_examples=60)
def test_possible_conditions(data):
    """Two for each cut of a numeric feature, one for each category, if rows differ; and labels."""
    n_possible = data.schema.n_labels
    X = data.X.toarray() if sparse.issparse(data.X) else data.X
    for feature, values in zip(data.schema.features, X.T, strict=True):
        known = {value for value in values.tolist() if value == value}
        if feature.is_numeric:
            n_possible += 2 * max(0, len(known) - 1)
        elif len(known) > 1 or np.isnan(values).any():  # a category tells known from missing
            n_possible += len(known)
    pruner = DescriptionLength(
        TrainingBoard(data, "append"), SortedColumns.of(data).n_conditions + data.schema.n_labels
    )
    assert pruner.n_possible == n_possible


@given(st.integers(1, 20), st.integers(1, 20))
def test_no_body_has_a_negative_price(n_possible, k):
    assume(k <= n_possible)
    assert body_bits(k, n_possible) >= 0


def length_with(pruner, ground, head, covered, n_conditions):
    """The bits for the exceptions of all labels of a head once it is written, and its body."""
    bits = THEORY_WEIGHT * condition_bits(n_conditions, pruner.n_possible)
    if covered.any():
        bits += THEORY_WEIGHT * len(head) * 1.5 * log2(pruner.n_labels)
    for label, value in head:
        cells = list(zip(ground.board[label].tolist(), covered.tolist(), strict=True))
        said = [cell == value or (cell == UNSET and is_in) for cell, is_in in cells]
        true = [truth == value for truth in ground.truth[label].tolist()]
        pairs = list(zip(said, true, strict=True))
        bits += exception_bits(
            sum(said), len(said) - sum(said), pairs.count((True, False)),
            pairs.count((False, True)), sum(true),
        )  # fmt: skip
    return bits


@given(situations())
@settings(max_examples=60)
def test_the_shortest_front_of_the_shortest_description_is_kept(situation):
    """And only if it says more right than wrong, in fewer bits than nothing takes."""
    data, ground, grown = situation
    n_labels = data.schema.n_labels
    pruner = DescriptionLength(ground, SortedColumns.of(data).n_conditions + n_labels, n_labels)
    fronts = list(fronts_of(data, ground, grown.body))
    lengths = [
        length_with(pruner, ground, grown.head, *pair)
        for pair in zip(fronts, range(len(fronts)), strict=True)
    ]
    allowed = range(min(1, len(grown.body)), len(fronts))
    best = min(allowed, key=lambda k: (round(lengths[k], 9), k))
    nothing = np.zeros(data.n_rows, dtype=bool)
    before = length_with(pruner, ground, grown.head, nothing, 0)
    right, wrong = right_and_wrong(ground, grown.head, fronts[best])
    expected = best if right > wrong and lengths[best] < before - 1e-9 else None
    assert pruner(grown, RowPrefixes(ground, grown, fronts)) == expected


@pytest.mark.parametrize("polarity", ["presence", "both"])
def test_a_label_that_all_rows_have_is_learned(polarity):
    """Once no error was to be expected errors were free, and so were rules for such labels."""
    X = np.arange(20.0)[:, None]
    Y = np.stack([np.ones(20), X[:, 0] < 6], axis=1).astype(int)
    learner = SeparateAndConquer(polarity=polarity, default_rule=False, last_resort=None)
    assert np.array_equal(learner.fit(X, Y).predict(X), Y)


# ---------------------------------------------------------------- significance


def g_statistic(inside, around):
    """Scipy's likelihood ratio of counts inside against the shares around."""
    if not sum(inside):
        return 0.0
    expected = [sum(inside) * part / sum(around) for part in around]
    cells = [(found, wanted) for found, wanted in zip(inside, expected, strict=True) if wanted]
    return power_divergence(*zip(*cells, strict=True), lambda_="log-likelihood").statistic


@given(st.tuples(st.integers(0, 40), st.integers(0, 40)), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=200)
def test_the_likelihood_ratio_is_scipys(inside, more_right, more_wrong):
    around = inside[0] + more_right, inside[1] + more_wrong
    found = Significance().ratio(inside, around)
    assert found == pytest.approx(g_statistic(inside, around), abs=1e-9)


def test_the_threshold_is_exceeded_by_chance_one_time_in_twenty():
    assert Significance().threshold == pytest.approx(chi2.ppf(0.95, 1), abs=1e-6)


@given(situations())
@settings(max_examples=60)
def test_conditions_up_to_the_last_significant_one_are_kept(situation):
    data, ground, grown = situation
    fronts = list(fronts_of(data, ground, grown.body))
    counts = [right_and_wrong(ground, grown.head, front) for front in fronts]
    significant = [
        k for k in range(1, len(fronts)) if g_statistic(counts[k], counts[k - 1]) >= 3.841459
    ]
    expected = 0 if len(grown.body) == 0 else None
    if significant and counts[significant[-1]][0] > counts[significant[-1]][1]:
        expected = significant[-1]
    assert Significance()(grown, RowPrefixes(ground, grown, fronts)) == expected


# ---------------------------------------------------------------- held-out rows (IREP)


@given(situations(), st.data())
@settings(max_examples=60)
def test_the_front_that_does_best_on_held_out_rows_is_kept(situation, drawn):
    data, ground, grown = situation
    flags = st.lists(st.booleans(), min_size=data.n_rows, max_size=data.n_rows)
    held = np.array(drawn.draw(flags))
    ground.hold_out(held)
    fronts = list(fronts_of(data, ground, grown.body))
    best, kept = 0.0, None
    for k in range(min(1, len(grown.body)), len(fronts)):
        right, wrong = right_and_wrong(ground, grown.head, fronts[k], among=held)
        value = (right - wrong) / (right + wrong) if right + wrong else -1
        if value > best:
            best, kept = value, k
    assert HeldOut()(grown, RowPrefixes(ground, grown, fronts)) == kept


# ---------------------------------------------------------------- rules that are rejected


def learn_with_watch(monkeypatch, data, **parameters):
    """Learn; returns the heads that were rejected, each with the rules that came after it."""
    rejected, n_searched = [], 0
    pruned, best_rule = Covering._pruned, RuleFinder.best_rule

    def watch_pruned(covering, grown):
        kept = pruned(covering, grown)
        if kept is None:
            rejected.append((grown.head, len(covering.rules)))
        return kept

    def watch_search(search):
        nonlocal n_searched
        n_searched += 1
        # Each rule writes a cell, or its head is not tried again.
        assert n_searched <= data.Y.size + 2 * data.schema.n_labels + 1, "learning does not end"
        return best_rule(search)

    monkeypatch.setattr(Covering, "_pruned", watch_pruned)
    monkeypatch.setattr(RuleFinder, "best_rule", watch_search)
    theory = (
        SeparateAndConquer(last_resort=None, default_rule=False, **parameters).fit(data).theory_
    )
    return [(head, theory.rules[where:]) for head, where in rejected]


SEVERAL = {"heads": "multi", "fixed_head": False}
WAYS = [
    {"heads": "single"},
    {"heads": "multi"},
    {**SEVERAL, "polarity": "both"},
    {"heads": "single", "beam_width": 2, "polarity": "both"},
    {**SEVERAL, "polarity": "both", "measure": "f0.8/micro/full"},
    {**SEVERAL, "polarity": "presence", "measure": "f0.8/samples"},
    {**SEVERAL, "polarity": "rarer", "measure": "f0.8/samples"},
]


@pytest.mark.parametrize("pruning", PRUNINGS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_what_was_rejected_is_not_tried_again_and_learning_ends(monkeypatch, pruning, way):
    """Once a search that does not look at single labels found the same rule for ever."""
    n_rejected = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 3, (12, 2)).astype(float)
        Y = (rng.random((12, 3)) < 0.35).astype(np.int8)
        with monkeypatch.context() as patch:
            data = Dataset(schema_of([0, 0], 3), X, Y)
            rejected = learn_with_watch(patch, data, pruning=pruning, **way)
        for head, later in rejected:
            n_rejected += 1
            assert all(set(head) != set(rule.head) for rule in later)
        if n_rejected:
            return
    assert way["heads"] == "multi", "nothing was rejected"


@pytest.mark.parametrize("pruning", PRUNINGS)
def test_pruning_finds_the_plan_and_leaves_the_noise(pruning):
    """One condition decides each label, all else is chance; without pruning rules pile up."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 6))
    planted = np.stack([X[:, 0] > 0.7, X[:, 1] <= 0.2], axis=1)
    Y = (planted ^ (rng.random((200, 2)) < 0.08)).astype(int)
    pruned = SeparateAndConquer(pruning=pruning, last_resort=None).fit(X, Y).theory_
    every = SeparateAndConquer(pruning=None, last_resort=None).fit(X, Y).theory_
    assert len(pruned) < len(every) / 2
    assert {rule.head for rule in pruned} == {Head({0: 1}, 2), Head({1: 1}, 2)}


@given(situations(), st.sampled_from(PRUNINGS))
@settings(max_examples=60)
def test_the_front_that_is_kept_is_written(situation, pruning):
    """What the learner takes for covered is what the shorter body covers, and a cell is written."""
    data, _, grown = situation
    learner = SeparateAndConquer(pruning=pruning, polarity="both", prune_share=0.5)
    given = checked_settings(learner, data.schema)
    covering = Covering(SortedRows(data, given), given)
    grown = covering.finder.best_rule()
    kept = None if grown is None else covering._pruned(grown)
    if kept is None:
        return
    assert kept.body == Body(grown.body.conditions[: len(kept.body)])
    assert kept.head == grown.head
    board = np.full_like(data.Y, UNSET)
    assert np.array_equal(kept.covered.mask, kept.body.covers(data.X, board))
    covering._add(kept)
    assert covering.board.n_open < data.Y.size
