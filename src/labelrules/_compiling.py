"""Compiling: it is said once, and it is not learning.

The kernels tell this module when they are compiled. Code that is kept on disk is not compiled.
"""

import gc
import logging
import sys
from time import monotonic

MESSAGE = "compiling, once; the compiled code is kept on disk"

RARELY = 100_000
"""New objects between two collections of garbage while code is compiled.

The compiler makes objects by the million and keeps most of them: collecting as often as Python does
by itself takes a tenth of the time, and saves some 20 MB.
"""

_LOGGER = logging.getLogger("labelrules")


class _State:
    """What this process has compiled."""

    seconds = 0.0
    begun: float | None = None
    is_said = False
    is_not_kept_said = False
    collecting: tuple[int, int, int] | None = None


def begin() -> None:
    """Note that compiling begins, and say so the first time."""
    if not _State.is_said:
        _State.is_said = True
        _say(MESSAGE)
    _State.begun = monotonic()
    collecting = gc.get_threshold()
    if 0 < collecting[0] < RARELY:
        _State.collecting = collecting
        gc.set_threshold(RARELY, *collecting[1:])


def end() -> None:
    """Note that compiling ends."""
    if _State.begun is not None:
        _State.seconds += monotonic() - _State.begun
        _State.begun = None
    if _State.collecting is not None:
        gc.set_threshold(*_State.collecting)
        _State.collecting = None


def say_not_kept(folder: str, reason: str) -> None:
    """Say, the first time, that compiled code cannot be kept on disk."""
    if not _State.is_not_kept_said:
        _State.is_not_kept_said = True
        _say(f"the compiled code cannot be kept in {folder} ({reason}): it is compiled every time")


def compiling_seconds() -> float:
    """The seconds that this process has spent on compiling."""
    return _State.seconds


def learning_clock() -> float:
    """A clock that stands still while kernels are compiled, in seconds; for differences."""
    begun = _State.begun
    return (monotonic() if begun is None else begun) - _State.seconds


def _say(text: str) -> None:
    """Log a text at the level INFO; on standard error if nobody listens and nobody asked not to."""
    _LOGGER.info(text)
    asked_for_less = _LOGGER.level > logging.INFO
    if not (asked_for_less or _is_heard() or sys.stderr is None):
        print(f"labelrules: {text}", file=sys.stderr, flush=True)


def _is_heard() -> bool:
    """Whether some handler shows what this package logs at the level INFO."""
    logger: logging.Logger | None = _LOGGER
    if not _LOGGER.isEnabledFor(logging.INFO):
        return False
    while logger is not None:
        for handler in logger.handlers:
            if handler.level <= logging.INFO and not isinstance(handler, logging.NullHandler):
                return True
        logger = logger.parent if logger.propagate else None
    return False
