"""LIST: what is so in the data, found rather than covered."""

from labelrules.discovery.constraint import Constraint, Constraints, Descent, LabelGroup
from labelrules.discovery.finding import find_constraints

__all__ = [
    "Constraint",
    "Constraints",
    "Descent",
    "LabelGroup",
    "find_constraints",
]
