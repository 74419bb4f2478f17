"""Errors of Mulan and MEKA files that are not plain text, or not there.

Each case: a name, how to make and read the input in an empty folder, and the message, as a
pattern that it matches from the file's name to the end.
"""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

from labelrules.data import read_meka, read_mulan

HEAD = "@relation r\n@attribute a numeric\n@attribute c {red,blue}\n@attribute l {0,1}\n@data\n"
GOOD = HEAD + "1,red,0\n2,blue,1\n"
XML = '<labels>\n<label name="l"></label>\n</labels>\n'

Attempt = Callable[[Path], object]


def mulan(arff: str | bytes = GOOD, xml: str | bytes | None = XML, **options: object) -> Attempt:
    """Read t.arff, or what `named` says, with t.xml beside it."""
    named = str(options.pop("named", "t.arff"))

    def attempt(folder: Path) -> object:
        (folder / named).write_bytes(arff.encode() if isinstance(arff, str) else arff)
        if xml is not None:
            (folder / "t.xml").write_bytes(xml.encode() if isinstance(xml, str) else xml)
        return read_mulan(folder / named, **options)  # type: ignore[arg-type]

    return attempt


def folder_instead(folder: Path) -> object:
    (folder / "t.arff").mkdir()
    return read_mulan(folder / "t.arff")


XZ = lzma.compress(GOOD.encode())
PACKED = gzip.compress(GOOD.encode() * 1000)
MANY = HEAD + "".join(f"{number},red,0\n" for number in range(5000))
LONG = gzip.compress(MANY.encode())
CUT = len(LONG) // 2
CUT_LINE = zlib.decompressobj(wbits=31).decompress(LONG[:CUT]).count(b"\n") + 1

