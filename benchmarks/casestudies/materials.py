"""What the case studies work on: the chapter's data sets, and learners as it has them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from casestudies.chapter import (
    FLAG_RULES,
    LABEL_NAMES,
    MULTI_HEADS,
    REPORT,
    RULES,
    SINGLE_HEADS,
    STATISTICS,
)
from labelrules._checks import listed, quoted, suggestion
from labelrules.data import DataError, Dataset, Schema, load
from labelrules.learners import (
    BinaryRelevance,
    LabelPowerset,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.rules import parse_rule

QUICK = ("emotions", "flags", "genbase", "medical")
"""The sets of a quick run: the smallest."""

FIRST_ROWS = {"CAL500": 335}
"""Sets in one file: so many first rows are for training, as in the authors' program."""

OBJECTIVES = {"precision": "precision", "Hamming accuracy": "hamming", "F-measure": "f0.5"}
"""What rules are scored by in the second study; the authors' F has beta 0.5."""

SUBSET = "subset accuracy"
LABEL_SETS = f"label sets, {SUBSET}"
"""The tenth algorithm: heads with all labels, by a list whose classes are label sets."""


@dataclass(frozen=True, eq=False)
class StudyData:
    """A data set of the chapter, whole and in its two parts; labels have the chapter's names."""

    name: str
    whole: Dataset
    train: Dataset
    test: Dataset


@dataclass(frozen=True, eq=False)
class Materials:
    """The data sets that are there, and for the others the reason why they are not.

    Attributes
    ----------
    sets : dict of StudyData by name
    skipped : dict of str by name
    """

    sets: dict[str, StudyData]
    skipped: dict[str, str]

    @property
    def skipped_by_reason(self) -> dict[str, list[str]]:
        """From each reason to the names of the sets."""
        found: dict[str, list[str]] = {}
        for name, why in self.skipped.items():
            found.setdefault(why, []).append(name)
        return found

    def of(self, names: Iterable[str]) -> list[StudyData]:
        """Those of these sets that are there."""
        return [self.sets[name] for name in names if name in self.sets]


def chosen_sets(sets: Any, quick: bool) -> tuple[str, ...]:
    """The names of the sets to study, in the chapter's order."""
    if sets is None:
        return QUICK if quick else tuple(STATISTICS)
    names = [sets] if isinstance(sets, str) else list(sets)
    for name in names:
        if name not in STATISTICS:
            near = suggestion(str(name), STATISTICS) or f"; it has {', '.join(STATISTICS)}"
            raise ValueError(f"the chapter has no data set {quoted(name)}{near}")
    if not names:
        raise ValueError("sets is empty: give at least one data set, or None for all")
    return tuple(name for name in STATISTICS if name in names)


def study_materials(folder: "str | Path | None", names: Iterable[str]) -> Materials:
    """Load the data sets that are there.

    Raises
    ------
    DataError
        If none of them is there.
    """
    wanted = tuple(names)
    sets, skipped = {}, {}
    for name in STATISTICS:
        if name not in wanted:
            skipped[name] = "not asked for"
            continue
        try:
            sets[name] = study_data(name, folder)
        except DataError as wrong:
            skipped[name] = str(wrong)
    if not sets:
        raise DataError(f"none of {listed(wanted)} can be read: {skipped[wanted[0]]}")
    return Materials(sets, skipped)


def study_data(name: str, folder: "str | Path | None") -> StudyData:
    """A data set with its parts."""
    whole = _renamed(load(name, folder), name)
    _check_schema(whole.schema, name)
    if name in FIRST_ROWS:
        rows, n_first = np.arange(len(whole)), FIRST_ROWS[name]
        return StudyData(name, whole, whole.take(rows[:n_first]), whole.take(rows[n_first:]))
    train = _renamed(load(name, folder, part="train"), name)
    return StudyData(name, whole, train, _renamed(load(name, folder, part="test"), name))


