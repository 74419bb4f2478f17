"""Findings and their fixes, compared with all rows that there could be."""

from itertools import product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from labelrules import (
    Dataset,
    Evidence,
    Feature,
    LayeredTheory,
    Schema,
    load,
    parse,
    parse_rule,
    rule_text,
)
from labelrules.inspection import Fix, findings
from labelrules.inspection.review import regions
from labelrules.inspection.review.fixes import keeps_predictions
from labelrules.inspection.review.regions import parts_of, reach_of
from labelrules.rules import Gibbs
from layered_theories import layered_theories
from theories import decision_lists, rules, theories

SCHEMA = Schema(
    [
        Feature("x"),
        Feature("y", ("p", "q", "r")),
        Feature("size", ("S", "M", "L"), "ordered"),
        Feature("day", kind="date"),
    ],
    ["a", "b", "c"],
)
NAN = float("nan")
GRID = st.sampled_from([0.0, 1.0])
QUICK = {"phases": [Phase.generate], "deadline": None}


SMALL = Schema(SCHEMA.features[:3], SCHEMA.labels)
SMALL_ROWS = np.array([*product((-0.5, 0.5, 1.5, NAN), (0, 1, 2, NAN), (0, 1, 2, NAN))])
"""All rows that thresholds 0 and 1 can tell apart, with some labels, known or not."""
SMALL_DATA = Dataset(
    SMALL, SMALL_ROWS, np.random.default_rng(3).integers(-1, 2, (len(SMALL_ROWS), 3))
)


def small_lists(max_size=6):
    return decision_lists(SMALL, GRID, max_size)


def check_effects(theory, data):
    """Proved fixes change nothing on any row, and the counts of the others are right."""
    found = findings(theory, data)
    before = theory.predict(data)
    for one in found:
        if one.fix is None:
            continue
        after = one.fix.apply(theory).predict(data)
        changed = before != after
        if one.effect.proved:
            assert not changed.any(), one
        assert one.effect.n_changed_cells == changed.sum(), one
        assert one.effect.n_changed_rows == changed.any(axis=1).sum(), one
        assert one.effect.n_righted == (changed & (after == data.Y)).sum(), one
        assert one.effect.n_wronged == (changed & (before == data.Y)).sum(), one
        assert one.effect.keeps == (not changed.any())
    return found


@settings(max_examples=150, **QUICK)
@given(small_lists())
def test_fixes_of_lists_have_the_effect_that_they_claim(theory):
    check_effects(theory, SMALL_DATA)


@settings(max_examples=60, **QUICK)
@given(layered_theories(SMALL, GRID) | theories(SMALL, GRID, 4))
def test_fixes_of_other_theories_have_the_effect_that_they_claim(theory):
    check_effects(theory, SMALL_DATA)


@settings(max_examples=60, **QUICK)
@given(small_lists(5), st.data())
def test_every_edit_that_is_proved_to_keep_predictions_does(theory, data):
    if not len(theory):
        return
    number = data.draw(st.integers(1, len(theory)))
    new = data.draw(rules(SMALL, GRID))
    fixes = [
        Fix("remove", number),
        Fix("replace", number, rule_text(new, SMALL)),
        Fix("move", number, to=data.draw(st.integers(1, len(theory)))),
    ]
    before = theory.predict(SMALL_DATA)
    for fix in fixes:
        if keeps_predictions(theory, fix):
            np.testing.assert_array_equal(fix.apply(theory).predict(SMALL_DATA), before)


@settings(max_examples=150, **QUICK)
@given(small_lists())
def test_proofs_of_lists_miss_nothing(theory):
    """On domains as small as these every rule that does nothing is found, and every removal."""
    before = theory.predict(SMALL_DATA)
    run = theory.run(SMALL_DATA)
    (part,) = parts_of(theory)
    for number, rule in enumerate(theory):
        reach = reach_of(part, number)
        wrote = {label for label in rule.head.labels if (run.writer[:, label] == number).any()}
        stopped = bool((run.stopped == number).any())
        assert reach.is_reached == (bool(wrote) or stopped)
        if not rule.head.is_complete:
            assert reach.labels == wrote
        fix = Fix("remove", number + 1)
        stays = (fix.apply(theory).predict(SMALL_DATA) == before).all()
        assert keeps_predictions(theory, fix) == stays


