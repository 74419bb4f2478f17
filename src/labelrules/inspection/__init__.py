"""SHOW: why a theory says what it says, and how a head was found."""

from labelrules.inspection.constraintplot import plot_constraints
from labelrules.inspection.dependencies import Edge, Flip, LabelGraph, flips, label_graph
from labelrules.inspection.export_pmml import to_pmml
from labelrules.inspection.export_python import to_python
from labelrules.inspection.export_sql import to_sql
from labelrules.inspection.graphplot import plot_label_graph
from labelrules.inspection.matrixplot import plot_dependency_matrix
from labelrules.inspection.plot import plot_search_tree
from labelrules.inspection.ties import Ties
from labelrules.inspection.trace import LayeredTrace, Trace, VoteTrace, trace

__all__ = [
    "Edge",
    "Flip",
    "LabelGraph",
    "LayeredTrace",
    "Ties",
    "Trace",
    "VoteTrace",
    "flips",
    "label_graph",
    "plot_constraints",
    "plot_dependency_matrix",
    "plot_label_graph",
    "plot_search_tree",
    "to_pmml",
    "to_python",
    "to_sql",
    "trace",
]
