"""Rules that are learned again: what stays, what is new, and what the learner is told."""

import os
import signal
import threading
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_cases import clinic, clinic_editor, clinic_model, numbered_texts
from labelrules import (
    UNSET,
    DecisionList,
    Ripper,
    Schema,
    SeparateAndConquer,
    edit,
    parse,
    to_json,
)
from labelrules.constraints import find_constraints
from labelrules.studio import Knowledge, LearningCancelledError
from labelrules.studio.knowledge import clauses_of, guarded
from tables import tables
from theories import decision_lists

PLAIN = SeparateAndConquer(max_rules=12, last_resort=None)


def test_rules_up_to_the_edited_one_stay_and_the_rest_is_learned_anew():
    editor = clinic_editor().replace(2, 'flu <- "aches"')
    again = editor.relearn(after=2)
    assert again.rules[:2] == editor.rules[:2]
    expected = PLAIN.fit(clinic()[0], theory=editor.theory[:2]).theory_
    assert again.theory == expected
    assert again.undo().theory == editor.theory


def test_learning_everything_again_gives_the_same_rules_with_their_identities():
    editor = clinic_editor().remove(5).relearn()
    assert editor.theory == clinic_model().theory_
    ids = [one.id for one in editor.rules]
    assert ids == [1, 2, 3, 4, 13, 6, 7, 8, 9, 10, 11, 12]
    assert [one.number for one in editor.rules if one.changed is not None] == [5]


def test_locked_rules_further_down_stay_behind_those_before():
    editor = clinic_editor()
    locked = editor.lock(9).lock(11).disable(10).relearn(after=1)
    assert numbered_texts(locked)[:3] == [numbered_texts(editor)[n] for n in (0, 8, 10)]
    assert [one.locked for one in locked.rules[:4]] == [False, True, True, False]
    assert editor.rules[9].id not in [one.id for one in locked.rules if one.disabled]


def test_a_disabled_rule_before_the_place_stays_disabled():
    again = clinic_editor().disable(1).relearn(after=2)
    assert [one.disabled for one in again.rules[:3]] == [True, False, False]
    assert again.rules[1].id == 2
    assert clinic_editor().rules[0].text in numbered_texts(again)[2:]


def test_a_locked_default_stays_last():
    train = clinic()[0]
    theory = parse('flu <- "aches"\notherwise: not flu, not infection', train.schema)
    again = edit(theory, train).lock(2).relearn(after=1)
    assert again.rules[-1].text == "otherwise: not flu, not infection"
    assert len(again.rules) > 4
    with pytest.raises(ValueError, match="rule 1 holds for all rows and leaves nothing to learn"):
        edit(parse("flu, not others <- true", train.schema), train).relearn(after=1)


def test_rules_for_rows_without_a_label_are_learned_anew_unless_locked():
    readers = clinic()[0]
    model = SeparateAndConquer(max_conditions=2, last_resort=0.01, pruning=None, max_rules=None)
    theory = parse(
        'flu <- "aches", temperature > 38.4\nif no label was found:\nhypertension <- age > 50\n'
        "diabetes <- age > 40",
        readers.schema,
    )
    editor = edit(theory, readers)
    again = editor.lock(2).relearn(after=1, learner=model)
    last = [one for one in again.rules if one.for_no_label]
    assert last[0].id == 2
    assert last[0].locked
    assert again.theory.fallback is not None
    assert 3 not in [one.id for one in last]
    with pytest.raises(ValueError, match="rule 2 is for rows without a label"):
        editor.relearn(after=2)


def test_only_the_rules_of_some_labels_are_learned_anew():
    editor = clinic_editor().replace(3, "pneumonia, not flu <- crp > 60")
    names = editor.data.schema.label_index
    again = editor.relearn(labels=["pneumonia"])
    own = names["pneumonia"]
    assert any(one.changed for one in again.rules if one.rule.head.labels == (own,))
    others = [one.text for one in again.rules if one.rule.head.labels != (own,)]
    expected = [
        one.text.replace("pneumonia, not flu <-", "not flu <-")
        for one in editor.rules
        if one.rule.head.labels != (own,)
    ]
    assert others == expected
    # Where the first old rule was: rules that test the label come later.
    assert again.rules[2].rule.head.labels == (own,)
    changed = again.preview(since=editor).training.changed.any(axis=0)
    depends = {"pneumonia", "infection"}  # which is predicted from it
    assert {editor.data.schema.labels[j] for j in np.flatnonzero(changed)} <= depends


