"""Stacked binary relevance: a second layer that reads the labels of the first."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from labelrules._checks import suggestion
from labelrules._types import Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.discovery.significance import checked_alpha
from labelrules.learners.base.per_label import LabelwiseClassifier, flat, majority
from labelrules.learners.base.progress import Listener, word
from labelrules.learners.base.workers import (
    Crew,
    FittedReader,
    Job,
    Work,
    folds_of,
    held_out_cells,
    numbers_of,
)
from labelrules.learners.dependence import compared, mcnemar
from labelrules.measures import ratio
from labelrules.rules import (
    DecisionList,
    Gibbs,
    LabelByLabel,
    LayeredTheory,
    Once,
    RuleTable,
    UntilStable,
)
from labelrules.rules.inference import Inference, Rounds, closed

# -------------------- Errors that are handed on from layer to layer


@dataclass(frozen=True, eq=False)
class ErrorPropagation:
    """How often a layer is right when it is shown true labels, and when predicted ones.

    If a label is told by another one, a mistake in the other is likely to become a mistake in it.
    What the layer loses by predicted labels is the price of that.

    Attributes
    ----------
    labels : tuple of str
    before : array of float
        For each label how often the layer before is right.
    on_predictions : array of float
        How often the layer is right that is shown what the layer before says.
    on_truth : array of float
        How often it would be right if it were shown the true labels.
    """

    labels: tuple[str, ...]
    before: Floats
    on_predictions: Floats
    on_truth: Floats

    @classmethod
    def count(
        cls,
        labels: tuple[str, ...],
        truth: Board,
        before: Board,
        on_predictions: Board,
        on_truth: Board,
    ) -> "ErrorPropagation":
        """Compare three boards with the true labels."""
        shares = [(board == truth).mean(axis=0) for board in (before, on_predictions, on_truth)]
        return cls(labels, *(np.asarray(share, dtype=np.float64) for share in shares))

    @property
    def loss(self) -> Floats:
        """For each label how much less often it is right because of predicted labels."""
        return self.on_truth - self.on_predictions

    def __str__(self) -> str:
        width = max(8, *(len(name) for name in self.labels))
        lines = [f"{'':<{width}}  layer before  on predictions  on true labels"]
        parts = (self.before, self.on_predictions, self.on_truth)
        for name, *shares in zip(self.labels, *parts, strict=True):
            lines.append(_line(name, width, shares))
        return "\n".join([*lines, _line("all", width, [float(part.mean()) for part in parts])])


def _line(name: str, width: int, shares: list[float]) -> str:
    before, predicted, true = shares
    return f"{name:<{width}}  {before:>12.3f}  {predicted:>14.3f}  {true:>14.3f}"


# ---------------------------------------------------------------- the main part

WAYS: dict[str, Inference] = {
    "once": Once(),
    "until stable": UntilStable(),
    "label by label": LabelByLabel(),
    "gibbs": Gibbs(),
}
"""The ways to read the last layer, by name."""


class StackedBinaryRelevance(LabelwiseClassifier):
    """Learn two layers of models: by the features alone, then by the features and other labels.

    In predicting, the second layer is shown the labels that the first has predicted. With a base
    that learns rules, `theory_` is a layered theory. The options make it one of several methods of
    the literature; see the page on layers.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels; see :class:`LabelwiseClassifier`. By default `Ripper()`.
    labels_from : {"out-of-fold", "truth"}, default="out-of-fold"
        Whether the second layer learns from what the first one predicts for rows of other folds
        than it has learned from, or from the true values of the other labels, as the chapter has
        it. The latter takes less time, but in predicting the second layer does not find what it
        has learned from.
    with_features : bool, default=True
        Whether the second layer is shown the features too, or labels only (pure stacking).
    own_label : bool, default=False
        Whether the second layer is also shown what the first one says of the label itself; only
        with labels that are predicted out of fold.
    n_layers : int, default=2
        How many layers are learned at most, each like the second. Learning ends when a layer
        predicts for the training rows what the one before it does. From true labels every further
        layer is the same as the second.
    inference : {"once", "until stable", "label by label", "gibbs"} or Inference, default="once"
        How the last layer comes to its result; see :class:`labelrules.rules.LayeredTheory`. With
        Gibbs sampling the first layer says the majority only, to start from.
    n_folds : int, default=5
        For predictions out of fold.
    random_state : int, default=0
        Chooses the folds, together with the values of the rows.
    alpha : float, optional, default=0.05
        A label is told by a further layer only if that is right on significantly more rows of other
        folds than it has learned from (McNemar's exact test at this level) and its F1 there is not
        lower; otherwise by the models it had before. With None, and from true labels, every label
        is told anew.
    last_resort : float, optional, default=0.4
        Rows in which no label is found are given the likeliest one if it is more probable than
        this; see :class:`LabelwiseClassifier`. It reads the labels of the last layer, as a further
        layer would. `None` for no such rules.
    n_jobs : int, optional
        Labels that are learned at the same time. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show how far learning has come, or a function to call with each
        :class:`LabelProgress`.

    Attributes
    ----------
    theory_ : LayeredTheory
        If the base learns rules.
    n_layers_ : int
        How many layers were learned; 1 if a further one is not better for any label.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.learners import SeparateAndConquer
    >>> model = StackedBinaryRelevance(SeparateAndConquer(), labels_from="truth")
    >>> model = model.fit(load("magazines"))
    >>> print(model.theory_)
    layer 1:
    quality <- education = University
    quality <- marital = Divorced, children = No
    not quality <- true
    not tabloid <- true
    fashion <- sex = Female, education = University
    not fashion <- true
    sports <- marital = Divorced, education = Secondary, children = No
    not sports <- true
    layer 2:
    quality <- education = University
    quality <- sports
    not quality <- true
    not tabloid <- true
    not fashion <- true
    not sports <- true
    """

    def __init__(
        self,
        base: Any = None,
        *,
        labels_from: str = "out-of-fold",
        with_features: bool = True,
        own_label: bool = False,
        n_layers: int = 2,
        inference: str | Inference = "once",
        n_folds: int = 5,
        random_state: int = 0,
        alpha: float | None = 0.05,
        last_resort: float | None = 0.4,
        n_jobs: int | None = None,
        progress: bool | Listener = False,
    ) -> None:
        self.base = base
        self.labels_from = labels_from
        self.with_features = with_features
        self.own_label = own_label
        self.n_layers = n_layers
        self.inference = inference
        self.n_folds = n_folds
        self.random_state = random_state
        self.alpha = alpha
        self.last_resort = last_resort
        self.n_jobs = n_jobs
        self.progress = progress

    def _learn(self, data: Dataset, base: Any, crew: Crew) -> None:
        self._way = way = self._checked_way()
        work = Work(base, data, data.Y)
        self._layers = [self._first_layer(work, crew, way)]
        self._sees_own_label = bool(self.own_label)
        self._further_layers(work, crew)
        self.n_layers_ = len(self._layers)
        if work.makes_rules:
            lists = [DecisionList(data.schema, flat(members)) for members in self._layers]
            self._keep(LayeredTheory(data.schema, lists, way), data)

    def _first_layer(self, work: Work, crew: Crew, way: Inference) -> list[Any]:
        usual = majority(work.data.Y)
        jobs = [Job(label) for label in range(len(usual))]
        learned = {} if isinstance(way, Gibbs) else crew.learn(work, jobs, "layer 1")
        return [
            learned[job] if job in learned else work.constant(job, usual[job.label]) for job in jobs
        ]

    def _further_layers(self, first: Work, crew: Crew) -> None:
        data, every = first.data, range(first.data.schema.n_labels)
        jobs = [Job(i, tuple(j for j in every if j != i or self.own_label)) for i in every]
        if self.labels_from == "truth":
            work = Work(first.base, data, data.Y, self.with_features)
            learned = crew.learn(work, jobs, "layer 2")
            layer = [learned.get(job) or work.unchanged(job.label) for job in jobs]
            self._layers += [layer] * (self.n_layers - 1)
            return
        folds = folds_of(data, self.n_folds, self.random_state)
        shown = _told(first, [Job(label) for label in every], folds, crew, "layer 1")
        for number in range(2, self.n_layers + 1):
            work = Work(first.base, data, shown, self.with_features)
            learned = crew.learn(work, jobs, f"layer {number}")
            told = shown
            if self.alpha is not None or number < self.n_layers:
                told = _told(work, jobs, folds, crew, f"layer {number} on trial")
            kept = self._kept(data.Y, shown, told, [job in learned for job in jobs], crew)
            if not any(kept) or (number > 2 and (told == shown)[:, kept].all()):
                return
            before = self._layers[0] if number == 2 else [work.unchanged(i) for i in every]
            self._layers.append([learned[jobs[i]] if kept[i] else before[i] for i in every])
            shown = np.where(kept, told, shown)

    def _kept(
        self, Y: Board, shown: Board, told: Board, done: list[bool], crew: Crew
    ) -> list[bool]:
        """Which labels a further layer tells: all that are learned, or those it tells better."""
        if self.alpha is None or crew.was_interrupted:
            return [self.alpha is None and one for one in done]
        return [
            is_better(Y[:, i], shown[:, i], told[:, i], float(self.alpha)) for i in range(len(done))
        ]

    def _checked_way(self) -> Inference:
        """How the last layer is read, if all parameters go together."""
        word(self, "labels_from", ("out-of-fold", "truth"))
        for name, lowest in (("n_layers", 2), ("n_folds", 2), ("random_state", 0)):
            _check_whole(name, getattr(self, name), lowest)
        for name in ("with_features", "own_label"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ValueError(f"{name} must be True or False, not {getattr(self, name)!r}")
        if self.own_label and self.labels_from == "truth":
            raise ValueError(
                "own_label needs labels_from='out-of-fold': the true label would tell itself"
            )
        if self.alpha is not None:
            checked_alpha(self.alpha)
        way = as_inference(self.inference)
        if isinstance(way, Gibbs) and self.labels_from != "truth":
            raise ValueError(
                "Gibbs sampling needs labels_from='truth': it asks how probable a label is when "
                "the others are known"
            )
        return way

    def error_propagation(self, X: Any, Y: Any = None) -> ErrorPropagation:
        """How right the last layer is when it is shown true labels, and when predicted ones.

        Parameters
        ----------
        X, Y
            As for `fit`, with the same features and labels.
        """
        target, table = self._check_fitted(), self._table(X)
        if self._sees_own_label:
            raise ValueError("with own_label the last layer would be shown what it is to predict")
        if self.n_layers_ == 1:
            raise ValueError(
                "there is one layer only, since a further one was not better for any label; "
                "alpha=None keeps it nevertheless"
            )
        truth = target.board(X if isinstance(X, Dataset) else Y, self.schema_)
        rows = self._rows(table)
        before = self._before_last(rows)
        return ErrorPropagation.count(
            self.schema_.labels, truth, before, self._last(rows, before), self._last(rows, truth)
        )

    def _said(self, X: Any) -> Board:
        return self._ask(X)[1].run.board

    def _probable(self, X: Any) -> Floats:
        last, rounds, seen = self._ask(X)
        if rounds.presence is not None:
            return rounds.presence
        if isinstance(self._way, Once):
            return last.presence(seen)
        # Rows that have not settled keep what the first round said, which has seen what was before.
        settled = (rounds.n_rounds > 0)[:, None] | isinstance(self._way, LabelByLabel)
        return last.presence(np.where(settled, rounds.run.board, seen))

    def _ask(self, X: Any) -> tuple[FittedReader, Rounds, Board]:
        """The last layer of classifiers, its answer, and what it was shown."""
        rows = self._rows(X)
        last = FittedReader(self._layers[-1], numbers_of(rows))
        seen = self._before_last(rows)
        return last, last.ask(self._way, seen), seen

    def _before_last(self, rows: Dataset) -> Board:
        """What the last layer is shown; a first layer tests no labels."""
        if self.n_layers_ == 1:
            return np.zeros((rows.n_rows, self.n_labels_), dtype=np.int8)
        if self._has_theory:
            return LayeredTheory(rows.schema, self.theory_.layers[:-1]).predict(rows)
        seen, numbers = None, numbers_of(rows)
        for members in self._layers[:-1]:
            seen = FittedReader(members, numbers).read(seen).board
        return np.asarray(seen)

    def _last(self, rows: Dataset, seen: Board) -> Board:
        """What the last layer says, asked once, when it is shown these labels."""
        if self._has_theory:
            return closed(RuleTable(self.theory_.layers[-1]).apply(rows, reads=seen))
        return FittedReader(self._layers[-1], numbers_of(rows)).read(seen).board


def _told(work: Work, jobs: list[Job], folds: Integers, crew: Crew, phase: str) -> Board:
    """What a layer says of rows that it has not learned from."""
    said = held_out_cells(work, jobs, folds, crew, phase)
    return np.column_stack([said[job] for job in jobs])


def is_better(truth: Board, before: Board, after: Board, alpha: float) -> bool:
    """Whether significantly more cells of a label are right than before, and its F1 not lower.

    Fewer wrong cells alone could mean that a rare label is not found any more.
    """
    gained, lost = compared(before == truth, after == truth)
    if gained <= lost or mcnemar(gained, lost) > alpha:
        return False
    return _f1(truth, after) >= _f1(truth, before)


def _f1(truth: Board, said: Board) -> float:
    return float(ratio(2 * int((truth & said).sum()), int(truth.sum()) + int(said.sum())))


def as_inference(way: Any) -> Inference:
    """A way to read the last layer, given as such or by its name."""
    if isinstance(way, Inference):
        return way
    if isinstance(way, str) and way in WAYS:
        return WAYS[way]
    raise ValueError(
        f"inference must be one of {', '.join(map(repr, WAYS))}, or such as UntilStable(20), "
        f"not {way!r}{suggestion(str(way), WAYS)}"
    )


def _check_whole(name: str, value: Any, lowest: int) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < lowest:
        raise ValueError(f"{name} must be a whole number of at least {lowest}, not {value!r}")
