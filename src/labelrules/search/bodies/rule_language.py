"""The language of rules: which conditions bodies may have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._checks import quoted, suggestion
from labelrules.data.schema import Schema

Operators: TypeAlias = npt.NDArray[np.int8]
"""For each column: 1 for its first operator, 2 for its second, 3 for both, 0 for none.

Where sets of categories are allowed, 4 is added; 1 is then allowed, too.
"""

SETS = 4
"""The bit for sets of categories."""

OPERATORS = ("<=", ">", "=", "!=", "in")
USUAL = ("<=", ">", "=")

MANY = 5
"""Categories of a column from which sets are searched for if nothing is said about operators."""

Wish: TypeAlias = str | tuple[str, str]
"""A feature, or a head label with a label that its body tests."""

_WISHES = "features or label pairs"


@dataclass(frozen=True, eq=False)
class Language:
    """The conditions that bodies may have, as the kernels read them: masks of operators.

    `labels` has those for the labels that a body tests (columns) by label of the head (rows);
    `first_features` and `first_labels` are for the first condition of a body.
    """

    features: Operators
    labels: Operators
    first_features: Operators
    first_labels: Operators
    may_be_empty: bool = True

    @cached_property
    def has_labels(self) -> bool:
        """Whether bodies may test labels."""
        return bool(self.labels.any())

    @cached_property
    def has_sets(self) -> bool:
        """Whether bodies may test for sets of categories."""
        return bool((self.features & SETS).any())

    def without_sets(self) -> "Language":
        """The language without sets of categories."""
        features, first = self.features & ~SETS, self.first_features & ~SETS
        return replace(self, features=features, first_features=first)


def language(
    schema: Schema,
    operators: Iterable[str] | None = ("<=", ">", "="),
    label_conditions: bool = True,
    required: Iterable[Wish] = (),
    forbidden: Iterable[Wish] = (),
) -> Language:
    """The conditions that bodies may have.

    If any are `required`, each body tests one of these features, or the second label of a pair for
    a head with the first; no body tests those that are `forbidden`. `operators` are for features;
    if they are None, `<=`, `>` and `=`, and "in" for columns of at least `MANY` categories.
    """
    features = _feature_operators(schema, operators)
    n = schema.n_labels
    labels = np.full((n, n), int(label_conditions), dtype=np.int8)
    np.fill_diagonal(labels, 0)  # where a label is written no cell of it is open
    for wish in _listed("forbidden", forbidden, _WISHES):
        where = _place(wish, schema, "forbidden")
        if isinstance(where, int):
            features[where] = 0
        else:
            labels[where] = 0
    wanted = [_place(wish, schema, "required") for wish in _listed("required", required, _WISHES)]
    if not wanted:
        return Language(features, labels, features, labels)
    first_features, first_labels = np.zeros_like(features), np.zeros_like(labels)
    for where in wanted:
        if isinstance(where, int):
            first_features[where] = features[where]
        else:
            first_labels[where] = labels[where]
    if not (first_features.any() or first_labels.any()):
        raise ValueError(
            "required: none of it may be tested, since it is forbidden, has no allowed operator, "
            "or is a label while label_conditions is False"
        )
    return Language(features, labels, first_features, first_labels, may_be_empty=False)


def _listed(name: str, wishes: Iterable[Any], what: str) -> list[Any]:
    if isinstance(wishes, str) or not isinstance(wishes, Iterable):
        raise ValueError(f"{name} must be a list of {what}, not {wishes!r}")
    return list(wishes)


def _feature_operators(schema: Schema, operators: Iterable[str] | None) -> Operators:
    wanted = USUAL if operators is None else operators
    chosen = _listed("operators", wanted, "'<=', '>', '=', '!=' and 'in'")
    unknown = [operator for operator in chosen if operator not in OPERATORS]
    if unknown:
        raise ValueError(f"operators are '<=', '>', '=', '!=' and 'in', not {quoted(unknown[0])}")
    numeric = ("<=" in chosen) + 2 * (">" in chosen)
    one = ("=" in chosen) + 2 * ("!=" in chosen)
    sets = one | 1 | SETS  # a set of one category is written as "="
    least = 0 if "in" in chosen else MANY if operators is None else inf
    masks = [
        (sets if len(f.categories or ()) >= least else one) if f.is_nominal else numeric
        for f in schema.features
    ]
    return np.array(masks, dtype=np.int8)


def _place(wish: Wish, schema: Schema, name: str) -> int | tuple[int, int]:
    if isinstance(wish, str):
        return _known(wish, schema.feature_index, f"{name}: there is no feature")
    try:
        head, tested = wish
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must name features, or pairs of a head label and a tested label, not {wish!r}"
        ) from None
    known = f"{name}: there is no label"
    return _known(head, schema.label_index, known), _known(tested, schema.label_index, known)


def _known(name: str, index: Mapping[str, int], message: str) -> int:
    if not isinstance(name, str) or name not in index:
        raise ValueError(f"{message} {quoted(name)}{suggestion(str(name), list(index))}")
    return index[name]
