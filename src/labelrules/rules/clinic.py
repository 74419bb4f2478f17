"""The clinic: a thousand invented patients, and the rules that gave them their diagnoses.

The patients are drawn in whole numbers from `random.Random.random`, the one generator of Python
that is promised to stay as it is, so that every platform draws the same ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from random import Random

import numpy as np

from labelrules._types import UNSET, Board, Floats
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset
from labelrules.data.times import read_time
from labelrules.rules.language.theory_parser import parse
from labelrules.rules.theory import DecisionList

N_PATIENTS = 1000

WORDS = (
    "cough", "aches", "itching", "sneezing", "breathless",
    "thirst", "numbness", "vomiting", "dizzy", "tired",
)  # fmt: skip
"""The words of the notes that are features."""

SCHEMA = Schema(
    [
        Feature("age"),
        Feature("sex", ("Female", "Male")),
        Feature("region", ("North", "East", "South", "West")),
        Feature("smoker", ("never", "former", "daily"), "ordered"),
        Feature("admission", kind="date"),
        Feature("ill_for", kind="duration"),
        Feature("temperature"),
        Feature("pressure"),
        Feature("heart_rate"),
        Feature("oxygen"),
        Feature("crp"),
        Feature("glucose"),
        *(Feature(word, ("0", "1")) for word in WORDS),
    ],
    [
        "hay_fever", "pneumonia", "flu", "infection", "bronchitis",
        "dehydration", "hypertension", "heart_failure", "diabetes", "neuropathy",
    ],
)  # fmt: skip

_FEATURES, _GAPS, _FLIPS, _UNKNOWN, _NOTES = range(2024, 2029)  # seeds
_FLIPPED = 12  # of 1000 labels
_UNTOLD = 30  # of 1000 labels, and of neuropathy, for which few are tested, more
_UNTESTED = 350
_AT_RANDOM = {"smoker": 80, "ill_for": 100, "temperature": 40, "oxygen": 60, "glucose": 120}
"""Of 1000 values so many are missing, whatever the patient is like."""

_FIRST_DAY, _DAYS = read_time("2024-01-01", "date") or 0, 366
_HOUR = read_time("1 h", "duration") or 0

_OPENINGS = ("Reports", "Complains of", "Comes with", "Again", "Since the weekend", "Mainly")
_ENDINGS = ("", ", worse at night", ", no known allergies", ", sent by the family doctor")


@dataclass(frozen=True)
class _Complaint:
    """Why a patient comes: how often, by quarters of the year, and what differs from others."""

    name: str
    quarters: tuple[int, int, int, int]
    words: Mapping[str, int]
    temperature: int = 368
    oxygen: int = 97
    crp: int = 8
    pressure: int = 0
    glucose: int = 0
    age: int = 45


_COMPLAINTS = (
    _Complaint("chest", (24, 18, 16, 22), {"cough": 85, "breathless": 30, "tired": 30},
               temperature=381, oxygen=93, crp=75),
    _Complaint("fever", (24, 10, 8, 28), {"aches": 75, "cough": 35, "tired": 50, "sneezing": 20},
               temperature=388, oxygen=95, crp=35, age=40),
    _Complaint("nose", (10, 34, 16, 8), {"itching": 70, "sneezing": 75, "cough": 15},
               age=32),
    _Complaint("heart", (16, 16, 18, 16), {"breathless": 65, "dizzy": 45, "tired": 30},
               pressure=27, oxygen=95, age=68),
    _Complaint("sugar", (16, 16, 18, 16), {"thirst": 60, "numbness": 55, "tired": 40},
               pressure=10, glucose=50, age=58),
    _Complaint("stomach", (16, 16, 26, 18), {"vomiting": 85, "dizzy": 35, "thirst": 25},
               temperature=372, crp=20, pressure=-8),
)  # fmt: skip


class _Chance:
    """Whole numbers by chance."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed).random

    def below(self, end: int) -> int:
        """One of 0, 1, ..., end - 1, all equally likely."""
        return int(self._random() * end)

    def about(self, middle: int, spread: int) -> int:
        """A number near the middle: at most three times the spread away, and mostly much less."""
        return middle + sum(self.below(2 * spread + 1) - spread for _ in range(3))

    def of_thousand(self, share: int) -> bool:
        """True in so many of 1000 cases."""
        return self.below(1000) < share

    def weighted(self, weights: tuple[int, ...]) -> int:
        """A position, by its weight."""
        left = self.below(sum(weights))
        position = 0
        while left >= weights[position]:
            left -= weights[position]
            position += 1
        return position


def clinic_truth() -> DecisionList:
    """The rules behind ``load("clinic")``.

    They gave the patients their diagnoses before some values were removed, some labels flipped and
    some hidden. Nothing in them is medical knowledge.

    Examples
    --------
    >>> print(clinic_truth()[:2])
    hay_fever <- "itching", admission > 2024-03-20, admission <= 2024-07-10
    pneumonia <- "cough", crp > 80
    """
    text = files("labelrules.data").joinpath("embedded", "clinic.rules").read_text("utf-8")
    theory = parse(text, SCHEMA)
    assert isinstance(theory, DecisionList), "the file has one list"
    return theory


