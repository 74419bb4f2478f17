"""What is made from an object once, and kept as long as the object lives."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import ref

Thing = TypeVar("Thing")
Made = TypeVar("Made")


def kept(make: Callable[[Thing], Made]) -> Callable[[Thing], Made]:
    """Make something from an object at the first call; further calls return it again.

    The object itself is not changed, so copies and pickles of it hold nothing more; it is known by
    its identity, since comparing or hashing it may take longer than making the thing anew.

    Examples
    --------
    >>> class Words(list): pass
    >>> counted = kept(len)
    >>> words = Words(["a", "b"])
    >>> counted(words), words.append("c"), counted(words), counted(Words("abc"))
    (2, None, 2, 3)
    """
    found: dict[int, tuple[ref[Thing], Made]] = {}

    @wraps(make)
    def get(thing: Thing) -> Made:
        key = id(thing)
        entry = found.get(key)
        if entry is not None and entry[0]() is thing:
            return entry[1]
        made = make(thing)
        found[key] = ref(thing, lambda _: found.pop(key, None)), made
        return made

    return get
