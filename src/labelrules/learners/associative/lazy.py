"""Rules made for each row when it is asked about: the lazy associative classifier."""

import warnings
from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from labelrules._checks import whole_number
from labelrules._types import Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.data.memory.encoding import encode
from labelrules.discovery.binning import Binning
from labelrules.discovery.items import Items, Ragged, items_of, packed_rows
from labelrules.discovery.limits import minimum_count
from labelrules.learners.associative.row_rules import (
    RowRules,
    VotingRules,
    items_in_rows,
    most_telling,
)
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.thresholds import Thresholds
from labelrules.learners.registry import register

ENOUGH = 5
"""Rows from which on it is worth judging each by the others."""


@register(order=9)
class LazyAssociativeClassifier(TableClassifier):
    """Predict each row by the association rules that hold for it, and for nothing else.

    Nothing is mined in `fit`. For a row, the training rows are projected on its items: the
    categories it has, and the ranges that its numbers are in. Each body made of some of these
    items says of each label how large the share of training rows is that have it; this is
    the confidence of a rule. The score of a label is the mean of these shares, each weighted by the
    absolute correlation (phi) of body and label [1]_.

    So there is no `theory_`: each row has rules of its own, and `explain` shows them.

    Parameters
    ----------
    max_length : int, default=2
        Items of a body at most. With 100 items a row has 5,050 bodies of up to two items and
        166,750 of up to three.
    min_support : int or float, default=0.01
        The training rows that a body must have: a share of all, or a number of them; at least 2.
    max_frequency : float, default=0.9
        Items that a larger share of the training rows has are not used: they tell little.
    bins : {"labels", "entropy", "frequency", "width"}
        How numeric features are cut into ranges: as single labels, or as label sets have it; into
        ranges of as many rows, or of the same width. See :func:`labelrules.discovery.items_of`.
    n_bins : int, default=6
        How many ranges, or how many at most.
    max_items : int, default=500
        If a row has more items, only those that tell most are used, and a warning says so: those
        with the greatest correlation with a label.
    m : float, default=1
        How many rows the share of all training rows is worth in each vote: the m-estimate.
    threshold : "leave-one-out" or float
        Above which score a label is predicted. By default each training row is scored by
        the others, and the thresholds are those of the best micro-averaged F1: one for each label
        that 10 rows have, and one for all others; 0.5 where there are fewer than 50 labels in all
        rows together. Bins are not made anew for this.
    last_resort : float or None, default=0.4
        A row without labels gets its likeliest label, if such guesses are right for this share
        of the training rows or more. Not with a fixed threshold.
    n_judged : int, default=2000
        Training rows that are scored for the thresholds at most.
    random_state : int, default=0
        Chooses them if there are more; then results depend on the order of the rows.

    Attributes
    ----------
    items_ : Items
        What bodies are made of.
    judge_ : Judge
        The thresholds.
    schema_, classes_, n_labels_, n_features_in_, feature_names_in_
        As for every learner.

    References
    ----------
    .. [1] A. Veloso, W. Meira, M. Gonçalves and M. Zaki: Multi-label lazy associative
       classification. PKDD 2007. Weights and thresholds are ours.

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> model = LazyAssociativeClassifier().fit(readers)
    >>> print(model.explain(readers, n_rules=1)[3])
    6 bodies hold for this row
    quality: mean 0.82, probability 0.82
      0.90, 25.8% of the votes: quality (4/0) <- education = University
    fashion: mean 0.55, probability 0.55
      0.74, 31.1% of the votes: fashion (2/0) <- education = University, sex = Female
    """

    def __init__(
        self,
        *,
        max_length: int = 2,
        min_support: float = 0.01,
        max_frequency: float = 0.9,
        bins: Binning = "labels",
        n_bins: int = 6,
        max_items: int = 500,
        m: float = 1.0,
        threshold: float | Literal["leave-one-out"] = "leave-one-out",
        last_resort: float | None = 0.4,
        n_judged: int = 2000,
        random_state: int = 0,
    ) -> None:
        self.max_length = max_length
        self.min_support = min_support
        self.max_frequency = max_frequency
        self.bins = bins
        self.n_bins = n_bins
        self.max_items = max_items
        self.m = m
        self.threshold = threshold
        self.last_resort = last_resort
        self.n_judged = n_judged
        self.random_state = random_state

    _why_not_stored = (
        "it mines rules from the training rows when it predicts, and files hold rules, not data: "
        "pickle it, as by joblib.dump, and load it only where the file is trusted; or use "
        "AssociativeClassifier, which mines its rules in fit"
    )

    def fit(self, X: Any, Y: Any = None) -> Self:
        """Cut numeric features, and find the thresholds.

        Parameters
        ----------
        X, Y
            As for :class:`SeparateAndConquer`.

        Returns
        -------
        self
        """
        self._check()
        data, target = self._training_data(X, Y)
        self.items_ = telling_items(data, self.bins, self.n_bins, self.max_frequency)
        self._truth = data.Y
        self._least = max(2, minimum_count(self.min_support, data.n_rows))
        self._label_words = np.array([packed_rows(column == 1) for column in data.Y.T])
        self._votes = VotingRules(self.items_, data.Y, self._least, self.max_length, float(self.m))
        self._remember(data.schema, target)
        self.judge_ = self._judged(data)
        return self

    def explain(self, X: Any, n_rules: int = 5) -> list[RowRules]:
        """For each row the rules that had most to say about each label.

        Parameters
        ----------
        X : as for `predict`
        n_rules : int, default=5
            Rules for each label at most.
        """
        self._check_fitted()
        held = self._items_in(self._table(X))
        scores = self._scores(held)
        presence = self.judge_.presence(scores)
        labels = self.judge_.labels(presence)
        return [
            self._votes.explain(held.part(row), scores[row], presence[row], labels[row], n_rules)
            for row in range(len(scores))
        ]

    def _check(self) -> None:
        whole_number(self.max_length, "max_length", low=1)
        whole_number(self.max_items, "max_items", low=1)
        whole_number(self.n_judged, "n_judged", low=1)
        whole_number(self.random_state, "random_state", low=0)
        checked_number("max_frequency", self.max_frequency, 1.0)
        checked_number("m", self.m)
        if self.last_resort is not None:
            checked_number("last_resort", self.last_resort, 1.0)
        if self.threshold != "leave-one-out":
            if isinstance(self.threshold, str):
                raise ValueError(
                    f"threshold must be 'leave-one-out' or a number, not {self.threshold!r}"
                )
            checked_number("threshold", self.threshold, 1.0)

    def _judged(self, data: Dataset) -> Thresholds:
        if self.threshold != "leave-one-out" or data.n_rows < ENOUGH:
            fixed = 0.5 if isinstance(self.threshold, str) else float(self.threshold)
            return Thresholds.fixed(min(max(fixed, 1e-6), 1 - 1e-6), data.schema.n_labels)
        rows = np.arange(data.n_rows)
        if data.n_rows > self.n_judged:
            chance = np.random.default_rng(self.random_state)
            rows = np.sort(chance.permutation(rows)[: self.n_judged])
        chosen = data.take(rows)
        scores = self._scores(self._items_in(chosen), rows)
        return Thresholds.learned(scores, chosen.Y, self.last_resort)

    def _items_in(self, X: Any) -> Ragged:
        held = items_in_rows(self.items_, encode(X, self.schema_))
        held, were_more = most_telling(held, self._votes.telling, self.max_items)
        if were_more:
            warnings.warn(
                f"some rows have more than {self.max_items} items: only those that tell most about "
                "a label are used; raise max_items to use more",
                stacklevel=4,
            )
        return held

    def _scores(self, held: Ragged, left_out: Integers | None = None) -> Floats:
        """The weighted mean of votes for each label, by other rows than those left out."""
        from labelrules.kernels.mining.bits import score_rows

        n_rows = len(held.start) - 1
        truth = self._truth.view()
        truth.setflags(write=False)  # after copying too, or the kernel would be compiled anew
        out = np.full(n_rows, -1) if left_out is None else left_out
        scores = np.empty((n_rows, self.n_labels_))
        score_rows(
            self.items_.words, self._label_words, held.start, held.values, out, truth,
            self._least, self.max_length, float(self.m), scores,
        )  # fmt: skip
        return scores

    def _labels(self, X: Any) -> Board:
        return self.judge_.labels(self._presence(X))

    def _presence(self, X: Any) -> Floats:
        return self.judge_.presence(self._scores(self._items_in(X)))


def telling_items(data: Dataset, bins: Binning, n_bins: int, max_frequency: float) -> Items:
    """The items of the features, without those that nearly all rows have."""
    if bins is None:
        raise ValueError("bins must say how numeric features are cut: use 'labels'")
    items = items_of(data, labels=False, bins=bins, n_bins=n_bins)
    return items.chosen(items.counts <= max_frequency * data.n_rows)


def checked_number(name: str, value: Any, highest: float = np.inf) -> None:
    """Refuse what is no finite number from 0 to the highest."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and np.isfinite(float(value)) and 0 <= float(value) <= highest):
        limit = f" and at most {highest:g}" if np.isfinite(highest) else ", and finite"
        raise ValueError(f"{name} must be a number from 0 on{limit}, not {value!r}")
