"""Edits for tests: editors of the clinic, and sequences of edits that hypothesis draws."""

from functools import cache

from hypothesis import strategies as st

from labelrules import Body, LayeredTheory, RuleSet, SeparateAndConquer, edit, load
from labelrules.data import DataError
from labelrules.rules import RuleSyntaxError
from theories import rules


@cache
def clinic():
    """The clinic in parts for training, validation and test."""
    data = load("clinic")
    return data.take(range(600)), data.take(range(600, 800)), data.take(range(800, 1000))


@cache
def clinic_model():
    return SeparateAndConquer(max_rules=12, last_resort=None).fit(clinic()[0])


def clinic_editor(**options):
    """An editor of the model of the clinic, with all parts."""
    train, validation, test = clinic()
    options = {"author": "Dr. Who", **options}
    return edit(clinic_model(), train, validation=validation, test=test, **options)


def numbered_texts(editor):
    return [one.text for one in editor.rules]


@st.composite
def fitting_rules(draw, theory, values):
    """A rule that may stand in a theory, in any of its layers."""
    schema = theory.schema
    layers = theory.layers if isinstance(theory, LayeredTheory) else [theory]
    votes = any(isinstance(layer, RuleSet) for layer in layers)
    rule = draw(rules(schema, values, in_list=not votes))
    if isinstance(theory, LayeredTheory):  # in any layer, also for rows without labels
        plain = Body(rule.body.on_features)
        return type(rule)(rule.head, plain, False)
    return rule.with_evidence(None)


SMALL = st.floats(-3, 3, allow_nan=False)


def steps(theory, values=SMALL):
    """What to do next with an editor: a function that returns another one, or refuses."""
    number = st.integers(1, 6)
    rule = fitting_rules(theory, values)
    label = st.sampled_from(theory.schema.labels)
    note = st.sampled_from(NOTES)
    return st.one_of(
        st.builds(lambda n, r: lambda e: e.replace(at(e, n), r), number, rule),
        st.builds(lambda n, r: lambda e: e.add(r, at(e, n)), number, rule),
        st.builds(lambda r: lambda e: e.add(r), rule),
        st.builds(lambda n: lambda e: e.remove(at(e, n)), number),
        st.builds(lambda n, m: lambda e: e.move(at(e, n), to=at(e, m)), number, number),
        st.builds(lambda n: lambda e: e.lock(at(e, n)), number),
        st.builds(lambda n: lambda e: e.unlock(at(e, n)), number),
        st.builds(lambda n: lambda e: e.disable(at(e, n)), number),
        st.builds(lambda n: lambda e: e.enable(at(e, n)), number),
        st.builds(lambda n, t: lambda e: e.note(at(e, n), t), number, note),
        st.builds(lambda n, j: lambda e: e.toggle_label(at(e, n), j), number, label),
        st.builds(lambda n: lambda e: e.drop_condition(at(e, n), condition=1), number),
        st.just(lambda e: e.undo()),
        st.just(lambda e: e.redo()),
        st.builds(lambda t: lambda e: e.commit(t or "none"), note),
    )


def at(editor, number):
    """The number of a rule that is there, if any is."""
    return 1 + number % max(1, len(editor.rules))


NOTES = ("", "as expected", 'it\'s "so" \\ ← 日本 # note: {x}', "a\nb\tc", "'''")


def done(editor, actions):
    """The editor after these actions; those that are refused in words are left out."""
    for action in actions:
        try:
            editor = action(editor)
        except (RuleSyntaxError, DataError):  # what the editor itself writes must be read
            raise
        except ValueError:
            continue
    return editor
