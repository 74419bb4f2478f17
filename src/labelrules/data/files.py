"""Opening files, with errors in plain words."""

import codecs
import errno
import gzip
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from labelrules.data.errors import DataError, FileError

UNREADABLE = (OSError, EOFError, zlib.error)
"""What Python may raise when it opens or reads a file, plain or gzip."""

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_GZIP_START = b"\x1f\x8b"


def is_gzip(path: Path) -> bool:
    """Whether the name says that the file is compressed."""
    return path.name.lower().endswith(".gz")


def opened_utf8(path: Path) -> AbstractContextManager[TextIO]:
    """As `opened_text`, for files whose encoding nobody can choose."""
    return opened_text(path, "utf-8", "save it so")


@contextmanager
def opened_text(
    path: Path, encoding: str, advice: str = "save it so, or pass encoding="
) -> Iterator[TextIO]:
    """A text file, plain or gzip, with its line ends as they are; errors name the file."""
    # a byte order mark is not part of the first name
    codec = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    _check_encoding(encoding)
    try:
        opener: Any = gzip.open if is_gzip(path) else open
        with opener(path, "rt", encoding=codec, newline="") as file:
            yield file
    except UnicodeError as wrong:
        reason = getattr(wrong, "reason", None) or wrong
        raise FileError(
            f"this is not {encoding} text ({reason}): {advice}",
            path,
            _line_of_bad_text(path, encoding),
        ) from None
    except UNREADABLE as wrong:
        raise unreadable(wrong, path, encoding) from None


def unreadable(wrong: BaseException, path: Path, encoding: str = "utf-8") -> FileError:
    """The error for a file that cannot be read; of a compressed one, how far it could be."""
    if not isinstance(wrong, (EOFError, zlib.error, gzip.BadGzipFile)):
        return FileError(why_unreadable(wrong), path)
    if not _begins_as_gzip(path):
        return FileError(f"this is not a gzip file ({wrong})", path)
    if isinstance(wrong, gzip.BadGzipFile):  # a wrong sum does not say where the damage is
        return FileError(f"the compressed file is damaged ({wrong}): get it again", path)
    line = _line_reached(path, encoding)
    if isinstance(wrong, EOFError):
        return FileError("the compressed file ends early: get it again", path, line)
    return FileError(f"the compressed file is damaged ({wrong}): get it again", path, line)


def why_unreadable(wrong: BaseException) -> str:
    """Why a file cannot be read or written, in plain words."""
    if isinstance(wrong, FileNotFoundError):
        return "there is no such file or folder"
    if isinstance(wrong, (IsADirectoryError, NotADirectoryError)):
        return "this is a folder, or its folder is a file"
    if isinstance(wrong, PermissionError):
        return "permission denied"
    if isinstance(wrong, OSError) and wrong.errno in _FULL:
        return "there is no space left"
    return str(getattr(wrong, "strerror", None) or wrong)


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise DataError(f"there is no encoding {encoding!r}") from None


def _begins_as_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_GZIP_START)) == _GZIP_START


def _line_reached(path: Path, encoding: str) -> int | None:
    """The line in which a damaged gzip file ends; none if no line of it can be read."""
    if "\n".encode(encoding) != b"\n":
        return None
    line, last = 0, b"\n"
    with gzip.open(path, "rb") as file, suppress(*UNREADABLE):
        while piece := file.read1():
            text = (last + piece).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            # a line is reached by what stands after a line end
            line += text.count(b"\n", 0, -1)
            last = piece[-1:]
    return line or None


def _line_of_bad_text(path: Path, encoding: str) -> int | None:
    """The first line that does not decode; none where a line end is not a byte of its own."""
    if "\n".encode(encoding) != b"\n":
        return None
    opener: Any = gzip.open if is_gzip(path) else open
    with opener(path, "rb") as file, suppress(*UNREADABLE):
        for number, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return number
    return None
