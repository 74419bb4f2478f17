"""Opening files with errors in plain words, and writing them whole or not at all."""

import codecs
import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from labelrules.data.errors import DataError, FileError

UNREADABLE = (OSError, EOFError, zlib.error)
"""What Python may raise when it opens or reads a file, plain or gzip."""

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
    return str(getattr(wrong, "strerror", None) or wrong)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside `path` that takes its place when all went well, and else vanishes."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        if path.is_dir():
            raise IsADirectoryError
        yield temporary
        _settle(temporary)
        os.replace(temporary, path)
    except OSError as wrong:
        raise FileError(f"cannot write: {why_unreadable(wrong)}", path) from None
    finally:
        with suppress(OSError):
            temporary.unlink()


def _settle(path: Path) -> None:
    """See that the file is on the disk before its name is: a crash then leaves one or the other."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


@contextmanager
def written_text(path: Path, target: Path) -> Iterator[TextIO]:
    """A new UTF-8 file at `path`, compressed if the `target` it will become is."""
    with ExitStack() as stack:
        binary: Any = stack.enter_context(path.open("xb"))
        if is_gzip(target):
            # no time stamp and no name: equal data make equal files
            binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=binary, mtime=0))
        try:
            with TextIOWrapper(binary, encoding="utf-8", newline="") as text:
                yield text
        except UnicodeEncodeError as wrong:
            raise DataError(
                f"{target}: a name or category has the character {wrong.object[wrong.start]!r}, "
                "which is half a character and cannot be written"
            ) from None


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
