"""The best first conditions on labels, kept while rules are learned."""

from typing import TYPE_CHECKING

import numpy as np

from labelrules._types import Integers

if TYPE_CHECKING:
    from labelrules.kernels.refine import Best, Space
    from labelrules.search.refiner import Refiner

SEVERAL = 4
"""Changed labels beyond which all is searched anew."""


class LabelRoot:
    """For each target the best condition on one label, from the empty body.

    A rule for a label changes what counts for it, and what a condition on it holds for; the rest
    stays, and is not searched again.
    """

    def __init__(self, n_labels: int) -> None:
        self.changed = np.ones(n_labels, dtype=np.bool_)
        self.best: Best | None = None

    def renewed(self, refiner: "Refiner", space: "Space") -> "Best":
        """The best conditions, as the board is now."""
        changed = np.flatnonzero(self.changed)
        if self.best is None or changed.size > SEVERAL:
            self.best = self._search(refiner, space, refiner.targets_of.ravel())
        else:
            for label in changed.tolist():
                self._renew(self.best, refiner, space, label)
        self.changed[:] = False
        return type(self.best)(*(part.copy() for part in self.best))

    def _renew(self, best: "Best", refiner: "Refiner", space: "Space", label: int) -> None:
        lost = best.columns == label
        lost[refiner.targets_of[label]] = True
        targets = np.flatnonzero(lost)
        for old, new in zip(best, self._search(refiner, space, targets), strict=True):
            old[targets] = new
        others = np.flatnonzero(~lost)
        found = self._search(refiner, space, others, label, label + 1)
        same = found.ranks == best.ranks[others]
        wins = (found.ranks > best.ranks[others]) | (
            same & (found.corrects > best.corrects[others])
        )
        # Of equal conditions the first column wins.
        even = same & (found.corrects == best.corrects[others]) & (found.columns >= 0)
        wins |= even & (found.columns < best.columns[others])
        for old, new in zip(best, found, strict=True):
            old[others[wins]] = new[wins]

    def _search(
        self,
        refiner: "Refiner",
        space: "Space",
        targets: Integers,
        first: int = 0,
        last: int | None = None,
    ) -> "Best":
        best, _ = refiner.search_space(
            space, refiner.everywhere, refiner.cells, targets, first, last
        )
        return best
