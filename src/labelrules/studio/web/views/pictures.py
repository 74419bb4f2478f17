"""Views that are pictures: dependencies of labels, the flow of rows, the matrix of conditions."""

from typing import Any, NamedTuple

from labelrules._kept import kept
from labelrules.inspection import label_graph
from labelrules.inspection.pictures.svg import dependency_matrix_svg, flow_svg, label_graph_svg
from labelrules.inspection.review.coverage import RowFlow, row_flow
from labelrules.inspection.review.matrix import ConditionCell, MatrixFeature, condition_matrix
from labelrules.inspection.review.replacements import Alternative, alternatives
from labelrules.rules import LayeredTheory, RuleSet, Theory
from labelrules.studio import Editor
from labelrules.studio.web.figures import Figures
from labelrules.studio.web.inputs import Fields, InputError
from labelrules.studio.web.project import State
from labelrules.studio.web.site import Page, Site, address, paged
from labelrules.studio.web.views.rule import found_line
from labelrules.studio.web.views.rules import RuleLine, check_name

MOST_LABELS = 60
"""Labels that a picture of dependencies shows; of more, those with most rules between them."""
FEATURES_PER_PAGE = 12
STEPS_PER_PAGE = 100
RANKINGS = (
    "f1/micro/partial",
    "precision/micro/partial",
    "accuracy/micro/partial",
    "f0.5/micro/partial",
)


@kept
def _graph(editor: Editor) -> Any:
    return label_graph(editor.theory)


def dependencies_page(site: Site, state: State, fields: Fields) -> Page:
    """Which labels are predicted by testing which others."""
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


@kept
def _flows(editor: Editor) -> dict[tuple[str | None, int | None], RowFlow]:
    """The flows that were asked for, by label and layer."""
    return {}


def flow_page(site: Site, state: State, fields: Fields) -> Page:
    """How many rows reach each rule, and what it decides."""
    theory, schema = state.editor.theory, state.editor.theory.schema
    label = fields.name("label")
    check_name(label, schema.labels, "label")
    layers = theory.layers if isinstance(theory, LayeredTheory) else (theory,)
    layer = fields.number("layer", len(layers))
    if not 1 <= layer <= len(layers):
        raise InputError(f"there is no layer {layer}: there are {len(layers)}")
    flow = None
    if not isinstance(layers[layer - 1], RuleSet):
        of_layer = layer if len(layers) > 1 else None
        known = _flows(state.editor)
        if (label, of_layer) not in known:
            known[label, of_layer] = row_flow(theory, state.editor.data, label, of_layer)
        flow = known[label, of_layer]
    values: dict[str, Any] = {"title": "Flow of rows", "label": label, "schema": schema,
                              "layer": layer, "n_layers": len(layers), "flow": flow,
                              "has_fallback": has_fallback(theory)}  # fmt: skip
    if flow is not None:
        place, paging = paged(
            len(flow.steps), fields.number("page", 1), STEPS_PER_PAGE, "/flow", label=label,
            layer=layer if len(layers) > 1 else None,
        )  # fmt: skip
        steps = flow.steps[place]
        shown = type(flow)(theory, steps, flow.n_rows, flow.n_left, label)
        values |= {"picture": flow_svg(shown, "/rules/{rule}") if steps else None,
                   "paging": paging,
                   "steps": [(one.place.called, one) for one in steps]}  # fmt: skip
    return Page("flow.html", values)


def has_fallback(theory: Theory) -> bool:
    """Whether there are rules for rows that are left without a label."""
    return isinstance(theory, LayeredTheory) and theory.fallback is not None


class MatrixCell(NamedTuple):
    """The conditions of a rule on a feature: a range on its histogram, or categories."""

    text: str
    low: float | None
    high: float | None


class MatrixPart(NamedTuple):
    """Rules by features, as the page shows them."""

    features: list[dict[str, Any]]
    rows: list[tuple[RuleLine, list[MatrixCell | None]]]
    paging: Any


@kept
def _matrix(editor: Editor) -> Any:
    return condition_matrix(editor.theory, editor.data)


