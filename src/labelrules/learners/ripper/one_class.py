"""RIPPER's rules, class by class: built, optimised, and left out where they do not pay.

W. W. Cohen, "Fast Effective Rule Induction", ICML 1995. Where that leaves a choice it is made as
in JRip, the version of Weka (E. Frank, M. Hall, I. Witten, "The WEKA Workbench", 2016).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from labelrules._types import Floats, Integers, Mask
from labelrules.kernels.device import Engine
from labelrules.measures.description_length import body_bits, exception_bits
from labelrules.measures.formulas import ratio
from labelrules.rules import Body
from labelrules.search.bodies.foil import CodedFoilSearch, FoilSearch, SplitMix64

SURPLUS = 64.0
"""Bits that a description may be longer than the shortest before building ends."""

REDUNDANCY = 0.5
"""What a bit of rules weighs against a bit of exceptions: conditions often imply each other."""


@dataclass(frozen=True)
class RipperSettings:
    """The parameters of `Ripper`, ready for use."""

    n_passes: int
    n_folds: int
    min_coverage: int
    pruning: bool
    check_error: bool
    seed: int
    bins: int | None = None
    engine: Engine = "auto"


class Candidate(NamedTuple):
    """The body of a rule as cuts, see `FoilSearch`, and all rows that it covers."""

    cuts: Integers
    covered: Mask


class NewRule(NamedTuple):
    """A rule that was added, or replaces another one.

    Its class and body, the number of rules, the rows that none of them covers, and the share of
    the rows it covers that have its class.
    """

    target: int
    body: Body
    n_rules: int
    n_left: int
    share_right: float


Reporter: TypeAlias = Callable[[NewRule], object]


class Fired(NamedTuple):
    """The rows left to a rule that it covers, and those of them that are positive.

    Their numbers, or the sums of their weights.
    """

    n_rows: float
    n_right: float


class ClassLearner:
    """Learns an ordered list of rules, each for one class (from 0), and a default class.

    The rarest class comes first; the most frequent one has no rules. The search can be used again
    for other classes of the same rows; earlier uses do not change results. ``rules`` has the class
    and body of each rule, after an interrupt those found so far.
    """

    def __init__(
        self,
        search: FoilSearch | CodedFoilSearch,
        settings: RipperSettings,
        classes: Integers,
        left: Mask | None = None,
    ) -> None:
        self.search, self.settings, self.classes = search, settings, classes
        self.left: Mask = np.ones(len(classes), dtype=np.bool_) if left is None else left
        n_rows = self._class_sizes(self.left if self.left.any() else ~self.left)
        # Rising frequency; of classes that are equally frequent the last comes first.
        order = np.lexsort((-np.arange(len(n_rows)), n_rows))
        self.order: Integers = order[n_rows[order] > 0]
        self.rules: list[tuple[int, Candidate]] = []

    def learn(self, report: Reporter | None = None) -> None:
        """Learn the rules of each class but the last."""
        ranks = np.zeros(self.classes.max() + 1, dtype=np.int64)
        ranks[self.order] = np.arange(len(self.order))
        ranked, random = ranks[self.classes], SplitMix64(self.settings.seed)
        for rank, target in enumerate(self.order[:-1].tolist()):
            one = OneClass(self.search, self.settings, ranked, rank, self.left, random)
            try:
                one.learn(None if report is None else partial(self._report, report, target, one))
            finally:  # the rules of an interrupted learner are kept
                self.rules += [(target, rule) for rule in one.rules]
                self.left = one.uncovered()

    @property
    def default(self) -> int:
        """The most frequent class of the rows that no rule covers, the more frequent of equals."""
        n_rows = self._class_sizes(self.left)[self.order]
        return int(self.order[np.flatnonzero(n_rows == n_rows.max())[-1]])

    def _class_sizes(self, rows: Mask) -> Integers | Floats:
        """The rows of each class, or the sums of their weights in units."""
        weights, n_classes = self.search.weights, int(self.classes.max()) + 1
        own = None if weights is None else weights[rows]
        return np.bincount(self.classes[rows], own, minlength=n_classes)

    def listed(self) -> list[tuple[int, Body]]:
        """The class and body of each rule so far, up to one that always holds: the default rule."""
        rules: list[tuple[int, Body]] = []
        for target, rule in self.rules:
            rules.append((target, self.search.body(rule.cuts)))
            if len(rule.cuts) == 0:
                return rules
        return [*rules, (self.default, Body())]

    def _report(self, report: Reporter, target: int, one: "OneClass", rule: Candidate) -> None:
        n_rules, n_left = len(self.rules) + len(one.rules), int(np.count_nonzero(one.uncovered()))
        body, share = self.search.body(rule.cuts), one.share(rule)
        report(NewRule(target, body, n_rules, n_left, share))


class OneClass:
    """Learns rules for the class `target` against those after it, from the rows `left`."""

    def __init__(
        self,
        search: FoilSearch | CodedFoilSearch,
        settings: RipperSettings,
        classes: Integers,
        target: int,
        left: Mask,
        random: SplitMix64,
    ) -> None:
        self.search, self.settings, self.classes, self.random = search, settings, classes, random
        self.left = left
        self.positive: Mask = classes == target
        self.n_left, self.n_positive = search.count(left), search.count(left & self.positive)
        self.n_possible = search.n_conditions
        self.rules: list[Candidate] = []

    def learn(self, report: Callable[[Candidate], object] | None = None) -> None:
        """Build rules, then optimise them so many times; report each rule that is added."""
        self.report = report or (lambda rule: None)
        self._build()
        if not self.settings.pruning:
            return
        if self.settings.n_passes == 0:
            self._leave_out()
        for _ in range(self.settings.n_passes):
            self._optimise()
            self._build()
            self._leave_out()

    def uncovered(self) -> Mask:
        """The rows that no rule covers."""
        left = self.left
        for rule in self.rules:
            left = left & ~rule.covered
        return left

    def share(self, rule: Candidate) -> float:
        """The share of the rows covered by a rule that have the class."""
        fired = self._fires(rule, self.left)
        return float(ratio(fired.n_right, fired.n_rows))

    def _build(self) -> None:
        """Add rules for the positive rows that are left, until the description gets too long."""
        left = self.uncovered()
        total = _sum(self._fired(self.rules, self.left))
        length = shortest = 0.0
        while (left & self.positive).any():
            rule = self._new_rule(left)
            fired = self._fires(rule, left)
            with_it = _sum([total, fired])
            length += self._theory_bits(rule)
            length += self._data_bits(with_it) - self._data_bits(total)
            shortest = min(shortest, length)
            if length > shortest + SURPLUS or fired.n_right == 0 or self._is_wrong(fired):
                break
            self.rules.append(rule)
            self.report(rule)
            left, total = left & ~rule.covered, with_it

    def _optimise(self) -> None:
        """Replace each rule by the best of itself, a revision of it, and a wholly new one."""
        left = self.left
        before: list[Fired] = []
        for place, old in enumerate(self.rules):
            if not (left & self.positive).any():
                break
            if (left & old.covered).any():
                after = self.rules[place + 1 :]
                variants = [old, *self._variants(old, left, after)]
                lengths = [self._length(before, one, after, left) for one in variants]
                self.rules[place] = variants[lengths.index(min(lengths))]
                self.report(self.rules[place])
            before.append(self._fires(self.rules[place], left))
            left = left & ~self.rules[place].covered

    def _leave_out(self) -> None:
        """Leave out rules without which the description is shorter, the last one first."""
        fired = self._fired(self.rules, self.left)
        theory = [self._theory_bits(rule) for rule in self.rules]
        gone, _ = self._superfluous(fired, theory, reversed(range(len(fired))))
        self.rules = [rule for place, rule in enumerate(self.rules) if place not in gone]

    def _new_rule(self, left: Mask) -> Candidate:
        """Grow a rule on a part of the rows, and prune it on the others."""
        least = self.settings.min_coverage
        if not self.settings.pruning:
            cuts = self.search.grow(self.positive, left, least)
            return Candidate(cuts, self.search.covered_by(cuts, left, self.positive)[0][-1].copy())
        growing, held = self._divide(left)
        return self._pruned(self.search.grow(self.positive, growing, least), held, whole=False)

    def _variants(self, old: Candidate, left: Mask, after: list[Candidate]) -> list[Candidate]:
        """The rule with conditions added, and another in its place.

        Both are pruned on rows that no rule after it would get right.
        """
        growing, held = self._divide(left)
        for rule in after:
            held = held & ~rule.covered
        least = self.settings.min_coverage
        longer = self.search.grow(self.positive, growing & old.covered, least, old.cuts)
        other = self.search.grow(self.positive, growing, least)
        return [self._pruned(cuts, held, whole=True) for cuts in (longer, other)]

    def _divide(self, left: Mask) -> tuple[Mask, Mask]:
        return self.search.divide(self.classes, left, self.settings.n_folds, self.random)

    def _pruned(self, cuts: Integers, held: Mask, whole: bool) -> Candidate:
        """Keep the first conditions that do best on held-out rows, the fewest if several do.

        By the share of covered rows that are positive, or, on the `whole`, by the share of all
        rows that are either covered and positive or neither.
        """
        prefixes, (covered, right) = self.search.covered_by(cuts, held, self.positive)
        n_rows, n_positive = covered[0], right[0]
        if n_rows == 0:
            return Candidate(cuts, prefixes[-1].copy())
        if whole:
            n_spared = n_rows - n_positive - (covered - right)
            worth = (right + n_spared) / n_rows
        else:
            worth = (right + 1.0) / (covered + 2.0)
        worth[0] = (n_positive + 1.0) / (n_rows + 2.0)
        kept = int(np.argmax(worth))
        return Candidate(cuts[:kept], prefixes[kept].copy())

    def _length(
        self, before: list[Fired], rule: Candidate, after: list[Candidate], left: Mask
    ) -> float:
        """The bits of a rule and of the exceptions, without later rules that then do not pay.

        The saved bits count twice, as in JRip: they are in the bits of the exceptions already. So a
        rule may cost more if it makes others superfluous.
        """
        fired = [*before, *self._fired([rule, *after], left)]
        theory = [0.0] * len(before) + [self._theory_bits(one) for one in (rule, *after)]
        places = range(len(before) + 1, len(fired))
        gone, saved = self._superfluous(fired, theory, places)
        bits = self._data_bits(_sum(one for at, one in enumerate(fired) if at not in gone))
        return round(bits + theory[len(before)] - saved, 9)

    def _superfluous(
        self, fired: list[Fired], theory: list[float], places: Iterable[int]
    ) -> tuple[set[int], float]:
        """Which of the rules at these places, one by one, do not pay, and the bits they cost."""
        gone: set[int] = set()
        total, cost = _sum(fired), 0.0
        for place in places:
            one = fired[place]
            without = Fired(total.n_rows - one.n_rows, total.n_right - one.n_right)
            own = theory[place] + self._data_bits(total) - self._data_bits(without)
            if round(own, 9) >= 0 or self._is_wrong(one):
                gone.add(place)
                total, cost = without, cost + own
        return gone, cost

    def _data_bits(self, fired: Fired) -> float:
        """The bits for the exceptions, when rules fire on so many rows."""
        n_rows, n_right = fired
        return exception_bits(
            n_rows, self.n_left - n_rows, n_rows - n_right, self.n_positive - n_right,
            self.n_positive,
        )  # fmt: skip

    def _theory_bits(self, rule: Candidate) -> float:
        return REDUNDANCY * body_bits(len(rule.cuts), self.n_possible)

    def _fired(self, rules: Sequence[Candidate], left: Mask) -> list[Fired]:
        """The counts of each rule on the rows that those before it leave."""
        fired = []
        for rule in rules:
            fired.append(self._fires(rule, left))
            left = left & ~rule.covered
        return fired

    def _fires(self, rule: Candidate, left: Mask) -> Fired:
        fires = left & rule.covered
        return Fired(self.search.count(fires), self.search.count(fires & self.positive))

    def _is_wrong(self, fired: Fired) -> bool:
        """Whether a rule is wrong at least as often as right."""
        return self.settings.check_error and 2 * fired.n_right <= fired.n_rows


def _sum(fired: Iterable[Fired]) -> Fired:
    n_rows: float = 0
    n_right: float = 0
    for one in fired:
        n_rows, n_right = n_rows + one.n_rows, n_right + one.n_right
    return Fired(n_rows, n_right)
