"""The best head for a body, for every measure, and how it was found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

from labelrules._types import Board
from labelrules.measures import Measure
from labelrules.rules import Head
from labelrules.search.fractional import RATIOS, RatioFound, best_ratio, parts_of
from labelrules.search.general import best_general
from labelrules.search.gfm import best_by_size
from labelrules.search.lift import Lift, no_lift
from labelrules.search.problem import HeadProblem, RuleConvention, known_formula, preference
from labelrules.search.separable import best_of_sizes, best_separable
from labelrules.search.tangent import best_f
from labelrules.search.vectors import best_satisfied, most_frequent, rarest_opposite

Method: TypeAlias = Literal[
    "closed form", "Dinkelbach", "mode of vectors", "GFM", "branch and bound"
]

MAX_NODES = 100_000
"""Nodes of a branch and bound search before it gives up on proving the rest."""


@dataclass(frozen=True, eq=False)
class HeadFound:
    """The best head, and how it was found.

    Attributes
    ----------
    vector : array of int8
        One cell per label: 0, 1 or `UNSET`.
    method : {"closed form", "Dinkelbach", "mode of vectors", "GFM", "branch and bound"}
    evaluated : int
        Heads that were looked at; nodes for branch and bound.
    gap : float
        By how much the lifted value of another head might exceed this one's: 0 unless the search
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
        """The exact value of the measure, without the lift; a float if it is irrational."""
        return self.problem.exact_value(self.vector)

    @property
    def lifted(self) -> float:
        """The value times the lift for the size of the head."""
        return float(self.value) * self.problem.factors[self.problem.size(self.vector)]


def best_head(
    Y: Any,
    covered: Any,
    measure: Measure | str,
    board: Any = None,
    *,
    convention: RuleConvention = "chapter",
    absence: bool = True,
    max_labels: int | None = None,
    lift: Lift = no_lift,
    max_nodes: int = MAX_NODES,
) -> HeadFound:
    """Find the head of the greatest value for the rows that a body covers.

    Of equally good heads it is the largest, then the one with most presences, then the one whose
    labels come first.

    Parameters
    ----------
    Y : array-like
        The truth, rows by labels, 0 or 1.
    covered : array-like of bool
        The rows that the body covers.
    measure : Measure or str
        Such as ``"f1/micro/partial"``.
    board : array of int8, optional
        What is written already; only open cells count.
    convention : {"chapter", "head-relative", "plain"}
        How cells are counted, plainly only for full predictions; see
        :func:`labelrules.measures.confusion`.
    absence : bool, default=True
        Whether heads may predict absence. Full predictions say it of every label not in the
        head; there it allows the head without any presence.
    max_labels : int, optional
        The largest head; 1 asks for single-label heads.
    lift : function, optional
        A factor on the value by head size; see :mod:`labelrules.search.lift`.
    max_nodes : int
        Where a branch and bound search ends; the result then says how much may be missing.

    Returns
    -------
    HeadFound

    Examples
    --------
    The chapter's figure: rows 4 to 6 are covered, micro-averaged precision of partial predictions.

    >>> Y = [[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]]
    >>> covered = [False, False, False, True, True, True]
    >>> found = best_head(Y, covered, "precision/micro/partial", absence=False)
    >>> found.vector, found.value, found.method
    (array([ 1,  1, -1, -1], dtype=int8), Fraction(2, 3), 'closed form')
    """
    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    problem = HeadProblem(Y, covered, measure, board, convention, absence, max_labels, lift)
    return _SEARCHES[measure.averaging](problem, max_nodes)


def _micro(problem: HeadProblem, max_nodes: int) -> HeadFound:
    formula = problem.measure.formula
    if known_formula(problem.measure) in RATIOS:
        parts = parts_of(formula, problem.counts, problem.n_rows)
        if problem.is_unrestricted:
            found = best_ratio(problem, parts)
            closed = not problem.is_full
            return _found(problem, "closed form" if closed else "Dinkelbach", *found[::2])
        sizes = range(problem.smallest, problem.largest + 1)
        every = [best_ratio(problem, parts, size) for size in sizes]
        best = max(every, key=lambda found: _lifted_key(problem, found))
        return _found(problem, "Dinkelbach", best.head, sum(f.evaluated for f in every))
    if problem.largest == 1 and not problem.is_full:
        return _singles(problem)
    raise ValueError(
        f"no exact search is known for heads of several labels under {problem.measure}: use the "
        f"averaging 'label', as in '{formula}/label/{problem.measure.predictions}', or "
        "max_labels=1 with partial predictions"
    )


def _lifted_key(problem: HeadProblem, found: RatioFound) -> tuple[Any, ...]:
    factor = Fraction(problem.factors[problem.size(found.head)])
    return found.ratio * factor, preference(found.head)


def _singles(problem: HeadProblem) -> HeadFound:
    """Every single literal, scored by the formula itself."""
    labelwise = Measure(problem.measure.formula, "label", problem.measure.predictions)
    found = best_of_sizes(
        HeadProblem(
            problem.Y, problem.covered, labelwise, problem.board, problem.convention,
            problem.absence, 1, problem.lift,
        )
    )  # fmt: skip
    return _found(problem, "closed form", *found)


def _by_label(problem: HeadProblem, max_nodes: int) -> HeadFound:
    search = best_separable if problem.is_unrestricted else best_of_sizes
    return _found(problem, "closed form", *search(problem))


def _by_example(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if problem.convention == "plain":
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
            "example-based plain counting needs one of the chapter's measures, and rows that are "
            "open as a whole or not at all: use 'chapter' or 'head-relative'"
        )
    if name == "hamming":
        return _by_label(problem, 0)
    if name == "subset":
        return _subset(problem, 0)
    return _found(problem, "GFM", *best_by_size(problem))


def _general(problem: HeadProblem, max_nodes: int) -> HeadFound:
    head, evaluated, gap = best_general(problem, max_nodes)
    return HeadFound(head, "branch and bound", evaluated, gap, problem)


def _f(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if problem.measure.formula.parameter == 0:
        return _by_label(problem, max_nodes)  # F with beta 0 is precision
    head, evaluated, gap = best_f(problem, max_nodes)
    return HeadFound(head, "branch and bound", evaluated, gap, problem)


def _recall(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if not problem.is_unrestricted:
        return _general(problem, max_nodes)
    return _found(problem, "mode of vectors", *rarest_opposite(problem))


def _subset(problem: HeadProblem, max_nodes: int) -> HeadFound:
    if problem.is_full:
        return _found(problem, "mode of vectors", *most_frequent(problem))
    if not problem.is_unrestricted:
        return _general(problem, max_nodes)
    return _found(problem, "mode of vectors", *best_satisfied(problem))


def _found(problem: HeadProblem, method: Method, head: Board, evaluated: Any) -> HeadFound:
    return HeadFound(head, method, int(evaluated), 0.0, problem)


_Search: TypeAlias = Callable[[HeadProblem, int], HeadFound]
_SEARCHES: dict[str, _Search] = {
    "micro": _micro, "label": _by_label, "macro": _by_label, "example": _by_example,
}  # fmt: skip
_WHOLE_ROWS: dict[str, _Search] = {
    "precision": _by_label, "hamming": _by_label, "recall": _recall, "f": _f, "subset": _subset,
}  # fmt: skip
