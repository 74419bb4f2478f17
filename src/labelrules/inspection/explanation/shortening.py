"""Explanations with the names, signs and thresholds of the view for reading."""

import re
from collections.abc import Iterator
from dataclasses import replace

from labelrules.inspection.counterfactuals import Counterfactual
from labelrules.inspection.explanation.values import (
    CheckedCondition,
    CheckedRule,
    Explanation,
    LabelExplanation,
    RowChoice,
)
from labelrules.rules import Condition, Theory
from labelrules.rules.language.words import number_text
from labelrules.rules.views.terminal import DIGITS, ReadingNotation, ShortNames


class _ConditionNotation(ReadingNotation):
    """Conditions as in the view, but their thresholds as they are.

    Binary features always have quotes, since points and values stand beside them.
    """

    def __init__(self, theory: Theory) -> None:
        super().__init__(theory)
        self.is_bare = False

    def number(self, value: float) -> str:
        return number_text(value)


class ShortWords:
    """How explanations of a theory write names and conditions, as `theory_view` does.

    Or, if nothing is to be left out, with the same signs, but whole names and thresholds.
    """

    def __init__(self, theory: Theory, is_short: bool = True) -> None:
        self._notation = _ConditionNotation(theory)
        self._is_short = is_short
        if not is_short:
            self._notation.short = ShortNames({})

    def name(self, name: str) -> str:
        """A name, perhaps abbreviated."""
        return self._notation.short.name(name)

    def legend(self, text: str) -> Iterator[str]:
        """What the abbreviations in a text stand for, and whether its thresholds are rounded."""
        short = self._notation.short
        for one in short.legend():
            if one.partition(" = ")[0] in text:
                yield one
        numbers = self._notation.numbers.items()
        rounded = [re.escape(number) for value, number in numbers if float(number) != value]
        if rounded and re.search(rf"[≤>] (?:{'|'.join(rounded)})(?![\d.])", text):
            yield f"thresholds rounded to {DIGITS} digits"

    def explanation(self, explanation: Explanation) -> Explanation:
        """The same explanation in short words."""
        labels = tuple(map(self._label, explanation))
        return replace(explanation, labels=labels, unsettled=self._names(explanation.unsettled))

    def _names(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(self.name, names))

    def _label(self, one: LabelExplanation) -> LabelExplanation:
        return replace(
            one,
            label=self.name(one.label),
            rule=one.rule and self._rule(one.rule),
            votes=tuple(map(self._rule, one.votes)),
            choice=one.choice and self._choice(one.choice),
            closest=one.closest and self._rule(one.closest),
            counterfactual=one.counterfactual and self._change(one.counterfactual),
        )

    def _choice(self, choice: RowChoice) -> RowChoice:
        own = self._names(choice.own_labels)
        return choice._replace(labels=self._names(choice.labels), own_labels=own)

    def _change(self, change: Counterfactual) -> Counterfactual:
        changes = (replace(one, feature=self.name(one.feature)) for one in change.changes)
        return replace(change, changes=tuple(changes))

    def _rule(self, rule: CheckedRule) -> CheckedRule:
        return replace(rule, conditions=tuple(map(self._condition, rule.conditions)))

    def _condition(self, checked: CheckedCondition) -> CheckedCondition:
        condition = self._rounded_where_true(checked)
        text = self._notation.condition(condition, self._notation.schema)
        return replace(checked, condition=condition, text=text, name=self.name(checked.name))

    def _rounded_where_true(self, checked: CheckedCondition) -> Condition:
        """The condition with the threshold of the view, unless the row is on another side of it."""
        condition, value = checked.condition, checked.value
        is_threshold = not (condition.on_label or condition.is_equality)
        if not (is_threshold and self._is_short and isinstance(value, float)):
            return condition
        rounded = replace(condition, value=float(self._notation.numbers[condition.value]))
        return rounded if rounded.holds([value])[0] == checked.holds else condition
