"""Bad parameters of learners are refused with a message that names them."""

import re

import numpy as np
import pytest

from labelrules import Dataset
from labelrules.learners import SeparateAndConquer
from labelrules.search import kln
from labelrules.search.bodies.rule_language import language
from tables import schema_of

SCHEMA = schema_of([0, 3], 3)
DATA = Dataset(SCHEMA, np.array([[0.0, 1], [1, 2], [2, 0]]), np.eye(3, dtype=np.int8))

ONE_BY_ONE = {
    "order": ("append first", "order must be 'append' or 'prepend', not 'append first'"),
    "polarity": ("rare", "polarity must be 'rarer', 'both' or 'presence', not 'rare'"),
    "counting": ("plain", "counting must be 'head-relative' or 'chapter', not 'plain'"),
    "readd": ("some", "readd must be 'all' or 'incomplete', not 'some'"),
    "pruning": ("ripper", "pruning must be 'mdl', 'irep', 'significance' or None, not 'ripper'"),
    "heads": ("multiple", "heads must be 'single', 'multi', 'complete' or a number of labels, "
                          "not 'multiple'"),
    "beam_width": (0, "beam_width must be a whole number of at least 1, not 0"),
    "max_conditions": (-1, "max_conditions must be a whole number of at least 0 or None, not -1"),
    "min_coverage": (1.5, "min_coverage must be a whole number of at least 1, not 1.5"),
    "max_rules": ("ten", "max_rules must be a whole number of at least 0 or None, not 'ten'"),
    "min_gain": (-0.1, "min_gain must be a number of at least 0, not -0.1"),
    "time_limit": (float("nan"), "time_limit must be a number of at least 0 or None, not nan"),
    "stop_share": (1.5, "stop_share must be a number from 0 to 1 or None, not 1.5"),
    "open_share": ("1 %", "open_share must be a number from 0 to 1, not '1 %'"),
    "prune_share": (2, "prune_share must be a number from 0 to 1, not 2"),
    "last_resort": (True, "last_resort must be a number from 0 to 1 or None, not True"),
    "bins": (1, "bins must be a whole number from 2 to 65535 or None, not 1"),
    "n_jobs": (0, "n_jobs must be a number of threads, or -1 for all, not 0"),
    "size_bonus": (1.2, "size_bonus must be a function of the head size such as labelrules.search"),
    "measure": ("recal", "there is no formula 'recal'; did you mean 'recall'?"),
    "random_state": ("dice", "random_state must be a whole number from 0 to 4294967295, a "
                             "RandomState or None, not 'dice'"),
    "smoothing": (0, "smoothing must be a number above 0 or 'laplace', not 0"),
}  # fmt: skip


def refused(message):
    return pytest.raises(ValueError, match=f"^{re.escape(message)}")


@pytest.mark.parametrize("name", ONE_BY_ONE)
def test_one_parameter(name):
    value, message = ONE_BY_ONE[name]
    with refused(message):
        SeparateAndConquer(**{name: value}).fit(DATA)


@pytest.mark.parametrize("heads", [0, -1, 1.5, True, None, ["multi"]])
def test_heads_that_are_none(heads):
    with refused("heads must be 'single', 'multi', 'complete' or a number of labels"):
        SeparateAndConquer(heads=heads).fit(DATA)


@pytest.mark.parametrize("share", [0, 1])
def test_held_out_rows_must_leave_some(share):
    message = "prune_share must be above 0 and below 1: pruning='irep' grows rules on some rows"
    with refused(message):
        SeparateAndConquer(pruning="irep", prune_share=share).fit(DATA)


TOGETHER = [
    ({"order": "prepend", "pruning": None, "stop_share": 0.1},
     "stop_share goes with order='append'"),
    ({"order": "prepend"},
     "pruning goes with order='append': use pruning=None to prepend rules"),
    ({"measure": "f1/micro/full", "polarity": "both"},
     "f1/micro/full scores predictions of every label: use heads='multi' or 'complete', or a "
     "measure of partial predictions"),
    ({"heads": "complete"},
     "f0.8/micro/full needs heads that may predict presence or absence of each label: use "
     "polarity='both' (or 'presence')"),
    ({"heads": "multi", "measure": "laplace"},
     "no exact search is known for heads of several labels under laplace/micro/partial: use the "
     "averaging 'macro', as in 'laplace/macro/partial', or heads='single'"),
    ({"heads": "multi", "measure": "f1/samples", "order": "prepend", "pruning": None},
     "order='prepend' needs a measure of partial predictions with micro or macro averaging, and "
     "no size_bonus, not f1/samples/partial"),
    ({"heads": "multi", "measure": "f1", "size_bonus": kln(0.1), "counting": "chapter"},
     "polarity='rarer' with f1/micro/partial needs counting='head-relative'"),
    ({"heads": "multi", "measure": "f1/samples", "fixed_head": True},
     "fixed_head needs a measure of partial predictions with micro or macro averaging, not "
     "f1/samples/partial"),
]  # fmt: skip


