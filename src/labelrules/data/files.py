"""Opening files with errors in plain words, and writing them whole or not at all."""

import codecs
import gzip
import os
import secrets
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from labelrules.data.errors import DataError, FileError


def is_gzip(path: Path) -> bool:
    """Whether the name says that the file is compressed."""
    return path.name.lower().endswith(".gz")


@contextmanager
def opened_text(path: Path, encoding: str) -> Iterator[TextIO]:
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
            f"this is not {encoding} text ({reason}): save it so, or pass encoding=",
            path,
            _line_of_bad_text(path, encoding),
        ) from None
    except (EOFError, zlib.error, OSError) as wrong:
        raise FileError(why_unreadable(wrong), path) from None


def why_unreadable(wrong: BaseException) -> str:
    """Why a file cannot be read or written, in plain words."""
    if isinstance(wrong, FileNotFoundError):
        return "there is no such file or folder"
    if isinstance(wrong, (IsADirectoryError, NotADirectoryError)):
        return "this is a folder, or its folder is a file"
    if isinstance(wrong, PermissionError):
        return "permission denied"
    if isinstance(wrong, gzip.BadGzipFile):
        return f"this is not a gzip file ({wrong})"
    if isinstance(wrong, (EOFError, zlib.error)):
        return "the gzip file is truncated or damaged"
    return str(getattr(wrong, "strerror", None) or wrong)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside `path` that takes its place when all went well, and else vanishes."""
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        if path.is_dir():
            raise IsADirectoryError
        yield temporary
        os.replace(temporary, path)
    except OSError as wrong:
        raise FileError(f"cannot write: {why_unreadable(wrong)}", path) from None
    finally:
        with suppress(OSError):
            temporary.unlink()


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


def _line_of_bad_text(path: Path, encoding: str) -> int | None:
    """The first line that does not decode; none where a line end is not a byte of its own."""
    if "\n".encode(encoding) != b"\n":
        return None
    opener: Any = gzip.open if is_gzip(path) else open
    with opener(path, "rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode(encoding)
            except UnicodeError:
                return number
    return None
