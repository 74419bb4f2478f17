"""What the library answers, kept as files of text: the parts of `benchmarks/record.py`."""

import os
import sys
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Helpers of tests: a site of the workbench, calls of the command line, bad files, exports that run.
sys.path.append(str(ROOT / "tests"))

# Before NumPy is imported, and before a width of the terminal or a wish for colours is asked for.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.update(COLUMNS="100", LINES="40", NO_COLOR="1", MPLBACKEND="Agg", TZ="UTC")


def _compiled_code() -> Path:
    """A folder for the compiled code of these sources.

    Numba looks at the file of a function only, and goes on with old code of what that calls: a
    change of a kernel that others call would leave records equal.
    """
    content, package = sha256(), find_spec("labelrules")
    folders = package.submodule_search_locations if package else None
    for path in sorted(path for one in folders or () for path in Path(one).rglob("*.py")):
        if {"kernels", "measures"} & {*path.parts}:
            content.update(path.read_bytes())
    return ROOT / ".records_cache" / content.hexdigest()[:16]


os.environ.setdefault("NUMBA_CACHE_DIR", str(_compiled_code()))
