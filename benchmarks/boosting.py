"""Rules for all labels beside LightGBM once for each label: time, memory and quality, in one run.

`python boosting.py [MILLIONS]` writes the tables of `out_of_core.py`, by default 1,000,000 rows of
50 features and 20 labels, and 250,000 more for the test. Both programs learn from them in memory on
one thread, and by Dask on two workers of one thread each, with `lightgbm.DaskLGBMClassifier`.
LightGBM has an environment of its own, with the newest release.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from out_of_core import ROWS_OF_A_FILE, write_parts
from parts.environments import PeerError, interpreter
from parts.tables import header, row

WORKER = Path(__file__).parent / "parts" / "boosting_worker.py"
NEEDED = "lightgbm", "dask", "distributed", "pandas", "pyarrow", "scikit-learn"
TEST_ROWS = 250_000


def learned(python: Path, program: str, where: str, folder: Path) -> dict[str, Any]:
    command = [str(python), "-W", "ignore", str(WORKER), program, where, str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def write_tables(folder: Path, n_millions: int) -> None:
    """The last file has rows that are not learned from."""
    train, test = folder / "train", folder / "test"
    train.mkdir()
    test.mkdir()
    write_parts(train, n_millions * ROWS_OF_A_FILE + TEST_ROWS)
    last = train / f"part-{n_millions}.parquet"
    shutil.move(last, test / last.name)


def main() -> None:
    n_millions = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    pythons = {"labelrules": Path(sys.executable)}
    try:
        pythons["LightGBM"] = interpreter(*NEEDED)
    except PeerError as wrong:
        print(f"LightGBM is not compared: {wrong}")
    with tempfile.TemporaryDirectory(prefix="labelrules-boosting-") as name:
        write_tables(Path(name), n_millions)
        print(header("", "wall s", "CPU s", "peak MB", "micro-F1", "subset accuracy"))
        for where in ("memory", "cluster"):
            for program, python in pythons.items():
                found = learned(python, program, where, Path(name))
                cells = [f"{found[part]:,.1f}" for part in ("wall", "cpu")]
                cells += [f"{found['peak']:,.0f}", f"{found['f1']:.4f}", f"{found['subset']:.4f}"]
                kind = "in memory" if where == "memory" else "two workers"
                print(row(f"{program}, {kind}", *cells), flush=True)


if __name__ == "__main__":
    main()
