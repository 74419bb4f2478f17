"""Input and output of commands: data in any format, text and JSON, messages, progress."""

import csv
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from io import BufferedWriter, RawIOBase, StringIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from labelrules._checks import suggestion

if TYPE_CHECKING:
    from labelrules.data import Dataset, Schema
    from labelrules.data.files.arff.header import Header

STANDARD = "-"
"""The name of the standard input and the standard output."""

OPENML = "openml:"
FORMATS = ("arff", "mulan", "meka", "csv", "parquet")

_OPTIONS = {
    "arff": {"format", "xml", "ignore", "encoding"},
    "mulan": {"format", "xml", "ignore", "encoding"},
    "meka": {"format", "ignore", "encoding"},
    "csv": {"format", "labels", "nominal", "ignore", "delimiter", "missing", "encoding"},
    "parquet": {"format", "labels", "nominal", "ignore"},
    "a data set by name": {"part"},
    "a data set from OpenML": set(),
}
"""The options that each kind of data takes."""

_FORMAT_OF = {".arff": "arff", ".csv": "csv", ".parquet": "parquet"}
_ENDING_OF = {one: f".{one}" for one in ("arff", "csv", "parquet")}
_ENDING_OF |= {"mulan": ".arff", "meka": ".arff"}
_PACKED = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)
_ARFF = re.compile(r"(\.arff)?(\.(gz|bz2|xz|zst))?$", re.IGNORECASE)
_PART = re.compile(r"-(train|test)$", re.IGNORECASE)

_PARAMETER = re.compile(
    r"\b(delimiter|encoding|folder|ignore|labels|missing|nominal|part|xml)="
    r"(?:\[\.\.\.\]|\['([^']*)'\]|'([^']*)'|\"([^\"]*)\")?"
)
_SHELL_WORDS = {
    "pass folder=, or use fetch() to get it": "or write openml:NAME to get it",
    "or use read_meka if the relation name has -C": "or --format meka if the relation name has -C",
    "with an XML file use read_mulan": "with an XML file use --xml",
    "as write_csv does": "as labelrules convert does",
    "leave part out": "leave --part out",
    "raise limit": "raise --limit",
}
"""Advice of the library, and how the same is done on the command line."""


def say(message: str, prefix: str = "labelrules: ") -> None:
    """Print a message that is not the result, on standard error."""
    print(f"{prefix}{message}", file=sys.stderr, flush=True)


def in_shell_words(error: BaseException) -> str:
    """The message of an error of the library, with options in the place of parameters.

    >>> in_shell_words(ValueError("pass missing='inf', labels=[...] or nominal=['age']"))
    'pass --missing inf, --labels or --nominal age'
    >>> in_shell_words(ValueError('such as encoding="latin-1"'))
    'such as --encoding latin-1'
    """
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    message = str(error) or type(error).__name__
    for words, ours in _SHELL_WORDS.items():
        message = message.replace(words, ours)

    def option(found: re.Match[str]) -> str:
        value = found[2] or found[3] or found[4]
        return f"--{found[1]} {shlex.quote(value)}" if value else f"--{found[1]}"

    return _PARAMETER.sub(option, message)


@contextmanager
def shown_progress(
    what: str, total: float | None = None, hidden: bool = False
) -> Iterator[Callable[[Any], object]]:
    """A bar on standard error if a terminal; yields the listener. Without `total`, time only."""
    if hidden or not sys.stderr.isatty():
        yield lambda report: None
        return
    from rich.console import Console

    from labelrules.learners.base.progress import progress_bar

    with progress_bar(what, total, console=Console(stderr=True), transient=True) as show:
        yield show


def announce(listener: Any, text: str) -> None:
    """Tell a progress bar what happens now; see `labelrules.learners.base.progress`."""
    if hasattr(listener, "phase"):
        listener.phase(text)


