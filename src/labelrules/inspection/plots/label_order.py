"""In which order the labels of a picture stand, and which of them."""

import re
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from labelrules._checks import suggestion
from labelrules._types import Mask
from labelrules.discovery.constraints.constraint import Constraints
from labelrules.inspection.dependencies import LabelGraph, label_graph
from labelrules.rules import Theory

Source: TypeAlias = LabelGraph | Theory | Constraints
"""What a picture of dependencies is drawn from."""

MAX_LABELS = 300
"""Labels that a picture can hold; a larger one would take gigabytes."""

LONGEST = 44
"""Letters of a name; the middle of a longer one is left out."""


def graph_and_labels(
    source: Source, order: str | Sequence[str], only_dependent: bool
) -> tuple[LabelGraph, list[int]]:
    """What a picture shows: a graph, and which labels of it in which order."""
    graph = source if isinstance(source, LabelGraph) else label_graph(source)
    labels = ordered_labels(graph, order, only_dependent)
    if not labels:
        raise ValueError("there is nothing to draw: no rule tells a label by another")
    if len(labels) > MAX_LABELS:
        raise ValueError(
            f"there are {len(labels)} labels, and a picture can hold {MAX_LABELS}: name some in "
            "order" + ("" if only_dependent else ", or try only_dependent=True")
        )
    return graph, labels


def shown_name(name: str) -> str:
    """A name on one line, and not too long.

    Examples
    --------
    >>> shown_name("a label that is told by very many words, too many to be shown")
    'a label that is told by very…to be shown'
    """
    line = "".join(sign if sign.isprintable() else " " for sign in name)
    return line if len(line) <= LONGEST else f"{line[:28]}…{line[-11:]}"


def ordered_labels(
    graph: LabelGraph, order: str | Sequence[str] = "data", only_dependent: bool = False
) -> list[int]:
    """The labels to be shown, by number.

    Parameters
    ----------
    graph : LabelGraph
    order : {"data", "name", "related"} or sequence of str, default="data"
        As in the data; by name, numbers in names by their value; so that labels with the same
        neighbours stand together; or these labels, in this order.
    only_dependent : bool, default=False
        Whether to leave out labels that no rule tells by another, and by which none is told.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> from labelrules.inspection import label_graph
    >>> graph = label_graph(parse("not sports <- fashion", load("magazines").schema))
    >>> ordered_labels(graph, "name", only_dependent=True)
    [2, 3]
    """
    joined = graph.adjacency | graph.adjacency.T
    found = _chosen(graph, order, joined)
    return [label for label in found if joined[label].any()] if only_dependent else found


def _chosen(graph: LabelGraph, order: str | Sequence[str], joined: Mask) -> list[int]:
    names = graph.schema.labels
    if not isinstance(order, str):
        return _by_hand(graph, list(order))
    if order == "data":
        return list(range(len(names)))
    if order == "name":
        return sorted(range(len(names)), key=lambda label: _natural(names[label]))
    if order == "related":
        return _related(joined)
    raise ValueError(
        f"there is no order {order!r}: use 'data', 'name', 'related' or a list of labels"
    )


def _by_hand(graph: LabelGraph, wanted: list[str]) -> list[int]:
    index = graph.schema.label_index
    for name in wanted:
        if name not in index:
            raise ValueError(f"there is no label {name!r}{suggestion(name, graph.schema.labels)}")
    if len(set(wanted)) < len(wanted):
        raise ValueError("order names a label twice")
    return [index[name] for name in wanted]


def _natural(name: str) -> list[tuple[int, int, str]]:
    """Class2 comes before Class10."""
    parts = re.split(r"(\d+)", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part]


def _related(joined: Mask) -> list[int]:
    """Labels whose neighbours are alike stand together, those without neighbours at the end."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import pdist

    tied = np.flatnonzero(joined.any(axis=1))
    alone = np.flatnonzero(~joined.any(axis=1)).tolist()
    if len(tied) < 3:
        return [*tied.tolist(), *alone]
    # Each label is its own neighbour, so that two labels with a tie are alike.
    profile = joined[np.ix_(tied, tied)] | np.eye(len(tied), dtype=np.bool_)
    distances = pdist(profile, "jaccard")
    tree = optimal_leaf_ordering(linkage(distances, "average"), distances)
    return [*tied[leaves_list(tree)].tolist(), *alone]
