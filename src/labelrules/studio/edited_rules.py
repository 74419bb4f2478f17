"""The rules of a theory while they are edited: numbers, marks, and what learning again keeps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from labelrules._checks import counted, listed, quoted, suggestion, whole_number
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.summaries import places_of
from labelrules.rules import DecisionList, Head, LayeredTheory, Once, Rule, RuleSet, Theory
from labelrules.rules.rule import check_rule


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule among others; `layer` counts from 0, and rules for rows without labels come last."""

    id: int
    rule: Rule
    layer: int
    locked: bool = False
    disabled: bool = False
    changed: int | None = None


@dataclass(frozen=True, slots=True)
class EditedRule:
    """A rule as the editor shows it.

    Attributes
    ----------
    number : int
        Its number, from 1, through all layers; disabled rules have one, too.
    id : int
        What it is known by; it stays when the rule is moved or replaced.
    rule : Rule
        With the evidence on the training rows, unless it is disabled.
    text : str
        The rule as it stands in the text of the theory, without its note.
    locked : bool
        Whether it cannot be changed, and stays when rules are learned again.
    disabled : bool
        Whether it is left out of the theory.
    changed : int or None
        The step of the history that wrote it as it is; None if it is as it was at first.
    note : str or None
    layer : int or None
        Its layer, from 1; None if the theory has no layers.
    for_no_label : bool
        Whether it is for rows in which no label was found.
    place : Place or None
        Where it is in the theory; None if it is disabled.
    """

    number: int
    id: int
    rule: Rule
    text: str
    locked: bool
    disabled: bool
    changed: int | None
    note: str | None
    layer: int | None
    for_no_label: bool
    place: Place | None


@dataclass(frozen=True, eq=False)
class EditedRules:
    """All rules, in their order; a value, of which every edit makes another one.

    `frame` is the theory as it was at first: its layers, inference, label sets.
    """

    frame: Theory
    entries: tuple[RuleEntry, ...]
    next_id: int

    @classmethod
    def of(cls, theory: Theory) -> "EditedRules":
        """The rules of a theory, without marks."""
        parts = theory.parts if isinstance(theory, LayeredTheory) else (theory,)
        pairs = [(layer, rule) for layer, part in enumerate(parts) for rule in part]
        entries = [RuleEntry(i, rule, layer) for i, (layer, rule) in enumerate(pairs, 1)]
        return cls(theory, tuple(entries), len(entries) + 1)

    @property
    def layers(self) -> tuple[Theory, ...]:
        """The layers of the theory as it was at first."""
        return self.frame.layers if isinstance(self.frame, LayeredTheory) else (self.frame,)

    @property
    def n_layers(self) -> int:
        """The number of layers; rules for rows without labels are in the one after them."""
        return len(self.layers)

    @cached_property
    def theory(self) -> Theory:
        """The theory without disabled rules; its rules keep the numbers that they have here.

        Evidence is that of the rules.
        """
        parts: list[list[Rule]] = [[] for _ in range(self.n_layers + 1)]
        numbers = []
        for number, entry in enumerate(self.entries, 1):
            if not entry.disabled:
                parts[entry.layer].append(entry.rule)
                numbers.append(number)
        *layers, last = parts
        return self._assembled(layers, last).numbered(numbers)

    def _assembled(self, layers: Sequence[list[Rule]], last: list[Rule]) -> Theory:
        schema, frame = self.frame.schema, self.frame
        parts = [old.with_rules(new) for old, new in zip(self.layers, layers, strict=True)]
        if not isinstance(frame, LayeredTheory) and not last:
            return parts[0]
        if not isinstance(frame, LayeredTheory):
            return LayeredTheory(schema, parts, fallback=DecisionList(schema, last))
        had_empty = frame.fallback is not None and not len(frame.fallback)
        fallback = DecisionList(schema, last) if last or had_empty else None
        return LayeredTheory(schema, parts, frame.inference, fallback)

    def entry(self, number: int) -> RuleEntry:
        """The rule with a number that people use."""
        return self.entries[self.index(number)]

    def index(self, number: int) -> int:
        """The place of a rule, from 0, by its number."""
        n_rules = len(self.entries)
        if not n_rules:
            raise ValueError("there is no rule left; add one first")
        found = whole_number(number, "the number of a rule")
        if not 1 <= found <= n_rules:
            raise ValueError(f"there is no rule {found}: the rules have the numbers 1 to {n_rules}")
        return found - 1

    def open_index(self, number: int, what: str) -> int:
        """The place of a rule that shall be changed, which must not be locked."""
        index = self.index(number)
        if self.entries[index].locked:
            raise ValueError(f"rule {number} is locked: unlock it before you {what} it")
        return index

    def with_entries(self, entries: Iterable[RuleEntry], n_new: int = 0) -> "EditedRules":
        """Other entries, of which so many are new; refused if they make no theory."""
        found = EditedRules(self.frame, tuple(entries), self.next_id + n_new)
        _ = found.theory
        return found

    def with_entry(self, index: int, entry: RuleEntry) -> "EditedRules":
        """Replace the entry at a place."""
        return self.with_entries((*self.entries[:index], entry, *self.entries[index + 1 :]))

    def span(self, layer: int) -> tuple[int, int]:
        """Where the rules of a layer begin and end, from 0."""
        first = sum(entry.layer < layer for entry in self.entries)
        return first, first + sum(entry.layer == layer for entry in self.entries)

    def layer_text(self, layer: int) -> str:
        """The name of a layer, in messages."""
        if layer == self.n_layers:
            return "the rules for rows without a label"
        return "the theory" if self.n_layers == 1 else f"layer {layer + 1}"

    def fitting(self, rule: Rule, layer: int, number: int) -> Rule:
        """A rule as it stands in a layer, without evidence; refused if it cannot stand there."""
        self._check(rule, layer, number)
        ends_row = rule.stops or layer == self.n_layers  # the first that holds decides the row
        return replace(rule, stops=ends_row, evidence=None)

    def _check(self, rule: Rule, layer: int, number: int) -> None:
        where = f"rule {number}"
        check_rule(rule, self.frame.schema, where)
        if layer == self.n_layers:
            if rule.body.on_labels:
                raise ValueError(
                    f"{where} is for rows in which no label was found: it can test no labels"
                )
            if rule.votes is not None:
                raise ValueError(f"{where} has points, which only the rules of a rule set have")
        elif isinstance(self.layers[layer], RuleSet):
            if rule.stops:
                raise ValueError(
                    f"{where} has a stop mark, but the rules of a rule set have no order: leave "
                    "the * out"
                )
        elif rule.votes is not None:
            raise ValueError(
                f"{where} has points, but in a list the first rule decides: leave them out"
            )

    def __repr__(self) -> str:
        return f"<EditedRules: {counted(len(self.entries), 'rule')}>"

    def places(self) -> list[Place | None]:
        """Where each rule is in the theory; None for those that are disabled."""
        places = iter(places_of(self.theory))
        return [None if entry.disabled else next(places) for entry in self.entries]


