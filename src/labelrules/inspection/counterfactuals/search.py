"""The smallest change of a row that would change one of its labels."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf, isfinite, isnan, nextafter
from numbers import Integral
from typing import Any, Literal, TypeAlias

import numpy as np

from labelrules._checks import counted, quoted, suggestion
from labelrules._types import Floats, Mask, Matrix
from labelrules.data.memory.encoding import encode
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import column_of
from labelrules.inspection.counterfactuals.reasons import Reasons, slice_for
from labelrules.inspection.explanation.row_history import encoded_rows, single_row
from labelrules.rules import Theory
from labelrules.rules.formats.language import name_text, number_text

# -------------------- Values that a feature could be changed to: one for each answer that the
# rules could give


def moves(theory: Theory, column: int, value: float, seen: Floats | None = None) -> list[float]:
    """Encoded values for one feature of a row that the rules tell from its own, nearest first.

    The thresholds that rules compare a number with cut its line into ranges. Within one of them
    no rule sees a difference, so one value stands for each: the one nearest to the row's that
    occurs among `seen`, else the threshold itself on the way down, and the number just above it
    on the way up. Of categories each that some rule names stands for itself, and the first of the
    others for all others. No value is ever taken away: missing is not among the moves.

    Parameters
    ----------
    theory : Theory
    column : int
    value : float
        What the row has; NaN if it is missing.
    seen : array of float, optional
        Values of the column in training data, rising.
    """
    conditions = [c for rule in theory for c in rule.body.on_features if c.column == column]
    named = sorted({condition.value for condition in conditions})
    categories = theory.schema.features[column].categories
    if categories is not None:
        return _categories({int(code) for code in named}, len(categories), value)
    return _numbers(named, value, np.empty(0) if seen is None else seen)


def _categories(named: set[int], n_categories: int, value: float) -> list[float]:
    others = [code for code in range(n_categories) if code not in named]
    stand_in = set() if not isnan(value) and int(value) in others else set(others[:1])
    return [float(code) for code in sorted(named | stand_in) if code != value]


def _numbers(thresholds: list[float], value: float, seen: Floats) -> list[float]:
    """One number for each range between thresholds but that of the value."""
    edges = [-inf, *thresholds, inf]
    home = None if isnan(value) else int(np.searchsorted(thresholds, value, side="left"))
    found = []
    for number in range(len(thresholds) + 1):
        if number != home and thresholds:
            from_above = number == 0 if home is None else number < home
            found.append(_nearest(edges[number], edges[number + 1], from_above, seen))
    known = [number for number in found if number is not None]
    if home is None:
        return known
    return sorted(known, key=lambda number: (abs(number - value), number))


def _nearest(low: float, high: float, from_above: bool, seen: Floats) -> float | None:
    """A number greater than `low` and at most `high`, close to one end; None if there is none."""
    inside = seen[(seen > low) & (seen <= high)]
    if inside.size:
        return float(inside[-1] if from_above else inside[0])
    return high if from_above else just_above(low, high)


def just_above(low: float, high: float = inf) -> float | None:
    """A short number greater than `low` and at most `high`: one more in the last digit of `low`.

    If that is too much, in the digit after it, and so on. None if there is no number between.

    Examples
    --------
    >>> just_above(3), just_above(0.25), just_above(3, 3.5), just_above(1e16)
    (4.0, 0.26, 3.1, 2e+16)
    """
    written = Decimal(number_text(low))
    last = int(written.as_tuple().exponent)
    for power in range(last, last - 18, -1):
        number = float(written + Decimal(1).scaleb(power))
        if low < number <= high and isfinite(number):
            return number
    number = nextafter(low, inf)
    return number if number <= high and isfinite(number) else None


# ---------------------------------------------------------------- the main part

LIMIT = 10_000
"""How many rows a search tries by default."""

SETS_PER_ROW = 20
"""How many sets of features are made up for each row that may be tried."""

Assigned: TypeAlias = tuple[tuple[int, int], ...]
"""Features in order, each with the number of one of its values."""


@dataclass(frozen=True, slots=True)
class Move:
    """A feature that gets another value.

    Attributes
    ----------
    feature : str
    old, new : float, str or None
        A number or a category; None if the old value is missing.
    """

    feature: str
    old: float | str | None
    new: float | str

    def __str__(self) -> str:
        return f"{name_text(self.feature)} = {shown(self.new)} instead of {shown(self.old)}"


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """The fewest features to change so that a label changes; printing it says which.

    Attributes
    ----------
    label : str
    predicted : int
        What is predicted for the row as it is; the moves make it the other value.
    status : {"found", "impossible", "unknown"}
        "impossible" if no values of the features that may change would do, "unknown" if the
        search was given up.
    moves : tuple of Move
        In the order of the features; none unless found.
    at_least : int
        It has been shown that fewer features than this are not enough.
    n_tried : int
        Rows that were tried.
    values : tuple of float
        The encoded row after the moves, or as it is.
    """

    label: str
    predicted: int
    status: Literal["found", "impossible", "unknown"]
    moves: tuple[Move, ...]
    at_least: int
    n_tried: int
    values: tuple[float, ...]

    def __str__(self) -> str:
        name = name_text(self.label)
        wanted = "absent" if self.predicted else "present"
        if self.status == "found":
            return f"{name} would be {wanted} with {', '.join(map(str, self.moves))}"
        if self.status == "impossible":
            return f"{name} stays as it is whatever the values of the features that may change"
        return (
            f"the search for a change of {name} was given up after {counted(self.n_tried, 'row')}: "
            f"at least {counted(self.at_least, 'feature')} would have to change; raise limit to "
            "look further"
        )


def counterfactual(
    theory: Theory,
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
    theory : DecisionList, RuleSet or LayeredTheory
        Rules that are asked again and again (`UntilStable`, `LabelByLabel`, `Gibbs`) are tried
        without looking into them, so that the limit is sooner reached.
    X : array, sparse matrix, frame or Dataset
    label : str
    row : int, default=0
        Which row of X.
    fixed : iterable of str
        Features that cannot be changed.
    training : array, sparse matrix, frame or Dataset, optional
        Numbers are moved to values that occur here, if any is in the range needed. Otherwise they
        are moved to a threshold, or up by one in its last digit.
    limit : int, default=10000
        How many rows are tried before the search is given up.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- education = University\nnot sports <- quality\nsports <- true"
    >>> print(counterfactual(parse(text, readers.schema), readers, "sports", row=3))
    sports would be present with education = Primary instead of University
    """
    check_limit(limit)
    one, schema = single_row(encoded_rows(theory, X), row), theory.schema
    seen = None if training is None else encode(training, schema)
    values = np.array([column_of(one.X, j)[0] for j in range(schema.n_features)])
    return change_of(
        theory, values, label_number(label, schema), fixed_mask(fixed, schema), seen, limit
    )


