"""SHOW: explanations, counterfactuals, summaries, comparisons, label dependencies and plots."""

from labelrules.inspection.comparison import (
    ChangedRule,
    Comparison,
    LabelDifference,
    PlacedRule,
    RowDifference,
    StructureDifference,
    compare,
    differing_rows,
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
    DoubtfulRule,
    FeatureSummary,
    LabelSummary,
    Pair,
    RuleSummary,
    Summary,
    doubtful_rules,
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
    "DoubtfulRule",
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
    "RowDifference",
    "RuleSummary",
    "StructureDifference",
    "Summary",
    "SupportingRows",
    "Trace",
    "compare",
    "counterfactual",
    "differing_rows",
    "doubtful_rules",
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
