"""Rules that were found, with what is known of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted, suggestion
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.discovery.items import Items
from labelrules.discovery.limits import Ragged, frame_of
from labelrules.discovery.significance import Correction, fisher
from labelrules.measures import Measure, Tally, confusion, registered
from labelrules.measures.formulas import ratio
from labelrules.rules import Body, Evidence, Head, Rule, RuleSet
from labelrules.rules.formats.text import body_text, head_text, rule_text
from labelrules.search.bodies.refine import is_monotone

# -------------------- How interesting an association is, by four counts
# `both` rows have the body and the head, `body` and `head` have the one and the other, of
# `n_rows`. All of these rise with the rows in which the rule is right and fall with those in
# which it is wrong, so that no longer body can exceed a rule that is never wrong.

Interest: TypeAlias = Callable[[Any, Any, Any, int], Any]


def support(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Share of all rows that have body and head."""
    return np.asarray(ratio(both, n_rows))


def confidence(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Share of the covered rows in which every label of the head is right."""
    return np.asarray(ratio(both, body))


def lift(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """How many times more frequent the head is on covered rows than on all."""
    return np.asarray(ratio(both * float(n_rows), body * head))


def leverage(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Share of the rows with body and head beyond what chance would give."""
    return np.asarray(ratio(both * float(n_rows) - body * head, float(n_rows) ** 2))


def conviction(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """How many times more often the rule would be wrong by chance; infinite if it never is."""
    by_chance = body * (n_rows - head) / max(1, n_rows)
    wrong = body - both
    never = (wrong == 0) & (by_chance > 0)
    return np.where(never, np.inf, ratio(by_chance, wrong))


def chi_square(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Statistic of the two-by-two table; negative where the head is rarer on covered rows."""
    excess = both * float(n_rows) - body * head
    spread = (1.0 * body * (n_rows - body)) * (head * (n_rows - head))
    return np.asarray(np.sign(excess) * ratio(n_rows * excess**2, spread))


INTERESTS: dict[str, Interest] = {
    "support": support,
    "confidence": confidence,
    "lift": lift,
    "leverage": leverage,
    "conviction": conviction,
    "chi-square": chi_square,
}

# -------------------- The values of rules that were found, and how far those of longer rules can
# reach

TINY = 1e-12
"""A bound counts as reached when it is missed by no more than this, for it is rounded."""


def measured(measure: str | Measure) -> str | Measure:
    """The measure that is meant: one of our interests by name, or a measure of predictions."""
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(f"measure must be a Measure or a text, not {measure!r}")
    name = measure.strip().casefold().replace("_", "-")
    if name in INTERESTS:
        return name
    try:
        return Measure.parse(measure)
    except ValueError as error:
        near = suggestion(name, [*INTERESTS, *registered()])
        raise ValueError(f"{error} (for rules also: {', '.join(INTERESTS)}){near}") from None


def score(measure: str | Measure, rules: "AssociationRules") -> Floats:
    """The value of each rule."""
    if isinstance(measure, str):
        counts = rules.n_both, rules.n_body, rules.n_head, rules.data.n_rows
        return np.asarray(INTERESTS[measure](*counts), dtype=np.float64)
    if measure.predictions == "partial" and measure.averaging in ("micro", "label"):
        return _by_labels(measure, rules)
    return _one_by_one(measure, rules)


def _by_labels(measure: Measure, rules: "AssociationRules") -> Floats:
    """All rules at once, from the counts of each label of their heads."""
    n_rows, label, present = rules.data.n_rows, rules.head.values >> 1, rules.head.values & 1
    ones = rules.data.Y.sum(axis=0, dtype=np.int64)[label]
    n_covered = np.repeat(rules.n_body, rules.head.lengths)
    inside = np.where(present == 1, rules.right, n_covered - rules.right)
    counted = Tally(inside, n_covered - inside, ones, n_rows - ones)
    outcomes = confusion(counted, present)
    first = rules.head.start[:-1]
    if not first.size:
        return np.empty(0)
    if measure.averaging == "micro":
        summed = [np.add.reduceat(part, first) for part in outcomes]
        return np.asarray(measure.formula(*summed), dtype=np.float64)
    values = np.asarray(measure.formula(*outcomes), dtype=np.float64)
    return np.asarray(np.add.reduceat(values, first) / rules.head.lengths)


def _one_by_one(measure: Measure, rules: "AssociationRules") -> Floats:
    """Each rule on the table itself; what is counted per row cannot be had from sums."""
    data = rules.data
    values = []
    for number in range(rules.n_body.size):
        covered = rules.items.body(rules.body[number]).covers(data.X, data.Y)
        head = np.full(data.schema.n_labels, UNSET)
        for code in rules.head[number]:
            head[code >> 1] = code & 1
        values.append(measure.of_rule(data.Y, covered, head))
    return np.array(values, dtype=np.float64)


def reach(measure: str | Measure, Y: Board, both: Integers, literal: Integers) -> Floats | None:
    """The most that a rule for each literal can be worth that is right in so many rows.

    That is its value if it is never wrong; None where this is not known to be the most.
    """
    n_rows = Y.shape[0]
    label, present = literal >> 1, literal & 1
    ones = Y.sum(axis=0, dtype=np.int64)[label]
    if isinstance(measure, str):
        n_head = np.where(present == 1, ones, n_rows - ones)
        return np.asarray(INTERESTS[measure](both, both, n_head, n_rows), dtype=np.float64)
    if measure.predictions == "full" or measure.averaging not in ("micro", "label"):
        return None
    if not is_monotone(measure.formula):
        return None
    values = np.asarray(measure.formula(both, 0 * both, n_rows - ones, ones - both))
    # Uncovered cells count as presence and absence, whatever the head says (the chapter's
    # counting), so that covering fewer rows can help a rule for absence; it has no bound.
    return np.where(present == 1, values, np.inf)


def needed(
    measure: str | Measure, Y: Board, minimum: int, literals: Integers, least: float
) -> Integers | None:
    """The least number of right rows with which a rule for each literal can be worth so much."""
    n_rows = Y.shape[0]
    ones = Y.sum(axis=0, dtype=np.int64)[literals >> 1]
    most = np.where(literals & 1, ones, n_rows - ones)
    low = np.full(literals.size, minimum - 1, dtype=np.int64)  # too few, as far as is known
    high = most + 1  # enough, or more than there are
    least = _just_below(least)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, high)
        value = reach(measure, Y, np.minimum(middle, np.maximum(most, 0)), literals)
        if value is None:
            return None
        enough = (middle > most) | (value >= least)
        open_ = high - low > 1
        high = np.where(open_ & enough, middle, high)
        low = np.where(open_ & ~enough, middle, low)
    return np.asarray(np.where(high > most, n_rows + 1, np.maximum(high, minimum)))


def _just_below(value: float) -> float:
    return value - TINY * max(1.0, abs(value)) if isfinite(value) else value


def needed_by_any(measure: str | Measure, n_rows: int, minimum: int, least: float) -> int:
    """The least number of right rows with which a rule with any head can be worth so much."""
    if not isinstance(measure, str) or minimum > n_rows:
        return minimum
    both = np.arange(minimum, n_rows + 1)
    # The rarer a head, the more is a rule worth that is never wrong; it is in those rows at least.
    most = np.maximum.accumulate(INTERESTS[measure](both, both, both, n_rows))
    return minimum + int(np.searchsorted(most, _just_below(least)))


# ---------------------------------------------------------------- the main part

SHOWN = 10
"""How many rules are printed."""


@dataclass(frozen=True, eq=False)
class AssociationRules:
    """Rules with labels in their heads, the best first; printing shows some of them.

    Indexing gives a :class:`~labelrules.Rule`, or with a slice, mask or array of numbers the
    chosen rules with all that is known of them.

    Attributes
    ----------
    data : Dataset
        What they were found in.
    items : Items
        What the numbers in `body` mean.
    body, head : Ragged
        The items of each body; the literals of each head, as twice the number of a label and one
        more for presence.
    n_body, n_head, n_both : array of int
        Rows that a rule covers; rows in which its whole head holds; rows with both.
    right : array of int
        For each literal in `head`, the covered rows in which it holds.
    minimum : int
        The least number of rows with body and head that was asked for.
    corrected : array of float or None
        The probabilities `p`, corrected for all tests that the search has made.
    n_tests : int or None
        Their number: that of all pairs of a frequent body and a head. Of several labels, all
        heads count that can be made of frequent literals, whether they are frequent or not.
    stopped : str or None
        Why the search ended before it was done; None if it has found everything.

    Examples
    --------
    >>> from labelrules import association_rules, load
    >>> rules = association_rules(load("magazines"), min_support=3, min_confidence=0.75)
    >>> print(rules)
    2 rules that hold in at least 3 rows
      confidence  rows   lift
           1.000     4   2.00  quality (4/0) <- education = University
           0.800     4   1.60  quality (4/1) <- marital = Divorced
    >>> rules[1].evidence
    (Evidence(right=4, wrong=1),)
    >>> rules.confidence, rules[rules.confidence == 1].n_body
    (array([1. , 0.8]), array([4]))
    """

    data: Dataset = field(repr=False)
    items: Items = field(repr=False)
    body: Ragged = field(repr=False)
    head: Ragged = field(repr=False)
    n_body: Integers = field(repr=False)
    n_head: Integers = field(repr=False)
    n_both: Integers = field(repr=False)
    right: Integers = field(repr=False)
    minimum: int
    corrected: Floats | None = field(default=None, repr=False)
    correction: Correction = None
    n_tests: int | None = None
    stopped: str | None = None

    def __len__(self) -> int:
        return int(self.n_body.size)

    @property
    def n_rows(self) -> int:
        """The rows of the table."""
        return self.data.n_rows

    @property
    def support(self) -> Floats:
        """Share of all rows that have body and head."""
        return self._interest("support")

    @property
    def confidence(self) -> Floats:
        """Share of the covered rows in which the whole head is right: subset accuracy on them."""
        return self._interest("confidence")

    @property
    def lift(self) -> Floats:
        """How many times more frequent the head is on covered rows than on all."""
        return self._interest("lift")

    @property
    def leverage(self) -> Floats:
        """Share of the rows with body and head beyond what chance would give."""
        return self._interest("leverage")

    @property
    def conviction(self) -> Floats:
        """How many times more often the rule would be wrong by chance; infinite if it never is."""
        return self._interest("conviction")

    @property
    def chi_square(self) -> Floats:
        """Statistic of the two-by-two table; negative where the head is rarer on covered rows."""
        return self._interest("chi-square")

    @cached_property
    def p(self) -> Floats:
        """Fisher's exact test: how probable so many rows with both are by chance; one-sided."""
        return fisher(self.n_both, self.n_body, self.n_head, self.n_rows)

    def _interest(self, name: str) -> Floats:
        counts = self.n_both, self.n_body, self.n_head, self.n_rows
        return np.asarray(INTERESTS[name](*counts), dtype=np.float64)

    def measure(self, measure: str | Measure) -> Floats:
        """The value of every rule: of a measure, as of a candidate rule, or one of the above.

        >>> from labelrules import association_rules, load
        >>> rules = association_rules(load("magazines"), 3, 0.75)
        >>> rules.measure("f1/micro/partial").round(3), rules.measure("leverage").round(3)
        (array([0.727, 0.667]), array([0.143, 0.107]))
        """
        return score(measured(measure), self)

    def rule(self, number: int) -> Rule:
        """One rule, with its evidence."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} rules, and none with the number {number}")
        number %= len(self)
        start, stop = self.head.start[number], self.head.start[number + 1]
        literals = {code >> 1: code & 1 for code in self.head[number]}
        covered = int(self.n_body[number])
        evidence = [Evidence(n, covered - n) for n in self.right[start:stop].tolist()]
        return Rule(
            Head(literals, self.data.schema.n_labels),
            self.items.body(self.body[number]),
            evidence=tuple(evidence),
        )

    @overload
    def __getitem__(self, chosen: int) -> Rule: ...
    @overload
    def __getitem__(self, chosen: "slice | npt.NDArray[Any]") -> "AssociationRules": ...

    def __getitem__(self, chosen: Any) -> "Rule | AssociationRules":
        if isinstance(chosen, int | np.integer):
            return self.rule(int(chosen))
        numbers = np.arange(len(self))[chosen]
        places = Ragged(self.head.start, np.arange(self.right.size, dtype=np.int32)).take(numbers)
        return replace(
            self,
            body=self.body.take(numbers),
            head=self.head.take(numbers),
            n_body=self.n_body[numbers],
            n_head=self.n_head[numbers],
            n_both=self.n_both[numbers],
            right=self.right[places.values],
            corrected=None if self.corrected is None else self.corrected[numbers],
        )

    def __iter__(self) -> Iterator[Rule]:
        return (self.rule(number) for number in range(len(self)))

    def bodies(self) -> list[Body]:
        """The body of each rule."""
        return [self.items.body(self.body[number]) for number in range(len(self))]

    def as_rule_set(self) -> RuleSet:
        """The rules as a theory in which they vote."""
        return RuleSet(self.data.schema, self)

    def as_dict(self) -> dict[str, Any]:
        """The rules with their figures as columns, for a data frame of any library."""
        schema = self.data.schema
        rules = list(self)
        columns: dict[str, Any] = {
            "rule": [rule_text(rule, schema) for rule in rules],
            "head": [head_text(rule, schema) for rule in rules],
            "body": [body_text(rule.body, schema) for rule in rules],
            "covered": self.n_body,
            "right": self.n_both,
            **{name.replace("-", "_"): self._interest(name) for name in INTERESTS},
            "micro_precision": self.measure("precision/micro/partial"),
            "p": self.p,
        }
        if self.corrected is not None:
            columns["corrected"] = self.corrected
        return columns

    def to_frame(self) -> Any:
        """The rules with their figures as a data frame of pandas."""
        return frame_of(self.as_dict())

    def __str__(self) -> str:
        rules, rows = counted(len(self), "rule"), counted(self.minimum, "row")
        lines = [f"{rules} that {'holds' if len(self) == 1 else 'hold'} in at least {rows}"]
        if self.stopped:
            lines.append(f"not all of them: {self.stopped}")
        if self.items.left_out:
            left_out = counted(len(self.items.left_out), "numeric feature")
            lines.append(f"without {left_out}: give bins")
        if len(self):
            lines.append("  confidence  rows   lift")
        shown = self[:SHOWN]
        figures = zip(shown.confidence, shown.n_both, shown.lift, shown, strict=True)
        for confident, rows, lift, rule in figures:
            text = rule_text(rule, self.data.schema, evidence=True)
            lines.append(f"  {confident:10.3f} {rows:5d} {lift:6.2f}  {text}")
        more = len(self) - SHOWN
        return "\n".join([*lines, f"  ... and {more:,} more"] if more > 0 else lines)
