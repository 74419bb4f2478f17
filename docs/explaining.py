"""The explanations of the page on explaining, made from models learned from the data sets.

``python docs/explaining.py`` writes them into the page, between the marks that name them. The data
sets are looked for in ``$LABELRULES_DATA``, or in ``shared/data`` beside the project folder;
`tests/test_docs_explaining.py` fails when the page says something else.
"""

import re
from functools import cache

import numpy as np
from written import folder, write

from labelrules import Dataset, load, rule_text
from labelrules.inspection import Explanation, compare, explain, summary
from labelrules.learners import (
    BinaryRelevance,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
)

REPORT = """Cough for one month. Mild hyperinflation can be seen in viral illness or reactive
airway disease. Streaky opacity at the right base is favored to represent atelectasis."""
"""The radiological report of the chapter."""
COUGH = "Class-4-753_0"
WIDTH = 100
"""Where the lines of explanations are wrapped."""
VIRGIN_ISLANDS = 39
"""The row of flags with the flag of the US Virgin Islands."""


@cache
def rows(name: str) -> Dataset:
    """A data set."""
    return load(name, folder())


@cache
def reported() -> Dataset:
    """The report as a row of medical: 1 for each of its words that the set has a feature for."""
    schema = rows("medical").schema
    words = set(re.findall(r"\w+", REPORT.lower()))
    X = [[float(name in words) for name in schema.feature_names]]
    return Dataset(schema, np.array(X), np.zeros((1, schema.n_labels)))


@cache
def theory(name: str) -> object:
    """What a learner learns from all rows of medical."""
    learners = {
        "BR": BinaryRelevance(Ripper()),
        "SBR": StackedBinaryRelevance(Ripper(), labels_from="truth"),
        "covering": SeparateAndConquer(),
    }
    return learners[name].fit(rows("medical")).theory_


@cache
def flag_theory(heads: str) -> object:
    """A list for flags with heads of one label, or of several."""
    learner = SeparateAndConquer(
        heads=heads,
        measure="precision",
        counting="chapter",
        polarity="both",
        stop_share=0.01,
        default_rule=True,
    )
    return learner.fit(rows("flags")).theory_


def words() -> str:
    """The words of the report that are features."""
    row, names = reported().X[0], rows("medical").schema.feature_names
    found = [name for name, value in zip(names, row, strict=True) if value]
    return _box(", ".join(found))


def report_explained() -> str:
    """Why a model gives its labels to the report."""
    return _box(explain(theory("covering"), reported(), training=rows("medical")).text(width=WIDTH))


def report(name: str) -> str:
    """Why a model finds a cough in the report."""
    one = explain(theory(name), reported(), labels=[COUGH], training=rows("medical"))
    return _box(str(one[COUGH])) + "\n\n> " + one[COUGH].sentence()


def flag(heads: str) -> str:
    """All rules that fire on the flag, those that wrote something first."""
    found = explain(flag_theory(heads), rows("flags"), VIRGIN_ISLANDS, counterfactuals=False)
    writing = {one.rule.place.number for one in found if one.rule is not None}
    lines = ["# rules that wrote a label of the flag", *_rules(found, writing)]
    holding = {rule.place.number for one in found for rule in one.later} - writing
    lines += ["# rules that hold too, but had nothing left to say", *_rules(found, holding)]
    return _box("\n".join(lines))


def _rules(found: Explanation, numbers: set[int]) -> list[str]:
    schema = found.theory.schema
    return [
        f"{number + 1:3}: {rule_text(found.theory[number], schema, evidence=True)}"
        for number in sorted(numbers)
    ] or ["# none"]


def flag_explained() -> str:
    """Why the flag gets its labels."""
    found = explain(flag_theory("multi"), rows("flags"), VIRGIN_ISLANDS, training=rows("flags"))
    return _box(found.text(width=WIDTH))


def flag_labels() -> str:
    """The labels of the flag in plain English."""
    found = explain(flag_theory("multi"), rows("flags"), VIRGIN_ISLANDS, fixed=["area"])
    return "\n".join(f"> {line}".rstrip() for line in found.sentences().split("\n"))


def figures() -> str:
    """The list for flags in figures."""
    return _box(str(summary(flag_theory("multi"), rows("flags"))))


def side_by_side() -> str:
    """The two lists for flags compared."""
    return _box(str(compare(flag_theory("single"), flag_theory("multi"), rows("flags"))))


def _box(text: str) -> str:
    return f"```text\n{text}\n```"


PARTS = {
    "words": words,
    "report BR": lambda: report("BR"),
    "report SBR": lambda: report("SBR"),
    "report covering": report_explained,
    "flag multi": lambda: flag("multi"),
    "flag single": lambda: flag("single"),
    "flag explained": flag_explained,
    "flag in words": flag_labels,
    "figures": figures,
    "side by side": side_by_side,
}
"""From the mark to what belongs there."""


def main() -> None:
    """Write every part into the page."""
    write("explaining.md", PARTS)


if __name__ == "__main__":
    main()
