"""The writer of explanations: what is said of a label, in a phrase, line by line or in sentences.

Values hold the facts; here they become words. How short these are is up to the writer: whether
names are abbreviated and thresholds rounded, how many terms are named, and whether the precision
stands beside the evidence.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

from labelrules._checks import counted
from labelrules.inspection.counterfactuals import Counterfactual
from labelrules.inspection.explanation.values import (
    ChainNode,
    CheckedCondition,
    CheckedRule,
    Explanation,
    LabelExplanation,
    RowChoice,
)
from labelrules.inspection.tracing import (
    PRESENCE,
    and_text,
    unsettled_text,
    value_text,
    value_words,
)
from labelrules.rules import Theory
from labelrules.rules.language.text import label_text, name_text, number_text
from labelrules.rules.views.terminal import (
    DIGITS,
    ReadingNotation,
    ShortNames,
    short_label_text,
    short_name_text,
)

SHOWN = 10  # longer lists are cut; the values have all items
NO_LABEL_FOUND = "no rule found a label; of the rules for such rows, this holds first"
NO_LABEL_AT_ALL = "no rule found a label; no other rule for such rows holds, so this is the default"
_BY_POINTS = ("vote", "label set", "most points")
DEFAULT = "it is the default: no rule before decides the label"


class Term(NamedTuple):
    """Points that a label gets, and what for."""

    text: str
    points: int

    def __str__(self) -> str:
        return f"{self.text} ({self.points:+d})"


class ExplainingNotation(ReadingNotation):
    """Names and signs as in the view for reading, thresholds too where that is true of the row.

    Binary features always have quotes, since points and values stand beside them. If nothing is to
    be left out, the names and thresholds are whole.
    """

    def __init__(self, theory: Theory, is_short: bool) -> None:
        super().__init__(theory)
        self.is_bare, self.is_short = False, is_short
        if not is_short:
            self.short = ShortNames({})

    def number(self, value: float) -> str:
        """A threshold with all its digits: which are left out, `worded` decides."""
        return number_text(value)

    def worded(self, checked: CheckedCondition) -> CheckedCondition:
        """A condition with the threshold of the view, unless the row is on another side of it."""
        condition, value = checked.condition, checked.value
        is_threshold = not (condition.on_label or condition.is_equality)
        if is_threshold and self.is_short and isinstance(value, float):
            rounded = replace(condition, value=float(self.numbers[condition.value]))
            condition = rounded if rounded.holds([value])[0] == checked.holds else condition
        text, name = self.condition(condition, self.schema), self.short.name(checked.name)
        return replace(checked, condition=condition, text=text, name=name)

    def legend(self, text: str) -> Iterator[str]:
        """What the abbreviations in a text stand for, and whether its thresholds are rounded."""
        for one in self.short.legend():
            if one.partition(" = ")[0] in text:
                yield one
        rounded = [re.escape(number) for value, number in self.numbers.items()
                   if float(number) != value]  # fmt: skip
        if rounded and re.search(rf"[≤>] (?:{'|'.join(rounded)})(?![\d.])", text):
            yield f"thresholds rounded to {DIGITS} digits"


@dataclass(frozen=True)
class Writer:
    """Writes explanations of a degree of detail."""

    notation: ExplainingNotation | None = None  # None: conditions as in the rule language
    n_terms: int | None = None  # conditions of a rule, points that are added up, changes
    has_precision: bool = True  # if not, the evidence follows the reason in brackets

    # ---------------------------------------------------------------- names and conditions

    def label(self, name: str) -> str:
        """The name of a label."""
        return label_text(name) if self.notation is None else self.notation.label(name)

    def feature(self, name: str) -> str:
        """The name of a feature."""
        return name_text(name) if self.notation is None else self.notation.feature(name)

    def _short(self, name: str) -> str:
        return name if self.notation is None else self.notation.short.name(name)

    def worded(self, checked: CheckedCondition) -> CheckedCondition:
        """A condition with its text and name as this writer has them."""
        return checked if self.notation is None else self.notation.worded(checked)

    def condition(self, checked: CheckedCondition) -> str:
        """A condition that holds, with the row's value unless it says it: "age 7 > 5"."""
        checked = self.worded(checked)
        says_it = checked.condition.operator == "=" or (
            checked.is_binary and checked.condition.operator != "!="
        )
        if checked.condition.on_label or says_it:
            return checked.text
        name = tested_name(checked)
        return f"{name} {_fitting_value(checked)}{checked.text.removeprefix(name)}"

    def failing(self, rule: CheckedRule) -> str:
        """The conditions of a rule that do not hold, with the row's values."""
        return ", ".join(_failing_text(self.worded(checked)) for checked in rule.failing)

    def body(self, rule: CheckedRule) -> str:
        """The conditions of a rule that covers the row, or the first of them, with its values."""
        shown = rule.conditions[: self.n_terms]
        n_left = len(rule.conditions) - len(shown)
        words = ", ".join(map(self.condition, shown))
        words += f" and {counted(n_left, 'further condition')}" if n_left else ""
        if rule.place.layer and any(checked.condition.on_label for checked in rule.conditions):
            return f"{words} (labels of layer {rule.place.layer})"
        return words

    def needs(self, rule: CheckedRule) -> str:
        """What a rule that does not cover the row needs."""
        end = ", if no rule finds a label" if rule.place.is_fallback else ""
        return f"needs {self.failing(rule)}{end}"

    # ---------------------------------------------------------------- a label in short

    def facts(self, one: LabelExplanation) -> Iterator[tuple[str, str]]:
        """Why a label is given or not, the evidence, and what would change it, with titles."""
        evidence = self.evidence(one)
        if one.votes:
            yield "", self.added(one)
        else:
            about = "" if evidence is None or self.has_precision else f" ({evidence})"
            yield "because", f"{self.reason(one)}{about}"
        if evidence is not None and self.has_precision:
            yield "evidence", evidence
        if one.counterfactual is not None:
            yield self.change(one.counterfactual)

    def reason(self, one: LabelExplanation) -> str:
        """Why a label is given, or not; of a rule set only if no rule holds for the label."""
        if one.presence is not None:
            return f"it was {_sampled(one)}"
        if one.predicted and one.rule is not None:
            body = self.body(one.rule)
            if one.rule.place.is_fallback:
                return f"{NO_LABEL_FOUND}: {body}" if body else NO_LABEL_AT_ALL
            return body or DEFAULT
        if one.decided in ("label set", "most points"):
            return outcome(one)
        return self.absence(one)

    def absence(self, one: LabelExplanation) -> str:
        """Why a label is absent: no rule for it holds, unless a rule speaks against it."""
        if is_denied(one):
            return self.denial(one)
        start = f"no rule for it holds{_where(one)}"
        return start if one.closest is None else f"{start}; the closest {self.needs(one.closest)}"

    def denial(self, one: LabelExplanation) -> str:
        """The rule that says that a label is absent, or that ended the list before."""
        if one.rule is not None:
            every = replace(self, n_terms=None, has_precision=False)
            evidence = every.evidence(one)
            about = "" if evidence is None else f" ({evidence})"
            return f"{every.body(one.rule) or 'by default'}{about}"
        if one.closest is not None and one.closest.place.is_fallback:
            return "another rule for rows without a label holds first"
        if one.ended is not None:
            return f"{one.ended.place} ended the list before a rule for it: {one.ended.text}"
        return "another rule came first"

    def absent(self, one: LabelExplanation) -> str:
        """Why a label is absent, in a few words."""
        if one.presence is not None:
            return f"probability {one.presence:.2f}"
        if one.votes:
            is_left = one.decided == "label set" and one.points > 0
            note = ", but not in the usual set" if is_left else ""
            return f"{one.points}{note}: {', '.join(map(str, self.terms(one)))}"
        if _is_by_points(one):
            return "0: no condition gives it points"
        if is_denied(one):
            return self.denial(one)
        return "no rule predicts it" if one.closest is None else self.needs(one.closest)

    def evidence(self, one: LabelExplanation) -> str | None:
        """How often the rule was right, and its precision; None without evidence."""
        found = one.estimate
        if found is None:
            return None
        n_rows = found.right + found.wrong
        if not n_rows:
            return "none: the rule has decided this label in no row"
        counts = None if one.rows is None else (len(one.rows.right), len(one.rows.wrong))
        kind = "training row" if counts == (found.right, found.wrong) else "row"
        text = f"right for {found.right:,} of {counted(n_rows, kind)}"
        if not self.has_precision:
            return text
        return f"{text}; precision {found.probability:.2f} ({found.low:.2f} to {found.high:.2f})"

    def change(self, change: Counterfactual) -> tuple[str, str]:
        """What would change the label: "would go if", and the smallest change, or its start."""
        verb = "go" if change.predicted else "come"
        if change.status == "found":
            shown = change.changes[: self.n_terms]
            n_left = len(change.changes) - len(shown)
            more = [f"{counted(n_left, 'further feature')} changed"] if n_left else []
            return f"would {verb} if", and_text([*self._changes(shown), *more])
        if change.status == "impossible":
            stays = "stays" if change.predicted else "stays away"
            return stays, "whatever the values of the features that may change"
        features = counted(change.at_least, "feature")
        return f"would {verb} if", f"at least {features} changed; raise limit to search further"

    def _changes(self, changes: Any) -> list[str]:
        return [replace(one, feature=self._short(one.feature)).condition for one in changes]

    # ---------------------------------------------------------------- points

    def terms(self, one: LabelExplanation) -> list[Term]:
        """The points of a label: what it starts with, then the largest first."""
        start = [rule.points for rule in one.votes if not rule.conditions]
        tests = [
            Term(" and ".join(map(self.condition, rule.conditions)), rule.points)
            for rule in one.votes
            if rule.conditions
        ]
        tests.sort(key=lambda term: -abs(term.points))
        return [Term("start", sum(start)), *tests] if start else tests

    def added(self, one: LabelExplanation) -> str:
        """The points of a label added up, beyond the first terms as one, and what follows."""
        found = self.terms(one)
        if self.n_terms is not None and len(found) > self.n_terms + 1:
            rest = found[self.n_terms :]
            others = Term(f"{len(rest)} others", sum(term.points for term in rest))
            found = [*found[: self.n_terms], others]
        total = f"{', '.join(map(str, found)) or 'no rule holds'} = {one.points}"
        return f"{total}: {outcome(one)}"

    def points(self, one: LabelExplanation) -> str:
        """The points of a label added up, and the usual set that the row gets."""
        if one.decided != "label set" or one.choice is None:
            return self.added(one)
        return f"{self.added(one)}; the row gets {self.choice(one.choice)}"

    def votes(self, one: LabelExplanation) -> list[str]:
        """The points of each rule that covers the row, and why it does."""
        return [f"{rule.points:+d}: {rule.place}: {self.body(rule) or 'start'}"
                for rule in one.votes]  # fmt: skip

    def choice(self, choice: RowChoice) -> str:
        """Why a row gets a usual label set: its points compared with those of other labels."""
        points = [str(n) for n in choice.points[:1]]
        points += [f"{'-' if n < 0 else '+'} {abs(n)}" for n in choice.points[1:]]
        added = " ".join([*points, *(["+"] if points else []), f"bonus {choice.bonus}"])
        compared = "more than" if choice.total > choice.own_total else "as many as"
        given, own = (f"{{{', '.join(map(self.label, labels))}}}"
                      for labels in (choice.labels, choice.own_labels))  # fmt: skip
        other = f"the {choice.own_total} of {own}"
        return f"the usual set {given}: {added} = {choice.total}, {compared} {other}"

    # ---------------------------------------------------------------- a row

    def notes(self, explanation: Explanation) -> Iterator[str]:
        """What holds for all labels of the row together."""
        if explanation.unsettled:
            yield unsettled_text(tuple(map(self._short, explanation.unsettled)))
        choices = {one.choice for one in explanation if one.decided == "label set"}
        yield from (f"The row gets {self.choice(one)}." for one in choices if one is not None)

    def absent_groups(
        self, explanation: Explanation, n_shown: int
    ) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """The absent labels in groups: a title with their number, and lines for some of them."""
        groups: dict[str, list[LabelExplanation]] = {}
        for one in explanation:
            if not one.predicted:
                groups.setdefault(_absence(one), []).append(one)
        for why in (" by a rule", " by sampling", " by their points", ""):
            labels = sorted(groups.get(why, ()), key=_closeness)
            shown = labels[:n_shown] if why else [one for one in labels[:n_shown] if one.closest]
            lines = [(self.label(one.label), self.absent(one)) for one in shown]
            are = f"{counted(len(labels), 'label')} {'is' if len(labels) == 1 else 'are'} absent"
            if labels and why:
                title = f"{are}{why if len(labels) > 1 else why.replace('their', 'its')}"
                title += " (more than 0 are needed)" if "points" in why else ""
                yield f"{title}{_end(lines, labels, why)}", lines
            elif labels:
                them = "it" if len(labels) == 1 else "them"
                holds = f"holds{_where(labels[0])}"
                yield f"{are}: no rule for {them} {holds}{_end(lines, labels, why)}", lines

    # ---------------------------------------------------------------- every detail

    def row_lines(self, explanation: Explanation) -> Iterator[str]:
        """All labels of a row, one after the other."""
        yield f"Row {explanation.row}"
        if explanation.unsettled:
            yield next(self.notes(explanation))
        for one in explanation:
            yield from self.label_lines(one)

    def label_lines(self, one: LabelExplanation) -> Iterator[str]:
        """The explanation of a label, line by line."""
        yield f"{self.label(one.label)}: {PRESENCE[one.predicted]}"
        yield from (f"  {line}" for line in self.cause(one))
        if one.estimate is not None:
            yield f"  {one.estimate}"
        for node, rules in one.chain.labels():
            by = f"by {'; '.join(f'{rule.place}: {rule.name}' for rule in rules)}"
            yield f"  depends on {self.node(node)}, {by if rules else 'which no rule wrote'}"
        if one.chain.cycle:
            yield f"  {self.cycle(one)}"
        later = [f"{rule.place} predicts {PRESENCE[rule.value]}: {rule.text}" for rule in one.later]
        yield from _listed("later rules that cover the row:", later)
        if one.rows is not None:
            yield f"  training: {self.rows(one)}"
        yield from _listed(*self.near(one))
        if one.counterfactual is not None:
            yield f"  {one.counterfactual}"

    def cause(self, one: LabelExplanation) -> Iterator[str]:
        """What decides a label, in one line, then the conditions or points behind it."""
        if one.rule is not None:
            yield f"by {one.rule.place}: {one.rule.text}"
            yield from (f"  {_value_is(self.worded(checked))}" for checked in one.rule.conditions)
            if one.rule.place.is_fallback:
                yield f"  {NO_LABEL_FOUND}"
        elif one.decided in _BY_POINTS:
            yield self.points(one)
            yield from (f"  {line}" for line in self.votes(one))
        else:
            yield self.no_rule(one)

    def no_rule(self, one: LabelExplanation) -> str:
        """Why no rule is named."""
        if one.presence is not None:
            return f"sampled: probability {one.presence:.2f}"
        ended = "" if one.ended is None else f": {one.ended.text}"
        return f"by default: {_no_writer(one)}{ended}"

    def node(self, node: ChainNode) -> str:
        """A label of a chain with its value."""
        layer = "" if node.layer is None else f" in layer {node.layer + 1}"
        if node.value is None:
            return f"{self.label(node.name)} as it was before the first round"
        return f"{self.label(node.name)} = {PRESENCE[node.value]}{layer}"

    def cycle(self, one: LabelExplanation) -> str:
        """Which labels depend on each other, and their values before."""
        names = [self.label(name) for name in one.chain.cycle]
        depend = "depends on itself" if len(names) == 1 else "depend on each other"
        initial = [
            f"{self.node(node)}{' in its first round' if node.layer is None else ''}"
            f"{'' if node.place is None else f', by {node.place}'}"
            for node in one.chain.initial
        ]
        return (
            f"{and_text(names)} {depend}, since the last layer reads its own labels; before: "
            f"{and_text(initial)}"
        )

    def near(self, one: LabelExplanation) -> tuple[str, list[str]]:
        """The rules that fail by one condition, titled; of a rule set, what they would add."""
        if one.decided in _BY_POINTS:
            lines = [f"{rule.points:+d}: {self.failing(rule)}" for rule in one.near]
            return "points of conditions that fail:", lines
        lines = [
            f"{rule.place} would predict {PRESENCE[rule.value]}: {rule.text}, but "
            f"{_value_is(self.worded(rule.failing[0]))}"
            for rule in one.near
        ]
        return "rules that fail by one condition:", lines

    def rows(self, one: LabelExplanation) -> str:
        """The training rows behind a rule, right and wrong ones."""
        if one.rows is None or not any(one.rows):
            return "none"
        parts = zip(("right", "wrong"), one.rows, strict=True)
        return "; ".join(f"{name} in {_numbers_text(rows)}" for name, rows in parts if rows)

    # ---------------------------------------------------------------- sentences

    def row_sentences(self, explanation: Explanation, details: bool = False) -> str:
        """The labels of a row, and a paragraph on each label that it gets, or is asked for."""
        present = [self.label(name) for name in explanation.present]
        first = f"Row {explanation.row} gets {and_text(present) if present else 'no label'}."
        if explanation.unsettled:
            first = f"{first} {next(self.notes(explanation))}"
        every = details or len(explanation) < explanation.theory.schema.n_labels
        shown = [self.label_sentences(one) for one in explanation if one.predicted or every]
        absent = [] if every else [" ".join(self._absent_sentences(explanation))]
        return "\n\n".join(part for part in [first, *shown, *absent] if part)

    def _absent_sentences(self, explanation: Explanation) -> Iterator[str]:
        """How many labels are absent and why, with the closest one."""
        for title, lines in self.absent_groups(explanation, 1):
            start, _, kind = title.rstrip(".:").partition(". ")
            start_of_line = "Closest is " if kind == "Closest" else ""
            yield f"{start}."
            yield from (f"{start_of_line}{name}: {why}." for name, why in lines)

    def label_sentences(self, one: LabelExplanation) -> str:
        """The explanation of a label in a few sentences."""
        start = f"{self.label(one.label)} is predicted {PRESENCE[one.predicted]}"
        if not one.predicted and one.rule is not None and not is_denied(one):
            # A rule with other labels in its head leaves it out.
            parts = [f"{start}, because {self.absence(one)}."]
        else:
            parts = [f"{start}{self._because(one)}.", *self._dependences(one)]
            if one.estimate is not None:
                rule = "The rule" if one.rule is None else str(one.rule.place).capitalize()
                parts.append(f"{rule} was {one.estimate}.")
        if one.counterfactual is not None:
            parts.append(self._otherwise(one.counterfactual))
        return " ".join(parts)

    def _because(self, one: LabelExplanation) -> str:
        if one.rule is not None:
            end = f"; {NO_LABEL_FOUND}" if one.rule.place.is_fallback else ""
            return f" by {one.rule.place}, {self._since(one.rule.conditions)}{end}"
        if one.decided in _BY_POINTS:
            return f", because of its points: {self.points(one)}"
        if one.presence is not None:
            return f", because it was {_sampled(one)}"
        return f", because {_no_writer(one)}"

    def _since(self, conditions: tuple[CheckedCondition, ...]) -> str:
        if not conditions:
            return "which covers every row"
        return "because " + and_text([_told(self.worded(checked)) for checked in conditions])

    def _dependences(self, one: LabelExplanation) -> Iterator[str]:
        """A sentence on each label that the rule has read."""
        for node, rules in one.chain.labels():
            if node.value is None:
                continue
            start = f"{self.label(node.name)} is {PRESENCE[node.value]}"
            layer = "" if node.layer is None else f" of layer {node.layer + 1}"
            if not rules:
                yield f"{start}, because no rule{layer} wrote it."
            elif len(rules) == 1 and rules[0].place is not None:
                yield f"{start} by {rules[0].place}, {self._since(rules[0].conditions)}."
            else:
                yield f"{start} by the votes of {len(rules)} rules{layer}."
        if one.chain.cycle:
            yield f"Note that {self.cycle(one)}."

    def _otherwise(self, change: Counterfactual) -> str:
        name = self.label(change.label)
        if change.status == "impossible":
            return f"No change of the features that may change would change {name}."
        if change.status == "unknown":
            features = counted(change.at_least, "feature")
            return f"To change {name}, at least {features} must change; the search stopped there."
        changes = and_text(self._changes(change.changes))
        return f"{name} would be {PRESENCE[1 - change.predicted]} if {changes}."


