"""Which rules are kept when others are learned again, and where the new ones come."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from labelrules._checks import listed, quoted, suggestion, whole_number
from labelrules.rules import DecisionList, Head, LayeredTheory, Once, Rule, Theory
from labelrules.studio.edited_rules import EditedRules, RuleEntry


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
    """Everything up to a rule, then locked rules; those that always hold stay at the end."""
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
