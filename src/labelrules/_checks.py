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


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    >>> counted(1, "row"), counted(1000, "row"), counted(0, "dependency")
    ('1 row', '1,000 rows', '0 dependencies')
    """
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"
