"""Export a theory to a Python module that needs nothing else."""

from typing import Any

from labelrules._html import template_file
from labelrules.data.memory.columns import are_truth_words, stands_for_numbers
from labelrules.data.schema import Schema
from labelrules.export.plan import (
    DecidingRule,
    Plan,
    deciding_rules,
    has_wide_heads,
    holding_categories,
    is_list,
    is_scorecard,
    n_numbers,
    printable,
)
from labelrules.rules.conditions import Body, Condition
from labelrules.rules.inference import LabelByLabel, ListChances, UntilStable
from labelrules.rules.language.text import rule_text
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory


def to_python(theory: Any) -> str:
    r"""The source of a Python module with `predict(row)` and `labels(row)`, which imports nothing.

    A row is a mapping from names to values, which are read as by :class:`Predictor`; None, NaN and
    unknown categories are missing, and values of another kind are an error. Dates, times and
    durations are those of Python, NumPy or pandas, or texts as in ISO 8601. Each rule is an ``if``
    statement, in the order of the rules. `reasons(row)` gives the rules that decided each label,
    and `probabilities(row)`, if a fitted learner is exported, the probability that each label is
    present.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        Not one that is sampled from.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not fashion, * <- sex = Male\nfashion <- true", load("magazines").schema)
    >>> source = to_python(theory)
    >>> print(source[source.index("def _layer_1"):source.index("def _closed")])
    def _layer_1(row, seen, fired):
        board = {}
        # 1: not fashion, * <- sex = Male
        if row['sex'] == 'Male':
            fired.append(1)
            board.setdefault('fashion', 0)
            return board
        # 2: fashion <- true
        fired.append(2)
        board.setdefault('fashion', 1)
        return board
    >>> module = {}
    >>> exec(source, module)
    >>> module["labels"]({"sex": "Female"}), module["reasons"]({"sex": "Female"})["fashion"]
    (['fashion'], ['fashion <- true'])
    """
    plan = Plan.of(theory)
    features = [plan.schema.features[column] for column in plan.used]
    return template_file("exported_module.py.jinja").render(
        repr=repr,
        labels=plan.schema.labels,
        columns=tuple(feature.name for feature in features),
        categories={f.name: f.categories for f in features if f.categories is not None},
        numerals=[feature.name for feature in features if stands_for_numbers(feature.categories)],
        truth_words=[feature.name for feature in features if are_truth_words(feature.categories)],
        times={f.name: f.time for f in features if f.time is not None},
        calls=_calls(plan),
        layers=_layers(plan),
        has_wide_heads=has_wide_heads(plan),
        has_sets=not all(is_list(part) for part in plan.parts),
        has_votes=not all(is_list(part) or is_scorecard(part) for part in plan.parts),
        has_scorecards=any(is_scorecard(part) for part in plan.parts),
        inference=type(plan.inference).__name__,
        notes="{}" if _notes_labels(plan) else "[]",
        of_label="fired[label]" if _notes_labels(plan) else "fired",
        first_decides=is_list(plan.layers[-1]),
        rules=[(one.number, one.text, _named(one, plan.schema)) for one in deciding_rules(plan)],
        **_chances(plan),
    )


def _notes_labels(plan: Plan) -> bool:
    """Whether the rules that fired are noted for each label."""
    return isinstance(plan.inference, LabelByLabel)


def _named(rule: DecidingRule, schema: Schema) -> dict[str, float]:
    return {schema.labels[label]: value for label, value in rule.values.items()}


def _chances(plan: Plan) -> dict[str, Any]:
    """How probabilities are estimated."""
    if isinstance(plan.chances, ListChances):
        undecided = dict(zip(plan.schema.labels, plan.chances.undecided, strict=True))
        return {"chances": "lists", "undecided": undecided}
    points = plan.chances
    return {"chances": ""} if points is None else {"chances": "points", **points._asdict()}