@settings(max_examples=25)
@given(st.data())
def test_rules_of_other_labels_stay_as_they_are(data):
    table = data.draw(tables(max_rows=8, min_labels=2, unknown=True))
    theory = data.draw(decision_lists(table.schema, st.floats(-3, 3), 5))
    theory = theory.with_rules(r for r in theory if not r.stops)
    locked = data.draw(st.sets(st.integers(1, len(theory)))) if len(theory) else set()
    editor = edit(theory, table)
    for number in locked:
        editor = editor.lock(number)
    if (table.Y[:, 0] == UNSET).all():
        return
    again = editor.relearn(labels=["y0"], learner=SeparateAndConquer(pruning=None))
    kept = [one for one in again.rules if one.id <= len(theory)]
    for old in editor.rules:
        found = [one for one in kept if one.id == old.id]
        rest = {j: v for j, v in old.rule.head if j != 0}
        if old.locked or not old.rule.body:
            assert found[0].rule == old.rule
        elif rest:
            assert dict(found[0].rule.head) == rest or found[0].rule == old.rule
            assert found[0].rule.body.conditions == old.rule.body.conditions
    assert [one.id for one in kept] == sorted(one.id for one in kept)
    assert all(one.rule.head.labels == (0,) for one in again.rules if one.id > len(theory))


def test_a_rule_that_ends_the_list_is_not_silently_lost():
    train = clinic()[0]
    theory = parse('flu, * <- "aches"\ninfection <- flu', train.schema)
    with pytest.raises(ValueError, match="rule 1 ends the list for the rows it covers"):
        edit(theory, train).relearn(labels=["flu"])


def features_of(editor, first):
    return {
        editor.data.schema.feature_names[c.column]
        for one in editor.rules[first:]
        for c in one.rule.body.on_features
    }


def test_forbidden_features_are_not_tested_by_new_rules():
    again = clinic_editor().relearn(after=1, knowledge=Knowledge(forbidden=("cough", "glucose")))
    assert not features_of(again, 1) & {"cough", "glucose"}
    pairs = Knowledge(forbidden=(("infection", "flu"),))
    again = clinic_editor().relearn(knowledge=pairs)
    labels = again.data.schema.label_index
    for one in again.rules:
        if labels["infection"] in one.rule.head.labels:
            assert labels["flu"] not in [c.column for c in one.rule.body.on_labels]


def test_preferred_features_explain_first_and_the_others_what_is_left():
    told = Knowledge(preferred=("temperature", "cough"))
    again = clinic_editor().relearn(knowledge=told)
    train = clinic()[0]
    others = [n for n in train.schema.feature_names if n not in told.preferred]
    narrow = PLAIN.set_params(forbidden=others, default_rule=False).fit(train).theory_
    PLAIN.set_params(forbidden=(), default_rule=None)
    assert len(narrow) > 1
    assert again.theory[: len(narrow)] == narrow
    assert features_of(again, len(narrow)) - set(told.preferred)


def test_sizes_are_limits_of_what_is_new():
    editor = clinic_editor()
    assert max(len(r.body) for r in editor.theory) > 2
    again = editor.relearn(after=1, knowledge=Knowledge(max_conditions=1, max_rules=5))
    assert len(again.rules) == 5
    assert all(len(one.rule.body) <= 1 for one in again.rules[1:])
    small = editor.lock(12).relearn(after=1, knowledge=Knowledge(max_literals=7))
    assert small.rules[0].id == 1
    assert small.rules[1].id == 12
    assert sum(one.rule.n_literals for one in small.rules[2:]) <= 7
    limited = SeparateAndConquer(max_literals=8)
    kept = editor.relearn(after=2, learner=limited)
    assert [one.id for one in kept.rules[:2]] == [1, 2]
    assert kept.theory.n_literals <= 8


def n_in_list(editor):
    return sum(not (one.for_no_label or one.disabled) for one in editor.rules)


@cache
def shorter_editor():
    """Some of the rules, of which one is disabled, and one for all rows is locked."""
    editor = clinic_editor()
    for number in (12, 11, 10, 9, 8, 7, 4, 1):
        editor = editor.remove(number)
    return editor.add('hay_fever <- "itching"').disable(5).add("not diabetes <- true").lock(6)


CONSTRAINTS = ("infection <- flu", "infection <- pneumonia", "not flu <- pneumonia")


