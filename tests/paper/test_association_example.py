"""§4.2: what association rules and multi-label rules each make of the same rule."""

import pytest

from labelrules import association_rules, dataset, rule_text


@pytest.fixture
def found():
    """The rule for both labels; its body covers the three examples, and a fourth row is not."""
    data = dataset(
        [["holds"], ["holds"], ["holds"], ["fails"]],
        [[0, 1], [1, 1], [1, 0], [0, 0]],
        feature_names=["B"],
        label_names=["l1", "l2"],
    )
    rules = association_rules(data, 1, 0, heads="multi")
    texts = [rule_text(rule, data.schema) for rule in rules]
    number = texts.index("l1, l2 <- B = holds")
    return rules[[number]]


def test_confidence_asks_for_the_whole_head(found):
    assert found.confidence.tolist() == [1 / 3]


def test_micro_averaged_precision_counts_cells(found):
    assert found.measure("precision/micro/partial").tolist() == [2 / 3]
    assert [tuple(evidence) for evidence in found[0].evidence] == [(2, 1), (2, 1)]


def test_confidence_is_subset_accuracy_on_the_covered_rows(found):
    """The fourth row, which is not covered and has no label, is what the measure adds."""
    assert found.measure("subset/samples/partial").tolist() == [2 / 4]
