"""Trace one row through a theory: which rule wrote each of its labels."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan
from typing import Any, overload

import numpy as np

from labelrules._checks import counted, is_whole, quoted, suggestion
from labelrules._report import Lines, Part, Report, Table
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset, column_of
from labelrules.data.times import TimeText
from labelrules.rules import (
    DecisionList,
    LabelSet,
    LayeredRun,
    LayeredTheory,
    Once,
    RuleSet,
    Run,
    Theory,
    theory_of,
)
from labelrules.rules.language.text import label_text, name_text, number_text, rule_texts
from labelrules.rules.layered_theory import without_labels
from labelrules.rules.theory import checked_board, closed, run_of

PRESENCE = ("absent", "present")
TITLES = ("label", "predicted", "by")
MANY_FEATURES = 30  # of longer rows only the values that are not 0 are shown


class RowTrace(Report):
    """One row traced through the rules of a theory."""

    theory: Theory
    values: Floats

    @property
    def headline(self) -> str:
        """The features of the row."""
        return _row_text(self.theory.schema, self.values)

    def lines(self) -> Iterator[str]:
        """For each label its value, and the rule that wrote it, layer by layer."""
        return (line for part in self._parts() for line in part.lines())


@dataclass(frozen=True, repr=False)
class Trace(RowTrace):
    """One row traced through a decision list or a rule set."""

    theory: DecisionList | RuleSet  #: The rules of a RuleSet vote: none of them writes a label.
    values: Floats  #: The encoded features of the row.
    board: Board  #: Its labels; `UNSET` where no rule decided.
    writer: Integers  #: For each label the rule that wrote it, -1 if none.
    stopped: int  #: The stopping rule that ended the list, -1 if none.
    is_fallback: bool = False  #: Whether it is the list for rows without a label.
    points: Integers | None = None  #: In a rule set, the points of each label, unless unknown.

    def __repr__(self) -> str:
        rules = counted(len({*self.writer.tolist()} - {-1}), "rule")
        return f"Trace({_labels_text(self.theory.schema, self.board)}; written by {rules})"

    def _parts(self) -> Iterator[Part]:
        yield Lines(list(_aligned(self.rows())))
        yield Lines(list(self.notes()))

    def _page(self) -> Iterator[Part]:
        yield Table(TITLES, list(self.rows()))
        yield Lines(list(self.notes()))

    def notes(self) -> Iterator[str]:
        """Which rule ended the list, or which usual label set the row gets."""
        if self.stopped >= 0 and not self.is_fallback:
            yield f"Rule {self.theory.called(self.stopped)} ended the list."
        label_set = self.label_set
        if label_set is not None:
            text = label_set_text(label_set, self.theory.schema)
            yield f"The row gets the usual label set {text}."

    @property
    def label_set(self) -> LabelSet | None:
        """The usual label set that a rule set gives to the row instead of the labels with points.

        None as well if both are the same.
        """
        if not isinstance(self.theory, RuleSet) or self.points is None:
            return None
        alone = RuleSet(self.theory.schema, at_least_one=self.theory.at_least_one)
        if np.array_equal(alone.decided(self.points[None, :])[0], self.board):
            return None
        given = tuple(np.flatnonzero(self.board == 1).tolist())
        return next((one for one in self.theory.label_sets if one.labels == given), None)

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """For each label its name, its value, and why."""
        for label, name in enumerate(self.theory.schema.labels):
            yield name, PRESENCE[int(self.board[label] == 1)], self._reason(label)

    def _reason(self, label: int) -> str:
        number = int(self.writer[label])
        if self.board[label] == UNSET:
            return "by default: no rule that covers the row predicts it"
        if number < 0 and not self.theory.ordered:
            return "by points" if self.points is None else counted(int(self.points[label]), "point")
        if number < 0:
            return "given"
        return f"rule {self.theory.called(number)}: {self.texts[number]}"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The rules in the rule language; in a list for rows without a label, each ends the row."""
        if not self.is_fallback:
            return rule_texts(self.theory)
        unmarked = (replace(rule, stops=False) for rule in self.theory)
        return rule_texts(self.theory.with_rules(unmarked))


