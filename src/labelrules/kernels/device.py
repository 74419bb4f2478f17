"""The GPU: whether there is one, whether it is worth its while, and its errors in plain words."""

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from traceback import clear_frames
from typing import Any, Literal, TypeAlias

from labelrules._checks import one_of

LOGGER = logging.getLogger("labelrules")

Engine: TypeAlias = Literal["auto", "cpu", "gpu"]

ENGINES = ("auto", "cpu", "gpu")

WORTH_A_GPU = 20_000_000
"""Cells of a table below which `engine="auto"` stays on the CPU: starting takes longer."""

WORTH_TESTS = 500_000_000
"""Rows times conditions below which `engine="auto"` predicts on the CPU, in two seconds or less."""

CUDA_DEVICES = (2, 13)
"""What DLPack calls the memory of a GPU, and memory that the GPU shares with the host."""

INSTALL = "install labelrules[gpu] (CuPy for CUDA 13; for another CUDA the CuPy made for it)"


NO_BINS = "engine='gpu' counts the rows of bins: set bins, as in bins=255, or engine='cpu'"

PARTS_ON_CPU = (
    "rows in partitions are counted on the CPU: leave engine out, or give the rows as an array"
)


class DeviceError(RuntimeError):
    """There is no GPU, its memory is full, or it has failed; what to do is said."""


def checked_engine(engine: Any) -> Engine:
    """The name of an engine."""
    found: Engine = one_of(engine, "engine", ENGINES)  # type: ignore[assignment]
    return found


@cache
def why_no_gpu() -> str | None:
    """Why no GPU can be used, and what to do; None if one can."""
    if find_spec("cupy") is None:
        return f"CuPy is not installed: {INSTALL}"
    try:
        import cupy

        n_devices = cupy.cuda.runtime.getDeviceCount()
    except ImportError as error:
        return f"CuPy cannot be imported ({error}): {INSTALL}"
    except Exception as error:  # CuPy has errors of its own for a driver that is missing or old
        return f"CUDA finds no GPU ({error}): check with nvidia-smi that there is one"
    return None if n_devices else "CUDA finds no GPU: check with nvidia-smi that there is one"


def uses_gpu(engine: Engine, n_cells: int, *, logs: bool = True) -> bool:
    """Whether a table with so many cells goes to the GPU; an error if it should and there is none.

    With "auto" it goes there if there is a GPU and the table is large; without one a line of the
    log says so, if it `logs`.
    """
    if engine == "cpu" or (engine == "auto" and n_cells < WORTH_A_GPU):
        return False
    reason = why_no_gpu()
    if reason is None:
        return True
    if engine == "gpu":
        raise DeviceError(f"engine='gpu' needs a GPU, but {reason}; or set engine='cpu'")
    if logs:
        LOGGER.info("engine='auto' takes the CPU: %s", reason)
    return False


def may_use_gpu(engine: Any) -> bool:
    """Whether a GPU may be taken at all: it is asked for, or "auto" finds one."""
    return engine == "gpu" or (checked_engine(engine) == "auto" and why_no_gpu() is None)


def cpu_instead(engine: Engine, error: DeviceError) -> None:
    """Go on with the CPU if that is allowed, log why and free the GPU; else raise the error."""
    if engine == "gpu":
        raise error
    LOGGER.info("engine='auto' takes the CPU: %s", error)
    forget_arrays(error)


def forget_arrays(error: BaseException) -> None:
    """Give back the memory of the GPU that functions hold which an error has ended."""
    reason: BaseException | None = error
    while reason is not None:
        clear_frames(reason.__traceback__)
        reason = reason.__cause__
    cupy: Any = sys.modules.get("cupy")
    if cupy is not None:
        cupy.get_default_memory_pool().free_all_blocks()


def predicts_on_gpu(engine: Engine, X: Any, n_tests: int) -> bool:
    """Whether rules are applied on the GPU; an error if they should be and there is none.

    With "auto" they are if there is a GPU, and the table is there or it is worth its while.
    """
    if engine == "auto" and n_tests < WORTH_TESTS and not is_on_gpu(X):
        return False
    return uses_gpu(engine, WORTH_A_GPU)


@contextmanager
def gpu_errors() -> Iterator[None]:
    """Within it, errors of CuPy become errors in plain words."""
    try:
        yield
    except Exception as error:
        message = _plain_words(error)
        if message is None:
            raise
        raise DeviceError(message) from error


def _plain_words(error: Exception) -> str | None:
    """What an error of CuPy means; None for other errors."""
    cupy: Any = sys.modules.get("cupy")
    if cupy is None:
        return None
    if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
        return (
            f"the memory of the GPU is full ({_memory(cupy)}): end other programs that use it "
            "(nvidia-smi lists them), set engine='cpu', or learn from fewer rows or columns"
        )
    if isinstance(error, RuntimeError) and str(error).startswith("CuPy failed to load"):
        return (
            f"CuPy misses a part of CUDA ({_first_line(error)}): install the CUDA toolkit that "
            "this CuPy was made for, or set engine='cpu'"
        )
    kinds = (cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError)
    if not isinstance(error, (*kinds, cupy.cuda.compiler.CompileException)):
        return None
    if "memory allocation" in str(error).lower() or "out_of_memory" in str(error).lower():
        return f"the memory of the GPU is full ({_memory(cupy)}): end other programs that use it"
    return (
        f"the GPU or its driver failed ({_first_line(error)}): start Python anew, since CUDA does "
        "not recover within a program, or set engine='cpu'"
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:200]


def _memory(cupy: Any) -> str:
    try:
        free, total = cupy.cuda.runtime.memGetInfo()
    except Exception:  # after a failure of the driver nothing can be asked
        return "its size cannot be asked for"
    return f"{free / 1e9:.1f} of {total / 1e9:.1f} GB are free"


def free_bytes() -> int:
    """The free memory of the GPU; `LABELRULES_GPU_MEMORY` (in MB) may set a lower limit."""
    import cupy

    free = cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes()
    limit = os.environ.get("LABELRULES_GPU_MEMORY")
    if limit is None:
        return int(free)
    if not limit.isdecimal():
        raise ValueError(f"LABELRULES_GPU_MEMORY must be a whole number of MB, not {limit!r}")
    return int(min(free, int(limit) << 20))


def is_on_gpu(X: Any) -> bool:
    """Whether a table is in the memory of a GPU: of CuPy, PyTorch, JAX, cuDF and others.

    It says so by DLPack or the CUDA array interface.
    """
    if _is_of_cudf(X):
        return True
    device_of = getattr(X, "__dlpack_device__", None)
    if device_of is not None and not isinstance(X, type):
        return int(device_of()[0]) in CUDA_DEVICES
    return hasattr(type(X), "__cuda_array_interface__")


def on_gpu(X: Any) -> Any:
    """An array that is on a GPU already, of whatever library, as one of CuPy; not copied."""
    import cupy

    if hasattr(X, "__cuda_array_interface__"):
        return cupy.asarray(X)
    return cupy.from_dlpack(X)


def _is_of_cudf(X: Any) -> bool:
    return type(X).__module__.split(".", 1)[0] == "cudf"
