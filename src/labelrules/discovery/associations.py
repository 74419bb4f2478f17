"""Rules that were found, with what is known of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted
from labelrules._types import Floats, Integers
from labelrules.data import Dataset
from labelrules.discovery.frames import frame_of
from labelrules.discovery.interest import INTERESTS
from labelrules.discovery.items import Items
from labelrules.discovery.ragged import Ragged
from labelrules.discovery.scoring import measured, score
from labelrules.discovery.significance import Correction, fisher
from labelrules.measures import Measure
from labelrules.rules import Body, Evidence, Head, Rule, RuleSet
from labelrules.rules.text import body_text, head_text, rule_text

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
