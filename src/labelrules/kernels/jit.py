"""How functions are compiled: kernels that Python calls, and what only kernels call.

Compiling takes seconds, so functions are compiled with no more than they need. A kernel is kept on
disk. What only kernels call has no entry for Python: *calling it from Python crashes*, unless
compiling is switched off. Numba's `inline="always"` is not used: it takes long for all but the
smallest functions, and LLVM inlines as well. A number in the code that is an argument should be
typed, as in `np.int64(0)`, where a variable may stand in its place elsewhere: functions are
compiled anew for each literal number.
"""

from functools import partial
from typing import Any

from numba import njit
from numba.core import event
from numba.extending import overload

from labelrules import _compiling

_njit: Any = njit  # its types do not know the options
_ONLY_KERNELS = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}

kernel = _njit(nogil=True, cache=True, no_cfunc_wrapper=True)
"""Called from Python, and kept on disk."""

inner = _njit(**_ONLY_KERNELS)
"""Called from kernels only."""

tested = _njit(no_cfunc_wrapper=True)
"""The same, but tests call it, too."""

small = _njit(forceinline=True, no_cfunc_wrapper=True)
"""A few instructions on numbers, which tests may call, too."""

tiny = _njit(forceinline=True, **_ONLY_KERNELS)
"""The same for kernels only."""

chosen_by_type = partial(overload, jit_options={"forceinline": True})
"""Decorates what chooses the compiled form of a plain function by the types of its arguments."""

scoring_kernel = _njit(error_model="numpy", nogil=True, cache=True, no_cfunc_wrapper=True)
"""A kernel that contains a formula: a division by zero gives NaN or infinity."""

scoring_inner = _njit(error_model="numpy", **_ONLY_KERNELS)
"""What only such kernels call."""

scoring_once = _njit(error_model="numpy", forceinline=True, **_ONLY_KERNELS)
"""What is called at one place only: inlined, many arguments need not be handed over."""

formula_of_scoring = _njit(error_model="numpy", no_cfunc_wrapper=True)
"""A formula; tests may call it, too."""


class _CompileListener(event.Listener):
    """Tells when kernels are compiled; functions that they call are compiled meanwhile."""

    depth = 0

    def on_start(self, event: Any) -> None:
        """Called by Numba with its lock held, so by one thread at a time."""
        if self.depth == 0 and not _is_ours(event):
            return
        self.depth += 1
        if self.depth == 1:
            _compiling.begin()

    def on_end(self, event: Any) -> None:
        """See `on_start`; compilations are nested."""
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            _compiling.end()


def _is_ours(event: Any) -> bool:
    name: str = event.data["dispatcher"].py_func.__globals__["__name__"]
    return name.startswith("labelrules.")


event.register("numba:compile", _CompileListener())
