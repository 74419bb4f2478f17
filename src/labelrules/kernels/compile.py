"""Kernels that score while they count, and the formulas that they contain.

All formulas share one set of kernels. The weights of those that are ratios of linear functions of
the counts are arguments; so are the addresses of the code of all others, two small functions that
are compiled for each. All are kept on disk.

This is the only kernel module that knows a `Formula`; all others know arrays and numbers.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np
from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]
from numba.core import config
from numba.extending import intrinsic as _intrinsic

from labelrules.kernels import heads, scoring
from labelrules.kernels.covering import category_sets, grow, merge, refine, tables
from labelrules.kernels.jit import (
    address_of,
    formula_of_scoring,
    scoring_code,
    scoring_inner,
    scoring_kernel,
    scoring_once,
)
from labelrules.kernels.scoring import Scoring, are_short, formula_value, greatest_key
from labelrules.measures import Formula, helpers
from labelrules.measures.formulas import definition_of
from labelrules.measures.linear_ratios import LinearRatio, linear_ratio

_INNER = (
    scoring.formula_value, scoring.key_of, scoring.score_key, scoring.bound_key, scoring.reach,
    scoring.limits, scoring.both_limits, scoring.greatest_key, scoring.greatest,
    scoring.greatest_of_column, scoring.better_value, scoring.scan_two, scoring.best_value,
    scoring.can_reach, scoring.saturation, scoring.scan_block, scoring.mark_values,
    refine.scan_cuts, refine.scan_listed, refine.scan_values, merge.limits_of, merge.add_right,
    merge.add_up, category_sets.scan_sets, category_sets.grow_set, category_sets.improve_set,
    category_sets.best_set_of_target, grow.or_better_set, tables.scan_numbers,
    tables.scan_categories,
)  # fmt: skip
"""What the kernels call, each after what it calls itself."""

_INLINED = frozenset({
    scoring.key_of, scoring.bound_key, scoring.greatest_key, scoring.greatest,
    scoring.greatest_of_column, scoring.scan_block, scoring.scan_two, scoring.best_value,
    scoring.saturation, refine.scan_cuts, refine.scan_listed, refine.scan_values,
    tables.scan_numbers, tables.scan_categories,
})  # fmt: skip
"""Called at one place, or short: inlined, so that many arguments need not be handed over."""

_KERNELS = (
    refine.best_refinements, merge.score_literals, merge.best_merged, grow.grow_body,
    heads.score_tallies, category_sets.best_sets, category_sets.best_sets_in_tables,
    tables.best_in_tables, tables.best_by_labels, tables.score_sums,
)  # fmt: skip


_IS_COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]  # set when it is imported


class FormulaKernels(NamedTuple):
    """The kernels that score."""

    best_refinements: Any
    score_literals: Any
    best_merged: Any
    grow_body: Any
    score_tallies: Any
    best_sets: Any
    best_sets_in_tables: Any
    best_in_tables: Any
    best_by_labels: Any
    score_sums: Any


def kernels_for(formula: Formula, counting: str) -> FormulaKernels:
    """The kernels for a formula."""
    if _IS_COMPILED or _shared_weights(formula, counting) is not None:
        return _shared_kernels()
    return _own_kernels(formula.name, definition_of(formula))


def scoring_for(
    formula: Formula,
    counting: str,
    monotone: bool = False,
    smallest: int = 0,
    unit: float = 1.0,
) -> Scoring:
    """What the kernels for a formula need to know of it; counts are multiples of the unit."""
    parameter = float(formula.parameter or 0.0)
    scoring = Scoring(
        parameter, counting == "head-relative", monotone, round(smallest / unit), unit
    )
    shared = _shared_weights(formula, counting)
    if shared is not None:
        upper, lower = shared.in_units(1 / unit)
        short = are_short(upper, lower)
        return scoring._replace(upper=tuple(upper), lower=tuple(lower), short=short)
    if not _IS_COMPILED:
        return scoring
    of_counts, of_sums = _code(formula.name, definition_of(formula))
    return scoring._replace(of_counts=address_of(of_counts), of_sums=address_of(of_sums))


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
    mark = _marked(b"")
    if not _IS_COMPILED:
        return _kernels(mark, {})
    names = globals() | _scored_by(None, _marked(b"ratio"))
    replaced = {
        "formula_value": scoring_inner(_rebound(any_formula, names, mark)),
        "greatest_key": scoring_once(_rebound(any_greatest_key, names, mark)),
    }
    return _kernels(mark, replaced)


@cache
def _own_kernels(name: str, definition: bytes) -> FormulaKernels:
    """Where nothing is compiled there are no addresses."""
    mark = _marked(definition)
    return _kernels(mark, {"formula_value": compiled(Formula(name), mark)})


@cache
def _code(name: str, definition: bytes) -> tuple[Any, Any]:
    """The code of a formula; one that is registered anew under its name has another."""
    mark = _marked(definition)
    names = globals() | _scored_by(Formula(name), mark)
    return (
        scoring_code(_rebound(of_counts, names, mark), OF_COUNTS),
        scoring_code(_rebound(of_sums, names, mark), OF_SUMS),
    )


def _scored_by(formula: Formula | None, mark: str) -> dict[str, Any]:
    """A formula, None for the ratio of weighted sums, and what scores sums by it."""
    names = dict(vars(scoring))
    if formula is not None:
        names["formula_value"] = compiled(formula, mark)
    else:
        names["formula_value"] = scoring_inner(_rebound(scoring.formula_value, names, mark))
    for inner in (scoring.key_of, scoring.score_key, scoring.greatest_key):
        names[inner.__name__] = scoring_once(_rebound(inner, names, mark))
    return {name: names[name] for name in ("formula_value", "greatest_key")}


def _marked(definition: bytes) -> str:
    return sha256(_sources() + definition).hexdigest()[:16]


def _kernels(mark: str, replaced: dict[str, Any]) -> FormulaKernels:
    """All kernels, with some of what they call replaced."""
    names: dict[str, Any] = {}
    for module in (scoring, refine, merge, grow, heads, category_sets, tables):
        names |= vars(module)
    names |= replaced
    for inner in _INNER:
        if inner.__name__ not in replaced:
            compile_inner = scoring_once if inner in _INLINED else scoring_inner
            names[inner.__name__] = compile_inner(_rebound(inner, names, mark))
    for kernel in _KERNELS:
        names[kernel.__name__] = scoring_kernel(_rebound(kernel, names, mark))
    return FormulaKernels(*(names[kernel.__name__] for kernel in _KERNELS))


@cache
def _sources() -> bytes:
    """The source of all kernels: a change of any is a change of all."""
    folder = Path(__file__).parent
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))


def compiled(formula: Formula, mark: str = "") -> Any:
    """A formula as a compiled function that takes the place of `scoring.formula_value`.

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
    """Copy a function, with other globals and another name.

    Numba keeps and links compiled code by name, so the name must distinguish formulas.
    """
    bound = FunctionType(
        function.__code__, names, f"{function.__name__}_{mark}", function.__defaults__,
        function.__closure__,
    )  # fmt: skip
    bound.__qualname__ = bound.__name__
    return bound


