"""Kernels of different formulas stay apart, in memory and on disk."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numba.core.caching import NullCache

from labelrules import SeparateAndConquer, load
from labelrules.kernels import compile, jit
from labelrules.kernels.compile import kernels_for, scoring_for
from labelrules.kernels.scoring import NOTHING, YES
from labelrules.measures import Formula, forget, formula
from labelrules.measures.linear_ratios import linear_ratio

compiled_only = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)

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
EXPECTED = {
    "correlation": "correlation | y <- b <= -1",
    "klosgen": "klosgen | not y <- b > -1",
}


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
    first formula for the second one, too, and it learned what the first one asks for.
    """
    for measure, expected in EXPECTED.items():
        assert learned_in_another_process(tmp_path, measure) == [expected]
    both = list(EXPECTED)
    for order in (both, both[::-1]):
        assert learned_in_another_process(tmp_path, *order) == [EXPECTED[m] for m in order]


RATIOS = ("f0.5", "precision", "recall", "hamming", "jaccard", "laplace", "linear-cost")


def test_one_set_of_kernels_for_all_ratios_of_linear_functions():
    for counting in ("chapter", "head-relative"):
        sets = {kernels_for(Formula.parse(name), counting) for name in RATIOS}
        assert len(sets) == 1
    assert kernels_for(Formula("m-estimate"), "head-relative") is sets.pop()


def test_one_set_of_kernels_for_all_parameters_of_a_formula():
    first, second = (kernels_for(Formula("klosgen", one), "chapter") for one in (0.5, 2))
    assert first is second


@compiled_only
def test_other_formulas_are_called_by_the_addresses_of_their_code():
    kernels = kernels_for(Formula("f"), "chapter")
    assert kernels_for(Formula("correlation"), "chapter") is kernels
    assert kernels_for(Formula("m-estimate"), "chapter") is kernels
    scorings = {name: scoring_for(Formula(name), "chapter") for name in ("f", *EXPECTED)}
    assert scorings["f"].of_counts == scorings["f"].of_sums == 0
    found = {code for each in scorings.values() for code in (each.of_counts, each.of_sums)}
    assert len(found) == 1 + 2 * len(EXPECTED)


@compiled_only
def test_a_formula_registered_anew_is_compiled_anew():
    def own(tp, fp, tn, fn):
        return tp - fp

    def other(tp, fp, tn, fn):
        return tp * tp - fp * fp

    found = []
    for function in (own, other):
        formula("own")(function)
        try:
            found.append(scoring_for(Formula("own"), "chapter"))
        finally:
            forget("own")
    assert found[0] != found[1]


@compiled_only
def test_an_error_in_what_kernels_call_reaches_python():
    """It is linked into the kernel, with its message."""

    @jit.inner
    def raising(number):
        if number > 2:
            raise ValueError("greater than two")
        return number

    @jit.tested
    def calling(number):
        return raising(number) + 1

    assert calling(1) == 2
    with pytest.raises(ValueError, match="greater than two"):
        calling(3)


@compiled_only
def test_another_ratio_compiles_nothing():
    data = load("magazines")
    SeparateAndConquer(measure="f0.8").fit(data)
    before = [len(kernel.signatures) for kernel in kernels_for(Formula("f"), "head-relative")]
    for name in (*RATIOS, "m-estimate"):
        SeparateAndConquer(measure=name).fit(data)
    learned = SeparateAndConquer(measure="correlation").fit(data)
    assert len(learned.theory_.rules) > 0
    after = [len(kernel.signatures) for kernel in kernels_for(Formula("f"), "head-relative")]
    assert before == after


@compiled_only
@pytest.mark.parametrize("name", ["f", "laplace", "correlation"])
def test_several_cuts_are_scored_at_once(name):
    """Ratios inlined, others by the code that is called: packed divisions, in either case."""
    own = None if linear_ratio(Formula(name)) else Formula(name)
    greatest_key = compile._scored_by(own, f"several_{name}")["greatest_key"]

    @jit.scoring_kernel
    def greatest(sums, start, stop, everywhere, floor, scoring):
        return greatest_key(YES, sums, start, stop, 0, 1, everywhere, floor, scoring)

    greatest._cache = NullCache()  # what comes from disk cannot be looked at
    scoring = scoring_for(Formula(name), "head-relative")
    if own is not None:
        scoring = compile.FormulaScoring(True, 0, 1.0, 0.0, True)
    sums = np.cumsum(np.tile([(1 << 32) + 1, 1 << 32], 20))
    found = [greatest(sums, 0, stop, sums[-1], NOTHING, scoring) for stop in (39, 40)]
    assert found == sorted(found)
    (code,) = greatest.inspect_llvm().values()
    assert "fdiv <" in code
