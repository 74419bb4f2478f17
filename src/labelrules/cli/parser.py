"""Arguments of a command, read with errors that name what was probably meant."""

import argparse
from collections.abc import Callable, Collection, Sequence
from typing import NoReturn

from labelrules._checks import quoted, suggestion
from labelrules.cli.errors import UsageError

_MAY_BE_EMPTY = ("missing",)
"""The options whose value may be an empty text, such as the cell for a missing value."""


class OneOf:
    """A value that must be one of some words; the words are offered by completion, too.

    Parameters
    ----------
    what : str
        What the words stand for.
    words : collection of str

    Examples
    --------
    >>> OneOf("style", ("plain", "unicode"))("unicod")
    Traceback (most recent call last):
    argparse.ArgumentTypeError: there is no style 'unicod'; did you mean 'unicode'?
    """

    def __init__(self, what: str, words: Collection[str]) -> None:
        self.what, self.words = what, tuple(words)

    def __call__(self, text: str) -> str:
        """The word, if it is known."""
        if text in self.words:
            return text
        near = suggestion(text, self.words) or f"; there are {', '.join(self.words)}"
        raise argparse.ArgumentTypeError(f"there is no {self.what} {quoted(text)}{near}")


class Counted:
    """A whole number of at least `least`."""

    def __init__(self, least: int) -> None:
        self.least = least

    def __call__(self, text: str) -> int:
        """The number, if it is one."""
        if text.isascii() and text.isdigit() and int(text) >= self.least:
            return int(text)
        raise argparse.ArgumentTypeError(
            f"this must be a whole number of at least {self.least}, not {quoted(text)}"
        )


class Parser(argparse.ArgumentParser):
    """The parser of one command.

    Parameters
    ----------
    command : str
        Its name.
    summary : str
        What it does, in a sentence.
    examples : str
        Calls of it, one to a line.
    """

    def __init__(self, command: str, summary: str, examples: str) -> None:
        lines = "\n".join(f"  {line}" for line in examples.strip().splitlines())
        super().__init__(
            prog=f"labelrules {command}",
            description=summary,
            epilog=f"examples:\n{lines}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.settable: Callable[[], Collection[str]] = tuple

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, in place of ending the program."""
        raise UsageError(message)

    def options(self) -> list[argparse.Action]:
        """The arguments that begin with a dash."""
        return [action for action in self._actions if action.option_strings]

    def operands(self) -> list[argparse.Action]:
        """The arguments that stand by themselves."""
        return [action for action in self._actions if not action.option_strings]

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """The arguments, all of them known."""
        self._refuse_unknown(words)
        found, rest = self.parse_known_args(words)
        rest = [word for word in rest if word != "--"]
        if rest:
            what = "option" if rest[0].startswith("-") and rest[0] != "-" else "argument"
            raise UsageError(f"{quoted(rest[0])} is one {what} too many")
        self._refuse_empty(found)
        return found

    def _refuse_unknown(self, words: Sequence[str]) -> None:
        """Look at options first: argparse would take what follows a wrong one for an operand."""
        known = [name for action in self.options() for name in action.option_strings]
        for word in words:
            if word == "--":
                return
            is_long = word.startswith("--")
            name = word.partition("=")[0] if is_long else word[:2]
            is_option = len(word) > 1 and word.startswith("-") and not word[1].isdigit()
            if is_option and name not in known:
                raise UsageError(f"there is no option {name}{self._instead(name, known)}")

    def _refuse_empty(self, found: argparse.Namespace) -> None:
        """Refuse empty names: often a variable of the shell is not set."""
        for action in self._actions:
            value = getattr(found, action.dest, None)
            is_empty = "" in value if isinstance(value, list) else value == ""
            if is_empty and action.dest not in _MAY_BE_EMPTY:
                name = (action.option_strings or [str(action.metavar)])[-1]
                raise UsageError(f"{name}: this is empty: give a name")

    def _instead(self, name: str, known: list[str]) -> str:
        """What was probably meant by an option that is not there."""
        setting = name.strip("-").replace("-", "_")
        if setting in self.settable():
            return f"; write --set {setting}=VALUE"
        return suggestion(name, [one for one in known if one.startswith("--")])
