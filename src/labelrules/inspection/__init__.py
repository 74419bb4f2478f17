"""SHOW: why a theory says what it says, and how a head was found."""

from labelrules.inspection.comparison import (
    ChangedRule,
    Comparison,
    LabelDifference,
    PlacedRule,
    compare,
)
from labelrules.inspection.constraintplot import plot_constraints
from labelrules.inspection.counterfactual import Counterfactual, Move, counterfactual
from labelrules.inspection.dependencies import Edge, Flip, LabelGraph, flips, label_graph
from labelrules.inspection.explain import explain
from labelrules.inspection.explanation import (
    Chain,
    ConditionSeen,
    Explanation,
    LabelExplanation,
    Link,
    Node,
    Place,
    Rows,
    RuleSeen,
)
from labelrules.inspection.export_pmml import to_pmml
from labelrules.inspection.export_python import to_python
from labelrules.inspection.export_sql import to_sql
from labelrules.inspection.graphplot import plot_label_graph
from labelrules.inspection.interval import Estimate, estimate
from labelrules.inspection.manner import MannerDifference
from labelrules.inspection.matrixplot import plot_dependency_matrix
from labelrules.inspection.plot import plot_search_tree
from labelrules.inspection.redundancy import Pair
from labelrules.inspection.summary import (
    FeatureSummary,
    LabelSummary,
    RuleSummary,
    Summary,
    summary,
)
from labelrules.inspection.ties import Ties
from labelrules.inspection.trace import LayeredTrace, Trace, trace

__all__ = [
    "Chain",
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
    "Link",
    "MannerDifference",
    "Move",
    "Node",
    "Pair",
    "Place",
    "PlacedRule",
    "Rows",
    "RuleSeen",
    "RuleSummary",
    "Summary",
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
    "to_pmml",
    "to_python",
    "to_sql",
    "trace",
]
