"""Edits of decision lists, counted on packed bits, compared with running both lists."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from labelrules import UNSET, Dataset, DecisionList, Feature, Schema, load, parse
from labelrules.rules.run import ListReplay
from theories import decision_lists
from twins import rules as naive

SCHEMA = Schema([Feature("x"), Feature("kind", ("p", "q", "r"))], ["a", "b", "c"])
VALUES = st.sampled_from([0.0, 1.0])
GENERATOR = np.random.default_rng(5)
N_ROWS = 70  # more than a word
NUMBERS = GENERATOR.choice([-1, 0, 0.5, 1, 3, np.nan], N_ROWS)
X = np.column_stack([NUMBERS, GENERATOR.choice([0, 1, 2, np.nan], N_ROWS)])
TRUTH = GENERATOR.integers(-1, 2, (N_ROWS, 3)).astype(np.int8)
DATA = Dataset(SCHEMA, X, TRUTH)
SPARSE = Dataset(SCHEMA, sparse.csc_array(X), TRUTH)


@given(st.data())
def test_changes_are_those_of_running_both_lists(draw):
    theory = draw.draw(decision_lists(SCHEMA, VALUES))
    new = draw.draw(decision_lists(SCHEMA, VALUES, max_size=2))
    edited = draw.draw(st.permutations([*theory, *new])) if draw.draw(st.booleans()) else [
        *new, *theory.rules[1:]
    ]  # fmt: skip
    edited = edited[draw.draw(st.integers(0, 2)) :]
    rows = draw.draw(st.sampled_from([DATA, SPARSE]))
    truth = draw.draw(st.sampled_from([TRUTH, None]))
    expected = naive.changes(theory, DecisionList(SCHEMA, edited), X, truth)
    assert ListReplay(theory, rows.X, truth).changes(edited) == expected


def test_an_edit_leaves_what_is_kept_for_the_next_one():
    theory = parse("a, * <- x > 0\nb <- a\nb <- kind = p\nnot a <- true", SCHEMA)
    replay = ListReplay(theory, DATA.X, TRUTH)
    once = [replay.changes([*theory.rules[:n], *theory.rules[n + 1 :]]) for n in range(4)]
    again = [replay.changes([*theory.rules[:n], *theory.rules[n + 1 :]]) for n in range(4)]
    assert once == again
    assert replay.changes(theory.rules) == (0, 0, 0, 0)


def test_no_rows_and_no_rules():
    nothing = ListReplay(DecisionList(SCHEMA), X[:0], TRUTH[:0])
    assert nothing.changes(parse("a <- true", SCHEMA).rules) == (0, 0, 0, 0)
    readers = load("magazines")
    empty = ListReplay(DecisionList(readers.schema), readers.X)
    n_rows = readers.n_rows
    assert empty.changes(parse("sports <- true", readers.schema).rules) == (n_rows, n_rows, 0, 0)
    assert (TRUTH == UNSET).any()
