"""What compiling costs: the first fit with an empty folder for compiled code, learner by learner.

Each learner in a process of its own, on the magazines: CPU time of the process, with imports, of
its first fit and prediction, and of a fit by another measure after it; then the same in a later
process, which finds the compiled code on disk.
"""

import json
import os
import subprocess
import sys
import tempfile

from parts.tables import header, row

LEARNERS = {
    "SeparateAndConquer()": 'SeparateAndConquer(measure="laplace")',
    'SeparateAndConquer(measure="precision", heads="multi")': (
        'SeparateAndConquer(measure="f1", heads="multi")'
    ),
    "SeparateAndConquer(beam_width=3)": 'SeparateAndConquer(beam_width=3, measure="m-estimate")',
    'SeparateAndConquer(measure="correlation")': 'SeparateAndConquer(measure="klosgen")',
    "BinaryRelevance(Ripper())": None,
    "ClassifierChain()": None,
    "StackedBinaryRelevance()": None,
    "LabelPowerset()": None,
    "AssociativeClassifier()": None,
    "LazyAssociativeClassifier()": None,
    "Scorecard()": None,
}
"""Each learner, and the same with another measure."""

PROGRAM = """
import json, logging, sys, time, warnings
logging.getLogger("labelrules").setLevel("WARNING")
warnings.simplefilter("ignore")
from labelrules import *
imported = time.process_time()
data = load("magazines")
eval(sys.argv[1]).fit(data).predict(data)
first = time.process_time()
if len(sys.argv) > 2:
    eval(sys.argv[2]).fit(data).predict(data)
print(json.dumps([imported, first, time.process_time() - first]))
"""


def seconds(folder: str, *learners: str) -> list[float]:
    """CPU seconds of importing, of everything up to the first prediction, and of what follows."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *learners],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": folder, "OMP_NUM_THREADS": "1"},
    )
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    names = ("learner", "imports, CPU s", "first fit, with imports", "another measure", "later")
    print(header(*names))
    for learner, other in LEARNERS.items():
        with tempfile.TemporaryDirectory() as folder:
            imports, first, second = seconds(folder, learner, *([other] if other else []))
            _, later, _ = seconds(folder, learner)
        another = f"{second:.2f}" if other else ""
        print(row(f"`{learner}`", f"{imports:.2f}", f"{first:.2f}", another, f"{later:.2f}"))


if __name__ == "__main__":
    main()