@dataclass(frozen=True, repr=False)
class LayeredTrace(RowTrace):
    """One row traced through the layers of a theory."""

    theory: LayeredTheory
    values: Floats  #: The encoded features of the row.
    layers: tuple[Trace, ...]  #: One for each layer.
    rounds: int  #: After how many rounds the last layer settled; 0 if it did not, or is read once.
    unsettled: tuple[str, ...]  #: Labels that changed even in the last round.
    presence: Floats | None  #: If the last layer was sampled, the probability of each label.
    fallback: Trace | None = None  #: If the layers found no label: the list for such rows.

    def __repr__(self) -> str:
        last = self.layers[-1] if self.fallback is None else self.fallback
        labels = _labels_text(self.theory.schema, last.board)
        return f"LayeredTrace({labels}; {counted(len(self.layers), 'layer')})"

    def _parts(self) -> Iterator[Part]:
        for title, part, rows in self._layers():
            yield Lines([f"{title}:"] if title else [])
            yield Lines(list(_aligned(rows) if part is None else part.lines()))
        yield Lines(self._notes())

    def _page(self) -> Iterator[Part]:
        for title, part, rows in self._layers():
            yield Lines([title] if title else [])
            yield Table(TITLES, list(rows))
            yield Lines([] if part is None else list(part.notes()))
        yield Lines(self._notes())

    def _layers(self) -> Iterator[tuple[str, Trace | None, Iterator[tuple[str, str, str]]]]:
        """The title of each part, its trace unless it was sampled, and its rows."""
        for number, layer in enumerate(self.layers, 1):
            is_sampled = self.presence is not None and number == len(self.layers)
            rows = self._sampled() if is_sampled else layer.rows()
            title = f"Layer {number}" if len(self.layers) > 1 else ""
            yield title, None if is_sampled else layer, rows
        if self.fallback is not None:
            yield "If no label was found", self.fallback, self.fallback.rows()

    def _notes(self) -> list[str]:
        rounds = f"The last layer settled after {self.rounds} rounds."
        unsettled = [unsettled_text(self.unsettled)] if self.unsettled else []
        return [*([rounds] if self.rounds > 1 else []), *unsettled]

    def _sampled(self) -> Iterator[tuple[str, str, str]]:
        assert self.presence is not None, "only sampled layers have probabilities"
        for name, share in zip(self.theory.schema.labels, self.presence, strict=True):
            yield name, PRESENCE[int(share > 0.5)], f"sampled: probability {share:.2f}"


@overload
def trace(
    theory: LayeredTheory, X: Any, row: int = 0, board: Board | None = None
) -> LayeredTrace: ...
@overload
def trace(
    theory: DecisionList | RuleSet, X: Any, row: int = 0, board: Board | None = None
) -> Trace: ...
@overload
def trace(
    theory: Any, X: Any, row: int = 0, board: Board | None = None
) -> Trace | LayeredTrace: ...
def trace(theory: Any, X: Any, row: int = 0, board: Board | None = None) -> Trace | LayeredTrace:
    r"""Trace one row through a decision list, or through several in layers.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        The trace of a rule set names no rules, since they vote.
    X : array, sparse matrix, frame or Dataset
    row : int, default=0
        Which row of X.
    board : array of int8, optional
        Labels already given; see `Theory.apply`.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("not fashion <- sex = Male\nfashion, * <- true", readers.schema)
    >>> print(trace(theory, readers, 3))
    Row: education = University, marital = Divorced, sex = Female, children = No
      quality  absent   by default: no rule that covers the row predicts it
      tabloid  absent   by default: no rule that covers the row predicts it
      fashion  present  rule 2: otherwise: fashion, *
      sports   absent   by default: no rule that covers the row predicts it
    Rule 2 ended the list.
    """
    model = theory_of(theory)
    rows = encoded_rows(model, X)
    one = single_row(rows, row)
    given = None if board is None else checked_board(board, rows.X, model.schema, "board")[[row]]
    values = row_values(one)
    if not isinstance(model, LayeredTheory):
        return _trace(model, values, run_of(model, one, given), one)
    run = model.run(one, given)
    fallback = None
    if run.fallback is not None and without_labels(run.layers[-1].board)[0]:
        fallback = _trace(model.fallback, values, run.fallback, one, is_fallback=True)
    return LayeredTrace(
        model,
        values,
        tuple(_layer_traces(model, run, one)),
        int(run.rounds[0]),
        tuple(model.schema.labels[j] for j in np.flatnonzero(run.moving[0])),
        None if run.presence is None else run.presence[0],
        fallback,
    )


def _layer_traces(model: LayeredTheory, run: LayeredRun, one: Dataset) -> Iterator[Trace]:
    """The layers; the points of a last layer that reads its own labels are not known."""
    values, seen = row_values(one), None
    for number, (part, done) in enumerate(zip(model.layers, run.layers, strict=True), 1):
        is_once = number < len(model.layers) or isinstance(model.inference, Once)
        yield _trace(part, values, done, one if is_once else None, seen)
        seen = closed(done.board)


