"""The figures and pictures of the page on label dependencies, learned from the data sets.

``python docs/dependencies.py`` writes them into the page, between the marks that name them, and
draws the pictures. The data sets are looked for in ``$LABELRULES_DATA``, or in ``shared/data``
beside the project folder; `tests/test_docs_dependencies.py` fails when the page says something
else.
"""

import io
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from written import DOCS, folder, table, write

from labelrules import load, rule_text
from labelrules.inspection import (
    LabelGraph,
    label_graph,
    plot_dependency_matrix,
    plot_label_graph,
)
from labelrules.inspection.pictures.plots import FULL, PARTIAL, VERMILION
from labelrules.learners import Ripper, StackedBinaryRelevance
from labelrules.rules import Theory

SETS = ("emotions", "scene", "yeast", "enron", "CAL500")
MATRICES: dict[str, dict[str, Any]] = {
    "emotions": {},
    "scene": {},
    "yeast": {},
    "enron": {"order": "name"},
    "CAL500": {"order": "related", "only_dependent": True},
}
GRAPHS: dict[str, dict[str, Any]] = {
    "yeast": {},
    "enron": {"order": "name"},
    "CAL500": {"order": "related"},
}
DOTS = {"CAL500-dependencies": 80}
"""Dots to the inch; 100 if a picture is not named."""


@cache
def second(name: str) -> Theory:
    """The second of two layers, learned on true labels from all rows."""
    model = StackedBinaryRelevance(Ripper(), labels_from="truth")
    return model.fit(load(name, folder())).theory_.layers[1]


@cache
def graph(name: str) -> LabelGraph:
    """What it tells by which labels."""
    return label_graph(second(name))


def full_rules() -> str:
    """The rules of emotions that test labels only."""
    theory = second("emotions")
    found = [rule for rule in theory if rule.form.dependence == "full"]
    lines = [rule_text(rule, theory.schema, evidence=True) for rule in found]
    return "```text\n" + "\n".join(lines) + "\n```"


def sizes() -> str:
    """Rules, dependencies, signs and cycles of each data set."""
    lines = []
    for name in SETS:
        found = graph(name)
        signs = Counter(edge.sign for edge in found.edges())
        cyclic = found.components()
        largest = max(map(len, cyclic), default=0)
        counts = [found.schema.n_labels, found.n_rules, found.n_full, found.n_partial]
        counts += [signs.total(), signs["+"], signs["-"], signs["+-"], len(cyclic), largest]
        lines.append([name, *map(str, counts)])
    return table(
        "set, labels, rules, fully dependent, partially, dependencies, same sign, opposite, both, "
        "cyclic components, labels in the largest",
        lines,
    )


def neighbours() -> str:
    """How far the labels of yeast are from those that predict them."""
    found = graph("yeast")
    place, n = found.schema.label_index, found.schema.n_labels
    away = Counter((place[e.tested] - place[e.predicted], e.sign) for e in found.edges())
    near = (-3, -2, -1, 1, 2, 3)
    lines = [
        [f"{steps:+d}", str(n - abs(steps)), str(away[steps, "+"]), str(away[steps, "-"])]
        for steps in near
    ]
    further = [str(sum(away[s, sign] for s in range(-n, n) if s not in near)) for sign in "+-"]
    pairs = sum(2 * (n - steps) for steps in range(4, n))
    return table(
        "steps from a label to the one that predicts it, pairs of labels, with the same sign, "
        "with the opposite",
        [*lines, ["further", str(pairs), *further]],
    )


def groups() -> str:
    """Which groups of enron's labels are predicted by which."""
    names = ("A.A1", "other A", "B", "C", "D")
    counts = Counter((_group(e.predicted), _group(e.tested)) for e in graph("enron").edges())
    lines = [[row, *(str(counts[row, tested]) for tested in names)] for row in names]
    return table(", ".join(["predicted"] + [f"by {name}" for name in names]), lines)


def _group(label: str) -> str:
    if label == "A.A1":
        return label
    return "other A" if label.startswith("A") else label[0]


