"""Rows of an ARFF file, one by one, where `fast_rows` does not accept a block; and every error."""

import math
import re
from pathlib import Path

import numpy as np

from labelrules._checks import listed, quoted, suggestion
from labelrules._types import UNSET, Floats
from labelrules.data.errors import FileError
from labelrules.data.files.arff.header import (
    MISSING,
    Attribute,
    Misread,
    Word,
    is_over,
    read_word,
    read_words,
    skip_blanks,
)
from labelrules.data.files.arff.layout import DenseRows, Layout, Part, SparseRows
from labelrules.data.files.text_blocks import TextBlock
from labelrules.data.memory.columns import LARGEST_EXACT, is_rounded

NUMBER_CHARACTERS = "0123456789.+-eE"
"""Among words of these characters, Python and ARFF take the same for numbers."""

_HEADER_KEYWORD = re.compile(r"[ \t]*(@(?:relation|attribute|data))(?=[ \t]|$)", re.IGNORECASE)
_WEIGHT = re.compile(r"[ \t]*,[ \t]*\{[^{}]*\}[ \t]*$")
_NO_WEIGHTS = "instance weights cannot be read: remove the {...} after the row"

Cells = dict[int, float]
"""Values by their column among the features followed by the labels."""


def careful(block: TextBlock, layout: Layout, path: Path) -> Part:
    """Read a block row by row; the error for a bad row names file and line."""
    rows: list[Cells] = []
    any_sparse = False
    for number, line in enumerate(block.data.split(b"\n"), block.first_line):
        text = line.decode()
        if is_over(text, 0):
            continue
        is_sparse = text.lstrip(" \t").startswith("{")
        any_sparse |= is_sparse
        try:
            rows.append(sparse_row(text, layout) if is_sparse else dense_row(text, layout))
        except Misread as wrong:
            raise FileError(_late_keyword(text) or str(wrong), path, number) from None
    return _sparse(rows, layout) if any_sparse else _dense(rows, layout)


def _late_keyword(line: str) -> str | None:
    """The error for a line of the header among the rows; None for any other line."""
    match = _HEADER_KEYWORD.match(line)
    if match is None:
        return None
    if match[1].lower() == "@data":
        return "this is the second @data line"
    return f"{match[1]} after @data, where only rows are allowed"


def dense_row(line: str, layout: Layout) -> Cells:
    """A value for every attribute, separated by commas."""
    if line.rstrip(" \t").endswith("}") and _WEIGHT.search(line):
        raise Misread(_NO_WEIGHTS)
    words, end = read_words(line, 0)
    if not is_over(line, end):
        raise Misread(_no_comma(line[end:]))
    if len(words) != len(layout.attributes):
        raise Misread(
            f"the row has {len(words)} values but {len(layout.attributes)} attributes are declared"
        )
    target = layout.target
    return {
        target[place]: cell_value(word, place, layout)
        for place, word in enumerate(words)
        if target[place] >= 0
    }


def sparse_row(line: str, layout: Layout) -> Cells:
    """``{index value, ...}``; a value that is not listed is 0 or the first category."""
    cells: Cells = {}
    places: set[int] = set()
    start = skip_blanks(line, line.index("{") + 1)
    if not (line.startswith("}", start) or is_over(line, start)):
        while True:
            place, word, start = _entry(line, start, layout)
            if place in places:
                name = quoted(layout.attributes[place].name)
                raise Misread(f"the row lists attribute {place} ({name}) twice")
            places.add(place)
            if layout.target[place] >= 0:
                cells[layout.target[place]] = cell_value(word, place, layout)
            if line[start : start + 1] != ",":
                break
            start += 1
    _check_end(line, start)
    for place in layout.must_be_listed:
        if place not in places:
            name = quoted(layout.attributes[place].name)
            why = f"attribute {name} declares no category, so a sparse row must list it with ?"
            raise Misread(why)
    return cells


def _entry(line: str, start: int, layout: Layout) -> tuple[int, Word, int]:
    """Place and value of one listed attribute, and where it ends."""
    index, end = read_word(line, start)
    place = _place(index, layout)
    if end == len(line) or line[end] in ",}":
        raise Misread(f"attribute {place} is listed without a value")
    if line[end - 1] not in " \t":
        raise Misread(f"a blank is missing between an index and its value at {quoted(line[end:])}")
    word, end = read_word(line, end)
    return place, word, end


