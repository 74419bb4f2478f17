"""Predictions for Dask collections: arrays of Dask, each partition of which is predicted alone."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from labelrules.data.partitions.tasks import in_partition, is_collection, tasks_of

Method = TypeVar("Method", bound=Callable[..., Any])


def by_partition(predict: Method) -> Method:
    """Let a method that predicts rows take collections of Dask, too: it gives an array of Dask."""

    @wraps(predict)
    def predict_any(self: Any, X: Any) -> Any:
        return _predicted_parts(self, predict.__name__, X) if is_collection(X) else predict(self, X)

    return cast(Method, predict_any)


def _predicted_parts(model: Any, name: str, X: Any) -> Any:
    """The array of Dask, with as many blocks of rows as X has partitions."""
    import dask
    import dask.array as da

    is_array = hasattr(X, "chunks")
    example = np.zeros((1, X.shape[1]), X.dtype) if is_array else X._meta_nonempty
    form = getattr(model, name)(example)  # its type, and how many columns
    tasks = tasks_of(X)
    sizes = X.chunks[0] if is_array else (np.nan,) * len(tasks)
    shared, predict = dask.delayed(model, traverse=False), dask.delayed(_predicted, pure=False)
    blocks = [
        da.from_delayed(predict(shared, name, number, task), (size, *form.shape[1:]), form.dtype)
        for number, (task, size) in enumerate(zip(tasks, sizes, strict=True))
    ]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _predicted(model: Any, name: str, number: int, X: Any) -> Any:
    """The predictions for a partition; run as a task."""
    with in_partition(number):
        return getattr(model, name)(X)
