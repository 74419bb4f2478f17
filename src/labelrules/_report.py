"""Reports: a result says its headline and its parts; text, HTML, dict and frame follow.

A part is a `Table`, some `Lines`, an `ItemList` or a `Picture`. A class of results says what is
below its headline in `_parts`, and in `_page` what a notebook shows if that is something else.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

from labelrules._checks import one_of
from labelrules._html import folded, fragment, html_table, paragraphs, render

if TYPE_CHECKING:
    import pandas
    from markupsafe import Markup

Columns: TypeAlias = dict[str, Any]
"""Columns of equal length by name."""

AS_DICT = "; as_dict gives the columns for any other library"

ITEMS = 10
"""Items of a list that are printed; the values have all of them."""


class Part(Protocol):
    """What stands below a headline."""

    def lines(self) -> Iterable[str]:
        """The lines of text; none if there is nothing to show."""

    def html(self) -> "Markup | str":
        """The HTML; empty if there is nothing to show."""


class Lines(NamedTuple):
    """Lines of text; on a page each is a paragraph."""

    texts: Sequence[str]

    def lines(self) -> Iterable[str]:
        """The lines themselves."""
        return self.texts

    def html(self) -> "Markup":
        """A paragraph for each line."""
        return paragraphs(self.texts)


class Table(NamedTuple):
    """Rows below the titles of their columns; on a page at most `limit` of them."""

    titles: Sequence[str]
    rows: Sequence[Sequence[Any]]
    limit: int | None = None

    def lines(self) -> Iterable[str]:
        """The titles and all rows, texts on the left and numbers on the right."""
        if not self.rows:
            return ()
        left = [place for place, cell in enumerate(self.rows[0]) if isinstance(cell, str)]
        return aligned([self.titles, *self.rows], left)

    def html(self) -> "Markup | str":
        """The table, if it has rows."""
        return html_table(self.rows, self.titles, self.limit) if self.rows else ""


class FigureTable(Table):
    """A table of names and figures as texts: all columns but the first are on the right."""

    __slots__ = ()

    def lines(self) -> Iterable[str]:
        """The titles, if there are some, and all rows."""
        return aligned([*([self.titles] if self.titles else []), *self.rows])


class ItemList(NamedTuple):
    """Items of some lines each, below a title with their number; on a page folded away."""

    title: str
    items: Sequence[Sequence[str]]

    def lines(self) -> Iterable[str]:
        """The title and the first items."""
        return titled(f"{self.title}: {len(self.items)}", self.items)

    def html(self) -> "Markup":
        """The title, and the items when it is opened."""
        return folded(self.title, self.items)


class Excerpt(NamedTuple):
    """The first rows of a long table, which only pages show, and how many more there are."""

    titles: Sequence[str]
    rows: Sequence[Sequence[Any]]
    n_rows: int
    stopped: str | None = None
    """Why there are not even all of the `n_rows`."""

    def lines(self) -> Iterable[str]:
        """Nothing."""
        return ()

    def html(self) -> "Markup":
        """The table, and in words what is missing."""
        call = (
            '{% if stopped %}<p class="about">not all of them: {{ stopped }}</p>\n{% endif %}'
            "{{ table }}"
            '{% if more > 0 %}\n<p class="about">… {{ "{:,}".format(more) }} more</p>{% endif %}'
        )
        table, more = html_table(self.rows, self.titles), self.n_rows - len(self.rows)
        return render(call, stopped=self.stopped, table=table, more=more)


class Picture(NamedTuple):
    """HTML such as a picture, which text does not show."""

    markup: "Markup | str"

    def lines(self) -> Iterable[str]:
        """Nothing."""
        return ()

    def html(self) -> "Markup | str":
        """The picture."""
        return self.markup


class Report:
    """A result that is shown: by one line as a value, as text when printed, as HTML in notebooks.

    A subclass has a `headline`, and what stands below it in `_parts`.
    """

    __slots__ = ()

    _value: ClassVar[str] = "<{}: {}>"
    """The value on one line, of the name of the class and the headline."""
    _gap: ClassVar[str] = "\n"
    """What is between the parts of a text; two line ends leave an empty line."""
    _heading: ClassVar[str] = "p"
    """The element of HTML for the headline."""

    @property
    def headline(self) -> str:
        """What the result is about, in one line."""
        raise NotImplementedError

    def _parts(self) -> Iterable[Part]:
        """What is below the headline."""
        return ()

    def _page(self) -> Iterable[Part]:
        """What a notebook shows below the headline."""
        return self._parts()

    def __repr__(self) -> str:
        return self._value.format(type(self).__name__, self.headline)

    def __str__(self) -> str:
        parts = ("\n".join(part.lines()) for part in self._parts())
        return self._gap.join([self.headline, *filter(None, parts)])

    def _repr_html_(self) -> str:
        call = f"<{self._heading}>{{{{ headline }}}}</{self._heading}>"
        headline = render(call, headline=self.headline)
        return fragment(headline, *(part.html() for part in self._page()))


class Tabular:
    """A result with columns: `as_dict` gives them to any library, `to_frame` makes a frame."""

    __slots__ = ()

    def as_dict(self) -> Columns:
        """The columns, for a data frame of any library."""
        raise NotImplementedError

    def to_frame(self) -> "pandas.DataFrame":
        """The columns of `as_dict` as a pandas data frame."""
        return pandas_frame(self.as_dict())


# --------------------------------------------------------------------------- texts


def aligned(rows: Sequence[Sequence[Any]], left: Sequence[int] = (0,)) -> list[str]:
    """Rows as lines of columns side by side; those of `left` are on the left.

    >>> aligned([["learner", "rank"], ["lists", 1.5], ["chain", 10]])
    ['learner  rank', 'lists     1.5', 'chain      10']
    """
    lines = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def without_repeats(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Rows whose first cell is empty where it is that of the row before.

    >>> without_repeats([["lists", "1"], ["lists", "2"], ["chain", "1"]])
    [['lists', '1'], ['', '2'], ['chain', '1']]
    """
    found, before = [], ""
    for first, *cells in rows:
        found.append(["" if first == before else first, *cells])
        before = first
    return found


