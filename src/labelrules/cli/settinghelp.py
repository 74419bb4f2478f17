"""What can be set of a learner or a search: names, defaults, and what they mean."""

import inspect
import re
from collections.abc import Mapping

_PARAMETER = re.compile(r"^(\w[\w, ]*?) :.*$")


def settings_text(parameters: Mapping[str, inspect.Parameter], doc: str) -> str:
    """A line for each parameter: its name and default, and the first sentence on it.

    Examples
    --------
    >>> def search(width: int = 5) -> None:
    ...     '''Search.
    ...
    ...     Parameters
    ...     ----------
    ...     width : int
    ...         How many are kept. More is slower.
    ...     '''
    >>> print(settings_text(inspect.signature(search).parameters, search.__doc__))
    width=5  How many are kept.
    """
    meanings = _meanings(doc)
    heads = {name: f"{name}={_shown(one.default)}" for name, one in parameters.items()}
    width = max(map(len, heads.values()), default=0)
    lines = [f"{head:<{width}}  {meanings.get(name, '')}" for name, head in heads.items()]
    return "\n".join(line.rstrip() for line in lines)


def _shown(default: object) -> str:
    if default is inspect.Parameter.empty:
        return ""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return f"{default:.4g}" if isinstance(default, float) else str(default)


def _meanings(doc: str) -> dict[str, str]:
    """The first sentence on each parameter, from the section of a docstring."""
    lines = inspect.cleandoc(doc).splitlines()
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        match = _PARAMETER.match(line)
        if match:
            current = []
            found.update((name.strip(), current) for name in match[1].split(","))
        elif line.startswith("    "):
            current.append(line.strip())
        elif line:
            current = []
    return {name: _sentence(" ".join(text)) for name, text in found.items()}


def _sentence(text: str) -> str:
    first = re.split(r"(?<=[.;])\s", text, maxsplit=1)[0]
    return first.replace("`", "").removesuffix(";")
