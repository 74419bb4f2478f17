"""Data named on the command line: files of any format, data sets by name, the standard input."""

import codecs
import csv
import os
import sys
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labelrules._checks import quoted, suggestion
from labelrules.cli.errors import CommandError, UsageError
from labelrules.cli.parser import OneOf
from labelrules.cli.writing import DATA_ENDINGS, STANDARD, ending_of

if TYPE_CHECKING:
    from labelrules.data import Dataset, Schema

FORMATS = ("arff", "mulan", "meka", "csv", "parquet")
OPENML = "openml:"
DATA_HELP = (
    "a file (.arff, .csv, .parquet), - for standard input, the name of a data set in the folder "
    "$LABELRULES_DATA, openml:NAME, or magazines"
)

_TAKES = {
    "arff": {"format", "xml", "ignore", "encoding"},
    "mulan": {"format", "xml", "ignore", "encoding"},
    "meka": {"format", "ignore", "encoding"},
    "csv": {"format", "labels", "nominal", "ignore", "delimiter", "missing", "encoding"},
    "parquet": {"format", "labels", "nominal", "ignore"},
    "a data set by name": {"part"},
    "a data set from OpenML": set(),
}
"""Which options go with which kind of data."""

_FORMAT_OF = {".arff": "arff", ".csv": "csv", ".parquet": "parquet"}


def add_data(parser: ArgumentParser, name: str = "data", **more: Any) -> None:
    """The operand for data, and the options that say how to read it."""
    parser.add_argument(name, metavar=name.upper(), **{"help": DATA_HELP, **more})
    add_reading(parser)


def add_reading(parser: ArgumentParser) -> None:
    """The options that say how data are read."""
    group = parser.add_argument_group("reading data")
    group.add_argument("--labels", metavar="NAMES", type=names, help="label columns: a,b,c")
    group.add_argument("--part", metavar="PART", type=OneOf("part", ("train", "test")),
                       help="train or test, of a data set by name")  # fmt: skip
    group.add_argument("--format", metavar="FORMAT", type=OneOf("format", FORMATS),
                       help=f"{', '.join(FORMATS)}; by default the ending says it")  # fmt: skip
    group.add_argument("--xml", metavar="FILE", help="Mulan's XML file that names the labels")
    group.add_argument("--nominal", metavar="NAMES", type=names,
                       help="columns of numbers that are categories")  # fmt: skip
    group.add_argument("--ignore", metavar="NAMES", type=names, help="columns to leave out")
    group.add_argument(
        "--delimiter", metavar="SIGN", type=_sign, help="what stands between cells (,)"
    )
    group.add_argument("--missing", metavar="TEXT", help="the cell for a missing value (empty)")
    group.add_argument("--encoding", metavar="NAME", type=_encoding, help="of the file (utf-8)")


def _sign(text: str) -> str:
    """One character; a tab may be written in words, which shells make easier."""
    sign = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(sign) != 1:
        raise ArgumentTypeError(f"this must be one character, or tab, not {quoted(text)}")
    return sign


def _encoding(text: str) -> str:
    try:
        codecs.lookup(text)
    except LookupError:
        raise ArgumentTypeError(f"there is no encoding {quoted(text)}") from None
    return text


def names(text: str) -> list[str]:
    """Names with commas between them; a name with a comma stands in double quotes.

    Examples
    --------
    >>> names('a,"b, c"')
    ['a', 'b, c']
    """
    found = next(csv.reader([text], skipinitialspace=True), [])
    if not found:
        raise ArgumentTypeError("this is empty: give a name, or several with commas between them")
    return found


def is_data(source: str) -> bool:
    """Whether a name can only be that of data, to tell it from a model."""
    return ending_of(source) in DATA_ENDINGS or source.startswith(OPENML)


def read_data(
    source: str,
    options: Namespace,
    wanted: "Schema | None" = None,
    labels: tuple[str, ...] | None = None,
) -> "Dataset":
    """Read data.

    Parameters
    ----------
    source : str
        As on the command line.
    options : Namespace
        With the options of :func:`add_reading`.
    wanted : Schema, optional
        That of a model. Columns it does not know are not read, and labels need not be there.
    labels : tuple of str, optional
        The labels of the model that are wanted; all by default. Columns of others are not read.
    """
    if wanted is not None and labels is None:
        labels = wanted.labels
    if source == STANDARD:
        with _standard_input(options.format or "csv") as path:
            return _read_file(path, options.format or "csv", options, wanted, labels or ())
    if source.startswith(OPENML):
        from labelrules.data import fetch

        _check_options("a data set from OpenML", options)
        return fetch(source.removeprefix(OPENML))
    if _is_path(source, options):
        form = _format(source, options)
        return _read_file(Path(source), form, options, wanted, labels or ())
    _check_options("a data set by name", options)
    return _load(source, options.part)


