"""A theory in figures: its rules, its labels, its features, and what they do on data."""

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from labelrules._types import UNSET
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.table import Dataset
from labelrules.inspection.explanation.row_history import check_theory
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.rule_usage import Usage, usage_of
from labelrules.rules import LayeredTheory, Once, Rule, Theory, conflict, is_more_general
from labelrules.rules.formats.frame import WHERE, pandas_frame, placed_rules
from labelrules.rules.formats.text import rule_text
from labelrules.rules.generality import is_satisfiable

if TYPE_CHECKING:
    import pandas

# -------------------- Rules that can never matter, and rules that contradict each other


class Pair(NamedTuple):
    """A rule, and those that make it useless, or the one that it contradicts."""

    place: Place
    text: str
    others: tuple[Place, ...]
    other_texts: tuple[str, ...]


def subsumed(theory: Theory, places: tuple[Place, ...]) -> tuple[Pair, ...]:
    """Rules of lists that cannot write anything, whatever the rows; with the rules to blame.

    Whenever the body of such a rule holds, the list has been ended before, or each label of its
    head has been written by an earlier rule whose body holds as well. If no row can satisfy the
    body, nobody is to blame. A rule that may end the list is of use.
    """
    found = []
    for part in _parts(theory):
        if not part.rules.ordered:
            continue
        for number in range(len(part.rules)):
            others = part.to_blame(number)
            if others is not None:
                others = [part.start + other for other in others]
                found.append(_pair(theory, places, part.start + number, others))
    return tuple(found)


def conflicting(theory: Theory, places: tuple[Place, ...]) -> tuple[Pair, ...]:
    """Pairs of rules of one part that contradict each other on a label and may fire together."""
    found = []
    for part in _parts(theory):
        for a, b in sorted(_opposed(part.rules)):
            if conflict(part.rules[a], part.rules[b], theory.schema):
                found.append(_pair(theory, places, part.start + b, [part.start + a]))
    return tuple(found)


class _TheoryPart(NamedTuple):
    """A list or a set of rules, and where it begins in its theory."""

    rules: Theory
    start: int
    looks: Literal["at itself", "back", "both"]
    """What conditions on labels see: the board being written, a finished one, or now this."""

    def to_blame(self, number: int) -> list[int] | None:
        """Earlier rules that leave nothing to a rule, None if they leave something."""
        rule, schema = self.rules[number], self.rules.schema
        if not is_satisfiable(rule.body, schema):
            return []
        wider = [i for i in range(number) if self._fires_before(i, number)]
        ends = [i for i in wider if self.rules[i].stops]
        if ends or rule.stops:
            return ends[:1] or None
        left = set(rule.head.labels)
        if self.looks == "at itself":
            # A label that is seen has been written, so nothing is left to say about it.
            left -= {condition.column for condition in rule.body.on_labels}
        blamed = [next((i for i in wider if j in self.rules[i].head.labels), None) for j in left]
        return None if None in blamed else sorted({i for i in blamed if i is not None})

    def _fires_before(self, earlier: int, later: int) -> bool:
        """Whether the earlier rule fires on every row on which the later one does."""
        body = self.rules[earlier].body
        if not is_more_general(body, self.rules[later].body, self.rules.schema):
            return False
        # What the later rule sees may have been written after the earlier one was asked.
        tested = {condition.column for condition in body.on_labels}
        between = self.rules.rules[earlier + 1 : later]
        written = {label for rule in between for label in rule.head.labels}
        return self.looks == "back" or not tested & written


def _parts(theory: Theory) -> list[_TheoryPart]:
    if not isinstance(theory, LayeredTheory):
        return [_TheoryPart(theory, 0, "at itself")]
    found: list[_TheoryPart] = []
    start = 0
    for number, layer in enumerate(theory.layers):
        alone = len(theory.layers) == 1 and not isinstance(theory.inference, Once)
        found.append(
            _TheoryPart(layer, start, "back" if number else "both" if alone else "at itself")
        )
        start += len(layer)
    if theory.fallback is not None:
        found.append(_TheoryPart(theory.fallback, start, "at itself"))
    return found


def _opposed(theory: Theory) -> set[tuple[int, int]]:
    """Pairs of rules of which one says that a label is present, the other that it is absent."""
    saying: dict[tuple[int, int], list[int]] = {}
    for number, rule in enumerate(theory):
        for literal in rule.head:
            saying.setdefault(literal, []).append(number)
    return {
        (min(a, b), max(a, b))
        for (label, value), numbers in saying.items()
        if value
        for a in numbers
        for b in saying.get((label, 0), [])
    }


def _pair(theory: Theory, places: tuple[Place, ...], number: int, others: list[int]) -> Pair:
    texts = tuple(rule_text(theory[i], theory.schema) for i in others)
    mine = rule_text(theory[number], theory.schema)
    return Pair(places[number], mine, tuple(places[i] for i in others), texts)


# ---------------------------------------------------------------- the main part


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
        from labelrules.inspection.summary_text import summary_lines

        return "\n".join(summary_lines(self))

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from labelrules.inspection.summary_html import summary_html

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
