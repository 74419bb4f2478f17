"""Whether new data fit a schema, and what is wrong if they do not."""

from collections.abc import Iterable, Sequence
from typing import Any

from labelrules._types import Floats
from labelrules.data.arrays import Table
from labelrules.data.columns import BOOLEANS, Column, is_number_text
from labelrules.data.errors import DataError, quoted, suggestion
from labelrules.data.frames import Frame, is_frame, native
from labelrules.data.labels import listed
from labelrules.data.schema import Feature, Schema
from labelrules.data.sparse import SparseTable


def check_columns(table: Frame | Table | SparseTable, schema: Schema) -> None:
    """The columns of X must be those of the schema, in its order."""
    if table.names is not None:
        _check_names(table.names, schema.feature_names, "X", "feature")
    elif table.shape[1] != schema.n_features:
        raise DataError(
            f"X has {table.shape[1]} columns but the schema has {schema.n_features} features"
        )


def check_labels(Y: Any, schema: Schema) -> None:
    """The columns of Y, if it is a frame, must be the labels of the schema, in its order."""
    if is_frame(native(Y)):
        _check_names(Frame(native(Y), "Y").names, schema.labels, "Y", "label")


def check_features(found: Schema, schema: Schema) -> None:
    """The features of a data set given as X must be those of the schema, in its order."""
    advice = "make the data set anew, with its columns in this order:"
    _check_names(found.feature_names, schema.feature_names, "X", "feature", advice)
    pairs = zip(found.features, schema.features, strict=True)
    raise_together([_difference(a, b) for a, b in pairs if a != b])


def check_label_space(found: Schema, schema: Schema) -> None:
    """The labels of a data set given as Y must be those of the schema, in its order."""
    advice = "make the data set anew, with its labels in this order:"
    _check_names(found.labels, schema.labels, "Y", "label", advice)


def raise_together(problems: Sequence[str]) -> None:
    """Say what is wrong with the columns of X, if anything."""
    if problems:
        more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise DataError("X does not fit the schema: " + "; ".join(problems[:5]) + more)


def codes_of(table: Frame | Table, index: int, feature: Feature) -> Floats | str:
    """One column encoded, or what is wrong with it."""
    by_text = feature.categories is not None and _takes_numbers(feature.categories)
    column = table.read(index, feature.name, nominal=by_text)
    return _fitted(column, feature)


def codes_of_stored(table: SparseTable, index: int, feature: Feature) -> Floats | str:
    """The stored entries of one column encoded, or what is wrong with it."""
    if feature.is_numeric and table.zero == "False":
        return _not_numbers(feature)
    if feature.categories is not None and table.zero not in feature.categories[:1]:
        return (
            f"column {quoted(feature.name)} is sparse, so {quoted(table.zero)} must be its first "
            f"category, but its categories are {listed(feature.categories)} (pass X dense)"
        )
    return _fitted(table.read(index, feature.name, feature.is_nominal), feature)


def _fitted(column: Column, feature: Feature) -> Floats | str:
    if column.is_missing_throughout or (column.categories is None and feature.is_numeric):
        return column.values
    if feature.categories is None:
        return _not_numbers(feature)
    if column.categories is None:
        return _must_hold(feature, "numbers")
    if column.are_truth_values and feature.categories and _no_truth_values(feature.categories):
        return _must_hold(feature, "truth values")
    return column.recoded(feature.categories)


def _difference(found: Feature, feature: Feature) -> str:
    """What is wrong with a feature that is already encoded, by other categories."""
    if feature.categories is None:
        return _not_numbers(feature)
    if found.categories is None:
        holds = "numbers"
    else:
        holds = f"the categories {listed(found.categories)}" if found.categories else "no category"
        if set(found.categories) == set(feature.categories):
            holds += ", in another order"
    return _must_hold(feature, holds)


def _must_hold(feature: Feature, holds: str) -> str:
    return (
        f"column {quoted(feature.name)} must hold the categories "
        f"{listed(feature.categories or ())}, but it holds {holds}"
    )


def _not_numbers(feature: Feature) -> str:
    return f"column {quoted(feature.name)} must hold numbers, but it is nominal"


def _no_truth_values(categories: Sequence[str]) -> bool:
    return set(categories).isdisjoint(BOOLEANS)


def _takes_numbers(categories: Sequence[str]) -> bool:
    """Numbers may be meant where a category looks like one, or where none is known."""
    return not categories or any(is_number_text(category) for category in categories)


def _check_names(
    found: Sequence[str], expected: Sequence[str], what: str, noun: str, advice: str = ""
) -> None:
    if tuple(found) == tuple(expected):
        return
    missing = [name for name in expected if name not in set(found)]
    extra = [name for name in found if name not in set(expected)]
    if missing or extra:
        raise DataError(f"{what} does not fit the schema: {_named(missing, extra, noun)}")
    first = next(index for index, name in enumerate(found) if name != expected[index])
    raise DataError(
        f"the columns of {what} are in another order than the {noun}s of the schema: column "
        f"{first} is {quoted(found[first])} instead of {quoted(expected[first])}; "
        f"{advice or f'use {what}[names] with the names'} {listed(expected)}"
    )


def _named(missing: Sequence[str], extra: Sequence[str], noun: str) -> str:
    parts = []
    if missing:
        parts.append(f"missing {_plural(noun, missing)} {listed(missing)}")
    if extra:
        parts.append(f"extra {_plural('column', extra)} {listed(extra)}")
    close = suggestion(missing[0], extra) if missing and extra else ""
    return "; ".join(parts) + close


def _plural(noun: str, names: Iterable[str]) -> str:
    return noun if len(list(names)) == 1 else f"{noun}s"