def _load(name: str, part: str | None) -> "Dataset":
    """A data set by name; a wrong name may have been meant for a file."""
    from labelrules.data import DataError, FileError, load

    try:
        return load(name, part=part)  # type: ignore[arg-type]
    except FileError:
        raise
    except DataError as wrong:
        near = suggestion(name, ["magazines", *os.listdir()])
        if part is not None and not near:
            raise
        message = str(wrong)
    raise CommandError(f"there is no file {name}{near or '.'} As the name of a data set: {message}")


def _is_path(source: str, options: Namespace) -> bool:
    path = Path(source)
    if path.is_file():
        return True
    if path.is_dir():
        raise UsageError(f"{source} is a folder: name a file in it")
    named = source == path.name and ending_of(source) not in DATA_ENDINGS
    if named and options.format is None:
        return False
    beside = os.listdir(path.parent) if path.parent.is_dir() else []
    raise CommandError(f"there is no file {source}{suggestion(path.name, beside)}")


def _format(source: str, options: Namespace) -> str:
    if options.format is not None:
        return str(options.format)
    found = _FORMAT_OF.get(ending_of(source).removesuffix(".gz"))
    if found is None:
        raise UsageError(
            f"{source}: the ending says nothing of the format; choose one by --format: "
            f"{', '.join(FORMATS)}"
        )
    return found


def _read_file(
    path: Path, form: str, options: Namespace, wanted: "Schema | None", labels: tuple[str, ...]
) -> "Dataset":
    _check_options(form, options)
    if wanted is not None:
        from labelrules.cli.fitting import read_columns

        return read_columns(path, form, given(options), wanted, labels)
    return reader_of(path, form, given(options))(path)


def reader_of(path: Path, form: str, chosen: dict[str, Any]) -> "Callable[..., Dataset]":
    """The function that reads such a file, with what was chosen."""
    from functools import partial

    from labelrules.data import read_csv, read_meka, read_mulan, read_parquet

    if form == "arff":
        form = "mulan" if "xml" in chosen or not _says_labels(path, chosen) else "meka"
    found: dict[str, Callable[..., Dataset]] = {
        "mulan": read_mulan,
        "meka": read_meka,
        "csv": read_csv,
        "parquet": read_parquet,
    }
    return partial(found[form], **chosen)


def given(options: Namespace) -> dict[str, Any]:
    """What was chosen of how a file is read, by the names of the library."""
    every = ("labels", "xml", "nominal", "ignore", "delimiter", "missing", "encoding")
    return {name: getattr(options, name) for name in every if getattr(options, name) is not None}


def _says_labels(path: Path, chosen: dict[str, Any]) -> bool:
    """Whether an ARFF file is one of MEKA, which counts its labels in the relation's name."""
    from labelrules.cli.fitting import arff_header

    return " -C " in f" {arff_header(path, chosen).relation or ''} "


def _check_options(kind: str, options: Namespace) -> None:
    for name in sorted(set().union(*_TAKES.values()) - _TAKES[kind]):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} does not go with {kind}")


@contextmanager
def _standard_input(form: str) -> Iterator[Path]:
    """What comes from the standard input, as a file; errors call it by its name."""
    from labelrules.data import DataError

    with tempfile.TemporaryDirectory(prefix="labelrules-") as folder:
        path = Path(folder, f"standard-input.{'arff' if form in ('mulan', 'meka') else form}")
        path.write_bytes(sys.stdin.buffer.read())
        try:
            yield path
        except (DataError, CommandError) as wrong:
            # beside a standard input there is no XML file to look for
            message = str(wrong).replace(f"looked for {path.with_suffix('.xml')}; ", "")
            raise CommandError(message.replace(str(path), "standard input")) from None


def schema_of(options: Namespace) -> "Callable[[], Schema] | None":
    """The schema of the data that --data names, read when it is needed."""
    if options.data is None:
        return None
    return lambda: read_data(options.data, options).schema


def no_such_label(name: str, labels: tuple[str, ...]) -> UsageError:
    """The error for a label that is not there."""
    return UsageError(f"there is no label {quoted(name)}{suggestion(name, labels)}")
