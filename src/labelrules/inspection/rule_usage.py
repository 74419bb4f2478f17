"""The use of each rule: what it does on rows, and rules that can never matter."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.data.table import Dataset
from labelrules.inspection.tracing import run_of
from labelrules.rules import (
    DecisionList,
    Gibbs,
    LabelByLabel,
    LayeredRun,
    LayeredTheory,
    Once,
    Rule,
    RuleSet,
    RuleTable,
    Theory,
    UntilStable,
    conflict,
    is_more_general,
)
from labelrules.rules.inference import (
    Inference,
    TheoryColumn,
    TheoryReader,
    closed,
    label_by_label,
    sampled,
    until_stable,
)
from labelrules.rules.layered_theory import without_labels
from labelrules.rules.rule import is_satisfiable
from labelrules.rules.theory import Run


class Usage(NamedTuple):
    """The use of each rule, in the order of the theory."""

    counts: Integers  # the five counts of `RuleSummary`, by rules
    is_reached: Mask
    board: Board  # the predictions; `UNSET` where no rule decided

    def of_rule(self, number: int) -> tuple[Any, ...]:
        """The counts of one rule, and whether it is reached."""
        return *self.counts[:, number].tolist(), bool(self.is_reached[number])


class PartRun(NamedTuple):
    """A part of a theory and what it did on rows."""

    rules: Theory
    start: int  # the number of its first rule in the theory
    run: Run
    seen: Board | None  # the labels that its conditions are tested on; None for those it writes
    waiting: Mask | None  # the rows that it is applied to; None for all

    def fired(self, rows: Dataset) -> Iterator[tuple[int, Rule, Mask]]:
        """Each rule with its number in the part and the rows on which it fired."""
        open_rows = np.ones(len(rows), dtype=np.bool_)
        open_rows = open_rows if self.waiting is None else self.waiting.copy()
        board = self.board_before(0)
        is_written = self.rules.ordered and self.seen is None
        board = board.copy() if is_written else board
        for number, rule in enumerate(self.rules):
            fires = open_rows & rule.body.covers(rows.X, board)
            if self.rules.ordered:  # if it fired on labels that have changed since
                wrote = self.wrote(number)
                fires |= wrote.any(axis=1)
            yield number, rule, fires
            if is_written:
                labels = _columns(rule)
                board[:, labels] = np.where(wrote, self.run.board[:, labels], board[:, labels])
            if rule.stops:
                open_rows &= ~fires

    def reached(self, rows: Dataset) -> Iterator[tuple[int, Rule, Mask]]:
        """Each rule with its number in the part and the rows that no rule has ended before it."""
        going = np.ones(len(rows), dtype=np.bool_)
        going = going if self.waiting is None else self.waiting.copy()
        if not any(rule.stops for rule in self.rules):
            yield from ((number, rule, going) for number, rule in enumerate(self.rules))
            return
        for number, rule, fires in self.fired(rows):
            yield number, rule, going
            if rule.stops:
                going &= ~fires

    def wrote(self, number: int) -> Mask:
        """Which cells a rule of a list was the first to write: rows by the labels of its head."""
        return np.asarray(self.run.writer[:, _columns(self.rules[number])] == number)

    def board_before(self, number: int) -> Board:
        """The labels on which the conditions of a rule are tested."""
        if self.seen is not None:
            return self.seen
        if not self.rules.ordered:
            return np.full_like(self.run.board, UNSET)
        written = (self.run.writer >= 0) & (self.run.writer < number)
        return np.where(written, self.run.board, UNSET)

    def labels_before(self, number: int, label: int) -> Board:
        """One label on which conditions of a rule are tested."""
        if self.seen is not None:
            return np.asarray(self.seen[:, label])
        if not self.rules.ordered:
            return np.full(len(self.run.board), UNSET)
        writer = self.run.writer[:, label]
        return np.where((writer >= 0) & (writer < number), self.run.board[:, label], UNSET)


def _columns(rule: Rule) -> list[int] | slice:
    """The columns of the labels of a head, as a slice if there is one, which copies nothing."""
    labels = rule.head.labels
    return slice(labels[0], labels[0] + 1) if len(labels) == 1 else list(labels)


def part_runs(theory: Theory, rows: Dataset, run: LayeredRun | None = None) -> Iterator[PartRun]:
    """Apply a theory part by part; `run` is that of a layered theory, if it is there already.

    In a last layer that reads its own labels, bodies are tested on the final labels; if it was
    sampled, the rules that decide on these count as those that wrote them.
    """
    if not isinstance(theory, LayeredTheory):
        yield PartRun(theory, 0, run_of(theory, RuleTable(theory), rows), None, None)
        return
    run = theory.run(rows) if run is None else run
    start, seen = 0, None
    for layer, done in zip(theory.layers[:-1], run.layers[:-1], strict=True):
        yield PartRun(layer, start, done, seen, None)
        start, seen = start + len(layer), closed(done.board)
    last, done = theory.layers[-1], run.layers[-1]
    if not isinstance(theory.inference, Once):
        seen = closed(done.board)
        if isinstance(theory.inference, Gibbs) and isinstance(last, DecisionList):
            done = last.run(rows, reads=seen)
    yield PartRun(last, start, done, seen, None)
    if run.fallback is not None and theory.fallback is not None:
        waiting = without_labels(run.layers[-1].board)
        yield PartRun(theory.fallback, start + len(last), run.fallback, None, waiting)


def usage_of(theory: Theory, rows: Dataset) -> Usage:
    """Apply a theory and count what its rules do; see `part_runs`."""
    run = theory.run(rows) if isinstance(theory, LayeredTheory) else None
    done = list(part_runs(theory, rows, run))
    parts = [_part(part, rows) for part in done]
    if isinstance(theory, LayeredTheory) and not isinstance(theory.inference, Once):
        last = len(theory.layers) - 1
        if not parts[last].is_reached.all():
            before = None if last == 0 else closed(done[last - 1].run.board)
            active = active_rules(theory.layers[last], theory.inference, rows, before)
            parts[last] = parts[last]._replace(is_reached=parts[last].is_reached | active)
    board = done[0].run.board if run is None else run.board
    counts = np.concatenate([part.counts for part in parts], axis=1)
    return Usage(counts, np.concatenate([part.is_reached for part in parts]), board)


def _part(part: PartRun, rows: Dataset) -> Usage:
    theory, run = part.rules, part.run
    counts = np.zeros((5, len(theory)), dtype=np.int64)
    decided = np.zeros_like(run.board, dtype=np.bool_)
    n_decided = 0
    ends = np.zeros(len(theory), dtype=np.bool_)
    for number, rule, fires in part.fired(rows):
        labels = list(rule.head.labels)
        if isinstance(theory, RuleSet):
            cells = np.repeat(fires[:, None], len(labels), axis=1)
        else:
            cells = part.wrote(number)
        n_decided += int(np.count_nonzero(cells & ~decided[:, labels]))
        decided[:, labels] |= cells
        opposite = run.board[:, labels] == 1 - np.array(rule.head.values)
        counts[:, number] = (
            np.count_nonzero(fires),
            np.count_nonzero(cells.any(axis=1)),
            np.count_nonzero(cells),
            n_decided,
            np.count_nonzero(opposite & fires[:, None]),
        )
        ends[number] = rule.stops and fires.any()
    return Usage(counts, ends | (counts[2] > 0), run.board)


def active_rules(layer: Theory, inference: Inference, rows: Dataset, seen: Board | None) -> Mask:
    """Whether each rule writes, votes or ends a row in any round; `seen` is the layer before."""
    active = np.zeros(len(layer), dtype=np.bool_)
    reader = _RecordingReader(TheoryReader(layer, rows, None), layer, range(len(layer)), active)
    if isinstance(inference, UntilStable):
        until_stable(reader, inference.max_rounds, seen)
        return active
    start = closed(reader.read(None).board if seen is None else seen)
    columns = [TheoryColumn(layer, label, rows, None) for label in range(rows.schema.n_labels)]
    for column in columns:
        # Only what it writes of its own label counts.
        column.reader = _RecordingReader(column.reader, layer, column.numbers, active, column.label)
    if isinstance(inference, LabelByLabel):
        label_by_label(columns, inference.labels(len(columns)), inference.max_rounds, start)
    elif isinstance(inference, Gibbs):
        sampled(columns, inference, start)
    return active


class _RecordingReader(TheoryReader):
    """A reader that records the active rules, by their numbers in the whole layer."""

    def __init__(
        self,
        reader: TheoryReader,
        layer: Theory,
        numbers: Sequence[int],
        active: Mask,
        label: int | None = None,
    ) -> None:
        self.table, self.rows, self.known = reader.table, reader.rows, reader.known
        self.engine = reader.engine
        self.layer, self.numbers, self.active = layer, np.array(numbers, dtype=np.int64), active
        self.labels = slice(None) if label is None else slice(label, label + 1)

    def read(self, seen: Board | None) -> Run:
        """Run the layer on these labels."""
        run = super().read(seen)
        if isinstance(self.layer, DecisionList):
            for rules in (run.writer[:, self.labels], run.stopped):
                self.active[self.numbers[np.unique(rules[rules >= 0])]] = True
            return run
        labels = np.full_like(run.board, UNSET) if seen is None else seen
        for number in self.numbers[~self.active[self.numbers]]:
            body = self.layer[int(number)].body
            self.active[number] = body.covers(self.rows.X, labels).any()
        return run


def subsumed_rules(theory: Theory) -> Iterator[tuple[int, list[int]]]:
    """Rules of lists that cannot write anything, whatever the row; with those that prevent it.

    Whenever such a body holds, an earlier rule has ended the list, or earlier rules whose bodies
    hold have written its labels. None are named if no row satisfies it. Stopping rules are useful.
    """
    for part in parts_of(theory):
        for number in range(len(part.rules)) if part.rules.ordered else ():
            others = part.subsumed_by(number)
            if others is not None:
                yield part.start + number, [part.start + other for other in others]


def conflicting_rules(theory: Theory) -> Iterator[tuple[int, list[int]]]:
    """Pairs of rules of one part with opposite predictions for a label that can cover one row."""
    for part in parts_of(theory):
        for a, b in sorted(_opposed(part.rules)):
            if conflict(part.rules[a], part.rules[b], theory.schema):
                yield part.start + b, [part.start + a]


class TheoryPart(NamedTuple):
    """A list or a set of rules, and where it begins in its theory."""

    rules: Theory
    start: int
    reads: Literal["own", "previous", "both"]  # labels being written, of the layer before, or both

    def subsumed_by(self, number: int) -> list[int] | None:
        """Earlier rules that leave nothing to a rule, None if they leave something."""
        rule, schema = self.rules[number], self.rules.schema
        if not is_satisfiable(rule.body, schema):
            return []
        wider = [i for i in range(number) if self._fires_before(i, number)]
        ends = [i for i in wider if self.rules[i].stops]
        if ends or rule.stops:
            return ends[:1] or None
        left = set(rule.head.labels)
        if self.reads == "own":
            # A label that is tested has been written, so nothing is left to write.
            left -= {condition.column for condition in rule.body.on_labels}
        writers = [next((i for i in wider if j in self.rules[i].head.labels), None) for j in left]
        return None if None in writers else sorted({i for i in writers if i is not None})

    def _fires_before(self, earlier: int, later: int) -> bool:
        """Whether the earlier rule covers every row that the later one covers."""
        body = self.rules[earlier].body
        if not is_more_general(body, self.rules[later].body, self.rules.schema):
            return False
        # A label that both test may have been written only after the earlier rule.
        tested = {condition.column for condition in body.on_labels}
        between = self.rules.rules[earlier + 1 : later]
        written = {label for rule in between for label in rule.head.labels}
        return self.reads == "previous" or not tested & written


def parts_of(theory: Theory) -> list[TheoryPart]:
    """The lists and sets of a theory: its layers, and the list for rows without a label."""
    if not isinstance(theory, LayeredTheory):
        return [TheoryPart(theory, 0, "own")]
    parts: list[TheoryPart] = []
    start = 0
    for number, layer in enumerate(theory.layers):
        alone = len(theory.layers) == 1 and not isinstance(theory.inference, Once)
        reads: Literal["own", "both"] = "both" if alone else "own"
        parts.append(TheoryPart(layer, start, "previous" if number else reads))
        start += len(layer)
    if theory.fallback is not None:
        parts.append(TheoryPart(theory.fallback, start, "own"))
    return parts


def _opposed(theory: Theory) -> set[tuple[int, int]]:
    """Pairs of rules of which one predicts a label present, the other absent."""
    predicting: dict[tuple[int, int], list[int]] = {}
    for number, rule in enumerate(theory):
        for literal in rule.head:
            predicting.setdefault(literal, []).append(number)
    return {
        (min(a, b), max(a, b))
        for (label, value), numbers in predicting.items()
        if value
        for a in numbers
        for b in predicting.get((label, 0), [])
    }
