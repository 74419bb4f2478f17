"""What the views share: the project, its name, the addresses, and pages made from templates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlencode

from labelrules._html import render
from labelrules.rules import Theory
from labelrules.studio.web.figures import Figures, figures_of
from labelrules.studio.web.project import Job, Project, State
from labelrules.studio.web.security import Keys


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
