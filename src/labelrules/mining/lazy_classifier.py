"""Lazy associative classification: association rules mined for each row."""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import number, random_generator, whole_number
from labelrules._types import UNSET, Board, Floats, Integers, Matrix
from labelrules.data import Dataset, Schema
from labelrules.data.memory.encoding import encode
from labelrules.data.table import column_of, freeze, labels_known_together
from labelrules.learners.base.estimator import TableClassifier, WeightKind
from labelrules.learners.base.progress import recorded
from labelrules.learners.registry import register
from labelrules.mining.associative_classifier import RowCopies, rare_items
from labelrules.mining.binning import Binning
from labelrules.mining.items import Bits, Items, Ragged, packed_rows
from labelrules.rules import Evidence, Head, Rule
from labelrules.rules.language.text import label_text, rule_text

Numbers: TypeAlias = npt.NDArray[np.int32]
"""Items by number."""


class VotingRule(NamedTuple):
    """A rule, the share that it votes with, and its part of the weight of all votes."""

    rule: Rule
    share: float
    part: float


@dataclass(frozen=True)
class LabelVotes:
    """The votes on one label of a row.

    Attributes
    ----------
    label : int
    score : float
        The mean of all votes.
    presence : float
        The score as `predict_proba` gives it.
    is_predicted : bool
    rules : tuple of VotingRule
        By falling weight; evidence counts training rows with and without the label.
    """

    label: int
    score: float
    presence: float
    is_predicted: bool
    rules: tuple[VotingRule, ...]


@dataclass(frozen=True)
class RowRules:
    """The rules of one row, label by label; printing shows the labels predicted.

    Attributes
    ----------
    schema : Schema
    votes : tuple of LabelVotes
        One for each label.
    n_bodies : int
        How many bodies cover the row.
    """

    schema: Schema
    votes: tuple[LabelVotes, ...]
    n_bodies: int

    def __str__(self) -> str:
        lines = [f"{self.n_bodies:,} bodies cover this row"]
        for votes in sorted(self.votes, key=lambda one: -one.presence):
            if votes.is_predicted:
                name = label_text(self.schema.labels[votes.label])
                lines.append(f"{name}: mean {votes.score:.2f}, probability {votes.presence:.2f}")
                lines += [
                    f"  {voting.share:.2f}, {voting.part:.1%} of the votes: "
                    f"{rule_text(voting.rule, self.schema, evidence=True)}"
                    for voting in votes.rules
                ]
        return "\n".join(lines if len(lines) > 1 else [*lines, "no label is predicted"])

    def __repr__(self) -> str:
        predicted = [votes.label for votes in self.votes if votes.is_predicted]
        names = ", ".join(self.schema.labels[label] for label in predicted) or "no label"
        return f"<RowRules: {self.n_bodies:,} bodies, {names} predicted>"


