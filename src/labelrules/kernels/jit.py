"""How functions are compiled: kernels that Python calls, and what only kernels call.

Compiling takes seconds, so functions are compiled with no more than they need. A kernel is kept on
disk. What only kernels call is linked into them, and optimised and made machine code there only. It
has no entry for Python: *calling it from Python crashes*, unless compiling is switched off. Numba's
`inline="always"` is not used: it takes long for all but the smallest functions, and LLVM inlines as
well. A number in the code that is an argument should be typed, as in `np.int64(0)`, where a
variable may stand in its place elsewhere: functions are compiled anew for each literal number.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event
from numba.core.caching import FunctionCache, IndexDataCacheFile
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
    """The code of a function that is optimised with the kernel only."""

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


class _CodeFiles(IndexDataCacheFile):
    """Numba's files of compiled code, each ending with the hash of what it holds.

    A damaged file is one that is not there. Code has its own key beside it: of several processes
    that write at once, one may leave an index that leads to the code of another.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep the code for a key."""
        super().save(key, (self._source_stamp, key, data))

    def load(self, key: Any) -> Any:
        """The code for a key, or None."""
        stamp, its_key, data = super().load(key) or (None, None, None)
        return data if (stamp, its_key) == (self._source_stamp, key) else None

    def _load_index(self) -> Any:
        try:
            return super()._load_index() if _is_whole(self._index_path) else {}
        except Exception:  # the types in it are those of another version of some library
            return {}

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if _is_whole(self._data_path(name)) else None

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BytesIO]:
        with super()._open_for_write(filepath) as file:
            content = BytesIO()
            yield content
            file.write(content.getvalue() + _digest(content.getvalue()))


def _is_whole(path: str) -> bool:
    """Whether a file can be read and ends with the hash of what comes before."""
    try:
        content = Path(path).read_bytes()
    except OSError:
        return False
    size = len(_digest(b""))
    return _digest(content[:-size]) == content[-size:]


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


class _KeptCode(FunctionCache):
    """Compiled code on disk; what is wrong with the files there only costs time."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        locator, name = self._impl.locator, self._impl.filename_base
        self._cache_file = _CodeFiles(self._cache_path, name, locator.get_source_stamp())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for some types; None if it must be compiled."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # so is the code
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code, unless the disk is full or nothing may be written there."""
        try:
            super().save_overload(sig, data)
        except OSError as wrong:
            _compiling.say_not_kept(self._cache_path, wrong.strerror or str(wrong))


def _kept(decorate: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A decorator for functions whose code is kept on disk."""

    def decorated(function: Any) -> Any:
        found = decorate(function)
        if hasattr(found, "_cache"):  # compiling is not switched off
            found._cache = _KeptCode(function)
        return found

    return decorated


_njit: Any = partial(njit, no_cfunc_wrapper=True)  # its types do not know the options
_KERNEL = {"nogil": True, "pipeline_class": _KernelCompiler}
_ONLY_KERNELS = {"no_cpython_wrapper": True, "pipeline_class": _UnoptimisedCompiler}
_OPTIMISED = {"no_cpython_wrapper": True, "pipeline_class": _LinkedCompiler}

kernel = _kept(_njit(**_KERNEL))
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

scoring_kernel = _kept(_njit(error_model="numpy", **_KERNEL))
"""A kernel that contains a formula: a division by zero gives NaN or infinity."""

scoring_inner = _njit(error_model="numpy", **_ONLY_KERNELS)
"""What only such kernels call."""

scoring_once = _njit(error_model="numpy", forceinline=True, **_ONLY_KERNELS)
"""What is called at one place only, or short: inlined, arguments need not be handed over."""

formula_of_scoring = _njit(error_model="numpy")
"""A formula; tests may call it, too."""

_scoring_code = _kept(
    _njit(
        error_model="numpy", no_cfunc_wrapper=False, no_cpython_wrapper=True,
        pipeline_class=_KernelCompiler,
    )
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
        """Called by Numba likewise; compilations are nested."""
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0:
            _compiling.end()


def _is_ours(event: Any) -> bool:
    name: str = event.data["dispatcher"].py_func.__globals__["__name__"]
    return name.startswith("labelrules.")


event.register("numba:compile", _CompileListener())
