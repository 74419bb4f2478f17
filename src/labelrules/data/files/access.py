"""Open files, plain or compressed, in any encoding; lock them, and replace them as a whole."""

import codecs
import errno
import gzip
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from labelrules.data.errors import DataError, FileError
from labelrules.data.files.compression import compression_by_name, unreadable_errors

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

UTF8 = ("utf-8", "utf-8-sig")
"""The names of UTF-8, with and without a byte order mark."""

_REASONS = {
    errno.ENOENT: "there is no such file or folder",
    errno.EISDIR: "this is a folder",
    errno.ENOTDIR: "its folder is a file",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOSPC: "there is no space left",
    getattr(errno, "EDQUOT", errno.ENOSPC): "there is no space left",
}
_PIECE = 1 << 20  # bytes that are read at once
_PASS_ENCODING = 'pass its encoding, such as encoding="latin-1"'

_DESCRIPTORS = re.compile(r"/dev/fd|/proc/(?P<process>\d+)(?:/task/\d+)?/fd")
"""Folders that hold the open files of a process, such as its standard output."""

_MOST_LINKS = 40  # as many as Linux follows
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}  # of some file systems


@contextmanager
def opened_binary(path: Path, encoding: str = "utf-8") -> Iterator[Any]:
    """The bytes of a file, unpacked; errors name the file, and the line by the encoding."""
    compression = compression_by_name(path)
    try:
        file: Any = compression.open(path) if compression else path.open("rb")
    except (OSError, ValueError) as wrong:
        raise wrong if isinstance(wrong, DataError) else not_opened(wrong, path) from None
    try:
        with file:
            yield file
    except unreadable_errors() as wrong:
        raise _unreadable(wrong, path, encoding) from None


def not_opened(wrong: Exception, path: Path) -> FileError:
    """The error for a file that cannot be opened."""
    if "\0" in str(path):
        return FileError("no file has a NUL character in its name", path)
    if isinstance(wrong, UnicodeError):
        return FileError("no file has half a character in its name", path)
    return FileError(why_unreadable(wrong), path)


@contextmanager
def opened_text(path: Path, encoding: str, advice: str = _PASS_ENCODING) -> Iterator[TextIO]:
    """A text file, decompressed, with its line ends as they are; errors name the file."""
    # a byte order mark is not part of the first name
    codec = "utf-8-sig" if codec_name(encoding) in UTF8 else encoding
    with opened_binary(path, encoding) as file:
        try:
            with TextIOWrapper(file, encoding=codec, newline="") as text:
                yield text
        except UnicodeError as wrong:
            line = _line_of_bad_text(path, codec)
            raise not_encoded(encoding, wrong, path, line, advice) from None


def opened_utf8(path: Path) -> AbstractContextManager[TextIO]:
    """As `opened_text`, for files that are always UTF-8."""
    return opened_text(path, "utf-8", "save it as UTF-8")


def codec_name(encoding: str) -> str:
    """The name of a text encoding, as Python spells it."""
    try:
        b"\n".decode(encoding, "replace")
        codecs.getincrementaldecoder(encoding)
        "\n".encode(encoding)
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError, TypeError, ValueError):
        raise DataError(
            f'encoding={encoding!r} is no text encoding; use for instance "utf-8" or "latin-1"'
        ) from None


def not_encoded(
    encoding: str, wrong: UnicodeError, path: Path, line: int, advice: str = _PASS_ENCODING
) -> FileError:
    """The error for a file that is in another encoding."""
    reason = getattr(wrong, "reason", None) or wrong
    return FileError(f"this is not {encoding} text ({reason}): {advice}", path, line)


def why_unreadable(wrong: BaseException) -> str:
    """Why a file cannot be read or written, in plain words."""
    if isinstance(wrong, OSError) and wrong.errno in _REASONS:
        return _REASONS[wrong.errno]
    return str(getattr(wrong, "strerror", None) or wrong)


