"""Formulas and the kernels that contain them, compiled once per formula and kept on disk.

This is the only kernel module that knows a `Formula`; all others know arrays and numbers.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple, cast

from numba import njit

from labelrules.kernels import heads, scoring
from labelrules.kernels.covering import grow, merge, refine
from labelrules.measures import Formula, helpers
from labelrules.measures.formulas import fingerprint

_INNER = (
    scoring.key_of, scoring.score_key, scoring.bound_key, scoring.reach, scoring.limits,
    scoring.both_limits, scoring.greatest, scoring.greatest_of_column, scoring.better_value,
    scoring.scan_two, scoring.scan_values, scoring.can_reach, scoring.saturation,
    scoring.scan_block, scoring.mark_values, refine.scan_cuts, refine.scan_listed,
    refine.best_of_target, merge.limits_of, merge.add_right, merge.add_up, grow.best_condition,
)  # fmt: skip
"""What the kernels call, each after what it calls itself."""

_KERNELS = (
    refine.best_refinements, merge.score_literals, merge.best_merged, grow.grow_body,
    heads.score_tallies,
)  # fmt: skip


class FormulaKernels(NamedTuple):
    """The kernels of one formula."""

    best_refinements: Any
    score_literals: Any
    best_merged: Any
    grow_body: Any
    score_tallies: Any


def kernels_for(formula: Formula) -> FormulaKernels:
    """The kernels for a formula; one registered anew under the same name has kernels of its own."""
    return _kernels_for(formula.name, fingerprint(formula))


@cache
def _kernels_for(name: str, definition: bytes) -> FormulaKernels:
    mark = sha256(_sources() + definition).hexdigest()[:16]
    names: dict[str, Any] = {}
    for module in (scoring, refine, merge, grow, heads):
        names |= vars(module)
    names["formula"] = compiled(Formula(name), mark)
    for inner in _INNER:
        names[inner.__name__] = njit(error_model="numpy")(_rebound(inner, names, mark))
    keep = njit(nogil=True, cache=True, error_model="numpy")
    return FormulaKernels(*(keep(_rebound(kernel, names, mark)) for kernel in _KERNELS))


@cache
def _sources() -> bytes:
    """The source of all kernels: a change of any is a change of all."""
    folder = Path(__file__).parent
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))


def compiled(formula: Formula, mark: str = "") -> Any:
    """A formula as a compiled function of four counts and its parameter, even if it has none.

    A division by zero gives NaN instead of an error, so that many counts can be scored at a time.
    All compiled functions carry the mark in their name; see `_rebound`.
    """
    function = cast(FunctionType, formula.function)
    # A compiled function can call compiled functions only, so its helpers are compiled first.
    names = dict(function.__globals__)
    for helper in reversed(helpers(function)):
        names[helper.__name__] = njit(error_model="numpy")(_rebound(helper, names, mark))
    inner = njit(error_model="numpy")(_rebound(function, names, mark))

    def parametric(tp, fp, tn, fn, parameter):
        return inner(tp, fp, tn, fn, parameter)

    def plain(tp, fp, tn, fn, parameter):
        return inner(tp, fp, tn, fn)

    outer: Any = plain if formula.parameter is None else parametric
    outer.__name__ = outer.__qualname__ = f"{outer.__name__}_{mark}"
    return njit(error_model="numpy")(outer)


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
