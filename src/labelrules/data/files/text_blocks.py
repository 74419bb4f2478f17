"""The lines of a text file in any encoding, as blocks of UTF-8."""

import codecs
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from labelrules.data.errors import FileError
from labelrules.data.files.access import (
    UTF8,
    codec_name,
    not_encoded,
    opened_binary,
    opened_text,
    with_newlines,
)
from labelrules.data.files.compression import compression_by_start

BLOCK_SIZE = 1 << 18
"""Bytes per block: what is computed from one block stays in the processor's cache."""

LONGEST_LINE = 1 << 24
"""Bytes of a line as UTF-8: a small compressed file may unpack to a line that fills memory."""


class TextBlock(NamedTuple):
    """Some whole lines of a file, from this line on: UTF-8, each ending in a line end."""

    first_line: int
    data: bytes
    n_lines: int


def read_blocks(
    path: Path, encoding: str, size: int = BLOCK_SIZE
) -> Generator[TextBlock, None, None]:
    """The lines of a file, block by block, each ending in a newline; close it at the end."""
    with closing(raw_blocks(path, encoding, size)) as blocks:
        for line, raw, n_lines in blocks:
            data = raw.removeprefix(codecs.BOM_UTF8) if line == 1 else raw
            yield TextBlock(line, with_newlines(data) if b"\r" in data else data, n_lines)


def raw_blocks(
    path: Path, encoding: str, size: int, first_size: int | None = None
) -> Generator[TextBlock, None, None]:
    """The lines of a file, block by block, with their own line ends; the last gets one, too.

    A byte order mark of UTF-8 is kept. The first block may be of another size.
    """
    is_utf8 = codec_name(encoding) in UTF8
    opened: Any = (opened_binary if is_utf8 else opened_text)(path, encoding)
    with opened as file:
        pieces = _pieces(file, path, size, min(first_size or size, size))
        for block in _whole_lines(_uncut(pieces), path):
            data = block.data
            try:
                data.isascii() or data.decode()
            except UnicodeDecodeError as wrong:
                place = block.first_line + count_line_ends(data[: wrong.start])
                raise not_encoded("utf-8", wrong, path, place) from None
            yield block


def _pieces(file: Any, path: Path, size: int, first_size: int) -> Iterator[bytes]:
    """A file piece by piece, as UTF-8."""
    is_first = True
    while piece := file.read(first_size if is_first else size):
        # half a character is let through to be refused with its line
        data = piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass")
        if is_first and (found := compression_by_start(data)):
            message = f"the file is {found.name}-compressed: its name must end in {found.ending}"
            raise FileError(message, path)
        is_first = False
        yield data


def _uncut(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Cut text anew: no piece ends between the two characters that end a line."""
    held = b""
    for given in pieces:
        piece = held + given if held else given
        held = b"\r" if piece.endswith(b"\r") else b""
        yield piece[:-1] if held else piece
    if held:
        yield held


def _whole_lines(pieces: Iterable[bytes], path: Path) -> Iterator[TextBlock]:
    """Cut text anew: no piece ends within a line."""
    line = 1
    begun: list[bytes] = []
    for piece in pieces:
        end = _last_end(piece)
        n_bytes = sum(map(len, begun)) + (_first_end(piece) if end else len(piece))
        if n_bytes > LONGEST_LINE:
            message = f"the line has more than {LONGEST_LINE:,} bytes: is this the right file?"
            raise FileError(message, path, line)
        if end:
            whole = b"".join([*begun, memoryview(piece)[:end]])
            n_lines = count_line_ends(whole)
            yield TextBlock(line, whole, n_lines)
            line += n_lines
            begun = []
        if end < len(piece):
            begun.append(piece[end:])
    if begun:
        rest = b"".join(begun)
        yield TextBlock(line, rest if rest.endswith((b"\n", b"\r")) else rest + b"\n", 1)


def _first_end(piece: bytes) -> int:
    """The place of the first character that ends a line."""
    places = [place for place in (piece.find(b"\n"), piece.find(b"\r")) if place >= 0]
    return min(places, default=len(piece))


def _last_end(piece: bytes) -> int:
    """The place after the last line end; 0 if there is none."""
    return max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1


def count_line_ends(data: bytes) -> int:
    """The number of line ends, each of one or two characters."""
    n_newlines = int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == b"\n"[0]))
    return n_newlines + data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else n_newlines
