"""Scorecards: single conditions give whole points to labels, which are added up.

A `CardTask` grows them at some cost or within a budget; a teacher may say what they learn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from msgspec import Meta
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from labelrules._checks import (
    counted,
    job_count,
    number,
    random_numbers,
    random_seed,
    truth_value,
    whole_number,
)
from labelrules._interrupts import heard_interrupts
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.data.codes.binned_columns import BinnedColumns
from labelrules.data.document import Record
from labelrules.data.numeric import numeric_features
from labelrules.data.table import cell_counts, label_keys
from labelrules.learners.base.estimator import TableClassifier, WeightKind
from labelrules.learners.base.presence import is_ours, presence_by
from labelrules.learners.base.progress import (
    CardProgress,
    Listener,
    check_progress,
    is_nested_fit,
    nested_fit,
    phase,
    progress_listener,
    recorded,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import folds_of, row_keys, weight_keys
from labelrules.learners.base.tallies import label_cells
from labelrules.learners.base.theory_classifier import reasons_without_rules
from labelrules.learners.registry import register
from labelrules.learners.scorecard.decoding import (
    Decoding,
    Unseen,
    UsualSets,
    held_out_parts,
    least_count,
    tuned,
)
from labelrules.learners.scorecard.growth import (
    DOUBLING,
    MIN_ROWS,
    ONE,
    CardGrowth,
    CellWeights,
    Points,
    Prices,
    Targets,
)
from labelrules.rules import Body, Condition, Evidence, Head, Rule, RuleSet
from labelrules.rules.inference import PointChances
from labelrules.rules.json import SetRecord
from labelrules.rules.rule_table import table_of

LITERAL_COST = 1.6
"""The cost of a literal in bits, unless a budget asks for another one."""

CERTAIN = 1000
"""Margins are cut off at so many points, so that no probability is 0 or 1."""


Report = Callable[[int], object]
"""A function that is called with the number of conditions so far."""

LEAST_COST = 0.5
"""Scorecards that fill a budget are not made larger than with this cost, in bits."""

STEPS, STEPS_PER_DOUBLING = 96, 8
"""Costs that are tried to keep to a budget."""

FOR_LABEL_SETS = 8
"""One of so many literals of a budget is left to usual label sets."""

N_TEACHERS = 5
"""A teacher tells of each fifth of the rows what it has learned from the others."""

N_TREES = 300


@dataclass(frozen=True, eq=False)
class CardTask:
    """What scorecards are grown for: rows, their bins, targets, and weights if not all are 1."""

    data: Dataset
    binned: BinnedColumns
    targets: Targets
    ridge: float
    weights: CellWeights | None = None

    def prices(self, cost: float, rows: Integers | slice = slice(None)) -> Prices:
        """The prices at a cost in bits, for some of the rows."""
        return Prices.of(cost, self.ridge, self._n_present(rows))

    def _n_present(self, rows: Integers | slice) -> float:
        """The labels that are present in these rows, or the sum of their weights."""
        present = self.data.Y[rows] == 1
        if self.weights is None:
            return int(present.sum())
        return self.weights.unit * int(self.weights.units[:, rows][present.T].sum())

    def usual_sets(self, cost: float) -> UsualSets:
        """The label sets that are frequent enough at this cost."""
        by_row = None if self.weights is None else self.weights.by_row
        return UsualSets.of(self.data.Y, least_count(self.prices(cost).bits), by_row)

    @heard_interrupts()
    def unseen(self, cost: float, part: Integers) -> Unseen:
        """The margins of some rows, by a scorecard that is grown on the others."""
        others = np.setdiff1d(np.arange(self.data.n_rows), part)
        targets = np.ascontiguousarray(self.targets[:, others])
        seen, held_out = (
            None if self.weights is None else self.weights.take(rows) for rows in (others, part)
        )
        growth = CardGrowth(self.binned.take(others), targets, self.prices(cost, others), seen)
        for _ in growth.run():
            pass
        margins = growth.points.margins(self.binned.take(part))
        return Unseen(margins, self.data.Y[part], None if held_out is None else held_out.units.T)

    def card(self, cost: float, report: Report, limit: int | None = None) -> Points:
        """A scorecard at this cost; if it is interrupted, what has grown so far."""
        growth = CardGrowth(self.binned, self.targets, self.prices(cost), self.weights)
        try:
            with heard_interrupts():
                for n_conditions in growth.run(limit):
                    report(n_conditions)
        except KeyboardInterrupt:
            if is_nested_fit():
                raise
            return growth.points._replace(cost=cost, is_finished=False)
        return growth.points._replace(cost=cost)

    def _only_start(self) -> Points:
        growth = CardGrowth(self.binned, self.targets, self.prices(LEAST_COST), self.weights)
        growth.begin()
        return growth.points

    def card_within(self, most: int, cost: float, report: Report) -> Points:
        """The scorecard of at most so many literals with the least cost, from `cost` on."""
        limit = most - most // FOR_LABEL_SETS
        best = self._only_start()._replace(cost=cost)
        low, high, step = -1, STEPS, 0
        while high - low > 1:
            found = self.card(cost * 2 ** (step / STEPS_PER_DOUBLING), report, limit)
            if found.n_literals <= limit:
                best, high = found, step
            elif not found.is_finished and not best.conditions:
                best = found.within(limit)
            else:
                low = step
            if not found.is_finished:
                return best._replace(is_finished=False)
            step = (low + high) // 2
        return best


class ScorecardState(Record):
    """Points, the shift of those for all rows, and the cost of a literal that was used."""

    theory: SetRecord
    shift: Annotated[int, Meta(ge=-1000, le=1000)]
    literal_cost: Annotated[float, Meta(ge=0)]


@register(order=7)
@dataclass(eq=False, repr=False, kw_only=True)
class Scorecard(TableClassifier):
    """Learn a scorecard: conditions that give whole points to labels.

    Each rule has one condition. If it holds, labels get points, for their presence (+) or against
    it (-); a rule for all rows gives the points to start with. A label is predicted if its points
    add up to more than 0. Two points double the odds that the label is present.

    A row gets one of the usual label sets instead if that has more points, those of its labels and
    its bonus. Where it pays, rows without any label get the one with the most points. So labels
    are decided together, though no condition tests a label.

    Parameters
    ----------
    max_literals : int, optional
        The most literals of the scorecard: conditions, labels that get points from them, labels in
        usual label sets, and labels that start with points above 0.
    literal_cost : float, optional
        How many bits a literal must save if a thousand labels are present in the training rows;
        with more of them it must save more. The higher, the fewer literals. By default 1.6; with
        `max_literals` the least, from 0.5 on, with which the scorecard keeps to it.
    ridge : float, default=4.0
        How strongly points are drawn to 0, for conditions that hold for half of the rows.
    n_cuts : int, default=8
        The most thresholds for each numeric feature.
    label_sets : bool, default=True
        Whether there may be usual label sets.
    teacher : "forest", classifier or None, default=None
        A classifier with `predict_proba`, fitted to the training rows, whose probabilities for rows
        that it has not seen are learned, together with the labels. "forest" stands for extremely
        randomized trees.
    teacher_weight : float, default=0.5
        The weight of these probabilities; that of the labels is what is left of 1.
    random_state : int, RandomState or None, default=None
        Draws the rows on which decisions are tuned, together with the values of the rows, and seeds
        a forest. None is the same as 0.
    n_jobs : int, optional
        Threads. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`CardProgress`.

    Attributes
    ----------
    theory_ : RuleSet
        The rules in the order in which they were found, the one for all rows last. Evidence is from
        the training rows that a rule covers.
    shift_ : int
        What was subtracted from the points for all rows, so that labels are predicted if they have
        more points than 0; `predict_proba` adds it again.
    threshold_ : float
        The probability above which a label is predicted, apart from usual label sets.
    literal_cost_ : float
        The cost of a literal that was used.

    Examples
    --------
    >>> from labelrules import load
    >>> print(Scorecard(max_literals=12).fit(load("magazines")).theory_)
    in any order:
    quality +1, fashion +1 <- education = University
    quality -1 <- education = Primary
    fashion +1 <- sex = Female
    quality +1, sports +1 <- marital = Divorced
    quality +2, tabloid +1, fashion -2, sports -4 <- true
    """

    max_literals: int | None = None
    literal_cost: float | None = None
    ridge: float = 4.0
    n_cuts: int = 8
    label_sets: bool = True
    teacher: Any = None
    teacher_weight: float = 0.5
    random_state: Any = None
    n_jobs: int | None = None
    progress: bool | Listener = False

    _State = ScorecardState
    _no_rule_reason = "no points for it were worth their literals"

    def _check_parameters(self) -> None:
        if self.max_literals is not None:
            whole_number(self.max_literals, "max_literals", low=0, also="None")
        if self.literal_cost is not None:
            number(self.literal_cost, "literal_cost", above=0, high=1000, also="None")
        number(self.ridge, "ridge", low=0, high=1000)
        whole_number(self.n_cuts, "n_cuts", low=1, high=1000)
        truth_value(self.label_sets, "label_sets")
        check_teacher(self.teacher)
        number(self.teacher_weight, "teacher_weight", low=0, high=1)
        job_count(self.n_jobs)
        random_numbers(self.random_state)
        check_progress(self.progress)

    @recorded
    @heard_interrupts()
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, feature_names: Any = None
    ) -> Self:
        """Learn from features and labels, or classes, as for :class:`SeparateAndConquer`."""
        self._check_parameters()
        data, target = self._training_data(X, y, sample_weight, feature_names)
        seed = random_seed(self.random_state)
        with progress_listener(self.progress) as listener:
            phase("cutting the features into ranges")
            task = self._task(data, seed)
            decides_together = target.kind == "labels" and data.schema.n_labels > 1
            parts = held_out_parts(data, seed) if decides_together else []
            phase("searching for the first condition")
            card = self._card(task, lambda n: listener(CardProgress(0, 1 + len(parts), n)))
            unseen = self._unseen(task, card, parts, listener) if card.is_finished else []
        decoding = Decoding(0, target.kind == "classes")
        if unseen:
            sets = task.usual_sets(card.cost if self.label_sets else np.inf)
            decoding = tuned(Unseen.joined(unseen), sets)
        self.theory_ = self._theory(task, card, decoding)
        self.shift_, self.literal_cost_ = decoding.shift, card.cost
        self._remember(data.schema, target)
        stopped = None if card.is_finished else "learning was interrupted"
        self.why_without_rules_ = reasons_without_rules(self, label_cells(data), stopped=stopped)
        _warn(card, len(unseen), len(parts))
        return self

    @property
    def threshold_(self) -> float:
        """The probability above which a label is predicted."""
        return float(1 / (1 + 2 ** (-self.shift_ / DOUBLING)))

    def _task(self, data: Dataset, seed: int) -> CardTask:
        targets = plain_targets(data.Y)
        if self.teacher is not None:
            presence = taught_presence(self.teacher, data, seed, job_count(self.n_jobs))
            targets = mixed_targets(data.Y, presence, float(self.teacher_weight))
        binned = BinnedColumns.of(data, self.n_cuts, MIN_ROWS)
        return CardTask(data, binned, targets, float(self.ridge), CellWeights.of(data))

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        # Rows are held out at random, so whole weights are rows that are repeated.
        return weights != "whole"

    def _card(self, task: CardTask, report: Report) -> Points:
        if self.max_literals is None:
            return task.card(float(self.literal_cost or LITERAL_COST), report)
        return task.card_within(self.max_literals, float(self.literal_cost or LEAST_COST), report)

    def _unseen(
        self, task: CardTask, card: Points, parts: list[Integers], listener: Listener
    ) -> list[Unseen]:
        """Margins of held-out rows, by scorecards of one cost; fewer if interrupted."""
        found: list[Unseen] = []
        parallel = Parallel(
            n_jobs=job_count(self.n_jobs), require="sharedmem", return_as="generator"
        )
        try:
            for one in parallel(delayed(task.unseen)(card.cost, part) for part in parts):
                found.append(one)
                n_conditions = len(card.conditions)
                listener(CardProgress(1 + len(found), 1 + len(parts), n_conditions))
        except KeyboardInterrupt:
            if is_nested_fit():
                raise
        return found

    def _theory(self, task: CardTask, points: Points, decoding: Decoding) -> RuleSet:
        """The scorecard as a rule set; the decoding is part of its points."""
        start = points.start - decoding.shift
        if self.max_literals is not None:
            start = _with_most_present(start, self.max_literals)
            n_left = self.max_literals - int((start > 0).sum())
            points = points.within(n_left)
            decoding = decoding.with_at_most(n_left - points.n_literals)
        rules = [
            _rule(Body([Condition(*task.binned.condition(number))]), given, task.data)
            for number, given in zip(points.conditions, points.given, strict=True)
        ]
        if start.any():
            rules.append(_rule(Body(), start, task.data))
        return RuleSet(task.data.schema, rules, decoding.label_sets, decoding.at_least_one)

    def _labels(self, X: Any) -> Board:
        return table_of(self.theory_).predict(X, engine=self.engine)

    def _presence(self, X: Any) -> Floats:
        margin = table_of(self.theory_).margin(X, engine=self.engine) + self.shift_
        against = np.exp2(-np.clip(margin, -CERTAIN, CERTAIN) / DOUBLING)
        return np.asarray(1 / (1 + against))

    def _chances(self) -> PointChances:
        return PointChances(self.shift_, DOUBLING)


def _rule(body: Body, given: Integers, data: Dataset) -> Rule:
    """The rule that gives these points, with evidence from the rows it covers."""
    labels = np.flatnonzero(given).tolist()
    covered = body.covers(data.X, data.empty_board())
    truth = data.Y[covered]
    weights = None if data.weights is None else data.weights[covered]
    n_absent, n_present = (np.rint(cell_counts(truth == one, weights)) for one in (0, 1))
    values = [int(given[label] > 0) for label in labels]
    counts = [
        Evidence(*(int(n_present[label]), int(n_absent[label]))[:: 1 if value else -1])
        for label, value in zip(labels, values, strict=True)
    ]
    head = Head(dict(zip(labels, values, strict=True)), data.schema.n_labels)
    return Rule(head, body, False, tuple(counts), tuple(abs(int(given[label])) for label in labels))


def _with_most_present(start: Integers, most: int) -> Integers:
    """The points for all rows, with so many above 0 at most: the greatest, of equal ones first."""
    order = np.argsort(-start, kind="stable")
    limited = start.copy()
    limited[order[most:]] = np.minimum(start[order[most:]], 0)
    return limited


def _warn(card: Points, n_unseen: int, n_parts: int) -> None:
    """Warn what is kept if learning was interrupted."""
    kept = counted(len(card.conditions), "condition")
    if not card.is_finished:
        warn_of_early_end("it was interrupted", f"the scorecard has {kept}, and is not tuned")
    elif n_unseen < n_parts:
        tuning = f"its decisions are tuned on {n_unseen} of {n_parts} parts of the rows"
        warn_of_early_end("it was interrupted", f"the scorecard has {kept}, and {tuning}")


def check_teacher(teacher: Any) -> None:
    """Refuse a teacher that is neither None nor "forest" nor a classifier with probabilities."""
    if teacher is None or (isinstance(teacher, str) and teacher == "forest"):
        return
    if isinstance(teacher, str | type) or not hasattr(teacher, "fit"):
        raise ValueError(
            f"teacher must be 'forest', a classifier of scikit-learn's kind or None, "
            f"not {teacher!r:.60}"
        )
    if not hasattr(teacher, "predict_proba"):
        raise ValueError(
            f"teacher must give probabilities, but {type(teacher).__name__} has no predict_proba"
        )


def plain_targets(Y: Board) -> Targets:
    """The labels themselves: labels by rows, in parts of `ONE`; -1 where a label is unknown."""
    return np.ascontiguousarray(np.where(Y.T == UNSET, -1, Y.T * np.int32(ONE)))


def mixed_targets(Y: Board, presence: Floats, weight: float) -> Targets:
    """The labels mixed with probabilities, which have this weight.

    Examples
    --------
    >>> Y, presence = np.array([[1, 0]], np.int8), np.array([[0.5, 0.25]])
    >>> (mixed_targets(Y, presence, weight=0.5) / ONE).tolist()
    [[0.75], [0.125]]
    """
    mixed = np.rint(((1 - weight) * Y + weight * np.clip(presence, 0, 1)) * ONE)
    return np.ascontiguousarray(np.where(Y == UNSET, -1, mixed.astype(np.int32)).T)


def taught_presence(teacher: Any, data: Dataset, seed: int, n_jobs: int | None) -> Floats:
    """The probabilities of the labels of each row, by teachers that have not seen the row.

    Parameters
    ----------
    teacher : "forest" or classifier
        A classifier of ours is given data sets, another one features as numbers.
    data : Dataset
    seed : int
        Draws the folds, and seeds a forest.
    n_jobs : int, optional
        Threads of a forest.
    """
    # So that the order of rows does not matter.
    order = np.lexsort((*weight_keys(data), *label_keys(data.Y).T, row_keys(data.X)))
    ordered = data.take(order)
    folds = folds_of(ordered, N_TEACHERS, seed)
    found = np.empty(data.Y.shape)
    for fold in range(int(folds.max()) + 1):
        seen, unseen = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        made = _forest(seed, n_jobs) if teacher == "forest" else clone(teacher)
        found[order[unseen]] = _taught(made, ordered, seen, unseen)
    return found


def _forest(seed: int, n_jobs: int | None) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(N_TREES, random_state=seed, n_jobs=n_jobs)


def _taught(teacher: Any, data: Dataset, seen: Integers, unseen: Integers) -> Floats:
    """What a teacher learns from rows that it sees; a label that they all have, or none, is so."""
    truth, weights = data.Y[seen], None if data.weights is None else data.weights[seen]
    by_label = weights is not None and weights.ndim == 2 and data.schema.n_labels > 1
    if not is_ours(teacher) and (by_label or (truth == UNSET).any()):
        return _taught_apart(teacher, data, seen, unseen)
    n_present, n_known = (cell_counts(one, weights) for one in (truth == 1, truth != UNSET))
    shares = n_present / np.where(n_known > 0, n_known, 1)
    varies = (shares > 0) & (shares < 1)
    found = np.repeat(shares[np.newaxis], len(unseen), axis=0)
    if not varies.any():
        return found
    with nested_fit():
        if is_ours(teacher):
            found[:] = presence_by(teacher.fit(data.take(seen)), data.take(unseen), len(varies))
            return found
        X: Any = numeric_features(data)
        X = X.tocsr() if data.is_sparse else X
        Y = data.Y[seen][:, varies].astype(np.int64)
        n_labels, given = int(varies.sum()), {}
        if weights is not None:
            given = _weights_for(teacher, weights)
        try:
            fitted = teacher.fit(X[seen], Y[:, 0] if n_labels == 1 else Y, **given)
        except ValueError as wrong:
            raise ValueError(
                f"the teacher {type(teacher).__name__} cannot learn {counted(n_labels, 'label')} "
                f"from these rows ({wrong}): if it is for one label, give BinaryRelevance of it"
            ) from wrong
        found[:, varies] = presence_by(fitted, X[unseen], n_labels)
    return found


def _weights_for(teacher: Any, weights: Floats) -> dict[str, Floats]:
    """The weights of rows as an argument of `fit`."""
    if has_fit_parameter(teacher, "sample_weight"):
        return {"sample_weight": weights.reshape(len(weights))}
    raise ValueError(
        f"the teacher {type(teacher).__name__} takes no weights: give another one, or whole weights"
    )


def _taught_apart(teacher: Any, data: Dataset, seen: Integers, unseen: Integers) -> Floats:
    """Teach each label by itself, from the rows in which it is known."""
    found = np.empty((len(unseen), data.schema.n_labels))
    for label, name in enumerate(data.schema.labels):
        one = data.without([other for other in data.schema.labels if other != name])
        known = seen[data.Y[seen, label] != UNSET]
        found[:, [label]] = _taught(clone(teacher), one, known, unseen)
    return found
