"""How functions are compiled: kernels that Python calls, and what only kernels call.

Compiling takes seconds, so functions are compiled with no more than they need. A kernel is kept on
disk. What only kernels call has no entry for Python: *calling it from Python crashes*, unless
compiling is switched off. Numba's `inline="always"` is not used: it takes long for all but the
smallest functions, and LLVM inlines as well.
"""

from functools import partial
from typing import Any

import numba
from numba.extending import overload

njit: Any = numba.njit
"""Numba's types know not all of its options."""

kernel = njit(nogil=True, cache=True, no_cfunc_wrapper=True)
"""Called from Python, and kept on disk."""

inner = njit(no_cfunc_wrapper=True, no_cpython_wrapper=True)
"""Called from kernels only."""

small = njit(forceinline=True, no_cfunc_wrapper=True)
"""A few instructions on numbers, which tests and other rooms may call, too."""

tiny = njit(forceinline=True, no_cfunc_wrapper=True, no_cpython_wrapper=True)
"""The same for kernels only."""

chosen_by_type = partial(overload, jit_options={"forceinline": True})
"""Decorates what chooses the compiled form of a plain function by the types of its arguments."""
