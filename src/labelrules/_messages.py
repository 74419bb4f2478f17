"""How messages show names and what else may have been meant."""

from collections.abc import Iterable
from difflib import get_close_matches


def quoted(name: object) -> str:
    """A name as messages show it, on one line and not too long."""
    text = repr(str(name))
    return text if len(text) <= 60 else f"{text[:56]}...'"


def suggestion(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` when a known name is close, else nothing."""
    names = list(known)
    close = [other for other in names if other.casefold() == name.casefold()]
    close = close or get_close_matches(name, names, n=1)
    return f"; did you mean {quoted(close[0])}?" if close else ""


def number_of(thing: str, number: int) -> str:
    """A number of things in words: 1 row, 1,000 rows, 2 dependencies.

    >>> number_of("row", 1), number_of("row", 1000), number_of("dependency", 0)
    ('1 row', '1,000 rows', '0 dependencies')
    """
    several = f"{thing[:-1]}ies" if thing.endswith("y") else f"{thing}s"
    return f"{number:,} {thing if number == 1 else several}"