def genres() -> str:
    """How each label of enron's group A is predicted by the others of the group."""
    names = graph("enron").schema.labels
    group = sorted(name for name in names if name.startswith("A."))
    lines = []
    for name in group:
        others = [e for e in graph("enron").edges() if e.predicted == name and e.tested in group]
        alone = sum(edge.n_full > 0 for edge in others)
        signs = sorted(_directions({name}, {*group} - {name}))
        counts = [str(len(others)), str(alone), str(len(group) - 1)]
        lines.append([name, *counts, "; ".join(signs) or "none"])
    titles = "predicted, by others of A, by rules on labels only, others there are, direction"
    return table(titles, lines)


def topics() -> str:
    """How labels of enron's group C are predicted by labels of group A."""
    names = graph("enron").schema.labels
    group = {name for name in names if name.startswith("C.")}
    genre = {name for name in names if name.startswith("A.")} - {"A.A1"}
    edges = [edge for edge in graph("enron").edges() if edge.predicted in group]
    by_business = [edge for edge in edges if edge.tested == "A.A1"]
    counts = [len(group), len(by_business), sum(edge.tested in genre for edge in edges)]
    signs = "; ".join(sorted(_directions(group, {"A.A1"})))
    titles = "labels of C, predicted by A.A1, pairs of one of C and another of A that predicts it"
    return table(f"{titles}, direction", [[*map(str, counts), signs]])


def _directions(predicted: set[str], tested: set[str]) -> set[str]:
    """Whether presence or absence of some labels predicts that of others, by enron's rules."""
    theory = second("enron")
    names, words = theory.schema.labels, ("absence", "presence")
    return {
        f"{words[int(condition.value)]} predicts {words[value]}"
        for rule in theory
        for label, value in rule.head
        for condition in rule.body.on_labels
        if names[label] in predicted and names[condition.column] in tested
    }


def strongest() -> str:
    """The dependencies of enron with the most rows behind them."""
    edges = sorted(graph("enron").edges(), key=lambda edge: -edge.support)[:8]
    return table(
        "predicted, tested, sign, rules on labels only, and on features, support, strength",
        [
            [
                edge.predicted,
                edge.tested,
                edge.sign,
                *map(str, (edge.n_full, edge.n_partial, edge.support)),
                f"{edge.strength:.2f}",
            ]
            for edge in edges
        ],
    )


def pictures() -> list[Path]:
    """The files of the pictures."""
    names = [f"{name}-dependencies.png" for name in MATRICES]
    names += [f"{name}-label-graph.png" for name in GRAPHS]
    return [DOCS / "_static" / name for name in names]


def draw() -> None:
    """Draw all pictures."""
    import matplotlib

    matplotlib.use("Agg")
    axes = [(name, plot_dependency_matrix(graph(name), **how)) for name, how in MATRICES.items()]
    axes += [(name, plot_label_graph(graph(name), **how)) for name, how in GRAPHS.items()]
    for (_, ax), path in zip(axes, pictures(), strict=True):
        _save(ax.figure, path, DOTS.get(path.stem, 100))


def _save(figure: Any, path: Path, dots: int) -> None:
    """Write a picture with the few colours that it has, which takes a quarter of the bytes."""
    from PIL import Image

    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=dots)
    colors = Image.new("P", (1, 1))
    colors.putpalette([part for color in _colors() for part in color])
    few = Image.open(drawn).convert("RGB").quantize(palette=colors, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def _colors() -> list[tuple[int, int, int]]:
    """White, black and greys; shades of what marks are filled with, and of arrows."""
    greys = [(grey,) * 3 for grey in (255, 0, 64, 100, 128, 168, 190, 212, 228)]
    depths = (0.15, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
    shades = [(color, depth) for color in (FULL, PARTIAL) for depth in depths]
    shades += [(VERMILION, depth) for depth in (0.25, 0.5, 0.75, 1)]
    return greys + [
        tuple(round(255 - depth * (255 - int(color[i : i + 2], 16))) for i in (1, 3, 5))
        for color, depth in shades
    ]


PARTS = {
    "full rules": full_rules,
    "sizes": sizes,
    "neighbours": neighbours,
    "groups": groups,
    "genres": genres,
    "topics": topics,
    "strongest": strongest,
}
"""From the mark to what belongs there."""


def main() -> None:
    """Write every part into the page, and draw the pictures."""
    write("dependencies.md", PARTS)
    draw()


if __name__ == "__main__":
    main()