@pytest.mark.parametrize(("parameters", "message"), TOGETHER)
def test_parameters_that_do_not_go_together(parameters, message):
    with refused(message):
        SeparateAndConquer(**parameters).fit(DATA)


def test_a_learner_that_was_refused_stays_as_it_was():
    learner = SeparateAndConquer(pruning=None).fit(DATA)
    before = learner.theory_
    with refused("beam_width"):
        learner.set_params(beam_width=0).fit(DATA)
    assert learner.theory_ is before


# ---------------------------------------------------------------- what bodies may test

WISHES = [
    ({"operators": ["<=", "<"]}, "operators are '<=', '>', '=', '!=' and 'in', not '<'"),
    ({"operators": ["<", 1]}, "operators are '<=', '>', '=', '!=' and 'in', not "),
    ({"operators": [["<="]]}, "operators are '<=', '>', '=', '!=' and 'in', not "),
    ({"operators": 5}, "operators must be a list of '<=', '>', '=', '!=' and 'in', not 5"),
    ({"operators": ">"}, "operators must be a list of '<=', '>', '=', '!=' and 'in', not '>'"),
    ({"required": "x0"}, "required must be a list of features or label pairs, not 'x0'"),
    ({"forbidden": "x0"}, "forbidden must be a list of features or label pairs, not 'x0'"),
    ({"required": 5}, "required must be a list of features or label pairs, not 5"),
    ({"forbidden": None}, "forbidden must be a list of features or label pairs, not None"),
    ({"required": ["x00"]}, "required: there is no feature 'x00'; did you mean 'x0'?"),
    ({"forbidden": ["y0"]}, "forbidden: there is no feature 'y0'"),
    ({"required": [("y0", "y11")]}, "required: there is no label 'y11'; did you mean 'y1'?"),
    ({"forbidden": [("x0", "y1")]}, "forbidden: there is no label 'x0'"),
    ({"forbidden": [("y0", ["y1"])]}, "forbidden: there is no label "),
    ({"required": [5]}, "required must name features, or pairs of a head label and a tested label, "
                        "not 5"),
    ({"forbidden": [("y0", "y1", "y2")]},
     "forbidden must name features, or pairs of a head label and a tested label, not ('y0', "),
]  # fmt: skip


@pytest.mark.parametrize(("wishes", "message"), WISHES)
def test_wishes_that_cannot_be_met(wishes, message):
    with refused(message):
        language(SCHEMA, **wishes)
    with refused(message):
        SeparateAndConquer(**wishes).fit(DATA)


IMPOSSIBLE = [
    {"required": ["x0"], "forbidden": ["x0"]},
    {"required": ["x0"], "operators": ["="]},
    {"required": [("y0", "y1")], "label_conditions": False},
    {"required": [("y0", "y0")]},
]


@pytest.mark.parametrize("wishes", IMPOSSIBLE)
def test_what_is_required_must_be_allowed(wishes):
    with refused("required"):
        SeparateAndConquer(**wishes).fit(DATA)


def test_operators_by_column():
    """The first operator of a column counts 1, the second 2."""
    every = language(SCHEMA, ["<=", ">", "=", "!="])
    assert every.features.tolist() == [3, 3]
    assert language(SCHEMA, [">"]).features.tolist() == [2, 0]
    assert language(SCHEMA, ["<=", "!="]).features.tolist() == [1, 2]
    assert language(SCHEMA).features.tolist() == [3, 1]


def test_label_pairs():
    allowed = language(SCHEMA, forbidden=[("y0", "y2")])
    assert allowed.labels.tolist() == [[0, 1, 0], [1, 0, 1], [1, 1, 0]]
    assert not language(SCHEMA, label_conditions=False).has_labels
    required = language(SCHEMA, required=["x1", ("y2", "y0")])
    assert required.first_features.tolist() == [0, 1]
    assert required.first_labels.tolist() == [[0, 0, 0], [0, 0, 0], [1, 0, 0]]
    assert required.labels.any()
    assert not required.may_be_empty
