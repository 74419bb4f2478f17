"""Rows in partitions are those that readers give at once, whatever the partitions."""

import gzip
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from extras import pa as arrow
from extras import pq as parquet
from labelrules import Dataset, load, planted, scan
from labelrules.data import (
    DataError,
    FileError,
    read_csv,
    read_parquet,
    write_csv,
    write_parquet,
)
from labelrules.data.files import (
    csv_columns,
    csv_records,
    csv_tables,
    parquet_pieces,
)
from labelrules.data.partitions import scanning


def joined(parts: Any) -> Dataset:
    """All partitions as one data set."""
    found = list(parts)
    if not found:
        empty = np.empty((0, parts.schema.n_features))
        return Dataset(parts.schema, empty, np.empty((0, parts.schema.n_labels), dtype=np.int8))
    assert all(part.schema == parts.schema for part in found)
    X = [part.X.toarray() if sparse.issparse(part.X) else part.X for part in found]
    return Dataset(parts.schema, np.vstack(X), np.vstack([part.Y for part in found]))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "CELLS_OF_A_PIECE", 12)
    monkeypatch.setattr(csv_records, "_BYTES_AT_ONCE", 64)
    monkeypatch.setattr(csv_columns, "_VARIED", 3)


# ---------------------------------------------------------------- Parquet

COLUMNS: dict[str, tuple[Any, Any]] = {
    "whole": (arrow.int64(), st.integers(-5, 5)),
    "small": (arrow.uint8(), st.integers(0, 5)),
    "half": (arrow.float32(), st.sampled_from([0.5, -1.25, 3.0])),
    "word": (arrow.string(), st.sampled_from(["b", "a", "10", "9", "é", ""])),
    "truth": (arrow.bool_(), st.booleans()),
    "kind": (arrow.dictionary(arrow.int32(), arrow.string()), st.sampled_from(["z", "b", "a"])),
    "price": (arrow.decimal128(9, 2), st.sampled_from([Decimal("1.50"), Decimal(10), Decimal(9)])),
    "day": (arrow.date32(), st.dates()),
    "time": (
        arrow.timestamp("us"),
        st.sampled_from([datetime(2018, 12, 30), datetime(2018, 12, 31), datetime(1969, 5, 1, 4)]),
    ),
    "zoned": (arrow.timestamp("ms", tz="Europe/Berlin"), st.sampled_from([datetime(2018, 12, 30)])),
    "stay": (arrow.duration("s"), st.sampled_from([timedelta(9), timedelta(10), timedelta(0)])),
    "nothing": (arrow.null(), st.none()),
}
NOMINAL = ("whole", "price", "day", "time", "stay", "half")


@st.composite
def arrow_tables(draw: Any) -> tuple[list[Any], list[str]]:
    """Files with the same columns of any types, and the columns that shall be nominal."""
    chosen = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=5, unique=True))
    tables = []
    for _ in range(draw(st.integers(1, 3))):
        n_rows = draw(st.integers(0, 8))
        columns = {}
        for name in chosen:
            kind, values = COLUMNS[name]
            cells = st.none() | values if draw(st.booleans()) else st.none()
            columns[name] = arrow.array(
                draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), type=kind
            )
        labels = st.lists(st.sampled_from([0, 1, None]), min_size=n_rows, max_size=n_rows)
        columns["label"] = arrow.array(draw(labels), type=arrow.int8())
        columns["other"] = arrow.array(draw(labels), type=arrow.float64())
        tables.append(arrow.table(columns))
    nominal = [name for name in chosen if name in NOMINAL and draw(st.booleans())]
    return tables, nominal


@given(arrow_tables(), st.integers(1, 5))
def test_foreign_parquet_files_read_as_at_once(
    given: tuple[list[Any], list[str]], group_size: int
) -> None:
    tables, nominal = given
    with TemporaryDirectory() as folder:
        paths = []
        for number, table in enumerate(tables):
            paths.append(Path(folder, f"{number}.parquet"))
            parquet.write_table(table, paths[-1], row_group_size=group_size)
        expected = read_parquet(paths, labels=["label", "other"], nominal=nominal)
        found = scan(paths, labels=["label", "other"], nominal=nominal)
        assert found.schema == expected.schema
        assert found.n_rows == len(expected)
        assert joined(found) == expected
        assert joined(found) == expected  # again


