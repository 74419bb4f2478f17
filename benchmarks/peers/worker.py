"""Learn with one learner from one data set, in a process of its own; started by `fitting.py`.

The argument is a file that says, as JSON, the program, its settings, the file with the data and
where the result is to be written. CPU time is that of this process, without imports; of JRip that
of the thread that learns, without starting Java.
"""

import importlib.metadata
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np


def learner(job: dict[str, Any]) -> Any:
    """A learner of this library or of another one."""
    if job["program"] == "labelrules":
        from peers.own import Own

        return Own(job["set"], job["settings"])
    from peers.others import made

    return made(job["program"], job["settings"])


def result_of_jrip(job: dict[str, Any]) -> dict[str, Any]:
    """What came of it in Java."""
    from peers.jrip import in_java

    with np.load(job["data"]) as file:
        X, Y, test = file["codes"], file["Y"], file["codes_test"]
        return in_java(job, file["kinds"], [(X, Y), (test, np.zeros((len(test), Y.shape[1])))])


def result(job: dict[str, Any]) -> dict[str, Any]:
    """What came of it: predictions for the test rows, size and times."""
    model = learner(job)
    with np.load(job["data"]) as file:
        kinds, Y = file["kinds"], file["Y"]
        X, test = file[model.reads], file[f"{model.reads}_test"]
    start = time.process_time()
    model.fit(X, Y, kinds)
    fitted = time.process_time()
    predicted = np.asarray(model.predict(test))
    seconds = [fitted - start, time.process_time() - fitted]
    size = model.size()
    package = job["program"]
    return {
        "version": importlib.metadata.version(package),
        "fit_seconds": max(0.0, seconds[0] - getattr(model, "compiling_seconds", 0.0)),
        "predict_seconds": seconds[1],
        "rules": size.rules,
        "literals": size.literals,
        "predicted": ["".join(str(int(cell)) for cell in row) for row in predicted],
    }


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    found = result_of_jrip(job) if job["program"] == "weka" else result(job)
    Path(job["result"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
