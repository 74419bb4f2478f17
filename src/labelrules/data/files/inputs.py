"""The files of a data set that is read: one or several, or the standard input."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labelrules.data.errors import DataError, FileError
from labelrules.data.files.compression import compression_by_start, without_compression

StrPath = str | os.PathLike[str]
StrPaths = StrPath | Sequence[StrPath]

STANDARD = "-"
"""The name of the standard input."""

_SHOWN = "standard input"


@contextmanager
def input_files(given: StrPaths, what: str, ending: str) -> Iterator[list[Path]]:
    """The files to read; the standard input is kept in one with this ending, and called so.

    `what` is the name of the parameter, for messages.
    """
    paths = _checked(given, what)
    if STANDARD not in paths:
        yield [Path(path) for path in paths]
        return
    if paths.count(STANDARD) > 1:
        raise DataError(f"{what} names the standard input (-) twice, which can be read only once")
    with tempfile.TemporaryDirectory(prefix="labelrules-") as folder:
        copy = _copied(Path(folder), ending)
        try:
            yield [copy if path == STANDARD else Path(path) for path in paths]
        except FileError as wrong:
            raise _renamed(wrong, copy) from None


def name_of(path: Path) -> str:
    """The name of a file as text, without the ending that says how it is compressed.

    >>> name_of(Path("readers.csv.gz"))
    'readers.csv'
    """
    # bytes that are no text in the names of files are half characters in Python
    return without_compression(path.name).encode("utf-8", "replace").decode()


def _checked(given: StrPaths, what: str) -> list[StrPath]:
    paths = [given] if isinstance(given, str | os.PathLike) else given
    if not isinstance(paths, Sequence) or isinstance(paths, bytes):
        raise DataError(f"{what} must be a path or a list of paths, not {given!r:.60}")
    for path in paths:
        if not isinstance(path, str) and not isinstance(path, os.PathLike):
            raise DataError(f"{what} must be a path or a list of paths, not {given!r:.60}")
    if not paths:
        raise DataError(f"{what} is an empty list: give the path of a file")
    return list(paths)


def _copied(folder: Path, ending: str) -> Path:
    """The standard input in a file, whose name tells how it is compressed."""
    stream: Any = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise FileError("there is no standard input: give the name of a file", _SHOWN)
    new = folder / "new"
    with new.open("wb") as file:
        shutil.copyfileobj(stream, file)
    with new.open("rb") as file:
        compression = compression_by_start(file.read(16))
    return new.rename(folder / f"standard-input{ending}{compression.ending if compression else ''}")


def _renamed(wrong: FileError, copy: Path) -> FileError:
    """The error with the words standard input in the place of the file that holds it."""
    message, path, line = wrong.__reduce__()[1]
    # beside a standard input there is no XML file to look for
    xml = copy.with_name("standard-input.xml")
    shown = message.replace(f"looked for {xml}; ", "").replace(str(copy), _SHOWN)
    return FileError(shown, _SHOWN if Path(path) == copy else path, line)
