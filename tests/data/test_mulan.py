"""Mulan and MEKA files: which columns are labels, real data sets, there and back."""

import gzip
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import arff as liac
import numpy as np
import pytest
from hypothesis import assume, example, given
from scipy import sparse

import strategies
from labelrules.data import (
    DataError,
    Dataset,
    Feature,
    FileError,
    Schema,
    dataset,
    read_meka,
    read_mulan,
    write_mulan,
)
from labelrules.data import mulan as mulan_module

ARFF = """@relation r
@attribute x {0,1}
@attribute a numeric
@attribute y {0,1}
@data
1,5,0
0,6,1
"""
XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'
BOTH = XML.format('<label name="y"></label><label name="x"></label>')


def put(folder: Path, **files: str) -> None:
    """Write files; an underscore stands for the dot in their names."""
    for name, content in files.items():
        Path(folder, name.replace("_", ".")).write_text(content, encoding="utf-8")


# --- which columns are labels


def test_labels_are_matched_by_name_and_kept_in_the_order_of_their_columns(tmp_path: Path) -> None:
    put(tmp_path, r_arff=ARFF, r_xml=BOTH)
    data = read_mulan(tmp_path / "r.arff")
    assert data.schema == Schema([Feature("a")], ["x", "y"])
    assert data.Y.tolist() == [[1, 0], [0, 1]]
    assert data.name == "r"
    assert read_mulan(str(tmp_path / "r.arff"), name="other").name == "other"


def test_a_label_hierarchy(tmp_path: Path) -> None:
    xml = XML.format('<label name="y"><label name="x"/></label>')
    put(tmp_path, r_arff=ARFF, r_xml=xml)
    assert read_mulan(tmp_path / "r.arff").schema.parents == ("y", None)


@pytest.mark.parametrize(
    "xml",
    [
        '<?xml version="1.0" ?><labels><label name="x"> </label></labels>',
        '<m:labels xmlns:m="http://mulan.sourceforge.net/labels"><m:label name="x"/></m:labels>',
        '\ufeff<labels><!-- one --><label id="1" name="&#120;"/></labels>',
    ],
)
def test_ways_to_write_the_xml(xml: str, tmp_path: Path) -> None:
    put(tmp_path, r_arff=ARFF, r_xml=xml)
    assert read_mulan(tmp_path / "r.arff").schema.labels == ("x",)


def test_xml_states_its_own_encoding(tmp_path: Path) -> None:
    head = '<?xml version="1.0" encoding="iso-8859-1"?>'
    (tmp_path / "r.xml").write_bytes((head + XML.format('<label name="é"/>')).encode("latin-1"))
    put(tmp_path, r_arff=ARFF.replace("x", "é"))
    assert read_mulan(tmp_path / "r.arff").schema.labels == ("é",)


@pytest.mark.parametrize("part", ["-train", "-test", "-Train", ""])
@pytest.mark.parametrize("own", [True, False])
def test_the_xml_file_beside(part: str, own: bool, tmp_path: Path) -> None:
    (tmp_path / f"r{part}.arff.gz").write_bytes(gzip.compress(ARFF.encode()))
    xml = f"r{part}.xml" if own else "r.xml"
    (tmp_path / xml).write_text(BOTH)
    data = read_mulan(tmp_path / f"r{part}.arff.gz")
    assert data.schema.labels == ("x", "y")
    assert data.name == "r"


def test_an_xml_file_of_its_own_beats_that_of_the_pair(tmp_path: Path) -> None:
    put(tmp_path, **{"r-train_arff": ARFF, "r-train_xml": XML.format('<label name="x"/>')})
    put(tmp_path, r_xml=BOTH)
    assert read_mulan(tmp_path / "r-train.arff").schema.labels == ("x",)


