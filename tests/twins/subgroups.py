"""Subgroups, one body and one row at a time: the slow twin of the search."""

from itertools import combinations, product
from math import log2, sqrt

from labelrules.rules import Body
from twins.rules import holds


def covers(body, data):
    X = data.X.toarray() if data.is_sparse else data.X
    return [
        all(holds(condition, row, cells) for condition in body)
        for row, cells in zip(X, data.Y, strict=True)
    ]


def share(rows):
    return sum(rows) / len(rows) if rows else 0.0


def wracc(data, covered, head):
    has = [all(cells[label] == value for label, value in head) for cells in data.Y]
    inside = [h for h, c in zip(has, covered, strict=True) if c]
    return len(inside) / len(has) * (share(inside) - share(has))


def kl(data, covered, labels):
    total = 0.0
    for label in labels:
        everybody = [int(cells[label]) for cells in data.Y]
        inside = [y for y, c in zip(everybody, covered, strict=True) if c]
        for p, q in (
            (share(inside), share(everybody)),
            (1 - share(inside), 1 - share(everybody)),
        ):
            total += p * log2(p / q) if p > 0 and q > 0 else 0.0
    return sum(covered) / len(covered) * total


def phi(Y, a, b):
    n = len(Y)
    n_a, n_b = sum(int(y[a]) for y in Y), sum(int(y[b]) for y in Y)
    both = sum(int(y[a]) * int(y[b]) for y in Y)
    size = n_a * (n - n_a) * n_b * (n - n_b)
    return (n * both - n_a * n_b) / sqrt(size) if size else 0.0


def dependence(data, covered, labels, against):
    inside = [y for y, c in zip(data.Y, covered, strict=True) if c]
    others = [y for y, c in zip(data.Y, covered, strict=True) if not c or against == "all"]
    changes = [abs(phi(inside, a, b) - phi(others, a, b)) for a, b in combinations(labels, 2)]
    q = len(inside) / len(covered)
    entropy = -q * log2(q) - (1 - q) * log2(1 - q)
    return entropy * sum(changes) / len(changes)


def best_groups(data, parts, value, k, depth, least):
    """The best k of all bodies: value, then fewer parts, then earlier parts; each rows once."""
    found = []
    for n_parts in range(1, depth + 1):
        for numbers in combinations(range(len(parts)), n_parts):
            body = Body(condition for number in numbers for condition in parts[number])
            covered = covers(body, data)
            if least <= sum(covered) < len(covered):
                worth = round(value(data, covered), 10)
                found.append((-worth, n_parts, numbers, tuple(covered), body))
    found.sort(key=lambda one: one[:3])
    seen, kept = set(), []
    for minus, _, _, covered, body in found:
        if minus < 0 and covered not in seen:
            seen.add(covered)
            kept.append((-minus, body, sum(covered)))
    return kept[:k]


def parts_of_groups(ones, zeros):
    """All that a part of a group with so many ones and zeros of each label may have."""
    n = ones[0] + zeros[0]
    for size in range(1, n + 1):
        ranges = [
            range(max(0, size - z), min(o, size) + 1) for o, z in zip(ones, zeros, strict=True)
        ]
        for counts in product(*ranges):
            yield (size, *counts)
