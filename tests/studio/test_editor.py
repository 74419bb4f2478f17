"""Edits: numbers, identities, marks, thin wrappers, and what is refused in words."""

import re

import numpy as np
import pytest

from edit_cases import clinic, clinic_editor, numbered_texts
from labelrules import (
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    Ripper,
    RuleSet,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
    edit,
    from_json,
    load,
    parse,
    parse_rule,
    to_json,
)
from labelrules.inspection import Place
from labelrules.rules import RuleSyntaxError, theory_html, theory_markdown
from labelrules.rules.theory import closed
from labelrules.rules.views.frame import placed_rules

READERS = load("magazines")
LIST = parse(
    "quality <- sex = Female, children = No\nnot fashion <- sex = Male\nsports <- quality\n"
    "otherwise: fashion",
    READERS.schema,
)
LAYERS = parse(
    """
layer 1:
quality <- education = University
sports <- marital = Divorced
layer 2:
quality <- sports
in any order:
""".replace("in any order:\n", "")
    + "if no label was found:\ntabloid <- sex = Male\n",
    READERS.schema,
)
CARD = parse("in any order:\nsports +3 <- marital = Divorced\nsports -2 <- true", READERS.schema)


def rows_as_text():
    features = READERS.schema.features
    rows = [[features[j].text(v) for j, v in enumerate(row)] for row in READERS.X]
    return np.array(rows, dtype=object)


def editor(theory=LIST):
    return edit(theory, READERS)


def test_the_rules_are_numbered_as_people_see_them():
    first = editor()
    assert [one.number for one in first.rules] == [1, 2, 3, 4]
    assert first.rules[0].text == "quality <- sex = Female, children = No"
    assert first.theory == LIST
    assert all(one.rule.is_counted for one in first.rules)
    assert all(one.changed is None for one in first.rules)


def test_an_edit_makes_another_editor_and_leaves_this_one():
    first = editor()
    second = first.replace(1, "tabloid <- sex = Male")
    assert first.theory == LIST
    assert second.rules[0].text == "tabloid <- sex = Male"
    assert (second.rules[0].id, second.rules[0].changed) == (1, 1)
    assert second.rules[1].changed is None


def test_identities_stay_when_rules_move():
    moved = editor().move(3, to=1)
    assert [one.id for one in moved.rules] == [3, 1, 2, 4]
    assert [one.number for one in moved.rules] == [1, 2, 3, 4]
    assert moved.move(1, to=3).theory == LIST


def test_added_rules_come_before_those_that_always_hold():
    added = editor().add("tabloid <- sex = Male")
    assert [one.id for one in added.rules] == [1, 2, 3, 5, 4]
    assert editor().add("tabloid <- sex = Male", at=1).rules[0].id == 5
    assert editor().add("tabloid <- sex = Male", at=5).rules[4].id == 5


def test_removed_rules_are_gone_and_numbers_close_up():
    rest = editor().remove(2)
    assert [one.id for one in rest.rules] == [1, 3, 4]
    assert rest.add("tabloid <- sex = Male").rules[2].id == 5


def test_disabled_rules_keep_their_numbers_and_do_nothing():
    without = editor().disable(2)
    assert [one.disabled for one in without.rules] == [False, True, False, False]
    assert without.rules[1].place is None
    assert without.rules[2].place.number == 1
    assert without.theory == LIST.with_rules([LIST[0], LIST[2], LIST[3]])
    assert without.enable(2).theory == LIST


def test_locked_rules_stay_as_they_are():
    locked = editor().lock(2)
    for act in (
        lambda e: e.replace(2, "tabloid <- sex = Male"),
        lambda e: e.remove(2),
        lambda e: e.move(2, to=1),
        lambda e: e.disable(2),
    ):
        with pytest.raises(ValueError, match="rule 2 is locked: unlock it before you"):
            act(locked)
    assert locked.remove(1).rules[0].locked
    assert locked.note(2, "agreed").rules[1].note == "agreed"
    assert locked.unlock(2).remove(2).theory == LIST.with_rules([LIST[0], LIST[2], LIST[3]])


def test_notes_stay_with_their_rules():
    noted = editor().note(1, "  agreed in May ")
    assert noted.rules[0].note == "agreed in May"
    assert noted.theory[0].note == "agreed in May"
    assert noted.replace(1, "sports <- sex = Male").rules[0].note == "agreed in May"
    assert noted.replace(1, "sports <- sex = Male  # note: new").rules[0].note == "new"
    assert noted.note(1, None).rules[0].note is None
    assert noted.note(1, "").rules[0].note is None