def _calls(plan: Plan) -> list[str]:
    """The body of `_decided`: layer after layer."""
    lines, seen = [], "None"
    for number in range(1, len(plan.layers)):
        lines.append(f"seen = _closed(_layer_{number}(row, {seen}, []))")
        seen = "seen"
    last, inference = f"_layer_{len(plan.layers)}", plan.inference
    if isinstance(inference, UntilStable):
        lines.append(f"board = _until_stable({last}, row, {seen}, {inference.max_rounds}, fired)")
    elif isinstance(inference, LabelByLabel):
        numbers = inference.labels(plan.schema.n_labels)
        order = tuple(plan.schema.labels[label] for label in numbers)
        arguments = f"{last}, row, {seen}, {inference.max_rounds}, {order!r}, fired"
        lines.append(f"board = _label_by_label({arguments})")
    else:
        lines.append(f"board = {last}(row, {seen}, fired)")
    if plan.fallback is not None:
        call = "_rows_without_labels(row, None, guessed)"
        lines += ["if 1 not in board.values():", f"    board = {call}"]
    return lines


def _layers(plan: Plan) -> list[str]:
    """The functions that apply the layers, and the list for rows without labels."""
    names = [f"_layer_{number}" for number in range(1, len(plan.layers) + 1)]
    first, functions = 1, []
    for name, part in zip([*names, "_rows_without_labels"], plan.parts, strict=False):
        functions.append(_layer(part, plan.schema, name, first))
        first += n_numbers(part)
    return functions


def _layer(part: Theory, schema: Schema, name: str, first: int) -> str:
    lines = [f"def {name}(row, seen, fired):", "    board = {}"]
    if any(rule.body.on_labels for rule in part):
        lines.append("    seen = board if seen is None else seen")
    if not is_list(part):
        lines[1:] = ["    seen, votes = {} if seen is None else seen, {}"]
    for number, rule in enumerate(part, first):
        lines += _rule(rule, schema, number, is_list(part))
    return "\n".join([*lines, *_end(part, schema, first)])


def _end(part: Theory, schema: Schema, first: int) -> list[str]:
    """The last lines of a layer: what it returns."""
    if is_list(part):
        return ["    return board"]
    if not is_scorecard(part):
        return ["    return _counted(votes)"]
    sets = [
        (number, tuple(schema.labels[label] for label in one.labels), one.bonus)
        for number, one in enumerate(part.label_sets, first + len(part))
    ]
    resort = first + len(part) + len(sets) if part.at_least_one else None
    return [
        "    label_sets = [",
        *(f"        {one!r}," for one in sets),
        "    ]",
        f"    return _together(votes, label_sets, {resort}, fired)",
    ]


def _rule(rule: Rule, schema: Schema, number: int, ordered: bool) -> list[str]:
    actions = [f"fired.append({number})", _action(rule, schema, ordered)]
    if rule.stops:
        actions.append("return board")
    indent = "    "
    lines = [f"{indent}# {number}: {printable(rule_text(rule, schema))}"]
    if len(rule.body):
        lines.append(f"{indent}if {_body(rule.body, schema)}:")
        indent += "    "
    return [*lines, *(f"{indent}{line}" for line in actions)]


def _action(rule: Rule, schema: Schema, ordered: bool) -> str:
    """What a rule does: write its head, or vote."""
    if not ordered:
        ballot = {schema.labels[label]: n if value else -n for label, value, n in rule.ballot}
        return f"_vote(votes, {ballot!r})"
    head = {schema.labels[label]: value for label, value in rule.head}
    if len(head) > 1:
        return f"_write(board, {head!r})"
    ((label, value),) = head.items()
    return f"board.setdefault({label!r}, {value})"


def _body(body: Body, schema: Schema) -> str:
    return " and ".join(_condition(condition, schema) for condition in body)


def _condition(condition: Condition, schema: Schema) -> str:
    if condition.on_label:
        return f"seen.get({schema.labels[condition.column]!r}) == {int(condition.value)}"
    feature = schema.features[condition.column]
    value = f"row[{feature.name!r}]"
    if feature.categories is None:
        threshold = condition.value if feature.time is None else int(condition.value)
        return f"{value} {condition.operator} {threshold!r}"
    if condition.operator == "!=":
        return f"{value} not in (None, {feature.text(condition.value)!r})"
    if condition.operator == "=":
        return f"{value} == {feature.text(condition.value)!r}"
    return f"{value} in {holding_categories(condition, schema)!r}"