@dataclass(frozen=True)
class KeptRules:
    """The rules that are kept before and after the place of new ones, and for rows without labels.

    With `labels`, only rules for these are learned, and those for rows without labels all stay.
    """

    rules: EditedRules
    before: tuple[RuleEntry, ...]
    after: tuple[RuleEntry, ...]
    last: tuple[RuleEntry, ...]
    labels: tuple[int, ...] | None = None

    @property
    def prefix(self) -> DecisionList:
        """The rules to go on from."""
        rules = [entry.rule for entry in self.before if not entry.disabled]
        return DecisionList(self.rules.frame.schema, rules)

    @property
    def n_rules(self) -> int:
        """How many rules of the list are kept, on either side; disabled ones are no part of it."""
        return sum(not entry.disabled for entry in (*self.before, *self.after))

    def joined(self, learned: Theory, step: int) -> EditedRules:
        """All rules with the new ones in their place; those as before are known by the old id."""
        check_has_list(learned)
        kept = {entry.id for entry in (*self.before, *self.after, *self.last)}
        gone = [entry for entry in self.rules.entries if entry.id not in kept]
        old: dict[tuple[int, Rule], list[RuleEntry]] = {}
        for entry in gone:
            if not entry.disabled:
                old.setdefault((entry.layer, entry.rule), []).append(entry)
        new: list[list[RuleEntry]] = [[], []]
        next_id = self.rules.next_id
        for one in EditedRules.of(learned).entries:
            same = old.get((one.layer, one.rule))
            if same:
                new[one.layer].append(same.pop(0))
                continue
            new[one.layer].append(replace(one, id=next_id, changed=step))
            next_id += 1
        entries = (*self.before, *new[0], *self.after, *self.last, *new[1])
        return self.rules.with_entries(entries, next_id - self.rules.next_id)


