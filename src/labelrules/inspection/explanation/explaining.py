"""Explain the labels of a row."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from labelrules._checks import quoted
from labelrules._types import UNSET, Board, Floats, Mask, Matrix
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset
from labelrules.inspection.counterfactuals.search import (
    LIMIT,
    Counterfactual,
    change_of,
    check_limit,
    fixed_mask,
    label_number,
    named_value,
)
from labelrules.inspection.estimates import Estimate, check_level, estimate
from labelrules.inspection.explanation.chain import chain_of, ending, nearly_holding
from labelrules.inspection.explanation.row_history import (
    Passage,
    encoded_rows,
    passages,
    single_row,
)
from labelrules.inspection.explanation.values import (
    Explanation,
    LabelExplanation,
    Place,
    RuleSeen,
    SupportingRows,
)
from labelrules.rules import Evidence, LayeredRun, LayeredTheory, RuleTable, Run, Theory
from labelrules.rules.generality import is_satisfiable


@overload
def explain(
    theory: Theory,
    X: Any,
    row: int = 0,
    *,
    labels: Iterable[str] | None = None,
    training: Any = None,
    fixed: Iterable[str] = (),
    counterfactuals: bool = True,
    level: float = 0.95,
    limit: int = LIMIT,
) -> Explanation: ...
@overload
def explain(
    theory: Theory,
    X: Any,
    row: Iterable[int],
    *,
    labels: Iterable[str] | None = None,
    training: Any = None,
    fixed: Iterable[str] = (),
    counterfactuals: bool = True,
    level: float = 0.95,
    limit: int = LIMIT,
) -> list[Explanation]: ...
def explain(
    theory: Theory,
    X: Any,
    row: int | Iterable[int] = 0,
    *,
    labels: Iterable[str] | None = None,
    training: Any = None,
    fixed: Iterable[str] = (),
    counterfactuals: bool = True,
    level: float = 0.95,
    limit: int = LIMIT,
) -> Explanation | list[Explanation]:
    r"""Tell why a row gets its labels: rules, their conditions, and what would change them.

    Parameters
    ----------
    theory : DecisionList, RuleSet or LayeredTheory
        Of a learner give its ``theory_``.
    X : array, sparse matrix, frame or Dataset
    row : int or iterable of int, default=0
        Which row of X. Several give a list of explanations.
    labels : iterable of str, optional
        The labels to be explained; all by default.
    training : Dataset or (X, Y), optional
        To name the training rows behind a rule, to count its evidence if the theory has none, and
        to move numbers to values that occur.
    fixed : iterable of str
        Features that the counterfactuals must leave as they are.
    counterfactuals : bool, default=True
        Whether the smallest change is looked for; see `counterfactual`.
    level : float, default=0.95
        Of the interval for the probability.
    limit : int, default=10000
        How many rows are tried for each counterfactual.

    Returns
    -------
    Explanation, or list of Explanation

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- education = University\nnot sports <- quality\nsports <- true"
    >>> found = explain(parse(text, readers.schema), readers, 3, training=readers)
    >>> print(found["sports"])
    sports: absent
      by rule 2: not sports <- quality
        quality: here present
      right in 4 of 4 cells: probability 0.83, 95% interval (Wilson) 0.51 to 1.00
      depended on quality = present, by rule 1: quality <- education = University
      later rules that hold:
        rule 3 says present: sports <- true
      training: right in rows 3, 4, 6, 12
      sports would be present with education = Primary instead of University
    >>> print(found["sports"].sentence())
    sports is predicted absent by rule 2, because quality is present. quality is present by rule 1,
    because education is University. Rule 2 was right in 4 of 4 cells, which makes it 0.83
    probable to be right (0.51 to 1.00). sports would be present if education were Primary.
    """
    check_limit(limit)
    check_level(level)
    rows = encoded_rows(theory, X)
    schema = theory.schema
    job = _Job(
        theory,
        _chosen(labels, schema),
        None if training is None else _Training.of(theory, training),
        fixed_mask(fixed, schema),
        counterfactuals,
        level,
        limit,
    )
    if isinstance(row, str) or not isinstance(row, Iterable):
        return job.explain(rows, row)
    return [job.explain(rows, number) for number in row]


@dataclass(frozen=True, eq=False)
class _Training:
    """Training rows, and which rule wrote which of their cells."""

    X: Matrix
    Y: Board
    run: Run | LayeredRun | None

    @classmethod
    def of(cls, theory: Theory, training: Any) -> "_Training":
        is_pair = isinstance(training, tuple) and len(training) == 2
        if not is_pair and not isinstance(training, Dataset):
            raise ValueError("training must be a Dataset or a pair (X, Y): labels are needed too")
        X, Y = training if is_pair else (training, training)
        matrix, truth = encode(X, theory.schema), encode_labels(Y, theory.schema)
        if matrix.shape[0] != len(truth):
            raise ValueError(f"training: X has {matrix.shape[0]} rows but Y has {len(truth)}")
        rows = Dataset(theory.schema, matrix, truth)
        if isinstance(theory, LayeredTheory):
            return cls(matrix, truth, theory.run(rows))
        return cls(matrix, truth, RuleTable(theory).run(rows) if theory.ordered else None)

    def rows(self, place: Place, label: int) -> SupportingRows:
        """The rows on which a rule wrote a label."""
        run = self.run
        if isinstance(run, LayeredRun):
            run = run.fallback if place.is_fallback else run.layers[place.layer or 0]
        assert run is not None, "rules that vote write nothing"
        wrote = run.writer[:, label] == place.number
        right = run.board[:, label] == self.Y[:, label]
        return SupportingRows(_numbers(wrote & right), _numbers(wrote & ~right))


def _numbers(rows: Mask) -> tuple[int, ...]:
    return tuple(np.flatnonzero(rows).tolist())


@dataclass(frozen=True, eq=False)
class _Job:
    """What is wanted of every row."""

    theory: Theory
    labels: tuple[int, ...]
    training: _Training | None
    fixed: Mask
    counterfactuals: bool
    level: float
    limit: int

    def explain(self, rows: Dataset, row: int) -> Explanation:
        parts = passages(self.theory, single_row(rows, row))
        values, features = parts[-1].story.values, self.theory.schema.features
        board = np.where(parts[-1].story.board == UNSET, np.int8(0), parts[-1].story.board)
        return Explanation(
            self.theory,
            int(row),
            tuple(named_value(f, value) for f, value in zip(features, values, strict=True)),
            board,
            tuple(self._label(parts, label) for label in self.labels),
            tuple(label for part in parts for label in part.moving),
        )

    def _label(self, parts: tuple[Passage, ...], label: int) -> LabelExplanation:
        part = _deciding(parts, label)
        last = parts[part]
        decided = self._decided(last, label)
        silent = decided == "sampled"
        rules = [] if silent else nearly_holding(last, label)
        writer = int(last.story.writer[label])
        held = tuple(rule for rule in rules if not rule.failing)
        wrote = next((rule for rule in rules if rule.place.number == writer), None)
        rows = self._rows(wrote, label)
        for unheard in parts[part + 1 :]:  # the list for rows without labels, if it is silent
            rules = [*rules, *nearly_holding(unheard, label)]
        return LabelExplanation(
            label=self.theory.schema.labels[label],
            predicted=int(last.story.board[label] == 1),
            decided=decided,
            rule=wrote,
            votes=() if last.theory.ordered else held,
            chain=chain_of(parts, label, part),
            ended=ending(parts[part:], label) if decided == "nobody" else None,
            estimate=self._estimate(wrote, rows, label),
            presence=self._presence(last, label) if silent else None,
            later=_later(held, last, writer),
            near=tuple(r for r in rules if len(r.failing) == 1 and self._could_hold(r)),
            rows=rows,
            counterfactual=self._change(last.story.values, label),
        )

    def _decided(self, last: Passage, label: int) -> Literal["rule", "vote", "nobody", "sampled"]:
        if last.is_sampled:
            return "sampled"
        if last.story.board[label] == UNSET:
            return "nobody"
        return "rule" if last.theory.ordered else "vote"

    def _presence(self, last: Passage, label: int) -> float | None:
        return None if last.presence is None else float(last.presence[label])

    def _could_hold(self, rule: RuleSeen) -> bool:
        return is_satisfiable(rule.rule.body, self.theory.schema)

    def _rows(self, wrote: RuleSeen | None, label: int) -> SupportingRows | None:
        if self.training is None or wrote is None:
            return None
        return self.training.rows(wrote.place, label)

    def _estimate(
        self, wrote: RuleSeen | None, rows: SupportingRows | None, label: int
    ) -> Estimate | None:
        """By the evidence that was recorded, else by that of the training rows."""
        evidence = None if wrote is None else wrote.rule.evidence_for(label)
        if evidence is None and rows is not None:
            evidence = Evidence(len(rows.right), len(rows.wrong))
        return None if evidence is None else estimate(evidence, self.level)

    def _change(self, values: Floats, label: int) -> Counterfactual | None:
        if not self.counterfactuals:
            return None
        seen = None if self.training is None else self.training.X
        return change_of(self.theory, values, label, self.fixed, seen, self.limit)


def _deciding(parts: tuple[Passage, ...], label: int) -> int:
    """The part that has the last word on a label.

    The list for rows without labels speaks last; where it is silent, what the layers said stays.
    """
    last = len(parts) - 1
    is_silent = parts[last].is_fallback and parts[last].story.board[label] == UNSET
    return last - 1 if is_silent else last


def _later(held: tuple[RuleSeen, ...], last: Passage, writer: int) -> tuple[RuleSeen, ...]:
    """Rules of a list that hold, behind the one that wrote the label; all if nobody did.

    Then a rule before them has ended the list.
    """
    if not last.theory.ordered:
        return ()
    return tuple(rule for rule in held if rule.place.number > writer)


def _chosen(labels: Iterable[str] | None, schema: Schema) -> tuple[int, ...]:
    if labels is None:
        return tuple(range(schema.n_labels))
    if isinstance(labels, str):
        raise ValueError(f"labels is one text, {quoted(labels)}: give a list of labels")
    return tuple(label_number(name, schema) for name in labels)
