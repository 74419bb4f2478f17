"""The fast reader of CSV files against a slow and obvious one."""

from collections.abc import Callable
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelrules.data import Dataset, FileError, read_csv
from labelrules.data.files import plain_csv
from labelrules.data.files.plain_csv import UNSEEN, PlainRows, WordTable
from labelrules.data.memory.columns import plain_numbers
from twins.csv_table import TableError, read_table

DIGITS = st.text("0123456789", min_size=1, max_size=22)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1000, 1000).map(repr),
    st.integers(-(10**17), 10**17).map(str),
    st.builds(lambda sign, a, point, b: sign + a + point + b,
              st.sampled_from(["", "-", "+"]), DIGITS, st.sampled_from(["", "."]), DIGITS),
)  # fmt: skip
WORDS = st.sampled_from(
    ["", "x", "NA", "nan", "é", "a word of more than sixteen bytes", "a b", "1_0", "-", ".", "+.5",
     "00", "1e5", "9007199254740993", "12345678", "abcdefgh", "1.2.3", "\u0663", "sixteen bytes ok"]
)  # fmt: skip
CELLS = st.one_of(NUMBERS, WORDS)
LABEL = st.sampled_from(["0", "1", "0.0", "True"])
ODD_CELLS = st.text(st.sampled_from('ab1,"\n\r;\0 é'), max_size=4)


def attempted(read: Callable[[], Dataset]) -> Dataset | str:
    """A data set, or the line of the error."""
    try:
        return read()
    except (FileError, TableError) as wrong:
        return f"line {wrong.line}"


def quoted(cell: str, always: bool) -> str:
    needs = always or any(sign in cell for sign in '",;\n\r')
    return '"' + cell.replace('"', '""') + '"' if needs else cell


@st.composite
def files(draw: st.DrawFn) -> str:
    """Tables with columns a, b, c and a label, now and then with something wrong."""
    kinds = [draw(st.sampled_from([NUMBERS, WORDS, CELLS, LABEL, ODD_CELLS])) for _ in range(3)]
    missing = st.sampled_from(["", "", "NA"])
    end = draw(st.sampled_from(["\n", "\n", "\r\n", "\r"]))
    lines = ["a,b,c,l"]
    for _ in range(draw(st.integers(0, 8))):
        row = [draw(st.one_of(kind, missing)) for kind in kinds] + [draw(LABEL)]
        lines.append(",".join(quoted(cell, draw(st.booleans())) for cell in row))
    odd = draw(
        st.sampled_from([None, None, None, "", "1,2,3", "1,2,3,4", '1,"2,3,1', 'x"y",2,3,1'])
    )
    if odd is not None:
        lines.insert(draw(st.integers(1, len(lines))), odd)
    return end.join(lines) + draw(st.sampled_from(["", end]))


@given(files(), st.sampled_from(["", "NA"]), st.sampled_from([(), ("b",)]))
@example("a,b,c,l\n1,2,3,1\n\n", "", ())
@example('a,b,c,l\n"1","x","",1\n2,y,,0\n', "", ())
@example('a,b,c,l\n"two\nlines",x,3,1\ny,z,4,0\n', "", ())
def test_fast_and_slow_read_the_same(text: str, missing: str, nominal: tuple[str, ...]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(text.encode())
        expected = attempted(lambda: read_table(text, ["l"], nominal, ",", missing))
        found = attempted(lambda: read_csv(path, ["l"], nominal=nominal, missing=missing, name=""))
    assert found == expected
    if isinstance(found, str):
        return
    assert (np.signbit(found.X) == np.signbit(expected.X))[~np.isnan(found.X)].all()


@given(st.lists(CELLS, min_size=1, max_size=40), st.sampled_from(["", "NA", "-1", "1.5", "9" * 17]))
@pytest.mark.parametrize("at_once", [3, 1 << 14])
def test_numbers_that_are_sound_are_those_of_python(
    at_once: int, cells: list[str], missing: str
) -> None:
    rows = PlainRows.of("".join(f"{cell},\n" for cell in cells).encode(), 1, 2, ",")
    assert rows is not None
    assert rows.cells(0) == cells
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_csv, "_CELLS_AT_ONCE", at_once)
        values, sound = rows.numbers([0], missing)
    for cell, value, is_sound in zip(cells, values[0], sound[0], strict=True):
        expected = plain_numbers([cell], missing)
        if is_sound:
            assert expected is not None
            assert repr(expected[0]) == repr(value)


@given(st.floats(1e-4, 1e12), st.integers(0, 19))
def test_most_numbers_are_sound(number: float, n_digits: int) -> None:
    """Also those close to the middle between two floats, which are left to Python."""
    cells = [f"{number:.4f}", f"{number:.{n_digits}f}"[:20].rstrip("."), repr(number)]
    rows = PlainRows.of("".join(f"{cell},\n" for cell in cells).encode(), 1, 2, ",")
    assert rows is not None
    values, sound = rows.numbers([0], "")
    assert sound[0, 0]
    assert sound[0, 2] or "e" in cells[2]
    for cell, value, is_sound in zip(cells, values[0], sound[0], strict=True):
        assert not is_sound or float(cell) == value


@given(st.lists(st.text(max_size=20), max_size=300))
def test_a_table_of_words_is_a_dictionary(words: list[str]) -> None:
    table, known = WordTable(), {}
    for start in range(0, len(words), 50):
        some = [w for w in words[start : start + 50] if len(w.encode()) <= 16 and "\0" not in w]
        packed = np.frombuffer(
            b"".join(w.encode().rjust(16, b"\0") for w in some), dtype="<u8"
        ).reshape(-1, 2)
        first, second = packed[:, 0].copy(), packed[:, 1].copy()
        found = table.find(first, second).tolist()
        assert found == [known.get(word, UNSEEN) for word in some]
        for word in some:
            known.setdefault(word, float(len(known)))
        new = np.array([code == UNSEEN for code in found], dtype=bool)
        codes = np.array([known[word] for word in some])
        table.add(first[new], second[new], codes[new])
        np.testing.assert_array_equal(table.find(first, second), codes)


def test_missing_values_have_a_code_in_the_table_of_words() -> None:
    table = WordTable()
    zero = np.zeros(1, dtype=np.uint64)
    assert table.find(zero, zero).tolist() == [UNSEEN]
    table.add(zero, zero, np.array([nan]))
    assert np.isnan(table.find(zero, zero)).all()
