"""The same bodies with heads for another loss, each the best for the cells it finds open."""

import re
from itertools import product

import numpy as np
import pytest

from goldens import golden
from labelrules import Dataset, DecisionList, Head, Rule, RuleSet, load, parse, planted
from labelrules.measures import Measure
from labelrules.search import kln, rehead
from twins import heads as naive_heads
from twins import measures as naive_measures
from twins import rules as naive

READERS = load("magazines")
LISTS = ("magazines-single", "magazines-multi")
MEASURES = (
    "precision/micro/partial",
    "f1/samples/partial",
    "recall/macro/partial",
    "subset/samples/partial",
    "hamming/micro/full",
    "f0.5/samples/full",
    "subset/samples/full",
)


def expected_heads(theory, X, Y, text, absence, convention="chapter"):
    """Rule by rule and head by head: what `rehead` is to find."""
    rules = []
    for rule in theory:
        board = np.full(Y.shape, -1)
        board, _, stopped = naive.run_list(DecisionList(theory.schema, rules), X, board)
        fires = [
            end < 0 and all(naive.holds(condition, row, cells) for condition in rule.body)
            for row, cells, end in zip(X, board, stopped, strict=True)
        ]
        board[stopped >= 0] = 0
        head = best(rule.head, Y, fires, board, Measure.parse(text), absence, convention)
        rules.append(Rule(head, rule.body, rule.stops))
    return [rule.head for rule in rules]


def best(old, Y, fires, board, measure, absence, convention):
    writable = (board[fires] == -1).any(axis=0)
    if not writable.any():
        return old
    full = measure.predictions == "full"
    states = [((0, 1) if full else (-1, 0, 1)) if w or full else (-1,) for w in writable]
    heads = [h for h in product(*states) if set(h) != {-1} and (absence or allowed(h, full))]

    def key(head):
        value = naive_measures.of_rule(
            measure.formula.name,
            measure.formula.parameter,
            measure.averaging,
            measure.predictions,
            Y.tolist(),
            fires,
            [None if cell == -1 else cell for cell in head],
            [[None if cell == -1 else cell for cell in row] for row in board.tolist()],
            convention,
        )
        return value, naive_heads.preference(head)

    return Head.from_vector(max(heads, key=key))


def allowed(head, full):
    return 1 in head if full else 0 not in head


@pytest.mark.parametrize("absence", [True, False])
@pytest.mark.parametrize("text", MEASURES)
@pytest.mark.parametrize("name", LISTS)
def test_each_head_is_the_best_for_its_cells(name, text, absence):
    theory = golden(name)
    found = rehead(theory, READERS, text, polarity=naive_heads.POLARITY[absence])
    expected = expected_heads(theory, READERS.X, READERS.Y, text, absence)
    assert [rule.head for rule in found] == expected


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("text", MEASURES)
def test_what_stays(name, text):
    theory = golden(name)
    found = rehead(theory, READERS, text)
    assert isinstance(found, DecisionList)
    assert [(rule.body, rule.stops) for rule in found] == [
        (rule.body, rule.stops) for rule in theory
    ]
    assert found == found.with_evidence(READERS, READERS.Y)


@pytest.mark.parametrize("rows", [slice(0, 7), slice(7, 14), slice(3, 4)])
@pytest.mark.parametrize("text", ["f1/micro/partial", "f1/samples/full"])
def test_other_rows(rows, text):
    """The heads are chosen for the data given, not for those the list comes from."""
    theory = golden("magazines-multi")
    some = Dataset(READERS.schema, READERS.X[rows], READERS.Y[rows])
    found = rehead(theory, some, text, counting="head-relative")
    expected = expected_heads(theory, some.X, some.Y, text, True, "head-relative")
    assert [rule.head for rule in found] == expected


@pytest.mark.parametrize("text", [text for text in MEASURES if "full" in text])
@pytest.mark.parametrize("absence", [True, False])
def test_full_predictions_have_complete_heads(text, absence):
    """All but those of rules that come too late to write anything, which keep their heads."""
    theory = golden("magazines-single")
    found = rehead(theory, READERS, text, polarity=naive_heads.POLARITY[absence])
    complete = [rule.head.is_complete for rule in found]
    kept = [rule.head == old.head for rule, old in zip(found, theory, strict=True)]
    assert complete == [not same for same in kept]
    assert sum(complete) > 3


def test_a_rule_that_can_write_nothing_keeps_its_head():
    """The second rule covers readers that the first has finished; the third covers nobody."""
    text = (
        "quality, * <- sex = Female\n"
        "fashion <- sex = Female\n"
        "sports <- education = Primary, marital = Divorced\n"
        "tabloid <- true"
    )
    theory = parse(text, READERS.schema)
    found = rehead(theory, READERS, "subset/samples/full")
    assert [rule.head == old.head for rule, old in zip(found, theory, strict=True)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_a_partial_head_is_silent_of_what_is_written():
    """All labels but sports are written when the second rule comes: it has that one to say."""
    text = "quality, tabloid, fashion <- true\nquality <- marital = Divorced"
    theory = parse(text, READERS.schema)
    found = rehead(theory, READERS, "recall/micro/partial", max_labels=3)
    assert len(found.rules[0].head) == 3
    assert len(found.rules[1].head) == 1


def test_limits_and_lifts():
    theory = golden("magazines-multi")
    small = rehead(theory, READERS, "precision", max_labels=1)
    assert {len(rule.head) for rule in small} == {1}
    large = rehead(theory, READERS, "precision", size_bonus=kln(100.0))
    assert sum(len(rule.head) for rule in large) > sum(len(rule.head) for rule in theory)


@pytest.mark.parametrize("density", [None, 0.3])
def test_planted_rules_are_found_again(density):
    """Without noise, no head is more precise than the planted ones."""
    data, theory = planted(
        300, 3, 2, 4, n_rules=6, n_local=3, n_global=0, density=density, random_state=3
    )
    found = rehead(theory, data, "precision/micro/partial")
    for rule in found:
        assert all(evidence.wrong == 0 for evidence in rule.evidence)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            (RuleSet(READERS.schema), READERS, "f1"),
            "rehead takes a DecisionList, not a RuleSet",
        ),
        (
            (golden("magazines-multi"), READERS.X, "f1"),
            "rehead needs a Dataset, not ndarray: use dataset(X, Y)",
        ),
        (
            (golden("magazines-multi"), READERS, None),
            "a measure is written as text like 'f1/micro/partial', not None",
        ),
    ],
)
def test_bad_input(given, message):
    with pytest.raises((ValueError, TypeError), match=f"^{re.escape(message)}$"):
        rehead(*given)