@dataclass(frozen=True, eq=False)
class RowRuleFinder:
    """Finds the rules of single rows: bodies of up to `max_conditions` items in `minimum` rows.

    They are for some `labels`, in the training rows with the numbers `rows`, in which these labels
    are known; `items` and `Y` have these rows only.
    """

    items: Items
    Y: Board
    minimum: int
    max_conditions: int
    m: float
    labels: Integers
    rows: Integers
    unit: float = 1.0

    @cached_property
    def correlation(self) -> Floats:
        """For each item its greatest correlation with a label."""
        own = np.arange(len(self.items), dtype=np.int32)
        counts = self._counts(self._everything, own, 0)
        _, weights = self._votes(counts.astype(np.int64))
        return np.asarray(weights.max(axis=1, initial=0.0))

    def explain(
        self, own: Numbers, scores: Floats, presence: Floats, predicted: Board, n_rules: int
    ) -> RowRules:
        """The rules of a row with these items, at most `n_rules` for each label."""
        bodies, body_counts = [], []
        for body, of_body in self._bodies(own, (), self._everything):
            bodies.append(body)
            body_counts.append(of_body)
        counts = np.array(body_counts, dtype=np.int64).reshape(-1, 1 + self.Y.shape[1])
        shares, weights = self._votes(counts)
        votes = []
        for label, column in enumerate(self.labels.tolist()):
            total = max(float(weights[:, label].sum()), 1e-300)
            best = np.argsort(-weights[:, label], kind="stable")[:n_rules].tolist()
            rules = tuple(
                VotingRule(
                    self._rule(bodies[place], label, counts[place]),
                    float(shares[place, label]),
                    float(weights[place, label] / total),
                )
                for place in best
                if weights[place, label] > 0
            )
            values = float(scores[column]), float(presence[column]), bool(predicted[column])
            votes.append(LabelVotes(column, *values, rules))
        return RowRules(self.items.schema, tuple(votes), len(bodies))

    @cached_property
    def _everything(self) -> Bits:
        return packed_rows(np.ones(len(self.Y), dtype=np.bool_))

    @cached_property
    def label_bits(self) -> Bits:
        """For each label the training rows that have it."""
        return np.array([packed_rows(column == 1) for column in self.Y.T])

    def _counts(self, rows: Bits, own: Numbers, minimum: int) -> Integers:
        from labelrules.kernels.mining.bits import count_conditions

        counts = np.empty((len(own), 1 + self.Y.shape[1]), dtype=np.int32)
        count_conditions(rows, self.items.words[own], self.label_bits, minimum, counts)
        return counts.astype(np.int64)

    def _bodies(
        self, own: Numbers, body: tuple[int, ...], rows: Bits
    ) -> Iterator[tuple[tuple[int, ...], Integers]]:
        """All bodies of some of these items that cover enough rows, with counts, depth first."""
        counts = self._counts(rows, own, self.minimum)
        for place in np.flatnonzero(counts[:, 0] >= self.minimum).tolist():
            longer = (*body, int(own[place]))
            yield longer, counts[place]
            if len(longer) < self.max_conditions:
                inside = rows & self.items.words[own[place]]
                yield from self._bodies(own[place + 1 :], longer, inside)

    def _votes(self, counts: Integers) -> tuple[Floats, Floats]:
        from labelrules.kernels.mining.bits import votes_of

        everything = np.concatenate([[len(self.Y)], self.Y.sum(axis=0, dtype=np.int64)])
        shape = (len(counts), self.Y.shape[1])
        shares, weights = np.empty(shape), np.empty(shape)
        votes_of(counts, everything, self.m, shares, weights)
        return shares, weights

    def _rule(self, body: tuple[int, ...], label: int, counts: Integers) -> Rule:
        ones, n_rows = round(self.unit * counts[1 + label]), round(self.unit * counts[0])
        head = Head({int(self.labels[label]): 1}, self.items.schema.n_labels)
        evidence = (Evidence(ones, n_rows - ones),)
        return Rule(head, self.items.body(body), evidence=evidence)

    def __reduce__(self) -> tuple[Any, ...]:
        values = self.items, self.Y, self.minimum, self.max_conditions, self.m
        return RowRuleFinder, (*values, self.labels, self.rows, self.unit)


def items_in_rows(items: Items, X: Matrix) -> Ragged:
    """The items, made of features, that hold for each encoded row, rising."""
    rows: list[Integers] = []
    column, values = -1, np.empty(0)
    for parts in items.conditions:
        if parts[0].column != column:
            column = parts[0].column
            values = column_of(X, column)
        rows.append(np.flatnonzero(np.all([part.holds(values) for part in parts], axis=0)))
    n_held = [len(held) for held in rows]
    ones = np.ones(sum(n_held), dtype=np.int8)
    joined = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    numbers = np.repeat(np.arange(len(items)), n_held)
    table = sparse.csr_array((ones, (joined, numbers)), shape=(X.shape[0], len(items)))
    table.sort_indices()
    return Ragged(table.indptr.astype(np.int64), table.indices.astype(np.int32))


def most_correlated(held: Ragged, correlation: Floats, most: int) -> tuple[Ragged, bool]:
    """At most so many items per row, those with the greatest correlation; and whether some left."""
    kept = [held.values[:0]]
    for start, end in pairwise(held.start):
        own = held.values[start:end]
        if len(own) > most:
            own = np.sort(own[np.argsort(-correlation[own], kind="stable")[:most]])
        kept.append(own)
    start = np.cumsum([len(own) for own in kept])
    return Ragged(start, np.concatenate(kept)), bool((held.lengths > most).any())


