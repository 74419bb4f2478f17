"""The best head for a body, for every measure; `rehead` chooses the heads of a list anew."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from labelrules._types import UNSET, Board, Mask
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.table import Dataset
from labelrules.measures import Measure
from labelrules.rules import DecisionList, Head, Rule
from labelrules.search.heads.additive import (
    RATIOS,
    BestRatio,
    best_of_sizes,
    best_ratio,
    best_separable,
    literal_ratios,
)
from labelrules.search.heads.branch_and_bound import best_f, best_general
from labelrules.search.heads.problem import (
    BestVector,
    Counting,
    HeadProblem,
    Polarity,
    known_formula,
    preference,
)
from labelrules.search.heads.size_bonus import SizeBonus, no_bonus
from labelrules.search.heads.whole_rows import (
    best_by_size,
    best_satisfied,
    most_frequent,
    rarest_opposite,
)

Method: TypeAlias = Literal[
    "closed form", "Dinkelbach", "mode of vectors", "GFM", "branch and bound"
]

MAX_NODES = 100_000
"""Nodes after which a branch and bound search ends, even if better heads may be left."""


@dataclass(frozen=True, eq=False)
class HeadFound:
    """The best head, and how it was found.

    Attributes
    ----------
    vector : array of int8
        One cell per label: 0, 1 or `UNSET`.
    method : {"closed form", "Dinkelbach", "mode of vectors", "GFM", "branch and bound"}
    evaluated : int
        Heads that were evaluated; nodes for branch and bound.
    gap : float
        By how much another head, with its size bonus, might exceed this one: 0 unless the search
        ended at its limit of nodes.
    """

    vector: Board
    method: Method
    evaluated: int
    gap: float
    problem: HeadProblem = field(repr=False)

    @property
    def head(self) -> Head:
        """The head as a part of a rule."""
        return Head.from_vector(self.vector)

    @cached_property
    def value(self) -> Fraction | float:
        """The exact value of the measure, without size bonus; a float if it is irrational."""
        return self.problem.exact_value(self.vector)

    @property
    def value_with_bonus(self) -> float:
        """The value times the bonus for the size of the head."""
        return float(self.value) * self.problem.factors[self.problem.size(self.vector)]

    def __repr__(self) -> str:
        cells = "".join("?" if cell == UNSET else str(cell) for cell in self.vector.tolist())
        gap = f", gap {self.gap:.3g}" if self.gap else ""
        return f"HeadFound({cells}, {self.problem.measure} = {self.value}, {self.method}{gap})"


def best_head(
    Y: Any,
    covered: Any,
    measure: Measure | str,
    board: Any = None,
    *,
    counting: Counting = "chapter",
    polarity: Polarity = "both",
    max_labels: int | None = None,
    size_bonus: SizeBonus = no_bonus,
    max_nodes: int = MAX_NODES,
) -> HeadFound:
    """Find the head of the greatest value for the rows that a body covers.

    Ties go to the largest head, then to most presences, then to the labels that come first.

    Parameters
    ----------
    Y : array-like
        The truth, rows by labels, 0 or 1.
    covered : array-like of bool
        The rows that the body covers.
    measure : Measure or str
        Such as ``"f1/micro/partial"``.
    board : array of int8, optional
        Labels already written (0 or 1, else `UNSET`); only open cells count.
    counting : {"chapter", "head-relative", "plain"}
        How cells are counted, "plain" for full predictions only; see
        :func:`labelrules.measures.confusion`.
    polarity : {"both", "presence"}
        Whether heads may predict absence. Full predictions predict it for every label not in the
        head; there "both" allows the head without any presence.
    max_labels : int, optional
        The largest head; 1 for single-label heads.
    size_bonus : function, optional
        A factor on the value by head size; see :mod:`labelrules.search.heads.size_bonus`.
    max_nodes : int
        Where a branch and bound search ends; the result then has a `gap`.

    Examples
    --------
    The chapter's figure: rows 4 to 6 are covered, micro-averaged precision of partial predictions.

    >>> Y = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
    >>> covered = [False, False, False, True, True, True]
    >>> best_head(Y, covered, "precision/micro/partial", polarity="presence")
    HeadFound(11??, precision/micro/partial = 2/3, closed form)
    """
    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    problem = HeadProblem(Y, covered, measure, board, counting, polarity, max_labels, size_bonus)
    return _SEARCHES[measure.averaging](problem, max_nodes)


def _micro(problem: HeadProblem, max_nodes: int) -> HeadFound:
    formula = problem.measure.formula
    if known_formula(problem.measure) in RATIOS:
        parts = literal_ratios(formula, problem.counts, problem.n_rows)
        if problem.is_unrestricted:
            best = best_ratio(problem, parts)
            method: Method = "Dinkelbach" if problem.is_full else "closed form"
            return _found(problem, method, BestVector(best.vector, best.evaluated))
        sizes = range(problem.smallest, problem.largest + 1)
        every = [best_ratio(problem, parts, size) for size in sizes]
        best = max(every, key=lambda one: _key_with_bonus(problem, one))
        evaluated = sum(one.evaluated for one in every)
        return _found(problem, "Dinkelbach", BestVector(best.vector, evaluated))
    if problem.largest == 1 and not problem.is_full:
        return _singles(problem)
    raise ValueError(
        f"no exact search is known for heads of several labels under {problem.measure}: use the "
        f"averaging 'macro', as in '{formula}/macro/{problem.measure.predictions}', or "
        "max_labels=1 with partial predictions"
    )


def _key_with_bonus(problem: HeadProblem, best: BestRatio) -> tuple[Any, ...]:
    factor = Fraction(problem.factors[problem.size(best.vector)])
    return best.ratio * factor, preference(best.vector)


def _singles(problem: HeadProblem) -> HeadFound:
    """Every single literal, scored by the formula itself."""
    labelwise = Measure(problem.measure.formula, "macro", problem.measure.predictions)
    best = best_of_sizes(replace(problem, measure=labelwise, max_labels=1))
    return _found(problem, "closed form", best)


def _by_label(problem: HeadProblem, max_nodes: int) -> HeadFound:
    search = best_separable if problem.is_unrestricted else best_of_sizes
    return _found(problem, "closed form", search(problem))


def _by_example(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if problem.counting == "plain":
        return _plain_by_example(problem)
    name = known_formula(problem.measure) or ""
    additive = name in ("precision", "hamming") and problem.is_full
    if name in _WHOLE_ROWS and (problem.rows_are_whole or additive):
        return _WHOLE_ROWS[name](problem, max_nodes)
    return _general(problem, max_nodes)


def _plain_by_example(problem: HeadProblem) -> HeadFound:
    name = known_formula(problem.measure)
    if not problem.rows_are_whole or name is None:
        raise ValueError(
            "counting='plain' with example-based averaging needs one of the chapter's measures and "
            "rows that are open as a whole or not at all: use 'chapter' or 'head-relative'"
        )
    if name == "hamming":
        return _by_label(problem, 0)
    if name == "subset":
        return _subset(problem, 0)
    return _found(problem, "GFM", best_by_size(problem))


def _general(problem: HeadProblem, max_nodes: int) -> HeadFound:
    return _found(problem, "branch and bound", best_general(problem, max_nodes))


def _f(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if problem.measure.formula.parameter == 0:
        return _by_label(problem, max_nodes)  # F with beta 0 is precision
    return _found(problem, "branch and bound", best_f(problem, max_nodes))


def _recall(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if not problem.is_unrestricted:
        return _general(problem, max_nodes)
    return _found(problem, "mode of vectors", rarest_opposite(problem))


def _subset(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if problem.is_full:
        return _found(problem, "mode of vectors", most_frequent(problem))
    if not problem.is_unrestricted:
        return _general(problem, max_nodes)
    return _found(problem, "mode of vectors", best_satisfied(problem))


def _found(problem: HeadProblem, method: Method, best: BestVector) -> HeadFound:
    return HeadFound(best.vector, method, int(best.evaluated), best.gap, problem)


_Search: TypeAlias = Callable[[HeadProblem, int], HeadFound]
_SEARCHES: dict[str, _Search] = {
    "micro": _micro, "macro": _by_label, "cell": _by_label, "samples": _by_example,
}  # fmt: skip
_WHOLE_ROWS: dict[str, _Search] = {
    "precision": _by_label, "hamming": _by_label, "recall": _recall, "f": _f, "subset": _subset,
}  # fmt: skip


def rehead(
    theory: DecisionList,
    data: Dataset,
    measure: Measure | str,
    *,
    counting: Counting = "chapter",
    polarity: Polarity = "both",
    max_labels: int | None = None,
    size_bonus: SizeBonus = no_bonus,
    max_nodes: int = MAX_NODES,
) -> DecisionList:
    r"""Choose the head of every rule anew, for a measure; bodies and stop marks stay.

    The rules are applied in order on one board: a rule reads the labels that the new heads before
    it have written, and its head is chosen on the cells that are still open. A rule without an open
    cell to write keeps its head.

    Parameters
    ----------
    theory : DecisionList
    data : Dataset
        Rows and true labels, over the schema of the theory; `labelrules.dataset` makes one.
    measure : Measure or str
    counting, polarity, max_labels, size_bonus, max_nodes
        As for :func:`labelrules.search.best_head`.

    Returns
    -------
    DecisionList
        With evidence counted on the cells that each rule writes.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("quality <- education = University\nquality <- true", readers.schema)
    >>> print(rehead(theory, readers, "subset/samples/full"))
    quality, tabloid, not others <- education = University
    otherwise: no label
    """
    if not isinstance(theory, DecisionList):
        raise ValueError(f"rehead takes a DecisionList, not a {type(theory).__name__}")
    if not isinstance(data, Dataset):
        raise TypeError(f"rehead needs a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    matrix = encode(data, theory.schema)
    truth = encode_labels(data, theory.schema)
    if matrix.shape[0] != len(truth):
        raise ValueError(f"X has {matrix.shape[0]} rows but Y has {len(truth)}")
    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    options = {
        "counting": counting, "polarity": polarity, "max_labels": max_labels,
        "size_bonus": size_bonus, "max_nodes": max_nodes,
    }  # fmt: skip
    rules: list[Rule] = []
    for rule in theory:
        run = DecisionList(theory.schema, rules).run(data)
        going = run.stopped < 0
        covered = rule.body.covers(matrix, run.board) & going
        # Rows that a stopping rule has finished are written for good, whatever they left open.
        board = np.where(going[:, np.newaxis], run.board, truth)
        rules.append(_reheaded(rule, truth, covered, board, measure, options))
    return DecisionList(theory.schema, rules).with_evidence(data, truth)


def _reheaded(
    rule: Rule, truth: Board, covered: Mask, board: Board, measure: Measure, options: dict[str, Any]
) -> Rule:
    writable = (board[covered] == UNSET).any(axis=0)
    if not writable.any():
        return rule
    full = measure.predictions == "full"
    # A partial head has no labels that it could not write anywhere.
    labels = np.flatnonzero(writable | full)
    found = best_head(truth[:, labels], covered, measure, board[:, labels], **options)
    vector = np.full(len(writable), UNSET)
    vector[labels] = found.vector
    head = Head.from_vector(vector)
    return Rule(head.completed() if full else head, rule.body, rule.stops, note=rule.note)
