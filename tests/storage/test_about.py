"""Models and their files say how they came about."""

import json
import logging
import pickle
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from extras import pd
from labelrules import (
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    Dataset,
    LabelPowerset,
    LazyAssociativeClassifier,
    Ripper,
    Scorecard,
    SeparateAndConquer,
    __version__,
    about,
    from_json,
    load,
    load_model,
    parse,
    save,
    to_json,
)
from labelrules.data import DataError, Feature, Schema, fingerprint, fingerprints
from labelrules.data.document import builtins_of, schema_record
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import About
from labelrules.storage.records import AboutRecord

READERS = load("magazines")
THEORY = parse("quality <- sex = Male", READERS.schema)

LEARNERS = [
    SeparateAndConquer(),
    Scorecard(),
    BinaryRelevance(Ripper()),
    ClassifierChain(n_chains=2),
    LabelPowerset(),
    ConstrainedClassifier(),
    LazyAssociativeClassifier(),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_learner_keeps_how_it_came_about(learner):
    before = datetime.now(UTC) - timedelta(seconds=1)
    model = clone(learner).fit(READERS)
    found = about(model)
    assert found is model.about_
    assert found.version == __version__
    assert before <= found.learned <= datetime.now(UTC)
    assert found.data == fingerprint(READERS)
    assert found.data_name == "magazines"
    assert (found.n_rows, found.n_features, found.n_labels) == (14, 4, 4)
    assert 0 < found.seconds < 600
    assert 0 < found.cpu_seconds < 600
    assert found.peak_memory > 2**20
    parts = [part for part in vars(model).values() if isinstance(part, TableClassifier)]
    assert not any(hasattr(part, "about_") for part in parts)


def test_files_keep_it(tmp_path):
    model, path = SeparateAndConquer().fit(READERS), tmp_path / "model.json"
    save(model, path, author="Ada", notes="for the\nreaders")
    again = load_model(path)
    assert again.about_ == about(path) == model.about_.signed("Ada", "for the\nreaders")
    assert not model.about_.author
    save(again, path, notes="second")
    assert (about(path).author, about(path).notes) == ("Ada", "second")
    assert about(str(path)) == about(path)
    assert pickle.loads(pickle.dumps(again)).about_ == again.about_


def test_files_without_it_are_equal_for_equal_models(tmp_path):
    one, other = (SeparateAndConquer().fit(READERS) for _ in range(2))
    assert one.about_.data == other.about_.data
    assert to_json(one, about=False) == to_json(other, about=False)
    save(one, tmp_path / "model.json", about=False)
    assert not hasattr(load_model(tmp_path / "model.json"), "about_")
    with pytest.raises(DataError, match=r"model\.json: nothing is known of how it came about"):
        about(tmp_path / "model.json")
    with pytest.raises(ValueError, match="author and notes are part of what about=False leaves"):
        to_json(one, author="Ada", about=False)


def test_theories_can_be_signed(tmp_path):
    assert "about" not in json.loads(to_json(THEORY))
    save(THEORY, tmp_path / "rules.json", author="Ada")
    assert load_model(tmp_path / "rules.json") == THEORY
    assert about(tmp_path / "rules.json") == About(version=__version__, author="Ada")
    assert from_json(to_json(THEORY, notes="by hand")) == THEORY


def test_it_is_written_for_people():
    found = About(
        version="0.1.0",
        learned=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        data="0123456789abcdef" * 2,
        data_name="magazines",
        n_rows=14,
        n_features=1,
        n_labels=4,
        seconds=0.01234,
        cpu_seconds=2.5,
        peak_memory=300 * 2**20,
        author="Ada",
        notes="two\nlines",
    )
    assert str(found) == (
        "labelrules  0.1.0\n"
        "learned     2026-01-02 03:04:05 UTC\n"
        "data        magazines: 14 rows, 1 feature, 4 labels\n"
        "fingerprint 0123456789abcdef0123456789abcdef\n"
        "time        0.0123 s, 2.5 s of processor time\n"
        "memory      300 MiB at most\n"
        "author      Ada\n"
        "notes       two\n"
        "            lines"
    )
    assert str(About(version="0.1.0")) == "labelrules  0.1.0"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("learned", "yesterday", r"\$\.about\.learned: "),
        ("learned", "2026-13-41T99:00:00Z", r"\$\.about\.learned: there is no time 2026-13-41"),
        ("data", "no hash", r"\$\.about\.data: "),
        ("n_rows", -1, r"\$\.about\.n_rows: "),
        ("seconds", -0.5, r"\$\.about\.seconds: "),
        ("author", 3, r"\$\.about\.author: "),
        ("mood", "good", r"\$\.about: "),
    ],
)
def test_wrong_fields(field, value, message, tmp_path):
    document = json.loads(to_json(SeparateAndConquer().fit(READERS)))
    document["about"][field] = value
    with pytest.raises(DataError, match=message):
        from_json(document)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        about(path)


def test_wrong_calls():
    with pytest.raises(TypeError, match="a fitted learner or the path of a file, not 3"):
        about(3)
    with pytest.raises(TypeError, match="author must be text, not int"):
        to_json(THEORY, author=3)
    model = SeparateAndConquer().fit(READERS)
    del model.about_
    with pytest.raises(DataError, match="this SeparateAndConquer: nothing is known"):
        about(model)


