"""Rules as the pages show them, with their counts."""

from dataclasses import dataclass, replace
from typing import Any

from labelrules._checks import counted, quoted, suggestion
from labelrules.rules import Condition, LayeredTheory, Theory
from labelrules.rules.language.text import RuleLayout, condition_text
from labelrules.rules.views.html import rule_parts
from labelrules.studio import EditedRule
from labelrules.studio.web.figures import Counted, Figures
from labelrules.studio.web.project import State
from labelrules.studio.web.site import NotThereError


@dataclass(frozen=True)
class RuleLine:
    """A rule as the pages show it."""

    edited: EditedRule
    parts: dict[str, Any]
    text: str
    counts: dict[str, Counted]
    layer: str
    labels: tuple[int, ...]
    features: tuple[int, ...]
    tested: tuple[int, ...]

    @property
    def number(self) -> int:
        """Its number, from 1."""
        return self.edited.number

    @property
    def training(self) -> Counted | None:
        """Its counts on the training rows."""
        return self.counts.get("training")

    @property
    def validation(self) -> Counted | None:
        """Its counts on the validation rows."""
        return self.counts.get("validation")


def rule_lines(state: State, figures: Figures) -> list[RuleLine]:
    """All rules, in their order."""
    return [line_of(one, state, figures) for one in figures.rules]


def line_of(edited: EditedRule, state: State, figures: Figures) -> RuleLine:
    """A rule with its counts; one that is disabled has none."""
    schema, rule = state.editor.theory.schema, edited.rule
    layout = RuleLayout(False, rule.votes is not None, False)
    counts = {}
    place = figures.places.get(edited.number)
    if place is not None:
        counts = {name: part.of_rule(place) for name, part in figures.parts.items() if part.runs}
    return RuleLine(
        edited,
        rule_parts(rule, schema, layout),
        edited.text,
        counts,
        section_text(edited, state),
        rule.head.labels,
        tuple(dict.fromkeys(one.column for one in rule.body.on_features)),
        tuple(dict.fromkeys(one.column for one in rule.body.on_labels)),
    )


def for_label(line: RuleLine, label: int, figures: Figures) -> RuleLine:
    """A rule with its counts for one label."""
    place = figures.places.get(line.number)
    if place is None or not line.counts:
        return line
    counts = {name: figures.parts[name].of_label(place, label) for name in line.counts}
    return replace(line, counts=counts)


def section_text(edited: EditedRule, state: State) -> str:
    """The layer of a rule, if there are several, or that it is for rows without a label."""
    if edited.for_no_label:
        return "if no label was found"
    theory = state.editor.theory
    has_layers = isinstance(theory, LayeredTheory) and len(theory.layers) > 1
    return f"layer {edited.layer}" if has_layers else ""


def lead(state: State, figures: Figures) -> str:
    """What the model is, in one sentence."""
    theory, n_off = state.editor.theory, figures.n_disabled
    off = f"; {n_off} more {'is' if n_off == 1 else 'are'} disabled" if n_off else ""
    n_decided, every = len(decided_labels(theory)), counted(theory.schema.n_labels, "label")
    labels = every if n_decided == theory.schema.n_labels else f"{n_decided} of {every}"
    return (
        f"{counted(len(theory), 'rule')} with {counted(theory.n_conditions, 'condition')} "
        f"{'decides' if len(theory) == 1 else 'decide'} {labels}{off}."
    )


def decided_labels(theory: Theory) -> set[int]:
    """The labels for which there are rules."""
    return {label for rule in theory for label in rule.head.labels}


def check_name(name: str | None, names: tuple[str, ...], what: str) -> None:
    """Refuse a name that the data do not have."""
    if name is not None and name not in names:
        raise NotThereError(f"there is no {what} {quoted(name)}{suggestion(name, names)}")


def example_condition(state: State) -> str:
    """A condition on a feature that the first rules test, to show how one is written."""
    schema = state.editor.theory.schema
    for edited in state.editor.rules:
        for condition in edited.rule.body.on_features:
            return condition_text(condition, schema)
    return condition_text(Condition.label(0), schema)
