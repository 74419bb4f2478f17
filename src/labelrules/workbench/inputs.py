"""What a request holds, read field by field: a wrong one is named, and nothing is changed."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request

from labelrules._checks import quoted, suggestion
from labelrules.workbench.security import SAFE, Keys

MOST_FIELDS = 2_000
LONGEST_TEXT = 100_000
LARGEST_NUMBER = 10**12


class InputError(ValueError):
    """A field of a request is missing or wrong; the answer has the status 400."""


class Fields:
    """The fields of a query, a form or a JSON object, by name.

    Examples
    --------
    >>> fields = Fields({"number": "3", "q": " fever "})
    >>> fields.number("number"), fields.text("q"), fields.optional("sort")
    (3, 'fever', None)
    >>> fields.number("to")
    Traceback (most recent call last):
    labelrules.workbench.inputs.InputError: the field 'to' is missing
    """

    def __init__(
        self, values: Mapping[str, Any], pairs: list[tuple[str, str]] | None = None
    ) -> None:
        self.values = dict(values)
        self.pairs = pairs or []

    def optional(self, name: str) -> str | None:
        """A text without spaces around it; None if it is missing or empty."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise InputError(f"the field {quoted(name)} must be text")
        if len(value) > LONGEST_TEXT:
            raise InputError(f"the field {quoted(name)} has more than {LONGEST_TEXT:,} characters")
        return value.strip() or None

    def text(self, name: str) -> str:
        """A text that is not empty."""
        value = self.optional(name)
        if value is None:
            raise InputError(f"the field {quoted(name)} is missing")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number that is not negative."""
        value = self.values.get(name)
        if value is None or value == "":
            if default is None:
                raise InputError(f"the field {quoted(name)} is missing")
            return default
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_NUMBER:
            return value
        text = value.strip() if isinstance(value, str) else ""
        if text.isascii() and text.isdigit() and len(text) < 13:
            return int(text)
        raise InputError(f"the field {quoted(name)} must be a whole number, not {_shown(value)}")

    def choice(self, name: str, among: tuple[str, ...], default: str | None = None) -> str:
        """One of some words, by default the first."""
        value = self.optional(name) or default or among[0]
        if value not in among:
            near = suggestion(value, among) or f"; there are {', '.join(among)}"
            raise InputError(f"the field {quoted(name)} cannot be {quoted(value)}{near}")
        return value

    def names(self, name: str) -> list[str]:
        """All values of a field that may come several times, or as a JSON list."""
        value = self.values.get(name)
        if isinstance(value, list):
            if all(isinstance(one, str) for one in value):
                return [one for one in value if one]
            raise InputError(f"the field {quoted(name)} must be a list of texts")
        return [text for key, text in self.pairs if key == name and text]


def _shown(value: object) -> str:
    return quoted(value) if isinstance(value, str) else "another value"


def query_of(request: Request) -> Fields:
    """The fields of the address."""
    return _fields(request.scope["query_string"])


async def form_of(request: Request, keys: Keys) -> Fields:
    """The fields of a form or a JSON object that asks for a change, if it may."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        fields = Fields(_object(body))
    elif kind == "application/x-www-form-urlencoded":
        fields = _fields(body)
    else:
        raise InputError("send a form (application/x-www-form-urlencoded) or a JSON object")
    by_header = request.scope["state"].get("by_header", False)
    given = request.headers.get("x-csrf-token") or fields.values.get("csrf")
    if request.method not in SAFE and not by_header and not _is_csrf(given, keys):
        raise ForgedError(
            "the form carries no valid token: open the page anew and send the form from there"
        )
    return fields


def _is_csrf(given: object, keys: Keys) -> bool:
    return isinstance(given, str) and keys.is_csrf(given)


class ForgedError(ValueError):
    """A change was not requested by a form of this server; the answer has the status 403."""


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except (ValueError, RecursionError) as wrong:
        raise InputError(f"the body is not JSON: {str(wrong)[:200]}") from None
    if not isinstance(found, dict):
        raise InputError("the body must be a JSON object")
    return found


def _fields(encoded: bytes) -> Fields:
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"), keep_blank_values=True, errors="strict",
            max_num_fields=MOST_FIELDS,
        )  # fmt: skip
    except UnicodeDecodeError:
        raise InputError("the fields are not encoded as UTF-8") from None
    except ValueError:
        raise InputError(f"there are more than {MOST_FIELDS:,} fields") from None
    return Fields(dict(pairs), pairs)
