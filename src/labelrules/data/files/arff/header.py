"""Words of an ARFF line, and the header: names and types of the attributes."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

from labelrules._checks import quoted
from labelrules.data.errors import FileError
from labelrules.data.files.arff.dates import USUAL_FORMAT
from labelrules.data.files.text_blocks import TextBlock
from labelrules.data.schema import repeated


class Misread(Exception):  # noqa: N818 - it never reaches a user: the reader adds file and line
    """A line cannot be read; the message gives the reason."""


MISSING: Final = None
"""The meaning of an unquoted question mark."""

Word = str | None
Kind = Literal["numeric", "nominal", "string", "date"]

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
_KEYWORD = re.compile(r"[ \t]*@(\w+)(?=[ \t]|$)[ \t]*")
_PLAIN_ATTRIBUTE = re.compile(
    r"""[ \t]*@attribute[ \t]+([^ \t{'"][^ \t{]*)[ \t]*(.*)""", re.IGNORECASE
)
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))%.*")
_NUMERIC = ("numeric", "real", "integer")


def read_word(line: str, start: int) -> tuple[Word, int]:
    """One word (None for a bare question mark) and the place after it and following blanks."""
    match = _WORD.match(line, start)
    if match is None:
        raise Misread(_why_no_word(line, skip_blanks(line, start)))
    plain = match[3]
    if plain is None:
        text = match[match.lastindex or 1]
        return _ESCAPE.sub(_meaning, text) if "\\" in text else text, match.end()
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
    """A name or category as it is written in a file, in quotes if it needs them."""
    if _PLAIN.fullmatch(text):
        return text
    return f"'{text.translate(_TO_ESCAPE)}'"


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


class Attribute(NamedTuple):
    """One declared column."""

    name: str
    kind: Kind
    categories: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Header:
    """The declarations before the rows of an ARFF file."""

    path: Path
    relation: str | None
    relation_line: int | None
    attributes: tuple[Attribute, ...]


class _HeaderReader:
    """Reads the header line by line."""

    def __init__(self) -> None:
        self.relation: str | None = None
        self.relation_line: int | None = None
        self.attributes: dict[str, Attribute] = {}
        self.has_text = False

    def take(self, text: str, line: int) -> bool:
        """Read one line; return whether it was ``@data``."""
        plain = _PLAIN_ATTRIBUTE.match(text)
        if plain:
            self._take_attribute(plain[1], plain[2], line)
            return False
        if is_over(text, 0):
            return False
        self.has_text = True
        match = _KEYWORD.match(text)
        keyword = match[1].lower() if match else ""
        rest = text[match.end() :] if match else text
        if keyword == "attribute":
            self._take_attribute(*_quoted_name(rest), line)
        elif keyword == "relation":
            if self.relation_line is not None:
                raise Misread(f"@relation was already given in line {self.relation_line}")
            self.relation, self.relation_line = _relation_name(rest), line
        elif keyword != "data":
            raise Misread(f"expected @relation, @attribute or @data, found {quoted(text.strip())}")
        elif not is_over(rest, 0):
            raise Misread(f"rows begin on the line after @data, but {quoted(rest)} follows it")
        return keyword == "data"

    def _take_attribute(self, name: str, type_: str, line: int) -> None:
        try:
            kind, categories = read_type(type_)
        except Misread as wrong:
            raise Misread(f"attribute {quoted(name)}: {wrong}") from None
        attribute = Attribute(name, kind, categories, line)
        earlier = self.attributes.setdefault(name, attribute)
        if earlier is not attribute:
            raise Misread(
                f"attribute {quoted(name)} was already declared in line {earlier.line}: "
                "rename one of them"
            )


