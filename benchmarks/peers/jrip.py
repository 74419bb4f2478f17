"""Weka's JRip for each label, or in a chain, as `worker.py` runs them."""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from parts.environments import peers_folder, run
from parts.peer_jrip import class_path, write_arrays

from peers import counting
from peers.counting import Size

WORKER = Path(__file__).with_name("JRipLayers.java")


def compiled() -> str:
    """The class path of Weka and both workers."""
    path = class_path()
    folder = peers_folder() / "weka"
    run("javac", "-cp", path, "-d", str(folder), str(WORKER))
    return path


def in_java(
    job: dict[str, object], kinds: np.ndarray, parts: list[tuple[np.ndarray, np.ndarray]]
) -> dict[str, object]:
    """The result of a job, as `worker.py` gives it."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.bin")
        write_arrays(path, kinds.tolist(), parts)
        command = ["java", "-XX:+UseSerialGC", f"-Xmx{job['java_memory']}m"]
        command += ["-cp", str(job["class_path"]), "JRipLayers", str(path), str(job["layers"])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    version, times, *labels = done.stdout.splitlines()
    learning, predicting = map(float, times.split())
    found = [line.split() for line in labels]
    size = counting.total(_size(*map(int, cells[:3])) for cells in found)
    columns = [cells[3] for cells in found]
    return {
        "version": version,
        "fit_seconds": learning,
        "predict_seconds": predicting,
        "rules": size.rules,
        "literals": size.literals,
        "predicted": ["".join(row) for row in zip(*columns, strict=True)],
    }


def _size(n_rules: int, n_conditions: int, is_default_present: int) -> Size:
    return counting.of_jrip(n_rules, n_conditions, bool(is_default_present))