# -------------------------------------------------------------------- conditions


def tested_name(checked: CheckedCondition) -> str:
    """The feature or label that is tested."""
    shown = short_label_text if checked.condition.on_label else short_name_text
    return shown(checked.name)


def _fitting_value(checked: CheckedCondition) -> str:
    """The row's value; a number with the fewest digits, but three, with which the condition holds.

    A whole number has all its digits.
    """
    if not isinstance(checked.value, float) or checked.value.is_integer():
        return value_text(checked.value)
    rounded = (float(f"{checked.value:.{digits}g}") for digits in range(3, 17))
    fitting = (number for number in rounded if checked.condition.holds(number) == checked.holds)
    return value_text(next(fitting, checked.value))


def _failing_text(checked: CheckedCondition) -> str:
    if checked.condition.on_label:
        missing = "given" if checked.condition.value else "decided"
        note = f" (not {missing} by then)" if checked.value == "open" else ""
    elif checked.value is None:
        note = " (is missing)"
    else:
        note = "" if checked.is_binary else f" (is {_fitting_value(checked)})"
    return f"{checked.text}{note}"


def _value_is(checked: CheckedCondition) -> str:
    return f"{tested_name(checked)} is {value_words(checked.value, checked.is_binary)}"


def _told(checked: CheckedCondition) -> str:
    """A condition that holds; a number with its value and the side of the threshold."""
    operator = checked.condition.operator
    if operator == "=" or (checked.is_binary and operator != "!="):
        return _value_is(checked)
    words = {"<=": "at most", ">": "above", "!=": "not", "in": "in"}[operator]
    value = checked.text.removeprefix(f"{tested_name(checked)} {operator} ")
    return f"{_value_is(checked)}, {words} {value}"


