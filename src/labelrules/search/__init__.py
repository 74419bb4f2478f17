"""CHOOSE: the best head for a body, exactly, for every measure."""

from labelrules.search.heads.batch import HeadsFound, best_heads, tallies_decide
from labelrules.search.heads.choose import HeadFound, best_head, rehead
from labelrules.search.heads.size_bonus import kln, no_bonus, peak, root
from labelrules.search.heads.strategies import SearchNode, SearchTree, search_tree

__all__ = [
    "HeadFound",
    "HeadsFound",
    "SearchNode",
    "SearchTree",
    "best_head",
    "best_heads",
    "kln",
    "no_bonus",
    "peak",
    "rehead",
    "root",
    "search_tree",
    "tallies_decide",
]
