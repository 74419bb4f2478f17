"""The embedded example with known rules behind it."""

import re
from importlib.resources import files

import numpy as np
import pytest

from labelrules import UNSET, Dataset, load, parse, theory_text
from labelrules.data import write_csv
from labelrules.rules import clinic_data, clinic_notes, clinic_truth
from labelrules.rules.invented_data import SCHEMA, WORDS, _complete_features

CLINIC = load("clinic")
EMBEDDED = files("labelrules.data").joinpath("embedded")


@pytest.fixture(scope="module")
def complete():
    """The patients as the rules saw them, with the labels that they gave."""
    X = _complete_features()
    nothing = np.zeros((len(X), SCHEMA.n_labels), dtype=np.int8)
    labels = clinic_truth().predict(Dataset(SCHEMA, X, nothing))
    return Dataset(SCHEMA, X, labels)


@pytest.mark.parametrize("name", ["clinic.csv", "clinic.csv.schema.json"])
def test_the_generator_makes_the_file_byte_for_byte(name, tmp_path):
    write_csv(clinic_data(), tmp_path / "clinic.csv")
    assert (tmp_path / name).read_bytes() == EMBEDDED.joinpath(name).read_bytes()


def test_the_file_is_read_as_it_was_drawn():
    assert clinic_data() == CLINIC
    assert CLINIC.name == "clinic"
    assert CLINIC.n_rows == 1000


def test_every_kind_of_column_is_there():
    kinds = {feature.kind for feature in CLINIC.schema.features}
    assert kinds == {"numeric", "nominal", "ordered", "date", "duration"}
    assert len(CLINIC.schema.labels) == 10


def test_the_rules_are_printed_and_read_back():
    truth = clinic_truth()
    assert parse(theory_text(truth), SCHEMA) == truth
    text = EMBEDDED.joinpath("clinic.rules").read_text("utf-8")
    assert theory_text(truth) == text.split("\n", 1)[1].strip()


def test_every_true_rule_decides_some_patients(complete):
    found = clinic_truth().with_evidence(complete, complete.Y)
    for rule in found:
        (evidence,) = rule.evidence
        assert evidence.right >= 5, rule
        assert evidence.wrong == 0


def test_dependencies_hold_before_the_noise(complete):
    has = {name: complete.Y[:, i] == 1 for i, name in enumerate(SCHEMA.labels)}
    assert not (has["pneumonia"] & has["bronchitis"]).any()
    assert (has["pneumonia"] <= has["infection"]).all()
    assert (has["flu"] <= has["infection"]).all()
    assert (has["neuropathy"] <= has["diabetes"]).all()
    assert (has["heart_failure"] <= has["hypertension"]).all()


def test_some_labels_are_flipped_and_some_unknown(complete):
    is_unknown = CLINIC.Y == UNSET
    shares = dict(zip(SCHEMA.labels, is_unknown.mean(axis=0).tolist(), strict=True))
    assert shares.pop("neuropathy") == pytest.approx(0.35, abs=0.04)
    assert all(share == pytest.approx(0.03, abs=0.015) for share in shares.values())
    flipped = (CLINIC.Y != complete.Y)[~is_unknown].mean()
    assert flipped == pytest.approx(0.012, abs=0.003)


def test_only_gaps_differ_from_what_the_rules_saw(complete):
    gaps = np.isnan(CLINIC.X)
    assert (CLINIC.X == complete.X)[~gaps].all()
    assert not np.isnan(complete.X).any()
    columns = {
        name for name, any_ in zip(SCHEMA.feature_names, gaps.any(axis=0), strict=True) if any_
    }
    assert columns == {"smoker", "ill_for", "temperature", "oxygen", "crp", "glucose"}


def test_crp_is_seldom_measured_without_a_reason(complete):
    seems_well = (complete.column("temperature") <= 37.5) & (complete.column("age") < 50)
    is_missing = np.isnan(CLINIC.column("crp"))
    assert is_missing[seems_well].mean() > 0.7
    assert is_missing[~seems_well].mean() < 0.1


def test_the_columns_of_words_are_the_words_of_the_notes():
    notes = clinic_notes()
    assert len(set(notes)) > 300
    for word in WORDS:
        in_notes = [bool(re.search(rf"\b{word}\b", note)) for note in notes]
        assert in_notes == (CLINIC.column(word) == 1).tolist()