@settings(max_examples=60, **QUICK)
@given(small_lists())
def test_rules_that_do_nothing_are_listed_once(theory):
    found = findings(theory)
    run = theory.run(SMALL_DATA)
    kinds = ("contradictory body", "duplicate", "subsumed", "unreachable")
    dead = [one.places[0].number for one in found if one.kind in kinds]
    assert len(dead) == len(set(dead))
    for number, _ in enumerate(theory):
        is_used = (run.writer == number).any() or (run.stopped == number).any()
        assert is_used or number in dead


@settings(max_examples=20, **QUICK)
@given(layered_theories(SMALL, GRID, max_size=3))
def test_fixes_of_sampled_layers(theory):
    if not theory.layers[-1].ordered or not theory.layers[-1].rules:
        return
    counted = [
        layer.with_rules(
            rule.with_evidence([Evidence(3 + n, n) for _ in rule.head])
            for n, rule in enumerate(layer)
        )
        for layer in theory.layers
    ]
    theory = LayeredTheory(SMALL, counted, Gibbs(3, 2), theory.fallback)
    before = theory.predict(SMALL_DATA)
    for one in findings(theory):
        if one.fix is not None and one.effect.proved:
            np.testing.assert_array_equal(one.fix.apply(theory).predict(SMALL_DATA), before)


@settings(max_examples=100, **QUICK)
@given(small_lists())
def test_conflicts_are_counted_row_by_row(theory):
    run, truth = theory.run(SMALL_DATA), SMALL_DATA.Y
    expected = {}
    for i in range(len(SMALL_DATA)):
        row = SMALL_DATA.take([i])
        for number, rule in enumerate(theory):
            if not rule.body or not covers_at_its_turn(theory, row, number):
                continue  # a default rule is there to be overruled
            for label, value in rule.head:
                winner = run.writer[i, label]
                if 0 <= winner < number and run.board[i, label] != value:
                    counts = expected.setdefault((winner, number), [set(), 0, 0])
                    counts[0].add(i)
                    counts[1] += truth[i, label] == 1 - value
                    counts[2] += truth[i, label] == value
    found = {
        tuple(sorted(place.number for place in one.places)): one
        for one in findings(theory, SMALL_DATA).of_kind("conflict")
    }
    assert found.keys() == expected.keys()
    for pair, (rows, right, other) in expected.items():
        assert found[pair].n_rows == len(rows)
        assert f"right {right} times, the other would be {other}." in found[pair].sentence
        assert (found[pair].fix is not None) == (other > right)


def covers_at_its_turn(theory, row, number):
    before = theory[:number].run(row)
    return bool(before.stopped[0] < 0 and theory[number].body.covers(row.X, before.board)[0])


