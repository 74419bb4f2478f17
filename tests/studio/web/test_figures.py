"""Counts of the pages are those of the library."""

import gc
import weakref

import pytest
from msgspec.structs import astuple

from labelrules import DecisionList, SeparateAndConquer, edit, parse
from labelrules.inspection import rule_coverage
from labelrules.studio.web.project import STATES_COUNTED, State, figures_of
from labelrules.studio.web.views.rules import for_label, line_of
from workbench_site import clinic_editor, clinic_parts

LAYERED = """
layer 1:
flu <- "aches", temperature > 38.4
infection <- temperature > 38.4
layer 2:
infection <- flu
flu <- flu, "cough"
if no label was found:
hypertension <- pressure > 150
"""


def learned():
    training, validation, _ = clinic_parts()
    return edit(SeparateAndConquer().fit(training), training, validation=validation)


def layered():
    training, validation, _ = clinic_parts()
    return edit(parse(LAYERED, training.schema), training, validation=validation)


@pytest.mark.parametrize("make", [clinic_editor, learned, layered])
def test_right_and_wrong_alone_and_in_order_are_those_of_rule_coverage(make):
    editor = make()
    figures = figures_of(editor)
    coverages = rule_coverage(editor.theory, editor.data, editor.validation)
    rules = [one.rule for one in editor.rules]
    for place, (rule, expected) in enumerate(zip(rules, coverages, strict=True)):
        for part, alone, in_order in (
            (figures.training, expected.alone, expected.in_order),
            (figures.validation, expected.validation_alone, expected.validation_in_order),
        ):
            counts = [part.alone(place, label) for label in rule.head.labels]
            assert (sum(c.right for c in counts), sum(c.wrong for c in counts)) == alone.evidence
            assert astuple(part.of_rule(place))[:2] == in_order.evidence


def test_a_rule_of_several_labels_is_counted_for_each():
    training, validation, _ = clinic_parts()
    theory = parse("flu, infection <- temperature > 38.4", training.schema)
    editor = edit(theory, training, validation=validation)
    state, figures = State(1, editor), figures_of(editor)
    line = line_of(editor.rules[0], state, figures)
    each = [for_label(line, label, figures) for label in line.labels]
    assert all(0 < one.training.right < line.training.right for one in each)
    for name in ("training", "validation"):
        right, wrong = astuple(line.counts[name])[:2]
        assert sum(one.counts[name].right for one in each) == right
        assert sum(one.counts[name].wrong for one in each) == wrong


def test_rules_that_earlier_ones_hide_are_right_alone():
    training, _, _ = clinic_parts()
    theory = parse('flu <- true\nflu <- "aches", temperature > 38.4', training.schema)
    assert isinstance(theory, DecisionList)
    part = figures_of(edit(theory, training)).training
    flu = training.schema.label_index["flu"]
    assert astuple(part.of_rule(1))[:2] == (0, 0)
    assert astuple(part.alone(1, flu))[:2] == (42, 0)


def test_figures_of_old_states_are_let_go():
    editor = clinic_editor()
    states = [editor.note(1, f"note {number}") for number in range(STATES_COUNTED + 1)]
    made = [weakref.ref(figures_of(state)) for state in states]
    assert figures_of(states[-1]) is made[-1]()
    del states
    gc.collect()
    assert made[0]() is None
    assert all(one() is not None for one in made[1:])
