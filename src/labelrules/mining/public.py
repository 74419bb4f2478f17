"""The public names of the room `mining`."""

from labelrules.mining.association_search import association_rules
from labelrules.mining.associations import AssociationRules
from labelrules.mining.associative_classifier import AssociativeClassifier
from labelrules.mining.items import Items, items_of
from labelrules.mining.itemsets import Itemsets, frequent_itemsets, itemset_batches
from labelrules.mining.lazy_classifier import (
    LabelVotes,
    LazyAssociativeClassifier,
    RowRules,
    VotingRule,
)
from labelrules.mining.subgroup_search import subgroups
from labelrules.mining.subgroup_values import Contrast, Subgroup, Subgroups

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
