"""CSV and Parquet, there and back."""

import gzip
import json
import os
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

import strategies
from extras import pa, pd, pl, pq
from labelrules.data import (
    DataError,
    Dataset,
    Feature,
    FileError,
    Schema,
    dataset,
    load,
    read_csv,
    read_parquet,
    write_csv,
    write_parquet,
)
from labelrules.data.schema_json import missing_text

NAN = float("nan")
WAYS = {
    "csv": (write_csv, read_csv),
    "csv.gz": (write_csv, read_csv),
    "csv.bz2": (write_csv, read_csv),
    "csv.XZ": (write_csv, read_csv),
    "parquet": (write_parquet, read_parquet),
}


def there_and_back(data: Dataset, ending: str) -> Dataset:
    write, read = WAYS[ending]
    with TemporaryDirectory() as folder:
        path = Path(folder, f"table.{ending}")
        write(data, path)
        assert {p.name for p in Path(folder).iterdir()} <= {path.name, f"{path.name}.schema.json"}
        return read(path)


def assert_same(found: Dataset, data: Dataset) -> None:
    assert found == data
    assert found.schema == data.schema
    assert found.schema.parents == data.schema.parents
    assert found.is_sparse == data.is_sparse
    assert found.name == data.name
    for index in range(data.schema.n_features):  # also the sign of 0.0, which == does not see
        if not data.is_sparse:
            np.testing.assert_array_equal(
                np.signbit(found.column(index)[~np.isnan(found.column(index))]),
                np.signbit(data.column(index)[~np.isnan(data.column(index))]),
            )


AWKWARD = Dataset(
    Schema(
        [
            Feature("\ufeffa,b"),
            Feature('"', ("", "?", "??", "\r", "x\0y", ' "q" ', "1.0")),
            Feature("empty", ()),
        ],
        ["l\n1", "l2"],
        [None, "l\n1"],
    ),
    np.array([[5e-324, 0, NAN], [-0.0, 3, NAN], [NAN, NAN, NAN], [1e308, 5, NAN]]),
    np.array([[0, 1], [1, 1], [0, 0], [1, 0]]),
    "a name",
)


@pytest.mark.parametrize("ending", WAYS)
@given(data=strategies.datasets(with_unknown=True))
@example(data=AWKWARD)
def test_any_data_set_survives(ending: str, data: Dataset) -> None:
    assert_same(there_and_back(data, ending), data)


@pytest.mark.parametrize("ending", WAYS)
def test_a_single_column_with_missing_values_survives(ending: str) -> None:
    """A missing cell alone on its line must not look like an empty line."""
    labels = dataset(np.empty((4, 0)), [[1], [0], [None], [1]])
    assert_same(there_and_back(labels, ending), labels)


@pytest.mark.parametrize("ending", WAYS)
def test_many_rows_survive_in_several_blocks(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("csv", "csv_records", "parquet"):
        monkeypatch.setattr(f"labelrules.data.files.{place}._CELLS_AT_ONCE", 64)
    monkeypatch.setattr("labelrules.data.files.csv_records._BYTES_AT_ONCE", 1 << 10)
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (3000, 3)).astype(float)
    schema = Schema([Feature("n"), Feature("c", ("z", "a", "m")), Feature("m")], ["l"])
    Y = rng.integers(0, 2, (3000, 1))
    assert_same(there_and_back(Dataset(schema, X, Y, "n"), ending), Dataset(schema, X, Y, "n"))
    thin = Dataset(schema, sparse.csc_array(X), Y, "n")
    assert_same(there_and_back(thin, ending), thin)


