"""Explanations of real rows agree with the predictions."""

import numpy as np
import pytest

from labelrules import SeparateAndConquer, load
from labelrules.inspection import counterfactual, explain, summary
from labelrules.learners import BinaryRelevance, Ripper, StackedBinaryRelevance, VotedRules

SETS = ["flags", "emotions", "birds", "genbase", "medical", "enron", "scene", "yeast", "CAL500"]


def agree(theory, data, rows):
    """Every cell is explained as it is predicted, by a rule that holds, or by nobody."""
    found = explain(theory, data, rows, training=data, counterfactuals=False)
    predicted = theory.predict(data)
    for row, one in zip(rows, found, strict=True):
        np.testing.assert_array_equal([label.predicted for label in one], predicted[row])
        for number, label in enumerate(one):
            if label.rule is not None:
                assert (label.rule.value, label.rule.failing) == (label.predicted, ())
                assert row in label.rows[int(data.Y[row, number] != label.predicted)]
            elif label.votes:
                assert (label.n_for > label.n_against) == label.predicted
            else:
                assert (label.decided, label.predicted) == ("default", 0)


@pytest.mark.parametrize("name", SETS)
def test_lists_for_real_data(name, data_folder):
    data = load(name, data_folder)
    theory = SeparateAndConquer().fit(data).theory_
    agree(theory, data, range(0, len(data), len(data) // 20))
    assert len(summary(theory, data).rules) == len(theory)
    label = data.schema.labels[int(np.argmax(data.Y[0]))]
    change = counterfactual(theory, data, label, training=data)
    assert change.status in ("found", "impossible")
    if change.status == "found":
        flipped = np.array([change.values])
        index = data.schema.label_index[label]
        rows = type(data)(data.schema, flipped, np.zeros((1, data.schema.n_labels)))
        assert theory.predict(rows)[0, index] == 1 - theory.predict(data)[0, index]


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", ["list", "layers", "votes"])
def test_every_cell_of_real_data(name, kind, data_folder):
    data = load(name, data_folder)
    learner = {
        "list": BinaryRelevance(Ripper()),
        "layers": StackedBinaryRelevance(SeparateAndConquer(), inference="until stable"),
        "votes": VotedRules(),
    }[kind]
    theory = learner.fit(data).theory_
    for start in range(0, len(data), 50):  # all at once would take gigabytes
        agree(theory, data, range(start, min(start + 50, len(data))))
