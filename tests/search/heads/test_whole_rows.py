"""Full predictions counted plainly: the best head equals the best of all heads."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from labelrules.search import best_head, kln
from labelrules.search.heads.problem import preference
from twins.heads import POLARITY

MEASURES = [
    *(f"{name}/{averaging}/full" for name in ("precision", "recall", "hamming", "f1", "f0.5", "f2")
      for averaging in ("micro", "macro", "samples", "cell")),
    "subset/samples/full",
]  # fmt: skip


def tables(n_tables, seed):
    random = np.random.default_rng(seed)
    for _ in range(n_tables):
        n_rows, n_labels = random.integers([1, 1], [8, 5])
        prototypes = random.integers(0, 2, (3, n_labels))
        Y = prototypes[random.integers(3, size=n_rows)] ^ (random.random((n_rows, n_labels)) < 0.2)
        covered = random.random(n_rows) < 0.6
        covered[0] = True
        written = random.random((n_rows, 1)) < 0.2
        yield Y, covered, np.where(written, Y, -1)


def best_of_all(problem):
    values = (1, 0) if problem.absence else (1, -1)
    heads = (np.array(head, np.int8) for head in product(values, repeat=problem.n_labels))
    allowed = [h for h in heads if problem.smallest <= (h == 1).sum() <= problem.largest]

    def key(head):
        bonus = Fraction(problem.factors[problem.size(head)])
        return problem.exact_value(head) * bonus, preference(head)

    return max(allowed, key=key)


@pytest.mark.parametrize(
    "options", [{}, {"max_labels": 2}, {"size_bonus": kln(0.3)}], ids=["free", "limit", "bonus"]
)
@pytest.mark.parametrize("absence", [True, False])
@pytest.mark.parametrize("measure", MEASURES)
def test_equals_the_best_of_all_heads(measure, absence, options):
    for Y, covered, board in tables(25, seed=len(measure)):
        found = best_head(
            Y,
            covered,
            measure,
            board,
            counting="plain",
            polarity=POLARITY[absence],
            **options,
        )
        best = best_of_all(found.problem)
        assert (found.vector == best).all(), (Y, covered, board)
        assert found.value == found.problem.exact_value(best)


def test_gfm_is_named():
    found = best_head([[1, 0], [1, 1]], [True, True], "f1/samples/full", counting="plain")
    assert found.method == "GFM"
    assert found.value == Fraction(5, 6)


def test_what_plain_counting_is_not_for():
    with pytest.raises(ValueError, match="counting='plain' is for full predictions"):
        best_head([[1]], [True], "f1/micro/partial", counting="plain")
    board = [[-1, 0], [-1, -1]]
    with pytest.raises(ValueError, match="rows that are open as a whole or not at all"):
        best_head([[1, 0], [0, 1]], [True, True], "f1/samples/full", board, counting="plain")
