"""Decision lists applied again after an edit, to rows on which the features were tested before."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Board, Integers, Matrix
from labelrules.rules.rule import Rule
from labelrules.rules.rule_table import RuleTable, kernel_columns
from labelrules.rules.theory import DecisionList

if TYPE_CHECKING:
    from labelrules.kernels.apply import FlatRules

Packed: TypeAlias = npt.NDArray[np.uint64]
"""Sets of rows, one bit for each: rules or labels by words."""


class Changes(NamedTuple):
    """What becomes of the predictions of a list when its rules change."""

    n_rows: int  #: Rows in which a prediction changes.
    n_cells: int  #: Predictions that change.
    n_known: int  #: Of these, those of which the truth is known.
    n_righted: int  #: Of those, the ones that become right.


class _Piece(NamedTuple):
    """Rules that stand together: all of the list, or all new."""

    arrays: "FlatRules"
    covered: Packed  # the rows that satisfy their conditions on features
    numbers: Sequence[int]
    is_kept: bool


class ListReplay:
    r"""Counts what edits of a decision list change in the predictions of some rows.

    Features are tested once for the rules of the list, and then for new rules only: that is most of
    the work. It needs a bit for each rule and row.

    Parameters
    ----------
    theory : DecisionList
    X : array or sparse matrix
        Encoded features of the rows.
    truth : int8 array, rows by labels, optional
        The true labels, UNSET where they are unknown.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("not sports <- sex = Male\nsports <- true", readers.schema)
    >>> replay = ListReplay(theory, readers.X, readers.Y)
    >>> replay.changes(theory.rules[1:])
    Changes(n_rows=9, n_cells=9, n_known=9, n_righted=1)
    """

    def __init__(self, theory: DecisionList, X: Matrix, truth: Board | None = None) -> None:
        from labelrules.kernels.replay import pack_cells

        self.theory, self.n_rows = theory, int(X.shape[0])
        self._n_words = (self.n_rows + 63) // 64
        self._columns = kernel_columns(X)
        self._number = {id(rule): number for number, rule in enumerate(theory)}
        self._kept = self._covered(theory)
        self._decided = np.zeros_like(self._kept[1])
        self._truth = self._no_cells(0 if truth is None else theory.schema.n_labels)
        if truth is not None:
            pack_cells(truth, *self._truth)
        everywhere = np.arange(self._n_words)
        self._before = self._present(
            [_Piece(*self._kept, range(len(theory)), True)], everywhere, self._decided
        )

    def changes(self, rules: Sequence[Rule]) -> Changes:
        """What changes in the predictions if these were the rules; kept ones are the same objects.

        A rule that is equal to one of the list, but another object, is tested anew.
        """
        from labelrules.kernels.replay import count_changes

        pieces = list(self._pieces(rules))
        places = self._words_that_may_change(pieces)
        after = self._present(pieces, places, np.empty((0, 0), np.uint64))
        counts = np.empty(4, np.int64)
        count_changes(self._before, after, places, *self._truth, counts)
        return Changes(*counts.tolist())

    def _pieces(self, rules: Sequence[Rule]) -> "Iterator[_Piece]":
        """Stretches of rules of the list, and of new ones."""
        for is_kept, group in groupby(rules, lambda rule: id(rule) in self._number):
            chosen = list(group)
            if is_kept:
                yield _Piece(*self._kept, [self._number[id(rule)] for rule in chosen], True)
            else:
                yield _Piece(*self._covered(chosen), range(len(chosen)), False)

    def _words_that_may_change(self, pieces: "Sequence[_Piece]") -> Integers:
        """Those with rows that a rule which leaves has decided, or that a new rule may cover."""
        kept = [number for piece in pieces if piece.is_kept for number in piece.numbers]
        if kept != sorted(set(kept)):
            return np.arange(self._n_words)
        leaving = np.delete(self._decided, kept, axis=0)
        new = [piece.covered for piece in pieces if not piece.is_kept]
        return np.flatnonzero(np.concatenate([leaving, *new]).any(axis=0))

    def _present(self, pieces: "Sequence[_Piece]", places: Integers, decided: Packed) -> Packed:
        """The rows that have each label by these rules, in the words at these places."""
        from labelrules.kernels.replay import replay_list

        written: Packed
        present: Packed
        written, present = self._no_cells(self.theory.schema.n_labels)
        # The rows that no rule has stopped; those beyond the last are covered by no rule.
        active = np.full(self._n_words, -1).view(np.uint64)
        for piece in pieces:
            numbers = np.array(piece.numbers, np.int64)
            replay_list(
                piece.arrays, numbers, piece.covered, places, written, present, active, decided
            )
        return present

    def _covered(self, rules: Iterable[Rule]) -> "tuple[FlatRules, Packed]":
        """Rules as arrays, and the rows that satisfy their conditions on features."""
        from labelrules.kernels.replay import cover_rules

        arrays = RuleTable(DecisionList(self.theory.schema, rules)).arrays
        covered = np.zeros((len(arrays.stops), self._n_words), np.uint64)
        cover_rules(arrays, self._columns, self.n_rows, covered)
        return arrays, covered

    def _no_cells(self, n_labels: int) -> Packed:
        """Two empty sets of rows for each label."""
        return np.zeros((2, n_labels, self._n_words), np.uint64)
