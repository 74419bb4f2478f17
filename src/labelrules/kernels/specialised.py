"""Kernels with a formula inside, compiled once and kept on disk."""

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple, cast

from numba import njit

from labelrules.kernels import growth, merge, refine, scoring
from labelrules.kernels.compiled import formula_with_parameter
from labelrules.measures import Formula, helpers

_INNER = (
    scoring.rank_of, scoring.score_rank, scoring.bound_rank, scoring.reach, scoring.limits,
    scoring.both_limits, scoring.greatest, scoring.greatest_of_column, scoring.better_value,
    scoring.scan_two, scoring.scan_values, scoring.scan_cuts, refine.best_of_target,
    merge.add_right, merge.add_up, growth.best_condition,
)  # fmt: skip
"""What the kernels call, each after what it calls itself."""


class Kernels(NamedTuple):
    """The kernels of one formula."""

    best_refinements: Any
    score_heads: Any
    best_merged: Any
    grow_body: Any


def specialised(formula: Formula) -> Kernels:
    """The kernels for a formula; its parameter is given with each call.

    A formula registered anew under the same name has other code, hence kernels of its own.
    """
    return _specialised(formula.name, formula.function.__code__)


@cache
def _specialised(name: str, code: CodeType) -> Kernels:
    formula = Formula(name)
    mark = _fingerprint(formula)
    compiled = formula_with_parameter(formula, mark)
    names = {**vars(scoring), **vars(refine), **vars(merge), **vars(growth), "formula": compiled}
    for inner in _INNER:
        names[inner.__name__] = njit(error_model="numpy")(_rebound(inner, names, mark))
    outer = (refine.best_refinements, merge.score_heads, merge.best_merged, growth.grow_body)
    keep = njit(nogil=True, cache=True, error_model="numpy")
    return Kernels(*(keep(_rebound(kernel, names, mark)) for kernel in outer))


def _rebound(function: Any, names: dict[str, Any], mark: str) -> FunctionType:
    """The same function with other names around it.

    What is compiled is kept on disk, and linked, by its name: the name must tell one formula from
    another, in each function that depends on it.
    """
    bound = FunctionType(function.__code__, names, f"{function.__name__}_{mark}")
    bound.__qualname__ = bound.__name__
    return bound


def _fingerprint(formula: Formula) -> str:
    """A short text that changes when the formula or any kernel does."""
    function = cast(FunctionType, formula.function)
    sources = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    parts = [*sources, *_parts((function, *helpers(function)))]
    return sha256(b"\0".join(parts)).hexdigest()[:16]


def _parts(functions: Iterable[FunctionType]) -> list[bytes]:
    """What a function does: its code, and the numbers that it takes from outside."""
    parts = []
    for function in functions:
        code = function.__code__
        outside = [function.__globals__.get(name) for name in code.co_names]
        outside += [cell.cell_contents for cell in function.__closure__ or ()]
        numbers = [number for number in outside if isinstance(number, int | float)]
        parts += [code.co_code, repr((code.co_consts, code.co_names, numbers)).encode()]
    return parts