def test_the_file_reads_like_a_table(tmp_path: Path) -> None:
    write_csv(dataset([[1.5, "a b"], [None, 'c"d']], [[1], [0]]), tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines == ['"x0","x1","y0"', "1.5,a b,1", ',"c""d",0']
    beside = json.loads((tmp_path / "t.csv.schema.json").read_text())
    assert beside["format"] == "labelrules-schema"
    texts = {"name": "x1", "categories": ["a b", 'c"d']}
    assert beside["features"] == [{"name": "x0", "categories": None}, texts]
    assert beside["labels"] == ["y0"]


def test_equal_data_make_equal_files(tmp_path: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        write_csv(load("magazines"), tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


@given(st.lists(strategies.texts(), min_size=1, unique=True))
def test_the_text_for_missing_values_is_no_category(categories: list[str]) -> None:
    schema = Schema([Feature("f", tuple(categories))], ["l"])
    assert missing_text(schema) not in categories


# --- tables that come from elsewhere ----------------------------------------------------


def csv(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_kinds_follow_from_the_cells(tmp_path: Path) -> None:
    path = csv(tmp_path, "a,b,c,d,l,e\n1,x,01,,1,5\n-2.5e3,,1,,0.0,6\n .5 ,y,1,,True,7\n")
    data = read_csv(path, ["l"], nominal=["c"], ignore=["e"])
    assert data.name == "t"
    assert data.schema == Schema(
        [Feature("a"), Feature("b", ("x", "y")), Feature("c", ("01", "1")), Feature("d")], ["l"]
    )
    np.testing.assert_array_equal(data.X, [[1, 0, 0, NAN], [-2500, NAN, 1, NAN], [0.5, 1, 1, NAN]])
    assert data.Y.tolist() == [[1], [0], [1]]


@pytest.mark.parametrize("cell", ["1_000", "٣", "1,5", "0x10", "1e", "--1", "None", "true", "nan"])
@pytest.mark.parametrize("cells_at_once", [2, 1 << 19])
def test_a_mixture_of_numbers_and_text_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cell: str, cells_at_once: int
) -> None:
    """Python's float() would take the first two."""
    monkeypatch.setattr("labelrules.data.files.csv_records._BYTES_AT_ONCE", cells_at_once)
    for rows, odd, number in ((f'1,0\n"{cell}",1\n', 3, 2), (f'"{cell}",0\n,1\n1,0\n', 2, 4)):
        path = csv(tmp_path, f"a,l\n{rows}")
        with pytest.raises(FileError) as caught:
            read_csv(path, ["l"])
        assert str(caught.value) == (
            f"{path}, line {odd}: column 'a' holds numbers, such as '1' in line {number}, but this "
            f"cell is '{cell}': pass missing='{cell}' if it stands for a missing value, or "
            "nominal=['a'] if the column holds categories"
        )
        nominal = read_csv(path, ["l"], nominal=["a"])
        assert nominal.schema.features[0].categories == tuple(sorted(["1", cell]))
        with_gap = read_csv(path, ["l"], nominal=["a"], missing=cell).column("a")
        assert np.isnan(with_gap).sum() == 1


CELLS = [
    "",
    "",
    "1",
    "2.5",
    "x",
    "NA",
    "nan",
    "-inf",
    "1e999",
    "9007199254740993",
    "9007199254740992",
]


@given(st.lists(st.sampled_from(CELLS), min_size=1, max_size=6), st.sampled_from([2, 4, 1 << 19]))
def test_the_kind_of_a_column_by_all_its_cells(cells: list[str], cells_at_once: int) -> None:
    """Told once more, by lists of what the cells above are."""
    known = [cell for cell in cells if cell]
    numbers = [cell for cell in known if cell[-1].isdigit()]
    others = [cell for cell in known if cell not in numbers]
    beyond = [cell for cell in numbers if cell in ("1e999", "9007199254740993")]
    words_alone = others and not {"x", "NA"} & set(others)
    bad = others if numbers and others else beyond or (others if words_alone else [])
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr("labelrules.data.files.csv_records._BYTES_AT_ONCE", cells_at_once)
        path = csv(Path(folder), "".join(["a,l\n", *(f"{cell},0\n" for cell in cells)]))
        if not bad:
            feature = read_csv(path, ["l"]).schema.features[0]
            assert feature == Feature("a", tuple(sorted(set(others))) if others else None)
            return
        with pytest.raises(FileError) as caught:
            read_csv(path, ["l"])
        assert caught.value.line == cells.index(bad[0]) + 2


def test_columns_without_any_number_are_nominal(tmp_path: Path) -> None:
    data = read_csv(csv(tmp_path, "a,b,l\ntrue,nan,0\nfalse,x,1\n,,1\n"), ["l"])
    assert data.schema.features == (Feature("a", ("false", "true")), Feature("b", ("nan", "x")))


@pytest.mark.parametrize(
    ("cells", "categories", "codes"),
    [
        (
            ["10", "2", "1.0", "1", " +2.50e0", "-0"],
            ("0", "1", "2", "2.5", "10"),
            [4, 2, 1, 1, 3, 0],
        ),
        (
            ["9007199254740993", "9007199254740992.0"],
            ("9007199254740992", "9007199254740993"),
            [1, 0],
        ),
        (["10", "2", "1.0", "1", "3a"], ("1", "1.0", "10", "2", "3a"), [2, 3, 1, 0, 4]),
        (["10", "1", "01", "1.0"], ("01", "1", "1.0", "10"), [3, 1, 0, 2]),
        (["1e999", "1", "1.0"], ("1", "1.0", "1e999"), [2, 0, 1]),
    ],
)
def test_numbers_asked_to_be_nominal_are_categories_as_elsewhere(
    tmp_path: Path, cells: list[str], categories: tuple[str, ...], codes: list[int]
) -> None:
    path = csv(tmp_path, "".join(["a,l\n", *(f"{cell},0\n" for cell in cells), ",1\n"]))
    data = read_csv(path, ["l"], nominal=["a"])
    assert data.schema.features == (Feature("a", categories),)
    np.testing.assert_array_equal(data.column("a"), [*codes, NAN])


def test_nominal_numbers_read_as_those_of_a_frame(tmp_path: Path) -> None:
    cells = [3.0, 12, 0.5, -4, 3, 1e22, 1e-7]
    path = csv(tmp_path, "".join(["a,l\n", *(f"{cell},0\n" for cell in cells)]))
    frame = pd.DataFrame({"a": cells})
    expected = dataset(frame, pd.DataFrame({"l": [0] * len(cells)}), nominal=["a"], name="t")
    assert read_csv(path, ["l"], nominal=["a"]) == expected


def test_categories_are_sorted_whenever_they_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labelrules.data.files.csv_records._BYTES_AT_ONCE", 4)
    data = read_csv(csv(tmp_path, "c,l\nz,0\nm,0\n1,0\na,0\nz,1\n"), ["l"], nominal=["c"])
    assert data.schema.features == (Feature("c", ("1", "a", "m", "z")),)
    np.testing.assert_array_equal(data.X.ravel(), [3, 2, 0, 1, 3])


def test_delimiter_missing_text_encoding_and_windows_files(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("ä;l\r\n1;0\r\nNA;1\r\n\r\n".encode("latin-1"))
    data = read_csv(path, ["l"], delimiter=";", missing="NA", encoding="latin-1", name="mine")
    assert (data.name, data.schema.feature_names) == ("mine", ("ä",))
    np.testing.assert_array_equal(data.X.ravel(), [1, NAN])
    path.write_bytes("\ufeffa,l\n1,0\n".encode())
    assert read_csv(path, ["l"]).schema.feature_names == ("a",)
    path.write_bytes("a\tl\n1\t0\n".encode("utf-16"))
    assert read_csv(path, ["l"], delimiter="\t", encoding="utf-16").X.tolist() == [[1]]


def test_cells_may_span_lines_and_errors_still_know_theirs(tmp_path: Path) -> None:
    path = csv(tmp_path, 'c,l\n"two\nlines",1\nx,2\n')
    with pytest.raises(FileError, match=r"t\.csv, line 4: label 'l' is '2'") as caught:
        read_csv(path, ["l"])
    assert caught.value.line == 4
    path.write_bytes(path.read_bytes().replace(b"x,2", b"x,0"))
    assert read_csv(path, ["l"]).schema.features[0].categories == ("two\nlines", "x")


def test_a_header_alone_is_enough_with_a_schema(tmp_path: Path) -> None:
    data = load("magazines").take(np.empty(0, dtype=int))
    write_csv(data, tmp_path / "t.csv")
    assert read_csv(tmp_path / "t.csv") == data


def test_columns_may_stand_in_any_order_if_a_schema_names_them(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_csv(dataset([[1.5, "a"]], [[1]]), path)
    path.write_text("y0,x1,x0\n1,a,1.5\n")
    assert read_csv(path) == dataset([[1.5, "a"]], [[1]])


@pytest.mark.parametrize(("ending", "read"), [("csv", read_csv), ("parquet", read_parquet)])
def test_what_is_said_must_agree_with_the_schema(tmp_path: Path, ending: str, read: object) -> None:
    path = tmp_path / f"t.{ending}"
    data = dataset([[1, "a", 2]], [[1, 0]], label_names=["l", "m"])
    WAYS[ending][0](data, path)
    assert read(path, ["l", "m"], nominal=["x1"]) == data
    assert read(path, ignore=["x0"]) == data.without(["x0"])
    assert read(path, name="other").name == "other"
    with pytest.raises(FileError, match="labels= are not the labels"):
        read(path, ["l"])
    with pytest.raises(FileError, match="'x0' is not"):
        read(path, nominal=["x0"])
    with pytest.raises(DataError, match="no feature or label 'zz' to leave out"):
        read(path, ignore=["zz"])


def test_a_foreign_parquet_file_needs_its_labels_named(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = {"a": [1, None], "b": ["x", "y"], "l": [True, False], "m": [0, 1], "z": [[1], [2]]}
    pq.write_table(pa.table(table), path)
    with pytest.raises(FileError, match=r"t\.parquet: which columns are labels"):
        read_parquet(path)
    data = read_parquet(path, ["m", "l"], ignore=["z"])
    assert data.name == "t"
    assert data.schema == Schema([Feature("a"), Feature("b", ("x", "y"))], ["m", "l"])
    np.testing.assert_array_equal(data.X, [[1, 0], [NAN, 1]])
    assert data.Y.tolist() == [[0, 1], [1, 0]]
    assert read_parquet(path, ["l"], nominal=["m"], ignore=["z"]).schema.features[2] == Feature(
        "m", ("0", "1")
    )


def test_the_index_of_a_frame_is_no_feature(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.5, 2.5], "l": [0, 1]}, index=[7, 3])
    frame.to_parquet(tmp_path / "t.parquet")
    assert "__index_level_0__" in pq.read_table(tmp_path / "t.parquet").column_names
    assert read_parquet(tmp_path / "t.parquet", ["l"]).schema.feature_names == ("a",)
    named = read_parquet(tmp_path / "t.parquet", ["l"], nominal=["__index_level_0__"])
    assert named.schema.feature_names == ("a", "__index_level_0__")


def test_missing_values_and_unknown_labels_are_nulls_to_others(tmp_path: Path) -> None:
    data = dataset([[1, "a"], [None, None]], [[1, 0], [0, -1]])
    write_parquet(data, tmp_path / "t.parquet")
    table = pq.read_table(tmp_path / "t.parquet")
    assert [table.column(name).null_count for name in ("x0", "x1", "y0", "y1")] == [1, 1, 0, 1]
    write_csv(data, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1:] == ["1.0,a,1,0", ",,0,"]


def test_missing_labels_of_foreign_tables_are_unknown(tmp_path: Path) -> None:
    path = csv(tmp_path, "a,l,m\nNA,NA,1\n2,1,-1\n3,0,NA\n")
    assert read_csv(path, ["l", "m"], missing="NA").Y.tolist() == [[-1, 1], [1, -1], [0, -1]]
    # where 0 stands for a missing number, a label 0 is still known
    path = csv(tmp_path, "a,l\n0,0\n2,1\n")
    data = read_csv(path, ["l"], missing="0")
    assert data.Y.tolist() == [[0], [1]]
    assert np.isnan(data.X).sum() == 1
    pq.write_table(pa.table({"a": [1, 2], "l": [True, None]}), tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet", ["l"]).Y.tolist() == [[1], [-1]]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_others_can_read_what_we_write(tmp_path: Path, library: str) -> None:
    write_parquet(load("magazines"), tmp_path / "t.parquet")
    write_csv(load("magazines"), tmp_path / "t.csv")
    if library == "pandas":
        found = pd.read_parquet(tmp_path / "t.parquet")
        plain = pd.read_csv(tmp_path / "t.csv")
        assert list(found["education"].cat.categories) == ["Primary", "Secondary", "University"]
    else:
        found = pl.read_parquet(tmp_path / "t.parquet")
        plain = pl.read_csv(tmp_path / "t.csv")
    labels = list(load("magazines").schema.labels)
    for frame in (found, plain):
        features = frame[list(load("magazines").schema.feature_names)]
        assert dataset(features, frame[labels]).label_sets() == load("magazines").label_sets()


def test_a_file_rewritten_by_others_with_its_schema_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_parquet(dataset([["a"], ["b"], [None]], [[1], [0], [1]]), path)
    table = pq.read_table(path)
    text = table.column("x0").cast(pa.string())
    pq.write_table(table.set_column(0, "x0", text), path)
    assert read_parquet(path) == dataset([["a"], ["b"], [None]], [[1], [0], [1]])


# --- writing is all or nothing ----------------------------------------------------------


@pytest.mark.parametrize("ending", WAYS)
def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, read = WAYS[ending]
    path = tmp_path / f"t.{ending}"
    write(load("magazines"), path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}

    def disk_full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", disk_full)
    with pytest.raises(FileError, match=r"cannot write: there is no space left"):
        write(dataset([[1]], [[1]]), path)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    assert read(path) == load("magazines")


@pytest.mark.parametrize("ending", WAYS)
def test_where_nothing_can_be_written_is_said(tmp_path: Path, ending: str) -> None:
    write = WAYS[ending][0]
    with pytest.raises(FileError, match="cannot write: there is no folder"):
        write(load("magazines"), tmp_path / "nowhere" / f"t.{ending}")
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot write: '.*file' is no folder"):
        write(load("magazines"), tmp_path / "file" / f"t.{ending}")
    (tmp_path / f"d.{ending}").mkdir()
    with pytest.raises(FileError, match="cannot write: this is a folder"):
        write(load("magazines"), tmp_path / f"d.{ending}")
    with pytest.raises(DataError, match="neither features nor labels"):
        write(Dataset(Schema([], []), np.empty((2, 0)), np.empty((2, 0))), tmp_path / "t")


def test_files_get_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_csv(load("magazines"), tmp_path / "t.csv")
    write_parquet(load("magazines"), tmp_path / "t.parquet")
    modes = {path.stat().st_mode for path in tmp_path.iterdir()}
    assert len(modes) == 1


# --- memory -----------------------------------------------------------------------------


def peak_of(action: object) -> int:
    tracemalloc.start()
    action()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize(
    ("cells", "most"), [(["0.125", "-7", "31.5", ""], 1500), (["red", "blue", "", "red"], 2000)]
)
def test_a_wide_table_takes_little_memory_for_each_column(
    tmp_path: Path, cells: list[str], most: int
) -> None:
    n_columns = 5_000
    lines = [f"{','.join(cells[(i + j) % 4] for j in range(n_columns))},{i % 2}" for i in range(8)]
    names = ",".join(f"c{j}" for j in range(n_columns))
    path = csv(tmp_path, "\n".join([f"{names},l", *lines, ""]))
    read_csv(csv(tmp_path, "a,b,l\n1,x,1\n", "small.csv"), ["l"])  # imports are not counted
    peak = peak_of(lambda: read_csv(path, ["l"]))
    assert peak < most * n_columns, peak / n_columns


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_sparse_data_are_never_dense_on_their_way(
    tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("csv", "csv_records"):
        monkeypatch.setattr(f"labelrules.data.files.{module}._CELLS_AT_ONCE", 1 << 12)
    monkeypatch.setattr("labelrules.data.files.csv_records._BYTES_AT_ONCE", 1 << 14)
    X = sparse.random_array((1500, 200), density=0.005, random_state=0, format="csc")
    data = dataset(X, np.zeros((1500, 1)))
    write, read = WAYS[ending]
    path = tmp_path / f"t.{ending}"
    dense = 1500 * 200 * 8
    assert peak_of(lambda: write(data, path)) < dense / 2
    assert peak_of(lambda: read(path)) < dense / 2
    assert read(path) == data


def test_gzip_is_told_by_the_name(tmp_path: Path) -> None:
    write_csv(load("magazines"), tmp_path / "t.csv.gz")
    with gzip.open(tmp_path / "t.csv.gz", "rt") as file:
        assert file.readline().startswith('"education"')
