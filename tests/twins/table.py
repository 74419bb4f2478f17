"""What the slow twin of the learner learns from: rows, a board, and counting cells one by one."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from labelrules import UNSET, Condition, Dataset
from labelrules.measures import Measure, Tally, confusion

Literal = tuple[int, int]
"""A label and its value."""


@dataclass(frozen=True)
class Settings:
    """What `SeparateAndConquer` takes, under the same names."""

    heads: str | int = "single"
    measure: str = "f1"
    counting: str = "head-relative"
    size_bonus: Callable[[int], float] | None = None
    polarity: str = "both"
    fixed_head: bool = False
    beam_width: int = 1
    operators: tuple[str, ...] = ("<=", ">", "=")
    label_conditions: bool = True
    required: tuple[Any, ...] = ()
    forbidden: tuple[Any, ...] = ()
    max_conditions: int | None = 10
    min_coverage: int = 1
    min_gain: float = 0.0
    stop_share: float | None = None
    readd: str = "all"
    open_share: float = 0.0
    max_rules: int | None = None
    order: str = "append"
    default_rule: bool | None = None


class Candidate(NamedTuple):
    """A rule with what it is compared by: the value of the measure, then the right cells."""

    merit: tuple[float, int]
    head: tuple[Literal, ...]
    body: tuple[Condition, ...]


class Table:
    """The rows, the board, and which rows a stopping rule has ended."""

    def __init__(self, data: Dataset, settings: Settings) -> None:
        self.data, self.settings = data, settings
        self.measure = Measure.parse(settings.measure)
        self.columns = [data.column(j).tolist() for j in range(data.schema.n_features)]
        self.truth = data.Y.tolist()
        self.rows, self.labels = range(data.n_rows), range(data.schema.n_labels)
        self.board = [[int(UNSET) for _ in self.labels] for _ in self.rows]
        self.ended = [False for _ in self.rows]

    def is_incomplete(self, row: int) -> bool:
        """Whether a cell of the row is not written."""
        return UNSET in self.board[row]

    def counts(self, row: int, literal: Literal) -> bool:
        """Whether what the literal says of the row is evidence: nobody has said it before."""
        return self.is_new(row, literal) and self.truth[row][literal[0]] != UNSET

    def is_new(self, row: int, literal: Literal) -> bool:
        """Whether nobody has said of the row what the literal says."""
        label, value = literal
        if self.settings.order == "prepend":
            return self.board[row][label] != value
        return self.board[row][label] == UNSET and not self.ended[row]


def holds(table: Table, row: int, condition: Condition) -> bool:
    """Missing values and cells that are not written satisfy no condition."""
    j = condition.column
    x = table.board[row][j] if condition.on_label else table.columns[j][row]
    if isnan(x) or (condition.on_label and x == UNSET):
        return False
    if condition.operator == "<=":
        return x <= condition.value
    if condition.operator == ">":
        return x > condition.value
    return (x == condition.value) == (condition.operator == "=")


def covers(table: Table, body: tuple[Condition, ...]) -> list[bool]:
    return [all(holds(table, i, condition) for condition in body) for i in table.rows]


def covered_rows(table: Table, body: tuple[Condition, ...]) -> list[int]:
    return [i for i, covered in enumerate(covers(table, body)) if covered]


def inside(
    table: Table, body: tuple[Condition, ...], literal: Literal
) -> tuple[list[int], list[int]]:
    """The truth in all cells that count, and in those of the rows that the body covers."""
    label, _ = literal
    counted = [row for row in table.rows if table.counts(row, literal)]
    covered = set(covered_rows(table, body))
    everywhere = [table.truth[row][label] for row in counted]
    return everywhere, [table.truth[row][label] for row in counted if row in covered]


def right(table: Table, body: tuple[Condition, ...], literal: Literal) -> int:
    _, cells = inside(table, body, literal)
    return cells.count(literal[1])


def score(table: Table, body: tuple[Condition, ...], literal: Literal) -> float:
    """The formula of a head that says this of one label."""
    everywhere, cells = inside(table, body, literal)
    counted = Tally(*(np.array(values.count(v)) for values in (cells, everywhere) for v in (1, 0)))
    matrix = confusion(counted, literal[1], table.settings.counting)
    return float(table.measure.formula(*(int(count) for count in matrix)))
