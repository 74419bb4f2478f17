"""Open files to read, with errors in plain words, and replace files as a whole."""

import codecs
import errno
import gzip
import os
import re
import secrets
import shutil
import stat
import tempfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from labelrules.data.errors import DataError, FileError

UNREADABLE = (OSError, EOFError, zlib.error)
"""What Python may raise when it opens or reads a file, plain or gzip."""

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


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


BLOCK_SIZE = 1 << 18
"""Bytes per block: what is computed from one block stays in the processor's cache."""

_BYTE_ORDER_MARK = codecs.BOM_UTF8
_GZIP_START = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a file.

    Parameters
    ----------
    first_line : int
        Number of the first line in its file, counted from 1.
    data : bytes
        UTF-8; every line ends in a newline.
    """

    first_line: int
    data: bytes


def read_blocks(path: Path, encoding: str, size: int = BLOCK_SIZE) -> Generator[Block, None, None]:
    """The lines of a file, block by block; close the iterator if it is left early."""
    line = 1
    with closing(_open_binary(path)) as file:
        pieces = _whole_lines(_as_utf8(_pieces(file, path, encoding, size), path, encoding))
        for number, piece in enumerate(pieces):
            data = _with_newlines(piece)
            if number == 0:
                data = data.removeprefix(_BYTE_ORDER_MARK)
            _check_utf8(data, path, line)
            yield Block(line, data)
            line += data.count(b"\n")


def _open_binary(path: Path) -> BinaryIO:
    try:
        if is_gzip(path):
            return cast(BinaryIO, gzip.open(path, "rb"))
        return path.open("rb")
    except (OSError, ValueError) as wrong:
        raise unreadable(wrong, path) from None


def _pieces(file: BinaryIO, path: Path, encoding: str, size: int) -> Iterator[bytes]:
    """The uncompressed content as it comes."""
    piece = _read(file, path, encoding, size)
    if piece.startswith(_GZIP_START):
        raise FileError("the file is gzip-compressed: its name must end in .gz", path)
    while piece:
        yield piece
        piece = _read(file, path, encoding, size)


def _read(file: BinaryIO, path: Path, encoding: str, size: int) -> bytes:
    try:
        return file.read(size)
    except UNREADABLE as wrong:
        raise unreadable(wrong, path, encoding) from None


def _as_utf8(pieces: Iterator[bytes], path: Path, encoding: str) -> Iterator[bytes]:
    """The same text in UTF-8, which passes unchanged (and is checked line by line later)."""
    if _codec_name(encoding) in ("utf-8", "utf-8-sig"):
        yield from pieces
        return
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    line = 1
    for piece, is_last in _with_last(pieces):
        state = decoder.getstate()
        try:
            text = decoder.decode(piece, is_last)
        except UnicodeDecodeError as wrong:
            decoder.setstate(state)
            good = decoder.decode(piece[: max(0, wrong.start - len(state[0]))])
            raise _wrong_encoding(encoding, wrong, path, line + good.count("\n")) from None
        line += text.count("\n")
        # A lone surrogate is let through to be refused with its line, like other invalid UTF-8.
        yield text.encode("utf-8", "surrogatepass")


def _with_last(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    for piece in pieces:
        yield piece, False
    yield b"", True


def _codec_name(encoding: str) -> str:
    try:
        b"\n".decode(encoding, "replace")
        codecs.getincrementaldecoder(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, TypeError, ValueError):
        raise DataError(
            f'encoding={encoding!r} is no text encoding; use for instance "utf-8" or "latin-1"'
        ) from None


def _wrong_encoding(encoding: str, wrong: UnicodeDecodeError, path: Path, line: int) -> FileError:
    return FileError(
        f"the line is not valid {encoding} ({wrong.reason}): "
        'say how the file is encoded, for instance encoding="latin-1"',
        path,
        line,
    )


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Cut after the last newline of each piece; the last line gets one if it has none."""
    unfinished: list[bytes] = []
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*unfinished, piece[:cut]])
            unfinished = []
        unfinished.append(piece[cut:])
    rest = b"".join(unfinished)
    if rest:
        yield rest + b"\n"


def _with_newlines(data: bytes) -> bytes:
    if b"\r" not in data:
        return data
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _check_utf8(data: bytes, path: Path, first_line: int) -> None:
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        line = first_line + data.count(b"\n", 0, wrong.start)
        raise _wrong_encoding("UTF-8", wrong, path, line) from None


_DESCRIPTORS = re.compile(r"/dev/fd|/proc/(?P<process>\d+)(?:/task/\d+)?/fd")
"""Folders whose files are what a process has open, such as its standard output."""

_MOST_LINKS = 40  # as many as Linux follows


def checked_target(path: str | os.PathLike[str]) -> Path:
    """The path of a file to be written, if one can be there.

    Examples
    --------
    >>> checked_target("nowhere/model.json")
    Traceback (most recent call last):
    labelrules.data.errors.FileError: nowhere/model.json: cannot write: there is no folder 'nowhere'
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be text or a path, not {path!r:.60}")
    target = Path(path)
    try:
        problem = _problem(target, os.fspath(path).endswith(("/", os.sep)))
    except OSError as wrong:
        problem = why_unreadable(wrong)
    except ValueError:  # a null or half a character
        problem = "no file can have this name"
    if problem is not None:
        raise FileError(f"cannot write: {problem}", os.fspath(path) or "''")
    return target


def is_stream(path: Path) -> bool:
    """Whether a path leads to something that is there and is no file: it is written into.

    A pipe, a device, a socket, or what a process has open, such as ``/dev/stdout``.
    """
    if _open_descriptor(path) is not None:
        return True
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty new file that takes the place of `path` when all went well, and else vanishes.

    It keeps the mode of the file it replaces, and its owner and group if that is allowed. A
    symbolic link stays, and the file that it leads to is replaced; other names of that file (hard
    links) keep the old one. What is there and is no file is not replaced: the new one is copied
    into it.
    """
    checked_target(path)
    try:
        with _poured(path) if is_stream(path) else _put(path) as new:
            yield new
    except BrokenPipeError:  # nobody reads on: no fault of the path, and shells have a code for it
        raise
    except OSError as wrong:
        raise FileError(f"cannot write: {why_unreadable(wrong)}", path) from None


