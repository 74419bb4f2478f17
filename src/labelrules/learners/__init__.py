"""COVER: learners that fill the board rule by rule, as scikit-learn estimators."""

from labelrules.learners.base import RuleClassifier
from labelrules.learners.covering import SeparateAndConquer
from labelrules.learners.interrupts import LearningInterrupted
from labelrules.learners.progress import LabelProgress, Progress
from labelrules.learners.relevance import BinaryRelevance

__all__ = [
    "BinaryRelevance",
    "LabelProgress",
    "LearningInterrupted",
    "Progress",
    "RuleClassifier",
    "SeparateAndConquer",
]
