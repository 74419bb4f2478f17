"""Columns from which no rule can generalise: numbers or names of rows, and free text."""

import re
import warnings
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from labelrules._checks import quoted
from labelrules._types import Floats
from labelrules.data.schema import Feature
from labelrules.data.table import Dataset

FEWEST_ROWS = 50
"""With fewer rows, categories that all differ are no sign of anything."""

_SHOWN = 5
_UNIQUE = 0.9  # share of the rows with a value that no other row has
_LONG = 4  # words of a text that is more than a name
_WORD = re.compile(r"\S+")
_IDENTIFIER = re.compile(r"(?:.*[^a-z])?(?:id|uuid|guid|key)|.*[a-z]I[dD]", re.ASCII)


class SuspiciousColumn(NamedTuple):
    """A column that looks like an identifier or free text, and why."""

    name: str
    reason: str


def suspicious_columns(data: Dataset) -> list[SuspiciousColumn]:
    """Columns that look like identifiers or free text; none of data with few rows.

    An identifier is a nominal column in which nearly every row has a value of its own, a number
    that counts the rows, or one that is called so and has no value twice. Free text is a nominal
    column of many texts of several words.

    Examples
    --------
    >>> from labelrules import dataset
    >>> rows = [[number, f"P{number}", number % 7] for number in range(100)]
    >>> for column in suspicious_columns(dataset(rows, [[1]] * 100)):
    ...     print(column.name, column.reason)
    x0 counts the rows
    x1 has 100 different values in 100 rows
    """
    if data.n_rows < FEWEST_ROWS or data.is_sparse:
        return []
    return list(_found(data))


def _found(data: Dataset) -> Iterator[SuspiciousColumn]:
    for column, feature in enumerate(data.schema.features):
        if feature.categories is not None and feature.is_nominal:
            reason = _of_categories(feature.categories, data.column(column))
        else:
            reason = _of_numbers(feature, data.column(column)) if feature.is_numeric else ""
        if reason:
            yield SuspiciousColumn(feature.name, reason)


def _of_categories(categories: tuple[str, ...], codes: Floats) -> str:
    if len(categories) < FEWEST_ROWS // 2:
        return ""
    known = codes[~np.isnan(codes)].astype(np.int64)
    counts = np.bincount(known, minlength=len(categories))
    n_words = sum(len(_WORD.findall(text)) for text in categories) / len(categories)
    if n_words >= _LONG and 2 * np.count_nonzero(counts) > known.size:
        return f"holds texts of {n_words:.0f} words on average, and few of them twice"
    if known.size >= FEWEST_ROWS // 2 and np.count_nonzero(counts == 1) >= _UNIQUE * known.size:
        return f"has {np.count_nonzero(counts)} different values in {known.size} rows"
    return ""


def _of_numbers(feature: Feature, values: Floats) -> str:
    # most columns are seen through by their first three rows
    if _has_steps(values[:3]) and _has_steps(values):
        return "counts the rows"
    if not _IDENTIFIER.fullmatch(feature.name.lower() if feature.name.isupper() else feature.name):
        return ""
    known = values[~np.isnan(values)]
    is_whole = bool((known == np.floor(known)).all())
    if is_whole and known.size >= FEWEST_ROWS and len(np.unique(known)) == known.size:
        return f"has {known.size} different whole numbers in {known.size} rows"
    return ""


def _has_steps(values: Floats) -> bool:
    """Whether each value is the one before and 1, or each that and -1; of any type of numbers."""
    with np.errstate(invalid="ignore"):  # infinite numbers are refused later
        steps = np.diff(values.astype(np.float64, copy=False))  # small integers would wrap around
    return steps[0] in (1, -1) and bool((steps == steps[0]).all())


def warn_of_columns(data: Dataset, stacklevel: int) -> None:
    """Point out columns that look like identifiers or free text, in one warning."""
    found = suspicious_columns(data)
    if not found:
        return
    named = "; ".join(f"{quoted(one.name)} {one.reason}" for one in found[:_SHOWN])
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    warnings.warn(
        f"columns look like identifiers or free text, so that rules about them say little about "
        f"other rows: {named}{more}. Leave them out, or make words of a text, as by scikit-learn's "
        "CountVectorizer",
        stacklevel=stacklevel,
    )