# -------------------------------------------------------------------- facts about a label


def outcome(one: LabelExplanation) -> str:
    """Whether a label is given by its points, in short."""
    if one.decided == "label set" and one.predicted:
        return "given with the usual set"
    if one.decided == "label set" and one.points > 0:
        return "not given: it is not in the usual set"
    if one.decided == "most points":
        return "given: no label has more than 0 points, and this has the most"
    return "given" if one.predicted else "not given"


def is_denied(one: LabelExplanation) -> bool:
    """Whether a rule says that the label is absent, or came before one that would give it."""
    is_late = one.closest is not None and not one.closest.failing
    if one.rule is None:
        return is_late
    names_it = bool(one.rule.conditions) and not one.rule.rule.head.is_complete
    return is_late or names_it


def _sampled(one: LabelExplanation) -> str:
    return f"sampled with probability {one.presence:.2f}"


def _no_writer(one: LabelExplanation) -> str:
    if one.ended is not None:
        return f"{one.ended.place} ended the list before a rule predicted it"
    return "no rule that covers the row predicts it"


def _where(one: LabelExplanation) -> str:
    """The layer that decides, if there are several."""
    layer = one.chain.nodes[0].layer
    return "" if layer is None else f" in layer {layer + 1}"


def _absence(one: LabelExplanation) -> str:
    """What makes a label absent; empty if no rule for it holds."""
    if one.presence is not None:
        return " by sampling"
    if _is_by_points(one):
        return " by their points"
    return " by a rule" if is_denied(one) else ""


