"""Folds by iterative-stratification, in its own environment: labels from a file, folds to another.

The arguments are the file of the labels, that of the folds, the number of folds, and the seeds. The
last line printed has the version and the processor time of each seed in seconds.
"""

import json
import sys
import time
from importlib.metadata import version

import numpy as np
from iterstrat.ml_stratifiers import MultilabelStratifiedKFold


def main(labels: str, target: str, n_folds: str, *seeds: str) -> None:
    """Divide, once for each seed."""
    Y = np.load(labels)
    found, seconds = [], []
    for seed in seeds:
        start = time.process_time()
        splitter = MultilabelStratifiedKFold(int(n_folds), shuffle=True, random_state=int(seed))
        parts = [test for _, test in splitter.split(Y, Y)]
        seconds.append(time.process_time() - start)
        folds = np.empty(len(Y), dtype=np.int64)
        for fold, test in enumerate(parts):
            folds[test] = fold
        found.append(folds)
    np.save(target, np.array(found))
    print(json.dumps({"version": version("iterative-stratification"), "seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
