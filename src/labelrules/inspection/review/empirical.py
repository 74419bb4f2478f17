"""Findings on data: what rules do on these rows, and may do otherwise on others."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted
from labelrules._types import UNSET, Board, Mask
from labelrules.data.table import Dataset, column_of
from labelrules.inspection.comparison import predicted
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.fixes import EffectOfFixes, fix_of
from labelrules.inspection.review.values import Finding
from labelrules.inspection.rule_usage import PartRun, usage_of
from labelrules.inspection.summaries import doubtful_rules, places_of
from labelrules.rules import (
    Body,
    DecisionList,
    Gibbs,
    Head,
    LayeredTheory,
    Rule,
    Theory,
    rule_text,
)
from labelrules.rules.language.text import condition_text, label_text


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
            rule = rules[place]
            new = Rule(Head(left, theory.schema.n_labels), rule.body, rule.stops, note=rule.note)
            fix = fix_of(place, "replace", rule_text(new, theory.schema))
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
    if isinstance(theory, LayeredTheory) and isinstance(theory.inference, Gibbs):
        return
    places = places_of(theory)
    for part in effects.runs:
        for number, rule, going in part.reached(rows):
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
        values = (
            part.labels_before(number, one.column) if on_label else column_of(rows.X, one.column)
        )
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
    new = Rule(rule.head, body, rule.stops, votes=rule.votes, note=rule.note)
    fix = fix_of(place, "replace", rule_text(new, theory.schema))
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
