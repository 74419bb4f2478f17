"""Fixes, which are edits of a theory, their effects, and findings, which propose them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted, one_of, whole_number
from labelrules._report import Columns, ItemList, Part, Report, Tabular
from labelrules._types import UNSET, Board
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset
from labelrules.inspection.comparison import predicted
from labelrules.inspection.explanation.values import NumberedPlace, Place
from labelrules.inspection.review.regions import (
    MODES,
    ListWalk,
    ProofSteps,
    TheoryPart,
    UndecidedError,
    parts_of,
    region_of,
    relevant_rules,
)
from labelrules.rules import (
    DecisionList,
    Once,
    Rule,
    Theory,
    UntilStable,
    parse_rule,
    theory_of,
)
from labelrules.rules.run import Changes, ListReplay, PartRun, TheoryRun


class Fix(NamedTuple):
    r"""An edit of one rule: remove it, replace it by a text, or move it.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("sports <- true\nquality <- sex = Male", load("magazines").schema)
    >>> print(Fix("move", rule=2, to=1).apply(theory))
    quality <- sex = Male
    otherwise: sports
    """

    action: Literal["remove", "replace", "move"]
    rule: int  #: The number of the rule in its list, from 1.
    text: str | None = None  #: For "replace", the new rule in the rule language.
    to: int | None = None  #: For "move", the number that the rule gets.
    layer: int | None = None  #: The layer, from 1; None if there is only one.
    is_fallback: bool = False  #: Whether the rule is in the list for rows without a label.
    numbers: tuple[int, ...] = ()
    """By which people call the rule and, for "move", that in whose place it comes, if by others."""

    @property
    def called(self) -> int:
        """The number by which people call the rule; `rule` is that in its list."""
        return self.numbers[0] if self.numbers else self.rule

    @property
    def called_goal(self) -> int | None:
        """The number that people call the rule by after a "move"."""
        return self.numbers[1] if len(self.numbers) > 1 else self.to

    def apply(self, theory: Any) -> Theory:
        """The theory with this edit; rules keep their evidence, but for a rule that is replaced."""
        whole = theory_of(theory)
        parts, at = list(whole.parts), len(whole.layers)
        if not (self.is_fallback and whole.fallback is not None):
            at = whole_number(self.layer or 1, "layer", low=1, high=len(whole.layers)) - 1
        parts[at] = parts[at].with_rules(self.edited(parts[at]))
        return whole.with_parts(parts)

    def edited(self, part: Theory) -> list[Rule]:
        """The rules of its list with this edit."""
        one_of(self.action, "action", ("remove", "replace", "move"))
        rules = list(part)
        number = whole_number(self.rule, "rule", low=1, high=len(rules)) - 1
        old = rules.pop(number)
        if self.action == "replace":
            new = _with_known_evidence(parse_rule(self.text or "", part.schema), old, part.schema)
            # In the list for rows without a label every rule ends the row, without a mark.
            rules.insert(number, replace(new, stops=True) if self.is_fallback else new)
        elif self.action == "move":
            rules.insert(whole_number(self.to, "to", low=1, high=len(rules) + 1) - 1, old)
        return rules

    def __str__(self) -> str:
        layer = None if self.layer is None else self.layer - 1
        place = Place(self.rule - 1, layer, self.is_fallback)
        where = str(NumberedPlace.of(place, self.called) if self.numbers else place)
        if self.action == "replace":
            return f"replace {where} by: {self.text}"
        return (
            f"move {where} to place {self.called_goal}"
            if self.action == "move"
            else f"remove {where}"
        )


def _with_known_evidence(new: Rule, old: Rule, schema: Schema) -> Rule:
    """The new rule with the evidence of the old one for predictions that both make alike."""
    if not have_equal_bodies(new, old, schema):
        return new
    same = set(new.head) & set(old.head)
    return new.with_evidence(
        old.evidence_for(label) if (label, value) in same else None for label, value in new.head
    )


def fix_of(
    place: Place,
    action: Literal["remove", "replace", "move"],
    text: str | None = None,
    to: Place | None = None,
) -> Fix:
    """The fix of the rule in this place."""
    layer = None if place.layer is None else place.layer + 1
    goal = None if to is None else to.number + 1
    places = [place] if to is None else [place, to]
    is_numbered = isinstance(place, NumberedPlace)
    numbers = tuple(one.called for one in places) if is_numbered else ()
    return Fix(action, place.number + 1, text, goal, layer, place.is_fallback, numbers)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fix changes in the predictions."""

    proved: bool  #: Whether it was proved that no prediction changes, whatever the row.
    n_rows: int | None = None  #: Rows of the data that it was counted on; None without data.
    n_changed_rows: int | None = None  #: Rows in which a prediction changes.
    n_changed_cells: int | None = None  #: Predictions that change, of rows and labels.
    n_righted: int | None = None  #: Those that become right; None without true labels.
    n_wronged: int | None = None  #: Those that become wrong.

    @property
    def keeps(self) -> bool | None:
        """Whether all predictions stay, as far as is known; None if nothing is known."""
        return True if self.proved else None if self.n_rows is None else not self.n_changed_cells

    def __str__(self) -> str:
        if self.proved:
            return "keeps every prediction, whatever the row (proved)"
        if self.n_rows is None:
            return "may change predictions: not proved, and there are no data to count on"
        if not self.n_changed_cells:
            return f"keeps all predictions on these {counted(self.n_rows, 'row')} (not proved)"
        text = (
            f"changes {counted(self.n_changed_cells, 'prediction')} in "
            f"{counted(self.n_changed_rows or 0, 'row')} of {self.n_rows:,}"
        )
        if self.n_righted is None:
            return text
        return f"{text}: {self.n_righted:,} become right, {self.n_wronged:,} wrong"