FILES: dict[str, tuple[Attempt, str]] = {
    # --- files that cannot be read at all
    "no file": (
        lambda f: read_mulan(f / "t.arff"),
        r"t\.arff: there is no such file or folder",
    ),
    "no file, sequence": (
        lambda f: read_mulan([f / "t.arff", f / "u.arff"]),
        r"t\.arff: there is no such file or folder",
    ),
    "a folder": (folder_instead, r"t\.arff: this is a folder"),
    "gzip truncated": (
        mulan(LONG[:CUT], named="t.arff.gz"),
        rf"t\.arff\.gz, line {CUT_LINE}: the compressed file ends early: get it again",
    ),
    "gzip truncated, another encoding": (
        mulan(gzip.compress(GOOD.encode("utf-16"))[:-12], named="t.arff.gz", encoding="utf-16"),
        r"t\.arff\.gz: the compressed file ends early: get it again",
    ),
    "gzip without its sum": (
        mulan(gzip.compress(GOOD.replace("\n", "\r\n").encode())[:-8], named="t.arff.gz"),
        r"t\.arff\.gz, line 7: the compressed file ends early: get it again",
    ),
    "gzip followed by something": (
        mulan(gzip.compress(GOOD.encode()) + b"more", named="t.arff.gz"),
        r"t\.arff\.gz: the compressed file is damaged \(Not a gzipped file \(b'mo'\)\): "
        r"get it again",
    ),
    "gzip truncated in its first bytes": (
        mulan(PACKED[:5], named="t.arff.gz"),
        r"t\.arff\.gz: the compressed file ends early: get it again",
    ),
    "gzip damaged": (
        mulan(PACKED[:60] + b"\xff" * 9 + PACKED[69:], named="t.arff.gz"),
        r"t\.arff\.gz(, line \d+)?: the compressed file is damaged \(.*\): get it again",
    ),
    "gzip with a wrong sum": (
        mulan(PACKED[:-8] + bytes(4) + PACKED[-4:], named="t.arff.gz"),
        r"t\.arff\.gz: the compressed file is damaged \(CRC check failed .*\): get it again",
    ),
    "not gzip": (
        mulan(GOOD, named="t.arff.gz"),
        r"t\.arff\.gz: this is not a gzip file \(Not a gzipped file \(b'@r'\)\)",
    ),
    "gzip by content only": (
        mulan(PACKED),
        r"t\.arff: the file is gzip-compressed: its name must end in \.gz",
    ),
    "not UTF-8 in the header": (
        mulan(GOOD.replace("a numeric", "é numeric").encode("latin-1")),
        r"t\.arff, line 2: this is not utf-8 text \(.*\): pass its encoding, such as "
        r'encoding="latin-1"',
    ),
    "not UTF-8 in a row": (
        mulan(HEAD.encode() + b"1,red,0\n2,bl\xfce,1\n"),
        r"t\.arff, line 7: this is not utf-8 text \(.*\): pass its encoding, .*",
    ),
    "not the encoding given": (
        mulan(HEAD.encode() + b"1,red,0\n2,bl\xfce,1\n", encoding="ascii"),
        r"t\.arff, line 7: this is not ascii text \(.*\): pass its encoding, .*",
    ),
    "cut in the middle of a character": (
        mulan(GOOD.encode("utf-16")[:-1], encoding="utf-16"),
        r"t\.arff, line 7: this is not utf-16 text \(truncated data\): pass its encoding, .*",
    ),
    "a NUL in the path": (
        lambda f: read_mulan(f / "a\0.arff"),
        r"'a\\x00\.arff': no file has a NUL character in its name",
    ),
    "a NUL in the path of the XML file": (
        lambda f: mulan()(f) and read_mulan(f / "t.arff", f / "a\0.xml"),
        r"'a\\x00\.xml': no file has a NUL character in its name",
    ),
    "bzip2 by content only": (
        mulan(bz2.compress(GOOD.encode())),
        r"t\.arff: the file is bzip2-compressed: its name must end in \.bz2",
    ),
    "bzip2 truncated": (
        mulan(bz2.compress(GOOD.encode())[:-9], named="t.arff.bz2"),
        r"t\.arff\.bz2, line 7: the compressed file ends early: get it again",
    ),
    "xz damaged": (
        mulan(XZ[:60] + b"\xff" * 4 + XZ[64:], named="t.arff.xz"),
        r"t\.arff\.xz(, line \d+)?: the compressed file is damaged \(.*\): get it again",
    ),
    # --- the XML file
    "no XML for a part": (
        mulan(xml=None, named="u-train.arff.gz", arff=gzip.compress(GOOD.encode())),
        r"u-train\.arff\.gz: no XML file names its labels: looked for u-train\.xml and u\.xml; .*",
    ),
    "XML given but missing": (
        lambda f: mulan()(f) and read_mulan(f / "t.arff", f / "elsewhere.xml"),
        r"elsewhere\.xml: there is no such file or folder",
    ),
    "XML not in its encoding": (
        mulan(xml=b'<labels><label name="\xe9"/></labels>'),
        r"t\.xml, line 1: this is not valid XML: not well-formed \(invalid token\)",
    ),
}


OPTIONS: dict[str, tuple[Attempt, str]] = {
    "no path": (lambda f: read_mulan(None), "arff must be a path or a list of paths, not None"),  # type: ignore[arg-type]
    "a number": (lambda f: read_mulan([5]), r"arff must be a path or a list of paths, not \[5\]"),  # type: ignore[list-item]
    "no files": (lambda f: read_meka([]), "arff is an empty list: give the path of a file"),
    "ignore as text": (
        mulan(ignore="a"),
        r"ignore must be a list of names: ignore=\['a'\]",
    ),
    "encoding none": (
        mulan(encoding=None),
        'encoding=None is no text encoding; use for instance "utf-8" or "latin-1"',
    ),
    "encoding hex": (
        mulan(encoding="hex"),
        'encoding=\'hex\' is no text encoding; use for instance "utf-8" or "latin-1"',
    ),
    "unknown encoding": (
        mulan(encoding="utf-99"),
        'encoding=\'utf-99\' is no text encoding; use for instance "utf-8" or "latin-1"',
    ),
}
