"""Separate-and-conquer as the chapter's figure has it: slow, obvious, in plain Python.

One row, one cell, one candidate at a time; nothing is kept that could be counted again. Ties are
settled by `max`, which takes the first of the greatest, so that the order in which candidates are
listed is the whole rule.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import isnan

import numpy as np

from labelrules import UNSET, Body, Condition, Dataset, DecisionList, Head, Rule
from labelrules.data.codes.thresholds import simplest_between
from labelrules.measures import Measure
from labelrules.search import best_head, no_bonus
from twins.table import (
    Candidate,
    Literal,
    Settings,
    Table,
    covered_rows,
    covers,
    inside,
    right,
    score,
)

MERGED = ("precision", "recall", "hamming", "f")
"""Formulas whose micro-average over several labels is the best where each label's is the best."""


# ---------------------------------------------------------------- the figure's loop


def learn(data: Dataset, settings: Settings) -> DecisionList:
    """Find the best rule, apply it, add it; until nothing is left."""
    data = data.take([any(value != UNSET for value in labels) for labels in data.Y])
    table = Table(data, settings)
    rules: list[Rule] = []
    while not is_finished(table, rules):
        found = find_best_rule(table)
        if found is None or not is_worth_adding(table, found):
            break
        rule = apply_rule(table, found)
        rules = [rule, *rules] if settings.order == "prepend" else [*rules, rule]
    default = default_rule(table)
    if has_default_rule(settings, default) and not ends_with_default(rules):
        rules.append(default)
    return DecisionList(data.schema, rules).with_evidence(data, data.Y)


def is_finished(table: Table, rules: list[Rule]) -> bool:
    """Enough rules, or hardly a cell left."""
    limit = table.settings.max_rules
    if limit is not None and len(rules) >= limit:
        return True
    if table.settings.order == "prepend":
        return False
    left = [(i, j) for i in table.rows for j in table.labels if table.counts(i, (j, 1))]
    n_known = sum(value != UNSET for row in table.truth for value in row)
    return len(left) <= table.settings.open_share * n_known


def is_worth_adding(table: Table, found: Candidate) -> bool:
    """A rule that changes predictions must set more of them right than wrong."""
    if table.settings.order == "append":
        return True
    changed = [
        table.truth[row][label] == value
        for row in covered_rows(table, found.body)
        for label, value in found.head
        if table.counts(row, (label, value))
    ]
    return changed.count(True) > changed.count(False)


def apply_rule(table: Table, found: Candidate) -> Rule:
    """Write the head where the rule fires; end the rows if hardly one of them is incomplete."""
    fired = [row for row in covered_rows(table, found.body) if not table.ended[row]]
    for row in fired:
        for label, value in found.head:
            if table.is_new(row, (label, value)):
                table.board[row][label] = value
    stops = is_stopping(table, found.head, fired)
    for row in fired:
        table.ended[row] = stops
    return Rule(Head(dict(found.head), len(table.labels)), Body(not_implied(found.body)), stops)


def not_implied(body: Sequence[Condition]) -> list[Condition]:
    """The conditions that no tighter condition on the same column implies."""
    return [one for one in body if not any(is_tighter(other, one) for other in body)]


def is_tighter(other: Condition, one: Condition) -> bool:
    """Whether a condition on the same column holds for fewer values only."""
    if (other.on_label, other.column) != (one.on_label, one.column):
        return False
    return {
        "<=": other.operator == "<=" and other.value < one.value,
        ">": other.operator == ">" and other.value > one.value,
        "!=": other.operator == "=",
    }.get(one.operator, False)


def is_stopping(table: Table, head: tuple[Literal, ...], fired: list[int]) -> bool:
    """The chapter's star; where every label is named it would say nothing new."""
    share = table.settings.stop_share
    if share is None or table.settings.order == "prepend" or len(head) == len(table.labels):
        return False
    return sum(table.is_incomplete(row) for row in fired) / len(fired) <= share


def has_default_rule(settings: Settings, default: Rule) -> bool:
    """On request; else where rules name the rarer values only and it predicts a label present."""
    if settings.default_rule is None:
        return settings.polarity == "rarer" and 1 in default.head.values
    return settings.default_rule


def ends_with_default(rules: list[Rule]) -> bool:
    """Whether nothing is left to be said after the last rule."""
    return bool(rules) and not len(rules[-1].body) and rules[-1].head.is_complete


def default_rule(table: Table) -> Rule:
    """For each label what is more frequent where it is still open, else what is in all rows."""
    head = {}
    for label in table.labels:
        known = [row for row in table.rows if table.truth[row][label] != UNSET]
        left = [row for row in known if table.board[row][label] == UNSET] or known
        values = [table.truth[row][label] for row in left]
        head[label] = int(values.count(1) > values.count(0))
    return Rule(Head(head, len(table.labels)))


# ---------------------------------------------------------------- the best rule


