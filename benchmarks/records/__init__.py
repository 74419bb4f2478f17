"""What the library answers, kept as files of text: the parts of `benchmarks/record.py`."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Helpers of tests: a site of the workbench, calls of the command line, bad files, exports that run.
sys.path.append(str(ROOT / "tests"))

# Before NumPy is imported, and before a width of the terminal or a wish for colours is asked for.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.update(COLUMNS="100", LINES="40", NO_COLOR="1", MPLBACKEND="Agg", TZ="UTC")
