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
from labelrules.inspection.pictures.plots import (
    plot_constraints,
    plot_dependency_matrix,
    plot_label_graph,
    plot_search_tree,
)
from labelrules.inspection.pictures.svg import (
    dependency_matrix_svg,
    flow_svg,
    histogram_svg,
    label_graph_svg,
)
from labelrules.inspection.review.coverage import (
    Coverage,
    RuleCoverage,
    RuleCoverages,
    rule_coverage,
)
from labelrules.inspection.review.fixes import Effect, Fix
from labelrules.inspection.review.flow import FlowStep, RowFlow, row_flow
from labelrules.inspection.review.histograms import Bar, Histogram
from labelrules.inspection.review.matrix import (
    ConditionCell,
    ConditionMatrix,
    MatrixFeature,
    Threshold,
    condition_matrix,
)
from labelrules.inspection.review.problems import findings
from labelrules.inspection.review.replacements import Alternative, Alternatives, alternatives
from labelrules.inspection.review.values import Finding, Findings
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
    "Alternative",
    "Alternatives",
    "Bar",
    "Chain",
    "ChainLink",
    "ChainNode",
    "ChangedRule",
    "CheckedCondition",
    "CheckedRule",
    "Comparison",
    "ConditionCell",
    "ConditionMatrix",
    "Counterfactual",
    "Coverage",
    "DoubtfulRule",
    "Edge",
    "Effect",
    "Estimate",
    "Explanation",
    "FeatureChange",
    "FeatureSummary",
    "Finding",
    "Findings",
    "Fix",
    "Flip",
    "FlowStep",
    "Histogram",
    "LabelDifference",
    "LabelExplanation",
    "LabelGraph",
    "LabelSummary",
    "LayeredTrace",
    "MatrixFeature",
    "Pair",
    "PairCounts",
    "Place",
    "PlacedRule",
    "RowChoice",
    "RowDifference",
    "RowFlow",
    "RuleCoverage",
    "RuleCoverages",
    "RuleSummary",
    "StructureDifference",
    "Summary",
    "SupportingRows",
    "Threshold",
    "Trace",
    "alternatives",
    "compare",
    "condition_matrix",
    "counterfactual",
    "dependency_matrix_svg",
    "differing_rows",
    "doubtful_rules",
    "estimate",
    "explain",
    "findings",
    "flips",
    "flow_svg",
    "histogram_svg",
    "label_graph",
    "label_graph_svg",
    "plot_constraints",
    "plot_dependency_matrix",
    "plot_label_graph",
    "plot_search_tree",
    "row_flow",
    "rule_coverage",
    "summary",
    "trace",
]
