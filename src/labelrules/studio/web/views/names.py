"""Labels and features as tables, and one of them with the rules that mention it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from labelrules._kept import kept
from labelrules._types import UNSET
from labelrules.data.schema import Feature
from labelrules.inspection import histogram_svg, label_graph
from labelrules.inspection.pictures.svg import dependency_matrix_svg, label_graph_svg
from labelrules.inspection.review.matrix import (
    tested_feature,
)
from labelrules.measures import Measure
from labelrules.studio import Editor
from labelrules.studio.web.project import PartFigures, State
from labelrules.studio.web.site import Fields, Page, Site, address, paged
from labelrules.studio.web.views.rules import (
    RuleLine,
    check_name,
    decided_labels,
    for_label,
    rule_lines,
)

NAMES_PER_PAGE = 300
_F1 = Measure.parse("f1/micro/full")


@dataclass(frozen=True)
class LabelLine:
    """A label: how often it is there, how well it is predicted, and its rules."""

    name: str
    n_rows: int
    n_unknown: int
    n_rules: int
    n_testing: int
    scores: dict[str, "LabelScore"]


@dataclass(frozen=True)
class LabelScore:
    """How well a label is predicted on one part of the data."""

    right: int
    missed: int
    false: int
    f1: float


def label_score(part: PartFigures, label: int, rows: Any = slice(None)) -> LabelScore:
    """Present and found, present and missed, and given without being present, in some rows."""
    truth, predicted = part.data.Y[rows, label], part.predicted[rows, label]
    right = int(((truth == 1) & (predicted == 1)).sum())
    missed = int(((truth == 1) & (predicted == 0)).sum())
    false = int(((truth == 0) & (predicted == 1)).sum())
    f1 = 2 * right / (2 * right + missed + false) if right else 0.0
    return LabelScore(right, missed, false, f1)


def labels_page(site: Site, state: State, fields: Fields) -> Page:
    """All labels."""
    figures, schema = site.figures(state), state.editor.theory.schema
    lines = rule_lines(state, figures)
    sort = fields.choice("sort", ("data", "name", "rows", "rules", "f1"))
    truth = figures.training.data.Y
    found = [
        LabelLine(
            name,
            int((truth[:, label] == 1).sum()),
            int((truth[:, label] == UNSET).sum()),
            sum(label in line.labels for line in lines),
            sum(label in line.tested for line in lines),
            {key: label_score(part, label) for key, part in figures.parts.items()},
        )
        for label, name in enumerate(schema.labels)
    ]
    last = "validation" if figures.validation else "training"
    keys: dict[str, Any] = {
        "name": lambda one: one.name.casefold(),
        "rows": lambda one: -one.n_rows,
        "rules": lambda one: -one.n_rules,
        "f1": lambda one: one.scores[last].f1,
    }
    found = sorted(found, key=keys[sort]) if sort in keys else found
    place, paging = paged(
        len(found), fields.number("page", 1), NAMES_PER_PAGE, "/labels", sort=sort
    )
    values = {"title": "Labels", "lines": found[place], "sort": sort, "paging": paging,
              "parts": list(figures.parts),
              "n_without": schema.n_labels - len(decided_labels(state.editor.theory))}  # fmt: skip
    return Page("labels.html", values)


def label_page(site: Site, state: State, fields: Fields) -> Page:
    """One label: its rules, the rules that test it, and rows in which it is wrong."""
    figures, schema = site.figures(state), state.editor.theory.schema
    name = fields.exact("name")
    check_name(name, schema.labels, "label")
    label = schema.label_index[name]
    lines = rule_lines(state, figures)
    values = {
        "title": name,
        "name": name,
        "scores": {key: label_score(part, label) for key, part in figures.parts.items()},
        "own": [for_label(line, label, figures) for line in lines if label in line.labels],
        "testing": [line for line in lines if label in line.tested],
        "figures": figures,
    }
    return Page("label.html", values)


@dataclass(frozen=True)
class FeatureLine:
    """A feature and the rules that test it."""

    feature: Feature
    rules: list[RuleLine]
    about: str


def features_page(site: Site, state: State, fields: Fields) -> Page:
    """The features, those that rules test first."""
    figures, schema = site.figures(state), state.editor.theory.schema
    lines = rule_lines(state, figures)
    text = (fields.optional("q") or "").casefold()
    by_feature: dict[int, list[RuleLine]] = {}
    for line in lines:
        for feature in line.features:
            by_feature.setdefault(feature, []).append(line)
    numbers = [j for j, one in enumerate(schema.features) if text in one.name.casefold()]
    numbers.sort(key=lambda j: -len(by_feature.get(j, [])))
    place, paging = paged(
        len(numbers), fields.number("page", 1), NAMES_PER_PAGE, "/features", q=text or None
    )
    data = figures.training.data
    shown = [
        FeatureLine(
            schema.features[j],
            by_feature.get(j, []),
            range_text(schema.features[j], data.column(j)),
        )
        for j in numbers[place]
    ]
    values = {"title": "Features", "lines": shown, "paging": paging, "q": text,
              "n_tested": len(by_feature), "n_features": schema.n_features}  # fmt: skip
    return Page("features.html", values)


def feature_page(site: Site, state: State, fields: Fields) -> Page:
    """One feature: its values, and the rules that test it."""
    figures, schema = site.figures(state), state.editor.theory.schema
    name = fields.exact("name")
    check_name(name, schema.feature_names, "feature")
    number = schema.feature_index[name]
    feature, column = schema.features[number], figures.training.data.column(number)
    counts: list[tuple[str, int]] = []
    if feature.categories is not None:
        found = np.bincount(
            column[~np.isnan(column)].astype(np.int64), minlength=len(feature.categories)
        )
        counts = [(text, int(n)) for text, n in zip(feature.categories, found, strict=True)]
    picture = None
    if feature.categories is None:
        tested = tested_feature(state.editor.theory, figures.training.data.X, number)
        picture = histogram_svg(tested) if tested.histogram.bars else None
    values = {
        "title": name,
        "picture": picture,
        "feature": feature,
        "about": range_text(feature, column),
        "counts": counts,
        "own": [line for line in rule_lines(state, figures) if number in line.features],
        "figures": figures,
        "add": address("/add", rule=f"… <- {name}"),
    }
    return Page("feature.html", values)


def range_text(feature: Feature, column: Any) -> str:
    """The range or the number of values of a feature, and how many are missing."""
    n_missing = int(np.isnan(column).sum())
    missing = f", {n_missing:,} missing" if n_missing else ""
    if feature.categories is not None:
        return f"{feature.kind}, {len(feature.categories)} categories{missing}"
    known = column[~np.isnan(column)]
    if not known.size:
        return f"{feature.kind}, all missing"
    low, high = feature.text(known.min()), feature.text(known.max())
    return f"{feature.kind} from {low} to {high}{missing}"


MOST_LABELS = 60
"""Labels that a picture of dependencies shows; of more, those with most rules between them."""


@kept
def _graph(editor: Editor) -> Any:
    return label_graph(editor.theory)


def dependencies_page(site: Site, state: State, fields: Fields) -> Page:
    """Dependencies between labels: which are predicted by testing which others."""
    view = fields.choice("view", ("matrix", "graph"))
    graph = _graph(state.editor)
    edges = graph.edges()
    counts: dict[str, int] = {}
    for edge in edges:
        for name in (edge.tested, edge.predicted):
            counts[name] = counts.get(name, 0) + edge.n_full + edge.n_partial
    shown = sorted(counts, key=lambda name: -counts[name])[:MOST_LABELS]
    names = [name for name in state.editor.theory.schema.labels if name in set(shown)]
    link = "/?label={predicted}&tests={tested}"
    draw = dependency_matrix_svg if view == "matrix" else label_graph_svg
    values = {
        "title": "Dependencies",
        "view": view,
        "views": [(one, address("/dependencies", view=one)) for one in ("matrix", "graph")],
        "picture": draw(graph, order=names, link=link) if names else None,
        "edges": [(edge, address("/", label=edge.predicted, tests=edge.tested)) for edge in edges],
        "n_hidden": len(counts) - len(names),
        "cycles": graph.components(),
        "graph": graph,
    }
    return Page("dependencies.html", values)
