"""Functions of the partitions of Dask collections, run by the user's cluster or by Dask itself."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from labelrules.data.errors import ClusterError, DataError
from labelrules.data.rows import added

LONGEST_PATH = 4096
"""Longer texts are no paths of files."""

SHOWN = 3
"""So many files of a partition are named."""

TOGETHER = 8
"""So many answers are added up by one task; sums of sums go on in the same way."""


class PartitionError(DataError):
    """A partition is wrong; the message begins with its number."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(f"partition {number}: {message}")
        self.number, self.message = number, message

    def __reduce__(self) -> tuple[type["PartitionError"], tuple[str, int]]:
        return PartitionError, (self.message, self.number)


def is_collection(data: Any) -> bool:
    """Whether these data are a collection of Dask: a frame, a series or an array."""
    return getattr(data, "__dask_graph__", None) is not None and hasattr(data, "to_delayed")


def tasks_of(data: Any) -> list[Any]:
    """The tasks that make the partitions of a collection, whole rows each."""
    if not hasattr(data, "chunks"):
        return list(data.to_delayed())
    whole = data.rechunk({1: -1}) if data.ndim > 1 else data
    return list(whole.to_delayed().reshape(-1))


@contextmanager
def in_partition(number: int) -> Iterator[None]:
    """Raise errors of the data as errors that name the partition."""
    try:
        yield
    except ValueError as wrong:
        raise PartitionError(str(wrong), number) from None


def current_client() -> Any:
    """The client that Dask uses now; None if there is none, and Dask runs tasks by itself."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None


def total_of(tasks: Sequence[Any], what: str) -> Any:
    """The sum of the answers of tasks, one for each partition, added up in a tree."""
    import dask

    level = list(tasks)
    while len(level) > 1:
        groups = [level[i : i + TOGETHER] for i in range(0, len(level), TOGETHER)]
        level = [dask.delayed(added, pure=False)(group) for group in groups]
    return computed(level, what, tasks)[0]


def computed(wanted: Sequence[Any], what: str, tasks: Sequence[Any] | None = None) -> list[Any]:
    """The values of tasks, or an error that names the partition.

    `tasks` are those of the partitions, if they are others: one of them has failed if one of
    `wanted` has. `what` is what they do, for the error.
    """
    import dask

    client, leaves = current_client(), wanted if tasks is None else tasks
    with cluster_errors(client), naming_files(leaves):
        try:
            if client is None:
                return list(dask.compute(*wanted))
            return list(client.gather(client.compute(list(wanted))))
        except PartitionError:
            raise
        except Exception as wrong:
            if _is_of_cluster(wrong, client):
                raise
            number, cause = _first_failure(leaves, client)
            where = "a partition: " if number is None else _placed(number, leaves)
            cause = cause or wrong
            raise DataError(f"{where}{what} failed: {one_line(cause)}") from cause


def one_line(wrong: BaseException) -> str:
    """What an error of another library says, in one line."""
    text = " ".join(str(wrong).split())
    return f"{type(wrong).__name__}: {text}" if text else type(wrong).__name__


@contextmanager
def naming_files(tasks: Sequence[Any]) -> Iterator[None]:
    """Raise errors of one of these partitions as errors that name its files, too."""
    try:
        yield
    except PartitionError as wrong:
        raise DataError(_placed(wrong.number, tasks) + wrong.message) from None


def _placed(number: int, tasks: Sequence[Any]) -> str:
    """The number of a partition, and its files if it is read from some, for messages."""
    files = ", ".join(sorted(_files_of(tasks[number]))[:SHOWN])
    return f"partition {number} ({files}): " if files else f"partition {number}: "


def _files_of(task: Any) -> set[str]:
    """The files that are named in the tasks which one depends on."""
    graph = task.dask.cull(set(task.__dask_keys__()))
    found: set[str] = set()
    waiting: list[Any] = list(dict(graph).values())
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if len(one) < LONGEST_PATH and os.path.isfile(one):
                found.add(one)
        elif isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple | set):
            waiting += one
        else:  # tasks have arguments, open files a path
            waiting += [getattr(one, name, ()) for name in ("args", "kwargs", "path")]
    return found


def _first_failure(tasks: Sequence[Any], client: Any) -> tuple[int | None, BaseException | None]:
    """The number of the first partition that fails, and why."""
    for number, task in enumerate(tasks):
        try:
            task.compute() if client is None else client.compute(task).result()
        except Exception as wrong:
            return number, wrong
    return None, None


@contextmanager
def cluster_errors(client: Any) -> Iterator[None]:
    """Raise errors of the cluster itself as one kind of error, which says what to do."""
    try:
        yield
    except ClusterError:
        raise
    except Exception as wrong:
        if not _is_of_cluster(wrong, client):
            raise
        raise ClusterError(_advice(wrong, client)) from wrong


def _is_of_cluster(wrong: BaseException, client: Any) -> bool:
    """Whether the cluster failed, and not what it was asked to do."""
    if client is None:
        return False
    import asyncio
    from concurrent.futures import CancelledError

    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker, NoWorkerError

    kinds = CommClosedError, KilledWorker, NoWorkerError, CancelledError, asyncio.CancelledError
    return isinstance(wrong, kinds) or client.status != "running"


def _advice(wrong: BaseException, client: Any) -> str:
    from distributed.scheduler import KilledWorker

    if isinstance(wrong, KilledWorker):
        return (
            "workers died again and again while they had the same partition; perhaps it does not "
            f"fit into their memory: make more partitions, or give workers more ({one_line(wrong)})"
        )
    if client.status != "running":
        return "the connection to Dask's scheduler was lost: start the cluster and a Client anew"
    return f"the cluster gave up a task: {one_line(wrong)}"
