"""A CSV file without a schema file, read row by row and cell by cell: slow and obvious."""

import csv
from collections.abc import Sequence
from io import StringIO
from math import isinf, nan

import numpy as np

from labelrules.data import Dataset, Feature, Schema
from labelrules.data.memory.columns import category_text, numbers_of, sorts_of
from labelrules.data.times import DAY, times_of

LABELS = {"0": 0, "0.0": 0, "False": 0, "1": 1, "1.0": 1, "True": 1}


class TableError(Exception):
    """The file has no such table; the line in which something is wrong."""

    def __init__(self, line: int | None) -> None:
        super().__init__(line)
        self.line = line


def read_table(
    text: str, labels: Sequence[str], nominal: Sequence[str], delimiter: str, missing: str
) -> Dataset:
    """The data set, or an error with the line that the reader must name."""
    header, rows, lines = _records(text, delimiter)
    names = [name for name in header if name not in labels]
    columns = {name: [row[header.index(name)] for row in rows] for name in header}
    features, values = [], []
    late: int | None = None  # an error that is only known when all cells are read
    for name in names:
        try:
            feature, codes = _column(name, columns[name], lines, name in nominal, missing)
        except _LateError as wrong:
            late = late or wrong.line
            continue
        features.append(feature)
        values.append(codes)
    Y = [
        [_label(cell, line) for cell, line in zip(columns[name], lines, strict=True)]
        for name in labels
    ]
    if late:
        raise TableError(late)
    if not rows and any(name not in nominal for name in names):
        raise TableError(None)
    X = np.array(values, dtype=np.float64).reshape(len(names), len(rows)).T
    board = np.array(Y, dtype=np.int8).reshape(len(labels), len(rows)).T
    return Dataset(Schema(features, labels), X, board)


class _LateError(Exception):
    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def _records(text: str, delimiter: str) -> tuple[list[str], list[list[str]], list[int]]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, lines, line, empty = [], [], 1, None
    try:
        for row in reader:
            if not row:
                empty = empty or line
            elif empty:
                raise TableError(empty)
            elif rows and len(row) != len(rows[0]):
                raise TableError(line)
            else:
                rows.append(row)
                lines.append(line)
            line = reader.line_num + 1
    except csv.Error:
        raise TableError(line) from None
    return rows[0], rows[1:], lines[1:]


def _column(
    name: str, cells: list[str], lines: list[int], is_nominal: bool, missing: str
) -> tuple[Feature, list[float]]:
    known = [(cell, line) for cell, line in zip(cells, lines, strict=True) if cell != missing]
    for cell, line in known:
        if "\0" in cell:
            raise TableError(line)
    if is_nominal:
        return _categories(name, cells, missing)
    first: dict[str, int] = {}
    for cell, line in known:
        for sort in sorts_of(cell):
            first.setdefault(sort, line)
    if "number" in first and "other" in first:
        raise TableError(first["other"])
    if "beyond" in first:
        raise _LateError(first["beyond"])
    if "other" in first and "text" not in first:
        raise _LateError(first["other"])
    if "text" in first and (found := times_of([cell for cell, _ in known])):
        numbers, kind = found
        if kind == "time" and not any(number % DAY for number in numbers):
            numbers, kind = [number // DAY for number in numbers], "date"
        rest = iter(numbers)
        return Feature(name, None, kind), [
            nan if c == missing else float(next(rest)) for c in cells
        ]
    if "text" in first:
        return _categories(name, cells, missing)
    return Feature(name), [nan if cell == missing else float(cell) for cell in cells]


def _categories(name: str, cells: list[str], missing: str) -> tuple[Feature, list[float]]:
    texts = {cell: cell for cell in cells if cell != missing}
    numbers = numbers_of(texts)
    if texts and numbers is not None and not any(map(isinf, numbers)):
        texts = dict(zip(texts, map(category_text, numbers), strict=True))
        categories = [category_text(number) for number in sorted(set(numbers))]
    else:
        categories = sorted(texts)
    return Feature(name, tuple(categories)), [
        nan if cell == missing else float(categories.index(texts[cell])) for cell in cells
    ]


def _label(cell: str, line: int) -> int:
    if cell not in LABELS:
        raise TableError(line)
    return LABELS[cell]
