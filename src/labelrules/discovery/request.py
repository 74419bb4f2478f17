"""What was asked of a search for subgroups, checked at the door."""

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Literal, TypeAlias

from labelrules._checks import quoted, suggestion
from labelrules.data import Dataset, Schema
from labelrules.discovery.limits import rows_of_share, whole
from labelrules.rules import Head

Target: TypeAlias = str | Iterable[str] | Mapping[str, int] | Head | None
"""Labels by name; with what they must be, where that matters."""

SubgroupMeasure: TypeAlias = Literal["wracc", "kl", "phi"]
SubgroupSearch: TypeAlias = Literal["beam", "exact"]
Against: TypeAlias = Literal["complement", "all"]


MOST_CELLS = 500_000_000
"""Pairs of labels times rows, a byte each, that are compared at most."""


def checked_data(data: Any) -> Dataset:
    """A data set with enough rows and labels to compare some with others."""
    if not isinstance(data, Dataset):
        raise ValueError(f"data must be a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    if data.n_rows < 2:
        raise ValueError(f"there must be two rows to compare; the Dataset has {data.n_rows}")
    if not data.schema.n_labels:
        raise ValueError("the Dataset has no labels, so none can be exceptional")
    return data


def checked_word(name: str, value: Any, words: tuple[str, ...]) -> str:
    """One of the words, or an error that says which there are."""
    if not isinstance(value, str) or value not in words:
        named = ", ".join(map(repr, words[:-1]))
        hint = suggestion(value, words) if isinstance(value, str) else ""
        raise ValueError(f"{name} must be {named} or {words[-1]!r}, not {value!r}{hint}")
    return value


def checked_share(name: str, value: Any) -> float:
    """A number above 0, at most 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 < float(value) <= 1:
        raise ValueError(f"{name} must be a number above 0 and at most 1, not {value!r}")
    return float(value)


def checked_coverage(given: Any, n_rows: int) -> int:
    """The rows that a group must have: a number of them, or a share of all."""
    if isinstance(given, Integral):
        return whole("min_coverage", given, 1)
    if not isinstance(given, Real) or not 0 < float(given) <= 1:
        raise ValueError(
            "min_coverage must be a whole number of rows, or a share of them above 0 and "
            f"up to 1.0, not {given!r}"
        )
    return rows_of_share(given, n_rows)


def checked_labels(names: Any, schema: Schema, what: str) -> tuple[int, ...]:
    """The numbers of labels given by name, in the order of the schema."""
    if not isinstance(names, Iterable):
        raise ValueError(f"{what} must be the name of a label, or several names, not {names!r}")
    given = [names] if isinstance(names, str) else list(names)
    for name in given:
        if not isinstance(name, str) or name not in schema.label_index:
            hint = suggestion(str(name), schema.labels)
            raise ValueError(f"{what}: there is no label {quoted(name)}{hint}")
    return tuple(sorted({schema.label_index[name] for name in given}))


def checked_head(target: Target, schema: Schema) -> Head:
    """What rows are to have: labels present, or each as a mapping says."""
    if isinstance(target, Head):
        if target.n_labels != schema.n_labels:
            raise ValueError(
                f"target is a head over {target.n_labels} labels, the data have {schema.n_labels}"
            )
        return target
    if target is None:
        raise ValueError(
            "measure 'wracc' needs a target: the name of a label, several names, or a mapping "
            "from names to 0 (absent) and 1 (present)"
        )
    literals = dict(target) if isinstance(target, Mapping) else None
    labels = checked_labels(target, schema, "target")
    if not labels:
        raise ValueError("target names no label")
    if literals is None:
        return Head(dict.fromkeys(labels, 1), schema.n_labels)
    return Head({label: literals[schema.labels[label]] for label in labels}, schema.n_labels)


def checked_targets(target: Target, given: tuple[int, ...], schema: Schema) -> list[int]:
    """The labels that count: those named, or all that bodies do not test."""
    if isinstance(target, Mapping | Head):
        raise ValueError("only measure 'wracc' asks for labels present or absent: give their names")
    if target is not None:
        labels = list(checked_labels(target, schema, "target"))
    else:
        labels = [label for label in range(schema.n_labels) if label not in given]
    if not labels:
        raise ValueError("no label is left to count: name some in target, or fewer in given")
    return labels


def check_pairs(n_labels: int, n_rows: int) -> None:
    """Refuse too few labels to make pairs, and more pairs than there is memory for."""
    if n_labels < 2:
        raise ValueError("measure 'phi' compares pairs of labels, and only one counts")
    n_pairs = n_labels * (n_labels - 1) // 2
    if n_pairs * n_rows > MOST_CELLS:
        raise ValueError(
            f"measure 'phi' would compare {n_pairs:,} pairs of labels in {n_rows:,} rows, which "
            "takes too much memory: name fewer labels in target, or use measure 'kl'"
        )


def refuse_both(labels: Iterable[int], given: tuple[int, ...], schema: Schema) -> None:
    """A label that a body tests would be exceptional by that alone."""
    both = sorted(set(labels) & set(given))
    if both:
        raise ValueError(
            f"label {quoted(schema.labels[both[0]])} cannot be both in target and in given"
        )
