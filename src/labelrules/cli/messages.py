"""What is said beside the result, on the stream for errors."""

import re
import sys

_PARAMETER = re.compile(
    r"\b(delimiter|encoding|folder|ignore|labels|missing|nominal|part|xml)=(?:\[\.\.\.\])?"
)


def say(message: str, prefix: str = "labelrules: ") -> None:
    """Say something that is not the result."""
    print(f"{prefix}{message}", file=sys.stderr, flush=True)


def in_words_of_the_shell(wrong: BaseException) -> str:
    """An error of the library, whose parameters are options here.

    Examples
    --------
    >>> in_words_of_the_shell(ValueError("which columns are labels? Pass labels=[...]"))
    'which columns are labels? Pass --labels'
    """
    if isinstance(wrong, MemoryError):
        return "there is not enough memory"
    message = str(wrong) or type(wrong).__name__
    message = message.replace(
        "pass folder=, or use fetch() to get it", "or write openml:NAME to get it"
    )
    message = message.replace(
        "or use read_meka if the relation name has -C", "or use --format meka"
    )
    message = message.replace("with an XML file use read_mulan", "or name its XML file by --xml")
    return _PARAMETER.sub(lambda found: f"--{found[1]}", message)
