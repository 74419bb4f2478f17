"""Learn with wittgenstein's RIPPER, in an environment of its own; see `peer_wittgenstein.py`.

The argument is a file with the data of one label. Prints the version, the CPU seconds of one fit,
rules, conditions and the predictions for the test rows, as JSON.
"""

import importlib.metadata
import json
import sys
import time

import numpy as np
import pandas as pd
import wittgenstein


def main():
    with np.load(sys.argv[1]) as file:
        X, y, test = file["X"], file["y"], file["test"]
    names = [f"x{j}" for j in range(X.shape[1])]
    table, rows = pd.DataFrame(X, columns=names), pd.DataFrame(test, columns=names)
    learner = wittgenstein.RIPPER(random_state=1)
    start = time.process_time()
    learner.fit(table, pd.Series(y, name="y"), pos_class=1)
    seconds = time.process_time() - start
    rules = learner.ruleset_.rules
    found = {
        "version": importlib.metadata.version("wittgenstein"),
        "seconds": seconds,
        "n_rules": len(rules),
        "n_conditions": sum(len(rule.conds) for rule in rules),
        "predicted": [int(one) for one in learner.predict(rows)],
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
