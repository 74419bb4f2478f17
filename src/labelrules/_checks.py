"""Checks of parameters, and how messages show names, numbers and suggestions."""

import csv
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from math import isinf
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeGuard

if TYPE_CHECKING:
    import numpy as np

_NUMPY_BOOL = ("<class 'numpy.bool'>", "<class 'numpy.bool_'>")


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number (also NumPy's); True, False and 3.0 are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def whole_number(
    value: object, name: str, *, low: int | None = None, high: int | None = None, also: str = ""
) -> int:
    """A parameter that must be a whole number from `low` to `high`.

    `also` is what else is allowed, for the message only: the caller has checked for it.
    """
    if is_whole(value) and (low is None or value >= low) and (high is None or value <= high):
        return int(value)
    raise _refused(value, name, f"a whole number{_limits(low, high)}", also)


def number(
    value: object,
    name: str,
    *,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
    infinite: bool = False,
    also: str = "",
) -> float:
    """A parameter that must be a number within limits; NaN never is.

    `low` and `high` are allowed themselves, `above` and `below` are not.
    """
    if is_number(value) and value == value and (infinite or not isinf(value)):
        reaches = (low is None or value >= low) and (above is None or value > above)
        stays = (high is None or value <= high) and (below is None or value < below)
        if reaches and stays:
            return float(value)
    finite = "a finite number" if is_number(value) and isinf(value) else "a number"
    raise _refused(value, name, f"{finite}{_limits(low, high, above, below)}", also)


def truth_value(value: object, name: str) -> bool:
    """A parameter that must be True or False."""
    # NumPy is not imported here, because it takes longer than all of --help
    if isinstance(value, bool) or repr(type(value)) in _NUMPY_BOOL:
        return bool(value)
    raise _refused(value, name, "True or False")


def one_of(value: object, name: str, words: Collection[str], also: str = "") -> str:
    """A parameter that must be one of some words; the message suggests a similar one."""
    if isinstance(value, str) and value in words:
        return value
    *first, last = [*map(repr, words), *([also] if also else [])]
    allowed = f"{', '.join(first)} or {last}" if first else last
    near = suggestion(value, words) if isinstance(value, str) else ""
    raise _refused(value, name, allowed, near=near)


def job_count(n_jobs: object) -> int | None:
    """The parameter `n_jobs`: how many workers, as joblib counts, or None."""
    if n_jobs is None or (is_whole(n_jobs) and n_jobs != 0):
        return None if n_jobs is None else int(n_jobs)
    raise _refused(n_jobs, "n_jobs", "a number of workers, -1 for all processors", "None")


def random_numbers(random_state: Any) -> "np.random.RandomState":
    """The source of random numbers that `random_state` stands for; None is the same as 0."""
    from sklearn.utils import check_random_state

    try:
        if not isinstance(random_state, bool) and str(type(random_state)) not in _NUMPY_BOOL:
            source = 0 if random_state is None else random_state
            return check_random_state(source)  # type: ignore[no-any-return]
    except ValueError:
        pass
    raise ValueError(
        "random_state must be a whole number from 0 to 4294967295, a RandomState or None, "
        f"not {random_state!r:.60}"
    )


def random_seed(random_state: Any) -> int:
    """A number drawn by `random_state`; 0 for None."""
    return 0 if random_state is None else int(random_numbers(random_state).randint(2**31 - 1))


def random_generator(random_state: Any) -> "np.random.Generator":
    """NumPy's newer generator, seeded by the number itself where `random_state` is one."""
    import numpy as np

    seed = random_seed(random_state)
    return np.random.default_rng(int(random_state) if is_whole(random_state) else seed)


def _limits(
    low: float | None, high: float | None, above: float | None = None, below: float | None = None
) -> str:
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if above is not None and below is not None:
        return f" between {above} and {below}"
    known = {"of at least": low, "above": above, "of at most": high, "below": below}
    parts = [f"{words} {limit}" for words, limit in known.items() if limit is not None]
    return f" {' and '.join(parts)}" if parts else ""


def _refused(value: Any, name: str, allowed: str, also: str = "", near: str = "") -> ValueError:
    either = f" or {also}" if also else ""
    return ValueError(f"{name} must be {allowed}{either}, not {value!r:.60}{near}")


def quoted(name: object) -> str:
    """A name as messages show it: in quotes, on one line and not too long."""
    text = repr(str(name))
    return text if len(text) <= 60 else f"{text[:56]}...'"


def half_character(text: str) -> str | None:
    r"""A character that is half of a pair, which no file and no export can hold; else None.

    >>> half_character("a\ud800b"), half_character("ab")
    ('\ud800', None)
    """
    if text.isascii():
        return None
    return next((sign for sign in text if "\ud800" <= sign <= "\udfff"), None)


def suggestion(name: str, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` when a known name is close, else an empty text."""
    names = list(known)
    close = [other for other in names if other.casefold() == name.casefold()]
    close = close or get_close_matches(name, names, n=1)
    return f"; did you mean {quoted(close[0])}?" if close else ""


def split_names(text: str) -> list[str]:
    """Names separated by commas; a name with a comma is in double quotes.

    >>> split_names('age, "pressure (mmHg, first)"')
    ['age', 'pressure (mmHg, first)']
    """
    return next(csv.reader([text], skipinitialspace=True), [])


def listed(names: Iterable[object]) -> str:
    """The first five names in quotes, and how many more there are."""
    shown = [quoted(name) for name in names]
    more = f" and {len(shown) - 5} more" if len(shown) > 5 else ""
    return ", ".join(shown[:5]) + more


def counted(number: int, noun: str) -> str:
    """A number of things in words: '1 row', '1,000 rows', '0 dependencies'."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"
