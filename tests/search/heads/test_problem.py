"""Bad input of head searches is refused with a message that names it."""

import re
from itertools import product

import numpy as np
import pytest

from labelrules.measures import Formula, Measure
from labelrules.search import best_head, search_tree

Y = [[0, 1, 1], [1, 1, 0]]
COVERED = [True, False]

ARRAYS = {
    "rows": ({"covered": [True]}, "Y has 2 rows but covered has the shape (1,)"),
    "mask": (
        {"covered": [0, 1]},
        "covered must be a mask of booleans, one per row, not of int64",
    ),
    "flat": ({"Y": [0, 1]}, "Y must be a table, rows by labels, not of 1 dimensions"),
    "ragged": ({"Y": [[0, 1], [1]]}, "Y must be a table, rows by labels"),
    "values": ({"Y": [[0, 2, 1], [1, 1, 0]]}, "Y may hold 0 and 1 and -1 (unknown) only, not 2"),
    "no labels": ({"Y": np.zeros((2, 0))}, "Y is empty: it has the shape (2, 0)"),
    "no rows": ({"Y": np.zeros((0, 3)), "covered": []}, "Y is empty: it has the shape (0, 3)"),
    "board": ({"board": [[0, 1]]}, "Y has the shape (2, 3) but board has the shape (1, 2)"),
    "cells": (
        {"board": [[0, 1, 7], [-1, -1, -1]]},
        "board may hold 0 and 1 and -1 (open) only, not 7",
    ),
    "counting": (
        {"counting": "chaptr"},
        "counting must be 'chapter', 'head-relative' or 'plain', not 'chaptr'; did you mean",
    ),
    "plain": (
        {"counting": "plain"},
        "counting='plain' is for full predictions, which predict every label: use 'chapter' or "
        "'head-relative' for partial ones",
    ),
    "polarity": ({"polarity": "rarer"}, "polarity must be 'both' or 'presence', not 'rarer'"),
    "measure": ({"measure": 7}, "a measure is written as text like 'f1/micro/partial', not 7"),
    "formula": (
        {"measure": "recal"},
        "there is no formula 'recal'; did you mean 'recall'? (known: ",
    ),
}


def call(function, changes, *more, **options):
    given = {"Y": Y, "covered": COVERED, "measure": "f1/micro/partial", "board": None, **changes}
    Y_, covered, measure, board = (given.pop(name) for name in ("Y", "covered", "measure", "board"))
    return function(Y_, covered, measure, *more, board, **given, **options)


@pytest.mark.parametrize("case", ARRAYS)
def test_best_head(case):
    changes, message = ARRAYS[case]
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call(best_head, changes)


@pytest.mark.parametrize("case", ARRAYS)
def test_search_tree(case):
    changes, message = ARRAYS[case]
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        call(search_tree, changes, "exhaustive")


@pytest.mark.parametrize("limit", [0, -1, 1.5, "2"])
def test_the_limit_of_labels(limit):
    message = f"max_labels must be a whole number of at least 1, not {limit!r}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        best_head(Y, COVERED, "f1", max_labels=limit)


def test_a_numpy_integer_is_a_limit():
    assert best_head(Y, COVERED, "f1", max_labels=np.int64(2)).method == "Dinkelbach"


@pytest.mark.parametrize(
    ("text", "limit"),
    [("laplace", None), ("laplace", 2), ("m-estimate(2)/full", 1), ("correlation/micro", None)],
)
def test_micro_averaged_heuristics_with_several_labels(text, limit):
    measure = Measure.parse(text)
    labelwise = f"{measure.formula}/macro/{measure.predictions}"
    message = (
        f"no exact search is known for heads of several labels under {measure}: use the averaging "
        f"'macro', as in '{labelwise}', or max_labels=1 with partial predictions"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        best_head(Y, COVERED, measure, max_labels=limit)
    assert best_head(Y, COVERED, labelwise).gap == 0


def test_an_unknown_strategy():
    message = (
        "strategy must be 'exhaustive', 'tree', 'breadth-first' or 'decomposable', not 'greedy'"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        search_tree(Y, COVERED, "f1", "greedy")


def test_too_many_labels_for_a_tree():
    message = (
        "the tree of all heads over 13 labels is too large to draw; these strategies are for "
        "study, with at most 12 labels: use best_head"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        search_tree(np.zeros((2, 13)), COVERED, "precision", "tree")
    assert search_tree(np.ones((2, 12)), COVERED, "precision", "decomposable").n_evaluated == 12


@pytest.mark.parametrize("strategy", ["tree", "breadth-first", "decomposable"])
@pytest.mark.parametrize("text", ["laplace/macro/partial", "jaccard/micro/full"])
def test_measures_of_which_nothing_is_known(text, strategy):
    message = (
        f"it is not known whether the strategy {strategy!r} is valid for {text}: "
        "use 'exhaustive' or best_head"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        search_tree(Y, COVERED, text, strategy)
    assert search_tree(Y, COVERED, text, strategy, even_if_invalid=True).n_evaluated > 0


def test_irrational_values_are_floats():
    """There is no fraction to give, and no reason to refuse."""
    for averaging, predictions in product(("macro", "samples"), ("partial", "full")):
        measure = Measure(Formula("correlation"), averaging, predictions)
        found = best_head(Y, COVERED, measure)
        assert isinstance(found.value, float)
        assert found.value_with_bonus == found.value == measure.of_rule(Y, COVERED, found.vector)
        tree = search_tree(Y, COVERED, measure, "exhaustive", polarity="both")
        assert tree.value == pytest.approx(found.value)
