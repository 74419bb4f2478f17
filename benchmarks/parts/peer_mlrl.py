"""The peer mlrl-seco: its environment, and a process that learns with it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from labelrules import Body, Condition, Dataset, Rule
from labelrules.rules import Head

PEERS = Path(__file__).resolve().parents[1] / ".peers"
ENVIRONMENT = PEERS / "mlrl-seco"
WORKER = Path(__file__).resolve().with_name("mlrl_worker.py")
OPERATORS = {"<=": "<=", ">": ">", "==": "=", "!=": "!="}


class PeerError(Exception):
    """The peer cannot be had; the message says why."""


def interpreter() -> Path:
    """The interpreter of an environment with the newest mlrl-seco that this Python takes.

    An environment of its own, because the peer pins scikit-learn to one minor version.
    """
    binary = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    python = ENVIRONMENT / binary
    if not (ENVIRONMENT / "complete").exists():
        PEERS.mkdir(exist_ok=True)
        (PEERS / ".gitignore").write_text("*\n")
        _run(sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT))
        _run(str(python), "-m", "pip", "install", "--quiet", "mlrl-seco")
        (ENVIRONMENT / "complete").touch()
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines() or ["it does not say why"]
        raise PeerError(f"'{' '.join(command[1:4])}' failed: {lines[-1]}")


class Peer:
    """A process with one data set in which mlrl-seco learns on request."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def ask(self, question: str) -> Any:
        """Put a question to the worker."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{question}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise PeerError(f"its process ended when asked for {question!r}")
        return json.loads(answer)

    def rules(self, n_labels: int) -> list[Rule]:
        """The rules learned last as ours, without the default rule."""
        return [
            Rule(
                Head(dict(predictions), n_labels),
                Body(Condition(column, OPERATORS[how], value) for column, how, value in body),
            )
            for body, predictions in self.ask("rules")
            if body
        ]


@contextmanager
def peer_with(data: Dataset) -> Iterator[Peer]:
    """Start a peer with a data set; X is dense, which is faster for it on our sparse sets."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.npz")
        nominal = [i for i, feature in enumerate(data.schema.features) if feature.is_nominal]
        X = data.X.toarray() if data.is_sparse else data.X
        np.savez(path, X=np.asfortranarray(X), Y=data.Y, nominal=np.array(nominal, dtype=int))
        process = subprocess.Popen(
            [str(interpreter()), str(WORKER), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        with process:  # closes its input, which ends it, and waits
            yield Peer(process)