class EffectOfFixes:
    """Finds the effects of fixes of one theory: by proof, or counted on data."""

    def __init__(
        self, theory: Theory, rows: Dataset | None, truth: Board | None, steps: ProofSteps
    ) -> None:
        self.theory, self.rows, self.truth, self.steps = theory, rows, truth, steps
        self._counted: dict[Fix, Changes] = {}

    @cached_property
    def runs(self) -> tuple[PartRun, ...]:
        """The parts of the theory, and what they do on the data."""
        return () if self.rows is None else TheoryRun.of(self.theory, self.rows).parts

    @cached_property
    def fired(self) -> list[list[npt.NDArray[np.uint8]]]:
        """For each of the parts and its rules the rows on which it fired, as packed bits."""
        return [[np.packbits(fires) for _, _, fires in part.fired()] for part in self.runs]

    @cached_property
    def _before(self) -> Board:
        return self._predicted(self.theory)

    def _predicted(self, theory: Theory) -> Board:
        board: Board = predicted(theory, self.rows)  # type: ignore[arg-type]  # asked with data only
        return board

    @cached_property
    def _replay(self) -> ListReplay | None:
        if self.rows is None or not isinstance(self.theory, DecisionList):
            return None
        return ListReplay(self.theory, self.rows.X, self.truth)

    def written_by(self, number: int) -> frozenset[int]:
        """The labels that a rule of a list is the first to write in some row of the data."""
        return self._written[number]

    @cached_property
    def _written(self) -> list[frozenset[int]]:
        found = [frozenset[int]()] * len(self.theory)
        for part in self.runs:
            for number, rule in enumerate(part.rules if part.rules.ordered else ()):
                wrote = part.wrote(number).any(axis=0)
                found[part.start + number] = frozenset(np.array(rule.head.labels)[wrote].tolist())
        return found

    def of(self, fix: Fix, proved: bool | None = None) -> Effect:
        """The effect; `proved` is whether no prediction changes, if that is known already."""
        if self.rows is None:
            return Effect(self._is_proved(fix) if proved is None else proved)
        known = None if self.truth is None else 0
        unchanged = Effect(True, len(self.rows), 0, 0, known, known)
        if proved:
            return unchanged
        n_rows, n_cells, n_known, n_righted = self._counts(fix)
        # Where a prediction changes there is nothing to prove.
        if proved is None and not n_cells and self._is_proved(fix):
            return unchanged
        if self.truth is None:
            return Effect(False, len(self.rows), n_rows, n_cells)
        return Effect(False, len(self.rows), n_rows, n_cells, n_righted, n_known - n_righted)

    def of_proof(self, fix: Fix) -> Effect | None:
        """The effect, if it is proved that no prediction changes; else None."""
        if self._replay is not None and self._counts(fix).n_cells:
            return None  # the data refute it, which takes less time than a proof
        return self.of(fix, True) if self._is_proved(fix) else None

    def _is_proved(self, fix: Fix) -> bool:
        return keeps_predictions(self.theory, fix, self.steps)

    def _counts(self, fix: Fix) -> Changes:
        """What the fix changes in the data, counted once."""
        if fix not in self._counted:
            self._counted[fix] = self._compared(fix)
        return self._counted[fix]

    def _compared(self, fix: Fix) -> Changes:
        if self._replay is not None:
            return self._replay.changes(fix.edited(self.theory))
        after = self._predicted(fix.apply(self.theory))
        changed = after != self._before
        n_known = n_righted = 0
        if self.truth is not None:
            known_cells = changed & (self.truth != UNSET)
            n_known = int(np.count_nonzero(known_cells))
            n_righted = int(np.count_nonzero(known_cells & (after == self.truth)))
        return Changes(int(changed.any(axis=1).sum()), int(changed.sum()), n_known, n_righted)


