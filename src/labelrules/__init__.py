"""Interpretable rules for multi-label classification: learn, read, check and edit them."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

from labelrules._types import UNSET
from labelrules.data import Dataset, Feature, Schema, dataset, fetch, load, statistics
from labelrules.discovery import association_rules, frequent_itemsets, subgroups
from labelrules.inspection.trace import trace
from labelrules.measures import Measure, evaluate
from labelrules.rules import (
    Body,
    Condition,
    DecisionList,
    Evidence,
    Head,
    LayeredTheory,
    Rule,
    RuleSet,
    RuleTable,
    parse,
    parse_rule,
    planted,
    rule_text,
    theory_text,
)
from labelrules.search import best_head, rehead

if TYPE_CHECKING:
    from labelrules.learners import (
        AssociativeClassifier,
        BinaryRelevance,
        ClassifierChain,
        ConstrainedClassifier,
        LabelPowerset,
        LazyAssociativeClassifier,
        Ripper,
        SeparateAndConquer,
        StackedBinaryRelevance,
        VotedRules,
        from_json,
        restore,
        save,
        to_json,
    )

__all__ = [
    "UNSET",
    "AssociativeClassifier",
    "BinaryRelevance",
    "Body",
    "ClassifierChain",
    "Condition",
    "ConstrainedClassifier",
    "Dataset",
    "DecisionList",
    "Evidence",
    "Feature",
    "Head",
    "LabelPowerset",
    "LayeredTheory",
    "LazyAssociativeClassifier",
    "Measure",
    "Ripper",
    "Rule",
    "RuleSet",
    "RuleTable",
    "Schema",
    "SeparateAndConquer",
    "StackedBinaryRelevance",
    "VotedRules",
    "association_rules",
    "best_head",
    "dataset",
    "evaluate",
    "fetch",
    "frequent_itemsets",
    "from_json",
    "load",
    "parse",
    "parse_rule",
    "planted",
    "rehead",
    "restore",
    "rule_text",
    "save",
    "statistics",
    "subgroups",
    "theory_text",
    "to_json",
    "trace",
]


_OF_LEARNERS = frozenset(
    {
        "AssociativeClassifier",
        "BinaryRelevance",
        "ClassifierChain",
        "ConstrainedClassifier",
        "LabelPowerset",
        "LazyAssociativeClassifier",
        "Ripper",
        "SeparateAndConquer",
        "StackedBinaryRelevance",
        "VotedRules",
        "from_json",
        "restore",
        "save",
        "to_json",
    }
)


def __getattr__(name: str) -> Any:
    # The learners bring in scikit-learn, which takes longer than all the rest.
    if name in _OF_LEARNERS:
        from labelrules import learners

        return getattr(learners, name)
    raise AttributeError(f"module 'labelrules' has no attribute {name!r}")
