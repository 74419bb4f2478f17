"""Explanations that fit on a screen."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldens import golden
from labelrules import (
    Body,
    Dataset,
    DecisionList,
    Feature,
    LabelSet,
    LayeredTheory,
    Rule,
    RuleSet,
    Schema,
    SeparateAndConquer,
    explain,
    load,
    parse,
)
from labelrules.inspection.explanation.screen import SCREEN
from labelrules.inspection.explanation.writer import Writer, is_denied
from labelrules.learners import BinaryRelevance, Ripper, Scorecard
from layered_theories import layered_theories
from strategies import datasets
from theories import decision_lists, scorecards

READERS = load("magazines")
WORDS = Schema(
    [Feature(name, ("0", "1")) for name in ("cough", "fever", "chest", "kidney")]
    + [Feature("age")],
    ["asthma", "pneumonia", "reflux"],
)


def patient(*values, schema=WORDS):
    return Dataset(schema, np.array([values], dtype=float), np.zeros((1, schema.n_labels)))


def lines(theory, rows, row=0, width=100, **options):
    return explain(theory, rows, row, **options).text(width=width).splitlines()


def test_given_labels_come_first_with_their_reasons():
    text = 'asthma <- "cough" (14/0)\npneumonia <- "fever", age > 60.5\nreflux <- "kidney"'
    assert lines(parse(text, WORDS), patient(1, 0, 1, 0, 70)) == [
        "Row 0: cough, chest (2 of 4 present)",
        "",
        "asthma",
        '    because      "cough"',
        "    evidence     right for 14 of 14 rows; precision 0.94 (0.78 to 1.00)",
        "    would go if  cough were absent",
        "",
        "2 labels are absent: no rule for them holds. Closest:",
        '    pneumonia  needs "fever"',
        '    reflux     needs "kidney"',
        "explanation.text(details=True): every label, training rows, later rules",
    ]


def test_the_values_of_numbers_stand_in_the_conditions():
    schema = Schema([Feature(f"f{j}") for j in range(30)], ["k", "l"])
    theory = parse("k <- f0 > 0.5, f1 <= 2\nl <- f0 > 0.8", schema)
    values = [0.765432, 1, *range(28)]
    found = lines(theory, patient(*values, schema=schema))
    assert found[:4] == ["Row 0", "", "k", "    because      f0 0.765 > 0.5, f1 1 ≤ 2"]
    assert "    l  needs f0 > 0.8 (is 0.765)" in found
    close = lines(parse("k <- f0 > 0.7654", schema), patient(*values, schema=schema))
    assert "    because      f0 0.76543 > 0.7654" in close  # rounded, but on the right side
    absent = lines(parse("k <- f2 > 7", schema), patient(np.nan, 1, *[0] * 28, schema=schema))
    assert absent[0] == "Row 0: f0 = ?, f1 = 1 (2 of 30 are not 0)"


def test_a_small_table_shows_the_whole_row():
    found = lines(golden("magazines-multi"), READERS, 3)
    assert found[0] == (
        "Row 3: education = University, marital = Divorced, sex = Female, children = No"
    )
    assert lines(golden("magazines-multi"), READERS, 3, width=60)[0] == "Row 3"


def test_a_reason_for_absence_is_the_true_one():
    """The rule for quality says nothing of the others; only the one against sports does."""
    text = (
        "quality, not others <- education = University\n"
        "not sports <- sex = Male\nsports <- marital = Single\ntabloid <- true"
    )
    theory = parse(text, READERS.schema)
    found = explain(theory, READERS, 3)
    groups = dict(Writer().absent_groups(found, 9))
    # tabloid would have come, but another rule had decided it; for the others no rule holds.
    assert list(groups) == [
        "1 label is absent by a rule:",
        "2 labels are absent: no rule for them holds. Closest:",
    ]
    assert groups["1 label is absent by a rule:"] == [("tabloid", "education = University")]
    names = [[f.categories[int(v)] for f, v in zip(READERS.schema.features, row, strict=True)]
             for row in READERS.X]  # fmt: skip
    row = next(n for n, row in enumerate(names) if "Male" in row and "University" not in row)
    denied = dict(Writer().absent_groups(explain(theory, READERS, row, training=READERS), 9))
    (line,) = denied["1 label is absent by a rule:"]
    assert re.fullmatch(r"sex = Male \(right for \d of \d training rows\)", line[1])
    assert line[0] == "sports"


def test_sentences_give_the_true_reason_for_absence():
    theory = parse("quality, not others <- true\nsports <- sex = Male", READERS.schema)
    found = explain(theory, READERS, 3, counterfactuals=False)
    assert found["sports"].sentence() == (
        "sports is predicted absent, because no rule for it holds; the closest needs sex = Male "
        "(is Female)."
    )
    assert found["fashion"].sentence() == (
        "fashion is predicted absent, because no rule for it holds."
    )


def test_layers_say_which_has_no_rule():
    text = 'layer 1:\nreflux <- "cough"\nlayer 2:\nreflux <- asthma'
    found = lines(parse(text, WORDS), patient(1, 0, 0, 0, 5))
    assert "3 labels are absent: no rule for them holds in layer 2. Closest:" in found


def test_a_label_without_a_rule_is_only_counted():
    theory = parse("quality <- sex = Female", READERS.schema)
    found = lines(theory, READERS, 3)
    assert "3 labels are absent: no rule for them holds." in found
    nothing = lines(parse("quality <- sex = Male", READERS.schema), READERS, 3)
    assert nothing[2] == "No label is given."


def test_a_rule_that_ends_the_list_is_named():
    theory = parse('asthma, * <- "cough"\nreflux <- "chest"', WORDS)
    found = lines(theory, patient(1, 0, 1, 0, 5))
    assert '    reflux  rule 1 ended the list before a rule for it: asthma, * <- "cough"' in found


FOUND = 'asthma <- "cough" (3/1)\nif no label was found:\nreflux <- "kidney"\notherwise: pneumonia'


def test_labels_of_rows_without_a_label_say_so():
    theory = parse(FOUND, WORDS)
    assert isinstance(theory, LayeredTheory)
    first = lines(theory, patient(0, 0, 0, 1, 5))
    reason = "no rule found a label; of the rules for such rows, this holds first"
    assert first[2:4] == ["reflux", f'    because      {reason}: "kidney"']
    assert first[6] == "2 labels are absent: no rule for them holds. Closest:"
    default = lines(theory, patient(0, 0, 0, 0, 5))
    assert default[2:4] == [
        "pneumonia",
        "    because      no rule found a label; no other rule for such rows holds, so this is the "
        "default",
    ]
    assert '    reflux  needs "kidney", if no rule finds a label' in default
    for text in (explain(theory, patient(0, 0, 0, 1, 5)).text(details=True), *first):
        assert "layer" not in text
    assert reason in explain(theory, patient(0, 0, 0, 1, 5)).sentences()
    plain = lines(theory, patient(1, 0, 0, 1, 5))
    assert plain[2:4] == ["asthma", '    because      "cough"']
    # The list for other rows is not asked.
    assert '    reflux  needs "kidney", if no rule finds a label' not in plain


def test_the_only_list_of_several_layers_has_a_number():
    text = 'layer 1:\nasthma <- "cough"\nlayer 2:\nreflux <- asthma, "chest"'
    found = lines(parse(text, WORDS), patient(1, 0, 1, 0, 5))
    assert '    because      asthma, "chest" (labels of layer 1)' in found


def test_sampled_labels_have_probabilities():
    text = 'layer 1, sampled 20 times after 0 rounds, seed 0:\nasthma <- "cough" (9/0)'
    found = lines(parse(text, WORDS), patient(1, 0, 0, 0, 5))
    assert found[2:4] == ["asthma", "    because      it was sampled with probability 0.91"]
    assert "2 labels are absent by sampling:" in found
    assert "    reflux     probability 0.00" in found


def test_labels_that_are_asked_for_are_explained_whether_given_or_not():
    theory = parse('asthma <- "cough"\nreflux <- "kidney"', WORDS)
    assert lines(theory, patient(1, 0, 0, 0, 5), labels=["reflux"])[2:-1] == [
        "reflux: not given",
        '    because        no rule for it holds; the closest needs "kidney"',
        "    would come if  kidney were present",
    ]
    assert "reflux" in explain(theory, patient(1, 0, 0, 0, 5), labels=["reflux"]).sentences()


def test_sentences_tell_of_absent_labels_in_short():
    theory = parse('asthma <- "cough"\nreflux <- "kidney"', WORDS)
    found = explain(theory, patient(1, 0, 0, 0, 5))
    assert found.sentences() == (
        "Row 0 gets asthma.\n\n"
        "asthma is predicted present by rule 1, because cough is present. asthma would be absent "
        "if cough were absent.\n\n"
        '2 labels are absent: no rule for them holds. Closest is reflux: needs "kidney".'
    )
    assert found.sentences(details=True).count("is predicted absent") == 2


def test_changes_that_are_not_found_are_told():
    schema = Schema([Feature(f"f{j}") for j in range(12)], ["k"])
    body = ", ".join(f"f{j} > {i}" for j in range(12) for i in range(3))
    theory = parse(f"not k <- {body}\nk <- true", schema)
    found = lines(theory, patient(*[0.0] * 12, schema=schema), limit=20)
    assert "    would go if  at least 5 features changed; raise limit to search further" in found
    stays = lines(parse("k <- true", schema), patient(*[0.0] * 12, schema=schema))
    assert "    because  it is the default: no rule before decides the label" in stays
    assert "    stays    whatever the values of the features that may change" in stays


@pytest.mark.parametrize(
    ("width", "message"), [(0, "width must be a whole number"), ("x", "width")]
)
def test_a_wrong_width_is_named(width, message):
    with pytest.raises(ValueError, match=message):
        explain(parse("asthma <- true", WORDS), patient(1, 0, 0, 0, 5)).text(width=width)


CARD = """in any order:
relaxing +4, quiet +2 <- rolloff <= 0.1
quiet +2, angry -4 <- flux <= 0.09
angry +2 <- low > 0.4, low <= 0.9
relaxing -1, quiet -3, angry -1 <- true
"""
MUSIC = Schema(
    [Feature("rolloff"), Feature("flux"), Feature("low")], ["relaxing", "quiet", "angry"]
)


def music(*values):
    return patient(*values, schema=MUSIC)


def test_points_are_added_up():
    assert lines(parse(CARD, MUSIC), music(0.07, 0.05, 0.5))[2:] == [
        "relaxing: start (-1), rolloff 0.07 ≤ 0.1 (+4) = 3: given",
        "    would go if  rolloff were 0.2",
        "",
        "quiet: start (-3), rolloff 0.07 ≤ 0.1 (+2), flux 0.05 ≤ 0.09 (+2) = 1: given",
        "    would go if  rolloff were 0.2",
        "",
        "1 label is absent by its points (more than 0 are needed):",
        "    angry  -3: start (-1), flux 0.05 ≤ 0.09 (-4), low 0.5 > 0.4 and low 0.5 ≤ 0.9 (+2)",
        "explanation.text(details=True): every label, training rows, later rules",
    ]


def test_a_label_without_points_in_this_row_is_not_said_to_have_no_rule():
    card = "in any order:\nrelaxing +3, angry +1 <- true\nquiet +2 <- rolloff <= 0.1\n"
    theory = parse(card + "usual label sets:\n{relaxing} +2", MUSIC)
    assert explain(theory, music(0.3, 0.1, 0.3)).text().splitlines()[-4:-1] == [
        "2 labels are absent by their points (more than 0 are needed):",
        "    angry  1, but not in the usual set: start (+1)",
        "    quiet  0: no condition gives it points",
    ]


def test_a_usual_label_set_says_so():
    theory = parse(CARD + "usual label sets:\n{relaxing, quiet} +2\n{} +1", MUSIC)
    found = explain(theory, music(0.07, 0.1, 0.3))
    assert found.text().splitlines()[1] == (
        "The row gets the usual set {relaxing, quiet}: 3 - 1 + bonus 2 = 4, more than the 3 of "
        "{relaxing}."
    )
    quiet = found["quiet"]
    assert (quiet.decided, quiet.points, quiet.choice.own_labels) == (
        "label set",
        -1,
        ("relaxing",),
    )
    assert str(quiet).splitlines()[1] == (
        "  start (-3), rolloff 0.07 <= 0.1 (+2) = -1: given with the usual set; the row gets the "
        "usual set {relaxing, quiet}: 3 - 1 + bonus 2 = 4, more than the 3 of {relaxing}"
    )
    assert found["angry"].decided == "label set"
    # The points of the row as they are: 3, 1 and -5, which is the usual set anyway.
    same = explain(theory, music(0.07, 0.05, 0.3))
    assert {one.decided for one in same} == {"vote"}
    assert same["quiet"].choice.kind == "points"


def test_a_usual_set_may_take_a_label_away():
    theory = parse(CARD + "usual label sets:\n{} +3", MUSIC)
    found = explain(theory, music(0.07, 0.1, 0.3))
    assert found.present == ()
    shown = found.text().splitlines()
    assert shown[1] == "The row gets the usual set {}: bonus 3 = 3, as many as the 3 of {relaxing}."
    assert "    relaxing  3, but not in the usual set: start (-1), rolloff 0.07 ≤ 0.1 (+4)" in shown


def test_the_label_with_the_most_points_says_so():
    theory = parse(CARD + "if no label was found: the label with the most points", MUSIC)
    found = explain(theory, music(0.5, 0.5, 0))
    assert found.present == ("relaxing",)
    assert {one.decided for one in found if not one.predicted} == {"vote"}
    assert found.text().splitlines()[2] == (
        "relaxing: start (-1) = -1: given: no label has more than 0 points, and this has the most"
    )


def test_many_points_are_summed_up_where_room_is_short():
    schema = Schema([Feature(f"feature_{j}") for j in range(20)], [f"l{i}" for i in range(8)])
    heads = ", ".join(f"l{i} +1" for i in range(8))
    rules = "\n".join(f"{heads} <- feature_{j} > 0" for j in range(20))
    theory = parse(f"in any order:\n{rules}", schema)
    found = lines(theory, patient(*[1.0] * 20, schema=schema), width=80)
    assert len(found) <= SCREEN
    assert found[2] == "l0: f_0 1 > 0 (+1), 19 others (+19) = 20: given;"
    assert found[3].startswith("    would go if f_0 were")
    assert found[-2] == "f_ = feature_"


SOUND = Schema(
    [Feature(f"Mean_Acc1298_Mean_Mem40_{name}") for name in ("Flux", "Rolloff", "MFCC_0", "MFCC_1")]
    + [Feature("BPM")],
    ["calm, quiet", "sad"],
)


def test_long_names_are_abbreviated_as_in_the_view():
    start = "Mean_Acc1298_Mean_Mem40_"
    body = ", ".join(f"{start}{name} > 0.5" for name in ("Flux", "Rolloff", "MFCC_0"))
    theory = parse(f"'calm, quiet' <- {body}, BPM <= 0.123456\nsad <- {start}MFCC_1 > 2", SOUND)
    assert lines(theory, patient(1, 1, 1, 1, 0.1, schema=SOUND), width=71) == [
        "Row 0: M_Flux = 1, M_Rolloff = 1, M_MFCC_0 = 1, M_MFCC_1 = 1, BPM = 0.1",
        "",
        "'calm, quiet'",
        "    because      M_Flux 1 > 0.5, M_Rolloff 1 > 0.5, M_MFCC_0 1 > 0.5,",
        "                 BPM 0.1 ≤ 0.1235",
        "    would go if  M_Flux were 0.5",
        "",
        "1 label is absent: no rule for it holds. Closest:",
        "    sad  needs M_MFCC_1 > 2 (is 1)",
        "M_ = Mean_Acc1298_Mean_Mem40_, thresholds rounded to 4 digits",
        "explanation.text(details=True): every label, training rows, later rules",
    ]
    only = lines(theory, patient(0, 0, 0, 0, 0, schema=SOUND), labels=["sad"])
    assert only[-2] == f"M_ = {start}"  # no threshold that is shown is rounded
    whole = explain(theory, patient(1, 1, 1, 1, 0.1, schema=SOUND))
    assert f"{start}Flux 1 &gt; 0.5" in whole.html()
    assert "BPM 0.1 ≤ 0.123456" in whole.html()
    assert "M_Flux" not in whole.text(details=True) + whole.sentences() + whole.html()
    for one in explain(theory, patient(1, 1, 1, 1, 0.1, schema=SOUND)):
        assert one.label in SOUND.labels  # the values keep their names


@pytest.mark.parametrize(
    ("threshold", "value", "shown"),
    [
        (0.123961, 0.123975, "x 0.124 > 0.123961"),  # 0.124 > 0.124 would be wrong
        (0.123941, 0.123975, "x 0.124 > 0.1239"),
        (0.123961, 0.5, "x 0.5 > 0.124"),
    ],
)
def test_a_rounded_threshold_is_on_the_right_side(threshold, value, shown):
    theory = parse(f"a <- x > {threshold}", Schema([Feature("x"), Feature("y")], ["a"]))
    row = patient(value, 0, schema=theory.schema)
    assert f"    because      {shown}" in lines(theory, row)


@given(st.floats(-9, 9), st.floats(-9, 9), st.sampled_from(["<=", ">"]))
def test_comparisons_that_are_shown_are_true(threshold, value, operator):
    theory = parse(f"a <- x {operator} {threshold!r}", Schema([Feature("x")], ["a"]))
    shown = "\n".join(lines(theory, patient(value, schema=theory.schema)))
    compared = re.search(r"because +x (\S+) (≤|>) (\S+)", shown)
    if compared is not None:
        left, sign, right = compared.groups()
        assert (float(left) <= float(right)) == (sign == "≤")
    else:
        sign, right, left = re.search(r"needs x (≤|>) (\S+) \(is (\S+)\)", shown).groups()
        assert (float(left) <= float(right)) != (sign == "≤")


def test_lines_end_between_conditions():
    schema = Schema([Feature(f"f{j}, or; so") for j in range(30)], [f"l{i}" for i in range(3)])
    body = ", ".join(f'"f{j}, or; so" > 0.125' for j in range(30))
    card = "\n".join(f'l1 -1, l2 +1 <- "f{j}, or; so" > 0.125' for j in range(30))
    for text in (f"l0 <- {body}", f"in any order:\n{card}"):
        shown = lines(parse(text, schema), patient(*[0.5] * 30, schema=schema), width=90)
        for line in shown:
            assert line.count('"') % 2 == 0  # no name is broken
            assert not re.search(r"(>|0\.5)$", line)
    (cut,) = [line for line in shown if line.startswith("    l1")]
    assert cut == '    l1  -30: "f0, or; so" 0.5 > 0.125 (-1), "f1, or; so" 0.5 > 0.125 (-1), …'


def test_words_that_look_like_numbers_have_quotes():
    schema = Schema([Feature("2000", ("0", "1")), Feature("cough", ("0", "1"))], ["a", "b"])
    theory = parse('a <- "2000"\nb <- "cough"', schema)
    shown = lines(theory, patient(1, 1, schema=schema))
    assert '    would go if  "2000" were absent' in shown
    assert "    would go if  cough were absent" in shown


@st.composite
def explained(draw, kind):
    data = draw(datasets(min_rows=1, max_rows=3))
    return draw(kind(data.schema, st.integers(-2, 2).map(float))), data


@settings(max_examples=60)
@given(explained(scorecards))
def test_scorecards_are_explained_as_they_predict(case):
    theory, data = case
    predicted, margin = theory.predict(data), theory.margin(data)
    for found in explain(theory, data, range(len(data)), counterfactuals=False):
        np.testing.assert_array_equal(found.board, predicted[found.row])
        for label, one in enumerate(found):
            assert (
                one.points
                == sum(term.points for term in Writer().terms(one))
                == margin[found.row, label]
            )
            if one.choice is not None:
                given_names = {data.schema.labels[j] for j in np.flatnonzero(predicted[found.row])}
                assert set(one.choice.labels) == given_names
                assert one.choice.kind == "label set" or one.choice.own_labels == one.choice.labels
                assert one.choice.total >= one.choice.own_total
            if one.decided == "vote" and theory.decides_rows:
                assert one.predicted == (one.points > 0)
        assert_complete(found)


@settings(max_examples=60)
@given(explained(decision_lists) | explained(layered_theories))
def test_absence_is_never_blamed_on_others(case):
    """If no rule for a label holds, the overview says that, and otherwise it does not."""
    theory, data = case
    for found in explain(theory, data, range(len(data)), counterfactuals=False):
        for one in found:
            if not one.predicted and one.closest is not None and not one.closest.failing:
                assert is_denied(one)
        assert_complete(found)


def assert_complete(found):
    """Every label is shown or counted, and no line is too long unless a word is."""
    shown = found.text(width=80)
    assert sum(int(title.split()[0]) for title, _ in Writer().absent_groups(found, 3)) == sum(
        not one.predicted for one in found
    )
    assert shown.startswith(f"Row {found.row}")
    assert found.html().count("<section>") == len(found.present)


SETS = ("medical", "flags", "yeast")


def learned(name, data):
    """A default list, and one with a section for rows without a label."""
    theory = SeparateAndConquer().fit(data).theory_
    yield theory
    rules = [rule for rule in theory if len(rule.body) and not rule.head.is_complete]
    fallback = BinaryRelevance(Ripper()).fit(data).theory_
    bare = [rule for rule in fallback if rule.head.values == (1,) and not rule.body.on_labels][:9]
    parts = [DecisionList(data.schema, rules)], DecisionList(data.schema, bare)
    yield LayeredTheory(data.schema, parts[0], fallback=parts[1]).with_evidence(data, data.Y)
    common = [LabelSet(tuple(np.flatnonzero(row).tolist()), 2) for row in np.unique(data.Y, axis=0)]
    yield RuleSet(data.schema, [*points(rules), *points(bare)], common[:12], at_least_one=True)
    yield Scorecard().fit(data).theory_


def points(rules):
    """Each condition of the rules alone, with two points for the labels of the rule."""
    for rule in rules:
        for condition in rule.body.on_features:
            yield Rule(rule.head, Body([condition]), votes=(2,) * len(rule.head))


@pytest.mark.parametrize("name", SETS)
def test_rows_of_real_data_fit_on_a_screen(name, data_folder):
    train, test = load(name, data_folder, part="train"), load(name, data_folder, part="test")
    rows = {*range(40), *range(0, len(test), len(test) // 15)}
    for theory in learned(name, train):
        for found in explain(theory, test, rows, training=train, counterfactuals=False):
            for width in (80, 100):
                shown = found.text(width=width).splitlines()
                assert len(shown) <= SCREEN, (name, found.row)
                assert max(map(len, shown)) <= width
            for label in found.present:
                assert label in found.text(width=80)


@pytest.mark.parametrize("name", SETS)
def test_rows_with_changes_fit_on_a_screen(name, data_folder):
    train, test = load(name, data_folder, part="train"), load(name, data_folder, part="test")
    for theory in learned(name, train):
        found = explain(theory, test, (0, 17), training=train, counterfactuals="given")
        for one in found:
            assert len(one.text(width=80).splitlines()) <= SCREEN
            for label in one:
                assert (label.counterfactual is not None) == bool(label.predicted)
