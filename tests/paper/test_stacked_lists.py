"""The chapter's stacked binary relevance lists: 14 readers, three ways to read them."""

import numpy as np
import pytest

from goldens import bits, golden
from labelrules import RuleTable, load
from labelrules.rules import LayeredTheory, UntilStable

# reader: first level, second level on its predictions, second level on the true labels;
# each with the numbers of the deciding rules within the lists of the four labels
PREDICTIONS = {
    1: (("0000", [2, 1, 1, 3]), ("0000", [3, 1, 1, 4]), ("0000", [3, 1, 1, 4])),
    2: (("0001", [2, 1, 1, 2]), ("0001", [3, 1, 1, 3]), ("0001", [3, 1, 1, 3])),
    3: (("0100", [5, 4, 1, 3]), ("0100", [3, 2, 1, 1]), ("0100", [3, 2, 1, 1])),
    4: (("1100", [1, 4, 2, 3]), ("1110", [1, 5, 3, 4]), ("1100", [1, 5, 2, 4])),
    5: (("1010", [1, 2, 3, 3]), ("1010", [1, 3, 3, 4]), ("1010", [1, 3, 3, 4])),
    6: (("0100", [2, 4, 1, 3]), ("0100", [3, 2, 1, 1]), ("0100", [3, 2, 1, 1])),
    7: (("1100", [1, 4, 1, 3]), ("1100", [1, 5, 1, 4]), ("1100", [1, 5, 1, 4])),
    8: (("1001", [3, 3, 2, 1]), ("1001", [2, 4, 2, 2]), ("1001", [2, 4, 2, 2])),
    9: (("0110", [2, 4, 3, 3]), ("0110", [4, 2, 3, 1]), ("0110", [4, 2, 3, 1])),
    10: (("1101", [4, 4, 1, 2]), ("1101", [2, 5, 1, 2]), ("0101", [3, 5, 1, 2])),
    11: (("1000", [3, 2, 2, 3]), ("0000", [4, 3, 2, 4]), ("0100", [4, 2, 2, 4])),
    12: (("1101", [4, 4, 1, 2]), ("1001", [2, 4, 1, 2]), ("0101", [3, 2, 1, 2])),
    13: (("1101", [1, 4, 1, 2]), ("1101", [1, 5, 1, 3]), ("1101", [1, 5, 1, 3])),
    14: (("1001", [4, 3, 1, 1]), ("1001", [2, 4, 1, 2]), ("1001", [2, 4, 1, 2])),
}
ERRORS = {  # readers on which each label is wrong
    "level 1": {"quality": [11, 12], "tabloid": [4, 12], "fashion": [4], "sports": [2, 10, 12, 13]},
    "on predictions": {"quality": [12], "tabloid": [4], "fashion": [], "sports": [2, 10, 12, 13]},
    "on true labels": {
        "quality": [10], "tabloid": [4, 11, 12], "fashion": [4], "sports": [2, 10, 12, 13],
    },
}  # fmt: skip


def _runs(twin):
    readers = load("magazines")
    first, second = twin(golden("magazines-sbr-1")), twin(golden("magazines-sbr-2"))
    level_1 = first.run(readers)
    return {
        "level 1": level_1,
        "on predictions": second.run(readers, reads=level_1.board),
        "on true labels": second.run(readers, reads=readers.Y),
    }


def _within_list(theory, writer):
    """The number of a rule within the list of its label, from 1."""
    label_of = np.array([rule.head.labels[0] for rule in theory])
    first = {label: int(np.flatnonzero(label_of == label)[0]) for label in set(label_of)}
    return [int(number - first[label]) + 1 for label, number in enumerate(writer)]


