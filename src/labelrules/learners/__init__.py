"""COVER: learners that fill the board rule by rule, as scikit-learn estimators."""

from importlib import import_module
from pkgutil import walk_packages
from typing import TYPE_CHECKING

from labelrules.learners.base.per_label import LabelwiseClassifier
from labelrules.learners.base.progress import (
    CardProgress,
    LabelProgress,
    LearningInterrupted,
    Progress,
)
from labelrules.learners.base.theory_classifier import RuleClassifier
from labelrules.learners.dependence import (
    Dependence,
    DependentPair,
    conditional_dependence,
    unconditional_dependence,
)
from labelrules.learners.registry import loaded, register, registered, warm_up
from labelrules.learners.stacked import ErrorPropagation

if TYPE_CHECKING:  # type checkers and editors cannot follow the registry
    from labelrules.learners.binary_relevance import BinaryRelevance as BinaryRelevance
    from labelrules.learners.chain import ClassifierChain as ClassifierChain
    from labelrules.learners.constrained import ConstrainedClassifier as ConstrainedClassifier
    from labelrules.learners.covering.learner import SeparateAndConquer as SeparateAndConquer
    from labelrules.learners.powerset import LabelPowerset as LabelPowerset
    from labelrules.learners.ripper.learner import Ripper as Ripper
    from labelrules.learners.scorecard.learner import Scorecard as Scorecard
    from labelrules.learners.stacked import StackedBinaryRelevance as StackedBinaryRelevance

for _module in walk_packages(__path__, f"{__name__}."):
    import_module(_module.name)

_LEARNERS = {
    learner.__name__: learner
    for learner in loaded().values()
    if learner.__module__.startswith(__name__)
}
globals().update(_LEARNERS)

__all__ = [
    "CardProgress",
    "Dependence",
    "DependentPair",
    "ErrorPropagation",
    "LabelProgress",
    "LabelwiseClassifier",
    "LearningInterrupted",
    "Progress",
    "RuleClassifier",
    "conditional_dependence",
    "register",
    "registered",
    "unconditional_dependence",
    "warm_up",
]
__all__ = sorted([*__all__, *_LEARNERS])
