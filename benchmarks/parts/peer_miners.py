"""The peers PyFIM and mlxtend: processes that find frequent itemsets."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from parts.environments import PeerError, interpreter
from scipy import sparse

from labelrules.mining import Items

WORKER = Path(__file__).resolve().with_name("mining_worker.py")


class Miner:
    """A process of a peer with one table of transactions."""

    def __init__(self, name: str, process: "subprocess.Popen[str]", folder: Path) -> None:
        self.name, self.process, self.folder = name, process, folder

    def mine(
        self, support: int, longest: int | None = None, kind: str = "all", how: str = ""
    ) -> dict[str, Any]:
        """CPU seconds and the number of sets."""
        return dict(self._ask(support=support, longest=longest, kind=kind, how=how, save=None))

    def sets(self, support: int, longest: int | None = None, kind: str = "all") -> dict[Any, int]:
        """The sets, with their rows."""
        path = self.folder / f"{self.name}.json"
        self._ask(support=support, longest=longest, kind=kind, how="", save=str(path))
        return {tuple(items): n for items, n in json.loads(path.read_text())}

    def version(self) -> str:
        """The release of the peer."""
        return str(self._send("version"))

    def _ask(self, **request: Any) -> Any:
        return self._send(request)

    def _send(self, request: Any) -> Any:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise PeerError(f"the process of {self.name} ended when asked for {request}")
        return json.loads(answer)


@contextmanager
def miner(name: str, items: Items) -> Iterator[Miner]:
    """Start a peer with the items of each row."""
    by_item = sparse.csc_array(
        ([True] * items.rows.values.size, items.rows.values, items.rows.start),
        shape=(items.n_rows, len(items)),
    )
    by_row = by_item.tocsr()
    rows = [row.tolist() for row in _split(by_row)]
    with TemporaryDirectory() as folder:
        path = Path(folder, "transactions.json")
        path.write_text(json.dumps(rows))
        process = subprocess.Popen(
            [str(interpreter(name)), str(WORKER), name, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        with process:  # closes its input, which ends it, and waits
            yield Miner(name, process, Path(folder))


def _split(by_row: Any) -> Iterator[Any]:
    for start, stop in zip(by_row.indptr[:-1], by_row.indptr[1:], strict=True):
        yield by_row.indices[start:stop]
