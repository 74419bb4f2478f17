"""The rule language: what is printed is what is parsed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens import golden
from labelrules import (
    Body,
    Condition,
    Feature,
    Head,
    Rule,
    RuleSet,
    Schema,
    load,
    parse,
    parse_rule,
    rule_text,
    theory_text,
)
from labelrules.rules import RuleSyntaxError
from strategies import schemas
from theories import theories

READERS = load("magazines").schema
MIXED = Schema([Feature("age"), Feature("a b", ("x", "not", "true", ""))], ["l 1", "not", "true"])


def evidence_of(theory):
    return [rule.evidence for rule in theory]


@given(st.data(), st.sampled_from(["plain", "unicode", "ascii"]), st.booleans())
def test_any_theory_over_any_schema_survives_printing(data, style, evidence):
    schema = data.draw(schemas().filter(lambda schema: schema.n_labels))
    theory = data.draw(theories(schema))
    text = theory_text(theory, style, evidence)
    found = parse(text, schema)
    assert found == theory
    # Equality is by meaning; here every condition and its order must come back too.
    assert [rule.body.conditions for rule in found] == [rule.body.conditions for rule in theory]
    if not theory.ordered and not theory.rules:
        assert isinstance(found, RuleSet)
    if evidence:
        assert evidence_of(found) == evidence_of(theory)
    if style == "ascii":
        assert text.isascii()


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_thresholds_come_back_to_the_last_bit(value):
    schema = Schema([Feature("x")], ["l"])
    rule = Rule(Head({0: 1}, 1), Body([Condition.above(0, value)]))
    (found,) = parse_rule(rule_text(rule, schema), schema).body
    assert found.value.hex() == (value + 0.0).hex()


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("quality<-true", "quality <- true"),
        ("quality , * <- tabloid", "quality, * <- tabloid"),
        ("*, quality <- tabloid", "quality, * <- tabloid"),
        ("¬ quality ← ¬tabloid", "not quality <- not tabloid"),
        ("fashion, quality <- sex ≠ Male", "quality, fashion <- sex != Male"),
        ('"quality" <- "sex" = "Male" # why not', "quality <- sex = Male"),
        (
            "quality, not others <- true",
            "quality, not tabloid, not fashion, not sports <- true",
        ),
        ("quality <- true (3/1)", "quality <- true"),
        ("quality x3, not tabloid x1 <- true (2/0, 1/0)", "quality x3, not tabloid <- true"),
        ("quality x1 <- true", "quality <- true"),
    ],
)
def test_ways_to_write(text, printed):
    assert rule_text(parse_rule(text, READERS), READERS) == printed


def test_names_that_are_words_of_the_language_stand_in_quotes():
    rule = Rule(
        Head({0: 1, 1: 0, 2: 1}, 3),
        Body([Condition.label(1), Condition.label(2, False), Condition.equals(1, 1)]),
    )
    text = rule_text(rule, MIXED)
    assert text == '"l 1", not "not", "true" <- "not", not "true", "a b" = "not"'
    assert parse_rule(text, MIXED) == rule
    assert rule_text(Rule(Head({0: 1}, 3), Body([Condition.equals(1, 2)])), MIXED).endswith(
        "= true"
    )
    assert rule_text(Rule(Head({0: 1}, 3), Body([Condition.equals(1, 3)])), MIXED).endswith('= ""')


def test_long_complete_heads_are_shortened():
    schema = Schema([], [f"l{i}" for i in range(20)])
    rule = Rule(Head({3: 1}, 20).completed())
    assert rule_text(rule, schema) == "l3, not others <- true"
    assert parse_rule("l3, not others <- true", schema) == rule
    assert rule_text(Rule(Head({3: 0}, 20).completed()), schema) == "not others <- true"


def test_evidence_is_shown_on_request():
    theory = golden("magazines-multi").with_evidence(load("magazines"), load("magazines").Y)
    first = theory_text(theory, evidence=True).splitlines()[0]
    assert first == (
        "not quality, not fashion, not sports <- education = Primary (4/0)"
    )


def test_votes_need_a_rule_set():
    voted = parse("in any order:\nquality x3, not tabloid <- true", READERS)
    assert voted[0].votes == (3, 1)
    assert str(voted).splitlines()[1] == "quality x3, not tabloid <- true"
    with pytest.raises(RuleSyntaxError, match="votes need a rule set, which begins with 'in any"):
        parse("quality x3, not tabloid <- true", READERS)


BAD = [
    # text, column, message
    ("quality x0 <- true", 9, "a rule casts from 1 to 10,000 votes, not 0"),
    ("quality x1000000000000 <- true", 9, "a rule casts from 1 to 10,000 votes"),
    ("quality three <- true", 9, "expected a comma or <-, not 'three'"),
    ("", 1, "expected a label, but the line ends"),
    ("quality", 8, "expected a comma or <-, but the line ends"),
    ("quality <-", 11, "expected a condition, or true, but the line ends"),
    ("quality <- true, sex = Male", 16, "expected the end of the line, not ','"),
    ("<- true", 1, "expected a label, not '<-'"),
    ("quality, <- true", 10, "expected a label, not '<-'"),
    ("quality <- sex = Male,", 23, "expected a condition, or true, but the line ends"),
    ("qualty <- true", 1, "there is no label 'qualty'; did you mean 'quality'?"),
    ("sex <- true", 1, "'sex' is a feature; a label is needed here"),
    ("quality <- sex", 12, "'sex' is a feature: compare it with a value"),
    ("quality <- not sex", 16, "'sex' is a feature; a label is needed here"),
    ("quality <- tabloid = 1", 12, "'tabloid' is a label: write its name, or not and its name"),
    ("quality <- sex <= 3", 16, "'sex' is nominal: compare it by = or !="),
    (
        "quality <- sex = Mal",
        18,
        "'sex' has no category 'Mal'; did you mean 'Male'? (it has 'Male', 'Female')",
    ),
    ("quality <- eduction = Primary", 12, "there is no feature or label 'eduction'; did you mean"),
    ("quality, not quality <- true", 10, "the head names the label 'quality' twice"),
    ("quality, *, * <- true", 13, "the stop mark is given twice"),
    ("not others, not others <- true", 13, "'not others' is given twice"),
    ("* <- true", 1, "the head names no label"),
    ('quality <- "sex = Male', 12, "this quote is never closed"),
    ('quality <- "se\\x" = Male', 15, "unknown escape \\x"),
    ('quality <- "\\U00110000" = Male', 13, "unknown escape \\U00110000"),
    ("quality (3) <- true", 11, "expected a slash between the numbers"),
    ("quality (3/x) <- true", 12, "'x' is not a count"),
    ("quality (3/1 <- true", 14, "expected a closing bracket, not '<-'"),
    ("quality, tabloid <- true (3/1)", 1, "either all labels of the head carry evidence or none"),
    ("quality <- true quality", 17, "expected the end of the line, not 'quality'"),
    ("quality <- tabloid quality", 20, "expected a comma or the end of the line, not 'quality'"),
    ("quality <- others", 12, "'others' is not a name unless it stands in quotes"),
    ("quality ! <- true", 9, "a label is negated by not"),
    ("quality < true", 9, "numbers are compared by <= or >, and <- stands before the body"),
    (f"quality ({'9' * 30}/1) <- true", 10, "is not a count"),
]


@pytest.mark.parametrize(("text", "column", "message"), BAD)
def test_errors_point_at_the_place(text, column, message):
    with pytest.raises(RuleSyntaxError) as caught:
        parse_rule(text, READERS)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, column)
    pointer = str(caught.value).splitlines()[-1]
    assert pointer == "  " + " " * (column - 1) + "^"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l <- x <= y", "'y' is not a number"),
        ("l <- x <= inf", "'inf' is not a finite number"),
        ("l <- x <= nan", "'nan' is not a finite number"),
        ("l <- x <= 1e999", "'1e999' is not a finite number"),
        ("l <- x <= 1_0", "'1_0' is not a finite number"),
        ("l <- x <= ١", "'١' is not a finite number"),
        ("l <- x < 1", "numbers are compared by <= or >"),
        ("l <- x >= 1", "numbers are compared by <= or >"),
        ("l <- x = 1", "'x' is numeric: compare it by <= or >"),
    ],
)
def test_bad_numbers(text, message):
    with pytest.raises(RuleSyntaxError, match=message):
        parse_rule(text, Schema([Feature("x")], ["l"]))


def test_the_line_of_an_error_is_counted_from_the_top_of_the_text():
    with pytest.raises(RuleSyntaxError, match="line 4, column 1: there is no label 'x'"):
        parse("# two\n\nquality <- true\nx <- true", READERS)
    with pytest.raises(RuleSyntaxError, match="a rule set begins with 'in any order:'"):
        parse("in any order\nquality <- true", READERS)
    with pytest.raises(RuleSyntaxError, match=r"line 2, .*no rule can stop it"):
        parse("in any order:\nquality, * <- true", READERS)


@given(st.text())
def test_any_text_is_parsed_or_refused_with_a_place(text):
    try:
        parse(text, READERS)
    except RuleSyntaxError as error:
        assert 1 <= error.column <= len(error.text) + 1  # noqa: PT017


@given(st.text(alphabet='qualitysexMale <-=!,*()/"\\#not_.1', max_size=40))
def test_nearly_right_texts_are_parsed_or_refused_with_a_place(text):
    try:
        rule = parse_rule(text, READERS)
    except RuleSyntaxError:
        return
    assert parse_rule(rule_text(rule, READERS), READERS) == rule


def test_the_empty_text_is_the_empty_list():
    assert len(parse("", READERS)) == 0
    assert str(parse("", READERS)) == ""


def test_things_that_are_no_text_or_no_schema():
    with pytest.raises(TypeError, match="rules are parsed from text, not from NoneType"):
        parse(None, READERS)
    with pytest.raises(TypeError, match=r"not with Dataset: give data\.schema"):
        parse_rule("quality <- true", load("magazines"))