def find_best_rule(table: Table) -> Candidate | None:
    """Add conditions as long as they make a rule better, keeping the best few of each length."""
    settings = table.settings
    root = None if settings.required else best_rule(table, ())
    best, level, length = root, [root], 0
    while level and length != settings.max_conditions:
        length += 1
        better = [child for parent in level for child in improvements(table, parent)]
        level = different(sorted(better, key=lambda child: child.merit, reverse=True))
        level = level[: settings.beam_width]
        best = max([one for one in (best, *level) if one], key=lambda one: one.merit, default=None)
    return best


def improvements(table: Table, parent: Candidate | None) -> Iterator[Candidate]:
    """All rules with one more condition that are better than without it."""
    body = parent.body if parent else ()
    fixed = parent.head if parent and body and table.settings.fixed_head else None
    for condition in candidate_conditions(table, body):
        longer = (*body, condition)
        child = with_head(table, longer, fixed) if fixed else best_rule(table, longer)
        if child and (parent is None or is_better(child, parent, table.settings.min_gain)):
            yield child


def is_better(child: Candidate, parent: Candidate, min_gain: float) -> bool:
    return child.merit > parent.merit and child.merit[0] - parent.merit[0] >= min_gain


def different(found: list[Candidate]) -> list[Candidate]:
    """The first of those whose bodies mean the same."""
    first: dict[Body, Candidate] = {}
    for one in found:
        first.setdefault(Body(one.body), one)
    return list(first.values())


# ---------------------------------------------------------------- conditions


def candidate_conditions(table: Table, body: tuple[Condition, ...]) -> Iterator[Condition]:
    """Features by number, then labels by number."""
    covered = covered_rows(table, body)
    for j, feature in enumerate(table.data.schema.features):
        if feature.name in table.settings.forbidden:
            continue
        values = known_values(table, j, covered)
        remaining = known_values(table, j, [i for i in covered if remains(table, i)])
        tests = cuts(j, values, remaining) if feature.is_numeric else choices(j, values)
        yield from (test for test in tests if test.operator in table.settings.operators)
    if table.settings.label_conditions and table.settings.order == "append":
        for label in table.labels:
            written = {table.board[i][label] for i in covered}
            yield from (Condition.label(label, value) for value in (0, 1) if value in written)


def known_values(table: Table, j: int, rows: list[int]) -> list[float]:
    """The different values of a feature, rising."""
    return sorted({x for i in rows if not isnan(x := table.columns[j][i])})


def remains(table: Table, row: int) -> bool:
    """Whether the row is still in the table; none leaves while rules are put in front."""
    stays = table.settings.readd == "all" or table.settings.order == "prepend"
    return not table.ended[row] and (stays or table.is_incomplete(row))


def cuts(j: int, values: list[float], remaining: list[float]) -> Iterator[Condition]:
    """Between any two neighbouring values; rows that have left do not narrow the gap."""
    for low, high in pairwise(values):
        below = max((x for x in remaining if x <= low), default=low)
        above = min((x for x in remaining if x >= high), default=high)
        threshold = simplest_between(below, above)
        yield Condition.at_most(j, threshold)
        yield Condition.above(j, threshold)


def choices(j: int, codes: list[float]) -> Iterator[Condition]:
    """Each category that occurs, then all but one; of two categories the one is not the other."""
    yield from (Condition.equals(j, int(code)) for code in codes)
    if len(codes) > 2:
        yield from (Condition.differs(j, int(code)) for code in codes)


# ---------------------------------------------------------------- heads


def best_rule(table: Table, body: tuple[Condition, ...]) -> Candidate | None:
    """The body with its best head, if there is any."""
    if not is_decided_by_literals(table):
        return searched(table, body)
    scored = scored_literals(table, body, every_literal(table))
    if not scored:
        return None
    if is_single(table):
        literal = max(scored, key=lambda one: scored[one])
        return Candidate(scored[literal], (literal,), body)
    value = max(score for score, _ in scored.values())
    head = tied(scored, value, largest_head(table))
    return Candidate((value, sum(scored[one][1] for one in head)), head, body)


def with_head(
    table: Table, body: tuple[Condition, ...], head: tuple[Literal, ...]
) -> Candidate | None:
    """The body with a head that is given, if all of it may be said."""
    scored = scored_literals(table, body, head)
    if len(scored) < len(head):
        return None
    said = Head(dict(head), len(table.labels)).vector()
    counted = [
        [0 if said[j] < 0 or table.counts(i, (j, said[j])) else 1 for j in table.labels]
        for i in table.rows
    ]
    closed = np.where(np.array(counted) == 0, UNSET, 0)
    covered = covers(table, body)
    value = table.measure.of_rule(table.truth, covered, said, closed, table.settings.counting)
    bonus = table.settings.size_bonus if not is_decided_by_literals(table) else None
    factor = bonus(len(head)) if bonus else 1.0
    return Candidate((factor * value, sum(right for _, right in scored.values())), head, body)