def _place(index: Word, layout: Layout) -> int:
    n_attributes = len(layout.attributes)
    if index is MISSING or not (index.isascii() and index.removeprefix("-").isdigit()):
        raise Misread(f"{quoted('?' if index is None else index)} is no index of an attribute")
    # Python refuses to convert thousands of digits; no file has that many attributes.
    if len(index) > 18 or not 0 <= int(index) < n_attributes:
        raise Misread(f"there is no attribute {index}: they are numbered 0 to {n_attributes - 1}")
    return int(index)


def _check_end(line: str, start: int) -> None:
    if is_over(line, start):
        raise Misread("the brace that opens the row is not closed")
    if line[start] != "}":
        raise Misread(_no_comma(line[start:]))
    rest = line[start + 1 :]
    if _WEIGHT.match(rest):
        raise Misread(_NO_WEIGHTS)
    if not is_over(rest, 0):
        raise Misread(f"unexpected text {quoted(rest)} after the brace that closes the row")


def _no_comma(rest: str) -> str:
    return f"a comma is missing before {quoted(rest)}; a value with blanks must be quoted"


def cell_value(word: Word, place: int, layout: Layout) -> float:
    """A number, a category's code, or NaN."""
    is_label = layout.target[place] >= layout.n_features
    codes, attribute = layout.codes[place], layout.attributes[place]
    if word is MISSING:
        return float(UNSET) if is_label else math.nan
    if codes is None:
        value = _number(word, attribute)
        if is_label and value not in (0, 1, UNSET):
            label = f"label {quoted(attribute.name)} has the value {word}"
            raise Misread(f"{label}; a label is 0 or 1, or ? if it is unknown")
        return value
    code = codes.get(word)
    if code is None:
        raise Misread(_why_undeclared(word, attribute))
    return code


def _number(word: str, attribute: Attribute) -> float:
    try:
        value = math.nan if word.strip(NUMBER_CHARACTERS) else float(word)
    except ValueError:
        value = math.nan
    rounded = abs(value) >= LARGEST_EXACT and math.isfinite(value) and is_rounded(word)
    if math.isfinite(value) and not rounded:
        return value
    name = quoted(attribute.name)
    if rounded:
        raise Misread(
            f"attribute {name} has the whole number {word:.60}, which a float64 cannot hold "
            f"exactly: declare its {{categories}}, scale it, or leave it out (ignore=[{name}])"
        )
    if math.isinf(value):
        raise Misread(f"attribute {name} has the infinite value {quoted(word)}")
    raise Misread(
        f"attribute {name} is numeric but has the value {quoted(word)}; "
        "a missing value is written ?"
    )


def _why_undeclared(word: str, attribute: Attribute) -> str:
    declared = attribute.categories
    if attribute.kind == "date":
        value = f"attribute {quoted(attribute.name)} has the value {quoted(word)}"
        return f"{value}, which is no date in its format {quoted(declared[0])}"
    known = f"are {listed(declared)}" if declared else "is none"
    value = f"attribute {quoted(attribute.name)} has the undeclared value {quoted(word)}"
    return f"{value}; declared {known}{suggestion(word, declared)}"


def _dense(rows: list[Cells], layout: Layout) -> DenseRows:
    n_features = layout.n_features
    table: Floats = np.empty((len(rows), n_features + len(layout.labels)))
    for cells, row in zip(rows, table, strict=True):
        row[list(cells)] = list(cells.values())
    return DenseRows(table[:, :n_features], table[:, n_features:].astype(np.int8))


def _sparse(rows: list[Cells], layout: Layout) -> SparseRows:
    """Rows of which at least one is sparse."""
    columns: list[int] = []
    values: list[float] = []
    counts: list[int] = []
    unusual: list[int] = []
    unknown: list[int] = []
    usual = layout.usual_labels.tolist()
    for number, cells in enumerate(rows):
        features = {c: v for c, v in cells.items() if c < layout.n_features and v != 0}
        columns.extend(features.keys())
        values.extend(features.values())
        counts.append(len(features))
        for column, value in cells.items():
            if column >= layout.n_features and value != usual[column - layout.n_features]:
                cell = number * len(usual) + column - layout.n_features
                (unknown if value == UNSET else unusual).append(cell)
    return SparseRows(
        np.array(counts, dtype=np.int32),
        np.array(columns, dtype=np.int32),
        np.array(values, dtype=np.float64),
        np.array(unusual, dtype=np.int64),
        np.array(unknown, dtype=np.int64),
    )
