"""How good a theory of some size is: lists, chains, binary relevance and scorecards, and peers.

The eight data sets and splits of `quality.py`: literals are summed over the sets, qualities are
means over them. Lists, chains and binary relevance have at most so many literals for each set
(`max_literals`), scorecards a cost for each literal (`literal_cost`). What other programs reach is
given as it was measured once (`PEERS`); forests are fitted here. ``python frontier.py FILE.png``
also draws the picture.
"""

import os
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from parts.forests import FORESTS, TunedForest
from parts.sets import have_data, part
from parts.tables import header, row
from quality import SETS, qualities

from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    Ripper,
    Scorecard,
    SeparateAndConquer,
)

LIMITS = (10, 20, 40, 80, 160, None)
COSTS = ((8.0, 4.0), (5.0, 4.0), (3.5, 4.0), (2.7, 2.0), (1.6, 4.0), (1.0, 4.0), (0.5, 8.0))
"""Costs of a literal and ridges of scorecards."""


class Point(NamedTuple):
    """A kind of theory, its setting, and what it reaches."""

    kind: str
    setting: str
    literals: int | None
    found: tuple[float, ...]


PEERS = (
    Point("Weka's JRip for each label", "", 1000, (0.659, 0.656, 0.377)),
    Point("mlrl-seco 0.12.3", "defaults", 2443, (0.590, 0.579, 0.301)),
    Point("mlrl-seco 0.12.3", "its best setting", 2700, (0.651, 0.644, 0.359)),
    Point("mlrl-boomer 0.15.6", "its best loss", 220_000, (0.602, 0.619, 0.388)),
)
"""On the same splits; literals from the rules and conditions, of heads where only those are known.

The model of mlrl-boomer for genbase is empty; without genbase it has 0.654 / 0.669 / 0.404.
"""

MAKERS: dict[str, Callable[[int | None], Any]] = {
    "list": lambda most: SeparateAndConquer(max_literals=most),
    "chain": lambda most: ClassifierChain(SeparateAndConquer(), last_resort=0.4, max_literals=most),
    "BR (RIPPER)": lambda most: BinaryRelevance(Ripper(), last_resort=0.4, max_literals=most),
}


def measured(make: Callable[[], Any]) -> tuple[int, tuple[float, ...]]:
    """Literals in all, and mean qualities."""
    found, size = [], 0
    for name in SETS:
        test = part(name, "test")
        model = make().fit(part(name, "train"))
        found.append(qualities(test.Y, np.asarray(model.predict(test)))[:3])
        size += model.theory_.n_literals
    return size, tuple(np.mean(found, axis=0).tolist())


def forest(kind: str) -> Point:
    """A forest whose probabilities are cut at the threshold that is best out of bag."""
    found = []
    for name in SETS:
        train, test = part(name, "train"), part(name, "test")
        model = TunedForest(kind).fit(train.X, train.Y)
        found.append(qualities(test.Y, model.predict(test.X))[:3])
    return Point(kind, "300 trees", None, tuple(np.mean(found, axis=0).tolist()))


def points() -> list[Point]:
    """Everything that is compared, printed as it is found."""
    found: list[Point] = []

    def note(point: Point) -> None:
        found.append(point)
        size = f"{point.literals:,}" if point.literals is not None else "-"
        cells = [f"{one:.3f}" for one in point.found]
        print(row(point.kind, point.setting, *cells, size), flush=True)

    for kind, make in MAKERS.items():
        for most in LIMITS:
            size, qualities_found = measured(lambda make=make, most=most: make(most))
            note(Point(kind, f"at most {most} each" if most else "any size", size, qualities_found))
    for cost, ridge in COSTS:
        size, qualities_found = measured(
            lambda cost=cost, ridge=ridge: Scorecard(literal_cost=cost, ridge=ridge)
        )
        note(Point("scorecard", f"literal_cost={cost:g}, ridge={ridge:g}", size, qualities_found))
    for kind in FORESTS:
        note(forest(kind))
    for peer in PEERS:
        note(peer)
    return found


def draw(found: list[Point], path: str) -> None:
    """Three pictures side by side: each quality against literals."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.4), sharex=True)
    for number, (ax, title) in enumerate(
        zip(axes, ("micro-F1", "example-F1", "subset accuracy"), strict=True)
    ):
        for kind in dict.fromkeys(one.kind for one in found if one.literals):
            own = [one for one in found if one.kind == kind]
            style = "o-" if len(own) > 2 else "s"
            ax.plot(
                [one.literals for one in own], [one.found[number] for one in own], style, label=kind
            )
        for one, style in zip([p for p in found if not p.literals], ("--", ":"), strict=False):
            ax.axhline(one.found[number], ls=style, c="grey", label=one.kind)
        ax.set(title=title, xscale="log", xlabel="literals, eight data sets together")
        ax.grid(alpha=0.3)
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    if not have_data():
        return
    warnings.simplefilter("ignore")
    print(header("theory", "setting", "micro-F1", "example-F1", "subset acc.", "literals"))
    found = points()
    if len(sys.argv) > 1:
        draw(found, sys.argv[1])


if __name__ == "__main__":
    main()
