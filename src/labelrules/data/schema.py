"""Names, kinds and categories of columns: features and labels."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import lt
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np

from labelrules._checks import counted, half_character, listed, quoted, suggestion
from labelrules._types import Floats
from labelrules.data.errors import DataError
from labelrules.data.times import LIMITS, TIME_KINDS, TimeKind, time_text

Kind: TypeAlias = Literal["numeric", "amount", "nominal", "ordered"] | TimeKind
KINDS: tuple[Kind, ...] = ("numeric", "amount", "nominal", "ordered", *TIME_KINDS)
"""What the values of a feature are."""

_PRESENT_CODES: dict[tuple[str, ...], int] = {
    ("0", "1"): 1, ("1", "0"): 0, ("False", "True"): 1, ("True", "False"): 0,
}  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class Feature:
    """One column of X: its name, and what its values are.

    Parameters
    ----------
    name : str
        Unique among features and labels.
    categories : tuple of str, optional
        The values of a nominal or ordered feature, the latter from the least to the greatest.
    kind : str, optional
        By default "nominal" if there are categories, otherwise "numeric". Categories that are
        "ordered" are compared by ``<=`` and ``>``. An "amount" is a number of which 0 means that
        there is none, as the count of a word. "date", "time", "UTC time" and "duration" are encoded
        as whole numbers; see `labelrules.data.times`.

    Examples
    --------
    >>> Feature("age").is_numeric, Feature("sex", ("Female", "Male")).categories
    (True, ('Female', 'Male'))
    >>> Feature("size", ("S", "M", "L"), "ordered").text(1), Feature("day", kind="date").text(17895)
    ('M', '2018-12-30')
    """

    name: str
    categories: tuple[str, ...] | None = None
    kind: Kind = None  # type: ignore[assignment] # set in any case

    def __post_init__(self) -> None:
        _check_name(self.name, "feature")
        if isinstance(self.categories, str):
            raise DataError(
                f"the categories of {quoted(self.name)} are one text, {quoted(self.categories)}: "
                "give a list"
            )
        if self.categories is not None:
            object.__setattr__(self, "categories", tuple(self.categories))
        for category in _suspicious(self.categories or ()):
            if not isinstance(category, str):
                raise DataError(
                    f"feature {quoted(self.name)}: category {category!r} is not text; "
                    "categories are written as text"
                )
            refuse_half_character(category, f"feature {quoted(self.name)}: category")
        if twice := repeated(self.categories or ()):
            raise DataError(
                f"feature {quoted(self.name)} declares the category {quoted(twice[0])} twice"
            )
        self._check_kind()

    def _check_kind(self) -> None:
        if self.kind is None:
            object.__setattr__(self, "kind", usual_kind(self.categories))
        if self.kind not in KINDS:
            known = ", ".join(KINDS)
            raise DataError(
                f"feature {quoted(self.name)}: kind must be one of {known}, not {self.kind!r}"
            )
        if (self.kind in ("nominal", "ordered")) != (self.categories is not None):
            have = "has no categories" if self.categories is None else "has categories"
            raise DataError(f"feature {quoted(self.name)} is of kind {self.kind!r}, but {have}")

    def __repr__(self) -> str:
        is_usual = self.kind in ("numeric", "nominal")
        kind = "" if is_usual else f", kind={self.kind!r}"
        return f"Feature(name={self.name!r}, categories={self.categories!r}{kind})"

    @property
    def is_numeric(self) -> bool:
        """Whether the column holds numbers: neither categories nor times."""
        return self.kind in ("numeric", "amount")

    @property
    def is_nominal(self) -> bool:
        """Whether the column holds categories without an order, which are compared by ``=``."""
        return self.kind == "nominal"

    @property
    def time(self) -> TimeKind | None:
        """The kind of dates, times and durations; None for every other feature."""
        return self.kind if self.kind in TIME_KINDS else None

    @property
    def present_code(self) -> int | None:
        """Of a binary feature, with the categories 0 and 1 or False and True, the number of 1.

        None for every other feature.

        >>> Feature("cough", ("0", "1")).present_code, Feature("age").present_code
        (1, None)
        """
        return _PRESENT_CODES.get(self.categories or ()) if self.is_nominal else None

    def text(self, value: float) -> str:
        """An encoded value as text: a number, a time, a category, or ``?`` if it is missing."""
        if value != value:
            return "?"
        if self.categories is not None:
            return self.categories[int(value)]
        if self.time is not None:
            return time_text(value, self.time)
        return repr(float(value)).removesuffix(".0")

    def value_problem(self, value: float) -> str:
        """What is wrong with an encoded value that is not missing; empty if nothing is."""
        if self.categories is not None:
            is_code = 0 <= value < len(self.categories) and value == int(value)
            return "" if is_code else f"{self.name!r} has no category number {value:g}"
        if self.time is None:
            return ""
        low, high = LIMITS[self.time]
        is_time = low <= value <= high and value == int(value)
        return "" if is_time else f"{self.name!r} holds {self.time}s, and {value:g} stands for none"


@dataclass(frozen=True, repr=False)
class Schema:
    """Names, kinds and categories of the features, and the label space.

    Parameters
    ----------
    features : sequence of Feature
    labels : sequence of str
        No label shares its name with a feature, so that a name in a rule means one thing.
    parents : sequence of (str or None), optional
        The parent of each label in a label hierarchy, None for a root.

    Examples
    --------
    >>> schema = Schema([Feature("age"), Feature("sex", ("Female", "Male"))], ["quality"])
    >>> schema
    Schema(2 features: 'age', 'sex'; 1 label: 'quality')
    >>> schema.feature_index["sex"]
    1
    """

    features: tuple[Feature, ...]
    labels: tuple[str, ...]
    parents: tuple[str | None, ...] = ()

    def __init__(
        self,
        features: Iterable[Feature],
        labels: Iterable[str],
        parents: Sequence[str | None] | None = None,
    ) -> None:
        if isinstance(labels, str):
            raise DataError(f"labels is one text, {quoted(labels)}: give a list")
        object.__setattr__(self, "features", tuple(features))
        object.__setattr__(self, "labels", tuple(labels))
        flat = (None,) * len(self.labels)
        object.__setattr__(self, "parents", flat if parents is None else tuple(parents))
        for label in self.labels:
            _check_name(label, "label")
        for names, what in ((self.feature_names, "features"), (self.labels, "labels")):
            if twice := repeated(names):
                raise DataError(f"two {what} are called {quoted(twice[0])}: rename one of them")
        if both := sorted(set(self.feature_names) & set(self.labels)):
            raise DataError(
                f"{quoted(both[0])} is the name of a feature and of a label: rename one of them, "
                "so that a name in a rule is unambiguous"
            )
        _check_parents(self.labels, self.parents)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.features)

    @property
    def n_labels(self) -> int:
        """Number of labels."""
        return len(self.labels)

    @cached_property
    def n_categories(self) -> Floats:
        """Number of categories of each feature, infinite for a numeric one."""
        numbers = [np.inf if f.categories is None else len(f.categories) for f in self.features]
        return np.array(numbers, dtype=np.float64)

    @cached_property
    def times(self) -> tuple[int, ...]:
        """The columns of dates, times and durations."""
        return tuple(j for j, feature in enumerate(self.features) if feature.time is not None)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in order."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def feature_index(self) -> Mapping[str, int]:
        """From a feature's name to its column."""
        return MappingProxyType({name: j for j, name in enumerate(self.feature_names)})

    @cached_property
    def label_index(self) -> Mapping[str, int]:
        """From a label's name to its column."""
        return MappingProxyType({name: j for j, name in enumerate(self.labels)})

    def without(self, names: Collection[str]) -> "Schema":
        """Leave out the named features and labels; orphans become roots."""
        for name in names:
            if name not in self.feature_index and name not in self.label_index:
                near = suggestion(str(name), (*self.feature_names, *self.labels))
                raise DataError(f"there is no feature or label {quoted(name)} to leave out{near}")
        parent_of = zip(self.labels, self.parents, strict=True)
        kept = {label: parent for label, parent in parent_of if label not in names}
        parents = [parent if parent in kept else None for parent in kept.values()]
        return Schema([f for f in self.features if f.name not in names], kept, parents)

    def rename(self, names: Mapping[str, str]) -> "Schema":
        """Rename features and labels, from old names to new ones.

        Examples
        --------
        >>> schema = Schema([Feature("att17")], ["Class-4-753_0"])
        >>> schema.rename({"att17": "age", "Class-4-753_0": "cough"})
        Schema(1 feature: 'age'; 1 label: 'cough')
        >>> schema.rename({"att71": "age"})
        Traceback (most recent call last):
        labelrules.data.errors.DataError: there is no feature or label 'att71' to rename; did you
        mean 'att17'?
        """
        if not isinstance(names, Mapping):
            raise DataError(
                f"names must be a mapping from old names to new ones, not {names!r:.60}"
            )
        for name in names:
            if name not in self.feature_index and name not in self.label_index:
                near = suggestion(str(name), (*self.feature_names, *self.labels))
                raise DataError(f"there is no feature or label {quoted(name)} to rename{near}")
        _check_new_names(names, (*self.feature_names, *self.labels))
        features = [replace(one, name=names.get(one.name, one.name)) for one in self.features]
        parents = [None if name is None else names.get(name, name) for name in self.parents]
        return Schema(features, [names.get(name, name) for name in self.labels], parents)

    def __repr__(self) -> str:
        features = f"{counted(self.n_features, 'feature')}: {listed(self.feature_names)}"
        return f"Schema({features}; {counted(self.n_labels, 'label')}: {listed(self.labels)})"

    def __reduce__(self) -> tuple[type["Schema"], tuple[Any, ...]]:
        return Schema, (self.features, self.labels, self.parents)  # without what is cached