@pytest.mark.parametrize("max_rules", range(9))
@pytest.mark.parametrize("constraints", [(), CONSTRAINTS])
@pytest.mark.parametrize("default_rule", [None, True])
@pytest.mark.parametrize(
    ("where", "kept"),
    [({}, [6]), ({"after": 2}, [1, 2, 6]), ({"labels": ["flu", "infection"]}, [1, 2, 5, 6])],
)
def test_no_list_is_longer_than_max_rules(where, kept, default_rule, constraints, max_rules):
    """Guards and a default rule came on top, and so did kept rules that follow the new ones."""
    editor, told = shorter_editor(), Knowledge(max_rules=max_rules, constraints=constraints)
    n_kept = sum(not one.disabled for one in editor.rules if one.number in kept)
    learner = SeparateAndConquer(default_rule=default_rule, max_conditions=2)
    needed = n_kept + len(constraints)  # a guard for each of them is enough here
    again, refusal = relearned(editor, **where, knowledge=told, learner=learner)
    if max_rules < n_kept:
        assert refusal == f"max_rules={max_rules} is less than the {n_kept} rules that are kept"
    elif again is None:
        assert max_rules < needed
        assert refusal.endswith("than the rules that are kept, and those that keep the constraints")
    else:
        assert n_in_list(again) <= max_rules
        assert max_rules <= needed or len(again.rules) > len(kept)


def relearned(editor, **options):
    """The editor with rules learned again, and nothing; or None, and why not."""
    try:
        return editor.relearn(**options), ""
    except ValueError as wrong:
        return None, str(wrong)


def holds(texts, schema, labels):
    """Whether each row of labels satisfies constraints, read as implications."""
    found = np.ones(len(labels), dtype=bool)
    for rule in parse("\n".join(texts), schema):
        body = np.ones(len(labels), dtype=bool)
        for condition in rule.body:
            body &= labels[:, condition.column] == 1
        for label, value in rule.head:
            found &= ~body | (labels[:, label] == value)
    return found


CLINIC_CONSTRAINTS = (
    "infection <- flu", "infection <- pneumonia", "not flu <- pneumonia",
    "not bronchitis <- infection",
)  # fmt: skip


def test_no_prediction_of_new_rules_breaks_a_constraint():
    again = clinic_editor().relearn(knowledge=Knowledge(constraints=CLINIC_CONSTRAINTS))
    for part in clinic():
        assert holds(CLINIC_CONSTRAINTS, part.schema, again.theory.predict(part)).all()
    plain = clinic_editor().relearn()
    assert not holds(
        CLINIC_CONSTRAINTS, clinic()[0].schema, plain.theory.predict(clinic()[0])
    ).all()


@st.composite
def constraint_lines(draw, n_labels):
    labels = st.integers(0, n_labels - 1)
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        head, *body = draw(st.lists(labels, min_size=2, max_size=3, unique=True))
        sign = draw(st.sampled_from(["", "not "]))
        lines.append(f"{sign}y{head} <- {', '.join(f'y{j}' for j in body)}")
    return lines


@given(st.data())
def test_guarded_rules_satisfy_all_constraints_on_every_row(data):
    n_labels = data.draw(st.integers(2, 4))
    table = data.draw(tables(min_labels=n_labels, max_labels=n_labels, max_rows=8))
    theory = data.draw(decision_lists(table.schema, st.floats(-3, 3), 5))
    plain = [rule for rule in theory if not rule.stops]
    texts = data.draw(constraint_lines(n_labels))
    rules = guarded(DecisionList(table.schema), plain, texts, table.schema)
    predicted = DecisionList(table.schema, rules).predict(table)
    assert holds(texts, table.schema, predicted).all()
    if holds(texts, table.schema, DecisionList(table.schema, plain).predict(table)).all():
        return
    assert any(rule.note for rule in rules)


def test_what_follows_from_constraints_is_found():
    schema = Schema([], ["a", "b", "c"])
    found = clauses_of(["b <- a", "not b <- c", "c <- a"], schema)
    assert found == [frozenset({(0, 0)}), frozenset({(1, 0), (2, 0)})]  # a is impossible
    assert clauses_of(["a <- a, b"], schema) == []