def scored_literals(
    table: Table, body: tuple[Condition, ...], literals: Iterable[Literal]
) -> dict[Literal, tuple[float, int]]:
    """The value and the right cells of each label and value that may be said."""
    admissible = [one for one in literals if is_admissible(table, body, one)]
    return {one: (score(table, body, one), right(table, body, one)) for one in admissible}


def is_decided_by_literals(table: Table) -> bool:
    """Whether the best head is made of the best literals."""
    measure = table.measure
    if table.settings.heads == "complete" or measure.predictions == "full":
        return False
    if is_single(table):
        return measure.averaging in ("micro", "macro")
    merges = measure.averaging == "micro" and measure.formula.name in MERGED
    return not table.settings.size_bonus and (merges or measure.averaging == "macro")


def is_single(table: Table) -> bool:
    return table.settings.heads in ("single", 1)


def tied(scored: dict[Literal, tuple[float, int]], value: float, size: int) -> tuple[Literal, ...]:
    """The labels whose value is the best one, each once: presences, then absences."""
    head: dict[int, int] = {}
    for (label, said), (worth, _) in scored.items():
        if worth == value:
            head.setdefault(label, said)
    return tuple(head.items())[:size]


def largest_head(table: Table) -> int:
    heads = table.settings.heads
    return min(heads, len(table.labels)) if isinstance(heads, int) else len(table.labels)


def every_literal(table: Table) -> list[Literal]:
    """What heads may say, presences first."""
    return [
        (label, value)
        for value in (1, 0)
        for label in table.labels
        if value in allowed_values(table, label)
    ]


def allowed_values(table: Table, label: int) -> tuple[int, ...]:
    polarity = table.settings.polarity
    if polarity == "rarer":
        values = [row[label] for row in table.truth]
        return (1,) if values.count(1) <= values.count(0) else (0,)
    return (1,) if polarity == "presence" else (0, 1)


def is_admissible(table: Table, body: tuple[Condition, ...], literal: Literal) -> bool:
    """Something right, enough cells, and nothing that is forbidden or lacks what is required."""
    _, cells = inside(table, body, literal)
    enough = len(cells) >= table.settings.min_coverage
    return enough and right(table, body, literal) > 0 and is_in_language(table, body, literal[0])


def is_in_language(table: Table, body: tuple[Condition, ...], label: int) -> bool:
    """Whether a head may have the label; where it is tested it is written already."""
    names, forbidden = table.data.schema.labels, table.settings.forbidden
    tested = [(names[label], names[test.column]) for test in body if test.on_label]
    if any(pair in forbidden or pair[0] == pair[1] for pair in tested):
        return False
    return not table.settings.required or is_required(table, body[0], label)


def is_required(table: Table, first: Condition, label: int) -> bool:
    """Whether the first condition is one of those that are asked for."""
    schema = table.data.schema
    if first.on_label:
        return (schema.labels[label], schema.labels[first.column]) in table.settings.required
    return schema.features[first.column].name in table.settings.required


# ---------------------------------------------------------------- other heads


def searched(table: Table, body: tuple[Condition, ...]) -> Candidate | None:
    """The head that `best_head` finds on the cells that count, of labels that may be said.

    Labels of which only absence may be said are looked at upside down.
    """
    settings, measure = table.settings, judged_measure(table)
    covered = covers(table, body)
    labels = [j for j in table.labels if is_in_language(table, body, j)]
    enough = [j for j in labels if len(inside(table, body, (j, 1))[1]) >= settings.min_coverage]
    labels = enough if measure.predictions == "partial" else labels
    if not enough:
        return None
    flipped = [
        j for j in labels if settings.polarity == "rarer" and allowed_values(table, j) == (0,)
    ]
    truth = [[(row[j] == 1) ^ (j in flipped) for j in labels] for row in table.truth]
    closed = [[int(UNSET) if table.counts(i, (j, 1)) else 0 for j in labels] for i in table.rows]
    found = best_head(
        truth,
        covered,
        measure,
        np.array(closed, dtype=np.int8),
        counting=settings.counting,
        polarity="both" if settings.polarity == "both" else "presence",
        max_labels=1 if is_single(table) else largest_head(table),
        size_bonus=settings.size_bonus or no_bonus,
    )
    merit = measure.merit_of_rule(truth, covered, found.vector, closed, settings.counting)
    whole = Head.from_vector(found.vector).completed().vector()
    vector = whole if settings.heads == "complete" else found.vector
    cells = zip(labels, vector.tolist(), strict=True)
    said = tuple((label, value ^ (label in flipped)) for label, value in cells if value != UNSET)
    # A full prediction is also right in cells of which the head says nothing, hence writes nothing.
    if not any(right(table, body, literal) for literal in said):
        return None
    return Candidate((found.value_with_bonus, merit.correct), said, body)


def judged_measure(table: Table) -> Measure:
    """A complete head says something of every label, so that every label counts."""
    if table.settings.heads != "complete":
        return table.measure
    return Measure(table.measure.formula, table.measure.averaging, "full")