@pytest.mark.parametrize(
    ("text", "kind", "sentence", "fix"),
    [
        (
            "a <- x > 3, x > 5",
            "redundant condition",
            "In rule 1 `x > 3` follows from the other conditions.",
            "replace rule 1 by: a <- x > 5",
        ),
        (
            "a <- y in {p, q}, y != q, x <= 1",
            "redundant condition",
            None,
            None,
        ),
        (
            "a <- size > L",
            "contradictory body",
            "Rule 1 can never hold: no value satisfies `size > L`.",
            "remove rule 1",
        ),
        (
            "a <- day > 2020-01-05, x > 1, day <= 2020-01-01",
            "contradictory body",
            "Rule 1 can never hold: no value satisfies `day > 2020-01-05` and `day <= 2020-01-01`.",
            "remove rule 1",
        ),
        (
            "a <- x <= 1\nb, not a <- x > 0\na <- x > 1",
            "unreachable",
            "Rule 3 can never write anything: rule 2 comes before it for every row that it covers.",
            "remove rule 3",
        ),
        (
            "a <- y = p\na <- y != p\na <- y in {p, q, r}",
            "unreachable",
            "Rule 3 can never write anything: rules 1 and 2 come before it for every row that "
            "it covers.",
            "remove rule 3",
        ),
        (
            "a, * <- x > 0\nb <- x > 1",
            "unreachable",
            "Rule 2 can never write anything: rule 1 comes before it for every row that it covers.",
            "remove rule 2",
        ),
        (
            "a <- b\nb <- x > 1",
            "unreachable",
            "Rule 1 can never write anything: the labels that it tests never have these values "
            "when its turn comes.",
            "remove rule 1",
        ),
        (
            "a <- x > 0\nnot a, b <- x > 1",
            "unreachable label",
            "Rule 2 can never write a: rule 1 comes before it for every row that it covers.",
            "replace rule 2 by: b <- x > 1",
        ),
        (
            "a <- x > 2\na <- x > 0\nb <- true",
            "superfluous",
            "Rule 1 changes nothing: without it, later rules or the default give every row the "
            "same labels.",
            "remove rule 1",
        ),
        (
            "a <- x > 0\na <- x > 0",
            "duplicate",
            "Rule 2 is the same as rule 1.",
            "remove rule 2",
        ),
        (
            "in any order:\na <- x > 0\na <- x > 0",
            "duplicate",
            "Rule 2 is the same as rule 1, so that it votes twice.",
            "remove rule 2",
        ),
    ],
)
def test_each_kind_has_its_sentence_and_its_fix(text, kind, sentence, fix):
    found = [one for one in findings(parse(text, SCHEMA)) if one.kind == kind]
    if sentence is None:
        assert found == []
        return
    assert [one.sentence for one in found] == [sentence]
    assert str(found[0].fix) == fix


@pytest.mark.parametrize(
    "text",
    [
        # a missing value satisfies neither condition
        "a <- x <= 1\na <- x > 1\na <- true",
        # b may be written between two equal rules
        "a <- b\nb <- x > 0\na <- b",
        # the second rule ends the list
        "a <- true\na, * <- x > 0\nb <- true",
    ],
)
def test_useful_rules_are_not_found(text):
    theory = parse(text, SCHEMA)
    last = len(theory) - 1
    found = findings(theory)
    assert not [
        one
        for one in found
        if one.fix and one.fix.action == "remove" and one.places[0].number == last
    ]


def test_findings_on_the_readers():
    readers = load("magazines")
    text = """
    quality <- sex = Male
    not quality <- education = Primary
    sports <- true
    fashion <- marital = Single, children = No
    """
    found = findings(parse(text, readers.schema), readers)
    assert str(found) == EXPECTED
    frame = found.to_frame()
    assert list(frame["kind"]) == [one.kind for one in found]
    assert [one.kind for one in found.about(2)] == ["superfluous", "conflict"]
    assert "conflict" in found._repr_html_()
    with pytest.raises(ValueError, match="did you mean 'conflict'"):
        found.of_kind("conflicts")


EXPECTED = """\
7 findings in 4 rules and 14 rows
superfluous: 1
  Rule 2 changes nothing: without it, later rules or the default give every row the same labels.
    remove rule 2: keeps every prediction, whatever the row (proved)
more often wrong than right: 3
  Rule 3 is more often wrong than right in these data: sports 2/12 (right/wrong).
    remove rule 3: changes 14 predictions in 14 rows of 14: 12 become right, 2 wrong
  Rule 1 is more often wrong than right in these data: quality 4/5 (right/wrong).
    remove rule 1: changes 9 predictions in 9 rows of 14: 5 become right, 4 wrong
  Rule 4 is more often wrong than right in these data: fashion 0/3 (right/wrong).
    remove rule 4: changes 3 predictions in 3 rows of 14: 3 become right, 0 wrong
conflict: 1
  Rule 1 and rule 2 disagree on quality in 3 rows: rule 1 comes first and decides; it is right 0 \
times, the other would be 3.
    move rule 2 to place 1: changes 3 predictions in 3 rows of 14: 3 become right, 0 wrong
constant label: 2
  sports is present in all 14 rows by these rules; in truth it is absent in 12 rows.
  No rule predicts tabloid present, so it is always absent; in truth it is present in 6 rows."""