@dataclass(frozen=True)
class Reading:
    """The options on how to read data; None where one is not given."""

    labels: list[str] | None = None
    part: str | None = None
    format: str | None = None
    xml: str | None = None
    nominal: list[str] | None = None
    ignore: list[str] | None = None
    delimiter: str | None = None
    missing: str | None = None
    encoding: str | None = None
    more: tuple[str, ...] = ()
    """Further files of the same data, which are no option."""

    @classmethod
    def names(cls) -> list[str]:
        """The names of the options."""
        return [one.name for one in fields(cls) if one.name != "more"]

    def given(self) -> dict[str, Any]:
        """The options that are given, as arguments for the functions that read files."""
        chosen = {name: getattr(self, name) for name in self.names()}
        return {k: v for k, v in chosen.items() if v is not None and k not in ("part", "format")}

    def check(self, kind: str) -> None:
        """Refuse options that this kind of data does not take."""
        for name in sorted({*self.names()} - _OPTIONS[kind]):
            if getattr(self, name) is not None:
                raise click.UsageError(f"--{name} does not apply to {kind}")


def is_data(source: str) -> bool:
    """Whether a name can only be that of data, and not that of a model."""
    return unpacked_extension_of(source) in _FORMAT_OF or source.startswith(OPENML)


def read_data(
    source: str,
    reading: Reading,
    wanted: "Schema | None" = None,
    labels: tuple[str, ...] | None = None,
) -> "Dataset":
    """Read data; with the schema of a model, only the columns and labels that it knows.

    Labels of the model may be missing from the data; by default all others are read.
    """
    if wanted is not None and labels is None:
        labels = wanted.labels
    source, reading = _with_files_of_folders(source, reading)
    sources = [source, *reading.more]
    if source == STANDARD or reading.more or _is_path(source, reading):
        form = _one_format(sources, reading)
        from labelrules.data.files.inputs import input_files

        with input_files(sources, "DATA", _ENDING_OF[form]) as paths:
            return _read_files(paths, form, reading, wanted, labels or ())
    if source.startswith(OPENML):
        from labelrules.data import fetch

        reading.check("a data set from OpenML")
        return fetch(source.removeprefix(OPENML))
    reading.check("a data set by name")
    return _load(source, reading.part)


LARGE = 1 << 26
"""Bytes of CSV and Parquet files above which rows are predicted and evaluated in partitions."""


def large_files(source: str, reading: Reading, least: int) -> list[Path] | None:
    """The files of data that are CSV or Parquet and have at least so many bytes; else None.

    Compressed files count eight times.
    """
    source, reading = _with_files_of_folders(source, reading)
    paths = [Path(one) for one in (source, *reading.more)]
    if STANDARD in (source, *reading.more) or not all(path.is_file() for path in paths):
        return None
    form = _one_format([str(path) for path in paths], reading)
    if form not in ("csv", "parquet") or not _are_scanned(paths, form):
        return None
    n_bytes = sum(path.stat().st_size * (8 if _PACKED.search(path.name) else 1) for path in paths)
    return paths if n_bytes >= least else None


def _are_scanned(paths: list[Path], form: str) -> bool:
    """Whether the names say the format that an option may say, too: `scan` goes by names."""
    from labelrules.data import DataError
    from labelrules.data.partitions.scanning import format_of

    try:
        return format_of(paths) == form
    except DataError:
        return False


def _with_files_of_folders(source: str, reading: Reading) -> tuple[str, Reading]:
    """The tables in folders in the place of the folders."""
    sources = [source, *reading.more]
    if not any(Path(one).is_dir() for one in sources):
        return source, reading
    from labelrules.data.partitions.scanning import part_files

    files = [str(path) for path in part_files(sources)]
    return files[0], replace(reading, more=tuple(files[1:]))


def _one_format(sources: list[str], reading: Reading) -> str:
    """The format of all files, by an option or by the extensions of their names."""
    files = [source for source in sources if source != STANDARD]
    for source in files if reading.more else ():
        if not _is_path(source, reading):
            message = f"several inputs must be files, but {source} is the name of a data set"
            raise click.UsageError(message)
    if reading.format is not None:
        return reading.format
    found = {source: _FORMAT_OF.get(unpacked_extension_of(source)) for source in files}
    for source, form in found.items():
        if form is None:
            raise click.UsageError(
                f"{source}: cannot tell the format from the file extension "
                f"{extension_of(source)!r}: give --format, one of {', '.join(FORMATS)}"
            )
        if form != found[files[0]]:
            raise click.UsageError(f"{source} is {form}, but {files[0]} is {found[files[0]]}")
    return found[files[0]] or "csv" if files else "csv"


