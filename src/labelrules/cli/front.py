"""From the words of a command line to the command, and from what happens to an exit code."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from types import ModuleType

from labelrules import __version__
from labelrules._checks import quoted, suggestion
from labelrules.cli import (
    compare,
    completion,
    convert,
    demo,
    discover,
    evaluate,
    explain,
    learn,
    predict,
    show,
    stats,
)
from labelrules.cli.errors import (
    BROKEN_PIPE,
    FAILED,
    INTERRUPTED,
    OK,
    WRONG_USAGE,
    CommandError,
    UsageError,
)
from labelrules.cli.messages import in_words_of_the_shell, say
from labelrules.cli.parser import Parser

COMMANDS: dict[str, ModuleType] = {
    "learn": learn,
    "predict": predict,
    "evaluate": evaluate,
    "show": show,
    "explain": explain,
    "compare": compare,
    "discover": discover,
    "convert": convert,
    "stats": stats,
    "demo": demo,
    "completion": completion,
}

_HELP = """\
usage: labelrules COMMAND [ARGUMENT ...]

Interpretable rules for multi-label classification.

commands:
{commands}

Each command says more: labelrules COMMAND --help. The shell is told 0 if all went well, 1 if
the data or the model are at fault, 2 if the call is, and 130 after Ctrl-C.

options:
  -h, --help  show this help
  --version   show the version
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``labelrules``; by default those of this process.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> main(["--version"])
    labelrules ...
    0
    """
    _prepare_output()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except UsageError as wrong:
        known = words[0] if words and words[0] in COMMANDS else None
        say(f"{known}: {wrong}" if known else str(wrong))
        say(f"labelrules {known + ' ' if known else ''}--help tells more", prefix="")
        return WRONG_USAGE
    except KeyboardInterrupt as stop:
        say(" ".join(["interrupted", *map(str, stop.args)]))
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever read this has stopped; Python would complain once more at its end.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except ImportError as wrong:
        if "pip install" not in str(wrong):  # not an extra that is missing, but a fault of ours
            raise
        say(str(wrong))
        return FAILED
    except (CommandError, ValueError, OSError, RecursionError, MemoryError) as wrong:
        say(in_words_of_the_shell(wrong))
        return FAILED


def parser_of(name: str) -> Parser:
    """The parser of a command."""
    command = COMMANDS[name]
    parser = Parser(name, command.SUMMARY, command.EXAMPLES)
    command.add_arguments(parser)
    return parser


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        return _help(words)
    if words[0] == "--version":
        print(f"labelrules {__version__}")
        return OK
    if words[0] not in COMMANDS:
        what = "option" if words[0].startswith("-") else "command"
        known = COMMANDS if what == "command" else ("--help", "--version")
        raise UsageError(f"there is no {what} {quoted(words[0])}{suggestion(words[0], known)}")
    parser = parser_of(words[0])
    try:
        options = parser.read(words[1:])
    except SystemExit:  # after --help
        return OK
    return int(COMMANDS[words[0]].run(options))


def _help(words: list[str]) -> int:
    if len(words) > 1 and words[0] == "help":
        return _run([words[1], "--help"])
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {command.SUMMARY}" for name, command in COMMANDS.items()]
    print(_HELP.format(commands="\n".join(lines)), end="")
    return OK


def _prepare_output() -> None:
    """Files and pipes get UTF-8 on every platform; a terminal gets what it can show."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
