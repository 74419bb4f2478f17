"""Requests and pages: fields and forms, the site that views see, pages from templates."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import NoneType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request

from labelrules._checks import quoted, suggestion
from labelrules._html import render
from labelrules.data import DataError
from labelrules.data.document import read_document, shown
from labelrules.rules import Theory
from labelrules.studio import Editor
from labelrules.studio.edits import ASKED, MARKS, Edit, RuleMarked
from labelrules.studio.web.project import Figures, Job, Project, State, figures_of
from labelrules.studio.web.security import SAFE, Keys

MOST_FIELDS = 2_000
LONGEST_TEXT = 100_000
LARGEST_NUMBER = 10**12
CSRF = "csrf"
REPEATED = ("labels",)
"""Fields of forms that may have several values."""


class InputError(ValueError):
    """A field of a request is missing or wrong; the answer has the status 400."""


class Fields:
    """The fields of a query, a form or a JSON object, by name.

    Examples
    --------
    >>> fields = Fields({"number": 3, "q": " fever "})
    >>> fields.number("number"), fields.text("q"), fields.optional("sort")
    (3, 'fever', None)
    >>> fields.number("to")
    Traceback (most recent call last):
    labelrules.studio.web.site.InputError: the field 'to' is missing
    """

    def __init__(
        self, values: Mapping[str, Any], pairs: list[tuple[str, str]] | None = None
    ) -> None:
        self.values = dict(values)
        self.pairs = pairs or []
        self.is_json = pairs is None

    def has(self, name: str) -> bool:
        """Whether the field is given; an empty one of a form is not."""
        value = self.values.get(name)
        return value is not None and (value != "" or self.is_json)

    def optional(self, name: str) -> str | None:
        """A text without spaces around it; None if it is missing or empty."""
        return (self.name(name) or "").strip() or None

    def name(self, name: str) -> str | None:
        """A text as it is, such as a name, which may begin with a space; None if it is empty."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise InputError(f"the field {quoted(name)} must be text, not {shown(value)}")
        if len(value) > LONGEST_TEXT:
            raise InputError(f"the field {quoted(name)} has more than {LONGEST_TEXT:,} characters")
        return value or None

    def text(self, name: str) -> str:
        """A text that is not empty."""
        return self._given(name, self.optional(name))

    def exact(self, name: str) -> str:
        """A name that is not empty."""
        return self._given(name, self.name(name))

    def _given(self, name: str, value: str | None) -> str:
        if value is None:
            what = "empty" if isinstance(self.values.get(name), str) else "missing"
            raise InputError(f"the field {quoted(name)} is {what}")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number that is not negative."""
        value = self.values.get(name)
        if not self.has(name):
            if default is None:
                raise InputError(f"the field {quoted(name)} is missing")
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST_NUMBER:
            return value
        text = value.strip() if isinstance(value, str) and not self.is_json else ""
        if text.isascii() and text.isdigit() and len(text) < 13:
            return int(text)
        raise InputError(
            f"the field {quoted(name)} must be a whole number from 0 to "
            f"{LARGEST_NUMBER - 1:,}, not {shown(value)}"
        )

    def quantity(self, name: str) -> str | float:
        """A number, or a text that is not empty, such as a date."""
        value = self.values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"the field {quoted(name)} must be a number, or text, not {shown(value)}"
            )
        return self.exact(name)

    def choice(self, name: str, among: tuple[str, ...], default: str | None = None) -> str:
        """One of some words, by default the first."""
        given = self.optional(name) or ""
        value = given if self.has(name) else default or among[0]
        if value not in among:
            near = suggestion(value, among) or f"; there are {', '.join(among)}"
            raise InputError(f"the field {quoted(name)} cannot be {quoted(value)}{near}")
        return value

    def names(self, name: str) -> list[str]:
        """All values of a field that may come several times, or as a JSON list."""
        if not self.is_json:
            return [text for key, text in self.pairs if key == name and text]
        value = self.values.get(name)
        found = [] if value is None else value
        if not (isinstance(found, list) and all(isinstance(one, str) and one for one in found)):
            raise InputError(
                f"the field {quoted(name)} must be a list of texts that are not empty, not "
                f"{shown(value)}"
            )
        return found

    def check_names(self, known: Sequence[str]) -> None:
        """Refuse fields that nobody reads: they may be misspelled."""
        for name in self.values:
            if name not in known:
                near = suggestion(name, known)
                more = near or (f"; there are {', '.join(known)}" if known else "; there is none")
                raise InputError(f"there is no field {quoted(name)}{more}")


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
        fields = _with_own_lines(_fields(body))
    else:
        raise InputError("send a form (application/x-www-form-urlencoded) or a JSON object")
    by_header = request.scope["state"].get("by_header", False)
    given = request.headers.get("x-csrf-token") or fields.values.get(CSRF)
    if request.method not in SAFE and not by_header and not _is_csrf(given, keys):
        raise ForgedError(
            "the form carries no valid token: open the page anew and send the form from there"
        )
    return fields


def _with_own_lines(fields: Fields) -> Fields:
    """The fields with the line breaks that people wrote; browsers send others (CR LF)."""
    pairs = [(name, text.replace("\r\n", "\n")) for name, text in fields.pairs]
    return Fields(dict(reversed(pairs)), pairs)


def _is_csrf(given: object, keys: Keys) -> bool:
    return isinstance(given, str) and keys.is_csrf(given)


class ForgedError(ValueError):
    """A change was not requested by a form of this server; the answer has the status 403."""


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = read_document(body or b"{}")
    except DataError as wrong:
        raise InputError(f"the body: {wrong}") from None
    if not isinstance(found, dict):
        raise InputError(f"the body must be a JSON object, not {shown(found)}")
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
    found: dict[str, str] = {}
    for name, text in pairs:
        if found.setdefault(name, text) != text and name not in REPEATED:
            raise InputError(
                f"the field {quoted(name)} is given twice, as {shown(found[name])} and "
                f"{shown(text)}"
            )
    return Fields(found, pairs)


Kind: TypeAlias = Literal["integer", "text", "name", "quantity", "names"]
"""What a field holds: text has no spaces around it, a name is taken as it is."""


class Field(NamedTuple):
    """A field of a request: its name, its kind, what it says, and its least number or its words."""

    name: str
    kind: Kind
    about: str
    is_required: bool = True
    low: int = 0
    among: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, kind: Any) -> "Field":
        """The field for a field of an edit: an annotated type with a description."""
        types, extra = get_args(kind.__origin__) or (kind.__origin__,), kind.__metadata__[0].extra
        usual: Kind = "integer" if int in types else "quantity" if float in types else "text"
        found = {"field": name, "kind": usual, **(extra or {})}
        about, is_required = kind.__metadata__[0].description, NoneType not in types
        return cls(found["field"], found["kind"], about, is_required, int(usual == "integer"))

    def value(self, fields: Fields) -> Any:
        """The value that is given; None if it is left out, and may be."""
        if not self.is_required and not fields.has(self.name):
            return None
        if self.kind == "text" and not self.is_required:
            return fields.optional(self.name)
        read = {"integer": fields.number, "quantity": fields.quantity, "name": fields.exact}
        return read.get(self.kind, fields.text)(self.name)


@dataclass(frozen=True)
class Operation:
    """A change of the rules that forms and the interface ask for, with a form of these fields."""

    name: str
    about: str
    fields: tuple[Field, ...]
    call: Callable[..., Editor]
    """The change of an editor, given the values of the fields in their order."""
    has_preview: bool = True

    @classmethod
    def of(cls, edit: type[Edit]) -> Iterator["Operation"]:
        """The operations of a kind of edit, one for each mark."""
        described = {
            name: kind for name, kind in get_type_hints(edit, include_extras=True).items()
            if get_origin(kind) is Annotated
        }  # fmt: skip
        fields = tuple(Field.of(name, kind) for name, kind in described.items())

        def call(editor: Editor, *values: Any, **more: Any) -> Editor:
            return editor.edited(edit(**dict(zip(described, values, strict=True)), **more))

        if edit is RuleMarked:
            for mark, about in MARKS.items():
                yield cls(mark, about, fields, partial(call, mark=mark))
        else:
            yield cls(edit.name, str(edit.__doc__).partition("\n")[0], fields, call)

    def arguments(self, fields: Fields) -> dict[str, Any]:
        """The values of its fields."""
        return {one.name: one.value(fields) for one in self.fields}

    def change(self, fields: Fields) -> Callable[[Editor], Editor]:
        """The change that the fields ask for."""
        values = self.arguments(fields).values()
        return lambda editor: self.call(editor, *values)


_IN_HISTORY = (
    Operation("undo", "Undo the last step.", (), Editor.undo, False),
    Operation("redo", "Redo the step that was undone.", (), Editor.redo, False),
    Operation("commit", "Name the present rules as a version, with the reason.",
              (Field("reason", "text", "why the rules were changed"),), Editor.commit, False),
    Operation("branch", "Begin a branch at the present rules.",
              (Field("name", "text", "the name of the branch"),), Editor.branch, False),
    Operation("switch", "Go to another branch.",
              (Field("name", "text", "the name of the branch"),), Editor.switch, False),
)  # fmt: skip

OPERATIONS = {
    one.name: one for one in (*(one for edit in ASKED for one in Operation.of(edit)), *_IN_HISTORY)
}


def operation_of(fields: Fields) -> Operation:
    """The operation that the field `op` names."""
    name = fields.text("op")
    if name not in OPERATIONS:
        near = suggestion(name, OPERATIONS) or f"; there are {', '.join(OPERATIONS)}"
        raise InputError(f"there is no operation {quoted(name)}{near}")
    return OPERATIONS[name]


class Link(NamedTuple):
    """A view in the navigation; `key` follows g on the keyboard."""

    path: str
    title: str
    key: str


NAVIGATION = (
    (
        "Read",
        (
            Link("/", "Rules", "r"),
            Link("/labels", "Labels", "l"),
            Link("/features", "Features", "f"),
            Link("/dependencies", "Dependencies", "d"),
            Link("/flow", "Flow of rows", "w"),
            Link("/rows", "Rows", "o"),
        ),
    ),
    (
        "Check",
        (
            Link("/findings", "Findings", "i"),
            Link("/slice", "A slice", "s"),
            Link("/compare", "Compare", "c"),
        ),
    ),
    (
        "Change",
        (
            Link("/add", "New rule", "n"),
            Link("/learn", "Learn again", "a"),
            Link("/history", "History", "h"),
        ),
    ),
    (
        "Keep",
        (
            Link("/export", "Export", "e"),
            Link("/test", "Test part", "t"),
            Link("/api", "Interface", "p"),
        ),
    ),
)


class NotThereError(LookupError):
    """What an address names is not there; the answer has the status 404."""


@dataclass(frozen=True, eq=False)
class Site:
    """One project with its keys, as the views see it."""

    project: Project
    name: str
    keys: Keys = field(repr=False)
    others: Mapping[str, Theory] = field(default_factory=dict)
    """Rules of other models, to compare with, by their names."""
    again: str = ""
    """The call that goes on with the project, in the folder in which it was begun."""

    @property
    def csrf(self) -> str:
        """The token of forms."""
        return self.keys.csrf

    @property
    def job(self) -> Job:
        """What is being learned."""
        return self.project.job

    @property
    def state(self) -> State:
        """The present state; take it once for each answer."""
        return self.project.state

    def figures(self, state: State) -> Figures:
        """The counts of a state."""
        return figures_of(state.editor)


class Page(NamedTuple):
    """A page to be made: its template in the folder ``workbench``, and the values in it."""

    template: str
    values: Mapping[str, Any]
    status: int = 200


def page_html(site: Site, state: State, page: Page, path: str, notice: str = "") -> str:
    """The HTML of a page."""
    values = {
        "title": "Rules",
        "site": site,
        "state": state,
        "here": path,
        "navigation": NAVIGATION,
        "notice": notice,
        **page.values,
    }
    return str(render(f"workbench/{page.template}", **values))


def address(path: str, **fields: Any) -> str:
    """A path with the fields that are set.

    >>> address("/rows", page=2, label="a&b", q=None)
    '/rows?page=2&label=a%26b'
    """
    given = {name: value for name, value in fields.items() if value not in (None, "", [])}
    return path + ("?" + urlencode(given, doseq=True) if given else "")


class Paging(NamedTuple):
    """Which of many items a page shows, and the addresses of the pages before and after."""

    first: int
    last: int
    n_items: int
    n_pages: int
    before: str | None
    after: str | None


def paged(n_items: int, page: int, size: int, path: str, **fields: Any) -> tuple[slice, Paging]:
    """The items of a page, counted from 1, and its place among the others."""
    n_pages = max(1, -(-n_items // size))
    page = min(max(page, 1), n_pages)
    start, stop = (page - 1) * size, min(page * size, n_items)
    before = address(path, **fields, page=page - 1) if page > 1 else None
    after = address(path, **fields, page=page + 1) if page < n_pages else None
    return slice(start, stop), Paging(start + 1, stop, n_items, n_pages, before, after)