def _load(name: str, part: str | None) -> "Dataset":
    """A data set by name; a wrong name may have been meant for a file."""
    from labelrules.data import DataError, FileError, load
    from labelrules.data.catalog import EMBEDDED

    try:
        return load(name, part=part)  # type: ignore[arg-type]
    except FileError:
        raise
    except DataError as wrong:
        near = suggestion(name, [*EMBEDDED, *os.listdir()])
        if part is not None and not near:
            raise
        message = str(wrong)
    raise click.ClickException(
        f"there is no file {name}{near or '.'} As the name of a data set: {message}"
    )


def _is_path(source: str, reading: Reading) -> bool:
    path = Path(source)
    if source.startswith(OPENML):
        return False
    if path.is_file():
        return True
    if path.is_dir():
        raise click.UsageError(f"{source} is a folder: name a file in it")
    is_name = source == path.name and not is_data(source)
    if is_name and reading.format is None:
        return False
    beside = os.listdir(path.parent) if path.parent.is_dir() else []
    raise click.ClickException(f"there is no file {source}{suggestion(path.name, beside)}")


def _read_files(
    paths: list[Path], form: str, reading: Reading, wanted: "Schema | None", labels: tuple[str, ...]
) -> "Dataset":
    from labelrules.data import read_csv, read_meka, read_mulan, read_parquet

    reading.check(form)
    given = reading.given()
    if wanted is not None and form in ("arff", "mulan", "meka"):
        return _read_known_arff(paths, reading, wanted, labels)
    if wanted is not None:
        given |= known_columns_of(paths, form, reading, wanted, labels)
    elif form == "arff":  # MEKA counts the labels in the name of the relation
        relation = _arff_header(paths[0], reading).relation
        form = "meka" if not reading.xml and " -C " in f" {relation or ''} " else "mulan"
    readers: dict[str, Callable[..., Dataset]] = {
        "mulan": read_mulan,
        "meka": read_meka,
        "csv": read_csv,
        "parquet": read_parquet,
    }
    return readers[form](paths, **given)


def _arff_header(path: Path, reading: Reading) -> "Header":
    from labelrules.data.files.arff.header import read_header
    from labelrules.data.files.text_blocks import read_blocks

    with closing(read_blocks(path, reading.encoding or "utf-8")) as blocks:
        return read_header(blocks, path)[0]


def _read_known_arff(
    paths: list[Path], reading: Reading, wanted: "Schema", labels: tuple[str, ...]
) -> "Dataset":
    """Read the columns of a model; any others, and the label file, do not matter."""
    from labelrules.data.files.arff.file import read_arff
    from labelrules.data.files.inputs import name_of

    known = {*wanted.feature_names, *labels} - {*(reading.ignore or ())}
    names = [attribute.name for attribute in _arff_header(paths[0], reading).attributes]
    present = {name: None for name in names if name in labels}
    ignored = [name for name in names if name not in known]
    name = Path(name_of(paths[0])).stem
    return read_arff(paths, lambda header: present, ignored, name, reading.encoding or "utf-8")


def known_columns_of(
    paths: list[Path], form: str, reading: Reading, wanted: "Schema", labels: tuple[str, ...]
) -> dict[str, Any]:
    """The options to read only columns of a model from CSV or Parquet files."""
    from labelrules.data.files.model_columns import known_columns

    chosen = reading.labels, reading.nominal, reading.ignore
    layout = reading.delimiter or ",", reading.encoding or "utf-8"
    return known_columns(paths, form == "csv", wanted, labels, chosen, layout)


def unpacked_extension_of(name: str) -> str:
    """The extension of a file's name, in lower case, without that of a compressed file."""
    return _PACKED.sub("", extension_of(name))


def extension_of(name: str) -> str:
    """The extension of a file's name, in lower case, ``.gz`` and the like included."""
    lower = Path(name).name.lower()
    stem = _PACKED.sub("", lower)
    dot = stem.rfind(".")
    return lower[dot:] if dot > 0 else lower[len(stem) :]


