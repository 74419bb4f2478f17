"""Formulas for which whole ranges of counts can be bounded."""

from labelrules.measures import Formula, formulas
from labelrules.measures.registry import entry

MONOTONE = frozenset({
    "precision", "recall", "hamming", "f", "jaccard", "laplace", "m-estimate",
    "weighted-relative-accuracy", "rate-difference", "linear-cost",
})  # fmt: skip
"""Formulas that more right cells never lower and more wrong ones never raise."""


def is_monotone(formula: Formula) -> bool:
    """Whether more right cells never lower the formula and more wrong ones never raise it.

    >>> is_monotone(Formula("f", 0.5)), is_monotone(Formula("linear-cost", 1.5))
    (True, False)
    """
    function, _ = entry(formula.name)
    is_ours = function.__module__ == formulas.__name__  # the name may have been given to another
    rewards_errors = formula.name == "linear-cost" and (formula.parameter or 0.0) > 1
    return formula.name in MONOTONE and is_ours and not rewards_errors