@pytest.mark.parametrize("write", [write_parquet, write_csv])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_files_with_a_schema_read_as_at_once(write: Any, is_sparse: bool, tmp_path: Path) -> None:
    data = load("clinic").take(np.arange(80))
    if is_sparse:
        table = planted(40, n_labels=3)[0]
        data = Dataset(table.schema, sparse.csc_array(table.X), table.Y, "planted")
    path = tmp_path / ("table.parquet" if write is write_parquet else "table.csv")
    write(data, path)
    parts = scan(path)
    assert parts.schema == data.schema
    assert parts.name == data.name
    assert all(part.is_sparse == is_sparse for part in parts)
    assert joined(parts) == data
    left = data.schema.feature_names[0]
    assert joined(scan(path, ignore=[left])) == data.without([left])


def test_a_column_of_another_type_names_file_and_column(tmp_path: Path) -> None:
    parquet.write_table(arrow.table({"label": [1], "x": [1.5]}), tmp_path / "1.parquet")
    parquet.write_table(arrow.table({"label": [1], "x": ["a"]}), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=r"2\.parquet: column 'x' is of type string, but double"):
        scan(tmp_path, labels=["label"])


# ---------------------------------------------------------------- CSV

CSV_CELLS = {
    "number": st.sampled_from(["1", "2.5", "-3e5", "", "007", "1.0"]),
    "word": st.sampled_from(["a", "b", "zeta", "é", "", "2018-12-30 or so", '"x, y"', '"two\nl"']),
    "nominal": st.sampled_from(["1", "1.0", "10", "9", "", "2.5"]),
    "texts": st.sampled_from(["1", "01", "10", "9", "", "b"]),
    "day": st.dates().map(str),
    "midnight": st.sampled_from(["2018-12-30", "2018-12-30T00:00", "1900-01-01 00:00:00", ""]),
    "time": st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)).map(str) | st.dates().map(str),
    "zoned": st.sampled_from(["2018-12-30T14:00Z", "2018-12-30T00:00Z", "2018-12-30T14:00+01:00"]),
    "mixed": st.sampled_from(["1", "a", "nan", "", "2018-12-30"]),
}


@st.composite
def csv_files(draw: Any) -> tuple[list[str], list[str]]:
    """Texts of files with the same columns, and those columns that shall be nominal."""
    names = draw(st.lists(st.sampled_from(sorted(CSV_CELLS)), min_size=1, max_size=4, unique=True))
    files = []
    for _ in range(draw(st.integers(1, 2))):
        n_rows = draw(st.integers(0, 12))
        lines = [",".join([*names, "label"])]
        for _ in range(n_rows):
            cells = [draw(CSV_CELLS[name]) for name in names]
            lines.append(",".join([*cells, draw(st.sampled_from(["0", "1", "", "-1", "True"]))]))
        files.append("\n".join(lines) + "\n")
    return files, [name for name in names if name in ("nominal", "texts")]


def result_of(read: Any) -> Any:
    """What a reader gives, or the message of its error."""
    try:
        return read()
    except DataError as wrong:
        return str(wrong)


@given(csv_files(), st.booleans())
def test_csv_files_read_as_at_once(given: tuple[list[str], list[str]], packed: bool) -> None:
    files, nominal = given
    with TemporaryDirectory() as folder:
        paths = []
        for number, text in enumerate(files):
            paths.append(Path(folder, f"{number}.csv{'.gz' * packed}"))
            content = text.encode()
            paths[-1].write_bytes(gzip.compress(content) if packed else content)
        expected = result_of(lambda: read_csv(paths, labels=["label"], nominal=nominal))
        found = result_of(lambda: scan(paths, labels=["label"], nominal=nominal))
        if isinstance(expected, str):
            assert found == expected
            return
        assert found.schema == expected.schema
        assert found.n_rows == len(expected)
        assert joined(found) == expected
        assert joined(found) == expected


def test_many_different_times_are_read_without_being_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_columns, "_MANY", 8)
    path = tmp_path / "log.csv"
    start = datetime(2018, 12, 30)
    lines = [f"{(start + timedelta(days=n)).isoformat()},1" for n in range(40)]
    path.write_text("\n".join(["when,label", *lines]) + "\n")
    assert scan(path, labels=["label"]).schema.features[0].kind == "date"
    lines += [f"{(start + timedelta(hours=n)).isoformat()},1" for n in range(40)] + lines
    path.write_text("\n".join(["when,label", *lines]) + "\n")
    parts = scan(path, labels=["label"])
    assert joined(parts) == read_csv(path, labels=["label"])
    path.write_text("\n".join(["when,label", *lines, "unknown,1"]) + "\n")
    with pytest.raises(FileError, match=r"'when' holds many different dates .* also other texts"):
        scan(path, labels=["label"])


