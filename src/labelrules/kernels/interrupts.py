"""Ctrl-C while compiled code is called."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def heard_interrupts() -> Iterator[None]:
    """Let Ctrl-C be a KeyboardInterrupt, also where it comes while a kernel gets its arguments.

    Python then says that the call has both a result and an error, by a SystemError that has the
    interrupt for its cause. This is a decorator, too.

    Examples
    --------
    >>> try:
    ...     with heard_interrupts():
    ...         raise SystemError("a result with an exception set") from KeyboardInterrupt()
    ... except KeyboardInterrupt:
    ...     print("heard")
    heard
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
