"""Scripts make the byte-identical model again."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edit_cases import NOTES, SMALL, clinic, clinic_editor, done, steps
from labelrules import (
    BinaryRelevance,
    Measure,
    Ripper,
    SeparateAndConquer,
    edit,
    to_json,
)
from labelrules.search import kln
from labelrules.studio import Knowledge
from layered_theories import layered_theories
from strategies import names
from tables import tables
from theories import decision_lists, scorecards


def replayed(editor):
    """The editor that the script makes in a fresh namespace."""
    namespace = {}
    exec(compile(editor.script(), "script", "exec"), namespace)
    return namespace["replay"](editor.data, editor.validation)


def check(editor):
    again = replayed(editor)
    assert to_json(again.model) == to_json(editor.model)
    assert [one.rule for one in again.rules] == [one.rule for one in editor.rules]
    assert [one.note for one in again.rules] == [one.note for one in editor.rules]


@st.composite
def renamed_tables(draw):
    """Tables whose features and labels have hard names."""
    table = draw(tables(max_rows=8, missing=False, unknown=True))
    old = [*table.schema.feature_names, *table.schema.labels]
    new = draw(st.lists(names(), min_size=len(old), max_size=len(old), unique=True))
    return table.rename(dict(zip(old, new, strict=True)))


LEARNERS = [
    SeparateAndConquer(),
    SeparateAndConquer(pruning=None, heads="multi", measure="precision", stop_share=0.1),
    SeparateAndConquer(pruning="irep", random_state=3, operators=("<=", ">", "=", "!=")),
    SeparateAndConquer(pruning=None, time_limit=60.0, last_resort=None),
]


def learning(schema):
    """Steps of learning again, with knowledge."""
    features = st.sets(st.sampled_from(schema.feature_names)) if schema.features else st.just(())
    sizes = st.none() | st.integers(0, 3)
    knowledge = st.builds(
        lambda f, p, c, n: Knowledge(
            forbidden=tuple(sorted(f)), preferred=tuple(sorted(p)), max_conditions=c, max_literals=n
        ),
        features, features, sizes, sizes,
    )  # fmt: skip
    learners, labels = st.sampled_from(LEARNERS), st.sampled_from(schema.labels)
    return st.one_of(
        st.builds(
            lambda n, m, k: lambda e: e.relearn(after=n, learner=m, knowledge=k),
            st.integers(0, 4), learners, knowledge,
        ),
        st.builds(
            lambda j, m, k: lambda e: e.relearn(labels=[j], learner=m, knowledge=k),
            labels, learners, knowledge,
        ),
    )  # fmt: skip


@settings(max_examples=40)
@given(st.data())
def test_generated_histories_replay_to_the_byte_identical_model(data):
    table = data.draw(renamed_tables())
    kinds = decision_lists(table.schema, SMALL, 4) | scorecards(table.schema, SMALL, 4)
    theory = data.draw(kinds | layered_theories(table.schema, SMALL))
    actions = st.lists(steps(theory), max_size=6)
    editor = edit(theory, table, validation=table.take([0]))
    check(done(editor, data.draw(actions)))


@settings(max_examples=40)
@given(st.data())
def test_histories_with_learning_replay_to_the_byte_identical_model(data):
    table = data.draw(renamed_tables())
    theory = data.draw(decision_lists(table.schema, SMALL, 3))
    original = theory
    if data.draw(st.booleans()):
        original = SeparateAndConquer(pruning=None, last_resort=0.1).fit(table)
    act = steps(theory) | learning(table.schema)
    check(done(edit(original, table), data.draw(st.lists(act, min_size=1, max_size=5))))


@pytest.mark.parametrize("note", NOTES)
def test_reasons_names_and_notes_of_any_kind(note):
    editor = clinic_editor(author="it's\\").note(1, note).commit(note or "none", name=note or "x")
    check(editor.replace(2, 'flu <- "aches"').note(2, note))


def test_learners_with_all_kinds_of_parameters():
    learner = SeparateAndConquer(
        measure=Measure.parse("f0.5/macro/partial"), heads="multi", size_bonus=kln(0.14),
        required=["age", ("flu", "infection")], min_gain=float("inf"), max_rules=2,
        max_conditions=1,
    )  # fmt: skip
    editor = clinic_editor().relearn(after=1, learner=learner)
    assert "from labelrules.search import kln" in editor.script()
    check(editor)


def test_constraints_and_labels():
    told = Knowledge(constraints=("infection <- flu", "not flu <- pneumonia"), max_rules=14)
    check(clinic_editor().lock(4).relearn(after=2, knowledge=told))
    check(clinic_editor().relearn(labels=["flu", "infection"]))


def test_models_of_learners_for_each_label():
    train = clinic()[0].take(range(300))
    model = BinaryRelevance(Ripper(), last_resort=0.2).fit(train)
    editor = edit(model, train).replace(1, 'flu <- "aches"').relearn(after=1)
    check(editor)


def test_other_branches_and_undone_steps_are_no_part_of_the_script():
    editor = clinic_editor().remove(1).branch("other").remove(2).switch("main").lock(3).undo()
    script = editor.script()
    assert "remove(1)" in script
    assert "remove(2)" not in script
    assert "lock(3)" not in script
    check(editor)


def test_other_data_are_refused():
    namespace = {}
    exec(clinic_editor().remove(1).script(), namespace)
    with pytest.raises(ValueError, match=r"these are other data than those .*: clinic"):
        namespace["replay"](clinic()[1])
