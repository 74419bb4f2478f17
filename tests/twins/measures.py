"""Slow, obvious and exact: the measures once more, one cell at a time, in fractions.

Written from the definitions alone; nothing here is shared with the package.
A head is a sequence of 0, 1 and None (not concerned); a board likewise (None: open).
"""

from fractions import Fraction
from math import log2, sqrt


def outcome(convention, truth, value, covered):
    """The word for one cell whose label the rule predicts to be `value` where it covers."""
    if convention == "chapter":
        if covered:
            return "tp" if truth == value else "fp"
        return "fn" if truth == 1 else "tn"
    if convention == "head-relative":
        if covered:
            return "tp" if truth == value else "fp"
        return "fn" if truth == value else "tn"
    assert convention == "plain"
    predicted = value if covered else 0
    if predicted == 1:
        return "tp" if truth == 1 else "fp"
    return "fn" if truth == 1 else "tn"


def quotient(part, whole):
    return Fraction(0) if whole == 0 else Fraction(part) / Fraction(whole)


def counts_of(words):
    return tuple(sum(word == kind for word in words) for kind in ("tp", "fp", "tn", "fn"))


def delta(name, counts, parameter=None):
    """The value of a formula; a float for the irrational ones, else a Fraction."""
    tp, fp, tn, fn = counts
    covered, positive, negative = tp + fp, tp + fn, fp + tn
    total = tp + fp + tn + fn
    p = None if parameter is None else Fraction(repr(parameter))
    if name == "precision":
        return quotient(tp, covered)
    if name == "recall":
        return quotient(tp, positive)
    if name == "hamming":
        return quotient(tp + tn, total)
    if name == "f":
        # The harmonic form of the chapter; it is 0 where precision or recall is 0.
        precision, recall = quotient(tp, covered), quotient(tp, positive)
        if precision == 0 or recall == 0:
            return Fraction(0)
        return (p**2 + 1) / (p**2 / recall + 1 / precision)
    if name == "subset":
        return Fraction(1 if fp == 0 and fn == 0 and total > 0 else 0)
    if name == "jaccard":
        return quotient(tp, tp + fp + fn)
    if name == "laplace":
        return Fraction(tp + 1, covered + 2)
    if name == "m-estimate":
        return quotient(tp + p * quotient(positive, total), covered + p)
    if name == "weighted-relative-accuracy":
        return quotient(covered, total) * (quotient(tp, covered) - quotient(positive, total))
    if name == "rate-difference":
        return quotient(tp, positive) - quotient(fp, negative)
    if name == "linear-cost":
        return p * tp - (1 - p) * fp
    return irrational(name, counts, parameter)


def irrational(name, counts, parameter):
    tp, fp, tn, fn = counts
    covered, positive, negative, rest = tp + fp, tp + fn, fp + tn, tn + fn
    total = covered + rest
    if name == "klosgen":
        gain = quotient(tp, covered) - quotient(positive, total)
        return float(quotient(covered, total)) ** parameter * float(gain)
    if name == "correlation":
        product = covered * positive * negative * rest
        return 0.0 if product == 0 else (tp * tn - fp * fn) / sqrt(product)
    if name == "foil-gain":
        return 0.0 if tp == 0 else tp * (log2(tp / covered) - log2(positive / total))
    raise KeyError(name)


def averaged(name, parameter, averaging, table):
    """`table` holds the word of every cell, rows by labels; None for a cell that does not count."""

    def value(words):
        return delta(name, counts_of(words), parameter)

    if averaging == "micro":
        return value([word for row in table for word in row])
    if averaging == "macro":
        return mean([value(column) for column in zip(*table, strict=True)])
    if averaging == "samples":
        return mean([value(row) for row in table])
    assert averaging == "cell"
    return mean([value([word]) for row in table for word in row])


def mean(values):
    return sum(values) / len(values)


def of_rule(name, parameter, averaging, predictions, Y, covered, head, board, convention):
    labels = [i for i, value in enumerate(head) if predictions == "full" or value is not None]
    table = [
        [
            None
            if board[j][i] is not None
            else outcome(convention, row[i], head[i] or 0, covered[j])
            for i in labels
        ]
        for j, row in enumerate(Y)
    ]
    return averaged(name, parameter, averaging, table)


def of_predictions(name, parameter, averaging, predictions, Y, predicted):
    table = [
        [
            None
            if predictions == "partial" and guess is None
            else outcome("plain", truth, guess or 0, covered=True)
            for truth, guess in zip(row, guesses, strict=True)
        ]
        for row, guesses in zip(Y, predicted, strict=True)
    ]
    return averaged(name, parameter, averaging, table)
