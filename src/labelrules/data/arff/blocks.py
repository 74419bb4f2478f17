"""The text of an ARFF file in blocks of whole lines.

Whatever a file is stored as (plain or gzip, any encoding, any line end), the rest
of the reader sees UTF-8 lines that end in a newline.
"""

import codecs
import gzip
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from labelrules.data.errors import DataError, FileError
from labelrules.data.files import UNREADABLE, is_gzip, unreadable

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
    with closing(_open(path)) as file:
        pieces = _whole_lines(_as_utf8(_pieces(file, path, encoding, size), path, encoding))
        for number, piece in enumerate(pieces):
            data = _with_newlines(piece)
            if number == 0:
                data = data.removeprefix(_BYTE_ORDER_MARK)
            _check_utf8(data, path, line)
            yield Block(line, data)
            line += data.count(b"\n")


def _open(path: Path) -> BinaryIO:
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
