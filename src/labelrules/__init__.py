"""Interpretable rules for multi-label classification: learn, read, check and edit them."""

__version__ = "0.1.0"

from labelrules._types import UNSET
from labelrules.data import Dataset, Feature, Schema, dataset, fetch, load, statistics
from labelrules.inspection import trace
from labelrules.measures import Measure, evaluate
from labelrules.rules import (
    Body,
    Condition,
    DecisionList,
    Evidence,
    Head,
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

__all__ = [
    "UNSET",
    "Body",
    "Condition",
    "Dataset",
    "DecisionList",
    "Evidence",
    "Feature",
    "Head",
    "Measure",
    "Rule",
    "RuleSet",
    "RuleTable",
    "Schema",
    "best_head",
    "dataset",
    "evaluate",
    "fetch",
    "load",
    "parse",
    "parse_rule",
    "planted",
    "rehead",
    "rule_text",
    "statistics",
    "theory_text",
    "trace",
]
