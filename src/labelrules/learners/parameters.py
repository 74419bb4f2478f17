"""Parameters of learners, checked one by one: the message names the parameter."""

from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from labelrules._checks import quoted, suggestion

Number = TypeVar("Number", int, float)


def seed(learner: Any) -> int:
    """A number from `random_state`; 0 if there is none."""
    if learner.random_state is None:
        return 0
    return int(check_random_state(learner.random_state).randint(2**31 - 1))


def word(learner: Any, name: str, known: tuple[str, ...]) -> str:
    """A parameter that must be one of these words."""
    value = getattr(learner, name)
    if not (isinstance(value, str) and value in known):
        words = " or ".join(map(repr, known))
        raise ValueError(
            f"{name} must be {words}, not {quoted(value)}{suggestion(str(value), known)}"
        )
    return value


def truth(learner: Any, name: str) -> bool:
    """A parameter that must be true or false."""
    value = getattr(learner, name)
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def whole(learner: Any, name: str, lowest: int) -> int | None:
    """A parameter that must be a whole number, or None."""
    value = getattr(learner, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < lowest:
        raise ValueError(f"{name} must be a whole number of at least {lowest}, not {value!r}")
    return int(value)


def number(learner: Any, name: str, highest: float = float("inf")) -> float | None:
    """A parameter that must be a number of at least 0, or None."""
    value = getattr(learner, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= highest:
        upper = "" if highest == float("inf") else f" and at most {highest:g}"
        raise ValueError(f"{name} must be a number of at least 0{upper}, not {value!r}")
    return float(value)


def needed(number: Number | None, name: str) -> Number:
    """The number, which must not be None."""
    if number is None:
        raise ValueError(f"{name} must be a number, not None")
    return number
