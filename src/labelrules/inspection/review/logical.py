"""Findings that hold whatever the data: they follow from the rules alone."""

from collections.abc import Iterator
from typing import NamedTuple

from labelrules.data.schema import Schema
from labelrules.inspection.dependencies import label_graph
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.fixes import EffectOfFixes, fix_of, inference_of_part
from labelrules.inspection.review.regions import (
    ProofSteps,
    Reach,
    implied_conditions,
    reach_of,
    region_of,
)
from labelrules.inspection.review.values import Finding, listed_rules
from labelrules.inspection.rule_usage import TheoryPart, parts_of
from labelrules.inspection.summaries import places_of
from labelrules.rules import (
    Body,
    Condition,
    Head,
    LayeredTheory,
    Once,
    Rule,
    RuleSet,
    Theory,
    UntilStable,
    is_more_general,
    rule_text,
)
from labelrules.rules.language.text import condition_text, label_text


class PlacedPart(NamedTuple):
    """A list or set of rules, and where its rules stand."""

    part: TheoryPart
    places: tuple[Place, ...]
    schema: Schema
    in_rounds: bool  # whether one may say what it does from one application to a row

    def place(self, number: int) -> Place:
        """Where the rule with this number in the part stands."""
        return self.places[self.part.start + number]


def placed_parts(theory: Theory) -> list[PlacedPart]:
    """The parts of a theory, with the places of their rules."""
    places = places_of(theory)
    is_plain = isinstance(inference_of_part(theory), Once | UntilStable)
    return [PlacedPart(part, places, theory.schema, is_plain) for part in parts_of(theory)]


def rules_without_effect(theory: Theory, effects: EffectOfFixes) -> Iterator[Finding]:
    """Contradictory, duplicate, subsumed, unreachable and superfluous rules, each once."""
    for part in placed_parts(theory):
        for number, rule in enumerate(part.part.rules):
            found = _without_effect(part, number, rule, effects)
            if found is None and rule.body:
                found = _redundant_conditions(part, number, rule, effects)
            if found is not None:
                yield found


def _without_effect(
    part: PlacedPart, number: int, rule: Rule, effects: EffectOfFixes
) -> Finding | None:
    place, fix = part.place(number), fix_of(part.place(number), "remove")
    if region_of(rule.body, part.schema) is None:
        pair = " and ".join(f"`{one}`" for one in _contradiction(rule.body, part.schema))
        sentence = f"{_subject(place)} can never hold: no value satisfies {pair}."
        return Finding("contradictory body", (place,), sentence, fix, effects.of(fix, True))
    if not part.part.rules.ordered:
        return _twin_in_set(part, number, rule, effects)
    seen = effects.written_by(part.part.start + number) if part.in_rounds else frozenset()
    subsumed = None if seen else part.part.subsumed_by(number)
    earlier = _says_the_same(part, number, rule)
    if earlier and subsumed is not None:
        return _subsumed(part, earlier - 1, number, fix, effects.of(fix, True))
    reach = _reach(part, number, rule, seen, effects.steps) if part.in_rounds else None
    proved = subsumed is not None or _is_unreached(reach)
    if earlier:
        fix_effect = effects.of(fix, proved or None)
        if fix_effect.proved:
            return _subsumed(part, earlier - 1, number, fix, fix_effect)
    if proved:
        before = sorted(reach.before) if reach else subsumed or []
        sentence = f"{_subject(place)} can never write anything: {_reason(part, before)}."
        places = (place, *map(part.place, before))
        return Finding("unreachable", places, sentence, fix, effects.of(fix, True))
    if reach is not None and reach.labels < frozenset(rule.head.labels):
        return _unreachable_labels(part, number, rule, reach, effects)
    return _superfluous(part, number, effects) if part.in_rounds else None


def _reach(
    part: PlacedPart, number: int, rule: Rule, seen: frozenset[int], steps: ProofSteps
) -> Reach | None:
    """What a rule can do on some row: by proof, unless it is seen to write its labels."""
    head = frozenset(rule.head.labels)
    # A head of all labels is not shortened, so one of them is enough.
    if seen and (seen == head or rule.head.is_complete):
        return Reach(True, head, frozenset())
    return reach_of(part.part, number, part.schema, steps)


def _is_unreached(reach: Reach | None) -> bool:
    return reach is not None and not reach.is_reached


def _contradiction(body: Body, schema: Schema) -> list[str]:
    """The first conditions that cannot hold together: one, two, or more on the same column."""
    by_column: dict[tuple[bool, int], list[Condition]] = {}
    for condition in body:
        tests = by_column.setdefault((condition.on_label, condition.column), [])
        tests.append(condition)
        if region_of(tests, schema) is None:
            for other in list(tests):
                fewer = [one for one in tests if one is not other]
                if fewer and region_of(fewer, schema) is None:
                    tests = fewer
            return [condition_text(one, schema) for one in tests]
    return []


def _twin_in_set(
    part: PlacedPart, number: int, rule: Rule, effects: EffectOfFixes
) -> Finding | None:
    """A rule that a set has twice: its votes count twice."""
    twin = next((i for i in range(number) if part.part.rules[i] == rule), None)
    if twin is None:
        return None
    places = (part.place(number), part.place(twin))
    fix = fix_of(places[0], "remove")
    sentence = f"{_subject(places[0])} is the same as {places[1]}, so that it votes twice."
    return Finding("duplicate", places, sentence, fix, effects.of(fix))


