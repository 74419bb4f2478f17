"""RELATE: constraints between labels, found with exact tests, and predictions repaired by them."""

from labelrules.constraints.constraint import Constraint, Constraints, Descent, LabelGroup
from labelrules.constraints.find import find_constraints
from labelrules.constraints.graph import ConstraintGraph, ConstraintLink
from labelrules.constraints.repairs import Change, Repairs, Violation, repair, violations
from labelrules.constraints.significance import adjusted, fisher

__all__ = [
    "Change",
    "Constraint",
    "ConstraintGraph",
    "ConstraintLink",
    "Constraints",
    "Descent",
    "LabelGroup",
    "Repairs",
    "Violation",
    "adjusted",
    "find_constraints",
    "fisher",
    "repair",
    "violations",
]