def _unreadable(wrong: BaseException, path: Path, encoding: str) -> FileError:
    """The error for a file that cannot be read; of a compressed one, how far it could be."""
    compression = compression_by_name(path)
    if compression is None or (isinstance(wrong, OSError) and wrong.errno is not None):
        return FileError(why_unreadable(wrong), path)
    with path.open("rb") as file:
        if compression.start.match(file.read(16)) is None and not isinstance(wrong, EOFError):
            return FileError(f"this is not a {compression.name} file ({wrong})", path)
    what = "ends early" if isinstance(wrong, EOFError) else f"is damaged ({wrong})"
    # a wrong checksum does not show where the damage is
    is_placed = not isinstance(wrong, gzip.BadGzipFile)
    line = _line_reached(path, encoding) if is_placed else None
    return FileError(f"the compressed file {what}: get it again", path, line)


def _line_reached(path: Path, encoding: str) -> int | None:
    """The line in which a damaged compressed file ends; None if no line of it can be read."""
    compression = compression_by_name(path)
    if compression is None or "\n".encode(encoding) != b"\n":
        return None
    line, last = 0, b"\n"
    with compression.open(path) as file, suppress(*unreadable_errors()):
        while piece := file.read1():
            # a line is reached by what stands after a line end
            line += with_newlines(last + piece).count(b"\n", 0, -1)
            last = piece[-1:]
    return line or None


