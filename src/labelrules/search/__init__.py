"""CHOOSE: the best head for a body, exactly, for every measure."""

from labelrules.search.heads import HeadFound, best_head
from labelrules.search.lift import kln, no_lift, peak, root
from labelrules.search.many import HeadsFound, best_heads, tallies_decide
from labelrules.search.rehead import rehead
from labelrules.search.strategies import SearchNode, SearchTree, search_tree

__all__ = [
    "HeadFound",
    "HeadsFound",
    "SearchNode",
    "SearchTree",
    "best_head",
    "best_heads",
    "kln",
    "no_lift",
    "peak",
    "rehead",
    "root",
    "search_tree",
    "tallies_decide",
]
