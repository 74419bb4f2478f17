"""Measures, which score predictions and candidate rules, and merits, which settle ties."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeAlias, get_args, overload

import numpy as np

from labelrules._checks import one_of, suggestion
from labelrules._types import UNSET, Floats, Integers, Mask
from labelrules.measures.confusion_matrix import (
    COUNTINGS,
    Confusion,
    Counting,
    cells,
    checked_coverage,
    checked_head,
    checked_labels,
    checked_predictions,
    confusion,
    counted_rows,
    weighted_matrices,
    weighted_sum,
)
from labelrules.measures.formulas import Formula


class Merit(NamedTuple):
    """The score of a candidate: the value of a measure, then the number of correct cells.

    This order is the one definition of ties. Merits compare as pairs: the greater value wins, of
    equal values the one with more correct cells, and of equal merits the candidate that came
    first; so keep a best one only when it is strictly exceeded (as ``max`` does).

    Values compare exactly, never with a tolerance, and a float compares with a fraction. A float
    from one division of counts (micro averaging of precision, recall, Hamming, subset, or F with
    beta 1/2, 1, 2) is as good as the fraction: equal fractions give equal floats, different ones
    different floats while fewer than ten million cells count. A mean of several divisions (macro,
    samples) may differ in the last bit where the fractions are equal; then use ``exact=True``.

    Examples
    --------
    >>> max(Merit(2 / 3, 4), Merit(4 / 6, 8), Merit(0.5, 100))
    Merit(value=0.6666666666666666, correct=8)
    """

    value: float | Fraction
    correct: int


Averaging: TypeAlias = Literal["micro", "macro", "samples", "cell"]
AVERAGINGS: tuple[str, ...] = get_args(Averaging)
"""One confusion matrix over all cells, or a mean over one per label, per row, or per cell."""

Predictions: TypeAlias = Literal["partial", "full"]
PREDICTIONS: tuple[str, ...] = get_args(Predictions)
"""Whether a label without a prediction is left out (partial) or predicted absent (full)."""


def matrices(
    outcomes: Confusion,
    averaging: Averaging,
    known: Mask | None = None,
    weights: Floats | None = None,
) -> tuple[Confusion, Integers | Floats]:
    """The confusion matrices whose values are averaged, and how often each one counts.

    A cell that is not counted (written already, or left open by a partial prediction) has an empty
    matrix. It adds nothing to a sum, and a row, label or cell left with an empty matrix has the
    formula's value of the empty matrix (0 for all measures of the chapter) and stays in the number
    by which the mean divides. Rows, labels and cells in which nothing is `known` do not. Rows may
    have weights.
    """
    if averaging == "cell":
        return _kinds_of_cells(outcomes, known, weights)
    axis = {"micro": None, "macro": 0, "samples": 1}[averaging]
    if weights is None or axis == 1:
        summed = Confusion(*(np.atleast_1d(part) for part in outcomes.sum(axis)))
    else:
        summed = weighted_matrices(outcomes, axis, weights)
    counts = np.ones(summed.tp.size, dtype=np.int64)
    if known is not None:
        counts = np.atleast_1d(known.any(axis)).astype(np.int64)
    return summed, counts if weights is None or axis != 1 else weights * counts


def mean(formula: Formula, averaged: Confusion, weights: Integers | Floats) -> float:
    """The mean of the formula's values, rounded once, so that order does not matter."""
    values = np.asarray(formula(*averaged), dtype=np.float64)
    is_whole = weights.dtype.kind == "i"
    return math.fsum(values * weights) / (int(weights.sum()) if is_whole else math.fsum(weights))


def exact_mean(formula: Formula, averaged: Confusion, weights: Integers | Floats) -> Fraction:
    """The mean of the formula's values as a fraction."""
    times: Counter[tuple[int, ...]] = Counter()  # there are few different matrices
    for *counts, n in zip(*(part.tolist() for part in (*averaged, weights)), strict=True):
        times[tuple(counts)] += n
    total = sum((n * formula.exact(*counts) for counts, n in times.items()), Fraction(0))
    return total / int(weights.sum())


def _kinds_of_cells(
    outcomes: Confusion, known: Mask | None, weights: Floats | None
) -> tuple[Confusion, Integers | Floats]:
    """The number of cells that are tp, fp, tn, fn and empty: the only matrices of one cell."""
    units = np.vstack([np.eye(4, dtype=np.int64), np.zeros((1, 4), dtype=np.int64)])
    if weights is not None:
        empty = (1 if known is None else known) - np.add.reduce(list(outcomes))
        sums = [weighted_sum(part, weights) for part in (*outcomes, empty)]
        return Confusion(*units.T), np.array(sums)
    n_each = [int(part) for part in outcomes.sum()]
    n_cells = outcomes.tp.size if known is None else np.count_nonzero(known)
    n_empty = n_cells - sum(n_each)
    return Confusion(*units.T), np.array([*n_each, n_empty], dtype=np.int64)


