"""Mulan files, there and back."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import assume, example, given
from scipy import sparse

import strategies
from extras import arff as liac
from labelrules.data import (
    DataError,
    Dataset,
    Feature,
    FileError,
    Schema,
    dataset,
    read_mulan,
    write_mulan,
)
from labelrules.data.files import mulan as mulan_module


def is_xml(text: str) -> bool:
    return all(
        c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c > "\uffff"
        for c in text
    )


NAN = float("nan")
HARD = Dataset(
    Schema(
        [
            Feature("new\nline\ttab\r\\n 'and' \"so\" {on}, 100%"),
            Feature("?", ("?", "", "'", "a b", "\ufeff", "@data", "%", "日本語", "\x00\x0b")),
        ],
        ["<&\"'>", "]]>", "\t\n\r", "é", "@data"],
        ["\t\n\r", None, "é", None, None],
    ),
    [[-0.0, 0], [5e-324, 1], [1.7976931348623157e308, 4], [NAN, NAN], [1 / 3, 8], [-1e22, 3]],
    [[0, 1, 0, 1, 0]] * 6,
    "a name: -C 3 'quoted'",
)


@given(strategies.datasets(special=False, with_unknown=True))
@example(HARD)
@example(replace(HARD, X=sparse.csc_array(HARD.X)))
@example(Dataset(Schema([], ["l"]), np.empty((2, 0)), [[0], [1]]))
@example(Dataset(Schema([Feature("a", ())], ["l"]), [[NAN]], [[1]]))
def test_there_and_back(data: Dataset) -> None:
    assume(all(is_xml(label) for label in data.schema.labels))
    with TemporaryDirectory() as folder:
        for name in ("table.arff", "table.arff.gz"):
            path = Path(folder, name)
            write_mulan(data, path)
            found = read_mulan(path)
            assert found == data
            assert found.schema.parents == data.schema.parents
            assert found.is_sparse == (data.is_sparse and data.n_rows > 0)
            for index in range(data.schema.n_features):  # the sign of 0.0, which == does not see
                signs = np.signbit(found.column(index)), np.signbit(data.column(index))
                assert (
                    data.is_sparse or np.array_equal(*signs) or np.isnan(data.column(index)).any()
                )
        assert sorted(os.listdir(folder)) == ["table.arff", "table.arff.gz", "table.xml"]


def test_a_deep_hierarchy_there_and_back(tmp_path: Path) -> None:
    """Deeper than Python's stack."""
    labels = [f"l{number}" for number in range(3000)]
    schema = Schema([], labels, [None, *labels[:-1]])
    data = Dataset(schema, np.empty((1, 0)), np.ones((1, 3000), dtype=np.int8))
    write_mulan(data, tmp_path / "deep.arff")
    assert read_mulan(tmp_path / "deep.arff").schema == schema


def test_what_is_written(tmp_path: Path) -> None:
    schema = Schema([Feature("a b"), Feature("c", ("x", "y z"))], ["l", "m"], [None, "l"])
    data = Dataset(schema, [[1, 0], [2.5, NAN]], [[1, 0], [0, 1]], "name")
    write_mulan(data, tmp_path / "t.arff", tmp_path / "labels.xml")
    assert (tmp_path / "t.arff").read_text() == (
        "@relation name\n\n@attribute 'a b' numeric\n@attribute c {x,'y z'}\n"
        "@attribute l {0,1}\n@attribute m {0,1}\n\n@data\n1,x,1,0\n2.5,?,0,1\n"
    )
    assert '<label name="l">\n<label name="m"></label>' in (tmp_path / "labels.xml").read_text()
    write_mulan(replace(data, X=sparse.csc_array(data.X)), tmp_path / "t.arff")
    rows = (tmp_path / "t.arff").read_text().partition("@data\n")[2]
    assert rows == "{0 1,2 1}\n{0 2.5,1 ?,3 1}\n"


