"""Compressed files: which they are by their names, and how they are opened, read and written."""

import bz2
import gzip
import lzma
import re
import zlib
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from labelrules.data.errors import FileError

UNREADABLE = (OSError, EOFError, zlib.error, lzma.LZMAError)
"""What Python raises for files that cannot be read, plain or compressed."""

_ZSTD = "compression.zstd"  # in Python since 3.14
_ENDINGS = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Compression:
    """A way to compress files: its name, the ending of names, and how such files begin."""

    name: str
    ending: str
    start: re.Pattern[bytes]

    def open(self, path: Path) -> Any:
        """The unpacked bytes of a file."""
        if self.ending == ".zst":
            return _zstd(path).open(path, "rb")
        openers: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
        return openers[self.ending](path, "rb")

    def packing(self, file: IO[bytes], path: Path) -> Any:
        """A file to write to, whose bytes go compressed into another; equal bytes pack equally."""
        if self.ending == ".gz":  # without time stamp and name
            return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
        if self.ending == ".zst":
            return _zstd(path).ZstdFile(file, "wb")
        return {".bz2": bz2.BZ2File, ".xz": lzma.LZMAFile}[self.ending](file, "wb")


_KNOWN = (
    Compression("gzip", ".gz", re.compile(rb"\x1f\x8b")),
    Compression("bzip2", ".bz2", re.compile(rb"BZh[1-9]1AY&SY")),
    Compression("xz", ".xz", re.compile(rb"\xfd7zXZ\x00")),
    Compression("Zstandard", ".zst", re.compile(rb"\x28\xb5\x2f\xfd")),
)


def compression_by_name(path: Path) -> Compression | None:
    """How a file is compressed, by the ending of its name."""
    found = _ENDINGS.search(path.name)
    ending = found[0].lower() if found else None
    return next((one for one in _KNOWN if one.ending == ending), None)


def compression_by_start(content: bytes) -> Compression | None:
    """How a file is compressed, by its first bytes."""
    return next((one for one in _KNOWN if one.start.match(content)), None)


def without_compression(name: str) -> str:
    """The name of a file without the ending that says how it is compressed.

    >>> without_compression("readers.csv.gz"), without_compression("readers.csv")
    ('readers.csv', 'readers.csv')
    """
    return _ENDINGS.sub("", name)


def unreadable_errors() -> tuple[type[BaseException], ...]:
    """What Python raises for files that cannot be read, that of Zstandard included."""
    if find_spec("compression") is None:
        return UNREADABLE
    return (*UNREADABLE, import_module(_ZSTD).ZstdError)


def _zstd(path: Path) -> Any:
    if find_spec("compression") is None:
        message = "files that end in .zst are read and written from Python 3.14 on: use .gz or .xz"
        raise FileError(message, path)
    return import_module(_ZSTD)