def test_too_many_categories_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_tables, "MOST_CATEGORIES", 5)
    monkeypatch.setattr(parquet_pieces, "MOST_CATEGORIES", 5)
    names = [f"person {n}" for n in range(90)]
    table = arrow.table({"who": names, "label": [0] * 90})
    parquet.write_table(table, tmp_path / "a.parquet")
    lines = [f"{name},0" for name in names]
    (tmp_path / "a.csv").write_text("\n".join(["who,label", *lines]) + "\n")
    for name in ("a.parquet", "a.csv"):
        with pytest.raises(FileError, match=f"{name}.* 'who' has more than 5 different"):
            scan(tmp_path / name, labels=["label"])


# ---------------------------------------------------------------- folders and data sets


def test_the_files_of_a_folder_in_order(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        (tmp_path / f"part.{number}.csv").write_text(f"x,y\n{number},1\n")
    (tmp_path / "_SUCCESS").write_text("")
    (tmp_path / "notes.md").write_text("")
    assert joined(scan(tmp_path, labels=["y"])).X.ravel().tolist() == [1, 9, 10]
    assert joined(scan(str(tmp_path / "part.9.csv"), labels=["y"])).X.ravel().tolist() == [9]
    (tmp_path / "more").mkdir()
    with pytest.raises(FileError, match="the folder has the folder more in it"):
        scan(tmp_path, labels=["y"])


def test_data_sets_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    data = load("magazines")
    parts = scan(data)
    assert len(list(parts)) > 3
    assert joined(parts) == data
    assert joined(scan([data.take([0, 1]), data.take([2])])) == data.take([0, 1, 2])
    assert scan(parts) is parts
    weighted = Dataset(data.schema, data.X, data.Y, weights=np.arange(14.0))
    with pytest.raises(DataError, match="weighted rows cannot be read in partitions"):
        scan(weighted)
    with pytest.raises(DataError, match="data set 1 has another schema"):
        scan([data, data.without(["sex"])])


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    good, bad = tmp_path / "1.parquet", tmp_path / "2.parquet"
    parquet.write_table(arrow.table({"x": [1.0, 2.0], "y": [0, 1]}), good)
    parquet.write_table(arrow.table({"x": [1.0], "z": [0]}), bad)
    with pytest.raises(FileError, match=r"2\.parquet: there is no column 'y' as in .*1\.parquet"):
        scan([good, bad], labels=["y"])
    parquet.write_table(arrow.table({"x": [1.0, 2, 3, float("inf")], "y": [0, 1, 1, 1]}), bad,
                        row_group_size=2)  # fmt: skip
    with pytest.raises(FileError, match=r"2\.parquet: row group 1: feature 'x' has an infinite"):
        list(scan([good, bad], labels=["y"]))
    parquet.write_table(arrow.table({"x": [1.0], "y": [7]}), bad)
    with pytest.raises(FileError, match=r"2\.parquet: row group 0.*Y has 7.*'y'"):
        list(scan([good, bad], labels=["y"]))
    bad.write_bytes(good.read_bytes()[:-9])
    with pytest.raises(FileError, match=r"2\.parquet: this is not a sound Parquet file"):
        scan([good, bad], labels=["y"])
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "1,0\n" * 50 + "a,1\n")
    with pytest.raises(FileError, match=r"t\.csv, line 52: column 'x' holds numbers.* 'a'"):
        scan(table, labels=["y"])
    with pytest.raises(DataError, match="of several formats"):
        scan([good, table], labels=["y"])
    with pytest.raises(FileError, match="only Parquet and CSV"):
        scan(tmp_path / "x.arff", labels=["y"])


def test_files_that_change_are_noticed(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,y\n1,0\n")
    parts = scan(table, labels=["y"])
    table.write_text("x,y\n1,0\n2,0\n")
    with pytest.raises(DataError, match="2 rows were read, but 1 before"):
        list(parts)
