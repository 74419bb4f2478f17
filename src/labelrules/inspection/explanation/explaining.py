"""Explain the labels of rows: by their way through the theory, and what they depend on."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, overload

import numpy as np

from labelrules._checks import number as checked_number
from labelrules._checks import quoted, whole_number
from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset
from labelrules.inspection.counterfactuals import (
    LIMIT,
    Counterfactual,
    counterfactual_of,
    fixed_mask,
)
from labelrules.inspection.explanation.values import (
    Chain,
    ChainLink,
    ChainNode,
    CheckedCondition,
    CheckedRule,
    Decided,
    Estimate,
    Explanation,
    LabelExplanation,
    Place,
    RowChoice,
    StoppingRule,
    SupportingRows,
    estimate,
    place_in,
)
from labelrules.inspection.tracing import (
    LayeredTrace,
    Trace,
    encoded_rows,
    label_number,
    named_value,
    single_row,
    trace,
)
from labelrules.rules import (
    Condition,
    DecisionList,
    Evidence,
    Gibbs,
    LabelByLabel,
    RuleSet,
    Theory,
    theory_of,
)
from labelrules.rules.inference import closed
from labelrules.rules.language.text import condition_text, presence_of
from labelrules.rules.rule import is_satisfiable
from labelrules.rules.run import TheoryRun

BEFORE = -1  # the source of labels that no part has written: their values before the first round
CELLS = {1: "present", 0: "absent", int(UNSET): "open"}


@dataclass(frozen=True, eq=False)
class PartHistory:
    """One row on its way through one part of a theory: a layer, or the list for bare rows."""

    trace: Trace
    layer: int | None = None  # from 0; None for the only layer and for the fallback list
    is_fallback: bool = False  # whether it is the list for rows without labels
    seen: Board | None = None
    """Labels by labels: the value of the second that rules for the first read. None if the rules
    read the board that they write."""
    source: Integers | None = None  # likewise, the part that had written that value
    is_sampled: bool = False  # whether labels were drawn at random, written by no rule
    presence: Floats | None = None  # if so, the probability of each
    first_round: Trace | None = None  # if the only layer has read its own labels, its first round
    unsettled: tuple[str, ...] = ()  # labels that still changed when the rounds ended

    @property
    def theory(self) -> DecisionList | RuleSet:
        """The rules of this part."""
        return self.trace.theory

    @cached_property
    def predicting(self) -> dict[int, dict[int, tuple[int, int]]]:
        """For each label the rules that predict it: their numbers, with value and votes."""
        rules: dict[int, dict[int, tuple[int, int]]] = {}
        for number, rule in enumerate(self.theory):
            for label, value, votes in rule.ballot:
                rules.setdefault(label, {})[number] = (value, votes)
        return rules

    def cell(self, condition: Condition, number: int, label: int) -> int:
        """The value of the tested label when rule `number` was to write `label`."""
        if self.seen is not None:
            return int(self.seen[label, condition.column])
        is_written = 0 <= self.trace.writer[condition.column] < number
        return int(self.trace.board[condition.column]) if is_written else int(UNSET)

    def holds(self, condition: Condition, number: int, label: int) -> bool:
        """Whether a condition held when rule `number` was to write `label`."""
        if condition.on_label:
            return self.cell(condition, number, label) == condition.value
        return bool(condition.holds(self.trace.values[condition.column]))

    def covered(self, number: int, label: int) -> bool:
        """Whether all conditions of rule `number` held when it was to write `label`."""
        return all(self.holds(c, number, label) for c in self.theory[number].body)

    def checked_rule(self, number: int, label: int) -> CheckedRule:
        """A rule that predicts `label`, with its conditions checked for the row."""
        rule = self.theory[number]
        value, votes = self.predicting[label][number]
        conditions = tuple(self._checked(condition, number, label) for condition in rule.body)
        return CheckedRule(
            self.place(number), rule, self.trace.texts[number], value, votes, conditions
        )

    def _checked(self, condition: Condition, number: int, label: int) -> CheckedCondition:
        schema, column = self.theory.schema, condition.column
        text, holds = condition_text(condition, schema), self.holds(condition, number, label)
        if condition.on_label:
            cell = CELLS[self.cell(condition, number, label)]
            return CheckedCondition(condition, text, schema.labels[column], cell, holds)
        feature = schema.features[column]
        value = named_value(feature, self.trace.values[column])
        is_binary = feature.present_code is not None or presence_of(condition, feature) is not None
        return CheckedCondition(condition, text, feature.name, value, holds, is_binary)

    def place(self, number: int) -> Place:
        """Where a rule of this part stands in the theory."""
        return place_in(self.theory, Place(number, self.layer, self.is_fallback))

    def nearly_covering(self, label: int) -> list[CheckedRule]:
        """The rules that predict a label and fail by one condition at most."""
        rules = []
        for number in self.predicting.get(label, ()):
            failing = (c for c in self.theory[number].body if not self.holds(c, number, label))
            if len(list(islice(failing, 2))) < 2:
                rules.append(self.checked_rule(number, label))
        return rules

    def closest_rule(self, label: int) -> CheckedRule | None:
        """The rule for the presence of a label with the fewest failing conditions, if any.

        Of several the one with the most conditions that hold, then the first.
        """
        best, fewest = None, (0, 0)
        for number, (value, _) in self.predicting.get(label, {}).items():
            body = self.theory[number].body
            if not value or not is_satisfiable(body, self.theory.schema):
                continue
            n_holding = sum(self.holds(c, number, label) for c in body)
            distance = (len(body) - n_holding, -n_holding)
            if best is None or distance < fewest:
                best, fewest = number, distance
        return None if best is None else self.checked_rule(best, label)

    @cached_property
    def choice(self) -> RowChoice | None:
        """How the labels were chosen together, if the rules are a set that does so."""
        theory, names = self.theory, self.theory.schema.labels
        if not isinstance(theory, RuleSet) or not theory.decides_rows:
            return None
        points = np.array([[self.points(label) for label in range(len(names))]])
        alone = RuleSet(theory.schema, at_least_one=theory.at_least_one)
        own = np.flatnonzero(alone.decided(points)[0])
        given = np.flatnonzero(theory.decided(points)[0])
        if not np.array_equal(given, np.flatnonzero(self.trace.board == 1)):
            return None  # one label was written after the other, not all together
        kind: Literal["points", "most points", "label set"] = "label set"
        if np.array_equal(given, own):
            kind = "points" if (points[0, own] > 0).all() else "most points"
        bonus = dict(theory.label_sets).get(tuple(given.tolist()), 0) if kind == "label set" else 0
        return RowChoice(
            kind,
            tuple(names[label] for label in given),
            tuple(points[0, given].tolist()),
            bonus,
            tuple(names[label] for label in own),
            int(points[0, own].sum()),
        )

    def points(self, label: int) -> int:
        """In a rule set, the votes for a label minus those against it."""
        return sum(
            votes if value else -votes
            for number, (value, votes) in self.predicting.get(label, {}).items()
            if self.covered(number, label)
        )

    def writers(self, label: int) -> list[int]:
        """The rules behind a label: the one that wrote it, or those that voted."""
        if self.is_sampled:
            return []
        if self.theory.ordered:
            writer = int(self.trace.writer[label])
            return [writer] if writer >= 0 else []
        return [n for n in self.predicting.get(label, ()) if self.covered(n, label)]


def stopping_rule(parts: Iterable[PartHistory], label: int) -> StoppingRule | None:
    """The first rule that ended a list before one that predicts the label, if any did."""
    for part in parts:
        stops = (n for n, rule in enumerate(part.theory) if rule.stops and part.covered(n, label))
        number = next(stops, None)
        if number is not None and max(part.predicting.get(label, ()), default=-1) > number:
            return StoppingRule(part.place(number), part.trace.texts[number])
    return None


def row_history(theory: Theory, one: Dataset) -> tuple[PartHistory, ...]:
    """The parts that the only row passed: layers, then the list for rows without labels."""
    row = trace(theory, one)
    if not isinstance(row, LayeredTrace):
        return (PartHistory(row),)
    parts = []
    for layer, part in enumerate(row.layers):
        is_last = layer == len(row.layers) - 1
        if is_last and isinstance(row.theory.inference, Gibbs):
            parts.append(PartHistory(part, layer, is_sampled=True, presence=row.presence))
        elif is_last:
            parts.append(replace(_last_layer(row, part, one), unsettled=row.unsettled))
        elif layer:
            parts.append(_reading(part, layer, closed(row.layers[layer - 1].board), layer - 1))
        else:
            parts.append(PartHistory(part, layer))
    if len(parts) == 1:
        parts = [replace(parts[0], layer=None)]  # a number would be of no use
    if row.fallback is not None:
        parts.append(PartHistory(row.fallback, is_fallback=True))
    return tuple(parts)


def _last_layer(row: LayeredTrace, part: Trace, one: Dataset) -> PartHistory:
    """The last layer; if it was read until it settled, it has read its own result."""
    layer = len(row.layers) - 1
    own = closed(part.board)
    if row.rounds:
        history = _reading(part, layer, own, layer)
        return history if layer else replace(history, first_round=trace(part.theory, one))
    before = closed(row.layers[layer - 1].board) if layer else None
    if isinstance(row.theory.inference, LabelByLabel):
        start = closed(part.theory.apply(one)[0]) if before is None else before
        return _label_by_label(part, layer, own, start, row.theory.inference)
    return PartHistory(part, layer) if before is None else _reading(part, layer, before, layer - 1)


def _reading(part: Trace, layer: int, seen: Board, source: int) -> PartHistory:
    n_labels = len(seen)
    sources = np.full((n_labels, n_labels), source)
    return PartHistory(part, layer, seen=np.tile(seen, (n_labels, 1)), source=sources)


def _label_by_label(
    part: Trace, layer: int, own: Board, start: Board, inference: LabelByLabel
) -> PartHistory:
    """The first round: each label sees those written before it, the others as they were."""
    n_labels = len(own)
    turn = np.argsort(inference.labels(n_labels))
    done = turn[None, :] < turn[:, None]
    source = np.where(done, layer, layer - 1 if layer else BEFORE)
    return PartHistory(part, layer, seen=np.where(done, own, start), source=source)


def dependency_chain(parts: tuple[PartHistory, ...], label: int, part: int) -> Chain:
    """The rules and labels that a label of the deciding part depends on, going back.

    A label in two layers is two nodes; a layer that has read its own result may have cycles.
    """
    start = (part, label)
    nodes, links = {start: _label_node(parts, *start)}, []
    rules: dict[tuple[int, int], ChainNode] = {}
    waiting = [start]
    for part, written in waiting:
        history = parts[part]
        for number in [] if part == BEFORE else history.writers(written):
            rule = rules.setdefault((part, number), _rule_node(history, number, written))
            links.append(ChainLink(rule.key, nodes[part, written].key))
            for condition in history.theory[number].body.on_labels:
                tested = condition.column
                source = part if history.source is None else int(history.source[written, tested])
                if (source, tested) not in nodes:
                    nodes[source, tested] = _label_node(parts, source, tested)
                    waiting.append((source, tested))
                links.append(ChainLink(nodes[source, tested].key, rule.key))
    cycle = _on_cycles({place: node.key for place, node in nodes.items()}, links)
    return Chain(
        (*nodes.values(), *rules.values()),
        tuple(dict.fromkeys(links)),
        tuple(nodes[place].name for place in cycle),
        tuple(_initial(parts, *place) for place in cycle),
    )


def _on_cycles(keys: dict[tuple[int, int], str], links: list[ChainLink]) -> list[tuple[int, int]]:
    """The labels that depend on themselves, at once or through others."""
    sources: dict[str, set[str]] = {}
    for link in links:
        sources.setdefault(link.target, set()).add(link.source)

    def depends_on_itself(key: str) -> bool:
        waiting, known = list(sources.get(key, ())), set()
        while waiting:
            one = waiting.pop()
            if one not in known:
                known.add(one)
                waiting += sources.get(one, ())
        return key in known

    return [place for place, key in keys.items() if depends_on_itself(key)]


def _initial(parts: tuple[PartHistory, ...], part: int, label: int) -> ChainNode:
    """A label before the cycle: in the layer before, else in the first round of the only layer."""
    first = parts[part].first_round
    row, layer = (parts[part - 1].trace, part - 1) if first is None else (first, None)
    writer = int(row.writer[label])
    where = parts[part].layer if layer is None else layer
    place = place_in(row.theory, Place(writer, where)) if writer >= 0 else None
    node = _label_node(parts, part, label)
    return replace(node, value=int(row.board[label] == 1), place=place, layer=layer)


def _label_node(parts: tuple[PartHistory, ...], part: int, label: int) -> ChainNode:
    name = parts[-1].theory.schema.labels[label]
    if part == BEFORE:
        return ChainNode(f"label {label} at first", "label", name)
    history = parts[part]
    key = f"label {label} of part {part}"
    value = int(history.trace.board[label] == 1)
    return ChainNode(key, "label", name, value=value, layer=history.layer)


def _rule_node(history: PartHistory, number: int, label: int) -> ChainNode:
    rule = history.checked_rule(number, label)
    return ChainNode(
        str(rule.place),
        "rule",
        rule.text,
        place=rule.place,
        layer=history.layer,
        conditions=rule.conditions,
    )


# -------------------------------------------------------------------- explanations


@overload
def explain(
    theory: Any,
    X: Any,
    row: int = 0,
    *,
    labels: Iterable[str] | None = None,
    training: Any = None,
    fixed: Iterable[str] = (),
    counterfactuals: bool | Literal["given"] = True,
    level: float = 0.95,
    limit: int = LIMIT,
) -> Explanation: ...


@overload
def explain(
    theory: Any,
    X: Any,
    row: Iterable[int],
    *,
    labels: Iterable[str] | None = None,
    training: Any = None,
    fixed: Iterable[str] = (),
    counterfactuals: bool | Literal["given"] = True,
    level: float = 0.95,
    limit: int = LIMIT,
) -> list[Explanation]: ...


def explain(
    theory: Any,
    X: Any,
    row: int | Iterable[int] = 0,
    *,
    labels: Iterable[str] | None = None,
    training: Any = None,
    fixed: Iterable[str] = (),
    counterfactuals: bool | Literal["given"] = True,
    level: float = 0.95,
    limit: int = LIMIT,
) -> Explanation | list[Explanation]:
    r"""Explain why a row gets its labels: the rules, their conditions, and what would change them.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
    X : array, sparse matrix, frame or Dataset
    row : int or iterable of int, default=0
        Which row of X. Several give a list of explanations.
    labels : iterable of str, optional
        The labels to explain; all by default.
    training : Dataset or (X, Y), optional
        Used to list the training rows behind a rule, to count its evidence if the theory has none,
        and to change numbers to values that occur.
    fixed : iterable of str
        Features that the counterfactuals must leave as they are.
    counterfactuals : bool or "given", default=True
        Whether to search for the smallest change of each label, or only of the labels that the row
        gets; see `counterfactual`.
    level : float, default=0.95
        The confidence level of the interval for the precision.
    limit : int, default=10000
        How many rows to try for each counterfactual.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- education = University\nnot sports <- quality\nsports <- true"
    >>> explanation = explain(parse(text, readers.schema), readers, 3, training=readers)
    >>> print(explanation["sports"])
    sports: absent
      by rule 2: not sports <- quality
        quality is present
      right in 4 of 4 cells: estimated precision 0.83 (95 % interval 0.51 to 1.00)
      depends on quality = present, by rule 1: quality <- education = University
      later rules that cover the row:
        rule 3 predicts present: otherwise: sports
      training: right in rows 3, 4, 6, 12
      sports would be present with education = Primary instead of University
    >>> print(explanation["sports"].sentence())
    sports is predicted absent by rule 2, because quality is present. quality is present by rule 1,
    because education is University. Rule 2 was right in 4 of 4 cells: estimated precision 0.83
    (95 % interval 0.51 to 1.00). sports would be present if education were Primary.
    """
    limit = whole_number(limit, "limit", low=1)
    level = checked_number(level, "level", above=0, below=1)
    if counterfactuals not in (True, False, "given"):
        raise ValueError(
            f"counterfactuals must be True, False or 'given', not {counterfactuals!r:.60}"
        )
    theory = theory_of(theory)
    rows, schema = encoded_rows(theory, X), theory.schema
    explainer = _Explainer(
        theory,
        _chosen(labels, schema),
        None if training is None else _Training.of(theory, training),
        fixed_mask(fixed, schema),
        counterfactuals,
        level,
        limit,
    )
    if isinstance(row, str) or not isinstance(row, Iterable):
        return explainer.explain(rows, row)
    return [explainer.explain(rows, one) for one in row]


@dataclass(frozen=True, eq=False)
class _Training:
    """Training rows, and what the theory did on them."""

    run: TheoryRun
    rows: Dataset

    @classmethod
    def of(cls, theory: Theory, training: Any) -> "_Training":
        is_pair = isinstance(training, tuple) and len(training) == 2
        if not is_pair and not isinstance(training, Dataset):
            raise ValueError("training must be a Dataset or a pair (X, Y), since it needs labels")
        X, Y = training if is_pair else (training, training)
        matrix, truth = encode(X, theory.schema), encode_labels(Y, theory.schema)
        if matrix.shape[0] != len(truth):
            raise ValueError(f"training: X has {matrix.shape[0]} rows but Y has {len(truth)}")
        rows = Dataset(theory.schema, matrix, truth)
        return cls(TheoryRun.of(theory, rows), rows)

    def written(self, place: Place, label: int) -> SupportingRows:
        """The rows on which a rule wrote a label."""
        part = self.run.parts[-1 if place.is_fallback else place.layer or 0]
        rows = part.written_rows(place.number, label, self.rows.Y)
        return SupportingRows(tuple(rows.right.tolist()), tuple(rows.wrong.tolist()))


@dataclass(frozen=True, eq=False)
class _Explainer:
    """A theory and the options of `explain`, for any number of rows."""

    theory: Theory
    labels: tuple[int, ...]
    training: _Training | None
    fixed: Mask
    counterfactuals: bool | Literal["given"]
    level: float
    limit: int

    def explain(self, rows: Dataset, row: int) -> Explanation:
        parts = row_history(self.theory, single_row(rows, row))
        last, features = parts[-1].trace, self.theory.schema.features
        return Explanation(
            self.theory,
            int(row),
            tuple(named_value(f, value) for f, value in zip(features, last.values, strict=True)),
            np.where(last.board == UNSET, np.int8(0), last.board),
            tuple(self._label(parts, label) for label in self.labels),
            tuple(label for part in parts for label in part.unsettled),
        )

    def _label(self, parts: tuple[PartHistory, ...], label: int) -> LabelExplanation:
        part = _deciding_part(parts, label)
        last = parts[part]
        decided = _decided(last, label)
        rules = [] if decided == "sampled" else last.nearly_covering(label)
        covering = tuple(rule for rule in rules if not rule.failing)
        writer = int(last.trace.writer[label])
        wrote = next((rule for rule in rules if rule.place.number == writer), None)
        rows = self._rows(wrote, label)
        for other in parts[part + 1 :]:  # the list for rows without labels, if it is silent
            rules = [*rules, *other.nearly_covering(label)]
        # Without a writer a rule has ended the list, and all that cover the row come after it.
        later = tuple(rule for rule in covering if rule.place.number > writer)
        return LabelExplanation(
            label=self.theory.schema.labels[label],
            predicted=int(last.trace.board[label] == 1),
            decided=decided,
            rule=wrote,
            votes=() if last.theory.ordered else covering,
            choice=last.choice,
            chain=dependency_chain(parts, label, part),
            ended=stopping_rule(parts[part:], label) if decided == "default" else None,
            estimate=self._estimate(wrote, rows, label),
            presence=None if last.presence is None else float(last.presence[label]),
            later=later if last.theory.ordered else (),
            near=tuple(r for r in rules if len(r.failing) == 1 and self._could_hold(r)),
            closest=_closest(parts, label) if last.trace.board[label] != 1 else None,
            rows=rows,
            counterfactual=self._counterfactual(last.trace, label),
        )

    def _could_hold(self, rule: CheckedRule) -> bool:
        return is_satisfiable(rule.rule.body, self.theory.schema)

    def _rows(self, wrote: CheckedRule | None, label: int) -> SupportingRows | None:
        if self.training is None or wrote is None:
            return None
        return self.training.written(wrote.place, label)

    def _estimate(
        self, wrote: CheckedRule | None, rows: SupportingRows | None, label: int
    ) -> Estimate | None:
        """From the evidence that was recorded, else from that of the training rows."""
        evidence = None if wrote is None else wrote.rule.evidence_for(label)
        if evidence is None and rows is not None:
            evidence = Evidence(len(rows.right), len(rows.wrong))
        return None if evidence is None else estimate(evidence, self.level)

    def _counterfactual(self, row: Trace, label: int) -> Counterfactual | None:
        wanted = row.board[label] == 1 if self.counterfactuals == "given" else self.counterfactuals
        if not wanted:
            return None
        seen = None if self.training is None else self.training.rows.X
        return counterfactual_of(self.theory, row.values, label, self.fixed, seen, self.limit)


def _deciding_part(parts: tuple[PartHistory, ...], label: int) -> int:
    """The part that decides a label: the last, or a layer if the list for bare rows is silent."""
    last = len(parts) - 1
    is_silent = parts[last].is_fallback and parts[last].trace.board[label] == UNSET
    return last - 1 if is_silent else last


def _closest(parts: tuple[PartHistory, ...], label: int) -> CheckedRule | None:
    """The rule for an absent label with the fewest failing conditions that had a chance.

    These are the rules of the last layer, and those for rows without a label if it is one.
    """
    reached = parts[-2:] if parts[-1].is_fallback else parts[-1:]
    rules = [
        rule
        for part in reached
        if part.theory.ordered and not part.is_sampled
        for rule in [part.closest_rule(label)]
        if rule is not None
    ]
    # The default of the rules for rows without a label applies only if no other of them holds.
    rules = [rule for rule in rules if rule.conditions or not rule.place.is_fallback]
    return min(rules, key=lambda rule: len(rule.failing), default=None)


def _decided(part: PartHistory, label: int) -> Decided:
    if part.is_sampled:
        return "sampled"
    if part.trace.board[label] == UNSET:
        return "default"
    if part.theory.ordered:
        return "rule"
    if part.choice is not None and part.choice.kind == "label set":
        return "label set"
    is_most = part.choice is not None and part.choice.kind == "most points"
    return "most points" if is_most and part.trace.board[label] == 1 else "vote"


def _chosen(labels: Iterable[str] | None, schema: Schema) -> tuple[int, ...]:
    if labels is None:
        return tuple(range(schema.n_labels))
    if isinstance(labels, str):
        raise ValueError(f"labels is one text, {quoted(labels)}: give a list of labels")
    return tuple(label_number(name, schema) for name in labels)
