"""Generality, overlap and conflict of rules."""

from labelrules.data.schema import Schema
from labelrules.rules.conditions import Body, ColumnKey, Range
from labelrules.rules.rule import Rule


def is_more_general(a: Body | Rule, b: Body | Rule, schema: Schema) -> bool:
    """Whether every row and board that satisfies `b` satisfies `a`; rules are compared by bodies.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> a = parse_rule("quality <- sex != Male", schema)
    >>> b = parse_rule("quality <- sex = Female, children = No", schema)
    >>> is_more_general(a, b, schema), is_more_general(b, a, schema)
    (True, False)
    """
    a, b = _body(a), _body(b)
    if not is_satisfiable(b, schema):
        return True
    if not is_satisfiable(a, schema):
        return False
    values_a, values_b = _values(a, schema), _values(b, schema)
    ranges_b = b.ranges
    return all(
        key in ranges_b and _within(ranges_b[key], wider) for key, wider in a.ranges.items()
    ) and all(key in values_b and values_b[key] <= wider for key, wider in values_a.items())


def is_satisfiable(body: Body, schema: Schema) -> bool:
    """Whether some row and board could satisfy the body, given the categories there are."""
    return body.is_satisfiable and all(_values(body, schema).values())


def overlap(a: Body | Rule, b: Body | Rule, schema: Schema) -> bool:
    r"""Whether some row and board could satisfy both bodies, or fire both rules.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> texts = "sports <- marital = Single\nsports <- sex = Male\nsports <- marital = Married"
    >>> single, male, married = parse(texts, schema := load("magazines").schema)
    >>> overlap(single, male, schema), overlap(single, married, schema)
    (True, False)
    """
    return is_satisfiable(Body((*_body(a), *_body(b))), schema)


def conflict(a: Rule, b: Rule, schema: Schema) -> bool:
    """Whether the two rules could fire together and contradict each other on some label."""
    predicted = dict(a.head)
    contradicts = any(predicted.get(label, value) != value for label, value in b.head)
    return contradicts and overlap(a.body, b.body, schema)


def is_more_specific(a: Body | Rule, b: Body | Rule, schema: Schema) -> bool:
    """Whether every row and board that satisfies `a` satisfies `b`; equal bodies included."""
    return is_more_general(b, a, schema)


def _body(part: Body | Rule) -> Body:
    return part.body if isinstance(part, Rule) else part


def _within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _values(body: Body, schema: Schema) -> dict[ColumnKey, frozenset[int]]:
    """The categories that a body leaves possible, unless it requires two values of one column."""
    left: dict[ColumnKey, frozenset[int]] = {}
    for (on_label, column), (required, excluded) in body.choices.items():
        categories = None if on_label else schema.features[column].categories
        every = frozenset(range(2 if categories is None else len(categories)))
        left[on_label, column] = (every & required if required else every) - excluded
    return left