def test_the_record_has_the_fields_of_the_value():
    assert AboutRecord.__struct_fields__ == tuple(About.__dataclass_fields__)


# ---------------------------------------------------------------- fingerprints


def test_fingerprints_do_not_depend_on_storage():
    frame = pd.DataFrame({"a": [0.0, -0.0, 1.5, np.nan], "b": [0, 3, 0, 1]})
    Y = [[0, 1], [1, 1], [0, 0], [1, 0]]
    models = [
        SeparateAndConquer().fit(frame, Y),
        SeparateAndConquer().fit(
            frame.astype({"b": "int8"}), pd.DataFrame(Y, columns=["y0", "y1"])
        ),
    ]
    assert len({model.about_.data for model in models}) == 1
    X = frame.to_numpy()
    sparse_model = SeparateAndConquer().fit(sparse.csr_array(X), Y)
    assert sparse_model.about_.data == SeparateAndConquer().fit(X, Y).about_.data
    other = X.copy()
    other.view(np.uint64)[3, 0] += 1
    assert np.isnan(other[3, 0])
    assert SeparateAndConquer().fit(other, Y).about_.data == sparse_model.about_.data


def test_tables_are_read_in_pieces(monkeypatch):
    expected = fingerprint(READERS)
    for piece in (1, 5, 14, 30, 1 << 14):
        monkeypatch.setattr(fingerprints, "STRETCH", piece)
        for X in (READERS.X, sparse.csc_array(READERS.X)):  # anew, as fingerprints are kept
            assert fingerprint(Dataset(READERS.schema, X, READERS.Y, "another name")) == expected


def test_schemas_are_hashed_as_documents_write_them():
    features = [
        Feature("a"), Feature('ü "b"', ("x", "y")), Feature("c", ("low", "high"), "ordered"),
        Feature("d", kind="date"),
    ]  # fmt: skip
    schema = Schema(features, ["e", "f"], [None, "e"])
    document = json.dumps(builtins_of(schema_record(schema)))
    assert fingerprints._schema_text(schema) == document
    counted = Schema([Feature("a", kind="amount"), *features[1:]], schema.labels, schema.parents)
    assert fingerprints._schema_text(counted) == document


def test_cells_are_mixed_with_their_rows_one_by_one():
    """The numbers of SplitMix64, in whole numbers of Python."""

    def mixed(word):
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            word = (word ^ word >> shift) * factor % 2**64
        return word ^ word >> 31

    step = 0x9E3779B97F4A7C15
    assert mixed(step) == 0xE220A8397B1DCDAF  # the first number from the seed 0
    X = np.random.default_rng(0).normal(size=(7, 3))
    X[2, 1], X[4, 0], X[5, 2] = 0.0, -0.0, np.nan
    expected = []
    for column in X.T:
        steps = [row * step % 2**64 for row in range(1, 8)]
        words = np.where(column == 0, 0.0, column).view(np.uint64).tolist()
        cells = zip(words, steps, strict=True)
        expected.append(sum(mixed((word + one) % 2**64) - mixed(one) for word, one in cells))
    assert fingerprints.column_sums(X).tolist() == [total % 2**64 for total in expected]


def test_fingerprints_of_earlier_versions_are_read():
    known = About(version="0.1", data="0123456789abcdef0123456789abcdef")
    model = SeparateAndConquer().fit(READERS)
    model.about_ = known
    assert about(from_json(to_json(model))).data == known.data


def test_everything_else_counts():
    X, Y = np.array(READERS.X), np.array(READERS.Y)
    found = {fingerprint(READERS)}
    Y[3, 1] = -1
    found.add(fingerprint(Dataset(READERS.schema, X, Y)))
    X[3, 1] = np.nan
    found.add(fingerprint(Dataset(READERS.schema, X, Y)))
    found.add(fingerprint(Dataset(READERS.schema, X, Y, weights=np.ones(14) * 2)))
    found.add(fingerprint(Dataset(READERS.schema, X, Y, weights=np.ones((14, 4)) * 2)))
    found.add(fingerprint(READERS.take(range(14)[::-1])))
    found.add(fingerprint(READERS.without(["sports"])))
    assert len(found) == 7


# ---------------------------------------------------------------- the logger


def test_the_start_and_the_end_of_fit_are_logged(caplog):
    with caplog.at_level(logging.INFO, logger="labelrules"):
        BinaryRelevance(Ripper()).fit(READERS)
    start, end = (record.getMessage() for record in caplog.records)
    assert start == "BinaryRelevance: learning from 14 rows, 4 features, 4 labels"
    assert end.startswith("BinaryRelevance: learned ")
    assert {record.name for record in caplog.records} == {"labelrules"}


def test_nothing_is_said_unless_asked(capsys):
    SeparateAndConquer().fit(READERS)
    assert capsys.readouterr() == ("", "")
    handlers = logging.getLogger("labelrules").handlers
    assert any(isinstance(handler, logging.NullHandler) for handler in handlers)
