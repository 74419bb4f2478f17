"""The public names of the room `mining`."""

from labelrules.mining.associations.mine import association_rules
from labelrules.mining.associations.rules import AssociationRules
from labelrules.mining.associative.classifier import AssociativeClassifier
from labelrules.mining.associative.lazy import LazyAssociativeClassifier
from labelrules.mining.associative.row_rules import LabelVotes, RowRules, VotingRule
from labelrules.mining.items import Items, items_of
from labelrules.mining.itemsets import Itemsets, frequent_itemsets, itemset_batches
from labelrules.mining.subgroup_discovery.results import Contrast, Subgroup, Subgroups
from labelrules.mining.subgroup_discovery.search import subgroups

__all__ = [
    "AssociationRules",
    "AssociativeClassifier",
    "Contrast",
    "Items",
    "Itemsets",
    "LabelVotes",
    "LazyAssociativeClassifier",
    "RowRules",
    "Subgroup",
    "Subgroups",
    "VotingRule",
    "association_rules",
    "frequent_itemsets",
    "items_of",
    "itemset_batches",
    "subgroups",
]