def test_discovered_constraints_may_be_given_as_they_are():
    editor = clinic_editor()
    known = editor.data.take((editor.data.Y >= 0).all(axis=1))
    found = find_constraints(known, min_support=10)
    subset = [one for one in found if one.kind == "subset"]
    assert subset
    again = editor.relearn(knowledge=Knowledge(constraints=tuple(subset)))
    told = again.steps[-1].step.knowledge
    assert told.constraints == tuple(one.text for one in subset)
    predicted = again.theory.predict(editor.data)
    assert holds(told.constraints, editor.data.schema, predicted).all()


@pytest.mark.parametrize(
    ("knowledge", "message"),
    [
        ({"forbidden": ("aeg",)}, "there is no feature 'aeg'; did you mean 'age'"),
        ({"preferred": ("aeg",)}, "there is no feature 'aeg'; did you mean 'age'"),
        ({"forbidden": "age"}, r"forbidden must be a list, not one text: \('age',\)"),
        ({"constraints": ("flu <- age > 3",)}, "must test labels that are present, and nothing el"),
        ({"constraints": ("flu <- not infection",)}, "must test labels that are present"),
        ({"constraints": ("flu <- infecton",)}, "line 1, column 8: there is no feature or label"),
        ({"max_conditions": -1}, "max_conditions must be a whole number of at least 0"),
        ({"max_rules": 1}, "max_rules=1 is less than the 2 rules that are kept"),
    ],
)
def test_knowledge_that_cannot_be_heeded_is_refused(knowledge, message):
    with pytest.raises(ValueError, match=message):
        clinic_editor().relearn(after=2, knowledge=Knowledge(**knowledge))


def test_other_learners_go_on_from_rules_without_knowledge():
    train = clinic()[0]
    one = train.without([name for name in train.schema.labels if name != "flu"])
    one = one.take(one.Y[:, 0] >= 0)
    model = Ripper().fit(one)
    editor = edit(model, one).replace(1, 'flu <- "aches"')
    again = editor.relearn(after=1)
    assert again.theory == Ripper().fit(one, theory=editor.theory[:1]).theory_
    assert type(again.model) is Ripper
    assert again.steps[-1].step.learner.kind == "Ripper"
    with pytest.raises(ValueError, match="Ripper can only learn all labels again, without knowle"):
        editor.relearn(labels=["flu"])
    with pytest.raises(ValueError, match="use learner=SeparateAndConquer"):
        editor.relearn(knowledge=Knowledge(max_rules=3))
    assert len(editor.relearn(learner=SeparateAndConquer(), labels=["flu"]).rules) > 0


def test_the_listener_hears_of_each_rule_and_may_cancel():
    editor, reports = clinic_editor(), []
    again = editor.relearn(after=2, listener=reports.append)
    assert len(reports) == len(again.rules) - 2
    with pytest.raises(LearningCancelledError, match="learning was cancelled"):
        editor.relearn(after=2, listener=lambda report: report.n_rules < 4)

    def angry(report):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        editor.relearn(after=2, listener=angry)
    assert editor.rules == clinic_editor().rules
    assert editor.relearn(after=2).theory == again.theory


@pytest.mark.skipif(os.name == "nt", reason="signals of Ctrl-C cannot be sent to oneself there")
def test_ctrl_c_leaves_the_editor_as_it_was():
    editor = clinic_editor()

    def interrupt(report):
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        editor.relearn(listener=interrupt)
    assert editor.rules == clinic_editor().rules


def test_learning_in_a_thread_leaves_other_editors_alone():
    editor, found = clinic_editor(), []
    thread = threading.Thread(target=lambda: found.append(editor.relearn(after=2)))
    thread.start()
    other = editor.remove(1).preview()
    thread.join()
    assert found[0].theory == editor.relearn(after=2).theory
    assert other.training.n_cells > 0


def test_learning_with_a_time_limit_is_kept_as_its_result():
    learner = SeparateAndConquer(time_limit=60, max_rules=4, last_resort=None)
    again = clinic_editor().relearn(learner=learner)
    assert "learned='hypertension" in again.steps[-1].step.call()
    assert "learned" not in clinic_editor().relearn().steps[-1].step.call()
    with pytest.raises(ValueError, match="only a decision list can be learned further"):
        clinic_editor().relearn(learned="in any order:\nflu <- true")


def test_the_model_of_relearned_rules_can_be_stored():
    again = clinic_editor().relearn(after=3, learner=SeparateAndConquer())
    assert again.theory.predict(clinic()[1]).tolist() == again.model.predict(clinic()[1]).tolist()
    assert to_json(again.model)
