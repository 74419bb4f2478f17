"""Layered theories: theories in sequence, each reading the labels that the one before wrote."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np

from labelrules._checks import counted
from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.memory.encoding import encode_labels, new_rows
from labelrules.data.schema import Schema
from labelrules.kernels.device import Engine
from labelrules.rules.conditions import Condition
from labelrules.rules.inference import (
    Gibbs,
    Inference,
    LabelByLabel,
    Once,
    Rows,
    TheoryReader,
    infer,
)
from labelrules.rules.rule import Rule
from labelrules.rules.rule_table import RowsAsGiven, n_rows_of, on_engine
from labelrules.rules.theory import (
    DecisionList,
    RuleSet,
    Run,
    Theory,
    checked_board,
    closed,
    evidence_on,
)


@dataclass(frozen=True, eq=False, repr=False)
class LayeredRun:
    """The boards that the layers of a theory wrote; `str` lists rows that did not settle.

    Attributes
    ----------
    layers : tuple of Run
        The run of each layer; of the last layer, that of the round that decides.
    rounds : array of int
        For each row how often the last layer was applied until nothing changed; 0 if something
        changed even in the last round, or if that is not checked.
    moving : array of bool
        Cells that changed even in the last round.
    presence : array of float, optional
        With Gibbs sampling, the probability of each label.
    fallback : Run, optional
        The run of the fallback; rows in which the layers predict a label are open.
    """

    schema: Schema
    layers: tuple[Run, ...]
    rounds: Integers
    moving: Mask
    presence: Floats | None = None
    fallback: Run | None = None

    @property
    def board(self) -> Board:
        """The board of the last layer, or of the fallback in rows without labels."""
        board = self.layers[-1].board
        if self.fallback is None:
            return board
        guessed = without_labels(board)[:, None] & (self.fallback.board != UNSET)
        return np.where(guessed, self.fallback.board, board)

    @property
    def parts(self) -> tuple[Run, ...]:
        """The runs of the layers, and after them that of the fallback, if there is one."""
        return self.layers if self.fallback is None else (*self.layers, self.fallback)

    @property
    def unsettled(self) -> Integers:
        """The rows in which something changed even in the last round."""
        return np.flatnonzero(self.moving.any(axis=1))

    def __repr__(self) -> str:
        n_rows, n_labels = self.moving.shape
        layers = counted(len(self.layers), "layer")
        return f"<LayeredRun: {layers} on {n_rows} x {n_labels} cells>"

    def __str__(self) -> str:
        n_rows, rows = len(self.moving), self.unsettled
        longest = int(self.rounds.max(initial=0))
        lines = [f"{n_rows - len(rows)} of {n_rows} rows are settled, after {longest} round(s)"]
        for row in rows[:10].tolist():
            names = [self.schema.labels[label] for label in np.flatnonzero(self.moving[row])]
            lines.append(f"  row {row}: {', '.join(names)} still changed")
        more = len(rows) - 10
        return "\n".join([*lines, f"  ... and {more} more"] if more > 0 else lines)


def without_labels(board: Board) -> Mask:
    """The rows in which no label is present."""
    return np.asarray(~(board == 1).any(axis=1))


class LayeredTheory(Theory):
    """Theories in sequence; each reads the labels that the one before has written.

    The first layer is applied as if it were alone. Each further one writes an empty board, and its
    conditions on labels are tested on the board of the layer before, in which open cells count as
    absent. The result is the board of the last layer.

    Parameters
    ----------
    schema : Schema
    layers : iterable of DecisionList or RuleSet
    inference : Once, UntilStable, LabelByLabel or Gibbs
        How the last layer is applied; by default once.
    fallback : DecisionList, optional
        A list for rows in which the layers predict no label; its rules test no labels, and the
        first that holds decides the row.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse('''
    ... layer 1:
    ... quality <- education = University
    ... sports <- marital = Divorced
    ... layer 2:
    ... quality <- sports
    ... not sports <- quality
    ... sports <- marital = Divorced
    ... ''', readers.schema)
    >>> theory.layers[0].predict(readers)[3], theory.predict(readers)[3]
    (array([1, 0, 0, 1], dtype=int8), array([1, 0, 0, 0], dtype=int8))
    """

    layers: tuple[Theory, ...] = ()
    inference: Inference = Once()
    fallback: DecisionList | None = None
    ordered = True

    def __init__(
        self,
        schema: Schema,
        layers: Iterable[Theory],
        inference: Inference | None = None,
        fallback: DecisionList | None = None,
    ) -> None:
        object.__setattr__(self, "layers", tuple(layers))
        object.__setattr__(self, "inference", Once() if inference is None else inference)
        _check_layers(self.layers, schema)
        object.__setattr__(self, "fallback", _checked_fallback(fallback, schema))
        super().__init__(schema, (rule for part in self.parts for rule in part))
        _check_inference(self.inference, self.layers[-1], schema)

    @property
    def n_literals(self) -> int:
        """Size of the theory: the literals of its layers, and of the list for other rows."""
        return sum(part.n_literals for part in self.parts)

    def run(
        self,
        X: Any,
        board: Board | None = None,
        *,
        reads: Board | None = None,
        engine: Engine = "auto",
    ) -> LayeredRun:
        """Apply the layers; the result names the rule that wrote each cell.

        Parameters
        ----------
        X, reads
            As for :meth:`Theory.apply`; `reads` is for the first layer.
        board : array of int8, optional
            Labels that are known; every layer keeps them.
        engine : {"auto", "cpu", "gpu"}, default="auto"
            Where the layers are applied; see :meth:`RuleTable.apply`.
        """
        return on_engine(
            X,
            engine,
            n_rows_of(X) * self.n_conditions,
            lambda X: self._run(RowsAsGiven.of(X, self.schema), board, reads, "gpu"),
            lambda X: self._run(new_rows(X, self.schema), board, reads, "cpu"),
        )

    def _run(
        self, rows: Rows, board: Board | None, reads: Board | None, engine: Engine
    ) -> LayeredRun:
        known = None if board is None else checked_board(board, rows.Y, self.schema, "board")
        seen = None if reads is None else checked_board(reads, rows.Y, self.schema, "reads")
        runs = self._before_last(rows, known, seen, engine)
        seen = closed(runs[-1].board) if runs else seen
        last = infer(self.layers[-1], self.inference, rows, known, seen, engine)
        return LayeredRun(
            self.schema,
            (*runs, last.run),
            last.n_rounds,
            last.moving,
            last.presence,
            self._fall_back(rows, known, without_labels(last.run.board), engine),
        )

    def _fall_back(
        self, rows: Rows, known: Board | None, waiting: Mask, engine: Engine
    ) -> Run | None:
        """Apply the list for rows without labels to the waiting rows."""
        if self.fallback is None:
            return None
        if not waiting.any():
            return Run.by_none(np.full(rows.Y.shape, UNSET))
        run = TheoryReader(self.fallback, rows, known, engine).read(None)
        run.board[~waiting] = UNSET
        run.writer[~waiting] = run.stopped[~waiting] = -1
        return run

    def _before_last(
        self, rows: Rows, known: Board | None, seen: Board | None, engine: Engine = "auto"
    ) -> list[Run]:
        """Apply all layers but the last."""
        runs: list[Run] = []
        for layer in self.layers[:-1]:
            runs.append(TheoryReader(layer, rows, known, engine).read(seen))
            seen = closed(runs[-1].board)
        return runs

    def apply(
        self,
        X: Any,
        board: Board | None = None,
        *,
        reads: Board | None = None,
        engine: Engine = "auto",
    ) -> Board:
        """Apply the layers in sequence to a board, as `run` does."""
        return self.run(X, board, reads=reads, engine=engine).board

    def predict(self, X: Any, *, engine: Engine = "auto") -> Board:
        """The labels of each row, 0 or 1; a cell that no rule writes becomes 0."""
        return closed(self.apply(X, engine=engine))

    def with_evidence(self, X: Any, Y: Any = None) -> "LayeredTheory":
        """The theory with evidence counted on the cells that each rule writes.

        For Gibbs sampling the last layer reads the labels Y, since its rules then give the
        probability of a label given the others. Rule sets, whose rules vote, get no evidence.
        """
        needs_all = isinstance(self.inference, Gibbs)
        counted: LayeredTheory = evidence_on(X, Y, self._counted, needs_all=needs_all)
        return counted

    def _counted(self, X: Any, Y: Any) -> "LayeredTheory":
        rows, truth = new_rows(X, self.schema), encode_labels(Y, self.schema)
        if len(truth) != len(rows):
            raise ValueError(f"X has {len(rows)} rows but Y has {len(truth)}")
        weights = getattr(X, "weights", None)
        if isinstance(self.inference, Gibbs):
            return self._with_evidence_for_sampling(rows, truth, weights)
        return self._with_counts(self.run(rows).parts, truth, weights)

    def plus(self, other: "LayeredTheory") -> "LayeredTheory":
        """Add the evidence of this theory on other rows."""
        pairs: Any = zip(self.parts, other.parts, strict=True)
        return self.with_parts(
            part.plus(more) if isinstance(part, DecisionList) else part for part, more in pairs
        )

    def _with_evidence_for_sampling(
        self, rows: Rows, truth: Board, weights: Floats | None
    ) -> "LayeredTheory":
        last = TheoryReader(self.layers[-1], rows, None).read(truth)
        runs = (*self._before_last(rows, None, None), last)
        counted = self.with_fallback(None)._with_counts(runs, truth, weights)
        if self.fallback is not None:
            # Which rows have no label is known only when the layers have evidence.
            run = counted.with_fallback(self.fallback).run(rows).parts[-1]
            counted = counted.with_fallback(self.fallback.with_counts(run, truth, weights))
        return counted.numbered(self.numbers)

    def _with_counts(
        self, runs: Iterable[Run], truth: Board, weights: Floats | None
    ) -> "LayeredTheory":
        counted = self.with_parts(
            part.with_counts(run, truth, weights) if isinstance(part, DecisionList) else part
            for part, run in zip(self.parts, runs, strict=True)
        )
        return counted.numbered(self.numbers)

    def numbered(self, numbers: Iterable[int] | None) -> "LayeredTheory":
        """Let people call the rules by other numbers, through all layers in one order."""
        found = super().numbered(numbers)
        rest = None if found.numbers is None else iter(found.numbers)
        parts = [
            part.numbered(None if rest is None else islice(rest, len(part))) for part in self.parts
        ]
        object.__setattr__(found, "layers", tuple(parts[: len(self.layers)]))
        object.__setattr__(found, "fallback", self.fallback and parts[-1])
        return found

    def with_inference(self, inference: Inference) -> "LayeredTheory":
        """Replace the inference in the last layer."""
        return LayeredTheory(self.schema, self.layers, inference, self.fallback)

    def with_fallback(self, fallback: DecisionList | None) -> "LayeredTheory":
        """Replace the list for rows without labels, or leave it out."""
        return LayeredTheory(self.schema, self.layers, self.inference, fallback)

    def with_parts(self, parts: Iterable[Any]) -> "LayeredTheory":
        """Replace the layers, and after them the list for rows without labels, if there is one."""
        every, n_layers = tuple(parts), len(self.layers)
        fallback = every[n_layers] if len(every) > n_layers else None
        return LayeredTheory(every[0].schema, every[:n_layers], self.inference, fallback)

    def over(self, schema: Schema) -> "LayeredTheory":
        """Name features and labels as another schema does, whose columns are equal but for that."""
        return self.with_parts(part.over(schema) for part in self.parts)

    def as_full_predictions(self) -> "LayeredTheory":
        """Complete every head by the absence of the other labels."""
        return self.with_parts(part.as_full_predictions() for part in self.parts)

    def __getitem__(self, index: int) -> Rule:  # type: ignore[override]
        """A rule, counted through all layers."""
        if isinstance(index, slice):
            raise TypeError("a layered theory has no part but its layers: take theory.layers[...]")
        return self.rules[index]

    def __repr__(self) -> str:
        layers = counted(len(self.layers), "layer")
        return f"<LayeredTheory: {layers}, {self.size_text} for {self._labels_text}>"

    def __eq__(self, other: object) -> bool:
        """Whether layers and inference are the same; with Gibbs sampling, also the evidence."""
        if not isinstance(other, LayeredTheory):
            return NotImplemented
        return self._meaning() == other._meaning()

    def __hash__(self) -> int:
        return hash(self._meaning())

    def _meaning(self) -> tuple[Any, ...]:
        sampled = isinstance(self.inference, Gibbs)
        evidence = tuple(rule.evidence for rule in self.layers[-1]) if sampled else ()
        return self.schema, self.layers, self.inference, self.fallback, evidence


def labels_without_rules(theory: Theory) -> list[str]:
    r"""The names of the labels that no rule predicts as present.

    A rule that passes a label on from the layer before counts if the label has a rule there, and a
    usual label set counts as a rule for its labels.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "quality <- education = University\nif no label was found:\notherwise: tabloid"
    >>> labels_without_rules(parse(text, load("magazines").schema))
    ['fashion', 'sports']
    """
    found: set[int] = set()
    for layer in theory.layers:
        found = set(_present(layer, found))
    found.update(_present(theory.fallback or (), found))
    names = enumerate(theory.schema.labels)
    return [name for label, name in names if label not in found]


def _present(rules: Iterable[Rule], before: set[int]) -> Iterator[int]:
    """The labels that rules predict as present, given the labels of the layer before."""
    if isinstance(rules, RuleSet):
        yield from (label for one in rules.label_sets for label in one.labels)
    for rule in rules:
        for label, value in rule.head:
            if value and (label in before or not _passes_on(rule, label)):
                yield label


def _passes_on(rule: Rule, label: int) -> bool:
    """Whether the only condition of a rule is that the layer before predicts the label."""
    return len(rule.body) == 1 and rule.body.conditions[0] == Condition.label(label)


def _check_layers(layers: tuple[Theory, ...], schema: Schema) -> None:
    if not layers:
        raise ValueError("a layered theory needs at least one layer")
    for number, layer in enumerate(layers, 1):
        if not isinstance(layer, DecisionList | RuleSet):
            raise ValueError(
                f"layer {number} must be a DecisionList or a RuleSet, not {type(layer).__name__}"
            )
        if layer.schema != schema:
            raise ValueError(
                f"layer {number} is over another schema: all layers need the same features "
                "and labels"
            )


def _checked_fallback(fallback: object, schema: Schema) -> DecisionList | None:
    """The list, each rule with a stop mark: the first that holds decides the row."""
    if fallback is None:
        return None
    if not isinstance(fallback, DecisionList):
        raise ValueError(f"fallback must be a DecisionList, not a {type(fallback).__name__}")
    if fallback.schema != schema:
        raise ValueError("fallback is over another schema than the layers")
    for number, rule in enumerate(fallback, 1):
        if rule.body.on_labels:
            raise ValueError(
                f"rule {number} for rows without labels tests a label, but all are absent there"
            )
    return fallback.with_rules(replace(rule, stops=True) for rule in fallback)


def _check_inference(inference: object, last: Theory, schema: Schema) -> None:
    if not isinstance(inference, Inference):
        raise ValueError(
            f"inference must be Once(), UntilStable(), LabelByLabel() or Gibbs(), not {inference!r}"
        )
    if isinstance(inference, LabelByLabel):
        inference.labels(schema.n_labels)
    if isinstance(inference, Gibbs) and not isinstance(last, DecisionList):
        raise ValueError(
            "a rule set cannot be sampled from, since no single rule decides a label: the last "
            "layer must be a DecisionList"
        )
