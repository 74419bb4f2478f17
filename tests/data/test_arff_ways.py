"""Every way of reading the rows of an ARFF file reads the same, errors included."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from arff_files import read
from labelrules.data import Dataset, FileError
from labelrules.data.files.arff.fast_rows import plain_words, sparse_digits
from labelrules.data.files.arff.file import FAST_READERS, FastReader, read_arff
from labelrules.data.files.arff.header import Header
from labelrules.data.files.arff.layout import DenseRows, SparseRows, attribute_layout, lookup_of


def outcome(content: bytes, block_size: int, fast_readers: Sequence[FastReader]) -> Dataset | str:
    """The data set, or the error without the file's name, which changes."""
    try:
        return read(
            content,
            ("l", "m", "k"),
            ignore=["i"],
            fast_readers=fast_readers,
            block_size=block_size,
        )
    except FileError as error:
        return f"line {error.line}: {str(error).partition(': ')[2]}"


def storage(data: Dataset | str) -> object:
    """How X is stored, to the last bit."""
    if isinstance(data, str):
        return None
    if not data.is_sparse:
        return data.X.tobytes(), data.X.shape
    return [array.tobytes() for array in (data.X.data, data.X.indices, data.X.indptr)]


HEADER = b"""@relation r
@attribute l {0,1}
@attribute n numeric
@attribute c {0,1,2}
@attribute w {red,'light blue','?','',12,5}
@attribute i string
@attribute m {1,0}
@attribute o numeric
@attribute k numeric
@data
"""
N_ATTRIBUTES = 8

WORDS = ["0", "1", "1", "2", "5", "7", "12", "red", "?", "-3", "0.5", "1e5", "1e999", "01", "1.0"]
ODD_WORDS = ["'light blue'", "'?'", "''", "", "x", "nan", "inf", "1_0", "é", "'1", "\x0b1", "1 2"]


def words() -> st.SearchStrategy[str]:
    return st.one_of(*[st.sampled_from(WORDS)] * 12, st.sampled_from(ODD_WORDS))


def separators() -> st.SearchStrategy[str]:
    return st.one_of(*[st.just(",")] * 20, st.sampled_from([", ", " ,", ",\t", " ", ""]))


@st.composite
def good_words(draw: st.DrawFn) -> list[str]:
    """A row without errors, mostly of plain words."""
    number = st.sampled_from(["0", "1", "0.5", "-2e-3", "?"])
    choices = ["01", number, "012?", ["red", "?", "'light blue'", "12", "5"], ["0", "x"], "01"]
    kinds = [*choices, number, ["0", "1", "1.0"]]
    return [draw(k if isinstance(k, st.SearchStrategy) else st.sampled_from(k)) for k in kinds]


@st.composite
def dense_rows(draw: st.DrawFn, clean: bool) -> str:
    if clean:
        return draw(st.sampled_from([",", ",", ",", ", "])).join(draw(good_words()))
    n_words = draw(st.sampled_from([N_ATTRIBUTES] * 8 + [0, 1, N_ATTRIBUTES - 1]))
    row = draw(st.lists(words(), min_size=n_words, max_size=n_words))
    return "".join(word + draw(separators()) for word in row).removesuffix(",")


@st.composite
def sparse_rows(draw: st.DrawFn, clean: bool) -> str:
    places = draw(st.lists(st.integers(0, N_ATTRIBUTES - 1), unique=clean or draw(st.booleans())))
    if draw(st.sampled_from([True, True, False])):
        places.sort()
    if clean:
        row = draw(good_words())
        return "{" + ",".join(f"{place} {row[place]}" for place in places) + "}"
    entries = [f"{place} {draw(words())}{draw(separators())}" for place in places]
    return "{" + "".join(entries).removesuffix(",") + draw(st.sampled_from(["}"] * 9 + ["}, {5}"]))


