"""Decision lists applied again after an edit, to rows on which the features were tested before."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Board, Matrix
from labelrules.rules.rule import Rule
from labelrules.rules.rule_table import RuleTable, columns_of
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
    Changes(n_rows=5, n_cells=5, n_known=5, n_righted=1)
    """

    def __init__(self, theory: DecisionList, X: Matrix, truth: Board | None = None) -> None:
        from labelrules.kernels.replay import pack_cells

        self.theory, self.n_rows = theory, X.shape[0]
        self._columns = columns_of(X)
        self._number = {id(rule): number for number, rule in enumerate(theory)}
        self._kept = self._covered(theory)
        self._truth = self._no_cells(0 if truth is None else theory.schema.n_labels)
        if truth is not None:
            pack_cells(truth, *self._truth)
        self._before = self._present(theory.rules)

    def changes(self, rules: Sequence[Rule]) -> Changes:
        """What changes in the predictions if these were the rules; kept ones are the same objects.

        A rule that is equal to one of the list, but another object, is tested anew.
        """
        from labelrules.kernels.replay import count_changes

        counts = np.empty(4, np.int64)
        count_changes(self._before, self._present(rules), *self._truth, counts)
        return Changes(*counts.tolist())

    def _present(self, rules: Sequence[Rule]) -> Packed:
        """The rows that have each label by these rules: labels by words."""
        from labelrules.kernels.replay import replay_list

        written, present = self._no_cells(self.theory.schema.n_labels)
        # The rows that no rule has stopped; those beyond the last are covered by no rule.
        active = np.full(written.shape[1], -1).view(np.uint64)
        for is_kept, group in groupby(rules, lambda rule: id(rule) in self._number):
            chosen = list(group)
            arrays, covered = self._kept if is_kept else self._covered(chosen)
            places = [self._number[id(one)] for one in chosen] if is_kept else range(len(chosen))
            numbers = np.array(places, np.int64)
            replay_list(arrays, numbers, covered, written, present, active)
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

    @property
    def _n_words(self) -> int:
        return (self.n_rows + 63) // 64
