"""The first page: the whole in figures, and the rules as a list, by labels, or as a matrix."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from labelrules._checks import counted, quoted, suggestion
from labelrules._kept import kept
from labelrules.data.schema import Schema
from labelrules.inspection.review.matrix import ConditionCell, MatrixFeature, condition_matrix
from labelrules.rules import Condition, LayeredTheory, Theory
from labelrules.rules.language.text import RuleLayout, condition_text
from labelrules.rules.views.html import rule_parts
from labelrules.studio import EditedRule, Editor
from labelrules.studio.web.project import Figures, RuleCounts, State
from labelrules.studio.web.site import Fields, NotThereError, Page, Site, address, paged


@dataclass(frozen=True)
class RuleLine:
    """A rule as the pages show it."""

    edited: EditedRule
    parts: dict[str, Any]
    text: str
    counts: dict[str, RuleCounts]
    layer: str
    labels: tuple[int, ...]
    features: tuple[int, ...]
    tested: tuple[int, ...]

    @property
    def number(self) -> int:
        """Its number, from 1."""
        return self.edited.number

    @property
    def training(self) -> RuleCounts | None:
        """Its counts on the training rows."""
        return self.counts.get("training")

    @property
    def validation(self) -> RuleCounts | None:
        """Its counts on the validation rows."""
        return self.counts.get("validation")


def rule_lines(state: State, figures: Figures) -> list[RuleLine]:
    """All rules, in their order."""
    return [line_of(one, state, figures) for one in figures.rules]


def line_of(edited: EditedRule, state: State, figures: Figures) -> RuleLine:
    """A rule with its counts; one that is disabled has none."""
    schema, rule = state.editor.theory.schema, edited.rule
    layout = RuleLayout(False, rule.votes is not None, False)
    counts = {}
    place = figures.places.get(edited.number)
    if place is not None:
        counts = {name: part.of_rule(place) for name, part in figures.parts.items() if part.runs}
    return RuleLine(
        edited,
        rule_parts(rule, schema, layout),
        edited.text,
        counts,
        section_text(edited, state),
        rule.head.labels,
        tuple(dict.fromkeys(one.column for one in rule.body.on_features)),
        tuple(dict.fromkeys(one.column for one in rule.body.on_labels)),
    )


def for_label(line: RuleLine, label: int, figures: Figures) -> RuleLine:
    """A rule with its counts for one label."""
    place = figures.places.get(line.number)
    if place is None or not line.counts:
        return line
    counts = {name: figures.parts[name].of_label(place, label) for name in line.counts}
    return replace(line, counts=counts)


def section_text(edited: EditedRule, state: State) -> str:
    """The layer of a rule, if there are several, or that it is for rows without a label."""
    if edited.for_no_label:
        return "if no label was found"
    theory = state.editor.theory
    has_layers = isinstance(theory, LayeredTheory) and len(theory.layers) > 1
    return f"layer {edited.layer}" if has_layers else ""


def lead(state: State, figures: Figures) -> str:
    """Describe the model in one sentence."""
    theory, n_off = state.editor.theory, figures.n_disabled
    off = f"; {n_off} more {'is' if n_off == 1 else 'are'} disabled" if n_off else ""
    n_decided, every = len(decided_labels(theory)), counted(theory.schema.n_labels, "label")
    labels = every if n_decided == theory.schema.n_labels else f"{n_decided} of {every}"
    return (
        f"{counted(len(theory), 'rule')} with {counted(theory.n_conditions, 'condition')} "
        f"{'decides' if len(theory) == 1 else 'decide'} {labels}{off}."
    )


def decided_labels(theory: Theory) -> set[int]:
    """The labels for which there are rules."""
    return {label for rule in theory for label in rule.head.labels}


def check_name(name: str | None, names: tuple[str, ...], what: str) -> None:
    """Refuse a name that the data do not have."""
    if name is not None and name not in names:
        raise NotThereError(f"there is no {what} {quoted(name)}{suggestion(name, names)}")


def example_condition(state: State) -> str:
    """A condition on a feature that the first rules test, to show how one is written."""
    schema = state.editor.theory.schema
    for edited in state.editor.rules:
        for condition in edited.rule.body.on_features:
            return condition_text(condition, schema)
    return condition_text(Condition.label(0), schema)


VIEWS = ("list", "label", "matrix")
SIGNS = ("", "present", "absent")
SORTS = ("list", "right", "wrong", "precision", "validation", "length")
STATES = ("", "locked", "disabled", "noted")
RULES_PER_PAGE = 200


def rules_page(site: Site, state: State, fields: Fields) -> Page:
    """The first page: figures of the whole, and the rules."""
    figures, schema = site.figures(state), state.editor.theory.schema
    chosen = chosen_filters(fields, schema)
    view = fields.choice("view", VIEWS)
    lines = rule_lines(state, figures)
    shown = sorted_lines([line for line in lines if is_shown(line, chosen, schema)], fields)
    place, paging = paged(
        len(shown), fields.number("page", 1), RULES_PER_PAGE, "/", view=view,
        sort=fields.optional("sort"), **chosen,
    )  # fmt: skip
    values = {
        "title": "Rules",
        "view": view,
        "views": [(one, address("/", view=one, **chosen)) for one in VIEWS],
        "chosen": chosen,
        "sort": fields.choice("sort", SORTS),
        "sorts": SORTS,
        "signs": SIGNS,
        "states": STATES,
        "schema": schema,
        "layers": list(dict.fromkeys(line.layer for line in lines)),
        "n_rules": len(lines),
        "n_shown": len(shown),
        "lines": shown[place],
        "matrix": matrix_part(state, figures, shown, fields, chosen) if view == "matrix" else None,
        "groups": label_groups(shown, figures, chosen["label"]) if view == "label" else [],
        "paging": paging,
        "figures": figures,
        "lead": lead(state, figures),
    }
    return Page("rules.html", values)


def chosen_filters(fields: Fields, schema: Schema) -> dict[str, str | None]:
    """The filters of the address; names must be those of the data."""
    chosen = {
        "label": fields.name("label"),
        "feature": fields.name("feature"),
        "sign": fields.choice("sign", SIGNS) or None,
        "layer": fields.optional("layer"),
        "state": fields.choice("state", STATES) or None,
        "q": fields.optional("q"),
        "tests": fields.name("tests"),
    }
    check_name(chosen["tests"], schema.labels, "label")
    check_name(chosen["label"], schema.labels, "label")
    check_name(chosen["feature"], schema.feature_names, "feature")
    return chosen


def is_shown(line: RuleLine, chosen: dict[str, str | None], schema: Schema) -> bool:
    """Whether a rule passes the filters."""
    label, sign, edited = chosen["label"], chosen["sign"], line.edited
    number = None if label is None else schema.label_index[label]
    tests = chosen["tests"]
    if tests is not None and schema.label_index[tests] not in line.tested:
        return False
    mentioned = line.labels if tests is not None else (*line.labels, *line.tested)
    if number is not None and number not in mentioned:
        return False
    if sign is not None and not any(
        value == (sign == "present")
        for one, value in edited.rule.head
        if number is None or one == number
    ):
        return False
    feature = chosen["feature"]
    if feature is not None and schema.feature_index[feature] not in line.features:
        return False
    if chosen["layer"] is not None and line.layer != chosen["layer"]:
        return False
    wanted = {"locked": edited.locked, "disabled": edited.disabled, "noted": bool(edited.rule.note)}
    if chosen["state"] is not None and not wanted[chosen["state"]]:
        return False
    words = (chosen["q"] or "").casefold().split()
    text = f"{line.text} {edited.rule.note or ''}".casefold()
    return all(word in text for word in words)


def sorted_lines(lines: list[RuleLine], fields: Fields) -> list[RuleLine]:
    """The rules in an order: largest counts first, lowest precision first."""
    sort = fields.choice("sort", SORTS)
    keys: dict[str, Callable[[RuleLine], float]] = {
        "right": lambda line: -(line.training.right if line.training else -1),
        "wrong": lambda line: -(line.training.wrong if line.training else -1),
        "precision": lambda line: _precision(line.training),
        "validation": lambda line: _precision(line.validation),
        "length": lambda line: -len(line.edited.rule.body),
    }
    return sorted(lines, key=keys[sort]) if sort in keys else lines


def _precision(counts: RuleCounts | None) -> float:
    return 2.0 if counts is None or not counts.right + counts.wrong else counts.share


def label_groups(
    lines: Iterable[RuleLine], figures: Figures, only: str | None
) -> list[tuple[str, list[RuleLine]]]:
    """The rules for each label with their counts for it.

    A rule with several labels is shown with each of them.
    """
    lines = list(lines)
    groups = []
    for number, name in enumerate(figures.editor.theory.schema.labels):
        own = [for_label(line, number, figures) for line in lines if number in line.labels]
        if own and (only is None or only == name):
            groups.append((name, own))
    return groups


FEATURES_PER_PAGE = 12


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