MIN_ROWS = 5
"""Rows from which on thresholds are found by leaving one out."""

MIN_PRESENT = 10
"""Rows that must have a label for it to get a threshold of its own."""

MOST_PREDICTED = 1.5
"""A label is predicted for at most so many times the rows that have it, to set thresholds."""

MIN_LABELS = 50
"""Labels that all rows together must have for thresholds to be learned."""


@register(order=9)
@dataclass(eq=False, repr=False, kw_only=True)
class LazyAssociativeClassifier(TableClassifier):
    """Predict each row by the association rules that cover it, mined for this row alone.

    Nothing is mined in `fit`, and there is no `theory_`. For a row, the training rows are projected
    on its items: the categories it has, and the ranges that its numbers are in. Each body made of
    some of these items votes on each label with the share of covered training rows that have it:
    the confidence of a rule. The score of a label is the mean of these shares, each weighted by the
    absolute correlation (phi) of body and label [1]_. `explain` shows the rules of a row.

    Parameters
    ----------
    max_conditions : int, default=2
        The most items of a body. With 100 items a row has 5,050 bodies of up to two items and
        166,750 of up to three.
    min_support : int or float, default=0.01
        The training rows that a body must cover: a share of all, or a number of them; at least 2.
    max_frequency : float, default=0.9
        Items that a larger share of the training rows has are not used: they separate little.
    bins : {"labels", "entropy", "frequency", "width"}
        How numeric features are cut into ranges; see :class:`AssociativeClassifier`.
    n_bins : int, default=6
        How many ranges, or how many at most.
    max_items : int, default=500
        If a row has more items, only those with the greatest correlation with a label are used,
        with a warning.
    m : float, default=1
        How many rows the share of all training rows is worth in each vote: the m-estimate.
    threshold : "leave-one-out" or float
        The score above which a label is predicted. By default each training row is scored by
        the others, and the thresholds are those of the best micro-averaged F1: one for each label
        that 10 rows have, and one for all others; 0.5 where there are fewer than 50 labels in all
        rows together. Bins are not made anew for this.
    last_resort : float or None, default=0.4
        A row without labels gets its likeliest label, if such guesses are right for this share
        of the training rows or more. Not with a fixed threshold.
    max_scored : int, default=2000
        The most training rows that are scored to find the thresholds.
    random_state : int, RandomState or None, default=None
        Chooses them if there are more; then results depend on the order of the rows. None is the
        same as 0.

    Attributes
    ----------
    items_ : Items
        The items of bodies.
    thresholds_ : Thresholds
        For the scores of labels.
    schema_, labels_, classes_, n_labels_, n_features_in_, feature_names_in_
        As for :class:`RuleClassifier`.

    References
    ----------
    .. [1] A. Veloso, W. Meira, M. Gonçalves and M. Zaki: Multi-label lazy associative
       classification. PKDD 2007. Weights and thresholds are ours.

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> model = LazyAssociativeClassifier().fit(readers)
    >>> print(model.explain(readers, 3, n_rules=1))
    6 bodies cover this row
    quality: mean 0.82, probability 0.82
      0.90, 25.8% of the votes: quality <- education = University (4/0)
    fashion: mean 0.55, probability 0.55
      0.74, 31.1% of the votes: fashion <- education = University, sex = Female (2/0)
    """

    max_conditions: int = 2
    min_support: float = 0.01
    max_frequency: float = 0.9
    bins: Binning = "labels"
    n_bins: int = 6
    max_items: int = 500
    m: float = 1.0
    threshold: float | Literal["leave-one-out"] = "leave-one-out"
    last_resort: float | None = 0.4
    max_scored: int = 2000
    random_state: Any = None

    _why_not_stored = (
        "it mines rules from the training rows when it predicts, and files hold rules, not data: "
        "pickle it, as by joblib.dump, and load it only where the file is trusted; or use "
        "AssociativeClassifier, which mines its rules in fit"
    )

    def _check_parameters(self) -> None:
        for name in ("max_conditions", "max_items", "max_scored"):
            whole_number(getattr(self, name), name, low=1)
        number(self.max_frequency, "max_frequency", low=0, high=1)
        number(self.m, "m", low=0)
        random_generator(self.random_state)
        if self.last_resort is not None:
            number(self.last_resort, "last_resort", low=0, high=1, also="None")
        if self.threshold != "leave-one-out":
            number(self.threshold, "threshold", low=0, high=1, also="'leave-one-out'")

    @recorded
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, feature_names: Any = None
    ) -> Self:
        """Cut numeric features into ranges, and find the thresholds.

        X and Y are as for :meth:`RuleClassifier.fit`.
        """
        self._check_parameters()
        data, target = self._training_data(X, y, sample_weight, feature_names)
        copies = RowCopies.of(data)
        self.items_ = rare_items(data, self.bins, self.n_bins, self.max_frequency, copies)
        counted = copies.repeated(data)
        groups = labels_known_together(counted.Y)
        self._finders = [self._finder(counted, copies, *one) for one in groups if len(one[1])]
        self._remember(data.schema, target)
        self.thresholds_ = self._chosen_thresholds(data, copies)
        return self

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        # Ranges are cut by whole rows, so whole weights are rows that are repeated.
        return weights == "rows"

    def explain(  # type: ignore[override]
        self, X: Any, row: int | Iterable[int] = 0, n_rules: int = 5
    ) -> RowRules | list[RowRules]:
        """Explain each label by the rules that weigh most for it.

        Parameters
        ----------
        X : as for `predict`
        row : int or iterable of int, default=0
            Which row of X. Several give a list.
        n_rules : int, default=5
            The most rules for each label.
        """
        from labelrules.inspection.tracing import row_number

        self._check_fitted()
        held = self._items_in(self._table(X))
        scores = self._scores(held)
        presence = self.thresholds_.presence(scores)
        labels = self.thresholds_.labels(presence)

        def explained(asked: object) -> RowRules:
            i = row_number(asked, len(scores))
            items = held.values[held.start[i] : held.start[i + 1]]
            figures = scores[i], presence[i], labels[i]
            found = [finder.explain(items, *figures, n_rules) for finder in self._finders]
            votes = sorted((vote for one in found for vote in one.votes), key=lambda one: one.label)
            return RowRules(self.schema_, tuple(votes), max(one.n_bodies for one in found))

        if isinstance(row, Iterable):
            return [explained(i) for i in row]
        return explained(row)

    def _finder(
        self, data: Dataset, copies: RowCopies, labels: Integers, rows: Integers
    ) -> RowRuleFinder:
        """The finder of rules for labels, in the rows in which they are known."""
        minimum = copies.least(self.min_support, len(rows))
        items, Y = self.items_, data.Y
        if len(labels) < data.schema.n_labels or len(rows) < data.n_rows:
            items = items.within(rows, data.schema)
            Y = freeze(np.ascontiguousarray(Y[np.ix_(rows, labels)]))
        limits = minimum, self.max_conditions, float(self.m) / copies.unit
        return RowRuleFinder(items, Y, *limits, labels, rows, copies.unit)

    def _renamed(self, names: Any) -> Any:
        raise ValueError(
            "a LazyAssociativeClassifier keeps the training rows, and not rules that could be "
            "renamed: rename the data, and fit it again"
        )

    def _chosen_thresholds(self, data: Dataset, copies: RowCopies) -> "Thresholds":
        if self.threshold != "leave-one-out" or data.n_rows < MIN_ROWS:
            fixed = 0.5 if isinstance(self.threshold, str) else float(self.threshold)
            return Thresholds.fixed(min(max(fixed, 1e-6), 1 - 1e-6), data.schema.n_labels)
        rows = np.arange(data.n_rows)
        if data.n_rows > self.max_scored:
            shuffled = random_generator(self.random_state).permutation(rows)
            rows = np.sort(shuffled[: self.max_scored])
        scored = data.take(rows)
        times = copies.times[rows]
        scores = self._scores(self._items_in(scored), copies.first[rows], times)
        return Thresholds.learned(scores, scored.Y, self.last_resort, times, copies.unit)

    def _items_in(self, X: Any) -> Ragged:
        held = items_in_rows(self.items_, encode(X, self.schema_))
        every = [finder.correlation for finder in self._finders]
        correlation = np.asarray(np.max(every, axis=0), dtype=np.float64)
        held, were_more = most_correlated(held, correlation, self.max_items)
        if were_more:
            warnings.warn(
                f"some rows have more than {self.max_items} items: only those with the greatest "
                "correlation with a label are used; raise max_items to use more",
                stacklevel=4,
            )
        return held

    def _scores(
        self, held: Ragged, left_out: Integers | None = None, times: Integers | None = None
    ) -> Floats:
        """The weighted mean of votes for each label, by other rows than those left out.

        These are given by their first copies, and the number of these.
        """
        scores = np.zeros((len(held.start) - 1, self.n_labels_))
        if times is None:
            times = np.ones(len(scores), dtype=np.int64)
        for finder in self._finders:
            scores[:, finder.labels] = _scores_by(finder, held, left_out, times)
        return scores

    def _labels(self, X: Any) -> Board:
        return self.thresholds_.labels(self._presence(X))

    def _presence(self, X: Any) -> Floats:
        return self.thresholds_.presence(self._scores(self._items_in(X)))


