"""Association rules with their measures of interest: values, bounds, and the result of a search.

Counts of a rule among `n_rows`: `both` rows have body and head, `body` the body, `head` the head.
Every measure of interest rises with the rows in which the rule is right and falls with those in
which it is wrong, so that no longer body can exceed a rule that is never wrong.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted, suggestion
from labelrules._report import Columns, Excerpt, Lines, Part, Report, Tabular, first_lines
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.constraints.significance import Correction, fisher
from labelrules.data import Dataset
from labelrules.measures import Measure, Tally, confusion, formula_names
from labelrules.measures.formulas import is_monotone, ratio
from labelrules.mining.items import Items, Ragged
from labelrules.rules import Body, Evidence, Head, Rule, RuleSet
from labelrules.rules.language.text import body_text, head_text, rule_text

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
    """Share of the rows with body and head, less the share expected by chance."""
    return np.asarray(ratio(both * float(n_rows) - body * head, float(n_rows) ** 2))


def conviction(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """How many times more often the rule would be wrong by chance; infinite if never wrong."""
    by_chance = body * (n_rows - head) / max(1, n_rows)
    wrong = body - both
    never = (wrong == 0) & (by_chance > 0)
    return np.where(never, np.inf, ratio(by_chance, wrong))


def chi_square(both: Integers, body: Integers, head: Integers, n_rows: int) -> Floats:
    """Chi-square of the two-by-two table; negative where the head is rarer on covered rows."""
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

TINY = 1e-12  # a bound that is missed by no more than this counts as reached, for it is rounded


def interest_measure(measure: str | Measure) -> str | Measure:
    """A measure by its name: a measure of interest, or a measure of predictions."""
    if isinstance(measure, Measure):
        return measure
    if not isinstance(measure, str):
        raise ValueError(f"measure must be a name or a Measure, not {measure!r}")
    name = measure.strip().casefold().replace("_", "-")
    if name in INTERESTS:
        return name
    try:
        return Measure.parse(measure)
    except ValueError as error:
        near = suggestion(name, [*INTERESTS, *formula_names()])
        raise ValueError(f"{error} (for rules also: {', '.join(INTERESTS)}){near}") from None


def score(measure: str | Measure, rules: "AssociationRules") -> Floats:
    """The value of each rule."""
    if isinstance(measure, str):
        return rules.interest(measure)
    if measure.predictions == "partial" and measure.averaging in ("micro", "macro"):
        return _by_labels(measure, rules)
    return _one_by_one(measure, rules)


def _by_labels(measure: Measure, rules: "AssociationRules") -> Floats:
    """All rules at once, from the counts of each label of their heads."""
    n_rows, label, present = rules.data.n_rows, rules.head.values >> 1, rules.head.values & 1
    ones = rules.data.Y.sum(axis=0, dtype=np.int64)[label]
    n_covered = np.repeat(rules.n_body, rules.head.lengths)
    inside = np.where(present == 1, rules.right, n_covered - rules.right)
    outcomes = confusion(Tally(inside, n_covered - inside, ones, n_rows - ones), present)
    first = rules.head.start[:-1]
    if not first.size:
        return np.empty(0)
    if measure.averaging == "micro":
        summed = [np.add.reduceat(part, first) for part in outcomes]
        return np.asarray(measure.formula(*summed), dtype=np.float64)
    values = np.asarray(measure.formula(*outcomes), dtype=np.float64)
    return np.asarray(np.add.reduceat(values, first) / rules.head.lengths)


def _one_by_one(measure: Measure, rules: "AssociationRules") -> Floats:
    """Each rule by its rows: sums do not give what is counted per row."""
    data = rules.data
    values = []
    for number in range(rules.n_body.size):
        covered = rules.items.body(rules.body[number]).covers(data.X, data.Y)
        head = np.full(data.schema.n_labels, UNSET)
        for code in rules.head[number]:
            head[code >> 1] = code & 1
        values.append(measure.of_rule(data.Y, covered, head))
    return np.array(values, dtype=np.float64)


def upper_bounds(
    measure: str | Measure, Y: Board, both: Integers, literal: Integers
) -> Floats | None:
    """Upper bounds of values by literal, right in `both` rows and never wrong; None if unknown."""
    n_rows = Y.shape[0]
    label, present = literal >> 1, literal & 1
    ones = Y.sum(axis=0, dtype=np.int64)[label]
    if isinstance(measure, str):
        n_head = np.where(present == 1, ones, n_rows - ones)
        return np.asarray(INTERESTS[measure](both, both, n_head, n_rows), dtype=np.float64)
    if measure.predictions == "full" or measure.averaging not in ("micro", "macro"):
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
    """The least number of right rows with which a rule for each literal can reach a value."""
    n_rows = Y.shape[0]
    ones = Y.sum(axis=0, dtype=np.int64)[literals >> 1]
    most = np.where(literals & 1, ones, n_rows - ones)
    low = np.full(literals.size, minimum - 1, dtype=np.int64)  # too few, as far as is known
    high = most + 1  # enough, or more than there are
    least = _just_below(least)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, high)
        value = upper_bounds(measure, Y, np.minimum(middle, np.maximum(most, 0)), literals)
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
    """The least number of right rows with which a rule with any head can reach a value."""
    if not isinstance(measure, str) or minimum > n_rows:
        return minimum
    both = np.arange(minimum, n_rows + 1)
    # A rule that is never wrong has a greater value for a rarer head, of at least those rows.
    most = np.maximum.accumulate(INTERESTS[measure](both, both, both, n_rows))
    return minimum + int(np.searchsorted(most, _just_below(least)))


SHOWN = 10  # rules that are printed


def _interest(name: str) -> Any:
    return property(lambda self: self.interest(name), doc=INTERESTS[name].__doc__)


@dataclass(frozen=True, eq=False, repr=False)
class AssociationRules(Report, Tabular):
    """Association rules with labels in their heads, the best first; printing shows some of them.

    Indexing gives a :class:`~labelrules.Rule`, or with a slice, mask or array of numbers some of
    the rules with all their figures.

    Attributes
    ----------
    data, items : Dataset, Items
        The rows that were searched, and what the numbers in `body` mean.
    body, head : Ragged
        The items of each body; the literals of each head: 2 * label, + 1 for presence.
    n_body, n_head, n_both : array of int
        Rows that a rule covers; rows in which its whole head holds; rows with both.
    right : array of int
        For each literal in `head`, the covered rows in which it holds.
    minimum : int
        The minimum support in rows.
    corrected, n_tests : array of float and int, or None
        The p-values `p`, corrected for all tests: of each frequent body with each head of frequent
        literals.
    stopped : str or None
        Why the search stopped early; None if it is complete.

    Examples
    --------
    >>> from labelrules import association_rules, load
    >>> rules = association_rules(load("magazines"), min_support=3, min_confidence=0.75)
    >>> rules
    <AssociationRules: 2 rules that hold in at least 3 rows>
    >>> rules[1].evidence
    (Evidence(right=4, wrong=1),)
    >>> rules.confidence, rules[rules.confidence == 1].n_body
    (array([1. , 0.8]), array([4]))
    """

    data: Dataset
    items: Items
    body: Ragged
    head: Ragged
    n_body: Integers
    n_head: Integers
    n_both: Integers
    right: Integers
    minimum: int
    corrected: Floats | None = None
    correction: Correction = None
    n_tests: int | None = None
    stopped: str | None = None

    _heading = "h4"

    support = _interest("support")
    confidence = _interest("confidence")
    lift = _interest("lift")
    leverage = _interest("leverage")
    conviction = _interest("conviction")
    chi_square = _interest("chi-square")

    def __len__(self) -> int:
        return int(self.n_body.size)

    @cached_property
    def p(self) -> Floats:
        """P-values of Fisher's exact test, one-sided: so many rows with body and head by chance."""
        return fisher(self.n_both, self.n_body, self.n_head, self.data.n_rows)

    def interest(self, name: str) -> Floats:
        """A measure of interest of every rule, by its name."""
        counts = self.n_both, self.n_body, self.n_head, self.data.n_rows
        return np.asarray(INTERESTS[name](*counts), dtype=np.float64)

    def measure(self, measure: str | Measure) -> Floats:
        """The value of every rule by a measure of interest, or by any other measure.

        >>> from labelrules import association_rules, load
        >>> rules = association_rules(load("magazines"), 3, 0.75)
        >>> rules.measure("f1/micro/partial").round(3), rules.measure("leverage").round(3)
        (array([0.727, 0.667]), array([0.143, 0.107]))
        """
        return score(interest_measure(measure), self)

    def rule(self, number: int) -> Rule:
        """One rule, with its evidence."""
        if not -len(self) <= number < len(self):
            raise IndexError(f"there are {len(self)} rules, and none with the number {number}")
        number %= len(self)
        start, stop = self.head.start[number], self.head.start[number + 1]
        literals = {code >> 1: code & 1 for code in self.head[number]}
        covered = int(self.n_body[number])
        evidence = [Evidence(n, covered - n) for n in self.right[start:stop].tolist()]
        head = Head(literals, self.data.schema.n_labels)
        return Rule(head, self.items.body(self.body[number]), evidence=tuple(evidence))

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
        """The rules as a rule set, in which they vote."""
        return RuleSet(self.data.schema, self)

    def as_dict(self) -> Columns:
        """The rules with their figures as columns, for a data frame of any library."""
        schema = self.data.schema
        rules = list(self)
        columns: dict[str, Any] = {
            "rule": [rule_text(rule, schema) for rule in rules],
            "head": [head_text(rule, schema) for rule in rules],
            "body": [body_text(rule.body, schema) for rule in rules],
            "covered": self.n_body,
            "right": self.n_both,
            **{name.replace("-", "_"): self.interest(name) for name in INTERESTS},
            "micro_precision": self.measure("precision/micro/partial"),
            "p": self.p,
        }
        if self.corrected is not None:
            columns["corrected"] = self.corrected
        return columns

    @property
    def headline(self) -> str:
        """How many rules, in how many rows they hold."""
        holds = "holds" if len(self) == 1 else "hold"
        return (
            f"{counted(len(self), 'rule')} that {holds} in at least {counted(self.minimum, 'row')}"
        )

    def _shown(self, n: int) -> Iterator[tuple[float, int, float, str]]:
        """Confidence, rows, lift and text of the first rules."""
        first = self[:n]
        for figures in zip(first.confidence, first.n_both, first.lift, first, strict=True):
            yield *figures[:3], rule_text(figures[3], self.data.schema, evidence=True)

    def _page(self) -> Iterator[Part]:
        rows = [(f"{c:.3f}", int(n), f"{lift:.2f}", text) for c, n, lift, text in self._shown(20)]
        head = "confidence", "rows", "lift", "rule"
        yield Excerpt(head, rows, len(self), self.stopped)

    def _parts(self) -> Iterator[Part]:
        if self.stopped:
            yield Lines([f"not all of them: {self.stopped}"])
        if self.items.left_out:
            left_out = counted(len(self.items.left_out), "numeric feature")
            yield Lines([f"without {left_out}: give bins"])
        if len(self):
            yield Lines(["  confidence  rows   lift"])
        shown = (f"{c:10.3f} {n:5d} {lift:6.2f}  {text}" for c, n, lift, text in self._shown(SHOWN))
        yield Lines(first_lines(shown, len(self)))
