"""COVER: learners that fill the board rule by rule, as scikit-learn estimators."""

from labelrules.learners.associative.classifier import AssociativeClassifier
from labelrules.learners.associative.lazy import LazyAssociativeClassifier
from labelrules.learners.associative.row_rules import LabelVotes, RowRules, VotingRule
from labelrules.learners.base.per_label import LabelwiseClassifier
from labelrules.learners.base.progress import LabelProgress, LearningInterrupted, Progress
from labelrules.learners.base.theory_classifier import RuleClassifier
from labelrules.learners.binary_relevance import BinaryRelevance
from labelrules.learners.chain import ClassifierChain
from labelrules.learners.constrained import ConstrainedClassifier
from labelrules.learners.covering.learner import SeparateAndConquer
from labelrules.learners.dependence import (
    Dependence,
    DependentPair,
    conditional_dependence,
    unconditional_dependence,
)
from labelrules.learners.kept import from_json, json_schema, restore, save, to_json
from labelrules.learners.powerset import LabelPowerset
from labelrules.learners.ripper.learner import Ripper
from labelrules.learners.stacked import ErrorPropagation, StackedBinaryRelevance
from labelrules.learners.voted.learner import ListProgress, VotedRules

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
    "from_json",
    "json_schema",
    "restore",
    "save",
    "to_json",
    "unconditional_dependence",
]
