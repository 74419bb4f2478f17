"""Several files, standard input and compressed files, and small ones that unpack to very much."""

import bz2
import gzip
import io
import lzma
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from extras import pa, pq
from labelrules.data import (
    Dataset,
    Feature,
    FileError,
    Schema,
    load,
    read_csv,
    read_meka,
    read_mulan,
    read_parquet,
    write_csv,
    write_mulan,
    write_parquet,
)
from labelrules.data.files import text_blocks
from labelrules.data.files.compression import compression_by_start

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
TABLE = b"a,c,l\n1,x,1\n2.5,y,0\n"
ARFF = b"@relation 'r: -C 1'\n@attribute l {0,1}\n@attribute a numeric\n@data\n1,5\n?,6\n"


def given(content: bytes) -> object:
    """Make this the standard input."""
    return patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


# --- several files


def test_rows_of_several_csv_files_are_joined_in_order(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TABLE)
    (tmp_path / "u.csv.gz").write_bytes(gzip.compress(b"l,c,a\n,z,\n1,x,3\n"))
    (tmp_path / "v.csv").write_bytes(b"l,c,a\n")
    data = read_csv([tmp_path / name for name in ("t.csv", "u.csv.gz", "v.csv")], ["l"])
    assert data.name == "t"
    assert data.schema == Schema([Feature("a"), Feature("c", ("x", "y", "z"))], ["l"])
    np.testing.assert_array_equal(data.X, [[1, 0], [2.5, 1], [np.nan, 2], [3, 0]])
    assert data.Y.ravel().tolist() == [1, 0, -1, 1]
    assert read_csv([tmp_path / "u.csv.gz", str(tmp_path / "t.csv")], ["l"]).name == "u"


def test_one_schema_file_describes_all_parts(tmp_path: Path) -> None:
    data = load("magazines")
    write_csv(data.take(np.arange(9)), tmp_path / "t.csv")
    write_csv(data.take(np.arange(9, 14)), tmp_path / "u.csv")
    paths = [tmp_path / "t.csv", tmp_path / "u.csv"]
    assert read_csv(paths) == data
    (tmp_path / "t.csv.schema.json").unlink()
    assert read_csv(paths) == data
    assert read_csv([tmp_path / "u.csv", tmp_path / "u.csv"]).n_rows == 10


def test_rows_of_several_parquet_files_are_joined_in_order(tmp_path: Path) -> None:
    parts = [
        {"a": [1, 2], "c": ["x", None], "l": [True, None]},
        {"l": [False], "c": ["y"], "a": [0.5]},
    ]
    paths = [tmp_path / f"{number}.parquet" for number in range(2)]
    for part, path in zip(parts, paths, strict=True):
        pq.write_table(pa.table(part), path)
    data = read_parquet(paths, ["l"])
    assert data.schema == Schema([Feature("a"), Feature("c", ("x", "y"))], ["l"])
    np.testing.assert_array_equal(data.X, [[1, 0], [2, np.nan], [0.5, 1]])
    assert data.Y.ravel().tolist() == [1, -1, 0]


@pytest.mark.parametrize("is_sparse", [False, True])
def test_parts_that_we_wrote_as_parquet(tmp_path: Path, is_sparse: bool) -> None:
    from scipy import sparse

    data = load("magazines")
    if is_sparse:
        data = Dataset(data.schema, sparse.csc_array(data.X), data.Y, data.name)
    for name, rows in (("t", np.arange(9)), ("u", np.arange(9, 14))):
        write_parquet(data.take(rows), tmp_path / f"{name}.parquet")
    assert read_parquet([tmp_path / "t.parquet", tmp_path / "u.parquet"]) == data


# --- compressed files and standard input


