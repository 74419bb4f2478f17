"""The chapter's two decision lists for the magazine readers, cell by cell."""

import numpy as np
import pytest

from goldens import bits, golden, golden_text
from labelrules import RuleTable, load, parse, theory_text

# reader: predicted = true, the rule that wrote each label, the rule that stopped the list
SINGLE = {
    1: ("0000", [3, 13, 1, 5], 23),
    2: ("0000", [3, 13, 1, 2], 23),
    3: ("0100", [3, 12, 1, 5], 22),
    4: ("1010", [4, 6, 21, 8], 23),
    5: ("1010", [4, 18, 7, 2], 23),
    6: ("0100", [9, 14, 1, 16], 22),
    7: ("1100", [4, 14, 1, 8], 22),
    8: ("1001", [10, 6, 20, 11], 20),
    9: ("0110", [9, 14, 7, 2], 22),
    10: ("1100", [22, 12, 1, 2], 22),
    11: ("0000", [3, 6, 19, 5], 23),
    12: ("0000", [23, 15, 1, 2], 23),
    13: ("1100", [4, 17, 1, 2], 22),
    14: ("1001", [10, 15, 1, 11], 20),
}
MULTI = {
    1: ("0000", [1, 9, 1, 1], 9),
    2: ("0000", [1, 9, 1, 1], 9),
    3: ("0100", [1, 6, 1, 1], 9),
    4: ("1010", [2, 5, 8, 2], 10),
    5: ("1010", [2, 5, 6, 2], 10),
    6: ("0100", [4, 4, 3, 4], 9),
    7: ("1100", [2, 10, 3, 2], 10),
    8: ("1001", [5, 5, 7, 5], 10),
    9: ("0110", [4, 4, 4, 4], 9),
    10: ("1100", [6, 6, 3, 6], 10),
    11: ("0000", [1, 5, 1, 1], 9),
    12: ("0000", [8, 9, 3, 8], 9),
    13: ("1100", [2, 10, 3, 2], 10),
    14: ("1001", [7, 7, 3, 7], 10),
}

# rule: readers it fires on, cells it newly writes (right, wrong), its whole head on those
# readers (right, wrong), how many of them are fully labelled afterwards
SINGLE_TRACE = [
    ([1, 2, 3, 6, 7, 10, 12, 13, 14], (9, 0), (9, 0), 0),
    ([2, 5, 9, 10, 12, 13], (6, 0), (6, 0), 0),
    ([1, 2, 3, 11], (4, 0), (4, 0), 0),
    ([4, 5, 7, 13], (4, 0), (4, 0), 0),
    ([1, 2, 3, 11], (3, 0), (4, 0), 0),
    ([4, 8, 11], (3, 0), (3, 0), 0),
    ([2, 5, 9, 10, 12, 13], (2, 0), (2, 4), 0),
    ([4, 5, 7, 13], (2, 0), (4, 0), 0),
    ([1, 2, 6, 7, 9], (2, 0), (4, 1), 0),
    ([1, 3, 4, 6, 7, 8, 11, 14], (2, 0), (4, 4), 0),
    ([4, 8, 12, 13, 14], (2, 0), (2, 3), 0),
    ([3, 10], (2, 0), (2, 0), 1),
    ([1, 2, 3, 11], (2, 0), (3, 1), 3),
    ([1, 2, 6, 7, 9], (3, 0), (3, 2), 4),
    ([6, 8, 9, 10, 12, 14], (2, 0), (3, 3), 2),
    ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], (1, 0), (12, 2), 7),
    ([4, 8, 12, 13, 14], (1, 0), (1, 4), 2),
    ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], (1, 0), (8, 6), 9),
    ([3, 5, 10, 11], (1, 0), (3, 1), 3),
    ([8, 14], (1, 0), (2, 0), 2),
    ([1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13], (1, 0), (3, 9), 10),
    ([3, 6, 7, 9, 10, 13], (1, 0), (3, 3), 6),
    ([1, 2, 4, 5, 11, 12], (1, 0), (4, 2), 6),
]
MULTI_TRACE = [
    ([1, 2, 3, 11], (12, 0), (12, 0), 0),
    ([4, 5, 7, 13], (8, 0), (8, 0), 0),
    ([1, 2, 3, 6, 7, 10, 12, 13, 14], (6, 0), (9, 0), 0),
    ([6, 9], (7, 0), (7, 1), 2),
    ([4, 5, 8, 9, 11], (6, 0), (8, 7), 2),
    ([3, 5, 10, 11], (5, 0), (9, 7), 4),
    ([6, 8, 14], (4, 0), (9, 3), 3),
    ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], (3, 0), (22, 20), 9),
    ([1, 2, 3, 6, 9, 11, 12], (3, 0), (4, 3), 7),
    ([4, 5, 7, 8, 10, 13, 14], (2, 0), (3, 4), 7),
]

LISTS = {"magazines-single": (SINGLE, SINGLE_TRACE), "magazines-multi": (MULTI, MULTI_TRACE)}


@pytest.mark.parametrize("twin", [lambda theory: theory, RuleTable], ids=["list", "table"])
@pytest.mark.parametrize("name", LISTS)
def test_every_reader_gets_her_labels_from_the_rule_that_the_chapter_implies(name, twin):
    readers = load("magazines")
    run = twin(golden(name)).run(readers)
    assert (run.board == readers.Y).all()
    for reader, (labels, writers, stop) in LISTS[name][0].items():
        assert bits(run.board[reader - 1]) == labels
        assert list(run.writer[reader - 1] + 1) == writers
        assert run.stopped[reader - 1] + 1 == stop


@pytest.mark.parametrize("name", LISTS)
def test_covering_trace(name):
    """Examples leave only after a rule with the stop mark has fired on them."""
    readers = load("magazines")
    theory = golden(name)
    for number, (fires, new, whole, complete) in enumerate(LISTS[name][1]):
        rule = theory[number]
        before, after = theory[:number].run(readers), theory[: number + 1].run(readers)
        fired = rule.body.covers(readers.X, before.board) & (before.stopped < 0)
        written = after.writer == number
        right = (after.board == readers.Y) & written
        said = rule.head.vector()
        agrees = (said == readers.Y) & (said >= 0) & fired[:, None]
        assert list(np.flatnonzero(fired) + 1) == fires
        assert (right.sum(), (written & ~right).sum()) == new
        assert (agrees.sum(), fired.sum() * len(rule.head) - agrees.sum()) == whole
        assert (after.board[fired] >= 0).all(axis=1).sum() == complete


@pytest.mark.parametrize("name", LISTS)
def test_evidence_counts_newly_written_cells_only(name):
    readers = load("magazines")
    theory = golden(name).with_evidence(readers, readers.Y)
    for rule, (_, new, _, _) in zip(theory, LISTS[name][1], strict=True):
        assert (sum(e.right for e in rule.evidence), sum(e.wrong for e in rule.evidence)) == new


@pytest.mark.parametrize("name", LISTS)
def test_the_stop_mark_changes_no_prediction(name):
    readers = load("magazines")
    text = golden_text(name).replace(", *", "")
    assert (parse(text, readers.schema).predict(readers) == readers.Y).all()


@pytest.mark.parametrize("name", LISTS)
def test_prints_as_it_was_written(name):
    rules = [line for line in golden_text(name).splitlines() if not line.startswith("#")]
    assert theory_text(golden(name)).splitlines() == rules
