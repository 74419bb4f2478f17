"""Interpretable rules for multi-label classification: learn, read, check and edit them."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

from labelrules._types import UNSET
from labelrules.data import Dataset, Feature, Schema, dataset, fetch, load, statistics
from labelrules.discovery import association_rules, frequent_itemsets
from labelrules.inspection import compare, explain, summary, trace
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
        BinaryRelevance,
        ClassifierChain,
        ConstrainedClassifier,
        LabelPowerset,
        Ripper,
        SeparateAndConquer,
        StackedBinaryRelevance,
        VotedRules,
    )

__all__ = [
    "UNSET",
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
    "compare",
    "dataset",
    "evaluate",
    "explain",
    "fetch",
    "frequent_itemsets",
    "load",
    "parse",
    "parse_rule",
    "planted",
    "rehead",
    "rule_text",
    "statistics",
    "summary",
    "theory_text",
    "trace",
]


_LEARNERS = frozenset(
    {
        "BinaryRelevance",
        "ClassifierChain",
        "ConstrainedClassifier",
        "LabelPowerset",
        "Ripper",
        "SeparateAndConquer",
        "StackedBinaryRelevance",
        "VotedRules",
    }
)


def __getattr__(name: str) -> Any:
    # The learners bring in scikit-learn, which takes longer than all the rest.
    if name in _LEARNERS:
        from labelrules import learners

        return getattr(learners, name)
    raise AttributeError(f"module 'labelrules' has no attribute {name!r}")
