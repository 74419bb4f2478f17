"""What is said when a command cannot do what was asked, and how a shell is told."""

OK = 0
FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130  # as shells count signals: 128 + SIGINT
BROKEN_PIPE = 141  # 128 + SIGPIPE: whoever read the output has stopped


class UsageError(Exception):
    """The command was not called as it should be; the message says what is wrong."""


class CommandError(Exception):
    """The command was called well, but cannot be done with these data or this model."""
