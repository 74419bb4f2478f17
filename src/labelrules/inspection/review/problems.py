"""Find problems of a theory: by proof, and on data."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted, whole_number
from labelrules._types import UNSET, Board, Mask
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset, column_of
from labelrules.inspection.comparison import predicted
from labelrules.inspection.dependencies import label_graph
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.fixes import (
    EffectOfFixes,
    Finding,
    Findings,
    fix_of,
    listed_rules,
    sorted_findings,
)
from labelrules.inspection.review.regions import (
    ProofSteps,
    Reach,
    TheoryPart,
    conflicting_rules,
    implied_conditions,
    parts_of,
    reach_of,
    region_of,
)
from labelrules.inspection.summaries import doubtful_rules, places_of
from labelrules.inspection.tracing import rows_and_truth
from labelrules.rules import (
    Body,
    Condition,
    DecisionList,
    Gibbs,
    Head,
    LayeredTheory,
    Rule,
    RuleSet,
    Theory,
    is_more_general,
    rule_text,
    theory_of,
)
from labelrules.rules.language.text import condition_text, label_text
from labelrules.rules.run import PartRun, usage_of


def findings(theory: Any, data: Any = None, *, max_steps: int = 1_000_000) -> Findings:
    r"""Find rules that do nothing, contradict others, or are more often wrong than right.

    What follows from the rules alone is proved: rows are divided into regions on which the list
    does the same, with all values that features may have, missing ones too. A proof that would
    take too long is given up, and nothing is claimed. What is found on data holds on these rows.

    Each finding has a sentence, and most have a fix, an edit with its exact effect: whether it is
    proved that no prediction changes, or how many change on the data.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
    data : Dataset, array, sparse matrix or frame, optional
        Rows to look at; true labels are taken from a Dataset only.
    max_steps : int
        Rules that all proofs together may check on regions, some five million in a minute; then
        further proofs are given up.

    Returns
    -------
    Findings
        Those that are proved come first. Conflicts are looked for in lists, where the earlier rule
        decides: in the rows of the data, or without data wherever both rules could hold.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = '''
    ... quality <- sex = Female
    ... quality <- sex = Female, children = No
    ... not sports <- quality
    ... sports <- marital = Divorced, marital = Single
    ... '''
    >>> found = findings(parse(text, load("magazines").schema))
    >>> for one in found.found[:2]:
    ...     print(one)
    Rule 4 can never hold: no value satisfies `marital = Divorced` and `marital = Single`.
      remove rule 4: keeps every prediction, whatever the row (proved)
    Rule 2 says nothing new: rule 1 predicts it for more rows.
      remove rule 2: keeps every prediction, whatever the row (proved)
    """
    max_steps = whole_number(max_steps, "max_steps", low=0)
    theory = theory_of(theory)
    rows, truth = (None, None) if data is None else rows_and_truth(theory, data)
    effects = EffectOfFixes(theory, rows, truth, ProofSteps(max_steps))
    found = list(rules_without_effect(theory, effects))
    always_absent = dict(labels_never_present(theory))
    if rows is None:
        found += [*doubtful(theory, effects, False), *_possible_conflicts(theory)]
        found += [*circular_labels(theory), *always_absent.values()]
        return Findings(theory, sorted_findings(found))
    useless = {one.places[0] for one in found if one.effect and one.effect.proved}
    if truth is not None:
        found += doubtful(with_counts(theory, rows, truth, effects), effects, True)
    found += conflicts(theory, rows, truth, effects)
    found += circular_labels(theory)
    found += constant_labels(theory, rows, truth, always_absent)
    on_data = [*unused_rules(theory, rows, effects)]
    on_data += conditions_without_effect(theory, rows, effects)
    # What is proved is not said again for these rows.
    found += [one for one in on_data if one.places[0] not in useless]
    return Findings(theory, sorted_findings(found), len(rows))


def _possible_conflicts(theory: Theory) -> list[Finding]:
    """Pairs of rules of lists that predict opposite values and could hold for the same row.

    A default rule, which holds for every row, is there to be overruled.
    """
    places = places_of(theory)
    can_lose = [part.ordered and bool(rule.body) for part in theory.parts for rule in part]
    return [
        Finding(
            "conflict",
            (places[earlier], places[later]),
            f"{str(places[earlier]).capitalize()} and {places[later]} can hold for the same row "
            "and disagree: the first of them decides.",
        )
        for later, others in conflicting_rules(theory)
        for earlier in others
        if can_lose[later]
    ]


def rules_without_effect(theory: Theory, effects: EffectOfFixes) -> Iterator[Finding]:
    """Contradictory, duplicate, subsumed, unreachable and superfluous rules, each once."""
    for part in parts_of(theory):
        for number, rule in enumerate(part.rules):
            found = _without_effect(part, number, rule, effects)
            if found is None and rule.body:
                found = _redundant_conditions(part, number, rule, effects)
            if found is not None:
                yield found


def _without_effect(
    part: TheoryPart, number: int, rule: Rule, effects: EffectOfFixes
) -> Finding | None:
    place, fix = part.place(number), fix_of(part.place(number), "remove")
    if region_of(rule.body, part.schema) is None:
        pair = " and ".join(f"`{one}`" for one in _contradiction(rule.body, part.schema))
        sentence = f"{_subject(place)} can never hold: no value satisfies {pair}."
        return Finding("contradictory body", (place,), sentence, fix, effects.of(fix, True))
    if not part.rules.ordered:
        return _twin_in_set(part, number, rule, effects)
    seen = effects.written_by(part.start + number) if part.in_rounds else frozenset()
    subsumed = None if seen else part.subsumed_by(number)
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
    part: TheoryPart, number: int, rule: Rule, seen: frozenset[int], steps: ProofSteps
) -> Reach | None:
    """What a rule can do on some row: by proof, unless it is seen to write its labels."""
    head = frozenset(rule.head.labels)
    # A head of all labels is not shortened, so one of them is enough.
    if seen and (seen == head or rule.head.is_complete):
        return Reach(True, head, frozenset())
    return reach_of(part, number, steps)


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
    part: TheoryPart, number: int, rule: Rule, effects: EffectOfFixes
) -> Finding | None:
    """A rule that a set has twice: its votes count twice."""
    twin = next((i for i in range(number) if part.rules[i] == rule), None)
    if twin is None:
        return None
    places = (part.place(number), part.place(twin))
    fix = fix_of(places[0], "remove")
    sentence = f"{_subject(places[0])} is the same as {places[1]}, so that it votes twice."
    return Finding("duplicate", places, sentence, fix, effects.of(fix))


def _says_the_same(part: TheoryPart, number: int, rule: Rule) -> int:
    """The number, from 1, of the first earlier rule with as general a body and the same labels."""
    for earlier, other in enumerate(part.rules.rules[:number]):
        says_it = set(rule.head) <= set(other.head) and (other.stops or not rule.stops)
        if says_it and is_more_general(other, rule, part.schema):
            return earlier + 1
    return 0


def _subsumed(part: TheoryPart, earlier: int, number: int, fix: object, effect: object) -> Finding:
    one, other = part.rules[earlier], part.rules[number]
    places = (part.place(number), part.place(earlier))
    if one == other:
        sentence = f"{_subject(places[0])} is the same as {places[1]}."
        return Finding("duplicate", places, sentence, fix, effect)  # type: ignore[arg-type]
    sentence = f"{_subject(places[0])} says nothing new: {places[1]} predicts it for more rows."
    if is_more_general(other, one, part.schema):
        sentence = f"{_subject(places[0])} says nothing new: {places[1]} has an equal body."
    return Finding("subsumed", places, sentence, fix, effect)  # type: ignore[arg-type]


def _reason(part: TheoryPart, before: list[int]) -> str:
    if not before:
        return "the labels that it tests never have these values when its turn comes"
    rules = listed_rules(map(part.place, before))
    verb = "comes" if len(before) == 1 else "come"
    return f"{rules} {verb} before it for every row that it covers"


def _unreachable_labels(
    part: TheoryPart, number: int, rule: Rule, reach: Reach, effects: EffectOfFixes
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


def _with_body(rule: Rule, body: Body, schema: Schema) -> str:
    """The text of a rule with another body."""
    return rule_text(replace(rule, body=body, evidence=None), schema)


def _superfluous(part: TheoryPart, number: int, effects: EffectOfFixes) -> Finding | None:
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
    part: TheoryPart, number: int, rule: Rule, effects: EffectOfFixes
) -> Finding | None:
    implied = implied_conditions(rule.body, part.schema)
    if not implied:
        return None
    place = part.place(number)
    body = Body(one for one in rule.body if one not in implied)
    texts = " and ".join(f"`{condition_text(one, part.schema)}`" for one in implied)
    follow = "follows" if len(implied) == 1 else "follow"
    sentence = f"In {place} {texts} {follow} from the other conditions."
    fix = fix_of(place, "replace", _with_body(rule, body, part.schema))
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
    parts = theory.parts
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


def doubtful(theory: Theory, effects: EffectOfFixes, counted_on_data: bool) -> Iterator[Finding]:
    """Rules that were more often wrong than right for some label, by their evidence."""
    labels: dict[Place, list[tuple[int, int, int]]] = defaultdict(list)
    index = theory.schema.label_index
    for one in doubtful_rules(theory):
        labels[one.place].append((index[one.label], one.right, one.wrong))
    where = "in these data" if counted_on_data else "by its evidence"
    rules = dict(zip(places_of(theory), theory, strict=True))
    for place, wrong_labels in labels.items():
        counts = ", ".join(
            f"{label_text(theory.schema.labels[label])} {right}/{wrong}"
            for label, right, wrong in wrong_labels
        )
        sentence = (
            f"{str(place).capitalize()} is more often wrong than right {where}: {counts} "
            "(right/wrong)."
        )
        lost = {label for label, _, _ in wrong_labels}
        left = {label: value for label, value in rules[place].head if label not in lost}
        fix = fix_of(place, "remove")
        if left:
            fix = fix_of(place, "replace", _with_head(rules[place], left, theory.schema))
        n_wrong = sum(wrong for _, _, wrong in wrong_labels) if counted_on_data else None
        yield Finding(
            "more often wrong than right", (place,), sentence, fix, effects.of(fix), n_wrong
        )


class _Dispute(NamedTuple):
    """Cells that an earlier rule wrote and a later one would have written otherwise."""

    rows: list[Mask]
    labels: list[int]
    n_right: list[int]
    n_later_right: list[int]


def conflicts(
    theory: Theory, rows: Dataset, truth: Board | None, effects: EffectOfFixes
) -> Iterator[Finding]:
    """Pairs of rules of a list that give a label different values in the same row.

    A default rule is left out: it holds wherever an earlier rule does, so that it would be right in
    as many of these cells as that rule is wrong, which `doubtful` reports.
    """
    places = places_of(theory)
    for part, fired in zip(effects.runs, effects.fired, strict=True):
        if part.rules.ordered:
            for (winner, loser), dispute in sorted(_disputes(part, fired, truth).items()):
                pair = places[part.start + winner], places[part.start + loser]
                yield _conflict(theory, pair, dispute, effects, truth is not None)


def _disputes(
    part: PartRun, fired: Sequence[npt.NDArray[np.uint8]], truth: Board | None
) -> dict[tuple[int, int], _Dispute]:
    disputes: dict[tuple[int, int], _Dispute] = {}
    board, writer = part.run.board, part.run.writer
    for number, rule in enumerate(part.rules):
        fires = np.unpackbits(fired[number], count=len(board)).view(np.bool_)
        for label, value in rule.head if rule.body else ():
            overruled = np.flatnonzero(fires & (board[:, label] == 1 - value))
            winners = writer[overruled, label]
            for winner in np.unique(winners[winners >= 0]).tolist():
                cells = overruled[winners == winner]
                mask = np.zeros(len(board), dtype=np.bool_)
                mask[cells] = True
                dispute = disputes.setdefault((winner, number), _Dispute([], [], [], []))
                dispute.rows.append(mask)
                dispute.labels.append(label)
                if truth is not None:
                    values = truth[cells, label]
                    dispute.n_right.append(int((values == 1 - value).sum()))
                    dispute.n_later_right.append(int((values == value).sum()))
    return disputes


def _conflict(
    theory: Theory,
    pair: tuple[Place, Place],
    dispute: _Dispute,
    effects: EffectOfFixes,
    has_truth: bool,
) -> Finding:
    winner, loser = pair
    n_rows = int(np.logical_or.reduce(dispute.rows).sum())
    names = " and ".join(label_text(theory.schema.labels[label]) for label in dispute.labels)
    sentence = (
        f"{str(winner).capitalize()} and {loser} disagree on {names} in "
        f"{counted(n_rows, 'row')}: {winner} comes first and decides."
    )
    if not has_truth:
        return Finding("conflict", pair, sentence, n_rows=n_rows)
    n_right, n_later_right = sum(dispute.n_right), sum(dispute.n_later_right)
    sentence = f"{sentence[:-1]}; it is right {n_right} times, the other would be {n_later_right}."
    if n_later_right <= n_right:
        return Finding("conflict", pair, sentence, n_rows=n_rows)
    fix = fix_of(loser, "move", to=winner)
    return Finding("conflict", pair[::-1], sentence, fix, effects.of(fix), n_rows)


def unused_rules(theory: Theory, rows: Dataset, effects: EffectOfFixes) -> Iterator[Finding]:
    """Rules without effect on these rows: they decide nothing there, and end no row."""
    places = places_of(theory)
    idle = [number for number in range(len(places)) if not effects.written_by(number)]
    if not idle or not len(rows):
        return
    covered = _covered_by_idle_rules(theory, rows, idle, effects)
    for number, n_covered in covered.items():
        place = places[number]
        why = f"other rules decide in all {n_covered:,}" if n_covered else "it covers none"
        sentence = f"{str(place).capitalize()} decides nothing in these data: {why}."
        if n_covered == 1:
            sentence = sentence.replace("in all 1.", "in the only row that it covers.")
        fix = fix_of(place, "remove")
        yield Finding("unused", (place,), sentence, fix, effects.of(fix), n_covered)


def _covered_by_idle_rules(
    theory: Theory, rows: Dataset, idle: Sequence[int], effects: EffectOfFixes
) -> dict[int, int]:
    """The rules, of those that write nothing, that do nothing else; and the rows of each."""
    if not isinstance(theory, DecisionList):
        usage = usage_of(theory, rows)
        return {n: int(usage.counts[0, n]) for n in idle if not usage.is_reached[n]}
    n_covered = {number: int(np.bitwise_count(effects.fired[0][number]).sum()) for number in idle}
    return {n: count for n, count in n_covered.items() if not (theory[n].stops and count)}


def conditions_without_effect(
    theory: Theory, rows: Dataset, effects: EffectOfFixes
) -> Iterator[Finding]:
    """Conditions that exclude no row for which the rule would have something to do."""
    # Rules that are sampled by their evidence would need it counted anew.
    if isinstance(theory.inference, Gibbs):
        return
    places = places_of(theory)
    for part in effects.runs:
        for number, rule, going in part.reached():
            useful = going & _has_work(part, number, rule)
            for condition in _excluding_none(part, number, rule, rows, useful):
                place = places[part.start + number]
                yield _without_condition(theory, place, rule, condition, effects)


def _has_work(part: PartRun, number: int, rule: Rule) -> Mask:
    """The rows with an open label of the head at this place; all if the rule stops or votes."""
    if rule.stops or not part.rules.ordered:
        return np.ones(len(part.run.board), dtype=np.bool_)
    writer = part.run.writer[:, list(rule.head.labels)]
    return np.asarray(((writer < 0) | (writer >= number)).any(axis=1))


def _excluding_none(
    part: PartRun, number: int, rule: Rule, rows: Dataset, useful: Mask
) -> Iterator[int]:
    """The places of the conditions that no useful row fails alone."""
    fails = []
    for one in rule.body:
        on_label = one.on_label
        values = part.before(number, one.column) if on_label else column_of(rows.X, one.column)
        fails.append(~one.holds(values))
    n_fails = np.zeros(len(rows), np.uint16)
    for failed in fails:
        n_fails += failed
    if not (useful & (n_fails == 0)).any():
        return
    alone = useful & (n_fails == 1)
    for place, failed in enumerate(fails):
        if not (alone & failed).any():
            yield place


def _without_condition(
    theory: Theory, place: Place, rule: Rule, number: int, effects: EffectOfFixes
) -> Finding:
    condition = rule.body.conditions[number]
    text = condition_text(condition, theory.schema)
    body = Body(one for one in rule.body if one is not condition)
    fix = fix_of(place, "replace", _with_body(rule, body, theory.schema))
    sentence = f"In {place} `{text}` excludes no row of these data that the rule could decide."
    return Finding("condition without effect", (place,), sentence, fix, effects.of(fix))


def constant_labels(
    theory: Theory, rows: Dataset, truth: Board | None, known: dict[int, Finding]
) -> Iterator[Finding]:
    """Labels with the same prediction in all rows; those `known` to be always absent are, too."""
    board = predicted(theory, rows)
    for label, name in enumerate(theory.schema.labels):
        values = board[:, label]
        if len(values) < 2 or (values != values[0]).any():
            continue
        present = bool(values[0])
        finding = known.get(label) or Finding(
            "constant label",
            (),
            f"{label_text(name)} is {'present' if present else 'absent'} in all "
            f"{counted(len(rows), 'row')} by these rules.",
        )
        if truth is None:
            yield finding
            continue
        n_other = int(((truth[:, label] != UNSET) & (truth[:, label] != present)).sum())
        other = "absent" if present else "present"
        sentence = f"{finding.sentence[:-1]}; in truth it is {other} in {counted(n_other, 'row')}."
        yield finding._replace(sentence=sentence, n_rows=n_other)


def with_counts(theory: Theory, rows: Dataset, truth: Board, effects: EffectOfFixes) -> Theory:
    """The theory with evidence counted on these rows; rule sets, whose rules vote, as they are."""
    if isinstance(theory, DecisionList):
        return theory.with_counts(effects.runs[0].run, truth, rows.weights)
    return theory.with_evidence(rows, truth) if isinstance(theory, LayeredTheory) else theory
