"""COVER: learners that fill the board rule by rule, as scikit-learn estimators."""

from labelrules.learners.base import RuleClassifier
from labelrules.learners.conquest import LearningInterrupted
from labelrules.learners.covering import SeparateAndConquer
from labelrules.learners.progress import Progress
from labelrules.learners.ripper import Ripper

__all__ = ["LearningInterrupted", "Progress", "Ripper", "RuleClassifier", "SeparateAndConquer"]
