"""Exports of theories: their text, and what they answer about rows where they can be run."""

from functools import partial
from typing import Any

import numpy as np

import exports as runs  # the helpers of tests
from labelrules import Dataset
from labelrules.export import to_javascript, to_pmml, to_python, to_sql
from labelrules.rules import theory_of
from records.ground import CLINIC, THEORIES, thing, told
from records.keeping import Cases, or_refusal
from records.learners import with_holes
from records.texts import Sections, labels_text

MODELS = {
    "list": CLINIC["list"],
    "bins": CLINIC["bins"],
    "sets": "SeparateAndConquer(operators=('in', '!=', '<=', '>'))",
    "chain": CLINIC["chain"],
    "stacked": CLINIC["stacked"],
    "card": CLINIC["card"],
    "associative": CLINIC["associative"],
}
"""Learners of the patients without dates and durations, which some targets have no types for."""

DATED = ("list", "card", *THEORIES)
READERS = ("layers", "points")
FORMATS = {
    "python": to_python,
    "javascript": to_javascript,
    "sqlite": partial(to_sql, table="patients"),
    "duckdb": partial(to_sql, table="patients", dialect="duckdb", keys=["id"]),
    "postgres": partial(to_sql, table="patients", dialect="postgres"),
    "pmml": to_pmml,
}


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """Each theory in each format, then run in each way."""
    patients = thing("train").without(["admission", "ill_for"])
    models = {name: (one, patients) for name, one in MODELS.items()}
    for name, (learner, rows) in models.items():
        yield from _exported(name, told(f"theory_of({learner}.fit(rows))", rows=rows), rows)
    for name in READERS:
        yield from _exported(name, thing(name), thing("readers"))
    for name in DATED:
        for target, write in FORMATS.items():
            text = partial(_written, write, theory_of(thing(name)))
            yield f"dated {name}/{target}", partial(or_refusal, text)


def _exported(name: str, theory: Any, rows: Dataset) -> Cases:
    for target, write in FORMATS.items():
        yield f"{name}/{target}", partial(or_refusal, partial(_written, write, theory))
    for way, run in runs.WAYS.items():
        yield f"{name}/by {way}", partial(or_refusal, partial(_answers, run, theory, rows))


def _written(write: Any, theory: Any) -> str:
    return str(write(theory))


def _answers(run: Any, theory: Any, rows: Dataset) -> Sections:
    """The answers about rows with missing values, and whether they are those of the theory."""
    some = with_holes(rows).take(range(min(200, len(rows))))
    found = run(theory, runs.rows_of(some))
    is_equal = bool(np.array_equal(found, theory.predict(some)))
    answers = labels_text(found, some.schema.labels)
    return Sections({"as the theory": str(is_equal), "answers": answers})
