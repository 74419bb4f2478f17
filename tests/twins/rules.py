"""Slow, obvious twins of what is fast in the package: one row, one rule at a time."""

import math

import numpy as np

from labelrules import UNSET


def holds(condition, row, cells):
    """Does one condition hold for one row (floats) and its cells on the board?"""
    x = cells[condition.column] if condition.on_label else row[condition.column]
    if math.isnan(x) or (condition.on_label and x == UNSET):
        return False
    return {
        "<=": x <= condition.value,
        ">": x > condition.value,
        "=": x == condition.value,
        "!=": x != condition.value,
        "in": x in condition.codes,
    }[condition.operator]


def run_list(theory, X, board, reads=None):
    """A decision list on a dense X: the board, who wrote each cell, who stopped each row."""
    board = board.copy()
    writer = np.full(board.shape, -1)
    stopped = np.full(len(board), -1)
    for i, row in enumerate(X):
        for number, rule in enumerate(theory):
            cells = (board if reads is None else reads)[i].copy()
            if not all(holds(condition, row, cells) for condition in rule.body):
                continue
            for label, value in rule.head:
                if board[i, label] == UNSET:
                    board[i, label] = value
                    writer[i, label] = number
            if rule.stops:
                stopped[i] = number
                break
    return board, writer, stopped


def run_set(theory, X, board, reads=None):
    """A rule set on a dense X: all rules that fire vote on the open cells."""
    result = board.copy()
    for i, row in enumerate(X):
        votes = votes_on(theory, row, (board if reads is None else reads)[i])
        if theory.label_sets or theory.at_least_one:
            chosen = labels_together(theory, [_points(votes, label) for label in _labels(theory)])
            said = {label: int(label in chosen) for label in _labels(theory)}
        else:
            said = {label: int(_points(votes, label) > 0) for label, _ in votes}
        for label, value in said.items():
            if board[i, label] == UNSET:
                result[i, label] = value
    return result


def margins(theory, X):
    """Votes for presence less votes for absence, where no label is written yet."""
    nothing = [UNSET for _ in _labels(theory)]
    found = [votes_on(theory, row, nothing) for row in X]
    rows = [[_points(votes, label) for label in _labels(theory)] for votes in found]
    return np.array(rows, dtype=int).reshape(len(X), theory.schema.n_labels)


def votes_on(theory, row, cells):
    """Each vote of the rules that fire: a label, and 0 or 1."""
    return [
        literal
        for rule in theory
        if all(holds(condition, row, cells) for condition in rule.body)
        for literal, number in zip(rule.head, rule.votes or [1] * len(rule.head), strict=True)
        for _ in range(number)
    ]


def labels_together(theory, points):
    """The labels that a row gets: all above 0, or a usual label set with as many points."""
    chosen = {label for label in _labels(theory) if points[label] > 0}
    if not chosen and theory.at_least_one and points:
        chosen = {points.index(max(points))}
    own = sum(points[label] for label in chosen)
    totals = [bonus + sum(points[label] for label in labels) for labels, bonus in theory.label_sets]
    if totals and max(totals) >= own:
        return set(theory.label_sets[totals.index(max(totals))].labels)
    return chosen


def _points(votes, label):
    return votes.count((label, 1)) - votes.count((label, 0))


def _labels(theory):
    return range(theory.schema.n_labels)


def changes(before, after, X, truth):
    """What becomes of the predictions: rows, cells, cells of known truth, and those made right."""
    empty = np.full((len(X), before.schema.n_labels), UNSET)
    first, second = (np.maximum(run_list(one, X, empty)[0], 0) for one in (before, after))
    cells = [(i, j) for i, j in np.ndindex(*first.shape) if first[i, j] != second[i, j]]
    known = [(i, j) for i, j in cells if truth is not None and truth[i, j] != UNSET]
    righted = [(i, j) for i, j in known if second[i, j] == truth[i, j]]
    return len({i for i, _ in cells}), len(cells), len(known), len(righted)
