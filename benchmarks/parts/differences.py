"""Why two learners that do the same search choose different rules.

Both lists are followed on one board. Where the next rules write different cells, the steps of
our rule are taken one by one until the other rule goes another way, and the two conditions that
were chosen there are scored with exact fractions.

mlrl-seco is taken by what it counted, not by what it says: where a column has negative values and
others among the rows covered, a cut below the smallest of the others is written down as the middle
between the greatest negative value and the second smallest of the others. The rule then covers
other rows than it was learned for.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from labelrules import Dataset, Rule
from labelrules._types import Floats, Mask
from labelrules.rules import Body, Condition

ROUNDING = Fraction(1, 1 << 21)
"""Values of 32 bits that are closer than this, relative to their size, may have changed places."""

SAME_NUMBER = 1.2e-7
"""Neighbouring values closer than this, relative to their size, are equal to mlrl-seco."""

TIE = "the same value, ours with more cells right"
EVEN = "the same value and cells right"
ROUNDED = "equal in 32 bits"
NEVER_TRIED = "cut above the smallest value that is not negative, which it never tries"
CLOSE = "cut between two values that it takes for equal"
OTHER = "WE MISSED A BETTER CONDITION"
UNKNOWN = "it missed a better condition"


@dataclass(frozen=True)
class Step:
    """A condition that was chosen, the rows then covered, and what that is worth."""

    condition: Condition | None
    covered: Mask
    value: Fraction
    right: int


class Ground:
    """The cells that are still open, and what rules write."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self.open = np.ones(data.Y.shape, dtype=np.bool_)
        self._columns: dict[int, Floats] = {}

    def column(self, number: int) -> Floats:
        """The values of a feature."""
        if number not in self._columns:
            self._columns[number] = self.data.column(number)
        return self._columns[number]

    def holds(self, condition: Condition) -> Mask:
        """The rows that satisfy a condition."""
        return condition.holds(self.column(condition.column))

    def covers(self, rule: Rule) -> Mask:
        """The rows that satisfy the body of a rule."""
        covered = np.ones(self.data.n_rows, dtype=np.bool_)
        for condition in rule.body:
            covered &= self.holds(condition)
        return covered

    def cells(self, rule: Rule) -> Mask:
        """The rows in which a rule writes its label."""
        [(label, _)] = rule.head
        return self.covers(rule) & self.open[:, label]

    def write(self, rule: Rule) -> None:
        """Close the cells that a rule writes."""
        [(label, _)] = rule.head
        self.open[self.covers(rule), label] = False

    def step(self, covered: Mask, condition: Condition | None, rule: Rule) -> Step:
        """What a condition more is worth, by F with beta 0.5, exactly."""
        [(label, value)] = rule.head
        within = covered if condition is None else covered & self.holds(condition)
        is_right = self.data.Y[:, label] == value
        is_open = self.open[:, label]
        cells = within & is_open
        right = int((cells & is_right).sum())
        missed = int((is_open & is_right).sum()) - right
        wrong = int(cells.sum()) - right
        worth = Fraction(5 * right, 5 * right + missed + 4 * wrong) if right else Fraction(0)
        return Step(condition, within, worth, right)

    def as_counted(self, rule: Rule) -> Rule:
        """A rule of mlrl-seco with the thresholds that were counted, conditions by their order."""
        covered = np.ones(self.data.n_rows, dtype=np.bool_)
        left, body = list(rule.body), Body()
        while left:
            meant = [self._meant(covered, condition) for condition in left]
            values = [self.step(covered, condition, rule).value for condition in meant]
            best = values.index(max(values))
            body = body.and_(meant[best])
            covered &= self.holds(meant[best])
            del left[best]
        return Rule(rule.head, body)

    def _meant(self, covered: Mask, condition: Condition) -> Condition:
        """The cut that was counted for a threshold that was written down."""
        if condition.is_equality:
            return condition
        values = np.unique(self.column(condition.column)[covered])
        negative, others = values[values < 0], values[values >= 0]
        if len(negative) == 0 or len(others) < 2:
            return condition
        written = (negative[-1] + others[1]) / 2
        if not np.isclose(condition.value, written, rtol=1e-6, atol=0):
            return condition
        return Condition(condition.column, condition.operator, (negative[-1] + others[0]) / 2)

    def why(self, ours: Rule, theirs: Rule) -> str:
        """The reason for two rules that write different cells of this board."""
        covered = np.ones(self.data.n_rows, dtype=np.bool_)
        same_head = ours.head == theirs.head
        for condition in (*ours.body, None):
            our_step = self.step(covered, condition, ours)
            steps = [self.step(covered, other, theirs) for other in (*theirs.body, None)]
            best = max(step.value for step in steps)
            chosen = [step for step in steps if step.value == best]
            goes_along = any((step.covered == our_step.covered).all() for step in chosen)
            if not same_head or not goes_along:
                return self._reason(covered, our_step, chosen[0])
            covered = our_step.covered
        return UNKNOWN

    def _reason(self, covered: Mask, ours: Step, theirs: Step) -> str:
        if ours.value == theirs.value:
            return TIE if ours.right > theirs.right else EVEN
        if abs(ours.value - theirs.value) <= ROUNDING * ours.value:
            return ROUNDED
        if ours.value < theirs.value or ours.condition is None:
            return OTHER
        return self._missed(covered, ours.condition)

    def _missed(self, covered: Mask, condition: Condition) -> str:
        """Why mlrl-seco has not tried a condition."""
        if condition.is_equality:
            return UNKNOWN
        values = np.unique(self.column(condition.column)[covered])
        low, high = values[values <= condition.value][-1], values[values > condition.value][0]
        if low == values[values >= 0].min(initial=np.inf):
            return NEVER_TRIED
        return CLOSE if high - low <= SAME_NUMBER * max(1.0, abs(low), abs(high)) else UNKNOWN


def follow(ground: Ground, ours: Sequence[Rule], theirs: Sequence[Rule]) -> list[Rule]:
    """Write the rules of both lists while they write the same cells; those of mlrl-seco."""
    same = []
    for our_rule, printed in zip(ours, theirs, strict=False):
        their_rule = ground.as_counted(printed)
        is_same = (ground.cells(our_rule) == ground.cells(their_rule)).all()
        if our_rule.head != their_rule.head or not is_same:
            break
        ground.write(their_rule)
        same.append(their_rule)
    return same
