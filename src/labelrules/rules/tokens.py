"""The words of the rule language: how names and numbers are written and read back."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

Style: TypeAlias = Literal["plain", "unicode", "ascii"]

KEYWORDS = frozenset({"not", "true", "others"})

_BARE = re.compile(r"\w[\w.\-]*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {text[1]: sign for sign, text in _ESCAPES.items()}


class RuleSyntaxError(ValueError):
    """A text is no rule; the message shows the place.

    Attributes
    ----------
    line, column : int
        The place, counted from 1.
    """

    def __init__(self, message: str, text: str, line: int, column: int) -> None:
        # A tab under a tab keeps the mark in place whatever the width of tabs.
        pointer = "".join("\t" if sign == "\t" else " " for sign in text[: column - 1]) + "^"
        super().__init__(f"line {line}, column {column}: {message}\n  {text}\n  {pointer}")
        self.problem, self.text, self.line, self.column = message, text, line, column

    def __reduce__(self) -> tuple[type, tuple[str, str, int, int]]:
        return (type(self), (self.problem, self.text, self.line, self.column))


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number.

    Examples
    --------
    >>> number_text(3.0), number_text(0.1), number_text(5e-324)
    ('3', '0.1', '5e-324')
    """
    return repr(float(value)).removesuffix(".0")


def name_text(name: str, style: Style = "plain", keywords: frozenset[str] = KEYWORDS) -> str:
    """A name, in quotes unless it is a plain word and no keyword.

    Examples
    --------
    >>> print(name_text("happy-pleased"), name_text("Stellar's Jay"), name_text("not"))
    happy-pleased "Stellar's Jay" "not"
    """
    plain = _BARE.fullmatch(name) and name not in keywords
    if plain and (style != "ascii" or name.isascii()):
        return name
    return '"' + "".join(_escaped(sign, style) for sign in name) + '"'


def _escaped(sign: str, style: Style) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign.isprintable() and (style != "ascii" or sign.isascii()):
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, sign or string of a line, and where it starts."""

    kind: str
    text: str
    start: int


_TOKEN = re.compile(
    r"""(?P<space>\s+) | (?P<comment>\#.*) | (?P<arrow><-|←) | (?P<operator><=|≤|!=|≠|>|=)
      | (?P<not>¬) | (?P<comma>,) | (?P<star>\*) | (?P<open>\() | (?P<close>\)) | (?P<slash>/)
      | (?P<string>"(?:[^"\\]|\\.)*") | (?P<word>[^\s,"()<>=!¬≤≠←*\#/]+)""",
    re.VERBOSE | re.DOTALL,
)
_PROBLEMS = {
    '"': "this quote is never closed",
    "<": "numbers are compared by <= or >, and <- stands before the body",
    "!": "a category is compared by = or !=, and a label is negated by not",
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


def tokens(line: str, number: int) -> Iterator[Token]:
    """Split a line into tokens; the last one marks its end."""
    place = 0
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None:
            problem = _PROBLEMS.get(line[place], "unexpected sign")
            fail_at(problem, line, number, place)
        kind = str(match.lastgroup)
        if kind == "string":
            yield Token(kind, _unescaped(match.group(), line, number, place), place)
        elif kind not in ("space", "comment"):
            is_not = kind == "word" and match.group() == "not"
            yield Token("not" if is_not else kind, match.group(), place)
        place = match.end()
    yield Token("end", "", place)


def _unescaped(text: str, line: str, number: int, place: int) -> str:
    def sign(match: re.Match[str]) -> str:
        code, long_code, letter = match.groups()
        if letter is None:
            value = int(code or long_code, 16)
            if value <= 0x10FFFF:
                return chr(value)
        elif letter in _UNESCAPES:
            return _UNESCAPES[letter]
        fail_at(f"unknown escape {match.group()}", line, number, place + 1 + match.start())

    return _ESCAPE.sub(sign, text[1:-1])


def fail_at(message: str, line: str, number: int, place: int) -> NoReturn:
    """Say what is wrong at a place of a line, counted from 0."""
    raise RuleSyntaxError(message, line, number, place + 1)
