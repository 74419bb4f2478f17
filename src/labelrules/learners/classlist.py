"""RIPPER's rules for all classes: for each but the most frequent, the rarest first."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from labelrules._types import Integers, Mask
from labelrules.learners.oneclass import Candidate, OneClass, RipperSettings
from labelrules.rules import Body
from labelrules.search.chance import Chance
from labelrules.search.foil import FoilSearch


class ClassNews(NamedTuple):
    """A rule that has taken its place, or that of another.

    Its class, how many rules there are now, how many rows none of them covers, and the share of
    the rows it covers that have its class.
    """

    target: int
    rule: Candidate
    n_rules: int
    n_left: int
    share_right: float


Teller: TypeAlias = Callable[["ClassLearner", ClassNews], object]


class ClassLearner:
    """Learns an ordered list of rules, each for one class, and a default class.

    The search holds the sorted features and can be used again, for other classes of the same rows;
    so the columns of many labels are sorted once. Results depend on features, classes and the
    seed, not on what the search was used for before.

    Parameters
    ----------
    search : FoilSearch
    settings : RipperSettings
    classes : array of int
        The class of each row, from 0 on; of a label 0 for absent and 1 for present.
    left : array of bool, optional
        The rows to learn from; all by default.

    Attributes
    ----------
    rules : list of (int, Candidate)
        The class and the body of each rule, in order. If learning is interrupted those found so
        far.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.search.columns import Columns
    >>> readers = load("magazines")
    >>> search = FoilSearch(Columns.of(readers))
    >>> settings = RipperSettings(2, 3, 2, True, True, seed=0)
    >>> for label in (0, 2):
    ...     learner = ClassLearner(search, settings, readers.Y[:, label].astype(int))
    ...     learner.learn()
    ...     print([(one, len(body)) for one, body in learner.listed()])
    [(1, 1), (0, 0)]
    [(1, 2), (0, 0)]
    """

    def __init__(
        self,
        search: FoilSearch,
        settings: RipperSettings,
        classes: Integers,
        left: Mask | None = None,
    ) -> None:
        self.search, self.settings, self.classes = search, settings, classes
        self.left: Mask = np.ones(len(classes), dtype=np.bool_) if left is None else left
        rows = self.left if self.left.any() else slice(None)
        n_rows = np.bincount(classes[rows])
        # Rising frequency; of classes that are equally frequent the last comes first.
        order = np.lexsort((-np.arange(len(n_rows)), n_rows))
        self.order: Integers = order[n_rows[order] > 0]
        self.rules: list[tuple[int, Candidate]] = []

    def learn(self, tell: Teller | None = None) -> None:
        """Learn the rules of each class but the last."""
        ranks = np.zeros(self.classes.max() + 1, dtype=np.int64)
        ranks[self.order] = np.arange(len(self.order))
        ranked = ranks[self.classes]
        chance = Chance(self.settings.seed)
        for rank, target in enumerate(self.order[:-1].tolist()):
            one = OneClass(self.search, self.settings, ranked, rank, self.left, chance)
            try:
                one.learn(None if tell is None else partial(self._tell, tell, target, one))
            finally:  # what an interrupted learner has found is kept
                self.rules += [(target, rule) for rule in one.rules]
                self.left = one.uncovered()

    @property
    def default(self) -> int:
        """The most frequent class of the rows that no rule covers, the more frequent of equals."""
        n_rows = np.bincount(self.classes[self.left], minlength=self.order.max() + 1)[self.order]
        return int(self.order[np.flatnonzero(n_rows == n_rows.max())[-1]])

    def listed(self) -> list[tuple[int, Body]]:
        """The list so far: the class and the body of each rule, the default rule last.

        A rule that always holds may come before; then the list ends with it.
        """
        found: list[tuple[int, Body]] = []
        for target, rule in self.rules:
            found.append((target, self.body(rule)))
            if len(rule.cuts) == 0:
                return found
        return [*found, (self.default, Body())]

    def body(self, rule: Candidate) -> Body:
        """The conditions of a rule."""
        return self.search.body(rule.cuts)

    def _tell(self, tell: Teller, target: int, one: OneClass, rule: Candidate) -> None:
        left = int(np.count_nonzero(one.uncovered()))
        tell(self, ClassNews(target, rule, len(self.rules) + len(one.rules), left, one.share(rule)))