@st.composite
def digit_rows(draw: st.DrawFn, clean: bool) -> str:
    places = draw(st.sets(st.integers(0, N_ATTRIBUTES - 1 + (not clean)), min_size=clean))
    digits = st.sampled_from("01" if clean else "01279")
    entries = [f"{place} {'5' if place == 3 else draw(digits)}" for place in sorted(places)]
    return "{" + ",".join(entries) + "}"


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    """Rows of one kind, mostly without errors; some with odd lines or damaged characters."""
    clean = draw(st.sampled_from([True, True, False]))
    kind = draw(st.sampled_from([dense_rows, sparse_rows, digit_rows]))
    odd = st.sampled_from(
        ["", "% comment", "  ", "{}", "{0 1}", "{8 1}", "{-1 1}", "@data", "\x00"]
    )
    lines = [kind(clean)] * 9 + ([] if clean else [odd])
    body = bytearray("\n".join(draw(st.lists(st.one_of(lines), max_size=8))).encode())
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2])) if body else 0):
        place = draw(st.integers(0, len(body) - 1))
        body[place] = draw(st.sampled_from(b"0123456789 ,{}\n\r?'%\tx.-"))
    return bytes(body)


@settings(max_examples=250)
@given(bodies(), st.sampled_from([1, 7, 64, 1 << 18]))
@example(b"{0 1,1 2}\n\n{}\n{1 1,5 0,7 1}", 1 << 18)
@example(b"{4 }\n", 1 << 18)
@example(b"{0}\n", 1 << 18)
@example(b"{}\n{0}\n", 1 << 18)
@example(b"1,2,0,red,,1,0,1\n", 1 << 18)
@example(b"{0 1}{1 1}\n", 1 << 18)
@example(b"{0 1}5\n{ 1}\n", 1 << 18)
@example(b"{0 1,7 2}\n", 1 << 18)
@example(b"{000000000001 1}\n", 1 << 18)
@example(b"{99999999999 1}\n", 1 << 18)
@example(b"{0 1,\n1 1}\n", 1 << 18)
@example(b"{1 9007199254740993}\n", 1 << 18)
@example(b"1,9007199254740993,0,red,x,1,0,1\n", 1 << 18)
@example(b"1,9007199254740994,0,red,9007199254740993,1,1e300,1\n", 1 << 18)
@example(b"{1 " + b"0" * 5000 + b"7,6 9007199254740992}\n", 1 << 18)
@example(b"{1 " + b"9" * 5000 + b"}\n", 1 << 18)
def test_fast_and_careful_reading_agree(body: bytes, block_size: int) -> None:
    content = HEADER + body
    careful = outcome(content, block_size, ())
    for ways in (FAST_READERS, (sparse_digits,), (plain_words,)):
        found = outcome(content, block_size, ways)
        assert found == careful
        assert storage(found) == storage(careful)
    # Of several errors, which one is met first may depend on the blocks, but nothing else does.
    at_once = outcome(content, 1 << 18, ())
    assert at_once == careful or (isinstance(at_once, str) and isinstance(careful, str))


def parsed(way: FastReader, body: bytes) -> DenseRows | SparseRows | None:
    """What one fast way makes of some rows."""
    headers: list[Header] = []

    def remember(header: Header) -> dict[str, None]:
        headers.append(header)
        return dict.fromkeys(("l", "m", "k"))

    with TemporaryDirectory() as folder:
        path = Path(folder, "t.arff")
        path.write_bytes(HEADER)
        read_arff([path], remember, ["i"], "t", "utf-8")
    layout = attribute_layout(headers[0], ("l", "m", "k"), ["i"])
    return way(body, layout, lookup_of(layout))


@pytest.mark.parametrize(
    ("way", "body"),
    [
        (sparse_digits, b"\n{0 1,1 7,2 2,3 5}\n{7 1}\n\n"),
        (plain_words, b"{0 1,1 -7.5,3 12}\n\n{}\n{1 1e5, 3 ?}\n"),
        (plain_words, b"1,0.5,?,red,x,1,?,1.0\n0, -1, 2, 12, x, 0, 5, 0\n"),
    ],
)
def test_fast_readers_take_what_they_are_for(way: FastReader, body: bytes) -> None:
    """Else the agreement of all ways would say little."""
    assert parsed(way, body) is not None


@pytest.mark.parametrize("way", FAST_READERS)
@pytest.mark.parametrize(
    "body", [b"", b"\n", b"1,2", b"{0 1", b"{5 1,5 1}\n", b"{7 2}\n", b"% x\n"]
)
def test_fast_readers_leave_the_rest(way: FastReader, body: bytes) -> None:
    assert parsed(way, body) is None
