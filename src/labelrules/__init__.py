"""Interpretable rules for multi-label classification: learn, read, check and edit them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from labelrules._wings import WINGS

__version__ = "0.1.0"

if TYPE_CHECKING:
    from labelrules._types import UNSET
    from labelrules.data import (
        Dataset,
        Feature,
        Schema,
        dataset,
        fetch,
        load,
        scan,
        split_labels,
        statistics,
    )
    from labelrules.inspection.comparison import compare
    from labelrules.inspection.explanation.explaining import explain
    from labelrules.inspection.summaries import summary
    from labelrules.inspection.tracing import trace
    from labelrules.lab import cross_validate, experiment, frontier
    from labelrules.learners import (
        BinaryRelevance,
        ClassifierChain,
        ConstrainedClassifier,
        LabelPowerset,
        Ripper,
        Scorecard,
        SeparateAndConquer,
        StackedBinaryRelevance,
        warm_up,
    )
    from labelrules.measures import Measure, evaluate
    from labelrules.mining import (
        AssociativeClassifier,
        LazyAssociativeClassifier,
        association_rules,
        frequent_itemsets,
        subgroups,
    )
    from labelrules.rules import (
        Body,
        Condition,
        DecisionList,
        Evidence,
        Head,
        LabelSet,
        LayeredTheory,
        Rule,
        RuleSet,
        RuleTable,
        parse,
        parse_rule,
        rule_text,
        theory_text,
    )
    from labelrules.rules.invented_data import planted
    from labelrules.search import best_head
    from labelrules.search.heads.choose import rehead
    from labelrules.serving import Predictor
    from labelrules.storage import about, from_json, json_schema, load_model, save, to_json
    from labelrules.studio import edit, load_edits

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
    "LabelSet",
    "LayeredTheory",
    "LazyAssociativeClassifier",
    "Measure",
    "Predictor",
    "Ripper",
    "Rule",
    "RuleSet",
    "RuleTable",
    "Schema",
    "Scorecard",
    "SeparateAndConquer",
    "StackedBinaryRelevance",
    "about",
    "association_rules",
    "best_head",
    "compare",
    "cross_validate",
    "dataset",
    "edit",
    "evaluate",
    "experiment",
    "explain",
    "fetch",
    "frequent_itemsets",
    "from_json",
    "frontier",
    "json_schema",
    "load",
    "load_edits",
    "load_model",
    "parse",
    "parse_rule",
    "planted",
    "rehead",
    "rule_text",
    "save",
    "scan",
    "split_labels",
    "statistics",
    "subgroups",
    "summary",
    "theory_text",
    "to_json",
    "trace",
    "warm_up",
]

_ROOMS = (
    "_types", "data", "measures", "rules", "search", "constraints", "inspection",
    "export", "learners", "serving", "storage", *WINGS,
)  # fmt: skip
"""Where the public names are, the lower rooms first."""


def __getattr__(name: str) -> Any:
    # Nothing is imported before it is used: the command line shows its help without NumPy, and
    # programs that need data alone do not wait for the learners, which bring in scikit-learn.
    if name in _ROOMS:
        return import_module(f"labelrules.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'labelrules' has no attribute {name!r}")
    rooms = (import_module(f"labelrules.{room}") for room in _ROOMS)
    value = next(getattr(room, name) for room in rooms if name in room.__all__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS[1:], "__version__"])
