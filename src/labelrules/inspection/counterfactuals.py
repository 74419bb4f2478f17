"""Counterfactuals: the smallest change of a row that would change one of its labels."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import inf, isfinite, isnan, nextafter
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from scipy import sparse

from labelrules._checks import counted, quoted, suggestion, whole_number
from labelrules._report import Part, Report, Table
from labelrules._types import Floats, Mask, Matrix
from labelrules.data.memory.encoding import encode
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import column_of
from labelrules.data.times import later
from labelrules.inspection.reasons import (
    LimitReachedError,
    PointSearch,
    Reasons,
    is_additive,
    slice_for,
)
from labelrules.inspection.tracing import (
    PRESENCE,
    encoded_rows,
    label_number,
    named_value,
    row_values,
    single_row,
    value_text,
    value_words,
)
from labelrules.rules import Theory, theory_of
from labelrules.rules.language.text import label_text, name_text, number_text, quoted_text

LIMIT = 10_000  # how many rows a search tries by default
SETS_PER_ROW = 20  # sets of features that a search considers for each row that it may try
Assigned: TypeAlias = tuple[tuple[int, int], ...]  # features, each with the number of a value


@dataclass(frozen=True, slots=True)
class FeatureChange:
    """A feature that gets another value."""

    feature: str
    old: float | str | None
    new: float | str  #: A number or a category; None if the old value is missing.
    is_binary: bool = field(default=False, repr=False)
    """Whether the feature is either present or absent."""

    @property
    def condition(self) -> str:
        """What would have to be, after an "if": "age were 30", or "cough were absent"."""
        # A word such as 2000 would read as a number.
        is_quoted = self.is_binary and self.feature[:1].isdigit()
        name = quoted_text(self.feature, '"') if is_quoted else name_text(self.feature)
        return f"{name} were {value_words(self.new, self.is_binary)}"

    def __str__(self) -> str:
        return (
            f"{name_text(self.feature)} = {value_text(self.new)} instead of {value_text(self.old)}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Counterfactual(Report):
    """The fewest features to change so that a label changes."""

    label: str
    predicted: int  #: The prediction for the row as it is; the changes make it the other value.
    status: Literal["found", "impossible", "unknown"]
    """"impossible" if no values of the features that may change would do, "unknown" if the search
    reached its limit."""
    changes: tuple[FeatureChange, ...]  #: In the order of the features; none unless found.
    at_least: int  #: Fewer features than this have been shown not to be enough.
    n_tried: int  #: Rows that were tried.
    values: tuple[float, ...]  #: The encoded row after the changes, or as it is.

    _value: ClassVar[str] = "{}({})"

    @property
    def headline(self) -> str:
        """What would change the label."""
        name = label_text(self.label)
        if self.status == "found":
            changes = ", ".join(map(str, self.changes))
            return f"{name} would be {PRESENCE[1 - self.predicted]} with {changes}"
        if self.status == "impossible":
            return f"{name} stays as it is whatever the values of the features that may change"
        return (
            f"the search for a change of {name} stopped after {counted(self.n_tried, 'row')}: at "
            f"least {counted(self.at_least, 'feature')} must change; raise limit to search further"
        )

    def _page(self) -> Iterator[Part]:
        rows = [(c.feature, value_text(c.old), value_text(c.new)) for c in self.changes]
        yield Table(("feature", "in the row", "changed to"), rows)


def counterfactual(
    theory: Any,
    X: Any,
    label: str,
    row: int = 0,
    *,
    fixed: Iterable[str] = (),
    training: Any = None,
    limit: int = LIMIT,
) -> Counterfactual:
    r"""Find the fewest features whose change would change one label of one row.

    The result is exact: no smaller set of features would do, through all labels that the label
    depends on. Of several sets of that size the first is taken, in the order of the features; of
    several values the nearest to the row's, the first feature first. Categories come in their
    order. No value is made missing, but a missing one may get a value.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        Layers that read their own labels (`UntilStable`, `LabelByLabel`, `Gibbs`) give no reasons
        to narrow the search, so that it reaches the limit sooner.
    X : array, sparse matrix, frame or Dataset
    label : str
    row : int, default=0
        Which row of X.
    fixed : iterable of str
        Features that cannot be changed.
    training : array, sparse matrix, frame or Dataset, optional
        Numbers are changed to values that occur here, if one is in the range needed; otherwise to
        a threshold, or just above it, one more in its last digit.
    limit : int, default=10000
        How many rows to try before the search stops.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- education = University\nnot sports <- quality\nsports <- true"
    >>> print(counterfactual(parse(text, readers.schema), readers, "sports", row=3))
    sports would be present with education = Primary instead of University
    """
    limit = whole_number(limit, "limit", low=1)
    model = theory_of(theory)
    schema = model.schema
    values = row_values(single_row(encoded_rows(model, X), row))
    seen = None if training is None else encode(training, schema)
    number, mask = label_number(label, schema), fixed_mask(fixed, schema)
    return counterfactual_of(model, values, number, mask, seen, limit)


def counterfactual_of(
    theory: Theory, values: Floats, label: int, fixed: Mask, seen: Matrix | None, limit: int
) -> Counterfactual:
    """`counterfactual` for an encoded row; the arguments have been checked."""
    part = slice_for(theory, label)
    here = values[list(part.columns)]
    options = [[float(value)] for value in here]
    named = values_named(part.theory)
    for j, column in enumerate(part.columns):
        if not fixed[column]:
            values_seen = None if seen is None else _observed(seen, column)
            feature = part.theory.schema.features[j]
            options[j] += candidate_values(feature, named.get(j, []), here[j], values_seen)
    search: _CounterfactualSearch | PointSearch
    if is_additive(part.theory):
        search = PointSearch(part.theory, label, options, limit)
    else:
        search = _CounterfactualSearch(Reasons(part.theory, label), options, limit)
    status, new = search.search()
    after = values.copy()
    after[[part.columns[j] for j in new]] = list(new.values())
    changed = [part.columns[j] for j in sorted(new)]
    features = theory.schema.features
    return Counterfactual(
        theory.schema.labels[label],
        search.predicted,
        status,
        tuple(_change(features[j], values[j], after[j]) for j in changed),
        search.size,
        search.n_tried,
        tuple(after.tolist()),
    )


class _CounterfactualSearch:
    """Searches for the fewest features to change: sets that hit every known reason.

    To change the label, a feature of every reason why it stays must change; a set that hits all and
    fails gives a new reason. The options of a feature are the row's value, then others, best first.
    """

    def __init__(self, reasons: Reasons, options: Sequence[list[float]], limit: int) -> None:
        self.reasons, self.options, self.limit = reasons, options, limit
        self.values = np.array([values[0] for values in options])
        self.still = frozenset(j for j, values in enumerate(options) if len(values) == 1)
        self.n_free = len(options) - len(self.still)
        self.n_tried, self.size = 0, 1
        self.known: dict[Assigned, frozenset[int] | None] = {}
        self.predicted = int(reasons.run(self.values[None, :])[0][0])

    def search(self) -> tuple[Literal["found", "impossible", "unknown"], dict[int, float]]:
        """Whether a change was found, and the new values."""
        if not self.reasons.may_be(1 - self.predicted, self.options):
            self.size = max(1, self.n_free)
            return "impossible", {}
        try:
            change = self._search()
        except LimitReachedError:
            return "unknown", {}
        return ("found" if change else "impossible"), {j: self.options[j][n] for j, n in change}

    def _search(self) -> Assigned:
        reasons = [self._reason(())]
        for size in range(1, self.n_free + 1):
            self.size = size
            for columns in sorted(self._hitting(reasons)):
                if all(reason.intersection(columns) for reason in reasons):
                    change, reason = self._explore(columns)
                    if change:
                        return change
                    reasons.append(reason)
        return ()

    def _hitting(self, reasons: list[frozenset[int]]) -> Iterator[tuple[int, ...]]:
        """Sets of `size` features that hit every reason; no smaller one hits all of them."""
        waiting: list[tuple[frozenset[int], frozenset[int]]] = [(frozenset(), frozenset())]
        n_sets = 0
        while waiting:
            chosen, passed_over = waiting.pop()
            missed: list[frozenset[int]] = [
                reason - passed_over for reason in reasons if not reason & chosen
            ]
            if not missed:
                yield tuple(sorted(chosen))
            elif len(chosen) < self.size:
                n_sets += 1
                if n_sets > SETS_PER_ROW * self.limit:
                    raise LimitReachedError
                shortest = min(missed, key=len)
                for column in sorted(shortest):
                    waiting.append((chosen | {column}, passed_over))
                    passed_over = passed_over | {column}

    def _explore(self, columns: tuple[int, ...]) -> tuple[Assigned, frozenset[int]]:
        """The best change of these features, or a reason outside them why there is none."""
        outside: frozenset[int] = frozenset()
        changes: list[Assigned] = []
        waiting: list[Assigned] = [()]
        while waiting:
            assigned = waiting.pop()
            reason = self.known[assigned]
            if reason is None:
                changes.append(assigned)
                continue
            left = reason.intersection(columns)
            if not left:
                outside |= reason
                continue
            # The value that the row has is one of those that the feature may take.
            choices = range(len(self.options[min(left)]))
            children = [tuple(sorted((*assigned, (min(left), n)))) for n in choices]
            self._try(children, outside)
            waiting += children
        return min(changes, default=()), outside

    def _reason(self, assigned: Assigned) -> frozenset[int]:
        self._try([assigned], frozenset())
        return self.known[assigned] or frozenset()

    def _try(self, assignments: list[Assigned], preferred: frozenset[int]) -> None:
        """Predict each, and record a reason for those that leave the label as it is."""
        new = [assigned for assigned in assignments if assigned not in self.known]
        if self.n_tried + len(new) > self.limit:
            raise LimitReachedError
        if not new:
            return
        self.n_tried += len(new)
        X = np.repeat(self.values[None, :], len(new), axis=0)
        for number, assigned in enumerate(new):
            for column, choice in assigned:
                X[number, column] = self.options[column][choice]
        labels, passed = self.reasons.run(X)
        for number, assigned in enumerate(new):
            reason = None
            if labels[number] == self.predicted:
                decided = self.still | {column for column, _ in assigned}
                reason = self.reasons.reason(number, X, passed, decided, preferred)
            self.known[assigned] = reason


def fixed_mask(fixed: Iterable[str], schema: Schema) -> Mask:
    """Which features are fixed."""
    if isinstance(fixed, str):
        raise ValueError(f"fixed is one text, {quoted(fixed)}: give a list of features")
    if not isinstance(fixed, Iterable):
        raise ValueError(f"fixed must be a list of features, empty for none, not {fixed!r:.60}")
    mask = np.zeros(schema.n_features, dtype=np.bool_)
    for name in fixed:
        if not isinstance(name, str) or name not in schema.feature_index:
            hint = suggestion(str(name), schema.feature_names)
            raise ValueError(f"there is no feature {quoted(name)} to keep fixed{hint}")
        mask[schema.feature_index[name]] = True
    return mask


def _observed(seen: Matrix, column: int) -> Floats:
    values: Floats
    if sparse.issparse(seen):  # zeros are most of a column, and one of them is enough
        values = np.unique(seen.data[seen.indptr[column] : seen.indptr[column + 1]])
        n_stored = seen.indptr[column + 1] - seen.indptr[column]
        values = np.union1d(values, [0.0]) if n_stored < seen.shape[0] else values
    else:
        values = np.unique(column_of(seen, column))
    return values[~np.isnan(values)]


def _change(feature: Feature, old: float, new: float) -> FeatureChange:
    after = named_value(feature, new)
    assert after is not None, "no value is made missing"
    is_binary = feature.present_code is not None or (feature.kind == "amount" and new == 0)
    return FeatureChange(feature.name, named_value(feature, old), after, is_binary)


def values_named(theory: Theory) -> dict[int, list[float]]:
    """The thresholds and categories that the rules name, rising, by features."""
    found: dict[int, set[float]] = defaultdict(set)
    for rule in theory:
        for one in rule.body.on_features:
            found[one.column].update(one.codes or (one.value,))
    return {column: sorted(values) for column, values in found.items()}


def candidate_values(
    feature: Feature, named: list[float], value: float, seen: Floats | None = None
) -> list[float]:
    """Encoded values of one feature that the rules distinguish from the row's own, nearest first.

    The rules name some values of it.

    Between two thresholds no rule sees a difference, so one number, time or category that has an
    order represents each range: the nearest that occurs among `seen` (rising), else the threshold
    itself downwards, or that just above it upwards. Each other category that some rule names
    represents itself, the first that is not named all of those. Missing is never a candidate.
    """
    if feature.is_nominal:
        return _categories({int(code) for code in named}, len(feature.categories or ()), value)
    return _numbers(named, value, np.empty(0) if seen is None else seen, feature)


def _categories(named: set[int], n_categories: int, value: float) -> list[float]:
    others = [code for code in range(n_categories) if code not in named]
    represented = not isnan(value) and int(value) in others
    candidates = named if represented else named | set(others[:1])
    return [float(code) for code in sorted(candidates) if code != value]


def _numbers(thresholds: list[float], value: float, seen: Floats, feature: Feature) -> list[float]:
    """One number for each range between thresholds, except the range of the value."""
    edges = [-inf, *thresholds, inf]
    home = None if isnan(value) else int(np.searchsorted(thresholds, value, side="left"))
    nearest = []
    for number in range(len(thresholds) + 1):
        if number != home and thresholds:
            from_above = number == 0 if home is None else number < home
            nearest.append(_nearest(edges[number], edges[number + 1], from_above, seen, feature))
    values = [number for number in nearest if number is not None]
    if home is None:
        return values
    return sorted(values, key=lambda number: (abs(number - value), number))


def _nearest(
    low: float, high: float, from_above: bool, seen: Floats, feature: Feature
) -> float | None:
    """A number greater than `low` and at most `high`, close to one end; None if there is none."""
    inside = seen[(seen > low) & (seen <= high)]
    if inside.size:
        return float(inside[-1] if from_above else inside[0])
    return high if from_above else _following(low, high, feature)


def _following(low: float, high: float, feature: Feature) -> float | None:
    """A value of a feature that follows on a threshold."""
    if feature.time is not None:
        return later(low, high, feature.time)
    if feature.categories is not None:
        return low + 1 if low + 1 <= min(high, len(feature.categories) - 1) else None
    return just_above(low, high)


def just_above(low: float, high: float = inf) -> float | None:
    """A short number greater than `low` and at most `high`, or None: one more in its last digit.

    If that is too much, in the digit after it, and so on: for 3 and 3.5 it is 3.1.
    """
    written = Decimal(number_text(low))
    last = int(written.as_tuple().exponent)
    for power in range(last, last - 18, -1):
        number = float(written + Decimal(1).scaleb(power))
        if low < number <= high and isfinite(number):
            return number
    number = nextafter(low, inf)
    return number if number <= high and isfinite(number) else None
