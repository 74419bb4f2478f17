"""Compiling: said once, not counted as learning, and garbage is collected rarely meanwhile."""

import gc

import pytest

from labelrules import _compiling


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
