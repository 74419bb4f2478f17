"""The peer wittgenstein: one fit of its RIPPER in a process of its own."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from parts.environments import interpreter, run
from parts.peer_jrip import Built

from labelrules import Dataset

WORKER = Path(__file__).resolve().with_name("wittgenstein_worker.py")


def fitted(train: Dataset, test: Dataset, label: int) -> tuple[str, Built]:
    """Its version, and what came of one fit with its defaults, for dense numeric features."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.npz")
        np.savez(path, X=train.X, y=train.Y[:, label], test=test.X)
        found = json.loads(run(str(interpreter("wittgenstein")), str(WORKER), str(path)))
    sizes = found["n_rules"], found["n_conditions"]
    predicted = np.array(found["predicted"], dtype=np.int8)
    return found["version"], Built(label, 1, found["seconds"], *sizes, predicted)