def _is_by_points(one: LabelExplanation) -> bool:
    """Whether points decide about a label, those of its own or of label sets."""
    return bool(one.votes) or one.decided in ("label set", "most points")


def _end(lines: list[tuple[str, str]], labels: list[LabelExplanation], why: str) -> str:
    """The end of a title: whether all labels of the group follow, or some of them, or none."""
    if not lines:
        return "."
    if why and len(lines) == len(labels):
        return ":"
    return ". Some of them:" if why == " by a rule" else ". Closest:"


def _closeness(one: LabelExplanation) -> tuple[float, ...]:
    """Labels that are nearer to being given come first: by probability, points, or conditions.

    Of rules with equally many failing conditions, those with more that hold, then with more rows.
    """
    if one.presence is not None:
        return (-one.presence,)
    if one.closest is None:
        return (-one.points if _is_by_points(one) else inf,)
    if is_denied(one):
        return (0,)
    n_failing = len(one.closest.failing)
    counts = [count.right for count in one.closest.rule.evidence or () if count is not None]
    return n_failing, n_failing - len(one.closest.conditions), -max(counts, default=0)


def _numbers_text(numbers: tuple[int, ...]) -> str:
    more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
    return f"{'row' if len(numbers) == 1 else 'rows'} {str(numbers[:SHOWN]).strip('(,)')}{more}"


def _listed(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield f"  {title}"
        yield from (f"    {line}" for line in lines[:SHOWN])
        if len(lines) > SHOWN:
            yield f"    and {len(lines) - SHOWN} more"
