"""How functions are compiled: kernels that Python calls, and what only kernels call.

Compiling takes seconds, so functions are compiled with no more than they need. A kernel is kept on
disk. What only kernels call is linked into them, and optimised and made machine code there only. It
has no entry for Python: *calling it from Python crashes*, unless compiling is switched off. Numba's
`inline="always"` is not used: it takes long for all but the smallest functions, and LLVM inlines as
well. A number in the code that is an argument should be typed, as in `np.int64(0)`, where a
variable may stand in its place elsewhere: functions are compiled anew for each literal number.
"""

from functools import partial
from typing import Any

from numba import njit
from numba.core import event
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.extending import overload

from labelrules import _compiling


class _KernelLibrary(JITCodeLibrary):
    """The code of a kernel: optimised as a whole, not function by function before that, too."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class _LinkedLibrary(JITCodeLibrary):
    """The code of a function that only kernels call: never made machine code by itself."""

    @property
    def codegen(self) -> "_LinkedLibrary":
        """Who is told of the function's environment, which only calls from Python need."""
        return self

    def set_env(self, env_name: str, env: Any) -> None:
        """There is no machine code to keep it for."""

    def get_pointer_to_function(self, name: str) -> int:
        """Make the code ready for linking; 0 says that Python cannot call it."""
        self._ensure_finalized()
        return 0

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _UnoptimisedLibrary(_LinkedLibrary):
    """The same, to be optimised with the kernel only."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass


class _KernelCompiler(Compiler):
    """Numba's own, with another library for the code."""

    library: type[JITCodeLibrary] = _KernelLibrary

    def define_pipelines(self) -> Any:
        """Called by Numba before it compiles a function."""
        codegen = self.state.targetctx.codegen()
        self.state.library = self.library(codegen, self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        return super().define_pipelines()


class _LinkedCompiler(_KernelCompiler):
    library = _LinkedLibrary


class _UnoptimisedCompiler(_KernelCompiler):
    library = _UnoptimisedLibrary


_njit: Any = partial(njit, no_cfunc_wrapper=True)  # its types do not know the options
_KERNEL = {"nogil": True, "cache": True, "pipeline_class": _KernelCompiler}
_ONLY_KERNELS = {"no_cpython_wrapper": True, "pipeline_class": _UnoptimisedCompiler}
_OPTIMISED = {"no_cpython_wrapper": True, "pipeline_class": _LinkedCompiler}

kernel = _njit(**_KERNEL)
"""Called from Python, and kept on disk."""

inner = _njit(**_ONLY_KERNELS)
"""Called from kernels only."""

looped = _njit(**_OPTIMISED)
"""The same, optimised by itself: for short loops that LLVM handles worse among all others."""

tested = _njit()
"""The same, but tests call it, too."""

small = _njit(forceinline=True)
"""A few instructions on numbers, which tests may call, too."""

tiny = _njit(forceinline=True, **_OPTIMISED)
"""The same for kernels only."""

_INLINED: Any = {"forceinline": True, "pipeline_class": _UnoptimisedCompiler}
chosen_by_type = partial(overload, jit_options=_INLINED)
"""Decorates what chooses the compiled form of a plain function by the types of its arguments."""

scoring_kernel = _njit(error_model="numpy", **_KERNEL)
"""A kernel that contains a formula: a division by zero gives NaN or infinity."""

scoring_inner = _njit(error_model="numpy", **_ONLY_KERNELS)
"""What only such kernels call."""

scoring_once = _njit(error_model="numpy", forceinline=True, **_ONLY_KERNELS)
"""What is called at one place only, or short: inlined, arguments need not be handed over."""

formula_of_scoring = _njit(error_model="numpy")
"""A formula; tests may call it, too."""

_scoring_code = _njit(
    error_model="numpy", cache=True, no_cfunc_wrapper=False, no_cpython_wrapper=True,
    pipeline_class=_KernelCompiler,
)  # fmt: skip


def scoring_code(function: Any, signature: Any) -> Any:
    """What such kernels call by its address, compiled for types that C knows, and kept on disk."""
    return _scoring_code(function).get_compile_result(signature)


def address_of(code: Any) -> int:
    """Where the code is in memory, as long as somebody keeps the code."""
    address: int = code.library.get_pointer_to_function(code.fndesc.llvm_cfunc_wrapper_name)
    return address


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
