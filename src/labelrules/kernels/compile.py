"""Kernels that score while they count, and the formulas that they contain.

Formulas that are ratios of linear functions of the counts share one set of kernels, and their
weights are arguments. Kernels for any other are compiled once per formula. All are kept on disk.

This is the only kernel module that knows a `Formula`; all others know arrays and numbers.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, cast

from labelrules.kernels import heads, scoring
from labelrules.kernels.covering import category_sets, grow, merge, refine, tables
from labelrules.kernels.jit import (
    formula_of_scoring,
    scoring_inner,
    scoring_kernel,
    scoring_once,
)
from labelrules.kernels.scoring import Scoring
from labelrules.measures import Formula, helpers
from labelrules.measures.formulas import fingerprint
from labelrules.measures.linear_ratios import LinearRatio, linear_ratio

_INNER = (
    scoring.formula, scoring.key_of, scoring.score_key, scoring.bound_key, scoring.reach,
    scoring.limits, scoring.both_limits, scoring.greatest, scoring.greatest_of_column,
    scoring.better_value, scoring.scan_two, scoring.best_value, scoring.can_reach,
    scoring.saturation, scoring.scan_block, scoring.mark_values, refine.scan_cuts,
    refine.scan_listed, refine.scan_values, merge.limits_of, merge.add_right, merge.add_up,
    category_sets.scan_sets, category_sets.grow_set, tables.scan_numbers, tables.scan_categories,
)  # fmt: skip
"""What the kernels call, each after what it calls itself."""

_CALLED_ONCE = frozenset({
    scoring.greatest, scoring.greatest_of_column, scoring.scan_block, scoring.scan_two,
    scoring.best_value, scoring.saturation, refine.scan_cuts, refine.scan_listed,
    refine.scan_values, tables.scan_numbers, tables.scan_categories,
})  # fmt: skip
"""Inlined, so that their many arguments need not be handed over."""

_KERNELS = (
    refine.best_refinements, merge.score_literals, merge.best_merged, grow.grow_body,
    heads.score_tallies, category_sets.best_sets, tables.best_in_tables, tables.best_by_labels,
    tables.score_sums,
)  # fmt: skip


class FormulaKernels(NamedTuple):
    """The kernels of one formula."""

    best_refinements: Any
    score_literals: Any
    best_merged: Any
    grow_body: Any
    score_tallies: Any
    best_sets: Any
    best_in_tables: Any
    best_by_labels: Any
    score_sums: Any


def kernels_for(formula: Formula, counting: str) -> FormulaKernels:
    """The kernels for a formula; one registered anew under the same name has kernels of its own."""
    if _shared_weights(formula, counting) is not None:
        return _shared_kernels()
    return _own_kernels(formula.name, fingerprint(formula))


def scoring_for(
    formula: Formula,
    counting: str,
    monotone: bool = False,
    smallest: int = 0,
    unit: float = 1.0,
) -> Scoring:
    """What the kernels for a formula need to know of it; counts are multiples of the unit."""
    given = float(formula.parameter or 0.0), counting == "head-relative", monotone
    shared = _shared_weights(formula, counting)
    weights = () if shared is None else shared.in_units(1 / unit)
    return Scoring(*given, round(smallest / unit), unit, *weights)


def _shared_weights(formula: Formula, counting: str) -> LinearRatio | None:
    """The weights of a formula, if the shared kernels score by it.

    The chapter's counting has no fixed share of positives: what a rule that predicts absence calls
    positive depends on what it covers.
    """
    weights = linear_ratio(formula)
    if weights is None or (weights.needs_prior and counting != "head-relative"):
        return None
    return weights


@cache
def _shared_kernels() -> FormulaKernels:
    return _kernels(None, sha256(_sources()).hexdigest()[:16])


@cache
def _own_kernels(name: str, definition: bytes) -> FormulaKernels:
    return _kernels(Formula(name), sha256(_sources() + definition).hexdigest()[:16])


def _kernels(formula: Formula | None, mark: str) -> FormulaKernels:
    names: dict[str, Any] = {}
    for module in (scoring, refine, merge, grow, heads, category_sets, tables):
        names |= vars(module)
    for inner in _INNER:
        compile_inner = scoring_once if inner in _CALLED_ONCE else scoring_inner
        names[inner.__name__] = compile_inner(_rebound(inner, names, mark))
        if inner is scoring.formula and formula is not None:
            names["formula"] = compiled(formula, mark)
    for kernel in _KERNELS:
        names[kernel.__name__] = scoring_kernel(_rebound(kernel, names, mark))
    return FormulaKernels(*(names[kernel.__name__] for kernel in _KERNELS))


@cache
def _sources() -> bytes:
    """The source of all kernels: a change of any is a change of all."""
    folder = Path(__file__).parent
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))


def compiled(formula: Formula, mark: str = "") -> Any:
    """A formula as a compiled function that takes the place of `scoring.formula`.

    A division by zero gives NaN instead of an error, so that many counts can be scored at a time.
    All compiled functions carry the mark in their name; see `_rebound`.
    """
    function = cast(FunctionType, formula.function)
    # A compiled function can call compiled functions only, so its helpers are compiled first.
    names = dict(function.__globals__)
    for helper in reversed(helpers(function)):
        names[helper.__name__] = scoring_inner(_rebound(helper, names, mark))
    inner = scoring_inner(_rebound(function, names, mark))

    def parametric(tp, fp, tn, fn, prior, scoring):
        unit = scoring.unit
        return inner(unit * tp, unit * fp, unit * tn, unit * fn, scoring.parameter)

    def plain(tp, fp, tn, fn, prior, scoring):
        unit = scoring.unit
        return inner(unit * tp, unit * fp, unit * tn, unit * fn)

    outer: Any = plain if formula.parameter is None else parametric
    outer.__name__ = outer.__qualname__ = f"{outer.__name__}_{mark}"
    return formula_of_scoring(outer)


def _rebound(function: Any, names: dict[str, Any], mark: str) -> FunctionType:
    """The same function with other globals and another name.

    Numba keeps and links compiled code by name, so the name must distinguish formulas.
    """
    bound = FunctionType(
        function.__code__, names, f"{function.__name__}_{mark}", function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    bound.__qualname__ = bound.__name__
    return bound
