"""JSON documents: read with the place of everything that is wrong, and laid out for readers."""

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from typing import IO, Any, AnyStr, NoReturn, TypeVar

from labelrules._checks import quoted, suggestion
from labelrules.data.errors import DataError
from labelrules.data.schema import repeated

LARGEST_TEXT = 2**26
"""How many characters a document may have: more than any model that a person could look at."""

_PIECE = 2**20

LARGEST_COUNT = 2**63 - 1
"""The largest whole number that a count may be."""

_LONGEST_WHOLE = 20  # digits and sign of any 64-bit number
_LONGEST_GUESS = 60  # finding what may be meant takes longer the longer the names
_MANY_NAMES = 2000
_WIDTH = 100

Value = TypeVar("Value")


class Odd:
    """Something that Python reads as JSON although it is none, or that is too long."""

    def __init__(self, text: str) -> None:
        self.text = text


class Repeating(dict[str, Any]):
    """An object of which some key occurs twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.key = repeated([key for key, _ in pairs])[0]


class Node:
    """A value of a document and its place, for messages.

    Parameters
    ----------
    value : object
        As `json` reads it.
    parent : Node, optional
        What it is in.
    key : str or int
        Under which name, or where in the list.

    Examples
    --------
    >>> node = Node({"rules": [{"stops": "yes"}]})
    >>> node.field("rules").items()[0].field("stops").flag()
    Traceback (most recent call last):
    labelrules.data.errors.DataError: $.rules[0].stops: must be true or false, not 'yes'
    """

    __slots__ = ("key", "parent", "value")

    def __init__(self, value: Any, parent: "Node | None" = None, key: str | int = "") -> None:
        self.value, self.parent, self.key = value, parent, key

    @property
    def place(self) -> str:
        """The path from the top, written ``$``."""
        if self.parent is None:
            return "$"
        if isinstance(self.key, int):
            return f"{self.parent.place}[{self.key}]"
        if self.key.isidentifier() and len(self.key) <= _LONGEST_GUESS:
            return f"{self.parent.place}.{self.key}"
        return f"{self.parent.place}[{quoted(self.key)}]"

    def refuse(self, message: str) -> NoReturn:
        """Say what is wrong here."""
        raise DataError(f"{self.place}: {message}")

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Say of any error that its cause is here."""
        try:
            yield
        except (ValueError, TypeError, OverflowError) as wrong:
            if isinstance(wrong, DataError) and str(wrong).startswith("$"):
                raise
            message = " ".join(str(wrong).split())
        else:
            return
        self.refuse(message[:400])

    def fields(self, *names: str) -> dict[str, "Node"]:
        """The fields of an object, which must be these and no others."""
        found = self._object()
        for name in names:
            if name not in found:
                self.refuse(f'"{name}" is not there')
        for name in found:
            if name not in names:
                hint = suggestion(name, names) if len(name) <= _LONGEST_GUESS else ""
                self.refuse(f"there is no field {quoted(name)}{hint}")
        return {name: Node(found[name], self, name) for name in names}

    def field(self, name: str) -> "Node":
        """One field of an object."""
        found = self._object()
        if name not in found:
            self.refuse(f'"{name}" is not there')
        return Node(found[name], self, name)

    def has(self, name: str) -> bool:
        """Whether it is an object with this field."""
        return name in self._object()

    def entries(self) -> list[tuple[str, "Node"]]:
        """All fields of an object with names of any kind."""
        return [(name, Node(value, self, name)) for name, value in self._object().items()]

    def items(self) -> list["Node"]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self._must_be("a list")
        return [Node(value, self, place) for place, value in enumerate(self.value)]

    def text(self) -> str:
        """A text of whole characters."""
        if not isinstance(self.value, str):
            self._must_be("text")
        if not is_whole_text(self.value):
            self.refuse("the text has half a character (a lone surrogate)")
        return self.value

    def word(self, known: Collection[str], what: str) -> str:
        """A text that is one of those known."""
        text = self.text()
        if text not in known:
            few = len(known) <= _MANY_NAMES and len(text) <= _LONGEST_GUESS
            near = suggestion(text, known) if few else ""
            self.refuse(f"there is no {what} {quoted(text)}{near}")
        return text

    def one_of(self, known: Mapping[str, Value], what: str) -> Value:
        """What a known text stands for."""
        return known[self.word(known.keys(), what)]

    def flag(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            self._must_be("true or false")
        return self.value

    def whole(self, lowest: int = 0, highest: int = LARGEST_COUNT) -> int:
        """A whole number within limits, written without a decimal point."""
        if type(self.value) is not int:
            self._must_be("a whole number")
        if not lowest <= self.value <= highest:
            self._must_be(f"from {lowest} to {highest}")
        return self.value

    def number(self) -> float:
        """A finite number."""
        if type(self.value) not in (int, float):
            self._must_be("a number")
        if not isfinite(self.value):
            self.refuse("the number is too large")
        if float(self.value) != self.value:
            self.refuse(f"no floating-point number is {self.value}")
        return float(self.value)

    @property
    def is_null(self) -> bool:
        """Whether nothing is said."""
        return self.value is None

    def _object(self) -> dict[str, Any]:
        if isinstance(self.value, Repeating):
            self.refuse(f"{quoted(self.value.key)} is there twice")
        if not isinstance(self.value, dict) or not all(isinstance(k, str) for k in self.value):
            self._must_be("an object")
        return self.value

    def _must_be(self, what: str) -> NoReturn:
        self.refuse(f"must be {what}, not {_shown(self.value)}")


def read_document(text: str | bytes) -> Node:
    """Read JSON text, in UTF-8 if it is bytes.

    Examples
    --------
    >>> read_document('{"version": 1}').field("version").whole()
    1
    """
    check_length(len(text))
    try:
        whole = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.loads(
            whole.removeprefix("\ufeff"),
            object_pairs_hook=_object,
            parse_int=_whole,
            parse_constant=Odd,
        )
    except UnicodeDecodeError as wrong:
        message = f"this is not UTF-8 text ({wrong.reason} at byte {wrong.start})"
    except json.JSONDecodeError as wrong:
        message = f"line {wrong.lineno}, column {wrong.colno}: not valid JSON ({wrong.msg})"
    except RecursionError:
        message = "this is no document of labelrules: it is nested too deeply"
    else:
        return Node(value)
    raise DataError(message)


def check_length(length: int) -> None:
    """Refuse a document that is too long to be one."""
    if length > LARGEST_TEXT:
        raise DataError(f"the document has more than {LARGEST_TEXT:,} characters")


def read_pieces(file: IO[AnyStr]) -> AnyStr:
    """All of a file, which may be a small one that was compressed, unless it is too long."""
    pieces: list[AnyStr] = []
    length = 0
    while piece := file.read(_PIECE):
        length += len(piece)
        check_length(length)
        pieces.append(piece)
    return file.read(0).join(pieces)


def laid_out(value: Any, indent: int = 0, before: int = 0) -> str:
    """A document as JSON text: what fits stands on one line, anything else on several.

    Parameters
    ----------
    value : object
    indent : int
        How far it is to the right.
    before : int
        How many characters stand before it on its line.

    Examples
    --------
    >>> print(laid_out({"a": [1, 2.5], "b": None}))
    {"a": [1, 2.5], "b": null}
    """
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if indent + before + len(line) <= _WIDTH or not value or not isinstance(value, dict | list):
        return line
    space = " " * (indent + 1)
    if isinstance(value, list):
        parts = [laid_out(item, indent + 1) for item in value]
    else:
        names = [f"{json.dumps(key, ensure_ascii=False)}: " for key in value]
        parts = [
            name + laid_out(item, indent + 1, len(name))
            for name, item in zip(names, value.values(), strict=True)
        ]
    inside = f",\n{space}".join(parts)
    left, right = "[]" if isinstance(value, list) else "{}"
    return f"{left}\n{space}{inside}\n{' ' * indent}{right}"


def is_whole_text(text: str) -> bool:
    """Whether a text has no half of a character, which no file can hold.

    >>> is_whole_text("🙂"), is_whole_text(chr(0xD83D))
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else Repeating(pairs)


def _whole(text: str) -> int | Odd:
    if len(text) <= _LONGEST_WHOLE:
        return int(text)
    return Odd(f"{text[:_LONGEST_WHOLE]}... of {len(text)} digits")


def _shown(value: Any) -> str:
    """A value as messages show it; never its inside, which may be deep or long."""
    if isinstance(value, Odd):
        return value.text
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return f"{value!r:.40}"
