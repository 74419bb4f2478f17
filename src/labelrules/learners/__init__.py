"""COVER: learners that fill the board rule by rule, as scikit-learn estimators."""

from labelrules.learners.base import RuleClassifier
from labelrules.learners.conquest import LearningInterrupted
from labelrules.learners.covering import SeparateAndConquer
from labelrules.learners.progress import Progress

__all__ = ["LearningInterrupted", "Progress", "RuleClassifier", "SeparateAndConquer"]