@dataclass(frozen=True, slots=True, repr=False)
class Measure:
    """A score of predictions, or of the rule that makes them.

    Parameters
    ----------
    formula : Formula
    averaging : {"micro", "macro", "samples", "cell"}
        One matrix over all cells, or the mean over one per label ("macro"), per row ("samples")
        or per cell; the first three as in scikit-learn. The chapter's words for the last three
        are label-based, example-based, and label- and example-based macro-averaging.
        Subset accuracy has the averaging "samples" only.
    predictions : {"partial", "full"}
        Partial: labels that are not predicted do not count. Full: they are predicted absent.

    Examples
    --------
    >>> measure = Measure.parse("f1/micro/partial")
    >>> measure, measure.averaging
    (<Measure: f1/micro/partial>, 'micro')
    >>> measure.of_rule([[0, 1], [1, 1], [1, 0]], covered=[True, True, False], head=[-1, 1])
    1.0
    """

    formula: Formula
    averaging: Averaging = "micro"
    predictions: Predictions = "partial"

    def __post_init__(self) -> None:
        if not isinstance(self.formula, Formula):
            raise ValueError(
                f"formula must be a Formula, not {self.formula!r}; or use Measure.parse"
            )
        one_of(self.averaging, "averaging", AVERAGINGS)
        one_of(self.predictions, "predictions", PREDICTIONS)
        if self.formula.name == "subset" and self.averaging != "samples":
            raise ValueError(
                f"subset accuracy has the averaging 'samples' only, not {self.averaging!r}"
            )

    @classmethod
    def parse(cls, text: str) -> "Measure":
        """Read ``formula[/averaging][/predictions]``; case and spaces do not matter.

        The defaults are micro (samples for subset accuracy) and partial.

        >>> str(Measure.parse("precision")), str(Measure.parse("F0.5 / full"))
        ('precision/micro/partial', 'f0.5/micro/full')
        """
        if not isinstance(text, str):
            raise ValueError(f"a measure is written as text like 'f1/micro/partial', not {text!r}")
        first, *words = (word.strip().lower() for word in text.split("/"))
        formula = Formula.parse(first)
        averaging = _taken("averaging", AVERAGINGS, words, text)
        predictions = _taken("predictions", PREDICTIONS, words, text)
        if words:
            near = suggestion(words[0], [*AVERAGINGS, *PREDICTIONS])
            raise ValueError(
                f"{words[0]!r} in the measure {text!r} is neither an averaging"
                f" ({', '.join(AVERAGINGS)}) nor partial or full{near}"
            )
        usual: Averaging = "samples" if formula.name == "subset" else "micro"
        return cls(formula, averaging or usual, predictions or "partial")

    def __str__(self) -> str:
        return f"{self.formula}/{self.averaging}/{self.predictions}"

    def __repr__(self) -> str:
        return f"<Measure: {self}>"

    @overload
    def of_predictions(self, Y: Any, predicted: Any, *, sample_weight: Any = None) -> float: ...
    @overload
    def of_predictions(
        self, Y: Any, predicted: Any, *, exact: Literal[True], sample_weight: Any = None
    ) -> Fraction: ...

    def of_predictions(
        self, Y: Any, predicted: Any, *, exact: bool = False, sample_weight: Any = None
    ) -> float | Fraction:
        """The score of finished predictions; presence of a label is the positive class.

        Parameters
        ----------
        Y : array-like
            The truth, rows by labels: 0, 1, or -1 or NaN where it is unknown. Unknown cells do not
            count, nor rows and labels without a known cell.
        predicted : array-like
            0, 1 or ``UNSET`` (-1): absent when predictions are full, not counted when partial.
        exact : bool, default=False
            Whether to return a Fraction instead of a float; not with weights that are not whole.
        sample_weight : array-like, optional
            How much each row counts; a whole weight stands for so many equal rows.

        Examples
        --------
        >>> Y, predicted = [[1, 0, 1], [0, 1, 1]], [[1, -1, -1], [1, -1, 1]]
        >>> Measure.parse("recall/micro/full").of_predictions(Y, predicted)
        0.5
        >>> Measure.parse("recall/micro/partial").of_predictions(Y, predicted, exact=True)
        Fraction(1, 1)
        """
        labels = checked_labels(Y)
        board = checked_predictions(predicted, labels.shape)
        if sample_weight is not None:
            rows, weights = counted_rows(sample_weight, len(labels))
            labels, board = labels[rows], board[rows]
        else:
            weights = None
        if exact and weights is not None:
            raise ValueError("exact values need whole weights: multiply them, or leave exact out")
        # A cell that must not count is marked as written already.
        closed = np.where(board == UNSET, 0, UNSET) if self.predictions == "partial" else None
        everywhere = np.ones(labels.shape[0], dtype=np.bool_)
        outcomes = confusion(cells(labels, everywhere, closed), board == 1, "plain")
        known = labels != UNSET
        if not known.any():
            raise ValueError("all cells of Y are unknown: there is nothing to compare with")
        return self._of(outcomes, exact, None if known.all() else known, weights)

    @overload
    def of_rule(
        self, Y: Any, covered: Any, head: Any, board: Any = None, counting: Counting = "chapter"
    ) -> float: ...
    @overload
    def of_rule(
        self,
        Y: Any,
        covered: Any,
        head: Any,
        board: Any = None,
        counting: Counting = "chapter",
        *,
        exact: Literal[True],
    ) -> Fraction: ...

    def of_rule(
        self,
        Y: Any,
        covered: Any,
        head: Any,
        board: Any = None,
        counting: Counting = "chapter",
        *,
        exact: bool = False,
    ) -> float | Fraction:
        """The score of a candidate rule.

        Parameters
        ----------
        Y, exact
            As for :meth:`of_predictions`; an unknown cell is like one that is written already.
        covered : array-like of bool
            The rows that the body covers.
        head : array-like
            One value per label: 0, 1, or ``UNSET`` (-1) for a label it does not concern.
        board : array-like, optional
            What earlier rules have written; only open (-1) cells count.
        counting : {"chapter", "head-relative", "plain"}
            How cells are counted, see :func:`labelrules.measures.confusion`.

        Examples
        --------
        The head {1, 2} of the chapter's comparison with association rules, by two measures:

        >>> Y, covered, head = [[0, 1], [1, 1], [1, 0]], [True, True, True], [1, 1]
        >>> Measure.parse("subset").of_rule(Y, covered, head, exact=True)
        Fraction(1, 3)
        >>> Measure.parse("precision").of_rule(Y, covered, head, exact=True)
        Fraction(2, 3)
        """
        return self._of(self.outcomes(Y, covered, head, board, counting), exact)

    def merit_of_rule(
        self,
        Y: Any,
        covered: Any,
        head: Any,
        board: Any = None,
        counting: Counting = "chapter",
        *,
        exact: bool = False,
    ) -> Merit:
        """The score of a candidate rule, with its true positives as the correct cells."""
        outcomes = self.outcomes(Y, covered, head, board, counting)
        return Merit(self._of(outcomes, exact), int(outcomes.sum().tp))

    def outcomes(
        self, Y: Any, covered: Any, head: Any, board: Any = None, counting: Counting = "chapter"
    ) -> Confusion:
        """The confusion matrix of every cell of a candidate rule, rows by relevant labels."""
        one_of(counting, "counting", COUNTINGS)
        labels = checked_labels(Y)
        mask = checked_coverage(covered, labels.shape[0])
        values = checked_head(head, labels.shape[1])
        written = None if board is None else checked_predictions(board, labels.shape, "board")
        if self.predictions == "partial":
            relevant = values != UNSET
            if not relevant.any():
                raise ValueError("the head is empty: a partial prediction needs at least one label")
            labels, values = labels[:, relevant], values[relevant]
            written = None if written is None else written[:, relevant]
        return confusion(cells(labels, mask, written), values == 1, counting)

    def _of(
        self,
        outcomes: Confusion,
        exact: bool,
        known: Mask | None = None,
        weights: Floats | None = None,
    ) -> float | Fraction:
        average = exact_mean if exact else mean
        return average(self.formula, *matrices(outcomes, self.averaging, known, weights))


def _taken(what: str, known: Sequence[str], words: list[str], text: str) -> Any:
    """Remove the known word from the words and return it, None if there is none."""
    given = [word for word in words if word in known]
    if len(given) > 1:
        raise ValueError(f"the measure {text!r} has more than one {what}: {', '.join(given)}")
    if given:
        words.remove(given[0])
    return given[0] if given else None
