"""Interpretable rules for multi-label classification: learn, read, check and edit them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from labelrules._types import UNSET
    from labelrules.data import Dataset, Feature, Schema, dataset, fetch, load, statistics
    from labelrules.discovery import association_rules, frequent_itemsets
    from labelrules.discovery.subgroup_discovery.search import subgroups
    from labelrules.inspection.comparison import compare
    from labelrules.inspection.explanation.explaining import explain
    from labelrules.inspection.summaries import summary
    from labelrules.inspection.tracing import trace
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
    )
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
        rule_text,
        theory_text,
    )
    from labelrules.rules.planted_data import planted
    from labelrules.search import best_head
    from labelrules.search.heads.choose import rehead
    from labelrules.storage import from_json, json_schema, load_model, save, to_json

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
    "compare",
    "dataset",
    "evaluate",
    "explain",
    "fetch",
    "frequent_itemsets",
    "from_json",
    "json_schema",
    "load",
    "load_model",
    "parse",
    "parse_rule",
    "planted",
    "rehead",
    "rule_text",
    "save",
    "statistics",
    "subgroups",
    "summary",
    "theory_text",
    "to_json",
    "trace",
]


_ROOMS = {
    "_types": ("UNSET",),
    "data": ("Dataset", "Feature", "Schema", "dataset", "fetch", "load", "statistics"),
    "discovery": ("association_rules", "frequent_itemsets", "subgroups"),
    "export": (),
    "inspection": ("compare", "explain", "summary", "trace"),
    "learners": (),
    "measures": ("Measure", "evaluate"),
    "search": ("best_head", "rehead"),
    "storage": ("from_json", "json_schema", "load_model", "save", "to_json"),
    "rules": (
        "Body",
        "Condition",
        "DecisionList",
        "Evidence",
        "Head",
        "LayeredTheory",
        "Rule",
        "RuleSet",
        "RuleTable",
        "parse",
        "parse_rule",
        "planted",
        "rule_text",
        "theory_text",
    ),
}
"""The public names, by the room they live in; all others in `__all__` are learners."""

_ROOM_OF = dict.fromkeys(__all__, "learners")
_ROOM_OF.update({name: room for room, names in _ROOMS.items() for name in names})


def __getattr__(name: str) -> Any:
    # Nothing is imported before it is used: the command line shows its help without NumPy, and
    # whoever wants data alone does not wait for the learners, which bring in scikit-learn.
    if name in _ROOM_OF:
        value = getattr(import_module(f"labelrules.{_ROOM_OF[name]}"), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f"labelrules.{name}")
    raise AttributeError(f"module 'labelrules' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_ROOMS, "__version__"} - {"_types"})
