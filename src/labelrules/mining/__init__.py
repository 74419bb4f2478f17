"""LIST: itemsets, association rules and subgroups, and learners that are made of them."""

from typing import TYPE_CHECKING

from labelrules._wings import names_from

if TYPE_CHECKING:
    from labelrules.mining.public import *

__getattr__ = names_from("labelrules.mining.public")
