"""Constraints and repairs the slow way: over all label sets, one at a time."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np

from labelrules import Rule


def literals_of(rule: Rule) -> list[set[tuple[int, int]]]:
    """For each literal of the head: the literals of which one must hold."""
    against = {(condition.column, 1 - int(condition.value)) for condition in rule.body}
    return [against | {literal} for literal in rule.head]


def keeps(cells, rules) -> bool:
    """Whether a label set breaks no rule."""
    return all(
        any(cells[label] == value for label, value in clause)
        for rule in rules
        for clause in literals_of(rule)
    )


def models(rules, n_labels) -> set[tuple[int, ...]]:
    """All label sets that break no rule."""
    return {cells for cells in product((0, 1), repeat=n_labels) if keeps(cells, rules)}


def nearest(row, costs, rules):
    """The consistent label set with the least cost, then changes, then in the order of labels."""
    found = models(rules, len(row))

    def merit(cells):
        flipped = [int(cells[j] != row[j]) for j in range(len(row))]
        cost = sum(c for c, is_flipped in zip(costs, flipped, strict=True) if is_flipped)
        return cost, sum(flipped), flipped

    return min(found, key=merit) if found else None


def constraints(board, max_body, tolerance, min_support):
    """Members (the head last), whether present, support and exceptions, in a dictionary."""
    board = np.asarray(board)
    n_rows, n_labels = board.shape
    limit = Fraction(str(tolerance))
    varied = [j for j in range(n_labels) if 0 < board[:, j].sum() < n_rows]

    def count(labels):
        return sum(all(row[j] for j in labels) for row in board.tolist())

    def holds(exceptions, support):
        return support >= min_support and exceptions <= limit * support

    found: dict[tuple[tuple[int, ...], bool], tuple[int, int]] = {}
    for size in range(1, max_body + 1):
        shorter = [clause_of(*key) for key in found]
        level = {}
        for body in combinations(varied, size):
            for head in varied:
                support, both = count(body), count((*body, head))
                told = size > 1 and entailed(clause_of((*body, head), True), shorter, n_labels)
                if head not in body and holds(support - both, support) and not told:
                    level[(*body, head), True] = (support, support - both)
        for members in combinations(varied, size + 1):
            parts = [(count(part), part) for part in combinations(members, size)]
            least, body = min(parts, key=lambda pair: pair[0])
            told = size > 1 and entailed(clause_of(members, False), shorter, n_labels)
            if holds(count(members), least) and not told:
                (head,) = set(members) - set(body)
                level[(*body, head), False] = (least, count(members))
        found |= level
    return found


def clause_of(members, present):
    *body, head = members
    return {(label, 0) for label in body} | {(head, int(present))}


def entailed(clause, others, n_labels) -> bool:
    """Whether every label set that satisfies the others satisfies the clause."""
    return all(
        any(cells[label] == value for label, value in clause)
        for cells in product((0, 1), repeat=n_labels)
        if all(any(cells[label] == value for label, value in other) for other in others)
    )


def n_tests_of_pairs(board, min_support) -> int:
    """Ordered pairs for subsets, pairs for exclusions, with bodies that cover enough rows."""
    counts = np.asarray(board).sum(axis=0)
    varied = [j for j in range(len(counts)) if 0 < counts[j] < len(board)]
    subsets = sum(counts[body] >= min_support for body, _ in permutations(varied, 2))
    exclusions = sum(min(counts[a], counts[b]) >= min_support for a, b in combinations(varied, 2))
    return int(subsets + exclusions)
