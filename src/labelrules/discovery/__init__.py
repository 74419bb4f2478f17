"""LIST: what is so in the data, found rather than covered."""

from labelrules.discovery.subgroup import Subgroup, Subgroups
from labelrules.discovery.subgroups import subgroups

__all__ = ["Subgroup", "Subgroups", "subgroups"]
