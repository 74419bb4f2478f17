"""Learn with the library as another folder has it; started by `trees.py`.

Each line on standard input asks for something, each line on standard output answers, as JSON.
``[set, setting, n]`` gives the least CPU seconds of n fits, the number of rules and conditions,
and a hash of the list.
"""

import hashlib
import json
import logging
import os
import sys
import time
import warnings
from functools import lru_cache
from typing import Any

import covering
from parts.sets import part

from labelrules.learners import SeparateAndConquer

OLD_OPERATORS = ("<=", ">", "=")


@lru_cache(maxsize=1)
def data_of(name: str, setting: str) -> Any:
    data = part(name, "train")
    return covering.rounded(data) if setting == "unpruned" else data


def learner(setting: str, data: Any) -> SeparateAndConquer:
    if setting == "unpruned":
        return covering.learner(data)
    if setting == "without sets":
        return SeparateAndConquer(operators=OLD_OPERATORS)
    return SeparateAndConquer()


def fitted(name: str, setting: str, repeats: int) -> list[Any]:
    data, times = data_of(name, setting), []
    for _ in range(repeats):
        model = learner(setting, data)
        start = time.process_time()
        model.fit(data)
        times.append(time.process_time() - start)
    rules = list(model.theory_)
    text = hashlib.sha256("\n".join(map(str, rules)).encode()).hexdigest()
    return [min(times), len(rules), sum(len(rule.body) for rule in rules), text]


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what others print is no answer
    logging.getLogger("labelrules").setLevel("WARNING")
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        print(json.dumps(fitted(*json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
