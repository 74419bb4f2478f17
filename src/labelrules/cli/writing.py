"""Where results go: files, whole or not at all, or the standard output."""

import math
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from labelrules.cli.errors import UsageError

STANDARD = "-"
_ARFF = re.compile(r"(\.arff)?(\.gz)?$", re.IGNORECASE)
_PART = re.compile(r"-(train|test)$", re.IGNORECASE)

DATA_ENDINGS = (".arff", ".arff.gz", ".csv", ".csv.gz", ".parquet")


def add_output(parser: ArgumentParser, what: str) -> None:
    """The option for a file, - being the standard output."""
    parser.add_argument(
        "-o", "--output", metavar="FILE", help=f"write {what} to this file (- is standard output)"
    )


def add_json(parser: ArgumentParser, what: str = "the result") -> None:
    """The option for results that programs read."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def check_place(target: str | None, inputs: Iterable[str | None], option: str = "--output") -> None:
    """See before the work is done that its result can be written, and over no input.

    Examples
    --------
    >>> check_place("a/b", [])
    Traceback (most recent call last):
    labelrules.cli.errors.UsageError: --output: a/b: cannot write: there is no folder 'a'
    """
    if target is None or target == STANDARD:
        return
    from labelrules.data import FileError
    from labelrules.data.files.access import checked_target

    try:
        path = checked_target(target)
    except FileError as wrong:
        raise UsageError(f"{option}: {wrong}") from None
    for read in files_of(inputs):
        if is_same_file(path, read):
            raise UsageError(f"{option}: {target} is read by this very command; choose another")


def files_of(inputs: Iterable[str | None]) -> Iterator[Path]:
    """The files that are read, with those beside them that say what their columns are."""
    for given in inputs:
        path = Path(given or ".")
        if given != STANDARD and path.name:
            yield path
            yield Path(f"{given}.schema.json")
            stem = _ARFF.sub("", path.name)
            yield path.with_name(f"{stem}.xml")
            yield path.with_name(f"{_PART.sub('', stem)}.xml")


def files_beside(target: str) -> list[Path]:
    """The files that are written together with a table.

    Examples
    --------
    >>> [path.name for name in ("a.ARFF.gz", "a.csv") for path in files_beside(name)]
    ['a.xml', 'a.csv.schema.json']
    """
    path = Path(target)
    if ending_of(target).startswith(".arff"):
        return [path.with_name(f"{_ARFF.sub('', path.name)}.xml")]
    return [Path(f"{target}.schema.json")] if ending_of(target).startswith(".csv") else []


def check_standard_input(*sources: str | None) -> None:
    """Only one thing can come from the standard input."""
    if sum(source == STANDARD for source in sources) > 1:
        raise UsageError("only one of the inputs can be - for standard input")


def is_same_file(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file that exists."""
    try:
        return one.samefile(other)
    except (OSError, ValueError):  # one of them is not there, or is no path at all
        return False


def ending_of(name: str) -> str:
    """The ending of a file's name, in lower case, ``.gz`` included.

    Examples
    --------
    >>> ending_of("a.b.ARFF.gz"), ending_of("yeast")
    ('.arff.gz', '')
    """
    lower = Path(name).name.lower()
    stem = lower.removesuffix(".gz")
    dot = stem.rfind(".")
    return lower[dot:] if dot > 0 else lower[len(stem) :]


def write_text(text: str, target: str | None) -> None:
    """Write text to a file that is then the old one or the new one, or to the standard output."""
    if target is None or target == STANDARD:
        sys.stdout.write(text)
        return
    from labelrules.data.files.access import checked_target, replacing, written_text

    path = checked_target(target)
    with replacing(path) as new, written_text(new, path) as file:
        file.write(text)


def write_json(value: Any, target: str | None = None) -> None:
    """Write a value as JSON."""
    from labelrules.data.document import laid_out

    write_text(laid_out(plain(value)) + "\n", target)


def plain(value: Any) -> Any:
    """A value made of what JSON knows; a number that is none or infinite is null.

    Examples
    --------
    >>> plain({"a": (1, float("nan"))})
    {'a': [1, None]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
