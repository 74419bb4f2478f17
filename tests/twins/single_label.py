"""Classical separate-and-conquer for one label: positive and negative rows, nothing else.

Rules for the positive rows only; what a rule covers is removed; the rest is negative. There are no
boards, no heads and no cells here: with one label they must make no difference.
"""

from itertools import pairwise
from math import isnan

from labelrules.data.codes.thresholds import simplest_between


def learn(columns, is_nominal, positive, score):
    """Rules as lists of (feature, operator, value), until no positive row is left.

    `score` is a function of the covered positives and negatives, and of all of them.
    """
    left = list(range(len(positive)))
    rules = []
    while any(positive[i] for i in left):
        body = grow(columns, is_nominal, positive, left, score)
        rules.append(body)
        left = [i for i in left if not holds_all(columns, i, body)]
    return rules


def grow(columns, is_nominal, positive, left, score):
    """Greedy: the condition that helps most, as long as one helps."""

    def merit(body):
        inside = [positive[i] for i in left if holds_all(columns, i, body)]
        everywhere = [positive[i] for i in left]
        counts = [values.count(sign) for values in (inside, everywhere) for sign in (1, 0)]
        return score(*counts), inside.count(1)

    body = []
    while True:
        covered = [i for i in left if holds_all(columns, i, body)]
        longer = [[*body, condition] for condition in conditions(columns, is_nominal, covered)]
        longer = [one for one in longer if merit(one)[1] > 0]
        best = max(longer, key=merit, default=body)
        if merit(best) <= merit(body):
            return body
        body = best


def conditions(columns, is_nominal, rows):
    for j, column in enumerate(columns):
        values = sorted({column[i] for i in rows if not isnan(column[i])})
        if is_nominal[j]:
            yield from ((j, "=", value) for value in values)
            continue
        for low, high in pairwise(values):
            threshold = simplest_between(low, high)
            yield from ((j, operator, threshold) for operator in ("<=", ">"))


def holds_all(columns, i, body):
    return all(holds(columns[j][i], operator, value) for j, operator, value in body)


def holds(x, operator, value):
    if isnan(x):
        return False
    return {"<=": x <= value, ">": x > value, "=": x == value}[operator]
