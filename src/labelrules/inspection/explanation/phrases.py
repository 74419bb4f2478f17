"""Phrases that explanations are made of: reasons, evidence, changes, sums of points."""

from typing import NamedTuple

from labelrules._checks import counted
from labelrules.inspection.counterfactuals import Counterfactual
from labelrules.inspection.explanation.values import (
    CheckedCondition,
    CheckedRule,
    LabelExplanation,
    RowChoice,
)
from labelrules.inspection.tracing import and_text, value_text
from labelrules.rules.views.terminal import short_label_text, short_name_text

NO_LABEL_FOUND = "no rule found a label; of the rules for such rows, this holds first"
NO_LABEL_AT_ALL = "no rule found a label; no other rule for such rows holds, so this is the default"
DEFAULT = "it is the default: no rule before decides the label"


def condition_words(checked: CheckedCondition) -> str:
    """A condition that holds, with the row's value unless the condition says it: "age 7 > 5"."""
    says_it = checked.condition.operator == "=" or (
        checked.is_binary and checked.condition.operator != "!="
    )
    if checked.condition.on_label or says_it:
        return checked.text
    name = shown_name(checked)
    return f"{name} {_value_words(checked)}{checked.text.removeprefix(name)}"


def _value_words(checked: CheckedCondition) -> str:
    """The row's value; a number with the fewest digits, but three, with which the condition holds.

    A whole number has all its digits.
    """
    if not isinstance(checked.value, float) or checked.value.is_integer():
        return value_text(checked.value)
    rounded = (float(f"{checked.value:.{digits}g}") for digits in range(3, 17))
    fitting = (number for number in rounded if checked.condition.holds(number) == checked.holds)
    return value_text(next(fitting, checked.value))


def shown_name(checked: CheckedCondition) -> str:
    """The feature or label that is tested."""
    shown = short_label_text if checked.condition.on_label else short_name_text
    return shown(checked.name)


def body_words(rule: CheckedRule, n_shown: int | None = None) -> str:
    """The conditions of a rule that covers the row, or the first of them, with its values."""
    words = ", ".join(map(condition_words, rule.conditions[:n_shown]))
    n_left = len(rule.conditions) - len(rule.conditions[:n_shown])
    words += f" and {counted(n_left, 'further condition')}" if n_left else ""
    if rule.place.layer and any(checked.condition.on_label for checked in rule.conditions):
        return f"{words} (labels of layer {rule.place.layer})"
    return words


def rule_words(rule: CheckedRule, n_shown: int | None = None) -> str:
    """Why a rule that wrote a label did so."""
    body = body_words(rule, n_shown)
    if rule.place.is_fallback:
        return f"{NO_LABEL_FOUND}: {body}" if body else NO_LABEL_AT_ALL
    return body or DEFAULT


def needs_words(rule: CheckedRule) -> str:
    """What a rule that does not cover the row needs."""
    words = ", ".join(map(_failing_words, rule.failing))
    return f"needs {words}{', if no rule finds a label' if rule.place.is_fallback else ''}"


def _failing_words(checked: CheckedCondition) -> str:
    if checked.condition.on_label:
        missing = "given" if checked.condition.value else "decided"
        return (
            f"{checked.text} (not {missing} by then)" if checked.value == "open" else checked.text
        )
    if checked.value is None:
        return f"{checked.text} (is missing)"
    return checked.text if checked.is_binary else f"{checked.text} (is {_value_words(checked)})"


def evidence_words(one: LabelExplanation, has_precision: bool = True) -> str | None:
    """How often the rule was right, and its precision; None without evidence."""
    found = one.estimate
    if found is None:
        return None
    n_rows = found.right + found.wrong
    if not n_rows:
        return "none: the rule has decided this label in no row"
    counts = None if one.rows is None else (len(one.rows.right), len(one.rows.wrong))
    kind = "training row" if counts == (found.right, found.wrong) else "row"
    counts_text = f"right for {found.right:,} of {counted(n_rows, kind)}"
    if not has_precision:
        return counts_text
    interval = f"{found.low:.2f} to {found.high:.2f}"
    return f"{counts_text}; precision {found.probability:.2f} ({interval})"


def change_words(change: Counterfactual, n_shown: int | None = None) -> tuple[str, str]:
    """What would change the label: "would go if", and the smallest change, or its first parts."""
    verb = "go" if change.predicted else "come"
    if change.status == "found":
        parts = [one.condition for one in change.changes[:n_shown]]
        n_left = len(change.changes) - len(parts)
        more = [f"{counted(n_left, 'further feature')} changed"] if n_left else []
        return f"would {verb} if", and_text(parts + more)
    if change.status == "impossible":
        stays = "stays" if change.predicted else "stays away"
        return stays, "whatever the values of the features that may change"
    features = counted(change.at_least, "feature")
    return f"would {verb} if", f"at least {features} changed; raise limit to search further"


def missed_words(rule: CheckedRule) -> str:
    """The points of a rule of a set that does not cover the row, and the conditions that fail."""
    return f"{rule.points:+d}: {', '.join(map(_failing_words, rule.failing))}"


class Term(NamedTuple):
    """Points that a label gets, and what for."""

    text: str
    points: int

    def __str__(self) -> str:
        return f"{self.text} ({self.points:+d})"


def terms(one: LabelExplanation) -> list[Term]:
    """The points of a label: what it starts with, then the largest first."""
    start = sum(rule.points for rule in one.votes if not rule.conditions)
    has_start = any(not rule.conditions for rule in one.votes)
    tests = [
        Term(" and ".join(map(condition_words, rule.conditions)), rule.points)
        for rule in one.votes
        if rule.conditions
    ]
    tests.sort(key=lambda term: -abs(term.points))
    return [Term("start", start), *tests] if has_start else tests


def sum_words(one: LabelExplanation, n_shown: int | None = None) -> str:
    """The points of a label added up; beyond the first terms, the others as one."""
    found = terms(one)
    if n_shown is not None and len(found) > n_shown + 1:
        rest = found[n_shown:]
        others = Term(f"{len(rest)} others", sum(term.points for term in rest))
        found = [*found[:n_shown], others]
    return f"{', '.join(map(str, found)) or 'no rule holds'} = {one.points}"


def short_sum_words(one: LabelExplanation) -> str:
    """The points of a label that is not given, first the sum and then what for."""
    note = ", but not in the usual set" if one.decided == "label set" and one.points > 0 else ""
    return f"{one.points}{note}: {', '.join(map(str, terms(one)))}"


def outcome_words(one: LabelExplanation) -> str:
    """Whether a label is given by its points, in short."""
    if one.decided == "label set" and one.predicted:
        return "given with the usual set"
    if one.decided == "label set" and one.points > 0:
        return "not given: it is not in the usual set"
    if one.decided == "most points":
        return "given: no label has more than 0 points, and this has the most"
    return "given" if one.predicted else "not given"


def choice_words(choice: RowChoice) -> str:
    """Why a row gets a usual label set: its points compared with those of the labels above 0."""
    points = [str(n) for n in choice.points[:1]]
    points += [f"{'-' if n < 0 else '+'} {abs(n)}" for n in choice.points[1:]]
    added = " ".join([*points, *(["+"] if points else []), f"bonus {choice.bonus}"])
    compared = "more than" if choice.total > choice.own_total else "as many as"
    other = f"the {choice.own_total} of {set_words(choice.own_labels)}"
    return f"the usual set {set_words(choice.labels)}: {added} = {choice.total}, {compared} {other}"


def set_words(labels: tuple[str, ...]) -> str:
    """A label set in braces."""
    return f"{{{', '.join(map(short_label_text, labels))}}}"