def _check_schema(schema: Schema, name: str) -> None:
    """Refuse another data set of the same name, which lacks what the chapter's rules name."""
    texts = [text for rules in RULES.get(name, {}).values() for text in rules]
    if name == "flags":
        texts = [text for rules in FLAG_RULES.values() for text, _ in rules]
    try:
        for text in texts:
            if not re.search(r"\bx\d", text):  # the chapter numbers the features of yeast
                parse_rule(text, schema)
    except ValueError as wrong:
        raise DataError(f"{name} is not the chapter's data set of this name: {wrong}") from None


def _renamed(data: Dataset, name: str) -> Dataset:
    """The data with the chapter's names of labels."""
    names = LABEL_NAMES.get(name, {})
    return replace(data, schema=data.schema.rename(names)) if names else data


def report_row(schema: Schema) -> Dataset:
    """The chapter's report as a row: 1 for each of its words that is a feature."""
    words = set(re.findall(r"\w+", REPORT.lower()))
    X = [[float(name in words) for name in schema.feature_names]]
    return Dataset(schema, np.array(X), np.zeros((1, schema.n_labels), dtype=np.int8))


# ---------------------------------------------------------------- learners


def single_head_learners() -> dict[str, Any]:
    """The learners of the first study; the last one is this library's default.

    The chapter's *Single* takes the best by F of the rules that a step of RIPPER grows and prunes
    for each label. The nearest here grows and prunes on other rows, too, but grows by F itself.
    """
    nearest = SeparateAndConquer(
        measure="f0.5", pruning="irep", polarity="presence", default_rule=False, last_resort=None
    )
    return {
        "BR": BinaryRelevance(Ripper()),
        "SBR": StackedBinaryRelevance(Ripper(), labels_from="truth", last_resort=None),
        "Single": nearest,
        "Single, default": SeparateAndConquer(),
    }


UNPRUNED: dict[str, Any] = {
    "fixed_head": False,
    "operators": ("<=", ">", "="),
    "max_conditions": None,
    "min_coverage": 1,
    "pruning": None,
    "last_resort": None,
}
"""The chapter's search, which prunes nothing and has no sets of categories."""

CHAPTER: dict[str, Any] = {
    **UNPRUNED,
    "counting": "chapter",
    "polarity": "both",
    "stop_share": 0.01,
}
"""Its covering: heads of either value, its counting, and stop marks as in the authors' runs."""


def covering(measure: str, heads: str) -> SeparateAndConquer:
    """The chapter's separate-and-conquer with heads of one label or of several."""
    return SeparateAndConquer(heads=heads, measure=measure, **CHAPTER)


def multi_head_learners() -> dict[str, Any]:
    """The ten algorithms of the second study, by names such as "multi, precision".

    The chapter gives their number only; the authors' tables have three objectives for BR, single-
    and multi-label heads, and subset accuracy for multi-label heads. Rules with whole label sets
    stand for the last one.
    """
    found: dict[str, Any] = {}
    for objective, measure in OBJECTIVES.items():
        found[f"BR, {objective}"] = BinaryRelevance(
            SeparateAndConquer(measure=measure, label_conditions=False, **UNPRUNED)
        )
    for heads in ("single", "multi"):
        for objective, measure in OBJECTIVES.items():
            found[f"{heads}, {objective}"] = covering(measure, heads)
    base = SeparateAndConquer(
        measure="hamming", polarity="presence", label_conditions=False, **UNPRUNED
    )
    found[LABEL_SETS] = LabelPowerset(base)
    return found


def objective_of(learner: str) -> str:
    """What the rules of a learner are scored by, from its name."""
    return learner.partition(", ")[2]


def studied(materials: Materials) -> tuple[list[StudyData], list[StudyData]]:
    """The sets of the first and of the second study."""
    return materials.of(SINGLE_HEADS), materials.of(MULTI_HEADS)
