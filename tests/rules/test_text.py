"""The rule language: what is printed is what is parsed."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldens import golden
from labelrules import (
    Body,
    Condition,
    DecisionList,
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
from labelrules.rules.language.text import rule_texts
from strategies import schemas
from theories import scorecards, theories

READERS = load("magazines").schema
WORDS = Schema(
    [Feature("cough", ("0", "1")), Feature("no fever", ("True", "False")), Feature("age")],
    ["asthma", "Stellar's Jay", "otherwise"],
)
MIXED = Schema([Feature("age"), Feature("a b", ("x", "not", "true", ""))], ["l 1", "not", "true"])


def evidence_of(theory):
    return [rule.evidence for rule in theory]


def evidence_shown(rule):
    """The counts of all labels, or of those present if a head is complete."""
    if not rule.head.is_complete:
        return rule.evidence
    return {label: rule.evidence_for(label) for label, value in rule.head if value}


@given(
    st.data(),
    st.sampled_from(["plain", "unicode", "ascii"]),
    st.sampled_from([False, True, "all"]),
)
def test_any_theory_over_any_schema_survives_printing(data, style, evidence):
    schema = data.draw(schemas().filter(lambda schema: schema.n_labels))
    theory = data.draw(theories(schema) | scorecards(schema))
    text = theory_text(theory, style, evidence)
    found = parse(text, schema)
    assert found == theory
    # Equality is by meaning; here every condition and its order must come back too.
    assert [rule.body.conditions for rule in found] == [rule.body.conditions for rule in theory]
    if not theory.ordered and not theory.rules:
        assert isinstance(found, RuleSet)
    if evidence == "all":
        assert evidence_of(found) == evidence_of(theory)
    elif evidence:
        assert list(map(evidence_shown, found)) == list(map(evidence_shown, theory))
        assert theory_text(found, style, evidence) == text
    if style == "ascii":
        assert text.isascii()
    assert set(rule_texts(theory, style, evidence)) <= set(
        text.replace(",\n    ", ", ").split("\n")
    )


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
            "quality, not tabloid, not fashion, not sports <- true",
            "quality, not others <- true",
        ),
        ("quality, no other label <- true", "quality, not others <- true"),
        ("quality, ¬ others <- true", "quality, not others <- true"),
        ("not tabloid, others -1 <- true", "no label <- true"),
        ("no label, * <- sex = Male", "no label, * <- sex = Male"),
        ("otherwise: quality", "quality <- true"),
        ("otherwise : no other label, quality, *", "quality, not others, * <- true"),
        (
            "quality, tabloid, fashion, not sports <- true",
            "quality, tabloid, fashion, not sports <- true",
        ),
        ("quality <- true (3/1)", "quality <- true"),
        ("quality +3, not tabloid <- true (2/0, 1/0)", "quality +3, tabloid -1 <- true"),
        ("quality +1 <- true", "quality <- true"),
        ("quality −3 <- true", "quality -3 <- true"),
        ("others -2, sports +3 <- true", "sports +3, others -2 <- true"),
        ("'quality' <- 'tabloid', \"fashion\"", "quality <- tabloid, fashion"),
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
    assert text == "'l 1', not 'not', 'true' <- 'not', not 'true', \"a b\" = \"not\""
    assert parse_rule(text, MIXED) == rule
    assert rule_text(Rule(Head({0: 1}, 3), Body([Condition.equals(1, 2)])), MIXED).endswith(
        "= true"
    )
    assert rule_text(Rule(Head({0: 1}, 3), Body([Condition.equals(1, 3)])), MIXED).endswith('= ""')


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ('asthma <- "cough"', None),
        ('asthma <- not "cough", not "no fever", not asthma', None),
        ("asthma <- ¬ \"cough\", 'Stellar\\'s Jay'", "asthma <- not \"cough\", 'Stellar\\'s Jay'"),
        ("asthma <- cough = 1, cough = 0", 'asthma <- "cough", not "cough"'),
        ('asthma <- cough != 1, "no fever" != True', None),
        ('asthma <- "no fever" = True', 'asthma <- "no fever"'),
        ('"asthma" <- "otherwise"', "asthma <- otherwise"),
        ("otherwise <- not otherwise", None),
        ("'Stellar\\'s Jay' <- \"Stellar's Jay\"", "'Stellar\\'s Jay' <- 'Stellar\\'s Jay'"),
        ("'otherwise', not others <- true", "otherwise, not others <- true"),
    ],
)
def test_a_binary_feature_is_a_name_in_double_quotes(text, printed):
    rule = parse_rule(text, WORDS)
    assert rule_text(rule, WORDS) == (printed or text)
    assert parse_rule(rule_text(rule, WORDS), WORDS).body.conditions == rule.body.conditions


def test_names_of_binary_features_mean_presence():
    (cough,) = parse_rule('asthma <- "cough"', WORDS).body
    (fever,) = parse_rule('asthma <- not "no fever"', WORDS).body
    assert (cough, fever) == (Condition.equals(0, 1), Condition.equals(1, 1))
    assert rule_text(parse_rule('asthma <- not "cough"', WORDS), WORDS, "unicode") == (
        'asthma ← ¬"cough"'
    )


def test_absent_labels_of_complete_heads_are_not_named():
    schema = Schema([], [f"l{i}" for i in range(20)])
    rule = Rule(Head({3: 1}, 20).completed())
    assert rule_text(rule, schema) == "l3, not others <- true"
    assert parse_rule("l3, not others <- true", schema) == rule
    assert rule_text(Rule(Head({3: 0}, 20).completed()), schema) == "no label <- true"
    two = Schema([], ["a", "b"])
    assert rule_text(Rule(Head({0: 1, 1: 0}, 2)), two) == "a, not b <- true"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("quality, not others <- true", "otherwise: quality, no other label"),
        ("no label <- true", "otherwise: no label"),
        ("not sports <- true", "otherwise: not sports"),
        ("quality, * <- true", "otherwise: quality, *"),
        ("quality <- true\nsports <- true", "otherwise: quality\notherwise: sports"),
        ("quality <- true\nsports <- tabloid", None),
        ("in any order:\nquality <- true", None),
        ("sports <- tabloid\notherwise: quality", None),
    ],
)
def test_rules_for_every_row_at_the_end_of_a_list(text, printed):
    theory = parse(text, READERS)
    assert str(theory) == (printed or text)
    assert parse(str(theory), READERS) == theory


def test_evidence_is_shown_on_request():
    theory = golden("magazines-multi").with_evidence(load("magazines"), load("magazines").Y)
    lines = theory_text(theory, evidence=True).splitlines()
    assert lines[0] == "not quality, not fashion, not sports <- education = Primary (4/0)"
    assert lines[1] == "quality, not sports <- education = University (4/0)"
    assert lines[7] == "not quality, fashion, not sports <- true (1/0)"
    assert lines[9] == "otherwise: tabloid, * (2/0)"


def test_complete_heads_show_the_counts_of_the_labels_that_they_name():
    text = "quality, fashion, not others <- true"
    rule = parse_rule(text, READERS).with_evidence([(1, 2), (3, 4), (1, 2), (5, 6)])
    assert rule_text(rule, READERS, evidence=True) == f"{text} (1/2)"
    every = "quality, not tabloid, fashion, not sports <- true (1/2, 3/4, 1/2, 5/6)"
    assert rule_text(rule, READERS, evidence="all") == every
    assert parse_rule(every, READERS).evidence == rule.evidence
    partly = parse_rule(f"{text} (1/2, 7/8)", READERS)
    assert partly.evidence == ((1, 2), None, (7, 8), None)
    assert not partly.is_counted
    assert rule_text(partly, READERS, evidence="all").endswith("<- true (1/2, ?, 7/8, ?)")
    assert parse_rule("quality <- true (?)", READERS).evidence is None
    none = parse_rule("no label <- true", READERS).with_evidence([(1, 2)] * 4)
    assert rule_text(none, READERS, evidence=True) == "no label <- true"


def test_counts_are_in_the_order_in_which_a_line_names_labels():
    rule = parse_rule("sports, not quality <- true (3/4, 1/0)", READERS)
    assert rule.evidence == ((1, 0), (3, 4))
    assert parse_rule("sports, not quality <- true (3/4)", READERS).evidence == ((3, 4), (3, 4))


POINTS = """in any order:
quality +3, tabloid -1 <- true
sports +1, fashion -1 <- tabloid
usual label sets:
{quality, sports} +2
{} -1
if no label was found: the label with the most points"""


def test_points_need_a_rule_set():
    voted = parse(POINTS, READERS)
    assert voted[0].votes == (3, 1)
    assert voted[1].votes is None
    assert voted.label_sets == (((0, 3), 2), ((), -1))
    assert voted.at_least_one
    assert str(voted) == POINTS.replace("sports +1, fashion -1", "fashion -1, sports +1")
    assert str(parse("in any order:\nnot quality <- true", READERS)).endswith("not quality <- true")
    for text in ("quality +3, not tabloid <- true", "quality +1 <- true"):
        with pytest.raises(RuleSyntaxError, match="points need a rule set, which begins with 'in"):
            parse(text, READERS)


BAD = [
    # text, column, message
    ("quality +0 <- true", 9, "a rule gives from 1 to 10,000 points, not 0"),
    ("quality +1000000000000 <- true", 9, "there are at most 10,000 points"),
    ("quality + <- true", 9, "'+' are no points, such as +3 or -2"),
    ("quality x3 <- true", 9, "points have a sign: +3 for a label, -3 against it"),
    ("not quality -3 <- true", 13, "there is no 'not' before it"),
    ("others <- true", 8, "expected points, such as +3 or -2, not '<-'"),
    ("quality, no label <- true", 10, "beside labels write 'no other label'"),
    ("otherwise: quality <- sex = Male", 20, "a rule that begins with 'otherwise:' has no body"),
    ("otherwise: ", 12, "expected a label, but the line ends"),
    ("otherwise quality", 1, "a colon follows 'otherwise'"),
    ("quality <- otherwise", 12, "write 'otherwise:' before the labels, or '<- true'"),
    ("otherwise: quality (3/1), tabloid", 25, "expected the end of the line, not ','"),
    ("quality <- 'sex' = Male", 12, "single quotes are for labels: 'sex' is a feature"),
    ("quality <- sex = 'Male'", 18, "a category stands in double quotes"),
    ("quality <- 'sex", 12, "this quote is never closed"),
    ("quality <- {sex}", 12, "expected a condition, or true, not '{'"),
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
    ("quality <- not sex", 16, "'sex' is a feature: compare it with a value"),
    ("quality <- tabloid = 1", 12, "'tabloid' is a label: write its name, or not and its name"),
    ("quality <- sex <= 3", 16, "'sex' is nominal: compare it by =, != or in"),
    (
        "quality <- sex = Mal",
        18,
        "'sex' has no category 'Mal'; did you mean 'Male'? (it has 'Male', 'Female')",
    ),
    ("quality <- eduction = Primary", 12, "there is no feature or label 'eduction'; did you mean"),
    ("quality, not quality <- true", 10, "the head names the label 'quality' twice"),
    ("quality, *, * <- true", 13, "the stop mark is given twice"),
    ("not others, not others <- true", 13, "the other labels are given twice"),
    ("* <- true", 1, "the head names no label"),
    ('quality <- "sex = Male', 12, "this quote is never closed"),
    ('quality <- "se\\x" = Male', 15, "unknown escape \\x"),
    ('quality <- "\\U00110000" = Male', 13, "unknown escape \\U00110000"),
    ("quality (3/1) <- true", 9, "the counts of right and wrong predictions come after the body"),
    ("quality <- true (3)", 19, "expected a slash between the numbers"),
    ("quality <- true (3/x)", 20, "'x' is not a count"),
    ("quality <- true (3/1", 21, "expected a comma or a closing bracket, but the line ends"),
    ("quality <- true (3/1) (3/1)", 23, "expected the end of the line, not '('"),
    ("quality, sports <- true (3/1, 2/2, 1/1)", 25, "or 2, one for each, not 3"),
    ("no label <- true (3/1)", 18, "counts are for labels that the head names"),
    ("quality <- true quality", 17, "expected the end of the line, not 'quality'"),
    ("quality <- tabloid quality", 20, "expected a comma or the end of the line, not 'quality'"),
    ("quality <- others", 12, "'others' is not a name unless it stands in quotes"),
    ("quality ! <- true", 9, "a label is negated by not"),
    ("quality < true", 9, "numbers are compared by <= or >, and <- stands before the body"),
    (f"quality <- true ({'9' * 30}/1)", 18, "is not a count"),
]


@pytest.mark.parametrize(("text", "column", "message"), BAD)
def test_errors_point_at_the_place(text, column, message):
    with pytest.raises(RuleSyntaxError) as caught:
        parse_rule(text, READERS)
    assert message in str(caught.value)
    assert (caught.value.line, caught.value.column) == (1, column)
    pointer = str(caught.value).splitlines()[-1]
    assert pointer == "  " + " " * (column - 1) + "^"


def test_a_binary_feature_without_quotes_is_no_label():
    with pytest.raises(RuleSyntaxError, match='it stands in double quotes, as in "cough"'):
        parse_rule("asthma <- cough", WORDS)
    with pytest.raises(RuleSyntaxError, match=r'single quotes are for labels.*as in "no fever"'):
        parse_rule("asthma <- not 'no fever'", WORDS)


BAD_SECTIONS = [
    ("otherwise: quality\nsports <- tabloid", 2, "no rule comes after 'otherwise:'; before others"),
    ("in any order:\notherwise: quality", 2, "nothing is otherwise: write '<- true'"),
    ("usual label sets:\n{quality} +2", 1, "usual label sets need a rule set, which begins with"),
    ("if no label was found: the label with the most points", 1, "needs a rule set, which begins"),
    ("in any order:\n{quality} +2", 2, "label sets stand below 'usual label sets:'"),
    ("quality <- true\nin any order:", 2, "'in any order:' is the first line of a rule set"),
    (f"{POINTS}\nquality <- true", 8, "the rules of a set come before its label sets"),
    (f"{POINTS}\n{{sports, quality}} +3", 8, "this label set is given twice"),
    (f"{POINTS}\n{{sports, sports}} +3", 8, "the set names 'sports' twice"),
    (f"{POINTS}\n{{sport}} +3", 8, "there is no label 'sport'; did you mean 'sports'?"),
    (f"{POINTS}\n{{sports}} 3", 8, "'3' are no points, such as +3 or -2"),
    (f"{POINTS}\n{{sports +3", 8, "expected a comma or a closing brace, not '+3'"),
    (f"{POINTS}\nusual label sets:", 8, "'usual label sets:' is given twice"),
    (f"{POINTS}\nif no label was found: the label with the most points", 8, "is given twice"),
]


@pytest.mark.parametrize(("text", "line", "message"), BAD_SECTIONS)
def test_errors_in_sections(text, line, message):
    with pytest.raises(RuleSyntaxError) as caught:
        parse(text, READERS)
    assert message in str(caught.value)
    assert caught.value.line == line


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
    with pytest.raises(RuleSyntaxError, match="expected 'in any order:', with a colon"):
        parse("in any order\nquality <- true", READERS)
    with pytest.raises(RuleSyntaxError, match=r"line 2, .*no rule can stop it"):
        parse("in any order:\nquality, * <- true", READERS)


# ---------------------------------------------------------------- long rules


LONG = Schema(
    [Feature(f"word, number {number}", ("0", "1")) for number in range(30)],
    [f"label {number}, with a comma" for number in range(30)],
)


@given(st.data(), st.sampled_from(["plain", "unicode", "ascii"]), st.booleans())
def test_long_rules_go_on_in_the_next_line(data, style, evidence):
    theory = data.draw(theories(LONG, max_size=3) | scorecards(LONG))
    text = theory_text(theory, style, evidence)
    assert parse(text, LONG) == theory
    for before, line in pairwise(["", *text.split("\n")]):
        assert len(line) <= 100
        assert line.startswith("    ") == before.endswith(",")
        assert line.count("'") % 2 == line.count('"') % 2 == 0  # no name is broken


def test_lines_are_broken_at_the_last_comma_that_fits():
    rule = Rule(Head(dict.fromkeys(range(9), 1), 30), Body([Condition.equals(3, 1)]))
    assert theory_text(DecisionList(LONG, [rule])).split("\n") == [
        "'label 0, with a comma', 'label 1, with a comma', 'label 2, with a comma', "
        "'label 3, with a comma',",
        "    'label 4, with a comma', 'label 5, with a comma', 'label 6, with a comma',",
        "    'label 7, with a comma', 'label 8, with a comma' <- \"word, number 3\"",
    ]
    short = "quality, sports <- sex = Male"
    assert parse(short.replace(", ", ",  # and\n"), READERS) == parse(short, READERS)
    assert "\n" not in rule_text(rule, LONG)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("quality,\n sports <- sex = Mle,\n children = No", 2, 18, "no category 'Mle'"),
        ("quality <- sex = Male,\nsports <- true", 2, 8, "a comma or the end of the line"),
        ("quality <- sex = Male,\n\nsports <- true", 1, 23, "but the line ends"),
        ("quality <- sex = Male,\n# no more", 1, 23, "but the line ends"),
        ("tabloid <- true\nquality <- sex = Male,", 2, 23, "but the line ends"),
        ("layer 1,\n  till stable:", 2, 3, "expected 'until stable"),
        ("quality,\n'sports", 2, 1, "this quote is never closed"),
    ],
)
def test_errors_in_lines_that_go_on(text, line, column, message):
    with pytest.raises(RuleSyntaxError, match=message) as caught:
        parse(text, READERS)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.text == text.split("\n")[line - 1]


# ---------------------------------------------------------------- any text


@given(st.text())
def test_any_text_is_parsed_or_refused_with_a_place(text):
    try:
        parse(text, READERS)
    except RuleSyntaxError as error:
        assert 1 <= error.column <= len(error.text) + 1  # noqa: PT017


@given(st.text(alphabet="qualitysexMale <-=!,*()/\"\\#not_.1{}'+:", max_size=40))
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
