"""What the library tells as Python values, as values that JSON knows."""

from dataclasses import fields, is_dataclass
from typing import Any


def document_of(value: Any) -> Any:
    """Fields by name, all the way down; rules and theories are told by their texts, so left out.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> class Place(NamedTuple):
    ...     number: int
    >>> document_of([Place(3)])
    [{'number': 3}]
    """
    if is_dataclass(value) and not isinstance(value, type):
        return _fields({one.name: getattr(value, one.name) for one in fields(value)})
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _fields(value._asdict())
    if isinstance(value, dict):
        return {str(key): document_of(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document_of(item) for item in value]
    return value


def _fields(found: dict[str, Any]) -> dict[str, Any]:
    from labelrules.data import Schema
    from labelrules.rules import Condition, Rule, Theory

    unsaid = (Theory, Rule, Condition, Schema)
    return {name: document_of(one) for name, one in found.items() if not isinstance(one, unsaid)}
