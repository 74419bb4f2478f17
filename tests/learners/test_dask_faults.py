"""Learning on a cluster that fails: processes that are killed, and a scheduler that is lost."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from extras import needs
from labelrules import SeparateAndConquer
from labelrules.data import ClusterError

dask = needs("dask")
distributed = needs("distributed")
dd = needs("dask.dataframe")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="processes are ended by signals"),
    pytest.mark.filterwarnings("ignore"),
]

LABELS = [f"y{label}" for label in range(5)]


def table(n_rows: int) -> pd.DataFrame:
    """Ten features, of which pairs decide five labels, with errors."""
    rng = np.random.default_rng(0)
    X = rng.random((n_rows, 10))
    Y = np.column_stack([(X[:, i] > 0.6) & (X[:, i + 1] < 0.5) for i in range(5)])
    cells = np.hstack([X, Y ^ (rng.random(Y.shape) < 0.05)])
    return pd.DataFrame(cells, columns=[*(f"x{i}" for i in range(10)), *LABELS])


def told(model: SeparateAndConquer):
    background = model.background_
    rules = [(rule, rule.evidence) for rule in model.theory_]
    return model.theory_, rules, background.ones.tolist(), background.zeros.tolist()


def cluster(n_workers: int):
    return distributed.LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=":0",
        silence_logs=50,
    )  # fmt: skip


@pytest.mark.parametrize("n_workers", [1, 2, 4])
def test_any_number_of_processes_gives_the_same_model(n_workers) -> None:
    frame = table(2000)
    expected = SeparateAndConquer(bins=63, max_rules=4).fit(
        frame.drop(columns=LABELS), frame[LABELS]
    )
    with cluster(n_workers) as workers, distributed.Client(workers):
        for n_partitions in (1, 7):
            parts = dd.from_pandas(frame, npartitions=n_partitions)
            found = SeparateAndConquer(bins=63, max_rules=4).fit(parts, LABELS)
            assert told(found) == told(expected)


def kill_some(workers, rng: random.Random, killed: list[int], is_over: threading.Event) -> None:
    """Kill a worker three times, after random pauses."""
    while len(killed) < 3 and not is_over.wait(rng.uniform(0.3, 2.0)):
        pids = [one.pid for one in workers.workers.values() if getattr(one, "pid", None)]
        if pids:
            pid = rng.choice(pids)
            os.kill(pid, signal.SIGKILL)
            killed.append(pid)


@pytest.mark.parametrize("seed", [1, 2])
def test_workers_that_are_killed_do_not_change_the_model(seed) -> None:
    frame = table(20_000)
    expected = SeparateAndConquer(bins=63).fit(frame.drop(columns=LABELS), frame[LABELS])
    is_over, killed = threading.Event(), []
    with cluster(2) as workers, distributed.Client(workers):
        parts = dd.from_pandas(frame, npartitions=6)
        killer = threading.Thread(
            target=kill_some, args=(workers, random.Random(seed), killed, is_over)
        )
        killer.start()
        try:
            found = SeparateAndConquer(bins=63).fit(parts, LABELS)
        finally:
            is_over.set()
            killer.join()
    assert len(killed) == 3
    assert told(found) == told(expected)


def test_without_a_scheduler_the_rules_so_far_are_kept() -> None:
    frame = table(3000)
    whole = SeparateAndConquer(bins=63).fit(frame.drop(columns=LABELS), frame[LABELS])
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    scheduler = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", port], stderr=subprocess.DEVNULL
    )
    address = f"tcp://127.0.0.1:{port}"
    worker = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1",
         "--no-dashboard", "--death-timeout", "60"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def kill_after_two(report) -> None:
        if report.n_rules == 2:
            scheduler.kill()

    client = None
    try:
        client = distributed.Client(address, timeout=60)
        client.wait_for_workers(1, timeout=60)
        learner = SeparateAndConquer(bins=63, progress=kill_after_two)
        with pytest.raises(ClusterError, match=r"scheduler was lost.*; the 2 rules learned so far"):
            learner.fit(dd.from_pandas(frame, npartitions=3), LABELS)
        assert learner.theory_.rules == whole.theory_.rules[:2]
        assert learner.predict(frame.drop(columns=LABELS)).any()
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
        if client is not None:
            client.close(timeout=1)