def titled(title: str, items: Sequence[Sequence[str]]) -> Iterator[str]:
    """A title and the lines of the first items below it; nothing without items."""
    if items and title:
        yield title
    for lines in items[:ITEMS]:
        first, *others = lines
        yield from (f"  {first}", *(f"    {line}" for line in others))
    if len(items) > ITEMS:
        yield f"  and {len(items) - ITEMS} more"


def first_lines(lines: Iterable[str], n_all: int) -> list[str]:
    """The lines of the first items of a list, indented, and how many of all are not shown."""
    shown = [f"  {line}" for line in lines]
    more = n_all - len(shown)
    return [*shown, f"  ... and {more:,} more"] if more > 0 else shown


# --------------------------------------------------------------------------- frames


def field_columns(kind: Any, rows: Iterable[Any]) -> Columns:
    """Named tuples as columns, one for each field of their class."""
    every = list(rows)
    return {name: [getattr(row, name) for row in every] for name in kind._fields}


def records_of(columns: Columns) -> list[dict[str, Any]]:
    """Columns as rows, each a dict.

    >>> records_of({"learner": ["lists", "chain"], "rules": [7, 12]})
    [{'learner': 'lists', 'rules': 7}, {'learner': 'chain', 'rules': 12}]
    """
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def pandas_frame(columns: Columns) -> "pandas.DataFrame":
    """Columns as a pandas data frame, for the `to_frame` of a result with `as_dict`."""
    try:
        import pandas as pd
    except ImportError:
        raise _missing("pandas", AS_DICT) from None
    return pd.DataFrame(columns)


def typed_frame(columns: Columns, types: dict[str, str], library: str, also: str = "") -> Any:
    """Columns as a frame of pandas or polars, for the `to_frame` of a result.

    The types are "number" (whole), "count" (whole, perhaps missing), "real" (perhaps missing),
    "flag" and "text".
    """
    one_of(library, "library", ("pandas", "polars"))
    try:
        return _pandas(columns, types) if library == "pandas" else _polars(columns, types)
    except ImportError:
        raise _missing(library, also) from None


def _pandas(columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
    import pandas as pd

    # Counts are whole numbers that may be missing, for which NumPy has no type.
    known = {"number": "int64", "count": "Int64", "real": "float64", "flag": "bool"}
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=known.get(types[name], "object"))
            for name, values in columns.items()
        }
    )


def _polars(columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
    import polars as pl

    known = {"number": pl.Int64, "count": pl.Int64, "real": pl.Float64, "flag": pl.Boolean}
    schema = {name: known.get(kind, pl.String) for name, kind in types.items()}
    return pl.DataFrame(columns, schema=schema)


def _missing(library: str, also: str) -> ImportError:
    return ImportError(f'to_frame needs {library}: pip install "labelrules[{library}]"{also}')
