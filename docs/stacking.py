"""The tables and rules of the page on case studies of stacking, learned from the data sets.

``python docs/stacking.py`` writes them into the page, between the marks that name them. The data
sets are looked for in ``$LABELRULES_DATA``, or in ``shared/data`` beside the project folder;
`tests/test_docs_stacking.py` fails when the page differs.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from written import folder, table, write

from labelrules import Dataset, load, rule_text
from labelrules.inspection import flips, label_graph
from labelrules.learners import (
    BinaryRelevance,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.measures import Measure
from labelrules.rules import Theory, UntilStable

BASE = Ripper()
SETS = {"yeast": "Class4", "medical": "Class-4-753_0", "enron": "B.B12"}
"""Data sets, and the label of each for which the chapter shows rules."""


class Models(NamedTuple):
    """The models compared: each label alone, and two layers on true labels as in the chapter."""

    relevance: BinaryRelevance
    stacked: StackedBinaryRelevance


@cache
def rows(name: str, part: str | None) -> Dataset:
    """A part of a data set, or all of it."""
    return load(name, folder(), part=part)


@cache
def learned(name: str, part: str | None) -> Models:
    """Both models."""
    data = rows(name, part)
    stacked = StackedBinaryRelevance(BASE, labels_from="truth", last_resort=None)
    return Models(BinaryRelevance(BASE).fit(data), stacked.fit(data))


def sizes() -> str:
    """Rules and literals, and the share of rules that test labels."""
    lines = []
    for name in SETS:
        models = learned(name, None)
        second = models.stacked.theory_.layers[1]
        graph = label_graph(second)
        lines.append(
            [
                name,
                *_size(models.relevance.theory_),
                *_size(second),
                str(models.stacked.theory_.n_literals),
                f"{graph.share_full:.0%}",
                f"{graph.share_partial:.0%}",
            ]
        )
    return table(
        "set, rules BR, literals BR, rules of layer 2, literals of layer 2, literals SBR, "
        "fully label-dependent, partially",
        lines,
    )


def rules(name: str) -> str:
    """The rules for the label of which the chapter shows some."""
    models, label = learned(name, None), SETS[name]
    lists = {
        "each label on its own (BR)": models.relevance.theory_,
        "the second of two layers (SBR)": models.stacked.theory_.layers[1],
        "separate-and-conquer (Single)": SeparateAndConquer().fit(rows(name, None)).theory_,
    }
    parts = []
    for title, theory in lists.items():
        number = theory.schema.label_index[label]
        chosen = [rule for rule in theory if rule.head.labels == (number,) and len(rule.body)]
        lines = [rule_text(rule, theory.schema, evidence=True) for rule in chosen] or ["# none"]
        parts += [f"# {title}", *lines]
    return "```text\n" + "\n".join(parts) + "\n```"


def circles() -> str:
    """The effect of label dependencies in circles: flips, and rows that do not settle."""
    lines = []
    for name in SETS:
        theory = learned(name, "train").stacked.theory_
        test = rows(name, "test")
        graph = label_graph(theory.layers[1])
        largest = max((len(group) for group in graph.components()), default=0)
        run = theory.with_inference(UntilStable(20)).run(test)
        flipped = sum(pair.n_rows for pair in flips(theory, test))
        lines.append(
            [
                name,
                str(len(graph.edges())),
                str(len(graph.cycles(limit=1000))),
                str(largest),
                str(flipped),
                f"{len(run.unsettled)} of {len(test)}",
                str(int(run.rounds.max(initial=0))),
            ]
        )
    return table(
        "set, dependencies, cycles (at most 1000), largest circle, flips, rows that do not settle,"
        " rounds of the others",
        lines,
    )


def qualities() -> str:
    """Micro-F1 on the test part, and the loss of the second layer by predicted labels."""
    lines = []
    f1 = Measure.parse("f1/micro/full")
    for name in SETS:
        models, test = learned(name, "train"), rows(name, "test")
        default = StackedBinaryRelevance(BASE).fit(rows(name, "train"))
        compared = [*models, default]
        values = [f1.of_predictions(test.Y, np.asarray(model.predict(test))) for model in compared]
        handed = models.stacked.error_propagation(test)
        shares = [handed.before, handed.on_predictions, handed.on_truth]
        lines.append(
            [
                name,
                *(f"{value:.3f}" for value in values),
                *(f"{float(share.mean()):.3f}" for share in shares),
            ]
        )
    return table(
        "set, BR, SBR on true labels, SBR by default, layer 1, layer 2 on predicted labels,"
        " layer 2 on true labels",
        lines,
    )


def _size(theory: Theory) -> list[str]:
    return [str(sum(1 for rule in theory if len(rule.body))), str(theory.n_literals)]


PARTS = {
    "sizes": sizes,
    "rules of yeast": lambda: rules("yeast"),
    "rules of medical": lambda: rules("medical"),
    "rules of enron": lambda: rules("enron"),
    "circles": circles,
    "qualities": qualities,
}
"""From the mark to what belongs there."""


def main() -> None:
    """Write every part into the page."""
    write("stacking.md", PARTS)


if __name__ == "__main__":
    main()
