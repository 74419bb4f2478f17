"""Outcomes of fits in files, one for each, so that a run that was ended can go on."""

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import Any

from parts.environments import peers_folder

from peers.catalog import Peer
from peers.fitting import Limits, fingerprints

TIMED_OUT, NOT_TRIED = "timed out", "not tried"


def results_folder() -> Path:
    return peers_folder() / "results"


def key(peer: Peer, name: str) -> str:
    """A hash of what determines the result, but for versions of programs."""
    text = json.dumps([peer.program, peer.settings, fingerprints(name)], sort_keys=True)
    return blake2b(text.encode(), digest_size=16).hexdigest()


class Store:
    """A folder of outcomes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, key: str) -> dict[str, Any] | None:
        """The outcome of a fit, if it is there."""
        path = self.folder / f"{key}.json"
        return dict(json.loads(path.read_text())) if path.exists() else None

    def put(self, key: str, outcome: dict[str, Any]) -> None:
        """Keep an outcome, as a whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        new = self.folder / f"{key}.tmp"
        new.write_text(json.dumps(outcome, indent=1))
        os.replace(new, self.folder / f"{key}.json")


def is_answer(outcome: dict[str, Any] | None, limits: Limits, retry: bool) -> bool:
    """Whether a fit need not be run (again): it is done, or would end as before.

    >>> is_answer({"status": "timed out", "limits": [300.0, 3000]}, Limits(900.0, 3000), False)
    False
    """
    if outcome is None:
        return False
    if outcome["status"] == "done":
        return True
    had = Limits(*outcome["limits"])
    has_more = (outcome["status"] in (TIMED_OUT, NOT_TRIED) and limits.seconds > had.seconds) or (
        outcome["status"] == "out of memory" and limits.megabytes > had.megabytes
    )
    return not (retry or has_more)
