"""COMPARE: learners side by side, such as their quality against the size of their models."""

from labelrules.experiments.cross_validation import FrontierProgress, frontier
from labelrules.experiments.fold_scores import CrossValidation, FoldProgress, cross_validate
from labelrules.experiments.frontier_values import FoldValues, Frontier, FrontierPoint

__all__ = [
    "CrossValidation",
    "FoldProgress",
    "FoldValues",
    "Frontier",
    "FrontierPoint",
    "FrontierProgress",
    "cross_validate",
    "frontier",
]
