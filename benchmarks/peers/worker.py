"""Learn with one learner from one data set, in a process of its own; started by `fitting.py`.

The argument is a file that says, as JSON, the program, its settings, the file with the data and
where the result is to be written. CPU time is that of this process, without imports; of JRip that
of the thread that learns, without starting Java.
"""

import importlib.metadata
import json
import os
import signal
import sys
import threading
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


def clock(model: Any) -> float:
    """The processor time of this process, without what is not counted of ours: compiling."""
    other = model.seconds_not_counted() if hasattr(model, "seconds_not_counted") else 0.0
    return time.process_time() - other


def result(job: dict[str, Any]) -> dict[str, Any]:
    """What came of it: predictions for the test rows, size and times."""
    model = learner(job)
    with np.load(job["data"]) as file:
        kinds, Y = file["kinds"], file["Y"]
        X, test = file[model.reads], file[f"{model.reads}_test"]
    start = clock(model)
    model.fit(X, Y, kinds)
    fitted = clock(model)
    predicted = np.asarray(model.predict(test))
    seconds = max(0.0, fitted - start), max(0.0, clock(model) - fitted)
    size = model.size()
    return {
        "version": importlib.metadata.version(job["program"]),
        "fit_seconds": seconds[0],
        "predict_seconds": seconds[1],
        "rules": size.rules,
        "literals": size.literals,
        "predicted": ["".join(str(int(cell)) for cell in row) for row in predicted],
    }


def end_with_parent() -> None:
    """Wait for the end of standard input, which comes with the end of whoever started this."""
    os.read(0, 1)
    if os.name != "nt" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # with what was started here
    os._exit(1)


def main() -> None:
    threading.Thread(target=end_with_parent, daemon=True).start()
    job = json.loads(Path(sys.argv[1]).read_text())
    found = result_of_jrip(job) if job["program"] == "weka" else result(job)
    Path(job["result"]).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
