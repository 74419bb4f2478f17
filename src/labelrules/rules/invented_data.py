"""Invented data, and the rules that gave them their labels: the clinic, and planted rules.

The patients of the clinic are drawn in whole numbers from `random.Random.random`, the one generator
of Python that is promised to stay as it is, so that every platform draws the same ones.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from random import Random

import numpy as np
from scipy import sparse

from labelrules._checks import number, whole_number
from labelrules._types import UNSET, Board, Floats, Matrix
from labelrules.data.schema import Feature, Schema
from labelrules.data.table import Dataset, column_of
from labelrules.data.times import read_time
from labelrules.rules.conditions import Body, Condition
from labelrules.rules.language.theory_parser import parse
from labelrules.rules.rule import Head, Rule
from labelrules.rules.theory import DecisionList

# -------------------------------------------------------------------- the clinic

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


# -------------------------------------------------------------------- planted rules

TRIES = 500
"""Random rules that are tried to find one that writes something."""


def planted(
    n_rows: int = 1000,
    n_numeric: int = 5,
    n_nominal: int = 5,
    n_labels: int = 6,
    *,
    n_rules: int = 8,
    n_local: int = 2,
    n_global: int = 1,
    body_size: int = 2,
    head_size: int = 1,
    n_categories: int = 3,
    noise: float = 0.0,
    missing: float = 0.0,
    density: float | None = None,
    random_state: int = 0,
) -> tuple[Dataset, DecisionList]:
    """Draw features at random and let a random decision list write the labels.

    Every rule writes some cells. A dependency between labels contradicts no earlier rule, so
    that before the noise it holds in every row that its body covers. Labels that others depend on
    come first, those that depend on them last.

    Parameters
    ----------
    n_rows, n_numeric, n_nominal, n_labels : int
        The size of the table. Numeric features are uniform between 0 and 1.
    n_rules, n_local, n_global : int
        Rules that test features only; a feature and a label, dependencies that hold for a part of
        the rows; or a label only, subset and exclusion constraints.
    body_size, head_size : int
        Conditions on features, and labels predicted, per rule (at most as many as there are).
    n_categories : int
        Categories of each nominal feature, all equally likely.
    noise, missing : float
        Shares of label cells that are flipped, and of (stored) feature cells that are missing.
    density : float, optional
        Store X sparse, with this share of entries other than zero.
    random_state : int

    Returns
    -------
    data : Dataset
    theory : DecisionList
        The rules that wrote the labels; without noise it predicts them all.

    Examples
    --------
    >>> data, theory = planted(n_rows=100, random_state=1)
    >>> len(theory), bool((theory.predict(data) == data.Y).all())
    (11, True)
    """
    n_dependent = n_local + n_global
    _check_shares(noise=noise, missing=missing, density=density or 0.0)
    _check_counts(
        n_rows=n_rows, n_numeric=n_numeric, n_nominal=n_nominal, n_labels=n_labels,
        n_rules=n_rules, n_local=n_local, n_global=n_global,
    )  # fmt: skip
    whole_number(n_categories, "n_categories", low=1 if n_nominal else 0)
    if n_dependent and (n_labels < 2 or n_rules == 0):
        raise ValueError("dependencies need two labels, and a rule for the one that others need")
    if n_local and n_numeric + n_nominal == 0:
        raise ValueError("a local dependency needs a feature for its context")
    random = np.random.default_rng(whole_number(random_state, "random_state", low=0))
    schema = _schema(n_numeric, n_nominal, n_labels, n_categories)
    X = _features(random, n_rows, schema, missing, density)
    garden = _Garden(random, X, schema, head_size)
    n_first = n_labels if n_dependent == 0 else (n_labels + 1) // 2
    first, last = range(n_first), range(n_first, n_labels)
    for _ in range(n_rules):
        garden.plant(lambda: garden.conditions(body_size), first)
    for _ in range(n_global):
        garden.plant(lambda: [garden.dependence(first)], last)
    for _ in range(n_local):
        garden.plant(lambda: [*garden.context(), garden.dependence(first)], last)
    theory = DecisionList(schema, garden.rules)
    Y = np.where(garden.board == UNSET, np.int8(0), garden.board)
    Y ^= random.random(Y.shape) < noise
    return Dataset(schema, X, Y, name=f"planted {n_rows} x {schema.n_features}"), theory


@dataclass
class _Garden:
    """The rules so far, and the board that they have written."""

    random: np.random.Generator
    X: Matrix
    schema: Schema
    head_size: int

    def __post_init__(self) -> None:
        self.rules: list[Rule] = []
        self.board: Board = np.full((self.X.shape[0], self.schema.n_labels), UNSET)

    def plant(self, draw: Callable[[], list[Condition]], labels: Sequence[int]) -> None:
        """Add a rule with a drawn body that writes something; a dependency must hold throughout."""
        for _ in range(TRIES):
            body = Body(draw())
            covered = body.covers(self.X, self.board)
            rule = Rule(self.head(labels), body)
            cells = self.board[covered][:, rule.head.labels]
            fits = not body.on_labels or ((cells == UNSET) | (cells == rule.head.values)).all()
            if (fits and (cells == UNSET).any()) or len(self.board) == 0:
                for label, value in rule.head:
                    self.board[covered & (self.board[:, label] == UNSET), label] = value
                self.rules.append(rule)
                return
        raise ValueError(
            f"after {len(self.rules)} rules no further rule writes anything: use fewer rules, or "
            "more rows, labels or features"
        )

    def head(self, labels: Sequence[int]) -> Head:
        chosen = self.random.choice(labels, size=min(self.head_size, len(labels)), replace=False)
        # Presence is more frequent than absence, or most rules would only repeat the default.
        values = {int(label): int(self.random.random() < 0.75) for label in chosen}
        return Head(values, self.schema.n_labels)

    def dependence(self, labels: Sequence[int]) -> Condition:
        """A condition on a label that some row has."""
        present = [label for label in labels if (self.board[:, label] == 1).any()]
        return Condition.label(int(self.random.choice(present or labels)))

    def conditions(self, size: int) -> list[Condition]:
        n_features = self.schema.n_features
        chosen = self.random.choice(n_features, size=min(size, n_features), replace=False)
        return [self.condition(int(column), i == 0) for i, column in enumerate(chosen)]

    def context(self) -> list[Condition]:
        """One condition on a feature, in a sparse table as often for 0 as for the others."""
        column = int(self.random.integers(self.schema.n_features))
        return [self.condition(column, bool(self.random.integers(2)))]

    def condition(self, column: int, first: bool) -> Condition:
        """A test that a fair share of the rows passes, if the values are many and different."""
        categories = self.schema.features[column].categories
        if categories is not None:  # none of them has an order
            return Condition.equals(column, int(self.random.integers(len(categories))))
        values = column_of(self.X, column)
        known = values[~np.isnan(values)]
        quantile = self.random.uniform(0.3, 0.7)
        threshold = round(float(np.quantile(known, quantile)), 3) if len(known) else 0.5
        # In a sparse column most values are 0: test for another one, but not in many columns.
        is_mostly_lowest = threshold <= known.min(initial=1)
        above = first if is_mostly_lowest else bool(self.random.integers(2))
        return (Condition.above if above else Condition.at_most)(column, threshold)


def _check_shares(**shares: float) -> None:
    for name, share in shares.items():
        number(share, name, low=0, high=1)


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        whole_number(count, name, low=0)


def _schema(n_numeric: int, n_nominal: int, n_labels: int, n_categories: int) -> Schema:
    categories = tuple(f"c{i}" for i in range(n_categories))
    return Schema(
        [Feature(f"x{i}") for i in range(n_numeric)]
        + [Feature(f"a{i}", categories) for i in range(n_nominal)],
        [f"l{i}" for i in range(n_labels)],
    )


def _features(
    random: np.random.Generator, n_rows: int, schema: Schema, missing: float, density: float | None
) -> Matrix:
    if density is not None:
        return _sparse_features(random, n_rows, schema, missing, density)
    X = np.empty((n_rows, schema.n_features), order="F")
    for column, feature in enumerate(schema.features):
        X[:, column] = _draw(random, n_rows, feature, 0)
    X[random.random(X.shape) < missing] = np.nan
    return X


def _draw(random: np.random.Generator, size: int, feature: Feature, first: int) -> Floats:
    """Numbers between 0 and 1, or categories from the first one on."""
    if feature.categories is None:
        return random.random(size)
    last = len(feature.categories)
    return random.integers(min(first, last - 1), last, size=size).astype(np.float64)


def _sparse_features(
    random: np.random.Generator, n_rows: int, schema: Schema, missing: float, density: float
) -> sparse.csc_array:
    """Column by column, so that the dense table need not fit into memory."""
    counts = random.binomial(n_rows, density, size=schema.n_features)
    rows = [np.sort(random.choice(n_rows, size=count, replace=False)) for count in counts]
    values = [_draw(random, int(n), f, 1) for n, f in zip(counts, schema.features, strict=True)]
    data = np.concatenate([np.empty(0), *values])
    data[random.random(len(data)) < missing] = np.nan
    indices = np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csc_array((data, indices, indptr), shape=(n_rows, schema.n_features))
