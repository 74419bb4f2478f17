"""Data sets by name."""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request

import numpy as np
import pytest

from labelrules.data import DataError, Feature, FileError, catalog, fetch, load

READERS = """
 1 Primary    Single   Male   No  | 0000
 2 Primary    Single   Male   Yes | 0000
 3 Primary    Married  Male   No  | 0100
 4 University Divorced Female No  | 1010
 5 University Married  Female Yes | 1010
 6 Secondary  Single   Male   No  | 0100
 7 University Single   Male   No  | 1100
 8 Secondary  Divorced Female No  | 1001
 9 Secondary  Single   Female Yes | 0110
10 Secondary  Married  Male   Yes | 1100
11 Primary    Married  Female No  | 0000
12 Secondary  Divorced Male   Yes | 0000
13 University Divorced Male   Yes | 1100
14 Secondary  Divorced Male   No  | 1001
"""
"""The chapter's table of fourteen readers and the magazines they subscribe to."""

ARFF = "@relation r\n@attribute f numeric\n@attribute l {0,1}\n@data\n"
XML = '<labels><label name="l"/></labels>'


def test_the_magazines_are_those_of_the_chapter() -> None:
    data = load("magazines")
    assert data.name == "magazines"
    assert data.schema.features == (
        Feature("education", ("Primary", "Secondary", "University")),
        Feature("marital", ("Single", "Married", "Divorced")),
        Feature("sex", ("Male", "Female")),
        Feature("children", ("No", "Yes")),
    )
    assert data.schema.labels == ("quality", "tabloid", "fashion", "sports")
    lines = [line.split() for line in READERS.strip().splitlines()]
    for row, (_, *values, _, labels) in enumerate(lines):
        pairs = zip(data.schema.features, data.X[row], strict=True)
        assert [f.categories[int(code)] for f, code in pairs] == values
        assert "".join(map(str, data.Y[row])) == labels


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "whole.arff").write_text(ARFF + "1,0\n2,1\n")
    (tmp_path / "whole.xml").write_text(XML)
    (tmp_path / "split-train.arff").write_text(ARFF + "1,0\n")
    (tmp_path / "split-test.arff").write_text(ARFF + "2,1\n")
    (tmp_path / "split.xml").write_text(XML)
    (tmp_path / "half-train.arff").write_text(ARFF + "1,0\n")
    (tmp_path / "half.xml").write_text(XML)
    return tmp_path


def test_files_are_loaded_whole_or_in_parts(folder: Path) -> None:
    whole = load("whole", folder)
    assert (whole.name, whole.X.tolist(), whole.Y.tolist()) == ("whole", [[1], [2]], [[0], [1]])
    both = load("split", folder)
    assert both == whole
    assert both.name == "split"
    assert load("split", folder, part="train") == whole.take([0])
    assert load("split", folder, part="test") == whole.take([1])
    assert load("split", folder, part="test").name == "split-test"


def test_the_folder_may_come_from_the_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LABELRULES_DATA", str(folder))
    assert load("whole") == load("whole", folder)


@pytest.mark.parametrize(
    ("name", "part", "message"),
    [
        ("wole", None, "has no data set 'wole'; did you mean 'whole'?; it has half, split, whole"),
        ("whole", "train", "whole is not divided into parts"),
        ("half", None, "half-test.arff is not there"),
        ("half", "test", "half-test.arff is not there"),
        ("../whole", None, "has no data set '../whole'"),
        ("magazines", "test", "magazines is not divided into parts"),
        ("whole", "both", "part must be 'train', 'test' or None for all rows, not 'both'"),
    ],
)
def test_what_is_not_there_is_said(folder: Path, name: str, part: str | None, message: str) -> None:
    with pytest.raises(DataError) as caught:
        load(name, folder, part=part)
    assert message in str(caught.value)


def test_without_a_folder_the_ways_to_one_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABELRULES_DATA", raising=False)
    with pytest.raises(DataError, match=r"Set the environment variable LABELRULES_DATA.*fetch\(\)"):
        load("emotions")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="this folder does not exist"):
        load("emotions", tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"it has no \.arff file at all"):
        load("emotions", tmp_path)


# --- OpenML -----------------------------------------------------------------------------

OPENML_ARFF = b"""@relation emotions
@attribute f numeric
@attribute n {0,1}
@attribute happy {FALSE,TRUE}
@attribute sad {FALSE,TRUE}
@data
0.5,0,FALSE,TRUE
1.5,1,TRUE,TRUE
"""


