"""Theories laid out for reading: tables of points, rules by label or in order, short names."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelrules import Dataset, Feature, RuleSet, Schema, load, parse
from labelrules.rules import theory_html, theory_table, theory_view
from labelrules.rules.language.text import sections
from labelrules.rules.views.tables import PointsTable, by_label, shown_rules
from labelrules.rules.views.terminal import (
    ReadingNotation,
    ShortNames,
    broken,
    display_width,
    wrapped,
)
from strategies import names, schemas
from theories import decision_lists, scorecards, theories

READERS = load("magazines")
PLAIN = Schema(
    [Feature("x0"), Feature("x1"), Feature("c", ("0", "1"))], [f"l{n}" for n in range(7)]
)

# ---------------------------------------------------------------- names and numbers

LONG = ["Mean_Acc1298_Mean_Mem40_", "Mean_Acc1298_Std_Mem40_", "Std_Acc1298_Mean_Mem40_"]


def test_long_beginnings_are_abbreviated_once():
    words = ["Flux", "Rolloff", "MFCC_0"]
    short = ShortNames.of([prefix + word for prefix in LONG for word in words])
    assert short.legend() == [
        "MAMM_ = Mean_Acc1298_Mean_Mem40_",
        "MASM_ = Mean_Acc1298_Std_Mem40_",
        "S_ = Std_Acc1298_Mean_Mem40_",
    ]
    assert short.name("Std_Acc1298_Mean_Mem40_Flux") == "S_Flux"
    assert short.name("Std") == "Std"


def test_no_long_name_is_left_beside_its_like():
    """An abbreviation that ends later would save more, but not for the flux."""
    given_names = [f"{LONG[2]}MFCC_{number}" for number in range(10)] + [f"{LONG[2]}Flux"]
    short = ShortNames.of(given_names)
    assert short.legend() == ["S_ = Std_Acc1298_Mean_Mem40_"]
    assert ShortNames.of(given_names[:-1]).legend() == ["S_ = Std_Acc1298_Mean_Mem40_MFCC_"]


def test_short_names_stay_as_they_are():
    assert ShortNames.of(["Class-1", "Class-2", "Class-3", "Class-4"]).prefixes == {}
    assert ShortNames.of([LONG[0] + "Flux", "other"]).prefixes == {}


def test_an_abbreviation_does_not_look_like_another_name():
    members = [LONG[0] + word for word in ("a", "b", "c")]
    assert ShortNames.of(members).name(members[0]) == "M_a"
    assert ShortNames.of(members, ["M_a"]).name(members[0]) == "MAMM_a"
    assert ShortNames.of(members, ["M_x", "MAMM_x"]).name(members[0]) == "M1_a"


@given(
    st.lists(st.sampled_from(["long_beginning_", "long_", "a-", "l_", "", "M1_"]), max_size=4),
    st.data(),
)
def test_two_names_never_become_equal(beginnings, data):
    parts = st.sampled_from(["".join(beginnings), "long_beginning_of_", "long_beginning-", "l_"])
    given_names = data.draw(st.lists(st.tuples(parts, names()).map("".join), unique=True))
    short = ShortNames.of(given_names)
    assert len({short.name(name) for name in given_names}) == len(given_names)
    for name in given_names:
        found = short.name(name)
        before = next((one for one in short.prefixes if found.startswith(one)), "")
        assert short.prefixes.get(before, "") + found[len(before) :] == name


def test_thresholds_are_rounded_as_long_as_they_differ():
    schema = Schema([Feature("x"), Feature("y")], ["a"])
    text = "a <- x > 0.123456\na <- x > 0.9\na <- y > 0.123451\na <- y > 0.123454, y <= 1234567.25"
    notation = ReadingNotation(parse(text, schema))
    assert notation.numbers == {
        0.123456: "0.1235", 0.9: "0.9", 0.123451: "0.123451", 0.123454: "0.123454",
        1234567.25: "1234567.25",
    }  # fmt: skip
    assert list(notation.notes()) == [["thresholds rounded to 4 digits"]]
    assert not ReadingNotation(parse("a <- x > 0.5", schema)).is_rounded


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_rounded_thresholds_of_a_column_stay_apart(values):
    schema = Schema([Feature("x")], ["a"])
    theory = parse("\n".join(f"a <- x > {value!r}" for value in values), schema)
    numbers = ReadingNotation(theory).numbers
    assert len(set(numbers.values())) == len(set(values))
    for value, text in numbers.items():
        assert float(text) == pytest.approx(value, rel=1e-3)


def test_lines_wrap_between_items_and_names_after_signs():
    assert wrapped(["a, b", "c", "d"], 7) == ["a, b,", "c, d"]
    assert wrapped([], 5) == [""]
    assert wrapped(["longer than that", "b"], 5) == ["longer than that,", "b"]
    assert broken("a-b_c d", 2) == ["a-", "b_", "c ", "d"]
    assert "".join(broken("Class-24-596_54", 9)) == "Class-24-596_54"


# ---------------------------------------------------------------- tables

CARD = """in any order:
quality -1, fashion -3, sports -1 <- true
fashion +4, quality -1 <- sex = Female
quality +3 <- education = University
fashion +1, sports +2 <- sex = Male, children = No
usual label sets:
{quality, fashion} +1
{} -2
if no label was found: the label with the most points"""


def test_a_table_of_points():
    """Labels with most rows come first, rows by column and threshold after the start."""
    assert theory_table(parse(CARD, READERS.schema)).splitlines() == [
        "                             fashion  quality  sports",
        "  start                           -3       -1      -1",
        "  education = University           ·        3       ·",
        "  sex = Male, children = No        1        ·       2",
        "  sex = Female                     4       -1       ·",
        "",
        "  a label is given above 0 points",
        "  usual together: {quality, fashion} +1, {} -2",
        "  a row without a label gets the one with the most points",
        "  no points: tabloid",
    ]


def test_labels_that_do_not_fit_come_in_further_blocks_with_their_rows():
    text = theory_table(parse(CARD, READERS.schema), width=45)
    assert text.splitlines()[:11] == [
        "                           fashion  quality",
        "  start                         -3       -1",
        "  education = University         ·        3",
        "  sex = Male,",
        "  children = No                  1        ·",
        "  sex = Female                   4       -1",
        "",
        "                           sports",
        "  start                        -1",
        "  sex = Male,",
        "  children = No                 2",
    ]


def test_many_labels_that_only_start_are_counted():
    """They start below 0 and are in no usual set; three of them would be shown."""
    start = ", ".join(f"l{label} -{label + 1}" for label in range(7))
    sets = "usual label sets:\n{l1} +2"
    theory = parse(f"in any order:\nl0 +9 <- x0 > 1\n{start} <- true\n{sets}", PLAIN)
    table = PointsTable.of(theory)
    assert table.labels == (0, 1)
    assert table.left_out == (2, 3, 4, 5, 6)
    note = "5 labels start below 0 and get no further points: l2, l3, l4, l5, l6"
    assert f"  {note}" in theory_table(theory).splitlines()
    for order in ("list", "label"):
        lines = theory_view(theory, order=order).splitlines()
        assert lines[-1] == f"  {note}"
        assert not any(line.startswith("  l3") for line in lines)
    html = theory_html(theory)
    assert "5 labels start below 0" in html
    assert html.count('class="number against') == 2
    few = parse("in any order:\nl0 -1, l1 -1, l2 -1 <- true", PLAIN)
    assert PointsTable.of(few).labels == (0, 1, 2)


def test_rules_with_one_body_are_one_row_and_points_that_cancel_are_none():
    text = "in any order:\nquality +3, sports +1 <- fashion\nquality -3, sports +1 <- fashion"
    table = PointsTable.of(parse(text, READERS.schema))
    (row,) = table.rows
    assert row.points == {3: 2}
    assert table.labels == (3,)
    nothing = PointsTable.of(
        parse("in any order:\nquality +3 <- true\nquality -3 <- true", READERS.schema)
    )
    assert nothing.rows == ()
    assert theory_table(RuleSet(READERS.schema, at_least_one=True)).startswith("  a label is given")


def points_in(text):
    """The cells of a table of plain names, read back."""
    found, labels = {}, []
    for line in text.split("\n\n  a label is given")[0].splitlines():
        cells = line.split()
        if cells and re.fullmatch(r"l\d", cells[0]):
            labels = cells
        elif cells and labels:
            values = cells[-len(labels) :]
            name = " ".join(cells[: -len(labels)])
            for label, value in zip(labels, values, strict=True):
                if value != "·":
                    assert (name, label) not in found
                    found[name, label] = int(value)
    return found


@given(scorecards(PLAIN, st.sampled_from([-1.0, 0.5, 2.0]), max_size=6), st.integers(60, 120))
def test_every_cell_is_in_the_table_once(theory, width):
    short = [rule for rule in theory if len(rule.body) < 2 and not rule.body.on_labels]
    single = theory.with_rules(short)
    table, notation = PointsTable.of(single), ReadingNotation(single)
    text = theory_table(single, width=width)
    wanted = {
        (notation.body(row.body, PLAIN).replace("true", "start"), f"l{label}"): points
        for row in table.rows
        for label, points in row.points.items()
        if label in table.labels
    }
    if table.labels:
        assert points_in(text) == wanted
    for label in table.left_out:
        assert single.margin(np.zeros((1, 3)))[0, label] < 0
    assert max(map(len, text.splitlines())) <= width


@given(st.data())
def test_any_rule_set_can_be_a_table_and_has_its_colours_only_on_demand(data):
    schema = data.draw(schemas())
    theory = data.draw(scorecards(schema))
    plain, colours = theory_table(theory), theory_table(theory, colour=True)
    assert "\033" not in plain or any("\033" in name for name in schema.labels)
    assert re.sub("\033\\[\\d+m", "", colours) == plain


def test_blanks_at_the_end_of_a_name_have_no_colour():
    schema = Schema([], ["0000000 "])
    theory = parse("in any order:\n'0000000 ' -1 <- true", schema)
    colours = theory_table(theory, colour=True)
    assert re.sub("\033\\[\\d+m", "", colours) == theory_table(theory)


def test_only_rule_sets_are_tables():
    with pytest.raises(
        ValueError, match=r"a table shows the points .*, not a DecisionList: use theory_v"
    ):
        theory_table(parse("quality <- true", READERS.schema))
    with pytest.raises(ValueError, match="width must be a whole number of at least 40"):
        theory_table(parse(CARD, READERS.schema), width=20)


# ---------------------------------------------------------------- lists

LIST = """quality <- education = University (4/0)
quality <- marital = Divorced, children = No (2/0)
fashion <- sex = Female (3/2)
sports, not fashion <- marital = Single (1/2, 3/0)
if no label was found:
tabloid <- sex = Male (2/1)
otherwise: sports (1/1)"""


def test_rules_in_their_order():
    assert theory_view(parse(LIST, READERS.schema)).splitlines() == [
        "  label        if                                 right  wrong",
        "  quality      education = University                 4      0",
        "               marital = Divorced, children = No      2      0",
        "  fashion      sex = Female                           3      2",
        "  not fashion  marital = Single                       3      0",
        "  sports                                              1      2",
        "  if no label was found",
        "  tabloid      sex = Male                             2      1",
        "  sports       otherwise                              1      1",
    ]


def test_names_with_commas_keep_their_place_and_their_counts():
    schema = Schema([Feature("x")], ["a, b", "c", "not, d", "e"])
    truth = np.array([[1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0]])
    data = Dataset(schema, np.array([[0.0], [1.0], [1.0]]), truth)
    theory = parse("'a, b', not c, not 'not, d', * <- x > 0.5", schema)
    counted = theory.with_evidence(data, data.Y)
    assert theory_view(counted).splitlines() == [
        "  label         if       right  wrong",
        "  'a, b'        x > 0.5      1      1",
        "  not c                      2      0",
        "  not 'not, d'               1      1",
        "  *",
        "",
        "  3 labels have no rule: c, 'not, d', e",
    ]


def test_rules_by_label():
    lines = theory_view(parse(LIST, READERS.schema), order="label", evidence=False).splitlines()
    assert lines == [
        "  label        if",
        "  quality      education = University",
        "               marital = Divorced, children = No",
        "  fashion      sex = Female",
        "  not fashion  marital = Single",
        "  sports       marital = Single",
        "  if no label was found",
        "  tabloid      sex = Male",
        "  sports       otherwise",
    ]


def test_complete_heads_and_labels_without_a_rule():
    text = "quality, not others <- sex = Male\notherwise: no label"
    assert theory_view(parse(text, READERS.schema)).splitlines() == [
        "  label                if",
        "  quality, not others  sex = Male",
        "  no label             otherwise",
        "",
        "  3 labels have no rule: tabloid, fashion, sports",
    ]
    by_name = theory_view(parse(text, READERS.schema), order="label").splitlines()
    assert by_name[1:3] == ["  quality, not others  sex = Male", "  no label             otherwise"]


def test_many_labels_without_a_rule_take_one_line():
    schema = Schema([], [f"label-{number}" for number in range(60)])
    last = theory_view(parse("label-0 <- true", schema), width=60).splitlines()[-1]
    assert last.startswith("  59 labels have no rule: label-1, ")
    assert last.endswith(", …")
    assert len(last) <= 60


def test_absences_that_are_clear_are_left_out():
    text = "quality <- sex = Male\nnot quality <- true\nnot sports <- true\nsports <- tabloid"
    lines = theory_view(parse(text, READERS.schema)).splitlines()
    assert [line.split()[0] for line in lines[1:4]] == ["quality", "not", "sports"]
    assert lines[-2].startswith("  1 rule for absent labels is left out: a label is absent unless")


def test_points_by_label():
    lines = theory_view(parse(CARD, READERS.schema), order="label").splitlines()
    assert lines[:5] == [
        "  label    if                         points",
        "  quality  start                          -1",
        "           education = University          3",
        "           sex = Female                   -1",
        "  fashion  start                          -3",
    ]
    assert "  usual together: {quality, fashion} +1, {} -2" in lines


def test_binary_features_need_quotes_only_beside_labels():
    schema = Schema([Feature("cough", ("0", "1")), Feature("x y", ("0", "1"))], ["a", "b"])
    assert theory_view(parse('a <- "cough", not "x y"', schema)).splitlines()[1] == (
        '  a      cough, not "x y"'
    )
    assert '"cough"' in theory_view(parse('a <- "cough"\nb <- a', schema))


@given(decision_lists(PLAIN, st.sampled_from([-1.0, 0.5])) | theories(PLAIN), st.integers(40, 120))
def test_every_rule_is_there_in_order_and_with_each_of_its_labels(theory, width):
    notation = ReadingNotation(theory)
    for order in ("list", "label"):
        text = theory_view(theory, width=width, order=order)
        words = " ".join(text.split())
        for section in sections(theory, evidence=True):
            for rule, _ in shown_rules(section):
                for condition in rule.body:
                    assert notation.condition(condition, PLAIN) in words
    pairs = [
        (label, id(rule))
        for section in sections(theory, evidence=True)
        for label, rule, _ in by_label(shown_rules(section), section.part)
    ]
    assert len(set(pairs)) == len(pairs)
    given_labels = {label for rule in theory for label, value in rule.head if value}
    assert given_labels <= {label for label, _ in pairs}


@given(st.data())
def test_any_theory_can_be_read_in_colour_and_without(data):
    schema = data.draw(schemas())
    theory = data.draw(theories(schema) | scorecards(schema))
    order = data.draw(st.sampled_from(["list", "label"]))
    plain = theory_view(theory, order=order)
    colours = theory_view(theory, order=order, colour=True)
    assert re.sub("\033\\[\\d+m", "", colours) == plain


def test_lines_fit_the_width_where_names_do():
    rng = np.random.default_rng(0)
    schema = Schema([Feature(f"feature {n}") for n in range(30)], [f"label {n}" for n in range(9)])
    lines = []
    for label in range(9):
        columns = rng.choice(30, 6, replace=False)
        body = ", ".join(f'"feature {c}" <= {rng.random()!r}' for c in columns)
        lines.append(f"'label {label}' <- {body}")
    for width in (60, 80, 140):
        text = theory_view(parse("\n".join(lines), schema), width=width)
        assert max(map(display_width, text.splitlines())) <= width


def test_wrong_orders_are_refused():
    with pytest.raises(ValueError, match="order must be 'list' or 'label'"):
        theory_view(parse(LIST, READERS.schema), order="order")


def test_a_long_ending_is_abbreviated_after_the_beginnings():
    ending = "_Power_WinHamming_HopSize512"
    given = [f"{prefix}{word}{ending}" for prefix in LONG for word in ("Flux", "Rolloff", "MFCC")]
    short = ShortNames.of(given)
    assert short.name(given[0]) == "MAMM_Flux…"
    assert short.legend()[-1] == f"… = {ending}"
    assert len({short.name(name) for name in given}) == len(given)
    assert ShortNames.of([*given, "a…"]).ending == ""
