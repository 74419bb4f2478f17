"""CPU times: of one source folder, or of two in turn, so that both meet the same machine."""

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any, TypeAlias

Seconds: TypeAlias = dict[str, float]

LEARNERS = {
    "covering": ("SeparateAndConquer()", ()),
    "covering bins": ("SeparateAndConquer(bins=255)", ()),
    "ripper": ("BinaryRelevance()", ()),
    "scorecard": ("Scorecard(random_state=0)", ("yeast", "enron", "CAL500")),
    "chain": ("ClassifierChain()", ("yeast", "scene", "enron", "CAL500")),
}
"""Learners that are timed, and sets on which they take too long."""

FIRST = "from labelrules import *; SeparateAndConquer().fit(load('magazines'))"
PROGRAMS = {
    "import labelrules": "import labelrules",
    "labelrules --help": "from labelrules.cli import main; main(['--help'])",
    "labelrules learn --help": "from labelrules.cli import main; main(['learn', '--help'])",
    "first fit of a process": FIRST,
}
N_ROWS, N_PREDICTED, AT_LEAST = 30_000, 20_000, 0.05


def compare(sources: Iterable[Path], sets: Iterable[str], n_rounds: int) -> int:
    """Print the least times of two trees, and their ratios; 1 if some are above 1.05."""
    before, after = (one.resolve() for one in sources)
    found: dict[Path, Seconds] = {before: {}, after: {}}
    for turn in range(n_rounds):
        for source in (before, after) if turn % 2 == 0 else (after, before):
            found[source] = _least(found[source], _times(source, sets, turn == 0))
    slower = 0
    for name, seconds in found[before].items():
        if name in found[after]:
            ratio = found[after][name] / seconds
            slower += ratio > 1.05
            print(f"{name:32} {seconds:8.3f} s {found[after][name]:8.3f} s  ratio {ratio:.2f}")
    print(f"{slower} of {len(found[before])} ratios are above 1.05")
    return int(slower > 0)


def record(path: Path, sets: Iterable[str], n_rounds: int) -> None:
    """The least times of the tree that is imported."""
    import labelrules

    source, found = Path(labelrules.__file__).parents[1], Seconds()
    for turn in range(n_rounds):
        found = _least(found, _times(source, sets, turn == 0))
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"{seconds:9.3f} s  {name}\n" for name, seconds in found.items()]
    path.write_text("".join(lines), encoding="utf-8")
    print(f"{'times':10} {len(lines):5} records")


def _least(one: Seconds, other: Seconds) -> Seconds:
    return {name: min(times.get(name, float("inf")) for times in (one, other))
            for name in {**one, **other}}  # fmt: skip


def _times(source: Path, sets: Iterable[str], with_first: bool) -> Seconds:
    """Times of processes, and those that one process takes of itself."""
    with tempfile.TemporaryDirectory() as folder:
        found = {name: _process(source, program)[0] for name, program in PROGRAMS.items()}
        if with_first:
            found["first use, nothing compiled"] = _process(source, FIRST, folder)[0]
    called = f"from records.times import measure; measure({','.join(sets)!r})"
    return found | json.loads(_process(source, called)[1].splitlines()[-1])


def _process(source: Path, program: str, cache: str | None = None) -> tuple[float, str]:
    places = os.pathsep.join([str(source), str(Path(__file__).parents[1])])
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA")}
    kept = {} if cache is None else {"NUMBA_CACHE_DIR": cache}
    start = _children()
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, stdout=subprocess.PIPE, text=True,
        env={**os.environ, **one, **kept, "PYTHONPATH": places},
    )  # fmt: skip
    return _children() - start, done.stdout


def _children() -> float:
    usage = getrusage(RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measure(sets: str) -> None:
    """Print what this process takes for fits, predictions and files, as JSON."""
    from parts.sets import part

    from records.public import made

    warnings.simplefilter("ignore")
    found = Seconds()
    for name in sets.split(","):
        train, test = part(name, "train"), part(name, "test")  # type: ignore[arg-type]
        rows = test.take([row % len(test) for row in range(N_PREDICTED)])
        for learner, (expression, too_long) in LEARNERS.items():
            if name not in too_long:
                model = made(expression).fit(train)
                found[f"{name}, fit {learner}"] = _cpu(partial(made(expression).fit, train))
                if learner in ("covering", "scorecard"):
                    model.predict(rows)
                    found[f"{name}, predict {learner}"] = _cpu(partial(model.predict, rows))
    with tempfile.TemporaryDirectory() as folder:
        found |= _files(Path(folder), made)
    print(json.dumps(found))


def _files(folder: Path, made: Callable[..., Any]) -> Seconds:
    """Reading files of numbers, words and labels."""
    data, _ = made(f"planted({N_ROWS}, 20, 10, missing=0.02, random_state=1)")
    paths = {kind: folder / f"t.{kind}" for kind in ("csv", "parquet", "arff")}
    found = Seconds()
    for kind, path in paths.items():
        made(f"write_{kind}(data, path)".replace("arff", "mulan"), data=data, path=path)
        read = partial(made, f"read_{kind}(path)".replace("arff", "mulan"), path=path)
        found[f"read {kind}"] = _cpu(read)
    Path(f"{paths['csv']}.schema.json").unlink()
    found["read csv, kinds not known"] = _cpu(
        partial(made, "read_csv(path, labels)", path=paths["csv"], labels=data.schema.labels)
    )
    return found


def _cpu(call: Callable[[], Any]) -> float:
    """CPU seconds of one call: the least of as many as fit into a moment, two at least."""
    times: list[float] = []
    while len(times) < 2 or (sum(times) < AT_LEAST and len(times) < 50):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)
