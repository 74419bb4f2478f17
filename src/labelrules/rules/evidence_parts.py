"""Evidence counted on rows in partitions: by partition, and added up."""

from functools import partial
from typing import Any, NamedTuple

from labelrules.data import Dataset
from labelrules.data.errors import DataError
from labelrules.data.partitions.tasks import in_partition, is_collection, tasks_of, total_of
from labelrules.data.rows import Rows
from labelrules.rules.rule import Evidence, Rule


class _CountedTheory(NamedTuple):
    """A theory with evidence from some rows."""

    theory: Any

    def plus(self, other: "_CountedTheory") -> "_CountedTheory":
        """That with the evidence of both."""
        return _CountedTheory(self.theory.plus_evidence(other.theory))


def evidence_on(theory: Any, rows: Rows) -> Any:
    """The theory with evidence from all rows."""
    return rows.total(partial(_counted_in, theory), "counting evidence").theory


def _counted_in(theory: Any, part: Dataset) -> _CountedTheory:
    return _CountedTheory(theory.with_evidence(part, part.Y))


def evidence_by_partition(theory: Any, X: Any, Y: Any) -> Any:
    """The theory with evidence from all partitions."""
    import dask

    if not (is_collection(X) and is_collection(Y)):
        raise DataError("X and Y must both be collections of Dask, or both in memory")
    features, labels = tasks_of(X), tasks_of(Y)
    if len(features) != len(labels):
        raise DataError(
            f"X has {len(features)} partitions but Y has {len(labels)}: divide both alike"
        )
    count, shared = dask.delayed(_counted, pure=False), dask.delayed(theory, traverse=False)
    pairs = enumerate(zip(features, labels, strict=True))
    tasks = [count(shared, number, *pair) for number, pair in pairs]
    return total_of(tasks, "counting evidence").theory


def _counted(theory: Any, number: int, X: Any, Y: Any) -> _CountedTheory:
    """The evidence from a partition; run as a task."""
    with in_partition(number):
        return _CountedTheory(theory.with_evidence(X, Y))


def rule_with_both(rule: Rule, other: Rule) -> Rule:
    """A rule with its own evidence and that of the same rule on other rows."""
    pairs = zip(rule.evidence or (), other.evidence or (), strict=True)
    return rule.with_evidence(
        a and b and Evidence(a.right + b.right, a.wrong + b.wrong) for a, b in pairs
    )
