"""SHOW: why a theory says what it says, and how a head was found."""

from labelrules.inspection.comparison import (
    ChangedRule,
    Comparison,
    LabelDifference,
    MannerDifference,
    PlacedRule,
    compare,
)
from labelrules.inspection.counterfactuals.search import Counterfactual, Move, counterfactual
from labelrules.inspection.dependencies import Edge, Flip, LabelGraph, Ties, flips, label_graph
from labelrules.inspection.estimates import Estimate, estimate
from labelrules.inspection.explanation.explaining import explain
from labelrules.inspection.explanation.values import (
    Chain,
    ChainLink,
    ChainNode,
    ConditionSeen,
    Explanation,
    LabelExplanation,
    Place,
    RuleSeen,
    SupportingRows,
)
from labelrules.inspection.plots.constraint_graph import plot_constraints
from labelrules.inspection.plots.dependency_matrix import plot_dependency_matrix
from labelrules.inspection.plots.label_graph import plot_label_graph
from labelrules.inspection.plots.search_tree import plot_search_tree
from labelrules.inspection.summaries import (
    FeatureSummary,
    LabelSummary,
    Pair,
    RuleSummary,
    Summary,
    summary,
)
from labelrules.inspection.tracing import LayeredTrace, Trace, trace

__all__ = [
    "Chain",
    "ChainLink",
    "ChainNode",
    "ChangedRule",
    "Comparison",
    "ConditionSeen",
    "Counterfactual",
    "Edge",
    "Estimate",
    "Explanation",
    "FeatureSummary",
    "Flip",
    "LabelDifference",
    "LabelExplanation",
    "LabelGraph",
    "LabelSummary",
    "LayeredTrace",
    "MannerDifference",
    "Move",
    "Pair",
    "Place",
    "PlacedRule",
    "RuleSeen",
    "RuleSummary",
    "Summary",
    "SupportingRows",
    "Ties",
    "Trace",
    "compare",
    "counterfactual",
    "estimate",
    "explain",
    "flips",
    "label_graph",
    "plot_constraints",
    "plot_dependency_matrix",
    "plot_label_graph",
    "plot_search_tree",
    "summary",
    "trace",
]
