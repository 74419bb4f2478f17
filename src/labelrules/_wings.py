"""Wings: rooms that use the core, and that the core knows by these tables alone.

A wing imports the core and never another wing. What it brings is imported on its first use: its
public names, its learners when learners are listed, its commands when they are called.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

WINGS = ("mining", "lab", "studio")

LEARNERS = ("labelrules.mining.associative.classifier", "labelrules.mining.associative.lazy")
"""Modules that register learners."""

COMMANDS = {
    "discover": "mining",
    "experiment": "lab",
    "frontier": "lab",
    "report": "studio",
    "workbench": "studio",
}
"""The wing of each command; its package ``commands`` has a module of the same name."""


@cache
def load_learners() -> None:
    """Import the learners of the wings, which registers them."""
    for module in LEARNERS:
        import_module(module)


def names_from(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package whose public names are those of a module.

    The module is imported with the first of them, so that a command of a wing shows its help
    without the wing.
    """

    def attribute(name: str) -> Any:
        if name.startswith("_") and name != "__all__":
            raise AttributeError(name)
        return getattr(import_module(module), name)

    return attribute
