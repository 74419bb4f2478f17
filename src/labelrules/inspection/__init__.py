"""SHOW: why a theory says what it says, and how a head was found."""

from labelrules.inspection.plot import plot_search_tree
from labelrules.inspection.trace import Trace, trace

__all__ = ["Trace", "plot_search_tree", "trace"]