def test_another_reader_understands_what_is_written(tmp_path: Path) -> None:
    schema = Schema([Feature("it's 100% {so}"), Feature("c", ("a b", "c,d"))], ["l"])
    write_mulan(Dataset(schema, [[0.1, 1], [NAN, 0]], [[1], [0]]), tmp_path / "t.arff")
    with (tmp_path / "t.arff").open(encoding="utf-8") as file:
        found = liac.load(file)
    assert [values for _, values in found["attributes"]] == ["NUMERIC", ["a b", "c,d"], ["0", "1"]]
    assert found["data"] == [[0.1, "c,d", "1"], [None, "a b", "0"]]


def test_equal_data_make_equal_files(tmp_path: Path) -> None:
    data = dataset([[1.0], [2.0]], [[0], [1]])
    for name in ("a", "b"):
        write_mulan(replace(data, name="same"), tmp_path / f"{name}.arff.gz")
    assert (tmp_path / "a.arff.gz").read_bytes() == (tmp_path / "b.arff.gz").read_bytes()


# --- nothing is written by halves


@pytest.mark.parametrize("fails", ["arff_lines", "labels_as_xml"])
def test_an_interrupted_write_leaves_the_old_files(
    fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = dataset([[1.0]], [[1]])
    write_mulan(old, tmp_path / "t.arff")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(*_: object) -> Iterator[str]:
        yield "@relation half\n"
        raise KeyboardInterrupt

    def stopped(*_: object) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(mulan_module, fails, interrupted if fails == "arff_lines" else stopped)
    with pytest.raises(KeyboardInterrupt):
        write_mulan(dataset([[2.0]], [[0]]), tmp_path / "t.arff")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


UNWRITABLE = {
    "no labels": (Schema([Feature("a")], []), "a Mulan file needs at least one label"),
    "control character": (
        Schema([Feature("a")], ["x\x01y"]),
        r"label 'x\\x01y' has the character '\\x01', which an XML file cannot hold: rename it",
    ),
    "no character": (Schema([Feature("a")], ["\ufffe"]), "which an XML file cannot hold"),
}


@pytest.mark.parametrize("case", UNWRITABLE)
def test_what_files_cannot_hold_is_refused_before_anything_is_written(
    case: str, tmp_path: Path
) -> None:
    schema, message = UNWRITABLE[case]
    data = Dataset(schema, np.zeros((1, 1)), np.zeros((1, schema.n_labels), dtype=np.int8))
    with pytest.raises(DataError, match=message):
        write_mulan(data, tmp_path / "t.arff")
    assert list(tmp_path.iterdir()) == []


def test_a_cell_without_category_cannot_be_written(tmp_path: Path) -> None:
    schema = Schema([Feature("a", ())], ["l"])
    data = Dataset(schema, sparse.csc_array((1, 1)), [[1]])
    with pytest.raises(DataError, match="feature 'a' has no categories but cells"):
        write_mulan(data, tmp_path / "t.arff")


def test_one_name_for_two_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="need two names"):
        write_mulan(dataset([[1.0]], [[1]]), tmp_path / "t.xml", tmp_path / "t.xml")


@pytest.mark.parametrize("target", ["missing/t.arff", "folder"])
def test_where_nothing_can_be_written(target: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(FileError, match="cannot write: "):
        write_mulan(dataset([[1.0]], [[1]]), tmp_path / target)
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def test_what_is_given_is_not_changed() -> None:
    data = HARD
    before = data.X.tobytes(), data.Y.tobytes()
    with TemporaryDirectory() as folder:
        write_mulan(data, Path(folder, "t.arff"))
    assert (data.X.tobytes(), data.Y.tobytes()) == before


def test_real_data_there_and_back(data_folder: Path, tmp_path: Path) -> None:
    for name in ("flags", "birds", "medical"):
        data = read_mulan(data_folder / f"{name}-test.arff.gz")
        write_mulan(data, tmp_path / "copy.arff.gz")
        assert read_mulan(tmp_path / "copy.arff.gz") == data
