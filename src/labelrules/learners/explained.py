"""Classifiers that can say which rule said what."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from labelrules._types import Board, Floats
from labelrules.data import Dataset
from labelrules.data.document import Record
from labelrules.learners.probability import Background, BackgroundRecord, Smoothing, presence
from labelrules.learners.table import TableClassifier
from labelrules.rules import LayeredRun, LayeredTheory, RuleTable, Run
from labelrules.rules.json import LayersRecord, ListRecord, read_theory, theory_record


class TheoryState(Record):
    """The rules, and counts for cells that no rule writes."""

    theory: ListRecord | LayersRecord
    background: BackgroundRecord


class TheoryClassifier(TableClassifier):
    """A classifier whose model is a decision list, or several in layers.

    Attributes
    ----------
    theory_ : DecisionList or LayeredTheory
        The rules, with evidence from the training rows, or those given to `calibrate`.
    background_ : Background
        Counts for cells that no rule writes.
    """

    smoothing: Smoothing = "laplace"
    theory_: Any
    background_: Background

    _State: ClassVar[type[Record]] = TheoryState

    def _state(self) -> dict[str, Any]:
        return {"theory": theory_record(self.theory_), "background": self.background_.record}

    def _restore_state(self, state: Any) -> None:
        self.theory_ = read_theory(state.theory, self.schema_, ".theory")
        self.background_ = Background.of(state.background, self.n_labels_)

    def calibrate(self, X: Any, Y: Any = None) -> Self:
        """Count the evidence on rows that were not learned from; the rules stay as they are.

        The rules were made to fit the training rows, so evidence from there flatters them,
        and so do probabilities. A tenth of the rows, kept from `fit`, makes them honest.

        Parameters
        ----------
        X, Y
            As for `fit`, with the same features and the same labels or classes.

        Returns
        -------
        self
        """
        target, table = self._check_fitted(), self._table(X)
        truth = target.board(X if isinstance(X, Dataset) else Y, self.schema_)
        self.theory_ = self.theory_.with_evidence(table, truth)
        self.background_ = Background.count(self._run(table).board, truth)
        return self

    def writers(self, X: Any) -> Run | LayeredRun:
        """Which rule wrote each cell and ended each row, and the board they wrote.

        Rules are counted from 0, in the order of `theory_`, or of the layer of it; -1 stands for
        none.
        """
        self._check_fitted()
        return self._run(self._table(X))

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Rows by rules, 1 where the rule wrote a cell of the row or ended it.

        The rules of a layered theory follow one another, layer by layer.
        """
        run = self.writers(X)
        if isinstance(run, Run):
            return _path(run, len(self.theory_))
        layers = zip(run.layers, self.theory_.layers, strict=True)
        parts = [_path(part, len(layer)) for part, layer in layers]
        if run.fallback is not None:
            parts.append(_path(run.fallback, len(self.theory_.fallback)))
        return sparse.csr_array(sparse.hstack(parts))

    def _labels(self, X: Any) -> Board:
        theory = self.theory_
        table = theory if isinstance(theory, LayeredTheory) else RuleTable(theory)
        found: Board = table.predict(X)
        return found

    def _presence(self, X: Any) -> Floats:
        run = self._run(X)
        if isinstance(run, Run):
            return presence(self.theory_, run, self.background_, self._smoothing)
        found = run.presence
        if found is None:
            last = self.theory_.layers[-1]
            found = presence(last, run.layers[-1], self.background_, self._smoothing)
        if run.fallback is None:
            return found
        guessed = presence(self.theory_.fallback, run.fallback, self.background_, self._smoothing)
        return np.where(run.fallback.writer >= 0, guessed, found)

    @property
    def _smoothing(self) -> Smoothing:
        return self.smoothing

    def _run(self, X: Any) -> Run | LayeredRun:
        theory = self.theory_
        return theory.run(X) if isinstance(theory, LayeredTheory) else RuleTable(theory).run(X)


def _path(run: Run, n_rules: int) -> sparse.csr_array:
    """Rows by rules, 1 where the rule wrote a cell of the row or ended it."""
    rows, labels = np.nonzero(run.writer >= 0)
    ended = np.flatnonzero(run.stopped >= 0)
    rules = np.concatenate([run.writer[rows, labels], run.stopped[ended]])
    ones = np.ones(len(rules), dtype=np.int64)
    shape = (len(run.board), n_rules)
    path = sparse.csr_array((ones, (np.concatenate([rows, ended]), rules)), shape=shape)
    path.sum_duplicates()
    path.data[:] = 1
    return path