def keeps_predictions(theory: Theory, fix: Fix, steps: ProofSteps | None = None) -> bool:
    """Whether it can be proved that no prediction changes, whatever the row.

    Rows are divided into regions on which the list does the same before and after the fix, and all
    of them are compared; a proof that would take too long is given up.
    """
    part, number = _edited_part(theory, fix)
    schema = theory.schema
    rules = list(enumerate(part.rules))
    after = list(enumerate(fix.edited(part.rules)))
    changed = [rules[number][1]]
    if fix.action == "replace":
        changed.append(after[number][1])
        old, new = changed
        if _votes_alike(old, new) and have_equal_bodies(old, new, schema):
            return True
    regions = [region_of(rule.body, schema) for rule in changed]
    if all(region is None for region in regions):
        return True  # neither rule ever holds
    if not part.rules.ordered or not isinstance(theory.inference, Once | UntilStable):
        return False
    steps = steps or ProofSteps()
    try:
        steps.take(0)
        return all(
            _boards_stay(rules, after, changed, theory, own, steps) for own in MODES[part.reads]
        )
    except UndecidedError:
        return False


def _edited_part(theory: Theory, fix: Fix) -> tuple[TheoryPart, int]:
    parts = parts_of(theory)
    return parts[-1 if fix.is_fallback else (fix.layer or 1) - 1], fix.rule - 1


def _votes_alike(one: Rule, other: Rule) -> bool:
    return (one.head, one.stops, one.ballot) == (other.head, other.stops, other.ballot)


def have_equal_bodies(one: Rule, other: Rule, schema: Schema) -> bool:
    """Whether the same rows and boards satisfy both bodies."""
    return region_of(one.body, schema) == region_of(other.body, schema)


def _boards_stay(
    before: Sequence[tuple[int, Rule]],
    after: Sequence[tuple[int, Rule]],
    changed: Sequence[Rule],
    theory: Theory,
    reads_own: bool,
    steps: ProofSteps,
) -> bool:
    """Whether both lists give the same labels wherever one of the changed rules may hold."""
    schema = theory.schema
    labels = _affected(before, changed, schema.n_labels)
    first, second = (
        ListWalk(relevant_rules(rules, labels, reads_own), schema, reads_own, steps)
        for rules in (before, after)
    )
    for rule in changed:
        tested = rule.body.on_features if reads_own else rule.body.conditions
        region = region_of(tested, schema)
        for one in first.leaves(region) if region is not None else ():
            for other in second.leaves(one.region):
                if any(one.board.get(i, 0) != other.board.get(i, 0) for i in labels):
                    return False
    return True


def _affected(
    rules: Sequence[tuple[int, Rule]], changed: Sequence[Rule], n_labels: int
) -> frozenset[int]:
    """The labels that may differ: of the changed rules, and all that depend on these."""
    if any(rule.stops for rule in changed):
        return frozenset(range(n_labels))
    labels = {label for rule in changed for label in rule.head.labels}
    while True:
        size = len(labels)
        for _, rule in rules:
            if labels & {condition.column for condition in rule.body.on_labels}:
                if rule.stops:
                    return frozenset(range(n_labels))
                labels.update(rule.head.labels)
        if len(labels) == size:
            return frozenset(labels)


