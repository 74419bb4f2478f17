"""LIST: what is so in the data, found rather than covered."""

from labelrules.discovery.associations import AssociationRules
from labelrules.discovery.constraint import Constraint, Constraints, Descent, LabelGroup
from labelrules.discovery.deviations import Contrast
from labelrules.discovery.finding import find_constraints
from labelrules.discovery.items import Items, items_of
from labelrules.discovery.itemsets import Itemsets, frequent_itemsets, itemset_batches
from labelrules.discovery.reduction import ConstraintGraph, Link
from labelrules.discovery.repair import Change, Repairs, Violation, repair, violations
from labelrules.discovery.ruleminer import association_rules
from labelrules.discovery.significance import adjusted, fisher
from labelrules.discovery.subgroup import Subgroup, Subgroups
from labelrules.discovery.subgroups import subgroups

__all__ = [
    "AssociationRules",
    "Change",
    "Constraint",
    "ConstraintGraph",
    "Constraints",
    "Contrast",
    "Descent",
    "Items",
    "Itemsets",
    "LabelGroup",
    "Link",
    "Repairs",
    "Subgroup",
    "Subgroups",
    "Violation",
    "adjusted",
    "association_rules",
    "find_constraints",
    "fisher",
    "frequent_itemsets",
    "items_of",
    "itemset_batches",
    "repair",
    "subgroups",
    "violations",
]
