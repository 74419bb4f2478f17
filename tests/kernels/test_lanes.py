"""Rules of one label found ahead in one run, against finding them one by one."""

import numpy as np
import pytest

from labelrules import UNSET
from labelrules.search.bodies import lanes as lanes
from labelrules.search.bodies.grow import Growth, grow
from labelrules.search.bodies.lanes import Lanes
from refinement_cases import CASES, FORMULAS, refiner_of

VALUES = {1: "absence", 2: "presence"}


def one_by_one(given, formula, values, n_rules):
    """The rules that are best at their time, each on the cells that those before left."""
    refiner = refiner_of(given, formula, values=values)
    found = []
    while len(found) < n_rules:
        grown = grow(refiner, Growth(fixed=True))
        if grown is None:
            break
        ((label, _),) = grown.head
        refiner.cells.counted[0, label, grown.covered.mask] = False
        refiner.stale[label] = True
        found.append(grown)
    return found


@pytest.mark.parametrize("room", [2, 64])
@pytest.mark.parametrize("values", VALUES, ids=VALUES.get)
@pytest.mark.parametrize("formula", FORMULAS, ids=str)
@pytest.mark.parametrize("given", CASES)
def test_lanes_give_the_same_rules_in_the_same_order(given, formula, values, room, monkeypatch):
    monkeypatch.setattr(lanes, "ROOM", room)
    given = given._replace(board=np.full_like(given.board, UNSET))
    ahead = refiner_of(given, formula, values=values)
    ahead.allowed = ahead.allowed.without_labels()
    side_by_side = Lanes(ahead, Growth(fixed=True))
    for expected in one_by_one(given, formula, values, 12):
        found = side_by_side.next_rule()
        assert (found.head, found.body) == (expected.head, expected.body)
        assert found.merit == expected.merit
        assert (found.covered.mask == expected.covered.mask).all()
        assert found.covered.rows.tolist() == expected.covered.rows.tolist()
