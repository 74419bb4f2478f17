"""Every formula, once: plain arithmetic on the counts of a confusion matrix.

The same code runs on Python ints, on Fractions (exactly, where the formula is rational),
on NumPy arrays and, compiled, on scalars inside a kernel. Hence no branches, and products of
at most two counts, so that 64-bit integers do not overflow below three thousand million cells.

Written for rules: ``tp + fp`` is what the rule covers, ``tp + fn`` and ``fp + tn`` are all
positives and all negatives. The defaults of the parameters are those found best by
F. Janssen and J. Fürnkranz, "On the quest for optimal rule learning heuristics",
Machine Learning 78 (2010) 343-379, doi:10.1007/s10994-009-5162-2; F is the exception, where
everybody means F1 (theirs is F0.5).
"""

from typing import Any

import numpy as np

from labelrules._arithmetic import ratio
from labelrules.measures.registry import formula

Number = Any
"""An int, a Fraction, a float or an array; one formula takes any of them."""


@formula("precision")
def precision(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Share of what is predicted that is right."""
    return ratio(tp, tp + fp)


@formula("recall")
def recall(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Share of the positives that is found."""
    return ratio(tp, tp + fn)


@formula("hamming")
def hamming(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Share of everything that is right; rule learners call it accuracy."""
    return ratio(tp + tn, tp + fp + tn + fn)


@formula("f")
def f(tp: Number, fp: Number, tn: Number, fn: Number, beta: Number = 1.0) -> Number:
    """Weighted harmonic mean of precision and recall; recall weighs beta² times as much."""
    b = beta * beta
    return ratio((1 + b) * tp, (1 + b) * tp + b * fn + fp)


@formula("subset")
def subset(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """1 where something is right and nothing wrong, else 0."""
    return ratio(tp + tn, tp + tn) * (fp + fn == 0)


@formula("jaccard")
def jaccard(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Share of what is predicted or true that is both."""
    return ratio(tp, tp + fp + fn)


@formula("laplace")
def laplace(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Precision after seeing one more right and one more wrong prediction."""
    return (tp + 1) / (tp + fp + 2)


@formula("m-estimate")
def m_estimate(tp: Number, fp: Number, tn: Number, fn: Number, m: Number = 22.466) -> Number:
    """Precision after seeing m more predictions, as often right as the positives are frequent."""
    prior = ratio(tp + fn, tp + fp + tn + fn)
    return ratio(tp + m * prior, tp + fp + m)


@formula("weighted-relative-accuracy")
def weighted_relative_accuracy(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Coverage times the gain in precision over predicting always."""
    total = tp + fp + tn + fn
    return ratio(tp * tn - fp * fn, total * total)


@formula("klosgen")
def klosgen(tp: Number, fp: Number, tn: Number, fn: Number, omega: Number = 0.4323) -> Number:
    """Coverage to the power omega, times the gain in precision; omega weighs the coverage."""
    total = tp + fp + tn + fn
    gain = ratio(tp, tp + fp) - ratio(tp + fn, total)
    return ratio(tp + fp, total) ** omega * gain


@formula("correlation")
def correlation(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Correlation of prediction and truth (phi, Matthews)."""
    by_truth = ((tp + fn) * (fp + tn)) ** 0.5
    by_prediction = ((tp + fp) * (fn + tn)) ** 0.5
    return ratio(tp * tn - fp * fn, by_truth * by_prediction)


@formula("rate-difference")
def rate_difference(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """True positive rate minus false positive rate."""
    return ratio(tp, tp + fn) - ratio(fp, fp + tn)


@formula("linear-cost")
def linear_cost(tp: Number, fp: Number, tn: Number, fn: Number, c: Number = 0.437) -> Number:
    """Each true positive earns c, each false positive costs 1 - c."""
    return c * tp - (1 - c) * fp


@formula("foil-gain")
def foil_gain(tp: Number, fp: Number, tn: Number, fn: Number) -> Number:
    """Bits saved by a refinement in telling that its true positives are positive.

    FOIL compares a refined rule with its predecessor, so give the counts *within what the
    predecessor covers*: ``tp + fn`` and ``fp + tn`` are the predecessor's true and false
    positives. On the counts of the whole table the predecessor is the empty body.
    """
    # Where tp is 0 the value is 0; adding 1 to a share of 0 keeps its logarithm finite.
    after = ratio(tp, tp + fp) + (tp == 0)
    before = ratio(tp + fn, tp + fp + tn + fn) + (tp + fn == 0)
    return tp * (np.log2(after * 1.0) - np.log2(before * 1.0))
