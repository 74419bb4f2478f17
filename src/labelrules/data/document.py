"""JSON documents: typed records, errors that name the place, text laid out for readers."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite
from typing import IO, Annotated, Any, AnyStr, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from labelrules._checks import quoted, suggestion
from labelrules.data.errors import DataError
from labelrules.data.schema import Feature, Schema, repeated, usual_kind

LARGEST_TEXT = 2**26
"""The most characters of a document: more than any model that a person could read."""

_LONGEST_WHOLE = 20  # digits and sign of any 64-bit number
_LONGEST_GUESS = 60  # suggestions take longer the longer the names
_MANY_NAMES = 2000
_WIDTH = 100

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
"""A number of rows, cells or rules."""
Share = Annotated[float, Meta(ge=0, le=1)]
"""A share or a probability."""
SpecialKind: TypeAlias = Literal["amount", "ordered", "date", "time", "UTC time", "duration"]
"""What a feature is, unless that follows from its categories."""

Type = TypeVar("Type")
Hook = Callable[[Any], Any]


class Record(msgspec.Struct, forbid_unknown_fields=True):
    """Base class of the objects of a document: fields with types, and no others."""


class FrozenRecord(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Base class of objects of a document that are kept and compared."""


class DocumentError(DataError):
    """A document is wrong at a place, the path to the value, ``$`` being the whole document."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")
        self.place, self.message = place, message

    def __reduce__(self) -> tuple[type["DocumentError"], tuple[str, str]]:
        return DocumentError, (self.place, self.message)


@contextmanager
def at(place: str) -> Iterator[None]:
    """Put a place before those of errors; other errors of values get this place."""
    try:
        yield
    except DocumentError as wrong:
        found = DocumentError(place + wrong.place, wrong.message)
    except (ValueError, TypeError, OverflowError) as wrong:
        found = DocumentError(place, " ".join(str(wrong).split())[:400])
    else:
        return
    raise found from None


def step(key: str | int) -> str:
    """The part of a place that leads to an item of a list or to a value of an object."""
    if isinstance(key, str) and key.isidentifier() and len(key) <= _LONGEST_GUESS:
        return f".{key}"
    return f"[{key if isinstance(key, int) else quoted(key)}]"


def known(name: str, numbers: Mapping[str, Type], what: str, place: str = "") -> Type:
    """Look up a name; the message suggests a similar one."""
    if name not in numbers:
        is_short = len(numbers) <= _MANY_NAMES and len(name) <= _LONGEST_GUESS
        near = suggestion(name, numbers) if is_short else ""
        raise DocumentError(place, f"there is no {what} {quoted(name)}{near}")
    return numbers[name]


@dataclass(frozen=True)
class _NotJson:
    """Something that Python reads as JSON although it is none, or a number that is too large."""

    text: str


class _Repeating(dict[str, Any]):
    """An object in which a key occurs twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


_LONE = re.compile("[\ud800-\udfff]")
_HALF = re.compile(r"\\u[dD]|[\ud800-\udfff]")


def read_document(text: str | bytes) -> Any:
    """Read JSON text, in UTF-8 if it is bytes, as plain values; no key may occur twice."""
    check_length(len(text))
    try:
        whole = text.decode("utf-8") if isinstance(text, bytes) else text
        value = json.JSONDecoder(
            object_pairs_hook=_object, parse_int=_whole, parse_float=_float, parse_constant=_NotJson
        ).decode(whole.removeprefix("\ufeff"))
        _check_parts(value, "$", bool(_HALF.search(whole)))
        return value
    except UnicodeDecodeError as wrong:
        message = f"this is not UTF-8 text ({wrong.reason} at byte {wrong.start})"
    except json.JSONDecodeError as wrong:
        message = f"line {wrong.lineno}, column {wrong.colno}: not valid JSON ({wrong.msg})"
    except RecursionError:
        message = "this is no document of labelrules: it is nested too deeply"
    raise DataError(message)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeating(pairs)


def _whole(text: str) -> int | _NotJson:
    is_short = len(text) <= _LONGEST_WHOLE
    return int(text) if is_short else _NotJson(f"{text[:20]}... of {len(text)} digits")


def _float(text: str) -> float | _NotJson:
    number = float(text)
    return number if isfinite(number) else _NotJson(f"{text[:20]}, which is too large")


