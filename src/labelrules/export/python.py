"""A theory as a Python module that needs nothing else."""

from collections.abc import Iterable

from labelrules.data.schema import Schema
from labelrules.export.plan import Plan, is_list
from labelrules.rules.conditions import Body, Condition
from labelrules.rules.formats.text import rule_text
from labelrules.rules.inference import LabelByLabel, UntilStable
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory

_DOCSTRING = '''"""Labels by rules.

predict(row) gives 1 for each label that is present and 0 for each that is absent, labels(row) the
names of those present. A row is a mapping from the names of the columns to their values; None, NaN
and NA are missing values, which satisfy no condition, and so are categories that are not known.
Exported from a theory of labelrules; this module needs nothing but Python.
"""
'''

_FRONT = '''
def predict(row):
    """The labels of a row: 1 for present, 0 for absent."""
    row = {column: _value(row, column) for column in COLUMNS}
%s
    return _closed(board)


def labels(row):
    """The names of the labels that are present."""
    return [label for label, value in predict(row).items() if value]


'''

_VALUE = '''
def _value(row, column):
    """A value as the rules take it: a number, NaN if it is missing."""
    if column not in row:
        raise KeyError(f"the row has no column {column!r}; a missing value is None")
    value = row[column]
    if value is None or type(value).__name__ == "NAType" or value != value:
        return float("nan")
    if isinstance(value, str):
        raise ValueError(f"{column!r} must be a number, not {value!r}")
    return float(value)

'''

_VALUE_WITH_CATEGORIES = '''
def _value(row, column):
    """A value as the rules take it: a number, NaN if missing; or a category, None if missing."""
    if column not in row:
        raise KeyError(f"the row has no column {column!r}; a missing value is None")
    value, categories = row[column], CATEGORIES.get(column)
    if value is None or type(value).__name__ == "NAType" or value != value:
        return float("nan") if categories is None else None
    if categories is not None:
        text = _text(value)
        return text if text in categories else None
    if isinstance(value, str):
        raise ValueError(f"{column!r} must be a number, not {value!r}")
    return float(value)


def _text(value):
    """A value as a category: a whole number has no decimal point."""
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ in ("bool", "bool_"):
        return str(bool(value))
    if hasattr(value, "__index__"):
        return str(int(value))
    return repr(float(value) + 0.0).removesuffix(".0")

'''

_CLOSED = '''
def _closed(board):
    """All labels; those that nobody wrote are absent."""
    return {label: board.get(label, 0) for label in LABELS}

'''

_WRITE = '''
def _write(board, head):
    """The first rule to write a label decides about it."""
    for label, value in head.items():
        board.setdefault(label, value)

'''

_VOTE = '''
def _vote(votes, ballot):
    """Votes for presence are above 0, those for absence below."""
    for label, number in ballot.items():
        votes[label] = votes.get(label, 0) + number


def _counted(votes):
    """More votes for presence than for absence make a label present."""
    return {label: 1 if number > 0 else 0 for label, number in votes.items()}

'''

_UNTIL_STABLE = '''
def _until_stable(layer, row, seen, max_rounds):
    """Let a layer read its own result until nothing changes; else what it said first."""
    first = layer(row, seen)
    labels = _closed(first)
    if labels == seen:
        return first
    for _ in range(max_rounds - 1):
        before, labels = labels, _closed(layer(row, labels))
        if labels == before:
            return labels
    return first

'''

_LABEL_BY_LABEL = '''
def _label_by_label(layer, row, seen, max_rounds, order):
    """Write one label after the other until nothing changes; else what the first round said."""
    labels = dict(_closed(layer(row)) if seen is None else seen)
    first = None
    for _ in range(max_rounds):
        before = dict(labels)
        for label in order:
            labels[label] = _closed(layer(row, labels))[label]
        if labels == before:
            return labels
        first = first or dict(labels)
    return first

'''


def to_python(theory: Theory) -> str:
    r"""The source of a Python module with `predict(row)` and `labels(row)`, which imports nothing.

    A row is a mapping from names to values; None, NaN and unknown categories are missing. The
    rules stand in it as ``if`` statements, in their order.

    Parameters
    ----------
    theory : DecisionList, RuleSet or LayeredTheory
        Not one that is sampled from.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not fashion, * <- sex = Male\nfashion <- true", load("magazines").schema)
    >>> source = to_python(theory)
    >>> print(source[source.index("def _layer_1"):source.index("def _closed")])
    def _layer_1(row, seen=None):
        board = {}
        # 1: not fashion, * <- sex = Male
        if row['sex'] == 'Male':
            _write(board, {'fashion': 0})
            return board
        # 2: fashion <- true
        _write(board, {'fashion': 1})
        return board
    >>> module = {}
    >>> exec(source, module)
    >>> module["labels"]({"sex": "Female"})
    ['fashion']
    """
    plan = Plan.of(theory)
    schema = plan.schema
    parts = [
        _layer(part, schema, f"_layer_{number}", 1 + sum(map(len, plan.layers[: number - 1])))
        for number, part in enumerate(plan.layers, 1)
    ]
    if plan.fallback is not None:
        n_before = sum(map(len, plan.layers))
        parts.append(_layer(plan.fallback, schema, "_rows_without_labels", 1 + n_before))
    pieces = [_DOCSTRING, _constants(plan), _FRONT % _calls(plan), "\n\n".join(parts)]
    return (
        "\n".join(piece.strip("\n") + "\n\n" for piece in [*pieces, *_helpers(plan)]).strip() + "\n"
    )


