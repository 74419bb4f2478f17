"""LIST: what is so in the data, found rather than covered."""

from labelrules.discovery.constraint import Constraint, Constraints, Descent, LabelGroup
from labelrules.discovery.finding import find_constraints
from labelrules.discovery.reduction import ConstraintGraph, Link
from labelrules.discovery.repair import Change, Repairs, Violation, repair, violations

__all__ = [
    "Change",
    "Constraint",
    "ConstraintGraph",
    "Constraints",
    "Descent",
    "LabelGroup",
    "Link",
    "Repairs",
    "Violation",
    "find_constraints",
    "repair",
    "violations",
]
