"""SHOW: why a theory says what it says; works on theories, learned or written by hand."""

from labelrules.inspection.trace import Trace, trace

__all__ = ["Trace", "trace"]