def change_of(
    theory: Theory, values: Floats, label: int, fixed: Mask, seen: Matrix | None, limit: int
) -> Counterfactual:
    """`counterfactual` for an encoded row, when everything has been checked."""
    part = slice_for(theory, label)
    here = values[list(part.columns)]
    options = [[float(value)] for value in here]
    for j, column in enumerate(part.columns):
        if not fixed[column]:
            values_seen = None if seen is None else _observed(seen, column)
            options[j] += moves(part.theory, j, here[j], values_seen)
    search = _CounterfactualSearch(Reasons(part.theory, label), options, limit)
    status, found = search.search()
    after = values.copy()
    after[[part.columns[j] for j in found]] = list(found.values())
    changed = [part.columns[j] for j in sorted(found)]
    features = theory.schema.features
    return Counterfactual(
        theory.schema.labels[label],
        search.predicted,
        status,
        tuple(_move(features[j], values[j], after[j]) for j in changed),
        search.size,
        search.n_tried,
        tuple(after.tolist()),
    )


class _GaveUpError(Exception):
    """More rows would have to be tried than allowed."""


class _CounterfactualSearch:
    """Looks for the fewest features to change: sets that touch every known reason.

    Whoever wants to change the label must change a feature of every reason why it stays. So only
    such sets are tried; a set that does not help gives a new reason, outside of it.

    Parameters
    ----------
    reasons : Reasons
    options : sequence of list of float
        For each feature the value of the row, then those that it may be changed to, best first.
    limit : int
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
        """Whether there is a change, and the new values."""
        if not self.reasons.may_be(1 - self.predicted, self.options):
            self.size = max(1, self.n_free)
            return "impossible", {}
        try:
            found = self._search()
        except _GaveUpError:
            return "unknown", {}
        return ("found" if found else "impossible"), {j: self.options[j][n] for j, n in found}

    def _search(self) -> Assigned:
        reasons = [self._reason(())]
        for size in range(1, self.n_free + 1):
            self.size = size
            for columns in sorted(self._touching(reasons)):
                if all(reason.intersection(columns) for reason in reasons):
                    found, reason = self._explore(columns)
                    if found:
                        return found
                    reasons.append(reason)
        return ()

    def _touching(self, reasons: list[frozenset[int]]) -> Iterator[tuple[int, ...]]:
        """Sets of `size` features that touch every reason.

        Smaller ones that do have been tried, and have left a reason that they do not touch.
        """
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
                    raise _GaveUpError
                shortest = min(missed, key=len)
                for column in sorted(shortest):
                    waiting.append((chosen | {column}, passed_over))
                    passed_over = passed_over | {column}

    def _explore(self, columns: tuple[int, ...]) -> tuple[Assigned, frozenset[int]]:
        """The best change of these features, or a reason outside of them why there is none."""
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

    def _try(self, assignments: list[Assigned], liked: frozenset[int]) -> None:
        """Find out for each whether it changes the label, and if not, why."""
        new = [assigned for assigned in assignments if assigned not in self.known]
        if self.n_tried + len(new) > self.limit:
            raise _GaveUpError
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
                reason = self.reasons.reason(number, X, passed, decided, liked)
            self.known[assigned] = reason


def check_limit(limit: object) -> None:
    """Refuse what is no number of rows."""
    if isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1:
        raise ValueError(f"limit must be a whole number of at least 1, not {limit!r}")


def fixed_mask(fixed: Iterable[str], schema: Schema) -> Mask:
    """Which features are fixed; names are checked."""
    if isinstance(fixed, str):
        raise ValueError(f"fixed is one text, {quoted(fixed)}: give a list of features")
    if not isinstance(fixed, Iterable):
        raise ValueError(f"fixed is {fixed!r:.60}: give a list of features, an empty one for none")
    mask = np.zeros(schema.n_features, dtype=np.bool_)
    for name in fixed:
        if not isinstance(name, str) or name not in schema.feature_index:
            hint = suggestion(str(name), schema.feature_names)
            raise ValueError(f"there is no feature {quoted(name)} to keep fixed{hint}")
        mask[schema.feature_index[name]] = True
    return mask


def label_number(label: str, schema: Schema) -> int:
    """The number of a label; its name is checked."""
    if not isinstance(label, str) or label not in schema.label_index:
        hint = suggestion(str(label), schema.labels)
        raise ValueError(f"there is no label {quoted(label)}{hint}")
    return schema.label_index[label]


def _observed(seen: Matrix, column: int) -> Floats:
    values = np.unique(column_of(seen, column))
    return values[~np.isnan(values)]


def _move(feature: Feature, old: float, new: float) -> Move:
    after = named_value(feature, new)
    assert after is not None, "no value is made missing"
    return Move(feature.name, named_value(feature, old), after)


def named_value(feature: Feature, value: float) -> float | str | None:
    """A number, the name of a category, or None for a missing value."""
    if isnan(value):
        return None
    return float(value) if feature.categories is None else feature.categories[int(value)]


def shown(value: float | str | None) -> str:
    """A value as rules write it, a question mark for a missing one."""
    if value is None:
        return "?"
    if isinstance(value, str):
        return name_text(value, keywords=frozenset({"not"}))
    return number_text(value)
