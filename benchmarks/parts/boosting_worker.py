"""Learn all labels of Parquet files with one program; started by `boosting.py`, imports it alone.

The arguments are the program, `memory` or `cluster`, and a folder with `train` and `test`; the last
line on standard output is the answer as JSON.
"""

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

N_WORKERS = 2


def used(_=None):
    """CPU seconds and peak of resident memory in MB of this process."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    return own.ru_utime + own.ru_stime, own.ru_maxrss / 1024


def table(folder):
    """Features in column-major order, and labels."""
    frame = pd.concat([pd.read_parquet(path) for path in sorted(Path(folder).iterdir())])
    is_label = frame.columns.str.startswith("l")
    X = np.asfortranarray(frame.loc[:, ~is_label].to_numpy())
    return X, np.ascontiguousarray(frame.loc[:, is_label].to_numpy())


class LabelRules:
    """One list of rules for all labels."""

    def in_memory(self, X, Y):
        """Learn from arrays; a function that predicts."""
        from labelrules import SeparateAndConquer

        return SeparateAndConquer(bins=255, n_jobs=1).fit(X, Y).predict

    def on_cluster(self, frame, labels, client):
        """Learn from a frame of Dask; a function that predicts."""
        from labelrules import SeparateAndConquer

        model = SeparateAndConquer(bins=255).fit(frame, labels)
        return lambda X: model.predict(pd.DataFrame(X, columns=model.feature_names_in_))


class LightGBM:
    """A classifier for each label, with its defaults: 100 trees of 31 leaves, 255 bins."""

    def in_memory(self, X, Y):
        """Learn from arrays; a function that predicts."""
        from lightgbm import LGBMClassifier

        return self.predict_by([LGBMClassifier(n_jobs=1, verbose=-1).fit(X, y) for y in Y.T])

    def on_cluster(self, frame, labels, client):
        """Learn from a frame of Dask; a function that predicts."""
        from distributed import wait
        from lightgbm import DaskLGBMClassifier

        frame = frame.persist()  # else it is read again for each label
        wait(frame)
        X = frame.drop(columns=labels).to_dask_array(lengths=True)
        models = []
        for label in labels:
            y = frame[label].to_dask_array(lengths=True)
            models.append(DaskLGBMClassifier(client=client, verbose=-1).fit(X, y).to_local())
        return self.predict_by(models)

    def predict_by(self, models):
        """A function that predicts a label by each model."""
        return lambda X: np.column_stack([model.predict(X) for model in models])


def learn_in_memory(program, folder):
    X, Y = table(Path(folder, "train"))
    program.in_memory(X[:2000], Y[:2000])  # compiled code is read
    started, (cpu, _) = time.perf_counter(), used()
    predict = program.in_memory(X, Y)
    wall, (after, peak) = time.perf_counter() - started, used()
    return predict, {"wall": wall, "cpu": after - cpu, "peak": peak}


def learn_on_cluster(program, folder):
    """The CPU time is that of all workers, the peak that of one."""
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, processes=True, dashboard_address=":0",
            memory_limit="6GB", silence_logs=50,
        ) as workers,
        Client(workers) as client,
    ):  # fmt: skip
        files = sorted(map(str, Path(folder, "train").iterdir()))
        frame = dd.read_parquet(files, split_row_groups=True)
        labels = [name for name in frame.columns if name.startswith("l")]
        few = dd.from_pandas(frame.head(2000), npartitions=2 * N_WORKERS)
        program.on_cluster(few, labels, client)
        before = client.run(used).values()
        started = time.perf_counter()
        predict = program.on_cluster(frame, labels, client)
        wall, after = time.perf_counter() - started, client.run(used).values()
    cpu = sum(one for one, _ in after) - sum(one for one, _ in before)
    return predict, {"wall": wall, "cpu": cpu, "peak": max(peak for _, peak in after)}


def quality(predict, folder):
    """Micro-averaged F1 and subset accuracy on other rows."""
    X, Y = table(Path(folder, "test"))
    predicted = np.asarray(predict(X))
    both = np.count_nonzero(predicted & Y)
    f1 = 2 * both / (np.count_nonzero(predicted) + np.count_nonzero(Y))
    return {"f1": f1, "subset": float((predicted == Y).all(axis=1).mean())}


def main():
    name, where, folder = sys.argv[1:]
    program = LabelRules() if name == "labelrules" else LightGBM()
    learn = learn_in_memory if where == "memory" else learn_on_cluster
    predict, found = learn(program, folder)
    print(json.dumps({**found, **quality(predict, folder)}))


if __name__ == "__main__":
    main()