def _says_the_same(part: PlacedPart, number: int, rule: Rule) -> int:
    """The number, from 1, of the first earlier rule with as general a body and the same labels."""
    for earlier, other in enumerate(part.part.rules.rules[:number]):
        says_it = set(rule.head) <= set(other.head) and (other.stops or not rule.stops)
        if says_it and is_more_general(other, rule, part.schema):
            return earlier + 1
    return 0


def _subsumed(part: PlacedPart, earlier: int, number: int, fix: object, effect: object) -> Finding:
    one, other = part.part.rules[earlier], part.part.rules[number]
    places = (part.place(number), part.place(earlier))
    if one == other:
        sentence = f"{_subject(places[0])} is the same as {places[1]}."
        return Finding("duplicate", places, sentence, fix, effect)  # type: ignore[arg-type]
    sentence = f"{_subject(places[0])} says nothing new: {places[1]} predicts it for more rows."
    if is_more_general(other, one, part.schema):
        sentence = f"{_subject(places[0])} says nothing new: {places[1]} has an equal body."
    return Finding("subsumed", places, sentence, fix, effect)  # type: ignore[arg-type]


def _reason(part: PlacedPart, before: list[int]) -> str:
    if not before:
        return "the labels that it tests never have these values when its turn comes"
    rules = listed_rules(map(part.place, before))
    verb = "comes" if len(before) == 1 else "come"
    return f"{rules} {verb} before it for every row that it covers"


def _unreachable_labels(
    part: PlacedPart, number: int, rule: Rule, reach: Reach, effects: EffectOfFixes
) -> Finding:
    """Some labels of a head that the rule can never be the first to write."""
    place = part.place(number)
    lost = [label for label in rule.head.labels if label not in reach.labels]
    left = {label: value for label, value in rule.head if label in reach.labels}
    names = " and ".join(label_text(part.schema.labels[label]) for label in lost)
    reason = _reason(part, sorted(reach.before)) if reach.before else "it is written before"
    sentence = f"{_subject(place)} can never write {names}: {reason}."
    if not left:  # it only ends the list
        return Finding("unreachable label", (place,), sentence)
    fix = fix_of(place, "replace", _with_head(rule, left, part.schema))
    return Finding("unreachable label", (place,), sentence, fix, effects.of(fix))


def _with_head(rule: Rule, literals: dict[int, int], schema: Schema) -> str:
    """The text of a rule with another head."""
    head = Head(literals, schema.n_labels)
    return rule_text(Rule(head, rule.body, rule.stops, note=rule.note), schema)


def _superfluous(part: PlacedPart, number: int, effects: EffectOfFixes) -> Finding | None:
    place = part.place(number)
    fix = fix_of(place, "remove")
    effect = effects.of_proof(fix)
    if effect is None:
        return None
    sentence = (
        f"{_subject(place)} changes nothing: without it, later rules or the default give every "
        "row the same labels."
    )
    return Finding("superfluous", (place,), sentence, fix, effect)


def _redundant_conditions(
    part: PlacedPart, number: int, rule: Rule, effects: EffectOfFixes
) -> Finding | None:
    implied = implied_conditions(rule.body, part.schema)
    if not implied:
        return None
    place = part.place(number)
    body = Body(one for one in rule.body if one not in implied)
    texts = " and ".join(f"`{condition_text(one, part.schema)}`" for one in implied)
    follow = "follows" if len(implied) == 1 else "follow"
    sentence = f"In {place} {texts} {follow} from the other conditions."
    new = Rule(rule.head, body, rule.stops, votes=rule.votes, note=rule.note)
    fix = fix_of(place, "replace", rule_text(new, part.schema))
    return Finding("redundant condition", (place,), sentence, fix, effects.of(fix))


def _subject(place: Place) -> str:
    text = str(place)
    return text[0].upper() + text[1:]


def circular_labels(theory: Theory) -> Iterator[Finding]:
    """Labels that depend on each other, directly or by way of others."""
    graph, places = label_graph(theory), places_of(theory)
    for group in graph.components():
        labels = {theory.schema.label_index[name] for name in group}
        rules = tuple(
            place
            for place, rule in zip(places, theory, strict=True)
            if labels & set(rule.head.labels)
            and labels & {condition.column for condition in rule.body.on_labels}
        )
        names = ", ".join(map(label_text, group))
        what = "depends on itself" if len(group) == 1 else "depend on each other"
        sentence = f"{names} {what}, by {len(rules)} rules: {_what_decides(theory)}."
        yield Finding("circular labels", rules, sentence.replace("by 1 rules", "by 1 rule"))


def _what_decides(theory: Theory) -> str:
    if isinstance(theory, LayeredTheory):
        return "labels of one layer give those of the next, and in rounds they may flip"
    if isinstance(theory, RuleSet):
        return "rules of a set are tested before any of them votes"
    return "the order of the rules decides which is found first"


def labels_never_present(theory: Theory) -> Iterator[tuple[int, Finding]]:
    """Labels that no rule predicts present, by their numbers."""
    parts = theory.parts if isinstance(theory, LayeredTheory) else (theory,)
    last = parts if len(parts) == 1 else (parts[-1], *parts[:-1])
    sets = [one for part in last if isinstance(part, RuleSet) for one in part.label_sets]
    given = {literal for rule in theory for literal in rule.head}
    given |= {(label, 1) for one in sets for label in one.labels}
    decides = any(isinstance(part, RuleSet) and part.at_least_one for part in parts)
    for label, name in enumerate(theory.schema.labels):
        if (label, 1) not in given and not decides:
            rules = tuple(
                place
                for place, rule in zip(places_of(theory), theory, strict=True)
                if label in rule.head.labels
            )
            sentence = f"No rule predicts {label_text(name)} present, so it is always absent."
            yield label, Finding("constant label", rules, sentence)
