"""What default models say is borne out by the training rows: evidence is counted anew here."""

from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from labelrules import Dataset, load, parse
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.mining import AssociativeClassifier
from labelrules.rules import LayeredTheory
from tables import tables

DEFAULTS = {
    "list": SeparateAndConquer,
    "relevance": partial(BinaryRelevance, SeparateAndConquer()),
    "ripper": partial(BinaryRelevance, Ripper()),
    "chain": ClassifierChain,
    "chain of lists": partial(ClassifierChain, SeparateAndConquer()),
    "stacked": StackedBinaryRelevance,
    "associative": AssociativeClassifier,
}
learners = pytest.mark.parametrize("make", DEFAULTS.values(), ids=DEFAULTS.keys())


def decided_cells(theory, data):
    """Each rule with the rows in which it decides each label of its head."""
    run = theory.run(data)
    if not isinstance(theory, LayeredTheory):
        parts = [(theory, run)]
    else:
        parts = [*zip(theory.layers, run.layers, strict=True)]
        parts += [(theory.fallback, run.fallback)] if theory.fallback is not None else []
    for part, its_run in parts:
        for number, rule in enumerate(part):
            yield (
                rule,
                {j: np.flatnonzero(its_run.writer[:, j] == number) for j in rule.head.labels},
            )


def faults(theory, data):
    """Rules that decide nothing, or say of a label what is less frequent than among all rows.

    A default rule may decide nothing: it is there for rows unlike those in training.
    """
    found = []
    for rule, cells in decided_cells(theory, data):
        if len(rule.body) and not any(len(rows) for rows in cells.values()):
            found.append((str(rule), "decides nothing"))
        for label, value in rule.head:
            said = data.Y[:, label] == value
            n_right, n_decided = int(said[cells[label]].sum()), len(cells[label])
            if n_right * len(data) < n_decided * int(said.sum()):
                found.append((str(rule), label, value, n_right, n_decided))
    return found


SETS = ("flags", "emotions", "birds", "genbase", "medical", "enron")
SLOW = [("stacked", "genbase"), ("stacked", "enron")]  # ten times as long as any other


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        pytest.param(*pair, marks=[pytest.mark.slow] if pair in SLOW else [])
        for pair in product(DEFAULTS, SETS)
    ],
)
def test_no_rule_speaks_against_its_evidence(learner, name, data_folder):
    data = load(name, part="train", folder=data_folder)
    assert faults(DEFAULTS[learner]().fit(data).theory_, data) == []


@learners
@given(data=tables(max_rows=12, max_labels=3))
@settings(max_examples=30)
def test_no_rule_speaks_against_its_evidence_on_small_tables(make, data):
    assert faults(make().fit(data).theory_, data) == []


@learners
@pytest.mark.parametrize("seed", range(3))
def test_no_rule_speaks_against_its_evidence_on_noise(make, seed):
    """Labels that depend on features and on each other, and much chance."""
    chance = np.random.default_rng(seed)
    readers = load("magazines")
    X = np.column_stack(
        [chance.integers(0, len(one.categories), 120) for one in readers.schema.features]
    )
    Y = (chance.random((120, 4)) < 0.1 + 0.3 * (X % 3)).astype(np.int8)
    Y[:, 3] = (Y[:, 0] & (1 - Y[:, 1])) | (chance.random(120) < 0.1)
    data = Dataset(readers.schema, X.astype(float), Y)
    assert faults(make().fit(data).theory_, data) == []


def test_faults_are_found():
    """The check itself: a rule against its evidence, and one that decides nothing."""
    readers = load("magazines")
    theory = parse("quality <- education = Primary\nquality <- education = Primary", readers.schema)
    wrong, idle = faults(theory, readers)
    assert wrong[1:3] == (0, 1)
    assert idle[1] == "decides nothing"
