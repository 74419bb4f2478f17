"""One rule as a page: its evidence, the rows behind it, and a form for every change of it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from labelrules._types import UNSET, Floats, Mask
from labelrules.data import Dataset
from labelrules.data.schema import Feature
from labelrules.inspection.review.replacements import Alternative, alternatives
from labelrules.rules import Body, Condition, LayeredTheory, Rule
from labelrules.rules.views.html import condition_parts
from labelrules.studio.web.project import Figures, PartFigures, RuleCounts, State
from labelrules.studio.web.site import Fields, InputError, NotThereError, Page, Site, address
from labelrules.studio.web.views.rules import (
    RuleLine,
    check_name,
    example_condition,
    line_of,
)

WIDTH, HEIGHT = 540, 120
N_BINS = 36
_TOP, _BASE = 6, 96


class SplitBar(NamedTuple):
    """A bar: rows whose label is as predicted, and the others on top of them."""

    x: float
    width: float
    right: float
    other: float
    middle: float
    n_right: int
    n_other: int


@dataclass(frozen=True)
class ThresholdPicture:
    """Rows that satisfy the other conditions of a rule, by the value of a feature."""

    bars: tuple[SplitBar, ...]
    low: float
    high: float
    value: float
    operator: str
    n_missing: int

    width, height, base = WIDTH, HEIGHT, _BASE

    @property
    def x(self) -> float:
        """Where the threshold stands."""
        return self.place(self.value)

    def place(self, value: float) -> float:
        """Where a value stands, at the edge if it is beyond."""
        share = (value - self.low) / (self.high - self.low)
        return round(min(max(share, 0.0), 1.0) * WIDTH, 1)

    def is_in(self, bar: SplitBar) -> bool:
        """Whether the middle of a bar satisfies the condition."""
        return bar.middle <= self.value if self.operator == "<=" else bar.middle > self.value


def threshold_picture(
    values: Floats, condition: Condition, reached: Mask, is_right: Mask
) -> ThresholdPicture:
    """The values of the rows that satisfy the other conditions, in bars of equal width.

    >>> values = np.array([1.0, 2.0, 9.0, np.nan])
    >>> rows = np.array([True, True, True, True])
    >>> made = threshold_picture(values, Condition.at_most(0, 5), rows, values < 3)
    >>> sum(bar.n_right for bar in made.bars), sum(bar.n_other for bar in made.bars), made.n_missing
    (2, 1, 1)
    """
    is_known = ~np.isnan(values)
    known = values[is_known]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    low, high = min(low, condition.value), max(high, condition.value)
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges = np.linspace(low, high, N_BINS + 1)
    right, _ = np.histogram(values[reached & is_known & is_right], edges)
    other, _ = np.histogram(values[reached & is_known & ~is_right], edges)
    most = max(int((right + other).max(initial=0)), 1)
    scale, step = (_BASE - _TOP) / most, WIDTH / N_BINS
    bars = tuple(
        SplitBar(
            round(i * step + 0.5, 1), round(step - 1, 1), round(r * scale, 1), round(o * scale, 1),
            float((edges[i] + edges[i + 1]) / 2), r, o,
        )
        for i, (r, o) in enumerate(zip(right.tolist(), other.tolist(), strict=True))
    )  # fmt: skip
    n_missing = int((reached & ~is_known).sum())
    return ThresholdPicture(bars, low, high, condition.value, condition.operator, n_missing)


ROWS_SHOWN = 40
MOST_CHOICES = 400
"""Features or labels that a list to choose from has at most."""


@dataclass(frozen=True)
class LabelEvidence:
    """What a rule says of one label, and how often it was right."""

    name: str
    value: int
    counts: dict[str, RuleCounts]
    alone: dict[str, RuleCounts]
    share: float  # of the known training rows that have the predicted value


@dataclass(frozen=True)
class ShownCondition:
    """A condition with what is needed to change it."""

    number: int
    parts: dict[str, Any]
    feature: Feature | None
    value: str
    histogram: ThresholdPicture | None

    @property
    def has_threshold(self) -> bool:
        """Whether it compares with a threshold that can be moved."""
        return self.feature is not None and not self.feature.is_nominal


def rule_page(site: Site, state: State, fields: Fields) -> Page:
    """The page of a rule."""
    number, figures = fields.number("number"), site.figures(state)
    line = found_line(number, state, figures)
    place = figures.places.get(number)
    schema, rule = state.editor.theory.schema, line.edited.rule
    label = fields.name("label")
    check_name(label, schema.labels, "label")
    shown = schema.label_index[label] if label else rule.head.labels[0]
    values = {
        "title": f"Rule {number}",
        "line": line,
        "n_rules": len(figures.rules),
        "labels": [] if place is None else _evidence(rule, place, figures),
        "shown_label": schema.labels[shown],
        "rows": {} if place is None else rows_behind(place, shown, figures),
        "conditions": shown_conditions(rule, shown, state.editor.data),
        "schema": schema,
        "example": example_condition(state),
        "head_values": {schema.labels[one]: value for one, value in rule.head},
        "has_alternatives": place is not None and _is_in_list(line, place, figures),
        "may_choose_feature": schema.n_features <= MOST_CHOICES,
    }
    return Page("rule.html", values)


def _is_in_list(line: RuleLine, place: int, figures: Figures) -> bool:
    """Whether earlier rules leave cells open for the rule, so that others could stand there."""
    return not line.edited.for_no_label and any(
        0 <= place - part.start < len(part.rules) for part in figures.training.runs
    )


def found_line(number: int, state: State, figures: Figures) -> RuleLine:
    """The rule with a number."""
    rules = figures.rules
    if not 1 <= number <= len(rules):
        raise NotThereError(
            f"there is no rule {number}: the rules have the numbers 1 to {len(rules)}"
        )
    return line_of(rules[number - 1], state, figures)


def _evidence(rule: Rule, place: int, figures: Figures) -> list[LabelEvidence]:
    found = []
    for label, value in rule.head:
        truth = figures.training.data.Y[:, label]
        n_known = int((truth != UNSET).sum())
        found.append(
            LabelEvidence(
                figures.editor.theory.schema.labels[label],
                value,
                {n: part.of_label(place, label) for n, part in figures.parts.items() if part.runs},
                {n: part.alone(place, label) for n, part in figures.parts.items() if part.runs},
                int((truth == value).sum()) / n_known if n_known else 0.0,
            )
        )
    return found


def rows_behind(place: int, label: int, figures: Figures) -> dict[str, dict[str, Any]]:
    """The first rows in which a rule decides a label, by part of the data and by truth."""
    return {name: _first_rows(part, place, label) for name, part in figures.parts.items()}


def _first_rows(part: PartFigures, place: int, label: int) -> dict[str, Any]:
    rows = part.rows_of(place, label)
    return {
        kind: {"n": len(numbers), "first": numbers[:ROWS_SHOWN].tolist()}
        for kind, numbers in rows._asdict().items()
    }


def shown_conditions(rule: Rule, label: int, data: Dataset) -> list[ShownCondition]:
    """The conditions of a rule, with histograms of the features that have a threshold."""
    value = dict(rule.head)[label] if label in rule.head.labels else rule.head.values[0]
    is_right = data.Y[:, label] == value
    return [
        _shown(number, condition, rule.body, is_right, data)
        for number, condition in enumerate(rule.body, 1)
    ]


def _shown(
    number: int, condition: Condition, body: Body, is_right: Mask, data: Dataset
) -> ShownCondition:
    parts = condition_parts(condition, data.schema)
    if condition.on_label:
        return ShownCondition(number, parts, None, "", None)
    feature = data.schema.features[condition.column]
    text = feature.text(condition.value)
    picture = None
    if not feature.is_nominal and feature.categories is None:
        reached = fits_others(body, condition, data)
        picture = threshold_picture(data.column(condition.column), condition, reached, is_right)
    return ShownCondition(number, parts, feature, text, picture)


def fits_others(body: Body, condition: Condition, data: Dataset) -> Mask:
    """Rows that a threshold divides: they satisfy the other conditions on features."""
    reached = np.ones(len(data.Y), dtype=np.bool_)
    for other in body.on_features:
        if other != condition:
            reached &= other.holds(data.column(other.column))
    return reached


RANKINGS = (
    "f1/micro/partial",
    "precision/micro/partial",
    "accuracy/micro/partial",
    "f0.5/micro/partial",
)


class ShownAlternative(NamedTuple):
    """An alternative with the address of its preview."""

    one: Alternative
    preview: str


def alternatives_page(site: Site, state: State, fields: Fields) -> Page:
    """Other heads for a body, similar bodies and shorter ones, ranked by a measure."""
    number, figures = fields.number("number"), site.figures(state)
    line = found_line(number, state, figures)
    place = line.edited.place
    if place is None:
        raise InputError(f"rule {number} is disabled, so it has no place for which to look")
    measure = fields.choice("measure", RANKINGS)
    theory = state.editor.theory
    is_last = place.is_fallback or (place.layer is None and isinstance(theory, LayeredTheory))
    if place.is_fallback:
        raise InputError(f"rule {number} is for rows without a label: there are no alternatives")
    layer = None if place.layer is None else place.layer + 1
    found = alternatives(
        theory, place.number + 1, state.editor.data, measure, validation=state.editor.validation,
        layer=1 if layer is None and is_last else layer,
    )  # fmt: skip
    groups = {
        "Other heads": found.heads,
        "Similar bodies": found.bodies,
        "Shorter bodies": found.pruned,
    }
    values = {
        "title": f"Alternatives to rule {number}", "line": line, "found": found,
        "groups": {
            name: [
                ShownAlternative(
                    one, address("/preview", op="replace", number=number, rule=one.text)
                )
                for one in members
                if one.fix is not None
            ]
            for name, members in groups.items()
        },
        "measure": measure, "rankings": RANKINGS,
        "has_validation": state.editor.validation is not None,
    }  # fmt: skip
    return Page("alternatives.html", values)