# Formulas that kernels call by the addresses of their compiled code; see README.md, "Formulas".

intrinsic: Any = _intrinsic  # the arguments of a call have no context among them
_INTEGER, _REAL = ir.IntType(64), ir.DoubleType()
_FLAT = types.Array(types.int64, 1, "C")

OF_COUNTS = types.float64(*[types.float64] * 6)
OF_SUMS = types.int64(
    types.int64, types.CPointer(types.int64), *[types.int64] * 8, types.float64, types.float64
)


class FormulaScoring(NamedTuple):
    """What a formula reads of a `Scoring`, and the key of a sum.

    `short` is true: only ratios of weighted sums ask for the prior.
    """

    head_relative: bool
    smallest: int
    unit: float
    parameter: float
    short: bool


@intrinsic
def _call_of_counts(typingctx, address, tp, fp, tn, fn, unit, parameter):
    """The score of four counts, in units."""

    def generate(context, builder, signature, arguments):
        return _call(builder, _REAL, arguments)

    return OF_COUNTS.return_type(types.int64, *OF_COUNTS.args), generate


@intrinsic
def _call_of_sums(
    typingctx, address, value, sums, start, stop, offset, sign, everywhere, floor, head_relative,
    smallest, unit, parameter,
):  # fmt: skip
    """The greatest key of a stretch of sums; see `scoring.greatest_key`."""

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[2])(context, builder, arguments[2])
        return _call(builder, _INTEGER, [*arguments[:2], array.data, *arguments[3:]])

    before, _, *after = OF_SUMS.args
    return types.int64(types.int64, before, _FLAT, *after), generate


def _call(builder: Any, given_back: Any, arguments: Any) -> Any:
    address, *others = arguments
    shape = ir.FunctionType(given_back, [each.type for each in others])
    return builder.call(builder.inttoptr(address, shape.as_pointer()), others)


def any_formula(tp, fp, tn, fn, prior, scoring):
    """In place of `scoring.formula_value`: that one, or the code at an address."""
    if scoring.of_counts:
        return _call_of_counts(scoring.of_counts, tp, fp, tn, fn, scoring.unit, scoring.parameter)
    return formula_value(tp, fp, tn, fn, prior, scoring)


def any_greatest_key(value, sums, start, stop, offset, sign, everywhere, floor, scoring):
    """In place of `scoring.greatest_key`, likewise: one call for many sums."""
    if scoring.of_sums:
        return _call_of_sums(
            scoring.of_sums, value, sums, start, stop, offset, sign, everywhere, floor,
            scoring.head_relative, scoring.smallest, scoring.unit, scoring.parameter,
        )  # fmt: skip
    return greatest_key(value, sums, start, stop, offset, sign, everywhere, floor, scoring)


def of_counts(tp, fp, tn, fn, unit, parameter):
    """What `_call_of_counts` calls, with the formula among its globals."""
    scoring = FormulaScoring(False, 0, unit, parameter, True)
    return np.float64(formula_value(tp, fp, tn, fn, 0.0, scoring))


def of_sums(
    value, sums, start, stop, offset, sign, everywhere, floor, head_relative, smallest, unit,
    parameter,
):  # fmt: skip
    """What `_call_of_sums` calls, with the formula's `greatest_key` among its globals."""
    scoring = FormulaScoring(head_relative != 0, smallest, unit, parameter, True)
    return greatest_key(
        value, carray(sums, stop), start, stop, offset, sign, everywhere, floor, scoring
    )
