"""Ctrl-C while compiled code is called."""

from collections.abc import Iterator
from contextlib import contextmanager

_NOTHING_HANDED_OVER = "no compiled object yet for"
"""Numba's message; only an interrupt can be the reason."""


@contextmanager
def heard_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt on Ctrl-C, also while a kernel is compiled or gets its arguments.

    While arguments are converted, Python raises a SystemError caused by the interrupt. While the
    compiler hands over its code, the interrupt is lost, and Numba has nothing to keep on disk.
    Also a decorator.
    """
    try:
        yield
    except SystemError as odd:
        cause: BaseException | None = odd
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if not isinstance(cause, KeyboardInterrupt):
            raise
        raise KeyboardInterrupt from None
    except RuntimeError as odd:
        if not str(odd).startswith(_NOTHING_HANDED_OVER):
            raise
        raise KeyboardInterrupt from None
