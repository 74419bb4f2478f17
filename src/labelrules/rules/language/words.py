"""The words of the rule language: names, numbers and signs, as they are printed and read.

A name that is no plain word stands in quotes: single ones for a label, double ones for a feature or
a category.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

Style: TypeAlias = Literal["plain", "unicode", "ascii"]

KEYWORDS = frozenset({"not", "true", "others"})

_BARE = re.compile(r"\w[\w.\-]*")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {"'": "'", '"': '"', **{text[1]: sign for sign, text in _ESCAPES.items()}}

_SHOWN = 160
"""Characters of a line that an error shows."""

ANY_ORDER = "in any order:"
"""The first line of a rule set."""
USUAL_SETS = "usual label sets:"
"""The heading of the label sets at the end of a rule set."""
NO_LABEL = "if no label was found:"
"""The heading of the rules for rows in which no label was found."""
MOST_POINTS = "the label with the most points"
"""What follows this heading on the same line, at the end of a rule set, in place of rules."""
OTHERWISE = "otherwise:"
"""The first word of a rule with an empty body at the end of a list."""


class RuleSyntaxError(ValueError):
    """An error in the text of a rule; the message shows its `line` and `column`, counted from 1."""

    def __init__(self, message: str, text: str, line: int, column: int) -> None:
        shown, place = _excerpt(text, column - 1)
        # A tab under a tab keeps the mark in place whatever the width of tabs.
        pointer = "".join("\t" if sign == "\t" else " " for sign in shown[:place]) + "^"
        super().__init__(f"line {line}, column {column}: {message}\n  {shown}\n  {pointer}")
        self.problem, self.text, self.line, self.column = message, text, line, column

    def __reduce__(self) -> tuple[type, tuple[str, str, int, int]]:
        return (type(self), (self.problem, self.text, self.line, self.column))


def _excerpt(text: str, place: int) -> tuple[str, int]:
    """The part of a long line around a place, and where the place is in it."""
    start = max(0, place - _SHOWN // 2) if len(text) > _SHOWN else 0
    before, after = "..." * (start > 0), "..." * (start + _SHOWN < len(text))
    return before + text[start : start + _SHOWN] + after, place - start + len(before)


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: 3.0 is '3'."""
    return repr(float(value)).removesuffix(".0")


def name_text(name: str, style: Style = "plain", keywords: frozenset[str] = KEYWORDS) -> str:
    """The name of a feature or category, in double quotes unless it is a plain word."""
    return name if _is_bare(name, style, keywords) else quoted_text(name, '"', style)


def label_text(name: str, style: Style = "plain") -> str:
    """The name of a label, in single quotes unless it is a plain word."""
    return name if _is_bare(name, style, KEYWORDS) else quoted_text(name, "'", style)


def _is_bare(name: str, style: Style, keywords: frozenset[str]) -> bool:
    is_word = bool(_BARE.fullmatch(name)) and name not in keywords
    return is_word and (style != "ascii" or name.isascii())


def quoted_text(name: str, quote: str, style: Style = "plain") -> str:
    """A name in quotes of this kind, with escapes."""
    return quote + "".join(_escaped(sign, quote, style) for sign in name) + quote


def note_text(note: str, style: Style = "plain") -> str:
    """A note as a comment on one line, with escapes."""
    return "# note: " + "".join(_escaped(sign, "", style) for sign in note)


def _escaped(sign: str, quote: str, style: Style) -> str:
    if sign == quote:
        return f"\\{sign}"
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign.isprintable() and (style != "ascii" or sign.isascii()):
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, sign or text in quotes, and where it starts: in which of several lines, and there.

    The kind of a text in double quotes is "string", in single quotes "label".
    """

    kind: str
    text: str
    start: int
    row: int = 0


_TOKEN = re.compile(
    r"""(?P<space>\s+) | (?P<note>\#\s*note:.*) | (?P<comment>\#.*)
      | (?P<arrow><-|←) | (?P<operator><=|≤|!=|≠|>|=)
      | (?P<not>¬) | (?P<comma>,) | (?P<star>\*) | (?P<open>\() | (?P<close>\)) | (?P<slash>/)
      | (?P<left>\{) | (?P<right>\})
      | (?P<string>"(?:[^"\\]|\\.)*") | (?P<label>'(?:[^'\\]|\\.)*')
      | (?P<word>[^\s,"'(){}<>=!¬≤≠←*\#/][^\s,"(){}<>=!¬≤≠←*\#/]*)""",
    re.VERBOSE | re.DOTALL,
)
_PROBLEMS = {
    '"': "this quote is never closed",
    "'": "this quote is never closed",
    "<": "numbers are compared by <= or >, and <- stands before the body",
    "!": "a category is compared by = or !=, and a label is negated by not",
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


def tokens(line: str, number: int, row: int = 0) -> Iterator[Token]:
    """Split a line into tokens; the last one marks its end. `row` is its place among several.

    A note, which is a comment that begins with "note:", is the last but one.
    """
    place = 0
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None:
            problem = _PROBLEMS.get(line[place], "unexpected sign")
            fail_at(problem, line, number, place)
        kind = str(match.lastgroup)
        if kind in ("string", "label"):
            text = _unescaped(match.group()[1:-1], line, number, place + 1)
            yield Token(kind, text, place, row)
        elif kind == "note":
            start = place + match.group().index(":") + 1
            yield Token(kind, _unescaped(line[start:], line, number, start).strip(), place, row)
        elif kind not in ("space", "comment"):
            is_not = kind == "word" and match.group() == "not"
            yield Token("not" if is_not else kind, match.group(), place, row)
        place = match.end()
    yield Token("end", "", place, row)


WIDTH = 100
"""Lines that are longer go on in the next line, if they have a comma."""
INDENT = "    "


def text_lines(line: str) -> Iterator[str]:
    """A line, broken after commas outside quotes if it is too long; further lines are indented."""
    if len(line) <= WIDTH:
        yield line
        return
    indent, start, end = "", 0, 0
    commas = [token.start + 1 for token in tokens(line, 1) if token.kind == "comma"]
    for place in [*commas, len(line)]:
        if end > start and len(indent) + place - start > WIDTH:
            yield indent + line[start:end]
            indent, start = INDENT, end + 1
        end = place
    yield indent + line[start:]


def _unescaped(text: str, line: str, number: int, place: int) -> str:
    def sign(match: re.Match[str]) -> str:
        code, long_code, letter = match.groups()
        if letter is None:
            value = int(code or long_code, 16)
            if value <= 0x10FFFF:
                return chr(value)
        elif letter in _UNESCAPES:
            return _UNESCAPES[letter]
        fail_at(f"unknown escape {match.group()}", line, number, place + match.start())

    return _ESCAPE.sub(sign, text)


def fail_at(message: str, line: str, number: int, place: int) -> NoReturn:
    """Raise an error at a place of a line, counted from 0."""
    raise RuleSyntaxError(message, line, number, place + 1)
