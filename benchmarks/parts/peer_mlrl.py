"""The peer mlrl-seco: its environment, and a process that learns with it."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from parts.environments import PeerError, interpreter

from labelrules import Body, Condition, Dataset, Rule
from labelrules.rules import Head

WORKER = Path(__file__).resolve().with_name("mlrl_worker.py")
OPERATORS = {"<=": "<=", ">": ">", "==": "=", "!=": "!="}


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
            [str(interpreter("mlrl-seco")), str(WORKER), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        with process:  # closes its input, which ends it, and waits
            yield Peer(process)
