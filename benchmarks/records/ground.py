"""Rows, theories and fitted learners that the other parts ask about, each made once."""

from functools import cache
from typing import Any

import numpy as np

from labelrules import Dataset, load, planted
from records.public import made

RULES = """
hypertension <- pressure > 150
pneumonia <- crp > 80, "cough"
infection <- temperature > 38.4
infection <- pneumonia
flu <- "aches", temperature > 38.4
neuropathy <- glucose > 138, "numbness", glucose > 140  # note: as agreed
not flu <- temperature <= 36
not flu <- temperature <= 36, age > 60
heart_failure, hypertension <- pressure > 167, "breathless", age > 64
"""
POINTS = """
in any order:
quality +4, fashion -1 <- education = University
fashion +4 <- sex = Female
tabloid +2, quality -2 <- children = Yes
quality -1, tabloid -1, fashion -2, sports -3 <- true
usual label sets:
{quality, fashion} +1
if no label was found: the label with the most points
"""
LAYERS = """
layer 1:
quality <- education = University
layer 2, until stable in at most 7 rounds:
sports <- quality, not fashion
fashion <- sports
if no label was found:
tabloid <- true
"""
CLINIC = {
    "list": "SeparateAndConquer()",
    "bins": "SeparateAndConquer(bins=32)",
    "br": "BinaryRelevance()",
    "chain": "ClassifierChain()",
    "chains": "ClassifierChain(n_chains=3, random_state=0)",
    "stacked": "StackedBinaryRelevance(alpha=None, random_state=0)",
    "powerset": "LabelPowerset(SeparateAndConquer())",
    "card": "Scorecard(max_literals=60, random_state=0)",
    "associative": "AssociativeClassifier()",
    "constrained": "ConstrainedClassifier(BinaryRelevance(), alpha=None)",
    "lazy": "LazyAssociativeClassifier()",
}
"""Learners of the patients, by the names that cases have for them."""

THEORIES = {"rules": RULES, "votes": "in any order:\nflu +3, infection -1 <- \"aches\"\n"
            "infection +2 <- temperature > 38\ninfection +1 <- flu"}  # fmt: skip
READERS = {"points": POINTS, "layers": LAYERS}


@cache
def clinic() -> tuple[Dataset, Dataset, Dataset]:
    """The patients in parts for training, validation and test."""
    data = load("clinic")
    number = np.arange(len(data)) % 4
    return data.take(number < 2), data.take(number == 2), data.take(number == 3)


@cache
def thing(name: str) -> Any:
    """A set of rows, a theory or a fitted learner by its name in cases."""
    train, validation, test = clinic()
    if name in ("train", "validation", "test"):
        return {"train": train, "validation": validation, "test": test}[name]
    if name == "readers":
        return load("magazines")
    if name == "complete":
        return train.take((train.Y >= 0).all(axis=1))
    if name == "invented":
        return planted(120, noise=0.1, missing=0.05, random_state=3)[0]
    if name in CLINIC:
        return made(CLINIC[name]).fit(train)
    if name in READERS:
        return made("parse")(READERS[name], load("magazines").schema)
    return made("parse")(THEORIES[name], train.schema)


ROWS = ("train", "validation", "test", "complete", "readers", "invented")
NAMES = (*ROWS, *CLINIC, *THEORIES, *READERS)


def told(expression: str, **more: Any) -> Any:
    """The value of an expression of public names and things."""
    needed = {name: thing(name) for name in NAMES if name in expression}
    return made(expression, np=np, **needed, **more)
