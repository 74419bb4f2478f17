"""Words of an ARFF line: quoted with escapes, or plain and taken as they are."""

import re
from typing import Final

from labelrules.data.errors import quoted


class Misread(Exception):  # noqa: N818 - it never reaches a user: the reader adds file and line
    """A line cannot be read; the message says why."""


MISSING: Final = None
"""What an unquoted question mark stands for."""

Word = str | None

# Plain words end at a blank, a comma or a brace. They may contain quotes, backslashes and
# percent signs, which then mean themselves: real files have names such as TAG_m\'usica.
_WORD = re.compile(
    r"""[ \t]*
    (?: '([^'\\]*(?:\\.[^'\\]*)*)'
      | "([^"\\]*(?:\\.[^"\\]*)*)"
      | ([^ \t,{}'"%][^ \t,{}]*)
    )[ \t]*""",
    re.DOTALL | re.VERBOSE,
)
_BLANKS = re.compile(r"[ \t]*")
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_PLAIN = re.compile(r"\w[\w.:/+-]*")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_TO_ESCAPE = str.maketrans({"\\": r"\\", "'": r"\'", "\n": r"\n", "\r": r"\r", "\t": r"\t"})


def read_word(line: str, start: int) -> tuple[Word, int]:
    r"""One word and the place after it and the blanks that follow.

    >>> read_word(r"'Stellar\'s Jay', 1", 0)
    ("Stellar's Jay", 16)
    >>> print(read_word(r"TAG_dise\~no {0,1}", 0)[0])
    TAG_dise\~no
    >>> read_word("?,'?'", 0), read_word("?,'?'", 2)
    ((None, 1), ('?', 5))
    """
    match = _WORD.match(line, start)
    if match is None:
        raise Misread(_why_no_word(line, skip_blanks(line, start)))
    plain = match[3]
    if plain is None:
        return _unescaped(match[match.lastindex or 1]), match.end()
    return MISSING if plain == "?" else plain, match.end()


def read_words(line: str, start: int) -> tuple[list[Word], int]:
    """Words separated by commas and the place after the last one."""
    word, end = read_word(line, start)
    words = [word]
    while line.startswith(",", end):
        word, end = read_word(line, end + 1)
        words.append(word)
    return words, end


def skip_blanks(line: str, start: int) -> int:
    """The place of the next character that is no blank."""
    match = _BLANKS.match(line, start)
    return match.end() if match else start


def is_over(line: str, start: int) -> bool:
    """Whether nothing but blanks and a comment follows."""
    return line[skip_blanks(line, start) :][:1] in ("", "%")


def written(text: str) -> str:
    r"""A name or category as it stands in a file, quoted if need be.

    >>> print(written("age"), written("New York"), written("it's"), written("?"))
    age 'New York' 'it\'s' '?'
    """
    if _PLAIN.fullmatch(text):
        return text
    return f"'{text.translate(_TO_ESCAPE)}'"


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_meaning, text) if "\\" in text else text


def _meaning(escape: re.Match[str]) -> str:
    code = escape[1]
    if code in _ESCAPED:
        return _ESCAPED[code]
    if not code[0].isalnum():
        return code
    if len(code) == 1 or 0xD800 <= int(code[1:], 16) <= 0xDFFF:
        raise Misread(rf"the escape \{code} has no meaning; a backslash is written \\")
    return chr(int(code[1:], 16))


def _why_no_word(line: str, start: int) -> str:
    rest = line[start:]
    if rest[:1] in ("'", '"'):
        return f"the quote opened at {quoted(rest)} is not closed"
    if rest[:1] == "{":
        return f"unexpected brace at {quoted(rest)}; a value with braces must be quoted"
    return "a value is empty; a missing value is written ?, an empty text ''"
