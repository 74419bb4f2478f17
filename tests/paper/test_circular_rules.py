"""The two examples of circular reasoning, and what each way of inference makes of them."""

import numpy as np
import pytest

from labelrules import Dataset, Feature, Schema, parse
from labelrules.rules import Gibbs, LabelByLabel, LayeredTheory, Once, UntilStable

SCHEMA = Schema([Feature("first"), Feature("second")], ["a", "b"])
# Which of the two labels the first layer predicts: neither, the second, the first, both.
GUESSES = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
ROWS = Dataset(SCHEMA, GUESSES, np.zeros((4, 2), np.int8))
FIRST = """
layer 1:
a <- first > 0.5
b <- second > 0.5
"""
EXCLUSION = (
    FIRST
    + """
layer 2:
not a <- b (9/1)
a <- not b (9/1)
not b <- a (9/1)
b <- not a (9/1)
"""
)
TOGETHER = (
    FIRST
    + """
layer 2:
a <- b (9/1)
not a <- not b (9/1)
b <- a (9/1)
not b <- not a (9/1)
"""
)


def theory(text, way):
    found = parse(text, SCHEMA)
    assert isinstance(found, LayeredTheory)
    return found.with_inference(way)


# ---------------------------------------------------------------- exclusion


def test_both_labels_flip_at_the_next_layer():
    """Both predicted, both flipped: again a contradiction, as the chapter says."""
    found = theory(EXCLUSION, Once()).predict(ROWS)
    assert found.tolist() == [[1, 1], [0, 1], [1, 0], [0, 0]]


@pytest.mark.parametrize("max_rounds", [2, 3, 10])
def test_they_flip_for_ever_and_that_is_reported(max_rounds):
    run = theory(EXCLUSION, UntilStable(max_rounds)).run(ROWS)
    assert run.unsettled.tolist() == [0, 3]
    assert run.moving.tolist() == [[True, True], [False] * 2, [False] * 2, [True, True]]
    assert run.rounds.tolist() == [0, 1, 1, 0]
    # Rows without a fixed point keep what the first round said, whatever the bound.
    assert run.board.tolist() == theory(EXCLUSION, Once()).predict(ROWS).tolist()
    assert "row 0: a, b still changed" in str(run)


def test_one_after_the_other_they_settle():
    run = theory(EXCLUSION, LabelByLabel()).run(ROWS)
    assert run.board.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert run.unsettled.tolist() == []
    backwards = theory(EXCLUSION, LabelByLabel(order=[1, 0])).run(ROWS)
    assert backwards.board.tolist() == [[0, 1], [0, 1], [1, 0], [1, 0]]


def test_sampled_they_are_present_half_of_the_time_each():
    """The true distribution is symmetric: 9/20 for each alone, 1/20 for both, and for neither."""
    presence = theory(EXCLUSION, Gibbs(4000, 100)).run(ROWS).presence
    np.testing.assert_allclose(presence, 0.5, atol=0.05)
    # Whatever it starts from, the random numbers are the same, and soon so are the labels.
    assert (np.ptp(presence, axis=0) < 1e-2).all()


# ---------------------------------------------------------------- co-occurrence


def test_neither_is_found_unless_one_can_be_found_by_another_rule():
    run = theory(TOGETHER, UntilStable()).run(ROWS)
    assert run.board[0].tolist() == [0, 0]
    assert run.board[3].tolist() == [1, 1]
    assert run.rounds[[0, 3]].tolist() == [1, 1]


def test_one_of_them_alone_is_handed_to_and_fro():
    """Each takes over what the other was: a guess for one of them never becomes both."""
    assert theory(TOGETHER, Once()).predict(ROWS)[1:3].tolist() == [[1, 0], [0, 1]]
    run = theory(TOGETHER, UntilStable()).run(ROWS)
    assert run.unsettled.tolist() == [1, 2]


def test_with_implications_alone_one_of_them_brings_the_other():
    """The chapter's constraints a -> b and b -> a, with what the features say kept."""
    text = (
        FIRST
        + """
    layer 2:
    a <- b
    a <- first > 0.5
    b <- a
    b <- second > 0.5
    """
    )
    run = theory(text, UntilStable()).run(ROWS)
    assert run.unsettled.tolist() == []
    assert np.where(run.board == 1, 1, 0).tolist() == [[0, 0], [1, 1], [1, 1], [1, 1]]
    assert run.rounds.tolist() == [1, 2, 2, 1]


def test_one_after_the_other_the_first_follows_the_second():
    run = theory(TOGETHER, LabelByLabel()).run(ROWS)
    assert run.board.tolist() == [[0, 0], [1, 1], [0, 0], [1, 1]]
    assert run.unsettled.tolist() == []


def test_sampled_they_are_mostly_together():
    """Half of the time present, and in 19 of 20 rounds both or none: long runs of either."""
    found = theory(TOGETHER, Gibbs(20000, 100)).run(ROWS).presence
    np.testing.assert_allclose(found, 0.5, atol=0.05)


# ---------------------------------------------------------------- in one list there is no circle


def test_a_list_that_reads_its_own_board_cannot_go_round_in_circles():
    """The order of the rules decides: what is written is never written again."""
    listed = parse("a <- first > 0.5\nb <- a\nb <- second > 0.5\na <- b", SCHEMA)
    assert listed.predict(ROWS).tolist() == [[0, 0], [1, 1], [1, 1], [1, 1]]
    assert LayeredTheory(SCHEMA, [listed]).predict(ROWS).tolist() == listed.predict(ROWS).tolist()