def _check_parts(value: Any, place: str, may_be_halved: bool) -> None:
    """Refuse objects with a key twice, and text with half a character, which no file can hold."""
    if isinstance(value, _Repeating):
        twice = repeated([key for key, _ in value.pairs])[0]
        raise DocumentError(place, f"the key {quoted(twice)} occurs twice")
    if may_be_halved and isinstance(value, str) and _LONE.search(value):
        raise DocumentError(place, "the text has half a character (a lone surrogate)")
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            if may_be_halved or isinstance(item, dict | list):
                _check_parts(key, place + step(key), may_be_halved)
                _check_parts(item, place + step(key), may_be_halved)


def check_length(length: int) -> None:
    """Refuse a document that is too long to be one."""
    if length > LARGEST_TEXT:
        raise DataError(f"the document has more than {LARGEST_TEXT:,} characters")


def read_pieces(file: IO[AnyStr]) -> AnyStr:
    """All of a file, unless it is too long, which a small compressed one may be."""
    pieces: list[AnyStr] = []
    while piece := file.read(2**20):
        pieces.append(piece)
        check_length(sum(map(len, pieces)))
    return file.read(0).join(pieces)


def converted(value: Any, kind: type[Type], hook: Callable[[type, Any], Any] | None = None) -> Type:
    """Plain values as records, checked by their types; the hook reads types of other libraries."""
    try:
        return msgspec.convert(value, kind, dec_hook=hook)
    except RecursionError:
        found = DocumentError("", "it is nested too deeply")
    except msgspec.ValidationError as wrong:
        found = _located(wrong, value, kind)
    raise found from None


_AT = re.compile(r"(.*) - at `\$([^`]*)`", re.DOTALL)
_EXPECTED = re.compile(r"Expected `([^`]*)`( [^,]*)?(, got .*)?")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)
_PATTERN = re.compile(r"Expected `str` matching regex (.*)")
_STEP = re.compile(r"\.(\w+)|\[(\d+|\.\.\.)\]")
_WORDS = {
    "array": "a list",
    "bool": "true or false",
    "datetime": "a time",
    "float": "a number",
    "int": "a whole number",
    "object": "an object",
    "str": "text",
}
_NOTHING = _NotJson("")


def _located(wrong: msgspec.ValidationError, value: Any, kind: Any) -> DocumentError:
    match = _AT.fullmatch(str(wrong))
    message, path = match.groups() if match else (str(wrong), "")
    steps = _STEP.findall(path)
    place, found = _value_at(value, steps)
    if isinstance(wrong.__cause__, DocumentError):
        return DocumentError(place + wrong.__cause__.place, wrong.__cause__.message)
    return DocumentError(place, _explained(message, found, lambda: _possible(kind, steps)))


def _value_at(value: Any, steps: list[tuple[str, str]]) -> tuple[str, Any]:
    """The place that a path of msgspec leads to, which leaves out keys, and the value there."""
    place = ""
    for name, item in steps:
        key: Any = name or (item if item == "..." else int(item))
        if key == "..." and isinstance(value, dict) and len(value) == 1:
            key = next(iter(value))
        try:
            value = value[key]
        except (LookupError, TypeError):
            value = _NOTHING
        place += "[...]" if key == "..." else step(key)
    return place, value


def _explained(message: str, value: Any, possible: Callable[[], list[str]]) -> str:
    """A message of msgspec in plain words, with the value and what may have been meant."""
    if match := _EXPECTED.fullmatch(message):
        words = " or ".join(_WORDS.get(name, name) for name in match[1].split(" | "))
        if match[2] == " of length >= 1":
            return f"must be {words} that is not empty"
        found = "" if value is _NOTHING else f", not {shown(value)}"
        return f"must be {words}{match[2] or ''}{found}"
    if match := _FIELD.fullmatch(message):
        if match[1] == "missing required":
            return f'"{match[2]}" is missing'
        return f"there is no field {quoted(match[2])}{_choice(match[2], possible())}"
    if message.startswith(("Invalid enum value", "Invalid value")):
        return f"{shown(value)} is not possible here{_choice(value, possible())}"
    if message.startswith("Invalid RFC3339"):
        return f"there is no time {value}"
    if match := _PATTERN.fullmatch(message):
        return f"{shown(value)} does not match {match[1]}"
    return " ".join(message.split())[:400]


