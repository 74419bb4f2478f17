"""COVER: learners that fill the board rule by rule, as scikit-learn estimators."""

from labelrules.learners.base import RuleClassifier
from labelrules.learners.covering import LearningInterrupted, SeparateAndConquer
from labelrules.learners.progress import Progress

__all__ = ["LearningInterrupted", "Progress", "RuleClassifier", "SeparateAndConquer"]
