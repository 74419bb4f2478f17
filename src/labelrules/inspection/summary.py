"""A theory in figures: its rules, its labels, its features, and what they do on data."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelrules._types import UNSET
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.table import Dataset
from labelrules.discovery.constraint import pandas_frame
from labelrules.inspection.explanation import Place
from labelrules.inspection.passage import check_theory
from labelrules.inspection.redundancy import Pair, conflicting, subsumed
from labelrules.inspection.usage import Usage, usage_of
from labelrules.rules import LayeredTheory, Rule, Theory
from labelrules.rules.frame import WHERE, placed_rules
from labelrules.rules.text import rule_text

if TYPE_CHECKING:
    import pandas


class LabelSummary(NamedTuple):
    """The rules for one label."""

    label: str
    n_positive: int
    """Rules that say it is present."""
    n_negative: int
    n_conditions: int
    """Of these rules together."""
    n_dependent: int
    """Rules for it that test labels."""
    n_tested_by: int
    """Rules that test it."""
    n_undecided: int | None
    """Rows in which no rule decided it; None without data."""
    n_wrong: int | None
    """Rows in which the prediction is wrong; None without true labels."""


class FeatureSummary(NamedTuple):
    """The conditions on one feature."""

    feature: str
    n_rules: int
    n_conditions: int
    labels: tuple[str, ...]
    """Labels for which rules test it."""


class RuleSummary(NamedTuple):
    """One rule and what it does on data; the counts are None without data."""

    place: Place
    text: str
    n_covered: int | None
    """Rows on which it fires."""
    n_rows: int | None
    """Rows of which it decides a label, or has a vote on one."""
    n_cells: int | None
    """Cells that it writes, or votes on."""
    n_decided: int | None
    """Cells that are decided after it, in the order of the list."""
    n_overruled: int | None
    """Cells of rows on which it fires where the opposite is decided."""
    is_reached: bool | None
    """Whether it decides or has a vote, or ends the list for a row; in a layer that is asked again
    and again, in any of the rounds."""


@dataclass(frozen=True, eq=False)
class Summary:
    """A theory in figures; printing it gives a page.

    Attributes
    ----------
    theory : Theory
    head_sizes, body_sizes : dict of int to int
        How many rules have so many labels in the head, conditions in the body.
    n_conditions, n_label_conditions : int
        Conditions in all, and those on labels.
    n_positive, n_negative, n_mixed : int
        Rules whose heads say presence, absence, both.
    n_dependent : int
        Rules that test labels.
    n_stopping : int
        Rules with the stop mark.
    rules : tuple of RuleSummary
        In the order of the theory.
    labels : tuple of LabelSummary
    features : tuple of FeatureSummary
        Those that are tested, by falling number of rules.
    subsumed : tuple of Pair
        Rules of a list that can never write anything, with the earlier rules to blame.
    conflicting : tuple of Pair
        Pairs of rules that contradict each other on some label and may fire on the same row. In a
        list the earlier wins, which may well be meant.
    n_rows : int, optional
        Of the data.
    n_undecided_rows : int, optional
        Rows in which no rule decided any label.
    """

    theory: Theory
    head_sizes: dict[int, int]
    body_sizes: dict[int, int]
    n_conditions: int
    n_label_conditions: int
    n_positive: int
    n_negative: int
    n_mixed: int
    n_dependent: int
    n_stopping: int
    rules: tuple[RuleSummary, ...]
    labels: tuple[LabelSummary, ...]
    features: tuple[FeatureSummary, ...]
    subsumed: tuple[Pair, ...]
    conflicting: tuple[Pair, ...]
    n_rows: int | None
    n_undecided_rows: int | None

    @property
    def never_reached(self) -> tuple[RuleSummary, ...]:
        """Rules that do nothing on the data, so that they could be left out; none without data."""
        return tuple(rule for rule in self.rules if rule.is_reached is False)

    def rule_frame(self) -> "pandas.DataFrame":
        """One line per rule, as a pandas frame (needs the extra ``pandas``).

        The columns `layer`, `is_fallback` and `number` are those of
        :func:`labelrules.rules.theory_frame`, counted from 1.
        """
        columns = _columns(RuleSummary, self.rules)
        del columns["place"]
        places = [where for where, _, _ in placed_rules(self.theory)]
        found = {name: [where[name] for where in places] for name in WHERE}
        return pandas_frame({**found, **columns})

    def label_frame(self) -> "pandas.DataFrame":
        """One line per label, as a pandas frame (needs the extra ``pandas``)."""
        return pandas_frame(_columns(LabelSummary, self.labels))

    def feature_frame(self) -> "pandas.DataFrame":
        """One line per feature, as a pandas frame (needs the extra ``pandas``)."""
        return pandas_frame(_columns(FeatureSummary, self.features))

    def __str__(self) -> str:
        from labelrules.inspection.summarytext import summary_lines

        return "\n".join(summary_lines(self))

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from labelrules.inspection.figurespage import summary_html

        return summary_html(self)


def _columns(kind: Any, lines: tuple[Any, ...]) -> dict[str, list[Any]]:
    return {name: [getattr(line, name) for line in lines] for name in kind._fields}


def summary(theory: Theory, data: Any = None) -> Summary:
    r"""Summarise a theory, on data if there are any.

    Parameters
    ----------
    theory : DecisionList, RuleSet or LayeredTheory
        The layers of a layered theory are counted together.
    data : Dataset, array, sparse matrix or frame, optional
        Rows to apply the theory to; true labels are taken from a Dataset only.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- sex = Female\nnot sports <- quality\nquality <- sex = Female"
    >>> print(summary(parse(text, readers.schema), readers))
    3 rules with 3 conditions, 1 of them on labels
    labels in the head: 1 in 3 rules
    conditions in the body: 1 in 3 rules
    67% positive, 33% negative, 0% mixed heads
    33% label-dependent, 0% stopping
    on 14 rows 18% of the cells are decided, 9 rows not at all
    never reached: 1
      rule 3: quality <- sex = Female
    subsumed: 1
      rule 3: quality <- sex = Female
        by rule 1: quality <- sex = Female
    label    positive  negative  conditions  dependent  tested by  undecided  wrong
    quality         2         0           2          0          1          9      6
    tabloid         0         0           0          0          0         14      6
    fashion         0         0           0          0          0         14      3
    sports          0         1           1          1          0          9      2
    feature  rules  conditions  labels
    sex          2           2  quality
    """
    check_theory(theory)
    places = places_of(theory)
    usage = None if data is None else usage_of(theory, encode(data, theory.schema))
    forms = [rule.form for rule in theory]
    polarity = Counter(form.polarity for form in forms)
    return Summary(
        theory,
        _sizes(len(rule.head) for rule in theory),
        _sizes(len(rule.body) for rule in theory),
        sum(len(rule.body) for rule in theory),
        sum(len(rule.body.on_labels) for rule in theory),
        polarity["positive"],
        polarity["negative"],
        polarity["mixed"],
        sum(form.dependence != "independent" for form in forms),
        sum(form.stops for form in forms),
        _rules(theory, places, usage),
        _labels(theory, usage, data),
        _features(theory),
        subsumed(theory, places),
        conflicting(theory, places),
        None if usage is None else len(usage.board),
        None if usage is None else int((usage.board == UNSET).all(axis=1).sum()),
    )


def places_of(theory: Theory) -> tuple[Place, ...]:
    """Where each rule of a theory stands."""
    if not isinstance(theory, LayeredTheory):
        return tuple(Place(number) for number in range(len(theory)))
    found = [Place(n, layer) for layer, part in enumerate(theory.layers) for n in range(len(part))]
    n_last = 0 if theory.fallback is None else len(theory.fallback)
    return (*found, *(Place(number, is_fallback=True) for number in range(n_last)))


def _sizes(numbers: Any) -> dict[int, int]:
    return dict(sorted(Counter(numbers).items()))


def _rules(
    theory: Theory, places: tuple[Place, ...], usage: Usage | None
) -> tuple[RuleSummary, ...]:
    lines = []
    for number, (rule, place) in enumerate(zip(theory, places, strict=True)):
        counts = (None,) * 6 if usage is None else usage.of_rule(number)
        lines.append(RuleSummary(place, rule_text(rule, theory.schema), *counts))
    return tuple(lines)


def _labels(theory: Theory, usage: Usage | None, data: Any) -> tuple[LabelSummary, ...]:
    truth = encode_labels(data, theory.schema) if isinstance(data, Dataset) else None
    lines = []
    for label, name in enumerate(theory.schema.labels):
        rules = [rule for rule in theory if label in rule.head.labels]
        says = [dict(rule.head)[label] for rule in rules]
        cells = None if usage is None else usage.board[:, label]
        wrong = None
        if cells is not None and truth is not None:
            wrong = int(np.count_nonzero((cells == 1) != (truth[:, label] == 1)))
        lines.append(
            LabelSummary(
                name,
                sum(says),
                len(says) - sum(says),
                sum(len(rule.body) for rule in rules),
                sum(bool(rule.body.on_labels) for rule in rules),
                sum(any(c.column == label for c in rule.body.on_labels) for rule in theory),
                None if cells is None else int(np.count_nonzero(cells == UNSET)),
                wrong,
            )
        )
    return tuple(lines)


def _features(theory: Theory) -> tuple[FeatureSummary, ...]:
    testing: dict[int, list[Rule]] = {}
    for rule in theory:
        for column in dict.fromkeys(c.column for c in rule.body.on_features):
            testing.setdefault(column, []).append(rule)
    labels = theory.schema.labels
    lines = [
        FeatureSummary(
            theory.schema.features[column].name,
            len(rules),
            sum(c.column == column for rule in rules for c in rule.body.on_features),
            tuple(labels[j] for j in sorted({j for rule in rules for j in rule.head.labels})),
        )
        for column, rules in sorted(testing.items())
    ]
    return tuple(sorted(lines, key=lambda line: -line.n_rules))
