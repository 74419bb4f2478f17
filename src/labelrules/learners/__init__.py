"""COVER: learners that fill the board rule by rule, as scikit-learn estimators."""

from labelrules.learners.associative import AssociativeClassifier
from labelrules.learners.base import RuleClassifier
from labelrules.learners.chain import ClassifierChain
from labelrules.learners.constrained import ConstrainedClassifier
from labelrules.learners.covering import SeparateAndConquer
from labelrules.learners.dependence import (
    Dependence,
    DependentPair,
    conditional_dependence,
    unconditional_dependence,
)
from labelrules.learners.interrupts import LearningInterrupted
from labelrules.learners.labelwise import LabelwiseClassifier
from labelrules.learners.lazy import LazyAssociativeClassifier
from labelrules.learners.powerset import LabelPowerset
from labelrules.learners.progress import LabelProgress, Progress
from labelrules.learners.propagation import ErrorPropagation
from labelrules.learners.registry import register, registered
from labelrules.learners.relevance import BinaryRelevance
from labelrules.learners.ripper import Ripper
from labelrules.learners.rowrules import LabelVotes, RowRules, VotingRule
from labelrules.learners.stacked import StackedBinaryRelevance
from labelrules.learners.voted import ListProgress, VotedRules

__all__ = [
    "AssociativeClassifier",
    "BinaryRelevance",
    "ClassifierChain",
    "ConstrainedClassifier",
    "Dependence",
    "DependentPair",
    "ErrorPropagation",
    "LabelPowerset",
    "LabelProgress",
    "LabelVotes",
    "LabelwiseClassifier",
    "LazyAssociativeClassifier",
    "LearningInterrupted",
    "ListProgress",
    "Progress",
    "Ripper",
    "RowRules",
    "RuleClassifier",
    "SeparateAndConquer",
    "StackedBinaryRelevance",
    "VotedRules",
    "VotingRule",
    "conditional_dependence",
    "register",
    "registered",
    "unconditional_dependence",
]