def _trace(
    theory: Any,
    values: Floats,
    run: Run,
    one: Dataset | None,
    seen: Board | None = None,
    is_fallback: bool = False,
) -> Trace:
    stopped = int(run.stopped[0])
    is_known = isinstance(theory, RuleSet) and one is not None
    points = theory.margin(one, reads=seen)[0] if is_known else None
    return Trace(theory, values, run.board[0], run.writer[0], stopped, is_fallback, points)


def _aligned(rows: Iterator[tuple[str, str, str]]) -> Iterator[str]:
    lines = list(rows)
    width = max((len(name) for name, _, _ in lines), default=0)
    return (f"  {name:<{width}}  {value:<7}  {reason}" for name, value, reason in lines)


def _row_text(schema: Schema, values: Floats) -> str:
    is_long = schema.n_features > MANY_FEATURES
    cells = [
        f"{name_text(feature.name)} = {value_text(named_value(feature, value))}"
        for feature, value in zip(schema.features, values, strict=True)
        if not (is_long and _is_zero(feature, value))
    ]
    n_left = schema.n_features - len(cells)
    rest = f" (all others, {n_left:,}, are 0)" if n_left else ""
    return f"Row: {', '.join(cells)}{rest}"


def _is_zero(feature: Feature, value: float) -> bool:
    """Whether a number is 0, or a binary feature absent."""
    if feature.present_code is not None:
        return value == 1 - feature.present_code
    return feature.is_numeric and value == 0


def _labels_text(schema: Schema, board: Board) -> str:
    return " and ".join(schema.labels[j] for j in np.flatnonzero(board == 1)) or "no label"


def label_set_text(label_set: LabelSet, schema: Schema) -> str:
    """A usual label set and its bonus, as in the rule language."""
    names = ", ".join(label_text(schema.labels[label]) for label in label_set.labels)
    return f"{{{names}}} {label_set.bonus:+}"


def unsettled_text(labels: tuple[str, ...]) -> str:
    """The message that a last layer which reads itself did not settle."""
    names = and_text(map(label_text, labels))
    return f"Not settled: {names} changed even in the last round, so the first round counts."


def encoded_rows(theory: Theory, X: Any) -> Dataset:
    """The rows of X, encoded; their labels are empty."""
    matrix = encode(X, theory.schema)
    empty = np.zeros((matrix.shape[0], theory.schema.n_labels), dtype=np.int8)
    return Dataset(theory.schema, matrix, empty)


def rows_and_truth(theory: Theory, data: Any) -> tuple[Dataset, Board | None]:
    """The rows of data, encoded, and their true labels, which only a Dataset has."""
    truth = encode_labels(data, theory.schema) if isinstance(data, Dataset) else None
    return encoded_rows(theory, data), truth


def single_row(rows: Dataset, row: object) -> Dataset:
    """One row as a data set of its own."""
    return rows.take([row_number(row, len(rows))])


def row_number(row: object, n_rows: int) -> int:
    """The number of a row that exists."""
    if not is_whole(row):
        raise TypeError(f"row must be the number of a row, not {row!r}")
    if not 0 <= row < n_rows:
        known = f"rows are numbered from 0 to {n_rows - 1}" if n_rows else "X has no rows"
        raise IndexError(f"there is no row {row}: {known}")
    return int(row)


def row_values(one: Dataset) -> Floats:
    """The encoded features of the only row of a data set."""
    return np.array([column_of(one.X, j)[0] for j in range(one.schema.n_features)])


def label_number(label: object, schema: Schema) -> int:
    """The number of a label, given by its name."""
    if not isinstance(label, str) or label not in schema.label_index:
        hint = suggestion(str(label), schema.labels)
        raise ValueError(f"there is no label {quoted(label)}{hint}")
    return schema.label_index[label]


def named_value(feature: Feature, value: float) -> float | str | None:
    """A number, the text of a category or a time, or None for a missing value."""
    if isnan(value):
        return None
    return float(value) if feature.is_numeric else feature.text(value)


def value_text(value: float | str | None) -> str:
    """A value in the rule language, a question mark for a missing one."""
    if value is None:
        return "?"
    if isinstance(value, TimeText):
        return value
    if isinstance(value, str):
        return name_text(value, keywords=frozenset({"not"}))
    return number_text(value)


def value_words(value: float | str | None, is_binary: bool) -> str:
    """A value as sentences have it: whether a binary feature is present, otherwise its text."""
    if is_binary and value is not None:
        return PRESENCE[int(value in ("1", "True") if isinstance(value, str) else value > 0)]
    return value_text(value)


def and_text(parts: Any) -> str:
    """A list in words.

    >>> and_text(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
