"""Kernels with a formula inside, compiled once and kept on disk."""

from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from numba import njit

from labelrules import kernels
from labelrules.kernels import growth, lanes, merge, refine, scoring
from labelrules.kernels.compiled import formula_with_parameter, makeup
from labelrules.measures import Formula

_INNER = (
    scoring.rank_of, scoring.score_rank, scoring.bound_rank, scoring.reach, scoring.limits,
    scoring.both_limits, scoring.greatest, scoring.greatest_of_column, scoring.better_value,
    scoring.scan_two, scoring.scan_values, scoring.can_reach, scoring.saturation,
    scoring.scan_block, scoring.mark_values, refine.scan_cuts, refine.scan_listed,
    refine.best_of_target,
    merge.limits_of, merge.add_right, merge.add_up, growth.best_condition,
)  # fmt: skip
"""What the kernels call, each after what it calls itself."""


_KERNELS = (
    refine.best_refinements, merge.score_heads, merge.best_merged, growth.grow_body,
    lanes.next_rules,
)  # fmt: skip


class Kernels(NamedTuple):
    """The kernels of one formula."""

    best_refinements: Any
    score_heads: Any
    best_merged: Any
    grow_body: Any
    next_rules: Any


def specialised(formula: Formula) -> Kernels:
    """The kernels for a formula; its parameter is given with each call.

    A formula registered anew under the same name has kernels of its own.
    """
    return _specialised(formula.name, makeup(formula))


@cache
def _specialised(name: str, made_of: bytes) -> Kernels:
    formula = Formula(name)
    mark = sha256(_sources() + made_of).hexdigest()[:16]
    compiled = formula_with_parameter(formula, mark)
    names: dict[str, Any] = {}
    for part in (scoring, refine, merge, growth, lanes):
        names |= vars(part)
    names["formula"] = compiled
    for inner in _INNER:
        names[inner.__name__] = njit(error_model="numpy")(_rebound(inner, names, mark))
    keep = njit(nogil=True, cache=True, error_model="numpy")
    for kernel in _KERNELS:  # the last one calls another
        names[kernel.__name__] = keep(_rebound(kernel, names, mark))
    return Kernels(*(names[kernel.__name__] for kernel in _KERNELS))


def _rebound(function: Any, names: dict[str, Any], mark: str) -> FunctionType:
    """The same function with other names around it.

    What is compiled is kept on disk, and linked, by its name: the name must tell one formula from
    another, in each function that depends on it.
    """
    bound = FunctionType(function.__code__, names, f"{function.__name__}_{mark}")
    bound.__qualname__ = bound.__name__
    return bound


@cache
def _sources() -> bytes:
    """What the kernels are made of: a change of any is a change of all."""
    folder = Path(kernels.__path__[0])
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))