def _scores_by(
    finder: RowRuleFinder, held: Ragged, left_out: Integers | None, times: Integers
) -> Floats:
    """The scores for the labels of one finder."""
    from labelrules.kernels.mining.bits import score_rows

    n_rows = len(held.start) - 1
    truth = finder.Y.view()
    truth.setflags(write=False)  # after copying too, or the kernel would be compiled anew
    out = np.full(n_rows, -1)
    if left_out is not None:
        place = np.full(max(left_out.max(initial=0), finder.rows.max(initial=0)) + 1, -1)
        place[finder.rows] = np.arange(len(finder.rows))
        out = place[left_out]
    scores = np.empty((n_rows, len(finder.labels)))
    score_rows(
        finder.items.words, finder.label_bits, held.start, held.values, out, times, truth,
        finder.minimum, finder.max_conditions, finder.m, scores,
    )  # fmt: skip
    return scores


@dataclass(frozen=True, eq=False)
class Thresholds:
    """For each label the score, above 0 and below 1, above which it is predicted.

    A row without labels gets its likeliest label if that has the probability `guess`.
    """

    thresholds: Floats
    guess: float

    @classmethod
    def fixed(cls, threshold: float, n_labels: int) -> "Thresholds":
        """One threshold for all labels, without guesses."""
        return cls(np.full(n_labels, threshold), 1.0)

    @classmethod
    def learned(
        cls,
        scores: Floats,
        truth: Board,
        last_resort: float | None,
        times: Integers | None = None,
        unit: float = 1.0,
    ) -> "Thresholds":
        """The thresholds with the best micro-averaged F1 on scored rows.

        A label that enough rows have gets a threshold of its own, all others together one; where
        there are too few labels in all, it is 0.5. Rows without labels get the likeliest one,
        down to where `last_resort` is the share of guesses that are right. Rows may count several
        times; then they are counted in this unit.
        """
        times = np.ones(len(truth), dtype=np.int64) if times is None else times
        n_present = unit * (times @ (truth == 1))
        if n_present.sum() < MIN_LABELS:
            return cls.fixed(0.5, truth.shape[1])
        has_own, known = n_present >= MIN_PRESENT, truth != UNSET
        groups = [np.array([label]) for label in np.flatnonzero(has_own)]
        groups += [np.flatnonzero(~has_own)] if not has_own.all() else []
        best = best_thresholds(
            [scores[:, group][known[:, group]] for group in groups],
            [truth[:, group][known[:, group]] for group in groups],
            [np.nonzero(known[:, group])[0] for group in groups],
            times,
        )
        own = np.empty(truth.shape[1])
        for group, threshold in zip(groups, best, strict=True):
            own[group] = threshold
        without_guesses = cls(own, 1.0)
        if last_resort is None:
            return without_guesses
        return cls(own, without_guesses.lowest_guess(scores, truth, last_resort, times))

    def presence(self, scores: Floats) -> Floats:
        """The scores stretched on both sides of the thresholds, so that these are at 0.5."""
        low = 0.5 * scores / self.thresholds
        high = 0.5 + 0.5 * (scores - self.thresholds) / (1 - self.thresholds)
        return np.where(scores < self.thresholds, low, high)

    def labels(self, presence: Floats) -> Board:
        """Predict labels more probable than 0.5, or the best guess in a row without labels."""
        labels = presence > 0.5
        bare = ~labels.any(axis=1) & (presence.max(axis=1, initial=0.0) >= self.guess)
        labels[bare, presence[bare].argmax(axis=1)] = True
        return labels.astype(np.int8)

    def lowest_guess(
        self, scores: Floats, truth: Board, right_share: float, times: Integers | None = None
    ) -> float:
        """The lowest probability of guesses of which such a share is right; 1 if there is none."""
        presence = self.presence(scores)
        bare = np.flatnonzero(~(presence > 0.5).any(axis=1))
        best = presence[bare].argmax(axis=1)
        is_known = truth[bare, best] != UNSET
        bare, best = bare[is_known], best[is_known]
        sure = presence[bare, best]
        order = np.argsort(-sure, kind="stable")
        counts = np.ones(len(bare), dtype=np.int64) if times is None else times[bare]
        right = np.cumsum((counts * truth[bare, best])[order])
        n = np.cumsum(counts[order])
        is_last = np.append(np.diff(sure[order]) != 0, True)[: len(bare)]
        good = np.flatnonzero(is_last & (right >= right_share * n) & (right > 0))
        return float(sure[order][good[-1]]) if good.size else 1.0


