"""Explain the labels of rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from labelrules._checks import number, quoted, whole_number
from labelrules._types import UNSET, Board, Floats, Mask, Matrix
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset
from labelrules.inspection.counterfactuals import (
    LIMIT,
    Counterfactual,
    counterfactual_of,
    fixed_mask,
)
from labelrules.inspection.explanation.histories import (
    PartHistory,
    dependency_chain,
    row_history,
    stopping_rule,
)
from labelrules.inspection.explanation.values import (
    CheckedRule,
    Estimate,
    Explanation,
    LabelExplanation,
    Place,
    SupportingRows,
    estimate,
)
from labelrules.inspection.tracing import encoded_rows, label_number, named_value, single_row
from labelrules.rules import Evidence, LayeredRun, LayeredTheory, RuleTable, Run, Theory, theory_of
from labelrules.rules.rule import is_satisfiable


@overload
def explain(
    theory: Any,
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
    theory: Any,
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
    theory: Any,
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
    counterfactuals : bool, default=True
        Whether to search for the smallest change of each label; see `counterfactual`.
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
    level = number(level, "level", above=0, below=1)
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
    """Training rows, and which rule wrote which of their cells."""

    X: Matrix
    Y: Board
    run: Run | LayeredRun | None

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
class _Explainer:
    """A theory and the options of `explain`, for any number of rows."""

    theory: Theory
    labels: tuple[int, ...]
    training: _Training | None
    fixed: Mask
    counterfactuals: bool
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
            chain=dependency_chain(parts, label, part),
            ended=stopping_rule(parts[part:], label) if decided == "default" else None,
            estimate=self._estimate(wrote, rows, label),
            presence=None if last.presence is None else float(last.presence[label]),
            later=later if last.theory.ordered else (),
            near=tuple(r for r in rules if len(r.failing) == 1 and self._could_hold(r)),
            rows=rows,
            counterfactual=self._counterfactual(last.trace.values, label),
        )

    def _could_hold(self, rule: CheckedRule) -> bool:
        return is_satisfiable(rule.rule.body, self.theory.schema)

    def _rows(self, wrote: CheckedRule | None, label: int) -> SupportingRows | None:
        if self.training is None or wrote is None:
            return None
        return self.training.rows(wrote.place, label)

    def _estimate(
        self, wrote: CheckedRule | None, rows: SupportingRows | None, label: int
    ) -> Estimate | None:
        """From the evidence that was recorded, else from that of the training rows."""
        evidence = None if wrote is None else wrote.rule.evidence_for(label)
        if evidence is None and rows is not None:
            evidence = Evidence(len(rows.right), len(rows.wrong))
        return None if evidence is None else estimate(evidence, self.level)

    def _counterfactual(self, values: Floats, label: int) -> Counterfactual | None:
        if not self.counterfactuals:
            return None
        seen = None if self.training is None else self.training.X
        return counterfactual_of(self.theory, values, label, self.fixed, seen, self.limit)


def _deciding_part(parts: tuple[PartHistory, ...], label: int) -> int:
    """The part that decides a label: the last, or a layer if the list for bare rows is silent."""
    last = len(parts) - 1
    is_silent = parts[last].is_fallback and parts[last].trace.board[label] == UNSET
    return last - 1 if is_silent else last


def _decided(part: PartHistory, label: int) -> Literal["rule", "vote", "default", "sampled"]:
    if part.is_sampled:
        return "sampled"
    if part.trace.board[label] == UNSET:
        return "default"
    return "rule" if part.theory.ordered else "vote"


def _chosen(labels: Iterable[str] | None, schema: Schema) -> tuple[int, ...]:
    if labels is None:
        return tuple(range(schema.n_labels))
    if isinstance(labels, str):
        raise ValueError(f"labels is one text, {quoted(labels)}: give a list of labels")
    return tuple(label_number(name, schema) for name in labels)