def _choice(given: Any, possible: list[str]) -> str:
    others = [one for one in possible if one != given]  # another kind of record may have it
    is_short = isinstance(given, str) and len(given) <= _LONGEST_GUESS
    near = suggestion(given, others) if is_short else ""
    return near or f"; use one of {', '.join(others)}"[:400]


def _possible(kind: Any, steps: list[tuple[str, str]]) -> list[str]:
    """The fields or the values that a record may have at a place, by its JSON schema."""
    anything = {"type": "object"}  # msgspec takes an empty one for none
    top, parts = msgspec.json.schema_components([kind], schema_hook=lambda other: anything)
    nodes = _resolved(top, parts)
    for name, _ in steps:
        inner = [
            (node.get("properties") or {}).get(name) if name else node.get("items")
            for node in nodes
        ]
        inner += [node.get("additionalProperties") for node in nodes if not name]
        nodes = _resolved([node for node in inner if isinstance(node, dict)], parts)
    found = [word for node in nodes for word in node.get("enum") or node.get("properties") or ()]
    return [str(word) for word in dict.fromkeys(found)]


def _resolved(nodes: Iterable[dict[str, Any]], parts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The nodes of a JSON schema that references and alternatives lead to."""
    found: list[dict[str, Any]] = []
    for node in nodes:
        if "$ref" in node:
            found += _resolved([parts[node["$ref"].rpartition("/")[2]]], parts)
        else:
            found += _resolved(node["anyOf"], parts) if "anyOf" in node else [node]
    return found


def shown(value: Any) -> str:
    """A value as messages show it; never its inside, which may be deep or long."""
    if isinstance(value, _NotJson):
        return value.text
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else f"a list of {len(value)}"
    if isinstance(value, str):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return f"{value!r:.40}"


def builtins_of(value: Any, hook: Hook | None = None) -> Any:
    """Records as plain values; `hook` writes values of other types."""
    return msgspec.to_builtins(value, enc_hook=hook)


def indented_json(value: Any, indent: int = 0, before: int = 0) -> str:
    """A document as JSON text, on one line if it fits after `indent` and `before` characters."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if indent + before + len(line) <= _WIDTH or not value or not isinstance(value, dict | list):
        return line
    space = " " * (indent + 1)
    if isinstance(value, list):
        pairs = [("", item) for item in value]
    else:
        pairs = [(f"{json.dumps(k, ensure_ascii=False)}: ", item) for k, item in value.items()]
    inside = f",\n{space}".join(n + indented_json(item, indent + 1, len(n)) for n, item in pairs)
    left, right = "[]" if isinstance(value, list) else "{}"
    return f"{left}\n{space}{inside}\n{' ' * indent}{right}"


class FeatureRecord(Record):
    """A feature; without categories and without a kind it is numeric.

    Categories that are ordered rise. An amount is a number of which 0 means that there is none.
    Dates are compared as ``2018-12-30``, times as ``2018-12-30T14:00``, those in UTC with a Z
    behind it, durations as ``3 days 4 h 30 min``.
    """

    name: str
    categories: list[str] | None
    kind: SpecialKind | UnsetType = UNSET


class SchemaRecord(Record):
    """The features, the labels, and the parent of each label if there is a hierarchy."""

    features: list[FeatureRecord]
    labels: list[str]
    parents: list[str | None]


def schema_record(schema: Schema) -> SchemaRecord:
    """The record of a schema."""
    features = [
        FeatureRecord(
            one.name,
            None if one.categories is None else list(one.categories),
            UNSET if one.kind == "numeric" or one.kind == "nominal" else one.kind,
        )
        for one in schema.features
    ]
    return SchemaRecord(features, list(schema.labels), list(schema.parents))


def read_schema(record: SchemaRecord) -> Schema:
    """The schema of a record."""
    features = []
    for number, one in enumerate(record.features):
        with at(f".features[{number}]"):
            categories = None if one.categories is None else tuple(one.categories)
            kind = usual_kind(categories) if one.kind is UNSET else one.kind
            features.append(Feature(one.name, categories, kind))
    with at(""):
        return Schema(features, record.labels, record.parents or None)