def test_parts_are_joined_in_order(tmp_path: Path) -> None:
    put(tmp_path, r_xml=BOTH)
    # numeric, real and integer declare the same
    put(tmp_path, **{"r-train_arff": ARFF, "r-test_arff": ARFF.replace("numeric", "real")})
    data = read_mulan(
        [tmp_path / "r-test.arff", tmp_path / "r-train.arff", tmp_path / "r-test.arff"]
    )
    assert data.column("a").tolist() == [5, 6, 5, 6, 5, 6]
    assert data.name == "r"


def test_a_dense_and_a_sparse_part_make_sparse_data(tmp_path: Path) -> None:
    put(tmp_path, r_xml=BOTH, r_arff=ARFF, s_arff=ARFF.partition("@data")[0] + "@data\n{2 1}\n")
    data = read_mulan([tmp_path / "r.arff", tmp_path / "s.arff"])
    assert data.is_sparse
    assert data.column("a").tolist() == [5, 6, 0]
    assert data.Y.tolist() == [[1, 0], [0, 1], [0, 1]]


@pytest.mark.parametrize(
    ("relation", "labels"),
    [
        ("'r: -C 1'", ("x",)),
        ("'r: -C -1'", ("y",)),
        ('"r: -C 2"', ("x", "a")),
        ("'r: -T 391 -C -2 -split-number 5'", ("a", "y")),
        ("'-C 1'", ("x",)),
        ("r:-C 1", ("x",)),
        ("'r: -C 1 -I 0-weka.filters-R1_r: -C 1 -I 0'", ("x",)),
        ("'r: -C 3'", ("x", "a", "y")),
    ],
)
def test_meka(relation: str, labels: tuple[str, ...], tmp_path: Path) -> None:
    content = ARFF.replace("relation r", f"relation {relation}").replace("5", "0").replace("6", "1")
    path = tmp_path / "r.arff"
    path.write_text(content)
    data = read_meka(path)
    assert data.schema.labels == labels
    assert data.schema.n_features == 3 - len(labels)


def test_meka_joins_parts(tmp_path: Path) -> None:
    put(tmp_path, r_arff=ARFF.replace(" r", " 'r: -C 1'"), s_arff=ARFF.replace(" r", " 's: -C 1'"))
    assert read_meka([tmp_path / "r.arff", tmp_path / "s.arff"]).n_rows == 4


# --- real data sets

# instances, nominal, numeric, labels, cardinality
SETS = {
    "emotions": (593, 0, 72, 6, "1.868"),
    "scene": (2407, 0, 294, 6, "1.074"),
    "flags": (194, 9, 10, 7, "3.392"),
    "yeast": (2417, 0, 103, 14, "4.237"),
    "birds": (645, 2, 258, 19, "1.014"),
    "genbase": (662, 1186, 0, 27, "1.252"),
    "medical": (978, 1449, 0, 45, "1.245"),
    "enron": (1702, 1001, 0, 53, "3.378"),
    "CAL500": (502, 0, 68, 174, "26.044"),
    "bibtex": (7395, 1836, 0, 159, "2.402"),
    "tmc2007-500": (28596, 500, 0, 22, "2.158"),
    "delicious": (16105, 500, 0, 983, "19.020"),
    "ohsumed": (13929, 0, 1002, 23, "1.663"),
    "rcv1subset1": (6000, 0, 47236, 101, "2.880"),
    "imdb": (120919, 0, 1001, 28, "2.000"),
}


def files_of(folder: Path, name: str) -> list[Path]:
    parts = [folder / f"{name}-{part}.arff.gz" for part in ("train", "test")]
    return parts if parts[0].exists() else [folder / f"{name}.arff.gz"]


@pytest.mark.parametrize("name", SETS)
def test_real_data_sets(name: str, data_folder: Path) -> None:
    data = read_mulan(files_of(data_folder, name))
    n_nominal = sum(feature.is_nominal for feature in data.schema.features)
    n_numeric = data.schema.n_features - n_nominal
    cardinality = f"{data.Y.sum() / data.n_rows:.3f}"
    found = (data.n_rows, n_nominal, n_numeric, data.schema.n_labels, cardinality)
    assert found == SETS[name]
    assert data.name == name