def rules_kept(
    rules: EditedRules, after: int | None, labels: Sequence[str] | None, step: int
) -> KeptRules:
    """The rules that are kept when those after a rule, or for some labels, are learned again."""
    check_has_list(rules.frame)
    if labels is None:
        return _kept_after(rules, 0 if after is None else after)
    if after is not None:
        raise ValueError("give either after or labels: the rules of some labels stand anywhere")
    return _kept_of_others(rules, _label_numbers(labels, rules), step)


def check_has_list(frame: Theory) -> None:
    """Refuse theories that no learner can go on from."""
    is_list = isinstance(frame, DecisionList) or (
        isinstance(frame, LayeredTheory)
        and len(frame.layers) == 1
        and isinstance(frame.layers[0], DecisionList)
        and frame.inference == Once()
    )
    if not is_list:
        kind = "rules that vote" if not frame.ordered else "several layers"
        raise ValueError(
            f"only a decision list can be learned further, not {kind}, which are learned as a "
            "whole: change the rules by hand, or fit the learner anew and edit its model"
        )


def _kept_after(rules: EditedRules, after: int) -> KeptRules:
    """Keep all rules up to one, then locked rules; default rules stay at the end."""
    _, n_rules = rules.span(0)
    if after > n_rules and after <= len(rules.entries):
        raise ValueError(
            f"rule {after} is for rows without a label: rules are learned again after a rule of "
            f"the list, 1 to {n_rules}"
        )
    after = whole_number(after, "after", low=0, high=n_rules)
    first = rules.entries[:after]
    for number, entry in enumerate(first, 1):
        if not entry.disabled and not entry.rule.body and entry.rule.head.is_complete:
            raise ValueError(
                f"rule {number} holds for all rows and leaves nothing to learn after it: give "
                f"after={number - 1}, or move it to the end"
            )
    locked = [entry for entry in rules.entries[after:n_rules] if entry.locked]
    before = (*first, *(entry for entry in locked if entry.rule.body))
    last = tuple(entry for entry in rules.entries[n_rules:] if entry.locked)
    return KeptRules(rules, before, tuple(one for one in locked if not one.rule.body), last)


def _kept_of_others(rules: EditedRules, labels: frozenset[int], step: int) -> KeptRules:
    """The rules of other labels in their order; new ones come where the first old one was.

    If a locked rule for these labels comes later, they come after that. Rules that always hold
    stay as they are.
    """
    _, n_rules = rules.span(0)
    entries: list[RuleEntry] = []
    place = None
    for number, entry in enumerate(rules.entries[:n_rules], 1):
        concerned = bool(labels.intersection(entry.rule.head.labels)) and bool(entry.rule.body)
        if concerned and entry.locked:
            entries.append(entry)
            place = len(entries)
            continue
        if not concerned:
            entries.append(entry)
            continue
        place = len(entries) if place is None else place
        rest = _without_labels(entry.rule, labels)
        if rest is not None:
            entries.append(replace(entry, rule=rest, changed=step))
        elif entry.rule.stops and not entry.disabled:
            raise ValueError(
                f"rule {number} ends the list for the rows it covers, for other labels, too: lock "
                "it, or leave out its *, before its labels are learned again"
            )
    if place is None:  # before the rules at the end that always hold
        place = max((n for n, one in enumerate(entries, 1) if one.rule.body), default=0)
    last = rules.entries[n_rules:]
    chosen = tuple(sorted(labels))
    return KeptRules(rules, tuple(entries[:place]), tuple(entries[place:]), last, chosen)


def _without_labels(rule: Rule, labels: frozenset[int]) -> Rule | None:
    """The rule without some labels of its head; None if none is left."""
    rest = {label: value for label, value in rule.head if label not in labels}
    if not rest:
        return None
    return replace(rule, head=Head(rest, rule.head.n_labels), evidence=None)


def _label_numbers(labels: Sequence[str], rules: EditedRules) -> frozenset[int]:
    schema = rules.frame.schema
    if isinstance(labels, str) or not len(labels):
        raise ValueError(f"labels must be a list of labels, such as {list(schema.labels[:1])}")
    for name in labels:
        if name not in schema.label_index:
            near = suggestion(str(name), schema.labels)
            known = listed(schema.labels)
            raise ValueError(f"there is no label {quoted(name)}{near}: the labels are {known}")
    return frozenset(schema.label_index[name] for name in labels)