@pytest.mark.parametrize("twin", [lambda theory: theory, RuleTable], ids=["list", "table"])
def test_predictions_and_deciding_rules(twin):
    runs = _runs(twin)
    lists = [golden("magazines-sbr-1"), golden("magazines-sbr-2"), golden("magazines-sbr-2")]
    for reader, expected in PREDICTIONS.items():
        for theory, run, (labels, numbers) in zip(lists, runs.values(), expected, strict=True):
            assert bits(run.board[reader - 1]) == labels
            assert _within_list(theory, run.writer[reader - 1]) == numbers


def test_errors_by_label():
    readers = load("magazines")
    for name, run in _runs(lambda theory: theory).items():
        wrong = run.board != readers.Y
        found = {
            label: list(np.flatnonzero(wrong[:, i]) + 1)
            for i, label in enumerate(readers.schema.labels)
        }
        assert found == ERRORS[name]


def test_one_lost_overline_explains_four_errors():
    """`sports <- Children, Male` is wrong on all it covers; negated the totals are 5, 4, 7."""
    readers = load("magazines")
    totals = []
    fixed = []
    for name in ("magazines-sbr-1", "magazines-sbr-2"):
        theory = golden(name)
        rules = [
            rule
            if len(rule.body) != 2 or rule.body.on_labels or rule.head.labels != (3,)
            else type(rule)(type(rule.head)({3: 0}, 4), rule.body)
            for rule in theory
        ]
        fixed.append(type(theory)(theory.schema, rules))
    level_1 = fixed[0].predict(readers)
    for board in (
        level_1,
        fixed[1].apply(readers, reads=level_1),
        fixed[1].apply(readers, reads=readers.Y),
    ):
        totals.append(int((board != readers.Y).sum()))
    assert totals == [5, 4, 7]


def test_iterating_the_second_level_ends_in_a_fixed_point():
    readers = load("magazines")
    second = golden("magazines-sbr-2")
    board = golden("magazines-sbr-1").predict(readers)
    errors = []
    for _ in range(4):
        board = second.apply(readers, reads=board)
        errors.append(int((board != readers.Y).sum()))
    assert errors == [6, 7, 8, 8]
    assert (second.apply(readers, reads=board) == board).all()


# ---------------------------------------------------------------- as one layered theory


def layered(inference=None):
    first, second = golden("magazines-sbr-1"), golden("magazines-sbr-2")
    return LayeredTheory(first.schema, [first, second], inference)


def test_as_a_layered_theory():
    readers, theory = load("magazines"), layered()
    run = theory.run(readers)
    on_truth = theory.layers[1].run(readers, reads=readers.Y)
    for reader, expected in PREDICTIONS.items():
        rows = [*(part for part in run.layers), on_truth]
        for layer, part, (labels, numbers) in zip((0, 1, 1), rows, expected, strict=True):
            assert bits(part.board[reader - 1]) == labels
            assert _within_list(theory.layers[layer], part.writer[reader - 1]) == numbers
    np.testing.assert_array_equal(theory.predict(readers), run.board)


def test_fixed_point_iteration_of_the_layered_theory():
    """Errors are 6, 7, 8, 8 after each round; only reader 11 changes, twice, and then settles."""
    readers = load("magazines")
    errors = []
    for number in (1, 2, 3, 4, 10):
        run = layered(UntilStable(number)).run(readers)
        # Rows that have not settled within the bound keep the first round.
        first = layered().predict(readers)
        np.testing.assert_array_equal(run.board[run.unsettled], first[run.unsettled])
        errors.append(int((run.board != readers.Y).sum()))
    assert errors == [6, 6, 6, 8, 8]
    run = layered(UntilStable(10)).run(readers)
    assert run.unsettled.tolist() == []
    assert run.rounds.tolist() == [1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 4, 2, 1, 1]
    assert [bits(cells) for cells in (first[10], run.board[10])] == ["0000", "0110"]
    boards = [layered().predict(readers)]
    for _ in range(3):
        boards.append(layered().layers[1].apply(readers, reads=boards[-1]))
    assert [int((board != readers.Y).sum()) for board in boards] == [6, 7, 8, 8]
    np.testing.assert_array_equal(boards[-1], run.board)