def test_fixes_keep_notes_evidence_and_other_rules():
    theory = parse("a <- x > 3, x > 5 (4/1)  # note: as agreed\nb <- true (9/2)", SCHEMA)
    (one,) = findings(theory).of_kind("redundant condition")
    fixed = one.fix.apply(theory)
    assert fixed[0] == parse_rule("a <- x > 5", SCHEMA)
    assert (fixed[0].note, fixed[0].evidence, fixed[1].evidence) == (
        "as agreed", (Evidence(4, 1),), theory[1].evidence,
    )  # fmt: skip


def test_fixes_that_do_not_fit_are_refused():
    theory = parse("a <- true", SCHEMA)
    with pytest.raises(ValueError, match="rule must be a whole number from 1 to 1"):
        Fix("remove", 2).apply(theory)
    with pytest.raises(ValueError, match="action must be 'remove', 'replace' or 'move'"):
        Fix("drop", 1).apply(theory)
    with pytest.raises(ValueError, match="to must be a whole number"):
        Fix("move", 1).apply(theory)


def test_a_proof_that_takes_too_long_is_given_up(monkeypatch):
    theory = parse("a <- x > 1\na <- x <= 1\na <- x > 0", SCHEMA)
    assert len(findings(theory).of_kind("unreachable")) == 1
    monkeypatch.setattr(regions, "MAX_STEPS", 2)
    assert findings(theory).of_kind("unreachable") == ()


def test_all_proofs_together_may_take_so_many_steps():
    theory = parse("a <- x > 1\na <- x <= 1\na <- x > 0", SCHEMA)
    assert len(findings(theory, max_steps=100).of_kind("unreachable")) == 1
    assert findings(theory, max_steps=1).of_kind("unreachable") == ()
    with pytest.raises(ValueError, match="max_steps must be a whole number"):
        findings(theory, max_steps=-1)


def test_a_default_rule_is_no_conflict():
    """Each rule overrules it; how often that is wrong is how often the rule is wrong."""
    theory = parse("a <- x > 0\nnot a <- true\nb <- x > 1\nnot b <- y = p", SCHEMA)
    data = Dataset(SCHEMA, [[2.0, 0, 0, 0]] * 3, [[0, 1, 0]] * 3)
    for found in (findings(theory), findings(theory, data)):
        assert [one.rules for one in found.of_kind("conflict")] == [(3, 4)]
    wrong = findings(theory, data).of_kind("more often wrong than right")
    assert [one.rules for one in wrong] == [(1,)]


def test_what_data_show_is_proved_otherwise(monkeypatch):
    """Rules that are seen to write their labels need no proof that they can."""
    theory = parse("a <- x > 1\na <- x > 0\nb <- x > 1", SCHEMA)
    data = Dataset(SCHEMA, [[2.0, 0, 0, 0], [0.5, 0, 0, 0]], [[1, 1, 0]] * 2)
    asked = []
    monkeypatch.setattr(
        "labelrules.inspection.review.problems.reach_of",
        lambda part, number, steps: asked.append(number),
    )
    findings(theory, data)
    assert asked == []
    findings(theory)
    assert asked == [0, 1, 2]


def test_votes_of_sets_are_kept():
    theory = parse("in any order:\na +3 <- x > 1, x > 0", SCHEMA)
    (one,) = findings(theory).of_kind("redundant condition")
    assert one.effect.proved
    assert one.fix.apply(theory)[0].votes == (3,)
