"""Small tables with the names of the chapter's data sets and what its rules name, as files."""

from pathlib import Path

import numpy as np

from labelrules.data import Dataset, Feature, Schema, write_mulan

COLOURS = ("red", "green", "blue", "yellow", "white", "black", "orange")
WORDS = (
    "cough", "lobe", "atelectasis", "opacity", "airways", "pneumonia", "2", "coughing", "early",
    "mild", "asthma", "month",
)  # fmt: skip
CODES = ("Class-4-753_0", "Class-31-780_6", "Class-32-486", "Class-34-V13_02", "Class-10-518_0")
MAILS = ("mail", "fw", "didn", "day", "wednesday", "forwarded")


def binary(*names):
    return [Feature(name, ("0", "1")) for name in names]


def flags(n, rng):
    """Colours follow from the number of colours; the rest is chance."""
    numbers = ("colours", "stripes", "crosses", "saltires", "area")
    X = np.column_stack([rng.integers(1, 8, n), *rng.integers(0, 5, (4, n))])
    signs = rng.integers(0, 2, (n, 2))
    Y = (X[:, :1] + rng.integers(-1, 2, (n, 7)) > np.arange(1, 8)).astype(np.int8)
    schema = Schema([*map(Feature, numbers), *binary("animate", "text")], COLOURS)
    return schema, np.hstack([X, signs]), Y


def medical(n, rng):
    """A cough is coughed, or asthma is; the other diagnoses have words of their own."""
    X = rng.integers(0, 2, (n, len(WORDS)))
    place = {word: X[:, column] for column, word in enumerate(WORDS)}
    asthma, pneumonia = place["asthma"] & place["mild"], place["pneumonia"] & place["lobe"]
    cough = (place["cough"] & (1 - pneumonia)) | place["coughing"]
    Y = np.column_stack([cough, pneumonia, place["month"], asthma, place["atelectasis"]])
    return Schema(binary(*WORDS), CODES), X, Y


def enron(n, rng):
    """Jokes are personal mails that were forwarded."""
    X = rng.integers(0, 2, (n, len(MAILS)))
    personal = X[:, 3]
    Y = np.column_stack([1 - personal, personal, personal & X[:, 5]])
    return Schema(binary(*MAILS), ("A.A1", "A.A2", "B.B12")), X, Y


def yeast(n, rng):
    """Each class overlaps with the next one, in stretches of the first feature."""
    X = rng.random((n, 4)).round(2)
    Y = [(X[:, 0] * 7 > i) & (X[:, 0] * 7 < i + 2) for i in range(6)]
    schema = Schema([Feature(f"Att{i}") for i in range(1, 5)], [f"Class{i}" for i in range(1, 7)])
    return schema, X, np.column_stack(Y)


def emotions(n, rng):
    X = rng.random((n, 3)).round(2)
    Y = np.column_stack([X[:, 0] > 0.6, X[:, 0] < 0.5, X[:, 1] > 0.5])
    names = ("happy-pleased", "quiet-still", "sad-lonely")
    return Schema([Feature(f"x{i}") for i in range(3)], names), X, Y


def genbase(n, rng):
    """Two labels, each with a word of its own: no dependence."""
    X = rng.integers(0, 2, (n, 3))
    return Schema(binary("PS1", "PS2", "PS3"), ("one", "two")), X, X[:, :2]


MAKERS = {
    "flags": flags, "medical": medical, "enron": enron, "yeast": yeast, "emotions": emotions,
    "genbase": genbase,
}  # fmt: skip
N_TRAIN, N_TEST = 44, 12


def write_sets(folder: Path, *names: str) -> Path:
    """Write some of the sets into a folder, each in two parts."""
    folder.mkdir(exist_ok=True)
    for name in names:
        schema, X, Y = MAKERS[name](N_TRAIN + N_TEST, np.random.default_rng(7))
        whole = Dataset(schema, X.astype(float), Y.astype(np.int8), name=name)
        for part, rows in (("train", range(N_TRAIN)), ("test", range(N_TRAIN, len(whole)))):
            path = folder / f"{name}-{part}.arff"
            write_mulan(whole.take(np.array(rows)), path, folder / f"{name}.xml")
    return folder