def test_thin_wrappers_change_one_part_of_a_rule():
    first = clinic_editor().replace(1, 'flu <- "aches", temperature > 38.4, admission > 2024-10-15')
    assert (
        first.set_threshold(1, condition=2, value=39)
        .rules[0]
        .text.startswith('flu <- "aches", temperature > 39, ')
    )
    later = first.set_threshold(1, condition=3, value="2024-12-01")
    assert later.rules[0].text.endswith("admission > 2024-12-01")
    assert first.drop_condition(1, condition=1).rules[0].text.startswith("flu <- temperature")
    more = first.add_condition(1, "not pneumonia, smoker > former")
    assert more.rules[0].text.endswith("admission > 2024-10-15, not pneumonia, smoker > former")
    ordered = more.set_threshold(1, condition=5, value="never")
    assert ordered.rules[0].text.endswith("smoker > never")
    two = first.toggle_label(1, "infection")
    assert two.rules[0].text.startswith("flu, infection <-")
    assert two.toggle_label(1, "infection").rules[0].text.startswith("flu, not infection <-")
    assert two.toggle_label(1, "infection").toggle_label(1, "infection").theory == first.theory
    assert two.set_label(1, "flu", None).rules[0].text.startswith("infection <-")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda e: e.replace(0, "quality <- true"), "there is no rule 0: the rules have the numbe"),
        (lambda e: e.replace(5, "quality <- true"), "there is no rule 5: .* 1 to 4"),
        (lambda e: e.remove("1"), "the number of a rule must be a whole number, not '1'"),
        (lambda e: e.add("quality <- true", at=7), "from 1 to 5, not 7"),
        (lambda e: e.add("quality <- true", layer=3), "layer must be a number from 1 to 2"),
        (lambda e: e.add("quality <- sports", layer=2), "it can test no labels"),
        (lambda e: e.replace(1, "quality +3 <- true"), "rule 1 has points, but in a list the fi"),
        (lambda e: e.lock(1).lock(1), "rule 1 is locked already"),
        (lambda e: e.unlock(1), "rule 1 is not locked already"),
        (lambda e: e.disable(1).disable(1), "rule 1 is disabled already"),
        (lambda e: e.enable(1), "rule 1 is not disabled already"),
        (lambda e: e.set_threshold(1, condition=1, value=3), "condition 1, sex = Female, has no"),
        (lambda e: e.set_threshold(1, condition=3, value=3), "condition must be a whole number"),
        (lambda e: e.set_threshold(4, condition=1, value=3), "the rule has no condition"),
        (lambda e: e.add_condition(1, "sex = Female"), "the condition sex = Female is there alrea"),
        (lambda e: e.set_label(1, "qality", True), "there is no label 'qality'; did you mean"),
        (lambda e: e.toggle_label(1, "sport"), "there is no label 'sport'; did you mean"),
        (lambda e: e.set_label(1, "quality", None), "'quality' is the only label of the head"),
        (lambda e: e.undo(), "there is nothing to undo"),
        (lambda e: e.redo(), "there is nothing to redo"),
        (lambda e: e.switch("mian"), "there is no branch 'mian'; did you mean 'main'"),
        (lambda e: e.branch("main"), "there is a branch 'main' already"),
        (lambda e: e.branch(" "), "a branch needs a name"),
        (lambda e: e.commit(""), "give a reason"),
        (lambda e: e.commit("a", name="x").commit("b", name="x"), "there is a version 'x' already"),
        (lambda e: e.go_to(3), "there is no step 3: the last is 0"),
        (lambda e: e.go_to("version 1"), "there is no version 'version 1'"),
        (lambda e: e.preview("commit"), "no version was named on the way here"),
        (lambda e: e.preview(where=[1, 0]), "where must be conditions"),
        (lambda e: e.open_test("why"), "there is no test part"),
        (lambda e: e.relearn(after=9), "after must be a whole number from 0 to 4"),
        (lambda e: e.relearn(labels="quality"), r"labels must be a list of labels, such as \['qu"),
        (lambda e: e.relearn(labels=["qality"]), "there is no label 'qality'; did you mean"),
        (lambda e: e.relearn(labels=[]), "labels must be a list"),
        (lambda e: e.relearn(1, labels=["sports"]), "give either after or labels"),
        (lambda e: e.relearn(learner=BinaryRelevance()), "learner must be a learner that"),
        (lambda e: e.relearn(learner=SeparateAndConquer(order="prepend", pruning=None)), "use o"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_in_words(act, message):
    first = editor()
    with pytest.raises(ValueError, match=message):
        act(first)
    assert first.theory == LIST


def test_errors_of_rules_name_the_place():
    with pytest.raises(RuleSyntaxError, match="line 1, column 12: there is no feature or label"):
        editor().replace(1, "quality <- eduction = University")
    with pytest.raises(RuleSyntaxError, match="line 1, column 15: there is no feature or label"):
        editor().add_condition(1, "sex = Male,   eduction = University")
    with pytest.raises(RuleSyntaxError, match="column 12"):
        editor().preview(where="sex = Male eduction")


def test_a_rule_may_be_given_as_a_value():
    rule = parse_rule("tabloid <- sex = Male", READERS.schema)
    assert editor().replace(1, rule).theory == editor().replace(1, "tabloid <- sex = Male").theory
    with pytest.raises(TypeError, match="a rule is a Rule or its text"):
        editor().replace(1, 3)


def test_layers_are_numbered_through_and_keep_their_rules():
    layers = editor(LAYERS)
    assert [(one.number, one.layer, one.for_no_label) for one in layers.rules] == [
        (1, 1, False), (2, 1, False), (3, 2, False), (4, None, True),
    ]  # fmt: skip
    assert [one.place for one in layers.rules] == [
        Place(0, 0), Place(1, 0), Place(0, 1), Place(0, is_fallback=True),
    ]  # fmt: skip
    assert [str(one.place) for one in layers.rules] == [f"rule {n}" for n in range(1, 5)]
    assert layers.rules[3].text == "tabloid <- sex = Male"
    added = layers.add("fashion <- quality", at=3, layer=1)
    assert [one.layer for one in added.rules] == [1, 1, 1, 2, None]
    assert added.rules[2].text == "fashion <- quality"
    assert layers.add("fashion <- quality").rules[3].layer == 2
    assert layers.add("sports <- sex = Male", layer=3).rules[4].for_no_label
    with pytest.raises(ValueError, match="rule 1 is in layer 1, rule 3 in layer 2"):
        layers.move(1, to=3)
    with pytest.raises(ValueError, match="a rule of layer 2 has a number from 3 to 4, not 1"):
        layers.add("fashion <- quality", at=1, layer=2)
    with pytest.raises(ValueError, match="only a decision list can be learned further, not sever"):
        layers.relearn()
    assert layers.remove(4).theory.fallback is None
    assert layers.remove(4).undo().theory == LAYERS


def test_rules_that_vote_can_be_edited():
    card = editor(CARD)
    changed = card.replace(1, "sports +1, fashion -2 <- sex = Male").add("quality +1 <- true")
    expected = (
        "in any order:\nsports +1, fashion -2 <- sex = Male\nsports -2 <- true\nquality +1 <- true"
    )
    assert changed.theory == parse(expected, READERS.schema)
    assert isinstance(changed.disable(1).theory, RuleSet)
    assert changed.preview(since=card).training.n_cells > 0
    with pytest.raises(ValueError, match="rule 1 has a stop mark"):
        card.replace(1, "sports, * <- sex = Male")
    with pytest.raises(ValueError, match="not rules that vote"):
        card.relearn()


FITTED = [
    SeparateAndConquer(),
    SeparateAndConquer(heads="multi", measure="precision", polarity="both", stop_share=0.01),
    BinaryRelevance(Ripper()),
    BinaryRelevance(SeparateAndConquer(), last_resort=0.2),
    ClassifierChain(),
    StackedBinaryRelevance(),
    LabelPowerset(),
    Scorecard(),
]


@pytest.mark.parametrize("learner", FITTED, ids=repr)
def test_the_model_predicts_as_the_edited_theory_does(learner):
    train, validation, _ = clinic()
    train = train.take((train.Y >= 0).all(axis=1))
    model = learner.fit(train)
    first = edit(model, train)
    assert to_json(first.model) == to_json(model)
    changed = first.remove(1).replace(1, 'hypertension <- "cough"' if first.theory.ordered else
                                      'hypertension +3 <- "cough"')  # fmt: skip
    edited = changed.model
    assert type(edited) is type(model)
    assert to_json(edited) != to_json(model)
    expected = closed(changed.theory.apply(validation))
    assert np.array_equal(edited.predict(validation), expected)
    again = from_json(to_json(edited))
    assert np.array_equal(again.predict_proba(validation), edited.predict_proba(validation))
    assert model.theory_ == first.theory


def test_probabilities_come_from_the_edited_rules():
    train, _, _ = clinic()
    changed = clinic_editor().replace(1, 'hypertension <- "cough"')
    label = train.schema.label_index["hypertension"]
    truth = train.Y[(train.column("cough") == 1) & (train.Y[:, label] >= 0), label]
    (evidence,) = changed.rules[0].rule.evidence
    assert evidence == (int(truth.sum()), int((1 - truth).sum()))


def test_models_that_are_more_than_their_rules_are_refused():
    with pytest.raises(TypeError, match="chains that vote are no single theory"):
        edit(ClassifierChain(n_chains=2).fit(READERS), READERS)
    with pytest.raises(TypeError, match="a theory must be a DecisionList"):
        edit("quality <- true", READERS)
    with pytest.raises(ValueError, match="data must be a Dataset, or X and Y, not a list"):
        edit(LIST, [[1, 2]])
    with pytest.raises(ValueError, match="validation has 3 rows, but its labels 2"):
        edit(LIST, READERS, validation=(rows_as_text()[:3], READERS.Y[:2]))
    with pytest.raises(ValueError, match="the data part has no rows"):
        edit(LIST, READERS.take([]))


def test_data_may_be_tables():
    values = rows_as_text()
    tabular = edit(LIST, values, READERS.Y, validation=(values[:5], READERS.Y[:5]))
    assert tabular.measures["training"] == editor().measures["training"]
    assert len(tabular.validation) == 5


def test_classes_are_labels():
    classes = np.where(READERS.Y[:, 0] == 1, "yes", "no")
    model = Ripper().fit(READERS.X, classes)
    first = edit(model, READERS.X, classes)
    assert to_json(first.model) == to_json(model)
    assert set(first.remove(1).model.predict(READERS.X)) <= {"yes", "no"}


def test_every_rule_may_go():
    empty = editor().remove(1).remove(1).remove(1).remove(1)
    assert empty.rules == ()
    assert len(empty.theory) == 0
    with pytest.raises(ValueError, match="there is no rule left; add one first"):
        empty.remove(1)
    assert numbered_texts(empty.add("quality <- true")) == ["otherwise: quality"]


def test_printing():
    shown = str(editor().lock(1).disable(2).note(3, "why"))
    assert re.sub(" +", " ", shown).replace("\n ", "\n").strip().splitlines() == [
        "1 quality <- sex = Female, children = No # locked",
        "2 not fashion <- sex = Male # disabled",
        "3 sports <- quality # note: why",
        "4 otherwise: fashion",
    ]
    assert repr(editor().lock(1)) == "<Editor: 4 rules, 1 step on 'main'>"


def test_texts_of_an_edited_theory_have_the_numbers_of_the_list():
    """Findings, frames, Markdown and pages of `Editor.theory` call a rule alike."""
    rules = parse("fashion <- sex = Female\nquality <- true\nsports <- fashion", READERS.schema)
    theory = edit(rules, READERS).disable(2).theory
    assert theory_markdown(theory).splitlines()[1].startswith("3. **sports**")
    assert [where["number"] for where, _, _ in placed_rules(theory)] == [1, 3]
    assert '<li value="3">' in theory_html(theory)
    assert "<li value" not in theory_html(theory.numbered(None))


def test_the_rules_of_another_editor_are_counted_from_1():
    first = editor().disable(1)
    assert first.theory.numbers == (2, 3, 4)
    again = editor(first.theory)
    assert [one.number for one in again.rules] == [1, 2, 3]
    assert again.theory.numbers in (None, (1, 2, 3))
    assert again.rules[0].text == first.rules[1].text


def test_a_threshold_may_be_given_as_the_text_of_a_number():
    first = clinic_editor()
    changed = first.set_threshold(2, condition=1, value=" 150 ")
    assert numbered_texts(changed) == numbered_texts(first.set_threshold(2, condition=1, value=150))
    with pytest.raises(ValueError, match="must be a number, not '1_5'"):
        first.set_threshold(2, condition=1, value="1_5")
