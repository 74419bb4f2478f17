"""The first page: the whole in figures, and the rules, filtered and sorted."""

from collections.abc import Callable, Iterable

from labelrules.data.schema import Schema
from labelrules.studio.web.figures import Counted, Figures
from labelrules.studio.web.inputs import Fields
from labelrules.studio.web.project import State
from labelrules.studio.web.site import Page, Site, address, paged
from labelrules.studio.web.views.pictures import matrix_part
from labelrules.studio.web.views.rules import RuleLine, check_name, for_label, lead, rule_lines

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


def _precision(counts: Counted | None) -> float:
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