@contextmanager
def written_text(path: Path, target: Path) -> Iterator[TextIOWrapper]:
    """UTF-8 text for the new file at `path`, compressed if the `target` it will become is."""
    with ExitStack() as stack:
        binary: Any = stack.enter_context(path.open("wb"))
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


def _problem(target: Path, names_folder: bool) -> str | None:
    """Why nothing can be written there, as far as it can be known beforehand."""
    if target.is_dir():
        return "this is a folder; name a file"
    if names_folder:  # the path itself has forgotten the slash at its end
        return f"there is no folder {str(target)!r}; name a file"
    if is_stream(target):
        return None
    missing = _missing_folder(target)
    if missing is not None:
        return f"there is no folder {str(missing)!r}"
    file = Path(os.path.realpath(target))
    if not file.parent.is_dir():
        folder = repr(str(file.parent if target.is_symlink() else target.parent))
        return f"{folder} is no folder" if file.parent.exists() else f"there is no folder {folder}"
    if file.exists() and not _may_be_written(file):
        return "permission denied: the file may only be read"
    if not os.access(file.parent, os.W_OK):
        return f"permission denied: nothing may be written in {str(file.parent)!r}"
    if file.exists() and _is_stuck(file):
        return f"permission denied: in {str(file.parent)!r} only its owner may replace the file"
    return None


def _missing_folder(target: Path) -> Path | None:
    """A folder that a path leaves again by ``..`` and that is not there; else None.

    A real path is made without asking whether there is such a folder.
    """
    for number, part in enumerate(target.parts):
        before = Path(*target.parts[:number])
        if part == os.pardir and not before.is_dir():
            return before
    return None


def _is_stuck(file: Path) -> bool:
    """Whether the folder is sticky, such as ``/tmp``, and neither it nor the file is one's own."""
    folder = file.parent.stat()
    if not folder.st_mode & stat.S_ISVTX or not hasattr(os, "geteuid"):
        return False
    return os.geteuid() not in (0, folder.st_uid, file.stat().st_uid)


def _may_be_written(file: Path) -> bool:
    """Whether a file says so; that root may write everything does not count."""
    return os.access(file, os.W_OK) and bool(file.stat().st_mode & 0o222)


@contextmanager
def _put(path: Path) -> Iterator[Path]:
    """A file beside the one that `path` leads to, which then gets its name."""
    place = Path(os.path.realpath(path))
    old = place.stat() if place.exists() else None
    temporary = place.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        # what others may not read in the old file they must not read in the new one meanwhile
        mode = 0o666 if old is None else 0o600
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield temporary
        _settle(temporary)
        if old is not None:
            _dress_like(old, temporary)
        os.replace(temporary, place)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _dress_like(old: os.stat_result, new: Path) -> None:
    """Give a file the owner and the group of another, as far as that is allowed, and its mode.

    What the old group was allowed is not allowed to another one. And programs are not made: the
    bits that let a file run as its owner or group stay behind.
    """
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if hasattr(os, "chown") and not _has_group(old, new):
        mode &= ~stat.S_IRWXG
    new.chmod(mode)


def _has_group(old: os.stat_result, new: Path) -> bool:
    """Whether a file now has the group of another; if possible, it has its owner, too."""
    for owner in (old.st_uid, -1):
        with suppress(PermissionError):
            os.chown(new, owner, old.st_gid)
            return True
    return new.stat().st_gid == old.st_gid


@contextmanager
def _poured(path: Path) -> Iterator[Path]:
    """A file elsewhere, whose bytes then go into what `path` leads to."""
    with tempfile.TemporaryDirectory(prefix="labelrules-") as folder:
        new = Path(folder, "new")
        new.touch()
        yield new
        with new.open("rb") as source, os.fdopen(_opened_stream(path), "wb") as stream:
            shutil.copyfileobj(source, stream)


def _opened_stream(path: Path) -> int:
    """A descriptor to write to; what this process has open goes on where it is."""
    descriptor = _open_descriptor(path)
    if descriptor is not None:
        found = _DESCRIPTORS.fullmatch(str(descriptor.parent))
        if found is not None and found["process"] in (None, str(os.getpid())):
            return os.dup(_number(descriptor))
    return os.open(path, os.O_WRONLY | os.O_APPEND)


def _number(descriptor: Path) -> int:
    if not descriptor.name.isdecimal():
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    return int(descriptor.name)


def _open_descriptor(path: Path) -> Path | None:
    """Which file of a process a path leads to, such as ``/proc/17/fd/1``; None if to none."""
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(path.parent)
        if _DESCRIPTORS.fullmatch(folder):
            return Path(folder, path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None


def _settle(path: Path) -> None:
    """See that the file is on the disk before its name is: a crash then leaves one or the other."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())
