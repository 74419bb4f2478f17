"""One fit in a process of its own, which is ended when it needs too much time or memory."""

import json
import os
import signal
import subprocess
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from parts.environments import PeerError, peers_folder
from parts.sets import part
from quality import qualities

from labelrules import Dataset
from labelrules.data import fingerprint
from labelrules.lab.measuring import as_numbers
from peers.catalog import Peer
from peers.installing import python_for, weka

BENCHMARKS = Path(__file__).resolve().parents[1]
POLLS_PER_SECOND = 4
WALL_FACTOR = 10
"""A process may wait, for others that use the machine, but not for ever."""
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Limits(NamedTuple):
    """What a fit may use: seconds of processor time, and megabytes of resident memory."""

    seconds: float = 900.0
    megabytes: int = 3000


def outcome(peer: Peer, name: str, limits: Limits) -> dict[str, Any]:
    """What came of a fit, as it is kept: its status, and why, or its measures, size and times."""
    try:
        python = python_for(peer.program)
        extra = {"class_path": weka()} if peer.program == "weka" else {}
    except PeerError as wrong:
        return {"status": "not installed", "message": str(wrong)}
    with TemporaryDirectory() as folder:
        found = Path(folder, "result.json")
        job = {"program": peer.program, "settings": peer.settings, "set": name, **extra}
        job |= {"data": str(arrays(name)), "result": str(found)}
        job["layers"] = peer.settings.get("layers")
        job["java_memory"] = limits.megabytes - 500
        Path(folder, "job.json").write_text(json.dumps(job))
        ended = run_limited(
            [str(python), "-m", "peers.worker", f"{folder}/job.json"], folder, limits
        )
        if ended is not None:
            return ended
        return _measured(json.loads(found.read_text()), divided(name)[1].Y)


@cache
def divided(name: str) -> tuple[Dataset, Dataset]:
    """The rows for training and those for testing."""
    return part(name, "train"), part(name, "test")


@cache
def fingerprints(name: str) -> list[str]:
    """Hashes of both parts."""
    return [fingerprint(one) for one in divided(name)]


def arrays(name: str) -> Path:
    """A file with a data set for the processes: features as codes of categories, and as numbers."""
    folder = peers_folder() / "arrays"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-{fingerprints(name)[0][:16]}.npz"
    if not path.exists():
        save_arrays(folder / "unfinished.npz", *divided(name))
        (folder / "unfinished.npz").replace(path)
    return path


def save_arrays(path: Path, train: Dataset, test: Dataset) -> None:
    """Write a data set."""
    kinds = [len(feature.categories or ()) for feature in train.schema.features]
    np.savez(
        path,
        codes=_dense(train.X),
        codes_test=_dense(test.X),
        numbers=_dense(as_numbers(train)),
        numbers_test=_dense(as_numbers(test)),
        kinds=np.array(kinds, dtype=int),
        Y=train.Y,
    )


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def run_limited(command: list[str], folder: str, limits: Limits) -> dict[str, Any] | None:
    """Wait for a process, or end it at a limit; returns why it has no result, or None."""
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(BENCHMARKS)}
    start = time.monotonic()
    with Path(folder, "errors").open("wb") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,  # closed when this program ends, which ends the process
            stdout=errors,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
        try:
            while process.poll() is None:
                time.sleep(1 / POLLS_PER_SECOND)
                beyond = too_much(*used(process.pid), time.monotonic() - start, limits)
                if beyond:
                    return beyond
        finally:
            _end(process)
    if process.returncode:
        return {"status": "failed", "message": _why(process.returncode, Path(folder, "errors"))}
    return None


def too_much(
    seconds: float, megabytes: float, waited: float, limits: Limits
) -> dict[str, Any] | None:
    """What to note of a process that is over a limit.

    >>> too_much(901.0, 100.0, 950.0, Limits(900.0))
    {'status': 'timed out', 'message': 'stopped after 900 s of processor time'}
    >>> too_much(10.0, 3001.0, 12.0, Limits())["status"]
    'out of memory'
    >>> too_much(10.0, 100.0, 12.0, Limits())
    """
    if megabytes > limits.megabytes:
        message = f"stopped at more than {limits.megabytes:,} MB"
        return {"status": "out of memory", "message": message}
    if seconds > limits.seconds:
        message = f"stopped after {limits.seconds:g} s of processor time"
        return {"status": "timed out", "message": message}
    if waited > WALL_FACTOR * limits.seconds:
        message = f"stopped after {waited:.0f} s, of them {seconds:.0f} s of processor time"
        return {"status": "timed out", "message": message}
    return None


def used(group: int) -> tuple[float, float]:
    """The processor time and resident memory, in megabytes, of all processes of a group."""
    seconds = pages = 0.0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            cells = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(cells[2]) == group:
            seconds += sum(map(int, cells[11:15])) / _TICKS  # with children that have ended
            pages += int(cells[21])
    return seconds, pages * _PAGE / 1e6


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process, and what it has started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _why(code: int, errors: Path) -> str:
    """How a process ended, and the last line that it wrote."""
    lines = errors.read_text(errors="replace").strip().splitlines()
    last = lines[-1][:200] if lines else "no message"
    return f"{signal.Signals(-code).name}: {last}" if code < 0 else last


def _measured(found: dict[str, Any], truth: np.ndarray) -> dict[str, Any]:
    """The outcome of a fit that was finished."""
    predicted = np.array([[int(cell) for cell in row] for row in found.pop("predicted")])
    if predicted.shape != truth.shape:
        message = f"predictions are {predicted.shape}, labels {truth.shape}"
        return {"status": "failed", "message": message}
    micro, example, subset, _ = (float(one) for one in qualities(truth, predicted))
    measures = {"micro_f1": micro, "example_f1": example, "subset": subset}
    return {"status": "done", "message": "", **measures, **found}
