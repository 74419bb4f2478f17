"""Classifiers of association rules, one row and one body at a time: the slow twins."""

from itertools import combinations
from math import sqrt


def cba(rules, truth, is_open):
    """Rules as (rows, ...) in order, for one label: which are kept.

    Every place where the list could end is tried, and its errors are counted anew.
    """
    left = {row for row, yes in enumerate(is_open) if yes}
    kept = []
    for number, rows in enumerate(rules):
        if any(truth[row] for row in rows & left):
            kept.append(number)
            left -= rows
        if not any(truth[row] for row in left):
            break
    best = None
    for n_used in range(len(kept) + 1):
        rest = {row for row, yes in enumerate(is_open) if yes}
        wrong = 0
        for number in kept[:n_used]:
            wrong += sum(not truth[row] for row in rules[number] & rest)
            rest -= rules[number]
        present = sum(bool(truth[row]) for row in rest)
        wrong += min(present, len(rest) - present)
        if best is None or wrong < best[0]:
            best = (wrong, kept[:n_used])
    return best[1]


def borne_out(rules, truth):
    """Rules as (rows, {label: value}), in order; without what is against the evidence, or idle."""
    while True:
        left = [set(range(len(truth))) for _ in truth[0]]
        against = set()
        for number, (rows, head) in enumerate(rules):
            for label, value in head.items():
                decided = rows & left[label]
                left[label] -= rows
                right = sum(truth[row][label] == value for row in decided)
                all_right = sum(cells[label] == value for cells in truth)
                if not decided or right * len(truth) < len(decided) * all_right:
                    against.add((number, label))
        if not against:
            return [(rows, head) for rows, head in rules if head], left
        rules = [
            (rows, {j: value for j, value in head.items() if (number, j) not in against})
            for number, (rows, head) in enumerate(rules)
        ]


def vote(rows, ones, everything, m):
    """The share a body votes for, and its weight: the absolute phi of body and label."""
    n, n_all, n_ones, all_ones = len(rows), len(everything), len(rows & ones), len(ones)
    share = (n_ones + m * all_ones / n_all) / (n + m)
    size = n * (n_all - n) * all_ones * (n_all - all_ones)
    return share, abs(n_ones * n_all - n * all_ones) / sqrt(size) if size else 0.0


def score(own, rows_of, ones, everything, least, longest, m):
    """The weighted mean of the votes of all bodies that a row's own items make."""
    total = weights = 0.0
    for length in range(1, longest + 1):
        for body in combinations(own, length):
            rows = everything.intersection(*(rows_of[item] for item in body))
            if len(rows) >= least:
                share, weight = vote(rows, ones, everything, m)
                total += weight * share
                weights += weight
    return total / weights if weights else len(ones) / max(len(everything), 1)
