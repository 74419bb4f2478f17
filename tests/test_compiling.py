"""Compiling: said once, not counted as learning, and garbage is collected rarely meanwhile."""

import gc
import os
from dataclasses import replace

import numpy as np
import pytest

from labelrules import _compiling, load
from labelrules.learners import BinaryRelevance, Scorecard, SeparateAndConquer, warm_up


@pytest.mark.parametrize("often", [(700, 10, 10), (0, 10, 10), (500_000, 10, 10)])
def test_garbage_is_collected_rarely_while_code_is_compiled(often):
    before = gc.get_threshold()
    try:
        gc.set_threshold(*often)
        _compiling.begin()
        expected = (_compiling.RARELY, 10, 10) if often[0] == 700 else often
        assert gc.get_threshold() == expected
        _compiling.end()
        assert gc.get_threshold() == often
        _compiling.end()  # a second end changes nothing
        assert gc.get_threshold() == often
    finally:
        gc.set_threshold(*before)


def test_the_clock_of_learning_stands_still_meanwhile():
    _compiling.begin()
    first = _compiling.learning_clock()
    assert _compiling.learning_clock() == first
    _compiling.end()
    assert _compiling.learning_clock() >= first


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
@pytest.mark.parametrize("learner", [SeparateAndConquer(), BinaryRelevance(), Scorecard()], ids=str)
def test_after_warming_up_nothing_is_left_to_compile(learner):
    """Not for weights either, which once took as long as the first fit of all."""
    warm_up()
    before, data = _compiling.compiling_seconds(), load("clinic")
    weights = np.random.default_rng(0).random(data.Y.shape) + 0.5
    learner.fit(data).predict(data)
    learner.fit(replace(data, weights=np.ceil(2 * weights[:, 0])))
    learner.fit(replace(data, weights=weights[:, 0]))
    learner.fit(replace(data, weights=weights)).predict_proba(data)
    assert _compiling.compiling_seconds() == before
