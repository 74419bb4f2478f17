"""Mulan and MEKA files: which columns are labels, and real data sets."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from extras import arff as liac
from labelrules.data import Feature, Schema, read_meka, read_mulan

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
        ("r: -C 1 % -C 2", ("x",)),
        ("r%x: -C 1\t% -C 2", ("x",)),
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


@pytest.mark.parametrize(
    ("rows", "board"),
    [
        (["?,1,0", "1,2,?", "1,3,1"], [[-1, 0], [1, -1], [1, 1]]),
        (["{0 ?}", "{1 3,2 1}", "{0 1,2 ?}"], [[-1, 0], [0, 1], [1, -1]]),
        (["'1',1,?", "{2 ?}", "? , 1, 0"], [[1, -1], [0, -1], [-1, 0]]),
    ],
)
@pytest.mark.parametrize("kind", ["{0,1}", "numeric", "{1,0}"])
def test_a_question_mark_is_an_unknown_label(
    rows: list[str], board: list[list[int]], kind: str, tmp_path: Path
) -> None:
    declared = [f"@attribute x {kind}", "@attribute a numeric", "@attribute y {0,1}"]
    text = "\n".join(["@relation 'r: -C 1'", *declared, "@data", *rows])
    (tmp_path / "t.arff").write_text(text)
    (tmp_path / "t.xml").write_text('<labels><label name="x"/><label name="y"/></labels>')
    found = read_mulan(tmp_path / "t.arff").Y.tolist()
    if kind == "{1,0}":  # what a sparse row does not list is the first category
        listed = [not row.startswith("{") or "0 " in row.replace("{", " ") for row in rows]
        board = [
            [x if is_listed else 1, y] for (x, y), is_listed in zip(board, listed, strict=True)
        ]
    assert found == board
