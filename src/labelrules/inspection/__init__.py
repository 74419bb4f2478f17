"""SHOW: explanations, counterfactuals, summaries, comparisons, label dependencies and plots."""

from labelrules.inspection.comparison import (
    ChangedRule,
    Comparison,
    LabelDifference,
    PlacedRule,
    StructureDifference,
    compare,
)
from labelrules.inspection.counterfactuals import Counterfactual, FeatureChange, counterfactual
from labelrules.inspection.dependencies import (
    Edge,
    Flip,
    LabelGraph,
    PairCounts,
    flips,
    label_graph,
)
from labelrules.inspection.explanation.explaining import explain
from labelrules.inspection.explanation.values import (
    Chain,
    ChainLink,
    ChainNode,
    CheckedCondition,
    CheckedRule,
    Estimate,
    Explanation,
    LabelExplanation,
    Place,
    RowChoice,
    SupportingRows,
    estimate,
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
    "CheckedCondition",
    "CheckedRule",
    "Comparison",
    "Counterfactual",
    "Edge",
    "Estimate",
    "Explanation",
    "FeatureChange",
    "FeatureSummary",
    "Flip",
    "LabelDifference",
    "LabelExplanation",
    "LabelGraph",
    "LabelSummary",
    "LayeredTrace",
    "Pair",
    "PairCounts",
    "Place",
    "PlacedRule",
    "RowChoice",
    "RuleSummary",
    "StructureDifference",
    "Summary",
    "SupportingRows",
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