def read_header(blocks: Iterator[TextBlock], path: Path) -> tuple[Header, TextBlock]:
    """Read up to ``@data``; also return the rest of the last block."""
    reader = _HeaderReader()
    for block in blocks:
        start = 0
        for number, line in enumerate(block.data.split(b"\n")[:-1], block.first_line):
            start += len(line) + 1
            try:
                is_end = reader.take(line.decode(), number)
            except Misread as wrong:
                raise FileError(str(wrong), path, number) from None
            if is_end and not reader.attributes:
                raise FileError("no @attribute is declared before @data", path)
            if is_end:
                attributes = tuple(reader.attributes.values())
                header = Header(path, reader.relation, reader.relation_line, attributes)
                n_left = block.first_line + block.n_lines - number - 1
                return header, TextBlock(number + 1, block.data[start:], n_left)
    is_empty = not (reader.has_text or reader.attributes)
    raise FileError("the file is empty" if is_empty else "there is no @data line, so no rows", path)


def _relation_name(text: str) -> str:
    """The name in quotes, or the rest of the line: MEKA's options may have no quotes."""
    if text[:1] not in ("'", '"'):
        return _COMMENT.sub("", text).rstrip(" \t")
    name, end = read_word(text, 0)
    if not is_over(text, end):
        raise Misread(f"unexpected text {quoted(text[end:])} after the name of the relation")
    return name or ""


def _quoted_name(text: str) -> tuple[str, str]:
    """The name of an attribute, and the rest of its line."""
    if not text or text[0] == "{":
        raise Misread("an attribute has no name")
    name, end = read_word(text, 0)
    if not name:
        raise Misread("an attribute has an empty name: give it one")
    return name, text[end:]


# Files often declare thousands of attributes alike.
@lru_cache(maxsize=64)
def read_type(text: str) -> tuple[Kind, tuple[str, ...]]:
    """Read the type of an attribute, which follows its name; nominal ones have categories.

    That of a date is followed by its format.
    """
    if not text.startswith("{"):
        kind, declared = _named_type(text)
        return kind, () if declared is None else (declared,)
    categories, end = _categories(text)
    if not is_over(text, end):
        raise Misread(f"unexpected text {quoted(text[end:])} after the closing brace")
    return "nominal", categories


def _named_type(text: str) -> tuple[Kind, str | None]:
    """The kind, and the format of a date."""
    given, _, rest = text.replace("\t", " ").partition(" ")
    kind = given.lower()
    if kind == "date":
        return "date", _date_format(rest)
    if kind == "relational":
        raise Misread("a relational type, a table within a table, cannot be read")
    if kind not in (*_NUMERIC, "string"):
        problem = f"unknown type {quoted(given)}" if given else "the type is missing"
        raise Misread(f"{problem}; declare it numeric or {{its, categories}}")
    if not is_over(rest, 0):
        raise Misread(f"unexpected text {quoted(rest)} after the type")
    return ("string" if kind == "string" else "numeric"), None


def _date_format(rest: str) -> str:
    """The format of dates, if one is declared."""
    if is_over(rest, 0):
        return USUAL_FORMAT
    declared, end = read_word(rest, 0)
    if not is_over(rest, end):
        raise Misread(f"unexpected text {quoted(rest[end:])} after the format of dates")
    return declared or "?"


def _categories(text: str) -> tuple[tuple[str, ...], int]:
    """The words between the braces, and the place after them."""
    end = skip_blanks(text, 1)
    if text[end : end + 1] == "}":
        return (), end + 1
    words, end = read_words(text, end) if end < len(text) else ([], end)
    if is_over(text, end):
        raise Misread("the brace opened for the categories is not closed")
    if text[end] != "}":
        raise Misread(
            f"a comma or a closing brace is missing before {quoted(text[end:])}; "
            "a category with blanks or braces must be quoted"
        )
    categories = tuple(word for word in words if word is not None)
    if len(categories) < len(words):
        raise Misread("a category ? must be quoted: '?'")
    twice = repeated(categories)
    if twice:
        raise Misread(f"the category {quoted(twice[0])} is declared twice")
    return categories, end + 1
