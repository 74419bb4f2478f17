"""Record what every learner prints and predicts, and compare two records.

    python benchmarks/record.py before             # nine data sets, into the folder before/
    python benchmarks/record.py after flags yeast  # some of them
    python benchmarks/record.py --compare before after

A change of the code that is no change of results leaves all records equal: the printed theory of
the training part, and hashes of the predictions and probabilities of the test part.
"""

import sys
import warnings
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import labelrules as lr

SETS = ("flags", "emotions", "medical", "genbase", "birds", "scene", "yeast", "enron", "CAL500")
UNPRUNED = {"pruning": None, "last_resort": None, "min_coverage": 1, "fixed_head": False}


def learners() -> Iterator[tuple[str, Any]]:
    """Every learner, and the covering learner in its main variants."""
    multi = {"heads": "multi", "measure": "precision", "polarity": "both", "stop_share": 0.01}
    yield "covering", lr.SeparateAndConquer()
    yield "covering-multi", lr.SeparateAndConquer(**multi, max_rules=30, **UNPRUNED)
    yield "covering-beam", lr.SeparateAndConquer(beam_width=2, max_rules=5, **UNPRUNED)
    yield "covering-unpruned", lr.SeparateAndConquer(pruning=None)
    yield "br-ripper", lr.BinaryRelevance(lr.Ripper())
    yield "br-covering", lr.BinaryRelevance(lr.SeparateAndConquer())
    yield "chain", lr.ClassifierChain(lr.Ripper())
    yield "chains3", lr.ClassifierChain(lr.Ripper(), n_chains=2)
    yield "stacked", lr.StackedBinaryRelevance()
    yield "powerset", lr.LabelPowerset(lr.Ripper())
    yield "scorecard", lr.Scorecard()
    yield "associative", lr.AssociativeClassifier()
    yield "lazy", lr.LazyAssociativeClassifier()
    yield "constrained", lr.ConstrainedClassifier(lr.BinaryRelevance(lr.Ripper()))


def parts(name: str) -> tuple[lr.Dataset, lr.Dataset]:
    """The training and the test part; the whole twice where there is no division."""
    try:
        return lr.load(name, part="train"), lr.load(name, part="test")
    except lr.data.DataError:
        whole = lr.load(name)
        return whole, whole


def digest(array: Any, decimals: int | None = None) -> str:
    """A hash of an array."""
    dense = np.asarray(array.todense() if hasattr(array, "todense") else array)
    dense = dense.astype(np.int8) if decimals is None else np.round(dense, decimals)
    return sha256(np.ascontiguousarray(dense).tobytes()).hexdigest()


def record(model: Any, train: lr.Dataset, test: lr.Dataset) -> str:
    """What a learner prints and predicts."""
    model.fit(train)
    line = digest(model.predict(test))
    if hasattr(model, "predict_proba"):
        line += " proba " + digest(model.predict_proba(test), decimals=12)
    else:
        line += " noproba AttributeError"
    theory = getattr(model, "theory_", None)
    return line + "\n" + ("" if theory is None else lr.theory_text(theory))


def compare(before: Path, after: Path) -> int:
    """Print which records differ; the exit status is 1 if some do."""
    names = sorted({path.name for folder in (before, after) for path in folder.glob("*.txt")})
    different = [
        name
        for name in names
        if not ((before / name).exists() and (after / name).exists())
        or (before / name).read_text() != (after / name).read_text()
    ]
    print(f"{len(names) - len(different)} of {len(names)} records are equal")
    for name in different:
        print(f"  {name} differs, or is in one folder only")
    return bool(different)


def main() -> int:
    """Record, or compare."""
    warnings.simplefilter("ignore")
    if sys.argv[1] == "--compare":
        return compare(Path(sys.argv[2]), Path(sys.argv[3]))
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or SETS:
        train, test = parts(name)
        for label, model in learners():
            start = perf_counter()
            (folder / f"{name}.{label}.txt").write_text(record(model, train, test))
            print(f"{name:10} {label:20} {perf_counter() - start:6.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