def _constants(plan: Plan) -> str:
    features = [plan.schema.features[column] for column in plan.used]
    lines = ["LABELS = " + _tuple(plan.schema.labels)]
    lines.append("COLUMNS = " + _tuple(feature.name for feature in features))
    if any(feature.is_nominal for feature in features):
        lines += ["CATEGORIES = {"]
        lines += [
            f"    {feature.name!r}: {_tuple(feature.categories)},"
            for feature in features
            if feature.categories is not None
        ]
        lines.append("}")
    return "\n".join(lines)


def _tuple(texts: Iterable[str]) -> str:
    return repr(tuple(texts))


def _helpers(plan: Plan) -> list[str]:
    nominal = any(plan.schema.features[column].is_nominal for column in plan.used)
    found = [_CLOSED, _VALUE_WITH_CATEGORIES if nominal else _VALUE]
    if any(is_list(part) for part in plan.parts):
        found.append(_WRITE)
    if not all(is_list(part) for part in plan.parts):
        found.append(_VOTE)
    if isinstance(plan.inference, UntilStable):
        found.append(_UNTIL_STABLE)
    if isinstance(plan.inference, LabelByLabel):
        found.append(_LABEL_BY_LABEL)
    return found


def _calls(plan: Plan) -> str:
    """The body of `predict`: layer after layer."""
    lines, seen = [], "None"
    for number in range(1, len(plan.layers)):
        lines.append(f"seen = _closed(_layer_{number}(row, {seen}))")
        seen = "seen"
    last, way = f"_layer_{len(plan.layers)}", plan.inference
    if isinstance(way, UntilStable):
        lines.append(f"board = _until_stable({last}, row, {seen}, {way.max_rounds})")
    elif isinstance(way, LabelByLabel):
        order = [plan.schema.labels[label] for label in way.labels(plan.schema.n_labels)]
        given = f"{last}, row, {seen}, {way.max_rounds}, {_tuple(order)}"
        lines.append(f"board = _label_by_label({given})")
    else:
        lines.append(f"board = {last}(row, {seen})")
    if plan.fallback is not None:
        lines += ["if 1 not in board.values():", "    board = _rows_without_labels(row)"]
    return "\n".join(f"    {line}" for line in lines)


def _layer(part: Theory, schema: Schema, name: str, first: int) -> str:
    lines = [f"def {name}(row, seen=None):", "    board = {}"]
    if any(rule.body.on_labels for rule in part):
        lines.append("    seen = board if seen is None else seen")
    if not is_list(part):
        lines[1:] = ["    seen, votes = {} if seen is None else seen, {}"]
    for number, rule in enumerate(part, first):
        lines += _rule(rule, schema, number, is_list(part))
    return "\n".join(
        [*lines, "    return board" if is_list(part) else "    return _counted(votes)"]
    )


def _rule(rule: Rule, schema: Schema, number: int, ordered: bool) -> list[str]:
    if ordered:
        head = {schema.labels[label]: value for label, value in rule.head}
        does = [f"_write(board, {head!r})"]
    else:
        ballot = {schema.labels[label]: n if value else -n for label, value, n in rule.ballot}
        does = [f"_vote(votes, {ballot!r})"]
    if rule.stops:
        does.append("return board")
    indent = "    "
    lines = [f"{indent}# {number}: {_printable(rule_text(rule, schema))}"]
    if len(rule.body):
        lines.append(f"{indent}if {_body(rule.body, schema)}:")
        indent += "    "
    return [*lines, *(f"{indent}{line}" for line in does)]


def _body(body: Body, schema: Schema) -> str:
    return " and ".join(_condition(condition, schema) for condition in body)


def _condition(condition: Condition, schema: Schema) -> str:
    if condition.on_label:
        return f"seen.get({schema.labels[condition.column]!r}) == {int(condition.value)}"
    feature = schema.features[condition.column]
    value = f"row[{feature.name!r}]"
    if feature.categories is None:
        return f"{value} {condition.operator} {condition.value!r}"
    category = feature.categories[int(condition.value)]
    if condition.operator == "=":
        return f"{value} == {category!r}"
    return f"{value} not in (None, {category!r})"


def _printable(text: str) -> str:
    """On one line, and without characters that a source file cannot have."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)
