"""Formulas that kernels call by the addresses of their compiled code; see README.md, "Formulas"."""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic as _intrinsic

from labelrules.kernels.scoring import formula, greatest_key

intrinsic: Any = _intrinsic  # the arguments of a call have no context among them
_INTEGER, _REAL = ir.IntType(64), ir.DoubleType()
_FLAT = types.Array(types.int64, 1, "C")

OF_COUNTS = types.float64(*[types.float64] * 6)
OF_SUMS = types.int64(
    types.int64, types.CPointer(types.int64), *[types.int64] * 8, types.float64, types.float64
)


class FormulaScoring(NamedTuple):
    """What a formula reads of a `Scoring`, and the key of a sum."""

    head_relative: bool
    smallest: int
    unit: float
    parameter: float


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
    """In place of `scoring.formula`: that one, or the code at an address."""
    if scoring.of_counts:
        return _call_of_counts(scoring.of_counts, tp, fp, tn, fn, scoring.unit, scoring.parameter)
    return formula(tp, fp, tn, fn, prior, scoring)


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
    scoring = FormulaScoring(False, 0, unit, parameter)
    return np.float64(formula(tp, fp, tn, fn, 0.0, scoring))


def of_sums(
    value, sums, start, stop, offset, sign, everywhere, floor, head_relative, smallest, unit,
    parameter,
):  # fmt: skip
    """What `_call_of_sums` calls, with the formula's `greatest_key` among its globals."""
    scoring = FormulaScoring(head_relative != 0, smallest, unit, parameter)
    return greatest_key(
        value, carray(sums, stop), start, stop, offset, sign, everywhere, floor, scoring
    )