def matrix_part(
    state: State, figures: Figures, lines: list[RuleLine], fields: Fields, chosen: dict[str, Any]
) -> MatrixPart:
    """The shown rules by the features that they test, the most tested first."""
    matrix = _matrix(state.editor)
    place_of = {one.number: figures.places.get(one.number) for one in figures.rules}
    wanted = {place_of[line.number] for line in lines}
    cells: dict[tuple[int, int], ConditionCell] = {
        (cell.rule, cell.feature): cell for cell in matrix.cells if cell.rule in wanted
    }
    tested = sorted({feature for _, feature in cells})
    place, paging = paged(
        len(tested), fields.number("columns", 1), FEATURES_PER_PAGE, "/", view="matrix", **chosen
    )
    if paging.n_pages > 1:
        paging = paging._replace(
            before=paging.before and paging.before.replace("page=", "columns="),
            after=paging.after and paging.after.replace("page=", "columns="),
        )
    columns = tested[place]
    rows = []
    for line in lines:
        rule = place_of[line.number]
        found = [cells.get((rule, column)) if rule is not None else None for column in columns]
        drawn = [
            None if cell is None else _cell(cell, matrix.features[column])
            for cell, column in zip(found, columns, strict=True)
        ]
        if any(drawn):
            rows.append((line, drawn))
    return MatrixPart([_column(matrix.features[column]) for column in columns], rows, paging)


def _column(tested: MatrixFeature) -> dict[str, Any]:
    """The head of a column: a small histogram."""
    most = max(tested.histogram.most, 1)
    bars = [round(26 * bar.n_rows / most, 1) for bar in tested.histogram.bars[:60]]
    return {"name": tested.feature.name, "bars": bars, "n_rules": tested.n_rules}


def _cell(cell: ConditionCell, tested: MatrixFeature) -> MatrixCell:
    name = tested.feature.name
    text = cell.text.replace(f"{name} ", "", 1) if cell.text.startswith(f"{name} ") else cell.text
    text = text.replace(f", {name} ", ", ").replace("<=", "≤")
    if cell.codes is not None or not tested.histogram.bars:
        word = {f'"{name}"': "present", f'not "{name}"': "absent"}.get(cell.text, text)
        return MatrixCell(word, None, None)
    position = tested.histogram.position
    low = 0.0 if cell.low == float("-inf") else position(cell.low)
    high = 1.0 if cell.high == float("inf") else position(cell.high)
    return MatrixCell(text, round(90 * low, 1), round(90 * high, 1))


class ShownAlternative(NamedTuple):
    """An alternative with the address of its preview."""

    one: Alternative
    preview: str


def alternatives_page(site: Site, state: State, fields: Fields) -> Page:
    """Other heads for a body, similar bodies and shorter ones, ranked by a measure."""
    number, figures = fields.number("number"), site.figures(state)
    line = found_line(number, state, figures)
    place = line.edited.place
    if place is None:
        raise InputError(f"rule {number} is disabled, so it has no place for which to look")
    measure = fields.choice("measure", RANKINGS)
    theory = state.editor.theory
    is_last = place.is_fallback or (place.layer is None and isinstance(theory, LayeredTheory))
    if place.is_fallback:
        raise InputError(f"rule {number} is for rows without a label: there are no alternatives")
    layer = None if place.layer is None else place.layer + 1
    found = alternatives(
        theory, place.number + 1, state.editor.data, measure, validation=state.editor.validation,
        layer=1 if layer is None and is_last else layer,
    )  # fmt: skip
    groups = {
        "Other heads": found.heads,
        "Similar bodies": found.bodies,
        "Shorter bodies": found.pruned,
    }
    values = {
        "title": f"Alternatives to rule {number}", "line": line, "found": found,
        "groups": {
            name: [
                ShownAlternative(
                    one, address("/preview", op="replace", number=number, rule=one.text)
                )
                for one in members
                if one.fix is not None
            ]
            for name, members in groups.items()
        },
        "measure": measure, "rankings": RANKINGS,
        "has_validation": state.editor.validation is not None,
    }  # fmt: skip
    return Page("alternatives.html", values)