def best_thresholds(
    scores: list[Floats],
    truth: list[Board],
    rows: list[Integers] | None = None,
    times: Integers | None = None,
) -> list[float]:
    """A threshold for each group of cells, so that F1 over all cells is greatest.

    Dinkelbach's method: given a value f of F1, each group by itself is best where the sum of
    ``2 y - f`` over the cells predicted is greatest; the F1 that this gives is the next f, until it
    rises no more. Of equally good thresholds the highest is taken, and none by which a group has
    many more cells predicted than present. The cells are in these rows, which count so many times.
    """
    orders = [np.argsort(-one, kind="stable") for one in scores]
    falling = [np.append(one[order], 0.0) for one, order in zip(scores, orders, strict=True)]
    if rows is None or times is None:
        counts = [np.ones(len(one), dtype=np.int64) for one in scores]
    else:
        counts = [times[one] for one in rows]
    given = [_sums_before(one[order]) for one, order in zip(counts, orders, strict=True)]
    right = [
        _sums_before((n * one)[order]) for n, one, order in zip(counts, truth, orders, strict=True)
    ]
    n_present = sum(int(one[-1]) for one in right)
    f1, cuts = 0.0, [0] * len(scores)
    while True:
        tried = [_best_cut(*one, f1) for one in zip(right, given, falling, strict=True)]
        n_right = sum(int(one[cut]) for one, cut in zip(right, tried, strict=True))
        n_given = sum(int(one[cut]) for one, cut in zip(given, tried, strict=True))
        reached = 2 * n_right / max(n_given + n_present, 1)
        if reached <= f1:
            break
        f1, cuts = reached, tried
    return [_middle(f, cut) for f, cut in zip(falling, cuts, strict=True)]


def _sums_before(numbers: Integers) -> Integers:
    """The sums of the first 0, 1, ... numbers."""
    return np.append(0, np.cumsum(numbers, dtype=np.int64))


def _best_cut(right: Integers, given: Integers, falling: Floats, f1: float) -> int:
    """The best number of cells to predict, from the highest score on; equal scores go together.

    Where scores say little, F1 is greatest when a label is predicted for most rows; so it is not
    predicted for many more rows than have it.
    """
    gain = 2 * right - f1 * given
    gain[1:-1][falling[:-2] == falling[1:-1]] = -np.inf
    gain[given > MOST_PREDICTED * right[-1]] = -np.inf
    return int(gain.argmax())


def _middle(falling: Floats, cut: int) -> float:
    """A threshold below so many scores, and above the next."""
    above = falling[cut - 1] if cut else 1.0
    return min(max(float((above + falling[cut]) / 2), 1e-6), 1 - 1e-6)
