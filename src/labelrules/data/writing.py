"""Writing files whole or not at all, and into whatever else a name may stand for."""

import errno
import gzip
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from labelrules.data.errors import DataError, FileError
from labelrules.data.files import is_gzip, why_unreadable

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
