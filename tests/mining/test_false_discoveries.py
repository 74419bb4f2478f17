"""What is called significant by chance: rules of features for labels that were shuffled."""

import numpy as np
import pytest

from labelrules import Dataset, association_rules, dataset, load

N_SHUFFLES = 200


def random_table(seed, n_rows=120, n_features=8, n_labels=4):
    """Binary features of all frequencies, some of which imply others; labels depend on none."""
    rng = np.random.default_rng(seed)
    X = rng.random((n_rows, n_features)) < rng.uniform(0.1, 0.6, n_features)
    X[:, 1] |= X[:, 0]
    Y = rng.random((n_rows, n_labels)) < rng.uniform(0.15, 0.6, n_labels)
    Y[:, 1] |= Y[:, 0]  # labels may depend on each other
    return dataset(X.astype(float), Y.astype(int))


def shuffled(data, rng):
    """The same label sets, given to other rows."""
    return Dataset(data.schema, data.X, data.Y[rng.permutation(data.n_rows)])


def share_with_findings(data, **settings):
    """In how many of the shuffled tables is any rule called significant? All such are false."""
    rng = np.random.default_rng(7)
    found = [
        len(association_rules(shuffled(data, rng), 5, 0, alpha=0.05, **settings)) > 0
        for _ in range(N_SHUFFLES)
    ]
    return np.mean(found)


@pytest.mark.parametrize("correction", ["holm", "benjamini-hochberg"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"min_confidence": 0.6},
        {"polarity": "both", "absent_items": True},
        {"heads": "multi", "max_head": 2},
        {"productive": True, "nonredundant": True},
        {"top": 10, "measure": "leverage"},
    ],
)
def test_shuffled_labels_give_few_findings(correction, settings):
    """Whatever the search keeps, at level 0.05 at most 5 of 100 shuffled tables show anything."""
    chosen = dict(settings)
    confidence = chosen.pop("min_confidence", 0)
    data = random_table(0)
    rng = np.random.default_rng(7)
    found = [
        association_rules(
            shuffled(data, rng), 5, confidence, alpha=0.05, correction=correction, **chosen
        )
        for _ in range(N_SHUFFLES)
    ]
    assert np.mean([len(rules) > 0 for rules in found]) <= 0.05


def test_without_a_correction_there_would_be_many():
    """So that the test above can fail."""
    assert share_with_findings(random_table(0)) > 0.9


def test_counting_only_what_was_found_would_not_do():
    """A threshold on confidence picks the rules that look good: what it left out was tested too."""
    data = random_table(0)
    rng = np.random.default_rng(7)
    naively = 0
    for _ in range(N_SHUFFLES):
        rules = association_rules(shuffled(data, rng), 5, 0.7)
        naively += len(rules) > 0 and rules.p.min() * len(rules) <= 0.05
    assert naively / N_SHUFFLES > 0.05


def test_rules_that_were_planted_are_found_and_few_others():
    """The mean share of false rules among those found is at most the level."""
    shares, n_true = [], []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        X = (rng.random((300, 12)) < 0.4).astype(float)
        Y = (rng.random((300, 3)) < 0.3).astype(int)
        Y[:, 0] = np.where(X[:, 0] == 1, rng.random(300) < 0.7, rng.random(300) < 0.2)
        data = dataset(X, Y)
        rules = association_rules(
            data, 10, 0, max_conditions=1, correction="benjamini-hochberg", alpha=0.05
        )
        is_true = [r.body.conditions[0].column == 0 and r.head.labels == (0,) for r in rules]
        shares.append(1 - np.mean(is_true) if is_true else 0.0)
        n_true.append(sum(is_true))
    assert n_true == [1] * 400
    assert np.mean(shares) <= 0.05


@pytest.mark.slow
def test_shuffled_labels_of_a_real_table(data_folder):
    data = load("emotions", data_folder, part="train")
    rng = np.random.default_rng(0)
    found = [
        len(
            association_rules(
                shuffled(data, rng), 0.05, 0, bins="frequency", max_conditions=2, correction="holm",
                alpha=0.05,
            )
        )
        > 0
        for _ in range(100)
    ]  # fmt: skip
    assert np.mean(found) <= 0.05
