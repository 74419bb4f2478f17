"""What is said beside the result, on the stream for errors."""

import re
import shlex
import sys

_PARAMETER = re.compile(
    r"\b(delimiter|encoding|folder|ignore|labels|missing|nominal|part|xml)="
    r"(?:\[\.\.\.\]|\['([^']*)'\]|'([^']*)')?"
)

_IN_OUR_WORDS = {
    "pass folder=, or use fetch() to get it": "or write openml:NAME to get it",
    "or use read_meka if the relation name has -C": "or --format meka if the relation name has -C",
    "with an XML file use read_mulan": "with an XML file use --xml",
    "as write_csv does": "as labelrules convert does",
    "leave part out": "leave --part out",
    "raise limit": "raise --limit",
}


def say(message: str, prefix: str = "labelrules: ") -> None:
    """Say something that is not the result."""
    print(f"{prefix}{message}", file=sys.stderr, flush=True)


def in_words_of_the_shell(wrong: BaseException) -> str:
    """An error of the library, whose parameters are options here.

    Examples
    --------
    >>> in_words_of_the_shell(ValueError("which columns are labels? Pass labels=[...]"))
    'which columns are labels? Pass --labels'
    >>> in_words_of_the_shell(ValueError("pass missing='inf', or nominal=['age']"))
    'pass --missing inf, or --nominal age'
    >>> print(in_words_of_the_shell(ValueError("perhaps pass delimiter=';'")))
    perhaps pass --delimiter ';'
    """
    if isinstance(wrong, MemoryError):
        return "there is not enough memory"
    message = str(wrong) or type(wrong).__name__
    for words, ours in _IN_OUR_WORDS.items():
        message = message.replace(words, ours)
    return _PARAMETER.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    """A parameter as an option, with its value if one is given."""
    value = found[2] or found[3]
    return f"--{found[1]} {shlex.quote(value)}" if value else f"--{found[1]}"
