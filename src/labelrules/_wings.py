"""Wings: rooms that use the core, and that the core knows by these tables alone.

A wing imports the core and never another wing. What it brings is imported on its first use: its
public names, its learners when learners are listed, its commands when they are called.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

WINGS = ("mining", "lab", "studio")

LEARNERS = ("labelrules.mining.associative_classifier", "labelrules.mining.lazy_classifier")
"""Modules that register learners."""

COMMANDS = {
    "discover": "mining",
    "experiment": "lab",
    "frontier": "lab",
    "report": "studio",
    "workbench": "studio",
}
"""The wing of each command; its package ``commands`` has a module of the same name."""


READERS = {("__dask_graph__", "to_delayed"): "labelrules.scale.dask.rows"}
"""The attributes by which data are known that the core does not know, and who reads them."""


def reader_of(data: Any) -> Any:
    """The module that reads data of a kind that the core does not know; None for all others.

    It has `collected`, which makes them `Partitions`; `blocks`, whose `total` adds up what is
    counted in tables side by side; and `applied_to_blocks`, for what models predict.
    """
    for attributes, module in READERS.items():
        if all(getattr(data, name, None) is not None for name in attributes):
            return import_module(module)
    return None


def back_end(name: str, part: str) -> Any:
    """A part of a back end: of rows in "files", on "dask" or on a "gpu", which have like parts.

    ``codes`` cut columns and code their values, ``counts`` answer the questions of covering, and
    ``rules`` of a GPU apply theories.
    """
    return import_module(f"labelrules.scale.{name}.{part}")


class OneBlock(NamedTuple):
    """Tables in memory, side by side: one block."""

    tables: tuple[Any, ...]
    in_memory: bool = True

    def total(self, count: Callable[..., Any], what: str) -> Any:
        """Count all rows at once."""
        return count(*self.tables)


def blocks_of(**tables: Any) -> Any:
    """Tables side by side, in blocks, by their names in messages.

    Of the result `total(count, what)` is the sum of what a function counts in the tables of each
    block; it adds up by `plus`, or by ``+``. `what` the function does is for errors.
    """
    readers = filter(None, map(reader_of, tables.values()))
    reader = next(readers, None)
    return OneBlock(tuple(tables.values())) if reader is None else reader.blocks(**tables)


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
