"""Ctrl-C: what was learned so far is kept."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_passed_on = ContextVar("interrupts are passed on", default=False)


class LearningInterrupted(UserWarning):
    """Learning ended before it was finished; what was learned so far is kept."""


@contextmanager
def passed_on() -> Iterator[None]:
    """Let learners inside this block not deal with Ctrl-C, because the learner around them does.

    Otherwise each of many learners, one after the other, would have to be interrupted.
    """
    token = _passed_on.set(True)
    try:
        yield
    finally:
        _passed_on.reset(token)


def are_passed_on() -> bool:
    """Whether a learner around this one deals with Ctrl-C."""
    return _passed_on.get()


def warn_of_early_end(reason: str, kept: str) -> None:
    """Tell the caller of this package why learning ended early, and what is kept."""
    warnings.warn(
        f"learning ended early because {reason}; {kept}",
        LearningInterrupted,
        stacklevel=_levels_to_caller(),
    )


def rules_so_far(number: int, has_default: bool = True) -> str:
    """What is kept of a list, to which a default rule may be added.

    >>> rules_so_far(1), rules_so_far(2)
    ('the rule learned so far is kept', 'the 2 rules learned so far are kept')
    >>> rules_so_far(0)
    'no rule was learned yet, so only the default rule is kept'
    """
    if number == 0:
        kept = "only the default rule is" if has_default else "none is"
        return f"no rule was learned yet, so {kept} kept"
    if number == 1:
        return "the rule learned so far is kept"
    return f"the {number} rules learned so far are kept"


def _levels_to_caller() -> int:
    """How far up the stack the caller of this package is, as warnings count."""
    frame, level = sys._getframe(1), 1
    inside = ("labelrules.", "contextlib")  # which runs what `heard_interrupts` decorates
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(inside):
        frame, level = frame.f_back, level + 1
    return level
