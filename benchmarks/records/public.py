"""The public names of the library, wherever their rooms are."""

import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import labelrules


@cache
def rooms() -> dict[str, ModuleType]:
    """The packages that list public names, by name; the top one as ``labelrules``."""
    found = {"labelrules": labelrules}
    for one in pkgutil.iter_modules(labelrules.__path__):
        if one.ispkg and not one.name.startswith("_"):
            room = import_module(f"labelrules.{one.name}")
            if hasattr(room, "__all__"):
                found[f"labelrules.{one.name}"] = room
    return found


@cache
def namespace() -> dict[str, Any]:
    """All public names, in which cases are evaluated; those of the top package go first."""
    found: dict[str, Any] = {"__name__": __name__}  # which warnings ask for
    for room in reversed(rooms().values()):
        found |= {name: getattr(room, name) for name in room.__all__}
    return found | {name.rpartition(".")[2]: room for name, room in rooms().items()}


def made(expression: str, **more: Any) -> Any:
    """The value of an expression of public names, and of these."""
    return eval(expression, {**namespace(), **more})