def test_names_in_real_data(data_folder: Path) -> None:
    birds = read_mulan(data_folder / "birds-test.arff.gz")
    assert "Swainson's Thrush" in birds.schema.labels
    delicious = read_mulan(data_folder / "delicious-test.arff.gz")
    assert {r"TAG_dise\~no", r"TAG_m\'usica"} <= set(delicious.schema.labels)


def _liac_cells(path: Path, n_columns: int, is_sparse: bool) -> Any:
    """The same file by another reader: a table with categories as their numbers."""
    kind = liac.LOD if is_sparse else liac.DENSE
    with gzip.open(path, "rt", encoding="utf-8") as file:
        read = liac.load(file, encode_nominal=True, return_type=kind)
    if not is_sparse:
        return read["attributes"], np.array(read["data"], dtype=float)
    table = np.zeros((len(read["data"]), n_columns))
    for row, cells in zip(table, read["data"], strict=True):
        row[list(cells)] = list(cells.values())
    return read["attributes"], table


@pytest.mark.parametrize("name", ["flags", "birds", "genbase", "medical", "enron", "emotions"])
def test_another_reader_finds_the_same_cells(name: str, data_folder: Path) -> None:
    path = data_folder / f"{name}-test.arff.gz"
    data = read_mulan(path)
    schema = data.schema
    attributes, table = _liac_cells(path, schema.n_features + schema.n_labels, data.is_sparse)
    # where a label's name is escaped, liac-arff keeps the backslash
    names = [name.replace("\\'", "'") for name, _ in attributes]
    for feature in schema.feature_names:
        assert np.array_equal(data.column(feature), table[:, names.index(feature)])
    for label, column in zip(schema.labels, data.Y.T, strict=True):
        assert np.array_equal(column, table[:, names.index(label)])


def test_real_data_there_and_back(data_folder: Path, tmp_path: Path) -> None:
    for name in ("flags", "birds", "medical"):
        data = read_mulan(data_folder / f"{name}-test.arff.gz")
        write_mulan(data, tmp_path / "copy.arff.gz")
        assert read_mulan(tmp_path / "copy.arff.gz") == data


# --- there and back


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


@given(strategies.datasets())
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
    "no labels": (Schema([Feature("a")], []), "", "a Mulan file needs at least one label"),
    "control character": (
        Schema([Feature("a")], ["x\x01y"]),
        "",
        r"label 'x\\x01y' has the character '\\x01', which an XML file cannot hold: rename it",
    ),
    "no character": (Schema([Feature("a")], ["\ufffe"]), "", "which an XML file cannot hold"),
    "half a pair in a label": (
        Schema([Feature("a")], ["\ud800"]),
        "",
        r"the name of label '\\ud800' has the character '\\ud800', half of a pair",
    ),
    "half a pair in a feature": (
        Schema([Feature("a\udfff")], ["l"]),
        "",
        r"the name of feature 'a\\udfff' has the character '\\udfff', half of a pair",
    ),
    "half a pair in a category": (
        Schema([Feature("a", ("x", "\udc00"))], ["l"]),
        "",
        r"feature 'a': category '\\udc00' has the character '\\udc00', half of a pair",
    ),
    "half a pair in the name": (
        Schema([Feature("a")], ["l"]),
        "\ud800",
        r"the data set's name '\\ud800' has the character",
    ),
}


@pytest.mark.parametrize("case", UNWRITABLE)
def test_what_files_cannot_hold_is_refused_before_anything_is_written(
    case: str, tmp_path: Path
) -> None:
    schema, name, message = UNWRITABLE[case]
    data = Dataset(schema, np.zeros((1, 1)), np.zeros((1, schema.n_labels), dtype=np.int8), name)
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