FindingKind: TypeAlias = Literal[
    "contradictory body",
    "duplicate",
    "subsumed",
    "unreachable",
    "superfluous",
    "unreachable label",
    "redundant condition",
    "more often wrong than right",
    "conflict",
    "circular labels",
    "constant label",
    "unused",
    "condition without effect",
]
KINDS: tuple[FindingKind, ...] = get_args(FindingKind)
"""The kinds of findings, in the order in which they are listed."""


class Finding(NamedTuple):
    """Something in a theory that a person should look at, with a proposed fix."""

    kind: FindingKind
    places: tuple[Place, ...]  #: The rules that it is about; the first is the one to be changed.
    sentence: str  #: What it is, in plain English.
    fix: Fix | None = None  #: An edit that would settle it, if there is a simple one.
    effect: Effect | None = None  #: What the fix changes in the predictions.
    n_rows: int | None = None  #: Rows of the data in which it happens; None where not counted.

    @property
    def rules(self) -> tuple[int, ...]:
        """The numbers of the rules in their lists, from 1."""
        return tuple(place.number + 1 for place in self.places)

    def __str__(self) -> str:
        return "\n  ".join(self.lines())

    def lines(self) -> list[str]:
        """The sentence, and the fix with its effect."""
        return [self.sentence, *([] if self.fix is None else [f"{self.fix}: {self.effect}"])]


@dataclass(frozen=True, eq=False, repr=False)
class Findings(Report, Tabular):
    """What was found in a theory, the surest first."""

    theory: Theory
    found: tuple[Finding, ...]
    n_rows: int | None = None  #: Of the data; None if only the rules were looked at.

    _value = "{}({})"

    def of_kind(self, kind: str) -> tuple[Finding, ...]:
        """The findings of one kind."""
        one_of(kind, "kind", KINDS)
        return tuple(one for one in self.found if one.kind == kind)

    def by_kind(self) -> Iterator[tuple[FindingKind, tuple[Finding, ...]]]:
        """The kinds that there are, and the findings of each."""
        for kind in KINDS:
            if found := self.of_kind(kind):
                yield kind, found

    def about(self, rule: int, layer: int | None = None) -> tuple[Finding, ...]:
        """The findings about the rule of this number (and layer), from 1."""
        wanted = rule - 1, None if layer is None else layer - 1
        return tuple(
            one for one in self.found if wanted in [(p.number, p.layer) for p in one.places]
        )

    def as_dict(self) -> Columns:
        """The findings as columns."""
        effects = [one.effect for one in self.found]
        return {
            "kind": [one.kind for one in self.found],
            "rules": [", ".join(map(str, one.places)) for one in self.found],
            "sentence": [one.sentence for one in self.found],
            "rows": [one.n_rows for one in self.found],
            "fix": [None if one.fix is None else str(one.fix) for one in self.found],
            "is_proved": [None if e is None else e.proved for e in effects],
            "changed": [None if e is None else e.n_changed_cells for e in effects],
            "righted": [None if e is None else e.n_righted for e in effects],
            "wronged": [None if e is None else e.n_wronged for e in effects],
        }

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.found)

    def __getitem__(self, index: int) -> Finding:
        return self.found[index]

    @property
    def headline(self) -> str:
        """How many findings there are, in how many rules."""
        rows = "" if self.n_rows is None else f" and {counted(self.n_rows, 'row')}"
        return f"{counted(len(self.found), 'finding')} in {counted(len(self.theory), 'rule')}{rows}"

    def _parts(self) -> Iterator[Part]:
        for kind, found in self.by_kind():
            yield ItemList(kind, [one.lines() for one in found])


def sorted_findings(found: Iterable[Finding]) -> tuple[Finding, ...]:
    """By kind, then those in more rows, then in the order of the rules."""
    return tuple(sorted(found, key=lambda one: (KINDS.index(one.kind), -(one.n_rows or 0))))


def listed_rules(places: Iterable[Place], most: int = 5) -> str:
    """Rules in words; places of one list.

    >>> listed_rules([Place(0), Place(2), Place(4)]), listed_rules([Place(3)])
    ('rules 1, 3 and 5', 'rule 4')
    """
    every = list(places)
    if len(every) == 1:
        return str(every[0])
    numbers = [str(place.called) for place in every[:most]]
    if len(every) > most:
        numbers.append(f"{len(every) - most} more")
    where = str(every[0]).removeprefix(f"rule {every[0].called}")
    return f"rules {', '.join(numbers[:-1])} and {numbers[-1]}{where}"
