"""Whether a value is of a kind that a parameter takes, by its annotation."""

import types
from collections.abc import Iterable, Sequence
from typing import Any, Literal, Union, get_args, get_origin

from labelrules._checks import quoted, suggestion
from labelrules.cli.errors import UsageError

_KINDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a word",
    type(None): "none",
}


def check_kind(name: str, value: Any, annotation: Any) -> None:
    """Refuse a value of a kind that the parameter does not take.

    Examples
    --------
    >>> check_kind("alpha", 0.05, float | None)
    >>> check_kind("alpha", "x", float | None)
    Traceback (most recent call last):
    labelrules.cli.errors.UsageError: --set alpha: must be a number or none, not 'x'
    >>> check_kind("bins", "widht", Literal["width", "frequency"])
    Traceback (most recent call last):
    labelrules.cli.errors.UsageError: --set bins: must be 'width' or 'frequency', not 'widht'; did
    you mean 'width'?
    """
    if name == "random_state":  # annotated by what scikit-learn takes, which is more
        annotation = int | None
    kinds = _alternatives(annotation)
    if any(_fits(value, kind) for kind in kinds):
        if name == "random_state" and value is not None and value < 0:
            raise UsageError(f"--set random_state: must be at least 0, not {value}")
        return
    words = [kind for kind in kinds if isinstance(kind, str)]
    said = [_KINDS[kind] for kind in kinds if kind in _KINDS and kind is not type(None)]
    said += ["names with commas between them"] if _LISTS & {*kinds} else []
    said += [repr(word) for word in words]
    said += ["none"] if type(None) in kinds else []
    near = suggestion(value, words) if isinstance(value, str) else ""
    raise UsageError(f"--set {name}: must be {' or '.join(said)}, not {quoted(value)}{near}")


_ANYTHING = object()
_LISTS: set[Any] = {Iterable, Sequence}


def _alternatives(annotation: Any) -> list[Any]:
    """The kinds that an annotation allows: types, words, or anything."""
    origin = get_origin(annotation)
    if origin is Union or isinstance(annotation, types.UnionType):
        return [kind for part in get_args(annotation) for kind in _alternatives(part)]
    if origin is Literal:
        return list(get_args(annotation))
    if origin in _LISTS:
        return [origin]
    if annotation in _KINDS or isinstance(annotation, type):
        return [annotation]
    return [_ANYTHING]


def _fits(value: Any, kind: Any) -> bool:
    if kind is _ANYTHING:
        return True
    if isinstance(kind, str):
        return bool(value == kind)
    if kind in _LISTS:
        return isinstance(value, list)
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    return isinstance(value, (int, float) if kind is float else kind)
