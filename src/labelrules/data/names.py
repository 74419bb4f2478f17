"""What the columns are called when a table does not say, and which of them are meant."""

from collections.abc import Iterable

import numpy as np

from labelrules.data.errors import DataError, quoted, suggestion

Names = tuple[str, ...]


def checked_names(names: Iterable[str] | None, what: str) -> Names | None:
    """The names given, as a tuple; one text is not a list of them."""
    if names is None:
        return None
    if isinstance(names, str):
        raise DataError(f"{what} is one text, {names!r}: give a list of names")
    return tuple(str(name) if isinstance(name, str) else name for name in names)


def feature_names_of(
    own: Names | None, given: Names | None, n_columns: int, taken: Iterable[str]
) -> Names:
    """The names of X's columns: its own, those given, or the default."""
    if given is not None and len(given) != n_columns:
        raise DataError(f"X has {n_columns} columns but {len(given)} feature names were given")
    if own is None:
        return given if given is not None else default_names("x", n_columns, taken)
    if given is not None and given != own:
        raise DataError(
            "X is a frame and brings the names of its columns: leave feature_names out, "
            "or rename the columns"
        )
    return own


def default_names(letter: str, n_names: int, taken: Iterable[str]) -> Names:
    """x0, x1, ...; with as many underscores after the letter as it takes to be different."""
    others = set(taken)
    names = tuple(f"{letter}{index}" for index in range(n_names))
    return names if others.isdisjoint(names) else default_names(f"{letter}_", n_names, others)


def positions(nominal: Iterable[str | int], names: Names) -> set[int]:
    """Where the columns are that are chosen by name or position."""
    if isinstance(nominal, (str, int)):
        raise DataError(f"nominal is {nominal!r}: give a list of names or positions")
    index_of = {name: index for index, name in enumerate(names)}
    return {_position(choice, index_of) for choice in nominal}


def _position(choice: str | int, index_of: dict[str, int]) -> int:
    if isinstance(choice, str):
        if choice not in index_of:
            raise DataError(
                f"nominal names {quoted(choice)}, which X does not have"
                f"{suggestion(choice, index_of)}"
            )
        return index_of[choice]
    if isinstance(choice, bool) or not isinstance(choice, (int, np.integer)):
        raise DataError(f"nominal has {choice!r}: give names or positions of columns")
    if not 0 <= choice < len(index_of):
        raise DataError(f"nominal has the position {choice}, but X has {len(index_of)} columns")
    return int(choice)
