"""The fast reader of CSV files against a slow and obvious one."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labelrules._types import Floats, Mask
from labelrules.data import Dataset, FileError, read_csv
from labelrules.data.files import arrow, csv_columns, csv_records
from labelrules.data.files.arrow import (
    WantedColumns,
    are_like_numbers,
    joined_texts,
    numbers_in,
    ranked_texts,
    text_array,
    text_words,
    times_in,
)
from labelrules.data.memory.columns import plain_numbers, sorts_of
from labelrules.data.times import times_of
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
DATES = st.dates().map(str) | st.sampled_from(["2020-02-30", "0000-01-01", "2020-13-01"])
INSTANTS = st.one_of(
    st.datetimes().map(str),
    st.datetimes().map(lambda time: time.isoformat(timespec="minutes")),
    st.datetimes().map(lambda time: time.isoformat(timespec="seconds")),
    st.datetimes().map(lambda time: time.isoformat(timespec="milliseconds")),
    st.sampled_from(["2020-02-29T24:00", "2020-02-29T10:60", "2020-02-29 10:00", "2020-02-29"]),
)
ZONES = st.builds(
    lambda time, zone: time.isoformat(timespec="seconds") + zone, st.datetimes(),
    st.sampled_from(["Z", "Z", "+01:00", "-11:30", "+0100", "+24:00", ""]),
)  # fmt: skip
MINUTES = st.datetimes().map(lambda time: time.isoformat(timespec="minutes") + "Z")
TIMES = [DATES, INSTANTS, ZONES, MINUTES, st.one_of(DATES, INSTANTS)]
NOTES = st.one_of(
    st.builds("note {} {}".format, st.integers(0, 5), st.text("é\u20ac\U0001f40d,b", max_size=12)),
    st.text("xy", min_size=1, max_size=30),
    st.text('x,"\n e1', max_size=3),
)
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
    possible = [NUMBERS, WORDS, CELLS, LABEL, ODD_CELLS, NOTES, NOTES, *TIMES]
    kinds = [draw(st.sampled_from(possible)) for _ in range(3)]
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
@example("a,b,c,l\n" + "".join(f"2020-01-0{d},x{d % 3},,1\n" for d in range(1, 9)), "", ("b",))
@example("a,b,c,l\nx,10,-1,1\n,9,-2,1\ny,9.0,-3,1\nz,8,-4,0\n", "", ("b", "c"))
@example("a,b,c,l\nx,2020-01-01T00:00,y,1\ny,2020-01-01,1,0\nz,2020-01-02,y,0\n", "", ())
@pytest.mark.parametrize(
    ("few", "many", "varied", "n_bytes"),
    [(64, 300, 99, 1 << 20), (0, 300, 2, 64), (64, 1, 1, 64), (1, 1, 3, 1 << 20)],
)
def test_fast_and_slow_read_the_same(
    few: int,
    many: int,
    varied: int,
    n_bytes: int,
    text: str,
    missing: str,
    nominal: tuple[str, ...],
) -> None:
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_FEW", few)
        patch.setattr(arrow, "MANY_COLUMNS", many)
        patch.setattr(csv_columns, "_VARIED", varied)
        patch.setattr(csv_records, "_BYTES_AT_FIRST", n_bytes)
        patch.setattr(csv_records, "_BYTES_AT_ONCE", n_bytes)
        path = Path(folder, "t.csv")
        path.write_bytes(text.encode())
        expected = attempted(lambda: read_table(text, ["l"], nominal, ",", missing))
        found = attempted(lambda: read_csv(path, ["l"], nominal=nominal, missing=missing, name=""))
    if isinstance(expected, str) and found != expected:  # of two errors either may be named
        assert isinstance(found, str)
        return
    assert found == expected
    if isinstance(found, str):
        return
    assert (np.signbit(found.X) == np.signbit(expected.X))[~np.isnan(found.X)].all()


@given(st.sampled_from(TIMES).flatmap(lambda kind: st.lists(kind, min_size=1, max_size=4)))
def test_times_read_at_once_are_those_read_one_by_one(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_FEW", 1)
        found, expected = times_in(texts), times_of(texts)
    assert (found is None) == (expected is None)
    if found is not None and expected is not None:
        assert (found[0].tolist(), found[1]) == expected


@given(st.lists(st.one_of(CELLS, NOTES, DATES, st.text("+-1e.naif ", max_size=9)), min_size=1))
def test_what_is_like_no_number_is_none(cells: list[str]) -> None:
    for cell, may_be in zip(cells, are_like_numbers(cells), strict=True):
        assert may_be or "number" not in sorts_of(cell)


LONG_TEXTS = st.lists(st.text("ab\0é", max_size=9), max_size=4).map(
    lambda parts: "patient " * (len(parts) > 1) + "x" * 150 * (len(parts) > 3) + "".join(parts)
)


@given(
    st.lists(st.one_of(st.text(st.characters(codec="utf-8"), max_size=20), LONG_TEXTS)),
    st.sampled_from([0, 64]),
    st.booleans(),
)
def test_texts_are_put_in_their_order(texts: list[str], few: int, are_large: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_FEW", few)
        patch.setattr(arrow, "_MOST_BYTES", -1 if are_large else 1 << 30)
        ordered, ranks = ranked_texts(joined_texts([text_array(one) for one in (["b"], texts)]))
    assert ordered == sorted({"b", *texts})
    assert [ordered[rank] for rank in ranks] == ["b", *texts]


QUOTED_PARTS = st.text('ab," \n', max_size=6)


@given(st.lists(st.lists(QUOTED_PARTS, min_size=2, max_size=2), min_size=1, max_size=6))
def test_quoted_cells_are_split_at_once(rows: list[list[str]]) -> None:
    lines = "".join(",".join(quoted(cell, '"' in cell) for cell in row) + "\n" for row in rows)
    wanted = WantedColumns(["a", "b"], ",", "", [0, 1], list)
    plain = wanted.rows_of(lines.encode(), lines.count("\n"))
    if plain is None:  # an empty line in quotes is read with care
        assert any("\n\n" in cell or cell.startswith("\n") for row in rows for cell in row)
        return
    for place in (0, 1):
        words = plain.words(place)
        assert [words.texts[code] for code in words.places] == [row[place] for row in rows]


@given(st.lists(CELLS, min_size=1, max_size=40), st.sampled_from(["", "NA", "-1", "1.5", "9" * 17]))
@pytest.mark.parametrize("many", [1, 300])
@pytest.mark.parametrize("few", [0, 64])
def test_numbers_that_are_sound_are_those_of_python(
    many: int, few: int, cells: list[str], missing: str
) -> None:
    def check(texts: list[str], values: Floats, sound: Mask) -> None:
        for cell, value, is_sound in zip(texts, values, sound, strict=True):
            expected = plain_numbers([cell], missing)
            if is_sound and expected is not None:
                assert repr(expected[0]) == repr(value)
            assert not is_sound or cell == missing or sorts_of(cell) == ("number",)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "_FEW", few)
        patch.setattr(arrow, "MANY_COLUMNS", many)
        check(cells, *numbers_in(cells, missing))
        lines = "".join(f"{cell},{other}\n" for cell, other in zip(cells, cells[::-1], strict=True))
        wanted = WantedColumns(["a", "b"], ",", missing, [0, 1], lambda: [0, 1])
        rows = wanted.rows_of(lines.encode(), len(cells))
        assert rows is not None
        for place, texts in enumerate((cells, cells[::-1])):
            numbers = rows.numbers(place)
            if numbers is not None:
                check(texts, numbers, np.ones(len(texts), dtype=bool))
            words = rows.words(place)
            assert [words.texts[code] for code in words.places] == texts


@given(st.floats(1e-4, 1e12), st.integers(0, 19))
def test_most_numbers_are_sound(number: float, n_digits: int) -> None:
    """Also those close to the middle between two floats."""
    cells = [f"{number:.4f}", f"{number:.{n_digits}f}"[:20].rstrip("."), repr(number)]
    values, sound = numbers_in(cells * 30, "")
    assert sound.all()
    assert values[:3].tolist() == [float(cell) for cell in cells]


@given(st.lists(st.text(max_size=20), max_size=300))
def test_words_are_distinct_in_the_order_in_which_they_come(cells: list[str]) -> None:
    words = text_words(cells)
    assert words.texts == list(dict.fromkeys(cells))
    assert [words.texts[code] for code in words.places] == cells