def check_files(target: str | None, inputs: Sequence[str | None], option: str = "--output") -> None:
    """Check before the work that inputs can be read and the result written, not over an input."""
    if inputs.count(STANDARD) > 1:
        raise click.UsageError("only one of the inputs can be - for standard input")
    if target is None or target == STANDARD:
        return
    from labelrules.data import FileError
    from labelrules.data.files.access import checked_target

    try:
        path = checked_target(target)
    except FileError as wrong:
        raise click.UsageError(f"{option}: {wrong}") from None
    if any(is_same_file(path, read) for read in files_of(inputs)):
        raise click.UsageError(
            f"{option}: {target} is an input of this command; choose another name"
        )


def files_of(inputs: Iterable[str | None]) -> Iterator[Path]:
    """The files that are read, with the files beside them that describe their columns."""
    for given in inputs:
        path = Path(given or ".")
        if given != STANDARD and path.name:
            yield path
            yield Path(f"{given}.schema.json")
            stem = _ARFF.sub("", path.name)
            yield path.with_name(f"{stem}.xml")
            yield path.with_name(f"{_PART.sub('', stem)}.xml")


def files_beside(target: str) -> list[Path]:
    """The files that are written together with a table: XML for ARFF, a schema for CSV."""
    path = Path(target)
    if extension_of(target).startswith(".arff"):
        return [path.with_name(f"{_ARFF.sub('', path.name)}.xml")]
    return [Path(f"{target}.schema.json")] if extension_of(target).startswith(".csv") else []


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file that exists."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one of them is not there, or is no path at all
        return False


def write(result: Any, target: str | None = None) -> None:
    """Write text as it is, other results as JSON, to standard output or to a complete file."""
    from labelrules.data.document import indented_json

    text = result if isinstance(result, str) else indented_json(plain(result)) + "\n"
    write_pieces([text], target)


def write_pieces(pieces: Iterable[str], target: str | None = None) -> None:
    """Write text piece by piece, to standard output or to a complete file."""
    from labelrules.data.files.access import checked_target, replacing, written_text

    if target is None or target == STANDARD:
        with naming_output(), _buffered_output() as stream:
            stream.writelines(pieces)
        return
    path = checked_target(target)
    with replacing(path) as new, written_text(new, path) as file:
        file.writelines(pieces)


@contextmanager
def naming_output() -> Iterator[None]:
    """Errors of writing to the standard output name it, as those of files do."""
    try:
        yield
    except BrokenPipeError:  # the reader has gone
        raise
    except OSError as wrong:
        from labelrules.data import FileError
        from labelrules.data.files.access import why_unreadable

        drop_output()
        raise FileError(f"cannot write: {why_unreadable(wrong)}", "standard output") from None


def drop_output() -> None:
    """Drop what is still to be written: Python would try again, and complain, at its end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _buffered_output() -> Iterator[TextIO]:
    """The standard output; where Python does not buffer it, it would drop what does not fit."""
    raw = getattr(sys.stdout, "buffer", None)
    if not isinstance(raw, RawIOBase):
        yield sys.stdout
        return
    encoding, errors = sys.stdout.encoding, sys.stdout.errors
    stream = TextIOWrapper(BufferedWriter(raw), encoding, errors)
    try:
        yield stream
        stream.flush()
    finally:
        with suppress(OSError):  # which has been raised before
            stream.detach().detach()


def csv_text(header: Iterable[str] | None, rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV; a row without cells is an empty line."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows if header is None else [header, *rows]:
        cells = list(row)
        writer.writerow(cells) if cells else text.write("\n")
    return text.getvalue()


def plain(value: Any) -> Any:
    """A result of the library in JSON's types: fields by name, null for numbers not finite.

    Rules, theories and schemas are left out: the texts of the rules stand for them.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return _fields({one.name: getattr(value, one.name) for one in fields(value)})
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _fields(value._asdict())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _fields(found: dict[str, Any]) -> dict[str, Any]:
    from labelrules.data import Schema
    from labelrules.rules import Condition, Rule, Theory

    left_out = (Theory, Rule, Condition, Schema)
    return {name: plain(one) for name, one in found.items() if not isinstance(one, left_out)}