def openml_feature(index: int, name: str, kind: str, target: bool) -> dict[str, object]:
    return {
        "index": str(index),
        "name": name,
        "description": "",
        "data_type": kind,
        "is_target": str(target).lower(),
        "is_ignore": "false",
        "is_row_identifier": "false",
        "number_of_missing_values": "0",
    }


def openml_answers(name: str, arff: bytes) -> dict[str, bytes]:
    """What openml.org answers to the four questions that scikit-learn asks."""
    description = {
        "id": "40589",
        "name": name,
        "description": "",
        "version": "3",
        "format": "ARFF",
        "status": "active",
        "file_id": "1",
        "url": "https://www.openml.org/data/v1/download/1/emotions.arff",
        "default_target_attribute": "happy,sad",
        "md5_checksum": hashlib.md5(arff).hexdigest(),
    }
    columns = [
        openml_feature(0, "f", "numeric", False),
        openml_feature(1, "n", "nominal", False),
        openml_feature(2, "happy", "nominal", True),
        openml_feature(3, "sad", "nominal", True),
    ]
    qualities = [{"name": "NumberOfInstances", "value": "2"}]
    return {
        "json/data/40589": json.dumps({"data_set_description": description}).encode(),
        "json/data/features/40589": json.dumps({"data_features": {"feature": columns}}).encode(),
        "json/data/qualities/40589": json.dumps(
            {"data_qualities": {"quality": qualities}}
        ).encode(),
        "emotions.arff": arff,
    }


class Answer(io.BytesIO):
    def info(self) -> dict[str, str]:
        return {}


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[str, bytes], None]:
    """Let scikit-learn talk to an openml.org that has one data set."""

    def serve(name: str, arff: bytes) -> None:
        answers = openml_answers(name, arff)

        def urlopen(request: Request) -> Answer:
            return Answer(next(a for end, a in answers.items() if request.full_url.endswith(end)))

        monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
        monkeypatch.setattr("sklearn.datasets._openml.urlopen", urlopen)

    return serve


def test_fetch_makes_a_data_set_of_what_openml_sends(openml: Callable[[str, bytes], None]) -> None:
    """The pandas parser of scikit-learn 1.9 fails on labels that are TRUE and FALSE."""
    openml("emotions", OPENML_ARFF)
    data = fetch("emotions")
    assert data.name == "emotions"
    assert data.schema.features == (Feature("f"), Feature("n", ("0", "1")))
    assert data.schema.labels == ("happy", "sad")
    np.testing.assert_array_equal(data.X, [[0.5, 0], [1.5, 1]])
    np.testing.assert_array_equal(data.Y, [[0, 1], [1, 1]])


def test_fetched_data_are_kept(
    openml: Callable[[str, bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    openml("emotions", OPENML_ARFF)
    first = fetch("emotions")
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", no_network)
    assert fetch("emotions") == first


def test_fetch_refuses_labels_it_does_not_understand(openml: Callable[[str, bytes], None]) -> None:
    words = OPENML_ARFF.replace(b"FALSE", b"maybe")
    openml("emotions", words)
    with pytest.raises(DataError, match=r"label 'happy' from openml\.org is 'maybe'"):
        fetch("emotions")


def test_fetch_refuses_another_data_set_than_asked_for(
    openml: Callable[[str, bytes], None],
) -> None:
    openml("iris", OPENML_ARFF)
    with pytest.raises(DataError, match=r"openml\.org has 'iris' as number 40589, not emotions"):
        fetch("emotions")


def no_network(*_: object, **__: object) -> Answer:
    raise URLError("no route to host")


@pytest.mark.parametrize("name", sorted(catalog.OPENML))
def test_fetch_offline_says_so(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The whole way through scikit-learn, up to the socket."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", no_network)
    monkeypatch.setattr("time.sleep", lambda _: None)
    with pytest.raises(DataError, match=f"{name} could not be fetched.*no route to host"):
        fetch(name)


def test_fetch_of_an_unknown_name_suggests_one() -> None:
    with pytest.raises(DataError, match=r"no data set 'yeats'; did you mean 'yeast'\?"):
        fetch("yeats")


def test_fetch_without_pandas_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "labelrules\[pandas\]"'):
        fetch("emotions")
