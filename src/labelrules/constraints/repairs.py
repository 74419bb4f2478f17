"""Repairs of label sets that violate constraints, by the fewest or cheapest changes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted
from labelrules._report import (
    Columns,
    Excerpt,
    Lines,
    Part,
    Report,
    Tabular,
    field_columns,
    first_lines,
)
from labelrules._types import Board, Floats, Integers, Mask
from labelrules.constraints.clauses import (
    Clauses,
    SearchTooLongError,
    cheapest_flips,
    consistent,
    rules_of,
)
from labelrules.constraints.constraint import SHOWN, Constraints
from labelrules.constraints.label_counts import named_labels
from labelrules.data import Dataset, Schema, encode_labels
from labelrules.data.errors import DataError
from labelrules.rules import Rule, Theory

SURE = 1e-9  # probabilities nearer to 0 or 1 than this count as this near
STEPS = 10**6  # log-odds and scores are rounded to multiples of 1/STEPS, so that sums are exact
FAR = 1e6  # scores further from 0 than this count as this far


class Change(NamedTuple):
    """A label of a row that was changed, and the constraints that the row would else violate."""

    row: int
    label: str
    was: int
    now: int
    because: tuple[str, ...]


class Violation(NamedTuple):
    """A row that violates a constraint."""

    row: int
    constraint: str


@dataclass(frozen=True, eq=False, repr=False)
class Repairs(Report, Tabular):
    """Label sets before and after a repair; printing shows the changes.

    Attributes
    ----------
    schema : Schema
    before, after : array of int8
        Rows by labels.
    clauses : Clauses
        The constraints that the labels now satisfy.
    """

    schema: Schema
    before: Board
    after: Board
    clauses: Clauses

    @property
    def changed(self) -> Mask:
        """Rows by labels: which cells were changed."""
        return np.asarray(self.before != self.after)

    @property
    def rows(self) -> Integers:
        """The rows that were changed."""
        return np.flatnonzero(self.changed.any(axis=1))

    def changes(self) -> list[Change]:
        """Every cell that was changed, by row and label."""
        changes = []
        for row, label in np.argwhere(self.changed).tolist():
            cells = int(self.before[row, label]), int(self.after[row, label])
            reasons = self._because(row, label)
            changes.append(Change(row, self.schema.labels[label], *cells, reasons))
        return changes

    def _because(self, row: int, label: int) -> tuple[str, ...]:
        """The clauses that only the changed label satisfies."""
        cells = self.after[row]
        numbers = self.clauses.having.get((label, int(cells[label])), ())
        literals = {number: self.clauses.clauses[number].literals for number in numbers}
        only = [n for n in numbers if sum(cells[j] == value for j, value in literals[n]) == 1]
        return tuple(self.clauses.text(number) for number in only)

    def as_dict(self) -> Columns:
        """The changes as columns, for a data frame of any library."""
        return field_columns(Change, self.changes())

    @property
    def headline(self) -> str:
        """How many labels were changed, in how many rows."""
        labels, rows = counted(int(self.changed.sum()), "label"), counted(len(self.before), "row")
        return f"{labels} changed in {len(self.rows)} of {rows}"

    def _parts(self) -> Iterator[Part]:
        changes = self.changes()
        lines = [
            f"row {one.row}: {'+' if one.now else '-'}{one.label}  ({'; '.join(one.because)})"
            for one in changes[:SHOWN]
        ]
        yield Lines(first_lines(lines, len(changes)))

    def _page(self) -> Iterator[Part]:
        changes = self.changes()
        rows = [(*one[:4], "; ".join(one.because)) for one in changes[:SHOWN]]
        yield Excerpt(Change._fields, rows, len(changes))


def repair(
    Y: Any,
    constraints: Any,
    *,
    probabilities: npt.ArrayLike | None = None,
    scores: npt.ArrayLike | None = None,
    label_names: Sequence[str] | None = None,
) -> Repairs:
    r"""Change labels so that every row satisfies the constraints; the repair is exact.

    Each row gets the consistent label set that differs from its own in the fewest labels. With
    `probabilities` it gets the one whose changes cost least, where a change costs the log-odds of
    the label as it was, and nothing if these are negative. If Y holds the labels that are more
    probable than not, that is the most probable consistent label set, for independent labels. With
    `scores` a change costs the score itself: a ranking is corrected where its scores are smallest.
    Ties: the fewest changes, then the label set in which the first label is unchanged, else the
    second, etc.

    Parameters
    ----------
    Y : array, sparse matrix, frame, label sets, Dataset, or None
        Predicted labels. With None, those with a probability above one half, or a score above 0.
    constraints : Constraints, RuleSet, DecisionList, Rule, str, or list of them
        Rules that test labels only; their order does not matter. Text is in the rule language:
        ``"a <- b"`` means that b occurs only with a, ``"not a <- b"`` that they exclude each other,
        ``"a <- true"`` that a is always present.
    probabilities, scores : array of float, optional
        Rows by labels, one of the two: the probability that a label is present; or a score, above 0
        for presence, below 0 for absence.
    label_names : sequence of str, optional
        The names of the labels, if neither Y nor the constraints have names.

    Raises
    ------
    ValueError
        If no label set satisfies the constraints; the message names those that contradict each
        other. Or if a row violates so many that the search would take minutes.

    Examples
    --------
    >>> done = repair([{"jazz"}, {"music", "jazz", "silence"}],
    ...     "music <- jazz\nnot silence <- music", label_names=["music", "jazz", "silence"])
    >>> print(done)
    2 labels changed in 2 of 2 rows
      row 0: -jazz  (music <- jazz)
      row 1: -silence  (not silence <- music)
    >>> likely = repair(None, "y0 <- y1", probabilities=[[0.4, 0.9]])
    >>> likely.after
    array([[1, 1]], dtype=int8)
    """
    confidence = _confidence(probabilities, scores)
    if Y is None:
        if confidence is None:
            raise ValueError("give predicted labels, probabilities or scores")
        Y = (confidence > 0).astype(np.int8)
    schema, board = _named_labels(Y, constraints, label_names)
    if confidence is not None and confidence.shape != board.shape:
        raise DataError(
            f"{'scores' if probabilities is None else 'probabilities'} have the shape "
            f"{confidence.shape}, but the labels {board.shape}"
        )
    clauses = consistent(Clauses(schema, rules_of(constraints, schema)))
    return mended(board, clauses, confidence)


def violations(
    Y: Any, constraints: Any, *, label_names: Sequence[str] | None = None
) -> list[Violation]:
    """Find the rows that violate constraints; the parameters are explained at :func:`repair`.

    Examples
    --------
    >>> violations([[1, 0], [0, 1]], "y0 <- y1")
    [Violation(row=1, constraint='y0 <- y1')]
    """
    schema, board = _named_labels(Y, constraints, label_names)
    clauses = Clauses(schema, rules_of(constraints, schema))
    rows, numbers = clauses.broken(board)
    pairs = zip(rows.tolist(), numbers.tolist(), strict=True)
    return [Violation(row, clauses.text(number)) for row, number in pairs]


def mended(board: Board, clauses: Clauses, confidence: Floats | None) -> Repairs:
    """Repair rows by consistent clauses, given log-odds or scores (above 0: present) or None."""
    after = board.copy()
    rows, numbers = clauses.broken(board)
    costs = np.ones(board.shape, dtype=np.int64)
    if confidence is not None:
        costs = _costs(board, confidence)
    known: dict[bytes, list[int]] = {}
    pairs = zip(rows.tolist(), numbers.tolist(), strict=True)
    for row, of_row in groupby(pairs, key=itemgetter(0)):
        key = board[row].tobytes() + costs[row].tobytes()
        if key not in known:
            broken = [number for _, number in of_row]
            known[key] = _flips(row, board[row].tolist(), costs[row].tolist(), clauses, broken)
        after[row, known[key]] ^= 1
    return Repairs(clauses.schema, board, after, clauses)


def _flips(
    row: int, labels: list[int], costs: list[int], clauses: Clauses, broken: list[int]
) -> list[int]:
    try:
        flips = cheapest_flips(labels, costs, clauses, broken)
    except SearchTooLongError as wrong:
        raise ValueError(
            f"row {row} violates {len(broken)} constraints, which connect {wrong}: too many to "
            "find the nearest consistent label set. Use fewer constraints "
            "(a smaller alpha, a greater min_support), or predictions that violate fewer"
        ) from None
    if flips is None:
        raise ValueError("no label set satisfies these constraints together")
    return flips


def _costs(board: Board, confidence: Floats) -> Integers:
    """The cost of flipping each cell: the confidence in its value, from 0."""
    steps = np.rint(np.where(board == 1, confidence, -confidence) * STEPS)
    return np.asarray(np.maximum(steps, 0), dtype=np.int64)


def log_odds(probabilities: Any) -> Floats:
    """Probabilities of presence, rows by labels, as log-odds."""
    presence = _table(probabilities, "probabilities")
    if not ((presence >= 0) & (presence <= 1)).all():
        raise DataError("probabilities must be from 0 to 1")
    clipped = np.clip(presence, SURE, 1 - SURE)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def as_predicted(board: Board, scores: Floats) -> Floats:
    """The scores, but with the signs of what is predicted, so that no change is free."""
    least = 1 / STEPS
    return np.where(board == 1, np.maximum(scores, least), np.minimum(scores, -least))


def bounded(scores: Any) -> Floats:
    """Scores, rows by labels, within limits."""
    table = _table(scores, "scores")
    if np.isnan(table).any():
        raise DataError("a score is missing (NaN): leave the row out, or give 0 for a score")
    return np.clip(table, -FAR, FAR)


def _table(numbers: Any, name: str) -> Floats:
    table = np.asarray(numbers, dtype=np.float64)
    if table.ndim != 2:
        raise DataError(f"{name} have {table.ndim} dimension(s), but rows and labels are two")
    return table


def _confidence(probabilities: Any, scores: Any) -> Floats | None:
    if probabilities is not None and scores is not None:
        raise ValueError("give probabilities or scores, not both")
    if probabilities is not None:
        return log_odds(probabilities)
    return None if scores is None else bounded(scores)


def _named_labels(
    Y: Any, constraints: Any, label_names: Sequence[str] | None
) -> tuple[Schema, Board]:
    known = _schema_of(Y, constraints)
    if known is None:
        known, _ = named_labels(Y, label_names)
    elif label_names is not None and tuple(label_names) != known.labels:
        raise ValueError("the labels have other names already: leave label_names out")
    return known, np.array(encode_labels(Y, known))


def _schema_of(Y: Any, constraints: Any) -> Schema | None:
    """The schema of the labels or of the constraints, if they have one."""
    if isinstance(constraints, (Constraints, Theory)):
        return constraints.schema
    if isinstance(Y, Dataset):
        return Y.schema
    if isinstance(constraints, Sequence) and not isinstance(constraints, str):
        for one in constraints:
            if not isinstance(one, (str, Rule)):
                return _schema_of(Y, one)
    return None