def with_newlines(text: bytes) -> bytes:
    """The text with a newline at the end of each line."""
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _line_of_bad_text(path: Path, encoding: str) -> int:
    """The first line that cannot be decoded."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with opened_binary(path) as file:
        while True:
            piece = file.read(_PIECE)
            try:
                line += decoder.decode(piece, not piece).count("\n")
            except UnicodeDecodeError as wrong:
                return line + wrong.object[: wrong.start].decode(encoding, "replace").count("\n")
            except UnicodeError:  # at the beginning: no byte order mark
                return line
            if not piece:
                return line


def checked_target(path: str | os.PathLike[str]) -> Path:
    """The path of a file to write; an error if no file can be written there."""
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
    """Whether a path is a pipe, device, socket, or ``/dev/stdout``: written to, not replaced."""
    if _open_descriptor(path) is not None:
        return True
    with suppress(FileNotFoundError, NotADirectoryError):
        mode = path.stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty new file, which takes the place of `path` at the end, or vanishes on an error.

    It keeps the mode of the file it replaces, and its owner and group if that is allowed. The
    target of a symbolic link is replaced; hard links keep the old file. A stream gets a copy.
    """
    checked_target(path)
    try:
        with _poured(path) if is_stream(path) else _put(path) as new:
            yield new
    except BrokenPipeError:  # the reader has gone: shells have an exit status for it
        raise
    except OSError as wrong:
        raise FileError(f"cannot write: {why_unreadable(wrong)}", path) from None


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait until no other program has this lock, and hold it meanwhile; a stream has none.

    What carries it is a file beside `path`, which vanishes at the end. The lock is the operating
    system's and ends with the process, so that a lock file left by a crash keeps nobody waiting.
    """
    if is_stream(path):
        yield
        return
    place = Path(os.path.realpath(path))
    lock = place.with_name(f".{place.name[:60]}.lock")  # no longer than a name may be
    try:
        descriptor = _lock_taken(lock)
    except OSError as wrong:
        raise FileError(f"cannot lock: {why_unreadable(wrong)}", lock) from None
    try:
        yield
    finally:
        _give_back(descriptor, lock)


def _lock_taken(lock: Path) -> int:
    """A descriptor of the lock file that has the lock."""
    while True:
        descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o666)
        try:
            _wait_for_lock(descriptor)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), lock.stat()):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # who had the lock has removed this file: others take the next one


def _wait_for_lock(descriptor: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    except OSError as wrong:
        if wrong.errno not in _NO_LOCKS:
            raise


def _give_back(descriptor: int, lock: Path) -> None:
    """Remove the lock file while it is locked; Windows removes only what nobody has open."""
    if sys.platform == "win32":
        os.close(descriptor)
    with suppress(OSError):
        lock.unlink()
    if sys.platform != "win32":
        os.close(descriptor)


@contextmanager
def written_text(path: Path, target: Path) -> Iterator[TextIOWrapper]:
    """UTF-8 text for the new file at `path`, compressed if the `target` it becomes is."""
    with ExitStack() as stack:
        binary: Any = stack.enter_context(path.open("wb"))
        compression = compression_by_name(target)
        if compression is not None:
            binary = stack.enter_context(compression.packing(binary, target))
        try:
            with TextIOWrapper(binary, encoding="utf-8", newline="") as text:
                yield text
        except UnicodeEncodeError as wrong:
            raise DataError(
                f"{target}: the text has the character {wrong.object[wrong.start]!r}, half of a "
                "pair, which no file can hold"
            ) from None


def _problem(target: Path, names_folder: bool) -> str | None:
    """Why no file can be written there, as far as it is known beforehand."""
    if target.is_dir():
        return "this is a folder; name a file"
    if names_folder:  # the path itself has forgotten the slash at its end
        return f"there is no folder {str(target)!r}; name a file"
    if is_stream(target):
        return None
    for number, part in enumerate(target.parts):  # a real path would skip what .. leaves again
        before = Path(*target.parts[:number])
        if part == os.pardir and not before.is_dir():
            return f"there is no folder {str(before)!r}"
    file = Path(os.path.realpath(target))
    if not file.parent.is_dir():
        folder = repr(str(file.parent if target.is_symlink() else target.parent))
        return f"{folder} is no folder" if file.parent.exists() else f"there is no folder {folder}"
    if not os.access(file.parent, os.W_OK):
        return f"permission denied: nothing may be written in {str(file.parent)!r}"
    return _why_not_replaced(file) if file.exists() else None


def _why_not_replaced(file: Path) -> str | None:
    """Why a file must stay; that root may write everything does not count."""
    own, folder = file.stat(), file.parent.stat()
    if not (os.access(file, os.W_OK) and own.st_mode & 0o222):
        return "permission denied: the file may only be read"
    is_sticky = folder.st_mode & stat.S_ISVTX and hasattr(os, "geteuid")  # such as /tmp
    if not is_sticky or os.geteuid() in (0, folder.st_uid, own.st_uid):
        return None
    return f"permission denied: in {str(file.parent)!r} only its owner may replace the file"


@contextmanager
def _put(path: Path) -> Iterator[Path]:
    """A file beside the one that `path` leads to, which then gets its name."""
    place = Path(os.path.realpath(path))
    old = place.stat() if place.exists() else None
    temporary = place.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        # who may not read the old file must not read the new one meanwhile
        mode = 0o666 if old is None else 0o600
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield temporary
        with temporary.open("rb+") as file:  # a crash leaves the old file or the whole new one
            os.fsync(file.fileno())
        if old is not None:
            _copy_mode(old, temporary)
        os.replace(temporary, place)
    finally:
        with suppress(OSError):
            temporary.unlink()


def _copy_mode(old: os.stat_result, new: Path) -> None:
    """Copy owner, group and mode as allowed; no set-ID bits, and no rights for another group."""
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if hasattr(os, "chown"):
        for owner in (old.st_uid, -1):
            with suppress(PermissionError):
                os.chown(new, owner, old.st_gid)
                break
        else:
            if new.stat().st_gid != old.st_gid:
                mode &= ~stat.S_IRWXG
    new.chmod(mode)


@contextmanager
def _poured(path: Path) -> Iterator[Path]:
    """A file elsewhere, whose bytes then go into the stream that `path` leads to."""
    with tempfile.TemporaryDirectory(prefix="labelrules-") as folder:
        new = Path(folder, "new")
        new.touch()
        yield new
        with new.open("rb") as source, os.fdopen(_opened_stream(path), "wb") as stream:
            shutil.copyfileobj(source, stream)


def _opened_stream(path: Path) -> int:
    """A descriptor to write to; an open file of this process goes on where it is."""
    descriptor = _open_descriptor(path)
    if descriptor is not None:
        found = _DESCRIPTORS.fullmatch(str(descriptor.parent))
        if found is not None and found["process"] in (None, str(os.getpid())):
            if not descriptor.name.isdecimal():
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            return os.dup(int(descriptor.name))
    return os.open(path, os.O_WRONLY | os.O_APPEND)


def _open_descriptor(path: Path) -> Path | None:
    """The open file of a process that a path leads to, such as ``/proc/17/fd/1``; else None."""
    for _ in range(_MOST_LINKS):
        folder = os.path.realpath(path.parent)
        if _DESCRIPTORS.fullmatch(folder):
            return Path(folder, path.name)
        if not path.is_symlink():
            return None
        path = path.parent / path.readlink()
    return None
