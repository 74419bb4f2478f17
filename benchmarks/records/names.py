"""Public names: where each can be imported from, and with which parameters it is called."""

import inspect
import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from records.keeping import Cases
from records.public import namespace, rooms


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """The names of each room, and the signatures of all names, wherever they are."""
    for name, room in rooms().items():
        yield f"rooms/{name}", partial("\n".join, [f"{name}.{one}" for one in room.__all__])
    found = namespace()
    for name in sorted(found, key=str.lower):
        if inspect.isroutine(found[name]) or inspect.isclass(found[name]):
            yield f"signatures/{name}", partial(_signatures, name, found[name])
    yield "parameters of learners", _parameters


def _signatures(name: str, value: Any) -> str:
    """A function, or a class with what it offers; annotations and documentation are left out."""
    if not inspect.isclass(value):
        return f"{name}{_signature(value)}"
    return "\n".join([f"class {name}{_signature(value)}", *sorted(_members(value))])


def _members(kind: type) -> Iterator[str]:
    for name in dir(kind):
        if name.startswith("_") or hasattr(Exception, name):
            continue
        member = inspect.getattr_static(kind, name)
        function = getattr(member, "__func__", member)
        yield f"  {name}{_signature(function)}" if callable(function) else f"  {name}"


def _signature(function: Any) -> str:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    plain = [one.replace(annotation=one.empty) for one in parameters]
    return re.sub(r"<function (\w+) at \w+>", r"\1", str(inspect.Signature(plain)))


def _parameters() -> dict[str, Any]:
    """Each learner by its name on the command line, with its parameters and their defaults."""
    from labelrules.learners import registered

    return {name: one().get_params(deep=False) for name, one in registered().items()}
