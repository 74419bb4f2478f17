"""LIST: itemsets, association rules, constraints between labels, and subgroups."""

from labelrules.discovery.associations.mine import association_rules
from labelrules.discovery.associations.rules import AssociationRules
from labelrules.discovery.constraints.constraint import Constraint, Constraints, Descent, LabelGroup
from labelrules.discovery.constraints.find import find_constraints
from labelrules.discovery.constraints.graph import ConstraintGraph, ConstraintLink
from labelrules.discovery.constraints.repairs import Change, Repairs, Violation, repair, violations
from labelrules.discovery.items import Items, items_of
from labelrules.discovery.itemsets import Itemsets, frequent_itemsets, itemset_batches
from labelrules.discovery.significance import adjusted, fisher
from labelrules.discovery.subgroup_discovery.results import Contrast, Subgroup, Subgroups
from labelrules.discovery.subgroup_discovery.search import subgroups

__all__ = [
    "AssociationRules",
    "Change",
    "Constraint",
    "ConstraintGraph",
    "ConstraintLink",
    "Constraints",
    "Contrast",
    "Descent",
    "Items",
    "Itemsets",
    "LabelGroup",
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
