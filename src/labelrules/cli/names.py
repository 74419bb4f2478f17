"""``--names FILE``: other names of features and labels, from CSV or JSON."""

import csv
from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, Any

import click

from labelrules._checks import quoted
from labelrules.cli.commands import File
from labelrules.cli.models import Model, read_text

if TYPE_CHECKING:
    from labelrules.data import Dataset

HEADING = ["old", "new"]
"""The cells of a first line that is a heading, and not a pair of names."""


def names_option() -> Callable[..., Any]:
    """The option for a file of old and new names."""
    about = "other names of features and labels: CSV with lines old,new or a JSON object"
    return click.option("--names", type=File(), help=about)


def with_names_of(thing: Any, source: str | None) -> Any:
    """A model or data with the names of a file, if one is given."""
    if source is None:
        return thing
    names = read_names(source)
    try:
        if isinstance(thing, Model):
            return Model(thing.kept.rename(names), thing.source)
        found: Dataset = thing.rename(names)
        return found
    except ValueError as wrong:
        raise click.ClickException(f"{source}: {wrong}") from None


def read_names(source: str) -> dict[str, str]:
    """From old names to new ones, as a file lists them."""
    from labelrules.data import FileError

    try:
        text = read_text(source).lstrip("\ufeff")
        return _from_json(text) if text.lstrip().startswith("{") else _from_csv(text)
    except FileError:  # which names the file
        raise
    except (ValueError, csv.Error) as wrong:
        raise click.ClickException(f"{source}: {wrong}") from None


def _from_json(text: str) -> dict[str, str]:
    from labelrules.data.document import read_document

    names: dict[str, str] = read_document(text)
    for old, new in names.items():
        if not isinstance(new, str):
            raise ValueError(f"the new name of {quoted(old)} must be text, not {new!r:.60}")
    return names


def _from_csv(text: str) -> dict[str, str]:
    names: dict[str, str] = {}
    reader = csv.reader(StringIO(text), strict=True)
    for cells in reader:
        if not cells or (reader.line_num == 1 and cells == HEADING):
            continue
        if len(cells) != 2:
            raise ValueError(
                f"line {reader.line_num}: expected an old name, a comma and a new name, but it has "
                f"{len(cells)} cells; a name with a comma stands in double quotes"
            )
        if cells[0] in names:
            raise ValueError(f"line {reader.line_num}: {quoted(cells[0])} is renamed twice")
        names[cells[0]] = cells[1]
    return names