def clinic_data() -> Dataset:
    """Draw the patients of ``load("clinic")``, which reads a file of them.

    Each patient comes for one of six complaints, some of which have their season. It decides what
    is usual: the words of the note, temperature, oxygen and so on. `clinic_truth` then gives the
    diagnoses; 1.2 % of these are flipped. Values are missing at random, and C-reactive protein
    (crp) is seldom measured in patients below 50 without a raised temperature. 3 % of the
    labels are unknown, and of neuropathy, for which few are tested, 35 %.

    Examples
    --------
    >>> from labelrules.data import load
    >>> clinic_data() == load("clinic")
    True
    """
    X = _complete_features()
    without_labels = np.zeros((N_PATIENTS, SCHEMA.n_labels), dtype=np.int8)
    Y = _with_errors(clinic_truth().predict(Dataset(SCHEMA, X.copy(), without_labels)))
    _remove_values(X)
    return Dataset(SCHEMA, X, Y, "clinic")


def clinic_notes() -> list[str]:
    """The notes of the patients of ``load("clinic")``, from which its columns of words are made.

    Examples
    --------
    >>> for note in clinic_notes()[1:3]:
    ...     print(note)
    Comes with vomiting, tired, thirst, sent by the family doctor.
    Complains of thirst, numbness, no known allergies.
    """
    chance = _Chance(_NOTES)
    first = SCHEMA.feature_index[WORDS[0]]
    return [_note(chance, row[first:]) for row in _complete_features()]


def _note(chance: _Chance, row: Floats) -> str:
    words = [word for word, is_there in zip(WORDS, row.tolist(), strict=True) if is_there]
    opening = _OPENINGS[chance.below(len(_OPENINGS))]
    ending = _ENDINGS[chance.below(len(_ENDINGS))]
    start = chance.below(len(words)) if words else 0
    listed = ", ".join(words[start:] + words[:start]) or "nothing in particular"
    return f"{opening} {listed}{ending}."


def _complete_features() -> Floats:
    """The features without gaps."""
    chance = _Chance(_FEATURES)
    X = np.empty((N_PATIENTS, SCHEMA.n_features), order="F")
    for row in range(N_PATIENTS):
        patient = _patient(chance)
        X[row] = [patient[name] for name in SCHEMA.feature_names]
    return X


def _patient(chance: _Chance) -> dict[str, float]:
    day = chance.below(_DAYS)
    quarter = day * 4 // _DAYS
    complaint = _COMPLAINTS[chance.weighted(tuple(c.quarters[quarter] for c in _COMPLAINTS))]
    age = min(max(chance.about(complaint.age, 16), 1), 97)
    temperature = chance.about(complaint.temperature, 6)
    values = {
        "age": age,
        "sex": chance.below(2),
        "region": chance.weighted((3, 2, 3, 2)),
        "smoker": chance.weighted((4, 3, 4)) if age > 15 else 0,
        "admission": _FIRST_DAY + day,
        "ill_for": 6 * _HOUR * (1 + chance.weighted(tuple(range(24, 4, -1)))),
        "temperature": temperature / 10,
        "pressure": chance.about(112 + age // 3 + complaint.pressure, 10),
        "heart_rate": chance.about(72 + max(temperature - 370, 0) // 2, 8),
        "oxygen": min(chance.about(complaint.oxygen, 2), 100),
        "crp": max(chance.about(complaint.crp, complaint.crp // 2 + 2), 1),
        "glucose": chance.about(95 + complaint.glucose, 12),
    }
    words = {w: chance.below(100) < complaint.words.get(w, 4) for w in WORDS}
    return {**values, **words}


def _remove_values(X: Floats) -> None:
    """Make gaps, in place: at random, and where nobody thought of measuring."""
    chance = _Chance(_GAPS)
    at = SCHEMA.feature_index
    for row in X:
        is_unsuspicious = row[at["temperature"]] <= 37.5 and row[at["age"]] < 50
        if chance.of_thousand(800 if is_unsuspicious else 50):
            row[at["crp"]] = np.nan
        for name, share in _AT_RANDOM.items():
            if chance.of_thousand(share):
                row[at[name]] = np.nan


def _with_errors(truth: Board) -> Board:
    """Flip some labels and hide some."""
    flips, unknown = _Chance(_FLIPS), _Chance(_UNKNOWN)
    untested = SCHEMA.label_index["neuropathy"]
    Y = truth.copy()
    for row in Y:
        for label in range(len(row)):
            if flips.of_thousand(_FLIPPED):
                row[label] = 1 - row[label]
            if unknown.of_thousand(_UNTESTED if label == untested else _UNTOLD):
                row[label] = UNSET
    return Y