def usual_kind(categories: tuple[str, ...] | None) -> Kind:
    """The kind of a feature if nothing more is known."""
    return "numeric" if categories is None else "nominal"


def _check_new_names(names: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse names by which two columns would be called the same."""
    owner: dict[object, str] = {}
    for name in known:
        new = names.get(name, name)
        if new in owner:
            also = f"{quoted(owner[new])} and {quoted(name)}"
            raise DataError(f"{also} would both be called {quoted(new)}: choose another name")
        owner[new] = name


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str):
        raise DataError(
            f"a {what} name must be text, not {name!r} of type {type(name).__name__}: "
            "rename the column"
        )
    if not name:
        raise DataError(f"a {what} has an empty name: give it one")
    refuse_half_character(name, what)


def _suspicious(categories: tuple[Any, ...]) -> tuple[Any, ...]:
    """The categories, or none if all are ASCII, which is found out faster."""
    are_texts = set(map(type, categories)) <= {str}
    return () if are_texts and all(map(str.isascii, categories)) else categories


def refuse_half_character(text: str, what: str) -> None:
    """Refuse a text that no file can hold; `what` it names is for the message."""
    if half := half_character(text):
        raise DataError(
            f"{what} {quoted(text)} has the character {half!r}, half of a pair, which no file can "
            "hold: rename it"
        )


def _check_parents(labels: Sequence[str], parents: Sequence[str | None]) -> None:
    if len(parents) != len(labels):
        raise DataError(f"{len(parents)} parents were given for {len(labels)} labels")
    parent_of = dict(zip(labels, parents, strict=True))
    rooted: set[str] = set()  # labels whose ancestors are known to end at a root
    for label, parent in parent_of.items():
        if parent is not None and parent not in parent_of:
            raise DataError(f"label {quoted(label)} has the unknown parent {quoted(parent)}")
        seen = {label}
        while parent is not None and parent not in rooted:
            if parent in seen:
                raise DataError(f"label {quoted(label)} is its own ancestor")
            seen.add(parent)
            parent = parent_of.get(parent)
        rooted |= seen


def repeated(names: Sequence[str]) -> list[str]:
    """Names that occur more than once, in order of first occurrence."""
    if all(map(lt, names, names[1:])) or len(set(names)) == len(names):
        return []
    return [name for name, count in Counter(names).items() if count > 1]
