"""Kernels of different formulas stay apart, in memory and on disk."""

import os
import subprocess
import sys

import pytest

from labelrules.kernels.compile import kernels_for
from labelrules.measures import Formula

PROGRAM = """
import sys
import numpy as np
from labelrules import Dataset
from labelrules.data.schema import Feature, Schema
from labelrules.learners import SeparateAndConquer

schema = Schema([Feature("a"), Feature("b")], ["y"])
X = np.array([[-1.0, -1.0], [-1.0, -1.0], [-1.0, -1.0], [-1.0, 0.0]])
data = Dataset(schema, X, np.array([[0], [0], [1], [0]], dtype=np.int8))
for measure in sys.argv[1:]:
    learner = SeparateAndConquer(
        measure=measure, polarity="both", fixed_head=False, min_coverage=1, pruning=None,
        last_resort=None, max_rules=1,
    )
    print(measure, "|", learner.fit(data).theory_)
"""
EXPECTED = {"precision": "precision | not y <- b > -1", "f0.5": "f0.5 | not y <- true"}


def learned_in_another_process(folder, *measures):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *measures],
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.slow
def test_kernels_that_different_processes_kept_do_not_get_mixed_up(tmp_path):
    """Two processes once gave the inner functions of two formulas the same names.

    When a third one loaded what both had kept on disk, the linker took the inner functions of the
    first formula for the second one, too, and F0.5 learned what precision asks for.
    """
    for measure, expected in EXPECTED.items():
        assert learned_in_another_process(tmp_path, measure) == [expected]
    both = list(EXPECTED)
    for order in (both, both[::-1]):
        assert learned_in_another_process(tmp_path, *order) == [EXPECTED[m] for m in order]


def test_one_set_of_kernels_for_all_parameters_of_a_formula():
    assert kernels_for(Formula("f", 0.5)) is kernels_for(Formula("f", 2))
    assert kernels_for(Formula("f")) is not kernels_for(Formula("precision"))
