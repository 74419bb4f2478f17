"""LIST: what is so in the data, found rather than covered."""

from labelrules.discovery.associations import AssociationRules
from labelrules.discovery.deviations import Change
from labelrules.discovery.items import Items, items_of
from labelrules.discovery.itemsets import Itemsets, frequent_itemsets, itemset_batches
from labelrules.discovery.ruleminer import association_rules
from labelrules.discovery.significance import adjusted, fisher
from labelrules.discovery.subgroup import Subgroup, Subgroups
from labelrules.discovery.subgroups import subgroups

__all__ = [
    "AssociationRules",
    "Change",
    "Items",
    "Itemsets",
    "Subgroup",
    "Subgroups",
    "adjusted",
    "association_rules",
    "fisher",
    "frequent_itemsets",
    "items_of",
    "itemset_batches",
    "subgroups",
]
