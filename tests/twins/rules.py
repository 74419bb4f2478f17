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
        cells = (board if reads is None else reads)[i]
        votes = [
            literal
            for rule in theory
            if all(holds(condition, row, cells) for condition in rule.body)
            for literal, number in zip(rule.head, rule.votes or [1] * len(rule.head), strict=True)
            for _ in range(number)
        ]
        for label in range(board.shape[1]):
            said = [value for voted, value in votes if voted == label]
            if board[i, label] == UNSET and said:
                result[i, label] = 1 if said.count(1) > said.count(0) else 0
    return result