@pytest.mark.parametrize("ending", PACKERS)
def test_compressed_files_are_unpacked_by_their_names(tmp_path: Path, ending: str) -> None:
    pack = PACKERS[ending]
    (tmp_path / f"t.csv{ending}").write_bytes(pack(TABLE))
    assert read_csv(tmp_path / f"t.csv{ending}", ["l"]).name == "t"
    (tmp_path / f"t.arff{ending.upper()}").write_bytes(pack(ARFF))
    data = read_meka(tmp_path / f"t.arff{ending.upper()}")
    assert (data.name, data.Y.tolist(), data.X.tolist()) == ("t", [[1], [-1]], [[5], [6]])


@pytest.mark.parametrize("ending", PACKERS)
def test_what_is_written_compressed_is_so(tmp_path: Path, ending: str) -> None:
    write_mulan(load("magazines"), tmp_path / f"m.arff{ending}")
    assert read_mulan(tmp_path / f"m.arff{ending}") == load("magazines")
    found = compression_by_start((tmp_path / f"m.arff{ending}").read_bytes())
    assert (found.ending if found else "") == ending
    again = tmp_path / f"again.arff{ending}"
    write_mulan(load("magazines"), again)
    assert again.read_bytes() == (tmp_path / f"m.arff{ending}").read_bytes()


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python has Zstandard from 3.14 on")
def test_zstandard_needs_a_newer_python(tmp_path: Path) -> None:
    (tmp_path / "t.csv.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(FileError, match=r"t\.csv\.zst: .* from Python 3\.14 on: use \.gz or \.xz"):
        read_csv(tmp_path / "t.csv.zst", ["l"])
    with pytest.raises(FileError, match=r"from Python 3\.14 on: use \.gz or \.xz"):
        write_csv(load("magazines"), tmp_path / "u.csv.zst")


@pytest.mark.skipif(sys.version_info < (3, 14), reason="Python has Zstandard from 3.14 on")
def test_zstandard_there_and_back(tmp_path: Path) -> None:
    write_csv(load("magazines"), tmp_path / "m.csv.zst")
    assert read_csv(tmp_path / "m.csv.zst") == load("magazines")
    assert (tmp_path / "m.csv.zst").read_bytes().startswith(b"\x28\xb5\x2f\xfd")


@pytest.mark.parametrize("ending", PACKERS)
def test_standard_input_may_be_compressed(ending: str) -> None:
    with given(PACKERS[ending](TABLE)):
        data = read_csv("-", ["l"])
    assert (data.name, data.Y.ravel().tolist()) == ("standard-input", [1, 0])
    with given(PACKERS[ending](ARFF)):
        assert read_meka("-").Y.tolist() == [[1], [-1]]


def test_standard_input_among_files(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TABLE)
    with given(b"c,a,l\nw,0,1\n"):
        data = read_csv([tmp_path / "t.csv", "-"], ["l"])
    assert data.column("c").tolist() == [1, 2, 0]
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": [1], "l": [0]}), stream)
    with given(stream.getvalue()):
        assert read_parquet("-", ["l"]).X.tolist() == [[1]]


def test_a_file_may_be_called_as_standard_input_is(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-").write_bytes(TABLE)
    assert read_csv(Path("-"), ["l"]).n_rows == 2


def test_errors_name_standard_input(tmp_path: Path) -> None:
    with given(b"a,l\n1,2\n"), pytest.raises(FileError) as caught:
        read_csv("-", ["l"])
    assert str(caught.value).startswith("standard input, line 2: label 'l' is '2'")
    (tmp_path / "t.csv").write_bytes(b"a,b,l\n")
    with given(b"b,l\n1,2\n"), pytest.raises(FileError, match="in standard input; files are"):
        read_csv(["-", tmp_path / "t.csv"], ["l"])
    with given(ARFF), pytest.raises(FileError) as caught:
        read_mulan("-")
    assert str(caught.value).startswith("standard input: no XML file names its labels: pass xml=")
    with patch.object(sys, "stdin", None), pytest.raises(FileError, match="no standard input"):
        read_csv("-", ["l"])


def test_names_of_files_that_are_no_text(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/t\xff.csv")
    Path(path).write_bytes(TABLE)
    assert read_csv(path, ["l"]).name == "t?"


# --- much in a small file


def test_lines_are_limited_wherever_blocks_begin(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(text_blocks, "LONGEST_LINE", 20)
    for size in (1, 2, 3, 7, 20, 100):
        for length in (19, 20, 21, 40):
            for end in (b"\n", b"\r\n", b"\r"):
                (tmp_path / "t").write_bytes(b"ab" + end + b"x" * length + end + b"c")
                blocks = text_blocks.raw_blocks(tmp_path / "t", "utf-8", min(size, 20))
                if length <= 20:
                    assert b"".join(block.data for block in blocks).endswith(end + b"c\n")
                    continue
                with pytest.raises(FileError, match="line 2: the line has more than 20 bytes"):
                    list(blocks)


BOMBS = {
    "csv": ("read_csv('t.csv.gz', ['l'])", b"a,l\n", b"1,", b"", "t.csv.gz"),
    "csv header": ("read_csv('t.csv.gz', ['l'])", b"", b"a,", b"", "t.csv.gz"),
    "csv of quotes": ("read_csv('t.csv.gz', ['l'])", b"a,l\n", b'"\n",', b"", "t.csv.gz"),
    "csv in an open quote": ("read_csv('t.csv.gz', ['l'])", b'a,l\n"', b"x\n", b"", "t.csv.gz"),
    "csv in UTF-16": (
        "read_csv('t.csv.gz', ['l'], encoding='utf-16-le')",
        "a,l\n".encode("utf-16-le"),
        "1,".encode("utf-16-le"),
        b"",
        "t.csv.gz",
    ),
    "csv not UTF-16": (
        "read_csv('t.csv.gz', ['l'], encoding='utf-16-le')",
        b"",
        b"\n\0",
        b"\0\xd8\0",
        "t.csv.gz",
    ),
    "arff": ("read_meka('t.arff.gz')", ARFF, b"1,", b"", "t.arff.gz"),
    "arff comment": ("read_meka('t.arff.gz')", b"% ", b"xx", b"", "t.arff.gz"),
    "arff attribute": ("read_meka('t.arff.gz')", b"@attribute a {", b"1,", b"", "t.arff.gz"),
    "arff xz": ("read_meka('t.arff.xz')", ARFF, b"1,", b"", "t.arff.xz"),
    "xml": ("read_mulan('t.arff', 't.xml.gz')", b"<labels>", b"  ", b"", "t.xml.gz"),
    "xml name": (
        "read_mulan('t.arff', 't.xml.gz')",
        b'<labels><label name="',
        b"xx",
        b"",
        "t.xml.gz",
    ),
    "xml depth": ("read_mulan('t.arff', 't.xml.gz')", b"", b"<a>", b"", "t.xml.gz"),
}
UNPACKED = 400 << 20
PROGRAM = """
import resource
from labelrules.data import *
start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    {call}
except FileError as wrong:
    print(wrong)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured in its units")
@pytest.mark.parametrize("case", BOMBS)
def test_a_small_file_cannot_fill_memory(case: str, tmp_path: Path) -> None:
    call, head, piece, tail, name = BOMBS[case]
    (tmp_path / "t.arff").write_bytes(ARFF)
    opener = lzma.open if name.endswith(".xz") else gzip.open
    options = {"preset": 0} if name.endswith(".xz") else {"compresslevel": 1}
    with opener(tmp_path / name, "wb", **options) as file:
        file.write(head)
        for _ in range(UNPACKED >> 22):
            file.write(piece * ((4 << 20) // len(piece)))
        file.write(tail)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(call=call)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    message, grown = done.stdout.strip().rsplit("\n", 1)
    assert name in message
    assert int(grown) < 250_000, (message, grown)  # of 400 MB, in kilobytes
