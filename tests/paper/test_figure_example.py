"""The chapter's search tree over heads and its comparison with association rules."""

import re
from fractions import Fraction

import numpy as np
import pytest

from labelrules.measures import Measure

# y1 to y6 of the figure; the last three are covered.
ROWS = ["0110", "1111", "0010", "0110", "1100", "1000"]
Y = np.array([[int(cell) for cell in row] for row in ROWS])
COVERED = np.array([False, False, False, True, True, True])

FIGURE = """
{1} 2/3  {2} 2/3  {3} 1/3  {4} 0
{1,2} 2/3  {1,3} 1/2  {1,4} 1/3  {2,3} 1/2  {2,4} 1/3  {3,4} 1/6
{1,2,3} 5/9  {1,2,4} 4/9  {1,3,4} 1/3  {2,3,4} 1/3
{1,2,3,4} 5/12
"""
VALUES = {
    frozenset(int(label) for label in labels.split(",")): Fraction(value)
    for labels, value in re.findall(r"{([\d,]+)} (\S+)", FIGURE)
}
PRECISION = Measure.parse("precision/micro/partial")


def head(labels, value=1):
    return [value if label in labels else -1 for label in (1, 2, 3, 4)]


def test_the_figure_shows_all_heads():
    assert len(VALUES) == 15


@pytest.mark.parametrize("labels", VALUES, ids=lambda labels: ",".join(map(str, sorted(labels))))
def test_the_values_of_the_figure(labels):
    assert PRECISION.of_rule(Y, COVERED, head(labels), exact=True) == VALUES[labels]
    assert PRECISION.of_rule(Y, COVERED, head(labels)) == float(VALUES[labels])


def test_adding_a_label_can_improve_a_head_that_has_lost_by_the_label_before():
    """The chapter's wording of anti-monotonicity is too strong; the optimum is out of reach."""
    first, lost, improved = (VALUES[frozenset(labels)] for labels in ({1}, {1, 4}, {1, 2, 4}))
    assert lost < improved < first == max(VALUES.values())


def test_merging_the_best_labels_gives_the_best_head():
    singles = {label: VALUES[frozenset([label])] for label in (1, 2, 3, 4)}
    best = frozenset(label for label, value in singles.items() if value == max(singles.values()))
    assert best == {1, 2}
    assert VALUES[best] == max(VALUES.values()) == Fraction(2, 3)


def test_absence_of_the_fourth_label_would_be_better():
    values = [PRECISION.of_rule(Y, COVERED, head([i], 0), exact=True) for i in (1, 2, 3, 4)]
    assert values == [Fraction(1, 3), Fraction(1, 3), Fraction(2, 3), 1]


def test_confidence_is_subset_accuracy():
    """A head {1, 2} on covered rows {2}, {1, 2} and {1}: 1/3 as an association, 2/3 as labels."""
    rows, covered = [[0, 1], [1, 1], [1, 0]], [True, True, True]
    confidence = Measure.parse("subset/samples/partial").of_rule(rows, covered, [1, 1], exact=True)
    precision = PRECISION.of_rule(rows, covered, [1, 1], exact=True)
    assert (confidence, precision) == (Fraction(1, 3), Fraction(2, 3))
