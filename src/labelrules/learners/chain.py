"""Classifier chains: the model of each label may test the labels before it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from labelrules._checks import (
    is_whole,
    number,
    one_of,
    quoted,
    random_numbers,
    suggestion,
    truth_value,
    whole_number,
)
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data import DataError, Dataset, Schema
from labelrules.data.document import DocumentError, Record, Share
from labelrules.data.numeric import numeric_features
from labelrules.data.rows import Rows
from labelrules.learners.base.label_models import (
    ClassifierLayer,
    LabelLearner,
    LabelTask,
    Workers,
    joined_list,
)
from labelrules.learners.base.per_label import LabelwiseClassifier
from labelrules.learners.base.progress import Listener
from labelrules.learners.base.sampling import bootstrap_sample
from labelrules.learners.base.size import without_wrong_rules
from labelrules.learners.base.tallies import label_cells
from labelrules.learners.base.theory_classifier import Background, BackgroundRecord, Smoothing
from labelrules.learners.dependence import unconditional_dependence
from labelrules.learners.registry import register
from labelrules.rules import DecisionList, LabelByLabel
from labelrules.rules.json import (
    LayersRecord,
    ListRecord,
    label_numbers,
    read_theory,
    theory_record,
)
from labelrules.rules.rule_table import table_of

Order: TypeAlias = tuple[int, ...]
Threshold: TypeAlias = float | Literal["cardinality"]
Sample: TypeAlias = list[Integers] | None
"""The rows that a chain learns from, by their numbers in each block; None for all of them."""

Vote: TypeAlias = Callable[[Dataset, int], Floats]
"""The probabilities by one chain, for some rows."""

ORDERS = ("frequency", "dependence", "random", "columns")


class ChainState(Record):
    """The order of each chain; the theory of one chain, or those of several and the threshold."""

    theory: ListRecord | LayersRecord | None
    background: BackgroundRecord
    last_resort: Share | None
    threshold: Share | None
    orders: list[list[str]]
    theories: list[ListRecord]


@register(order=5)
@dataclass(eq=False, repr=False)
class ClassifierChain(LabelwiseClassifier):
    """Learn a model for each label, from the features and the labels before it in a chain.

    The models learn from the true values of the labels before; in predicting they read the
    predicted ones. With a base that learns rules, `theory_` is one decision list: the lists of the
    labels, in the order of the chain, of which later ones test the labels of earlier ones.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels; see :class:`LabelwiseClassifier`. By default `Ripper()`.
    order : {"frequency", "dependence", "random", "columns"} or labels, default="frequency"
        The order of the labels: the most frequent first; each near those it depends on, by a
        chi-square test (see :meth:`Dependence.order`); random; that of the columns of Y; or as
        given, by name or number.
    n_chains : int, default=1
        How many chains vote with their probabilities, each in a random order whatever `order` is.
    bootstrap : bool, default=True
        Whether each of several chains learns from a sample of the rows, drawn with replacement.
    threshold : "cardinality" or float, default="cardinality"
        How probable a label must be, in the mean of several chains, to be predicted: such that as
        many labels are predicted as there are, for rows that chains have not learned from (or for
        all rows, if there are none); or this number. "cardinality" is one half for a single label
        or two classes; of three or more classes the most probable is predicted, whatever it is.
    random_state : int, RandomState or None, default=None
        For random orders and samples. None is the same as 0.
    last_resort : float, optional
        The least probability of a guess for a row without labels; see :class:`LabelwiseClassifier`.
    max_literals : int, optional
        The most literals of the theory of one chain; see :class:`LabelwiseClassifier`.
    n_jobs : int, optional
        Labels that are learned at the same time; see :class:`LabelwiseClassifier`.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`LabelProgress`.

    Attributes
    ----------
    theory_ : DecisionList
        If the base learns rules and there is one chain; with rules for rows without labels, a
        LayeredTheory.
    theories_ : list of DecisionList
        If the base learns rules, that of each chain.
    orders_ : list of tuple of int
        The labels in the order of each chain.
    threshold_ : float
        If there are several chains.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.learners import SeparateAndConquer
    >>> order = ["sports", "quality", "fashion", "tabloid"]
    >>> model = ClassifierChain(SeparateAndConquer(), order=order).fit(load("magazines"))
    >>> print(model.theory_)
    sports <- marital = Divorced, education = Secondary, children = No
    quality <- education = University
    quality <- sports
    fashion <- sex = Female, education = University
    tabloid <- marital = Single
    """

    base: Any = None
    _: KW_ONLY
    order: str | Sequence[str | int] = "frequency"
    n_chains: int = 1
    bootstrap: bool = True
    threshold: Threshold = "cardinality"
    random_state: Any = None
    last_resort: float | None = None
    max_literals: int | None = None
    n_jobs: int | None = None
    progress: bool | Listener = False

    _State: ClassVar[type[Record]] = ChainState
    _naming_parameters = ("order",)

    @property
    def theories_(self) -> list[DecisionList]:
        """The decision list of each chain."""
        if not self._has_theory:
            return self._theories
        return [getattr(self.theory_, "layers", [self.theory_])[0]]

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check()
        random_numbers(self.random_state)
        if isinstance(self.order, str):
            one_of(self.order, "order", ORDERS, also="labels")
        elif not all(type(label) in (int, str) for label in self.order):
            raise ValueError("order must name labels, or give their numbers")

    def _check(self) -> None:
        n_chains = whole_number(self.n_chains, "n_chains", low=1)
        if n_chains > 1 and not isinstance(self.order, str):
            raise ValueError("several chains have random orders: leave order out, or n_chains at 1")
        if n_chains > 1 and self.max_literals is not None:
            raise ValueError("max_literals is for one theory: leave it out, or n_chains at 1")
        truth_value(self.bootstrap, "bootstrap")
        if self.threshold != "cardinality":
            number(self.threshold, "threshold", low=0, high=1, also="'cardinality'")

    def _state(self) -> dict[str, Any]:
        if not hasattr(self, "theories_"):
            raise DataError(f"{self._why_no_theory()}; a file holds rules only")
        labels, several = self.schema_.labels, not self._has_theory
        return {
            "theory": None if several else theory_record(self.theory_),
            "background": self.background_.record,
            "last_resort": self.last_resort_,
            "threshold": self.threshold_ if several else None,
            "orders": [[labels[label] for label in order] for order in self.orders_],
            "theories": [theory_record(theory) for theory in self.theories_ if several],
        }

    def _restore_state(self, state: Any) -> None:
        self.last_resort_ = state.last_resort
        self.background_ = Background.of(state.background, self.n_labels_)
        self.orders_ = [
            _read_order(order, self.schema_, f".orders[{place}]")
            for place, order in enumerate(state.orders)
        ]
        # Of several chains only one may be left, if learning was interrupted.
        n_theories = 1 if state.theory is not None else len(state.theories)
        if not n_theories or len(self.orders_) != n_theories:
            raise ValueError("each chain must have an order and a theory")
        if (state.theory is None) != bool(state.theories) or (
            (state.theory is None) == (state.threshold is None)
        ):
            raise ValueError("one chain has a theory, several have theories and a threshold")
        if state.theory is not None:
            self.theory_ = read_theory(state.theory, self.schema_, ".theory")
            return
        self.threshold_ = float(state.threshold)
        self._theories = [
            read_theory(theory, self.schema_, f".theories[{place}]")
            for place, theory in enumerate(state.theories)
        ]

    def _forget(self) -> None:
        super()._forget()
        for name in ("_theories", "threshold_"):
            self.__dict__.pop(name, None)

    def _learn(self, learner: LabelLearner, workers: Workers) -> None:
        self._check()
        rows = learner.rows
        random = random_numbers(self.random_state)
        orders = self._orders(rows, random)
        draws = self.bootstrap and self.n_chains > 1
        samples = [bootstrap_sample(rows, random) if draws else None for _ in orders]
        chains: list[list[Any]] = []
        self.orders_ = []
        for place, (order, sample) in enumerate(zip(orders, samples, strict=True), 1):
            voter = replace(learner, rows=_sampled(rows, sample))
            phase = "chain" if len(orders) == 1 else f"chain {place} of {len(orders)}"
            models = _learn_chain(voter, order, workers, phase)
            if workers.was_interrupted and chains:
                break  # an unfinished chain would vote for the majority
            chains.append(models)
            self.orders_.append(order)
        if learner.learns_rules:
            self._keep_rules(chains, samples, rows)
        else:
            self._models = chains
        if len(orders) > 1:
            self.threshold_ = self._chosen_threshold(rows, samples[: len(chains)])

    def _orders(self, rows: Rows, random: np.random.RandomState) -> list[Order]:
        known = chain_order(self.order, rows)
        if self.n_chains == 1 and known is not None:
            return [known]
        n_labels = rows.schema.n_labels
        return [tuple(random.permutation(n_labels).tolist()) for _ in range(int(self.n_chains))]

    def _keep_rules(self, chains: list[list[Any]], samples: list[Sample], rows: Rows) -> None:
        if self.n_chains == 1:
            self._keep(joined_list(rows.schema, chains[0]), rows)
            return
        voters = [
            _voter(models, _sampled(rows, one))
            for models, one in zip(chains, samples, strict=False)
        ]
        self._theories = [voter.with_evidence(rows) for voter in voters]
        self.background_ = Background.left_by(None, rows)

    def _chosen_threshold(self, rows: Rows, samples: list[Sample]) -> float:
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        if rows.schema.n_labels == 1:  # two classes, of which the more probable is predicted
            return 0.5
        vote: Vote = self._vote
        if hasattr(self, "_theories"):  # workers need not be sent the whole model
            vote = partial(_vote_of_list, self._theories, self.background_, self._smoothing)
        count, drawn = partial(_vote_counts, vote, len(samples)), [one for one in samples if one]
        counts: PresenceCounts = rows.total(
            count, "counting votes", list(zip(*drawn, strict=True)) if drawn else None
        )
        return counts.threshold

    def _why_no_theory(self) -> str:
        if hasattr(self, "_theories"):
            return (
                f"{len(self._theories)} chains that vote are no single theory: see theories_, or "
                "use n_chains=1"
            )
        return super()._why_no_theory()

    def _model_labels(self, X: Any) -> Board:
        if hasattr(self, "threshold_"):
            return (self._model_presence(X) > self.threshold_).astype(np.int8)
        return self._predicted(self._layer(self._rows(X), 0), 0)

    def _model_presence(self, X: Any) -> Floats:
        rows = self._rows(X)
        votes = [self._vote(rows, chain) for chain in range(len(self.orders_))]
        return np.asarray(np.mean(votes, axis=0))

    def _vote(self, rows: Dataset, chain: int) -> Floats:
        """The probabilities by one chain."""
        if hasattr(self, "_theories"):
            theory = self._theories[chain]
            return self._presence_by(theory, table_of(theory).run(rows))
        layer = self._layer(rows, chain)
        # No label tests one after it, so all can be predicted at once when all are known.
        return layer.presence(self._predicted(layer, chain))

    def _layer(self, rows: Dataset, chain: int) -> ClassifierLayer:
        return ClassifierLayer(self._models[chain], numeric_features(rows))

    def _predicted(self, layer: ClassifierLayer, chain: int) -> Board:
        return layer.infer(LabelByLabel(1, self.orders_[chain]), None).run.board


def _learn_chain(learner: LabelLearner, order: Order, workers: Workers, phase: str) -> list[Any]:
    """The models of a chain in its order; labels that were not finished predict the majority."""
    # Each label with those before it, tested in the order of their numbers.
    tasks = [LabelTask(label, tuple(sorted(order[:place]))) for place, label in enumerate(order)]
    return learner.completed(tasks, workers.learn(learner, tasks, phase))


def _sampled(rows: Rows, sample: Sample) -> Rows:
    """The rows of a sample, perhaps several times."""
    if sample is None:
        return rows
    return rows.mapped(_taken, rows.schema, sample, n_rows=sum(map(len, sample)))


def _taken(block: Dataset, numbers: Integers | None) -> Dataset:
    return block if numbers is None else block.take(numbers)


def _voter(models: list[Any], rows: Rows) -> DecisionList:
    """A chain that votes: default rules stay, since their evidence is the probability of absence.

    `rows` are those from which it was learned.
    """
    rules = joined_list(rows.schema, models, "always")
    return DecisionList(rows.schema, without_wrong_rules(rules.with_evidence(rows), rows))


def _mean_votes(
    rows: Dataset, samples: Sequence[Integers | None], vote: Vote
) -> tuple[Floats, Board]:
    """The mean probabilities by chains that have not learned from a row, and the true labels."""
    total, n_votes = np.zeros(rows.Y.shape), np.zeros(rows.n_rows)
    for chain, sample in enumerate(samples):
        outside = np.ones(rows.n_rows, dtype=np.bool_)
        if sample is not None:
            outside[sample] = False
        if outside.any():
            total[outside] += vote(rows.take(outside), chain)
        n_votes += outside
    voted = n_votes > 0
    return total[voted] / n_votes[voted, None], rows.Y[voted]


def _vote_of_list(
    theories: list[DecisionList],
    background: Background,
    smoothing: Smoothing,
    rows: Dataset,
    chain: int,
) -> Floats:
    theory = theories[chain]
    return background.presence(theory, table_of(theory).run(rows), smoothing)


def _vote_counts(
    vote: Vote, n_chains: int, block: Dataset, samples: Sequence[Integers] | None = None
) -> "PresenceCounts":
    """Count the mean votes in a block; without samples each chain has learned from all rows."""
    return PresenceCounts.of(*_mean_votes(block, samples or [None] * n_chains, vote))


class PresenceCounts(NamedTuple):
    """Different probabilities of known cells, rising, how often each occurs; and present cells."""

    values: Floats
    times: Integers
    n_present: int

    @classmethod
    def of(cls, presence: Floats, truth: Board) -> "PresenceCounts":
        """Count the cells of some rows."""
        values, times = np.unique(presence[truth != UNSET], return_counts=True)
        return cls(values, times, int((truth == 1).sum()))

    def plus(self, other: "PresenceCounts") -> "PresenceCounts":
        """Counts of both parts, added."""
        every = np.concatenate([self.values, other.values])
        values, places = np.unique(every, return_inverse=True)
        times = np.zeros(len(values), np.int64)
        np.add.at(times, places.ravel(), np.concatenate([self.times, other.times]))
        return PresenceCounts(values, times, self.n_present + other.n_present)

    @property
    def threshold(self) -> float:
        """The threshold above which as many cells are predicted as are present."""
        n_above = np.cumsum(self.times[::-1])
        if not len(n_above) or not 0 < self.n_present < n_above[-1]:
            return 0.5
        last, following = np.searchsorted(n_above, [self.n_present, self.n_present + 1])
        falling = self.values[::-1]
        return float((falling[last] + falling[following]) / 2)


def cardinality_threshold(presence: Floats, truth: Board) -> float:
    """The threshold above which as many labels are predicted as are present.

    In the middle between the least probable label that is predicted and the next; one half if no
    label is present, or all are.
    """
    return PresenceCounts.of(presence, truth).threshold


def chain_order(order: Any, rows: Rows) -> Order | None:
    """The labels by number, in the order given; None if it is random."""
    if not isinstance(order, str):
        return _given_order(order, rows.schema)
    one_of(order, "order", ORDERS, also="labels")
    if order == "columns":
        return tuple(range(rows.schema.n_labels))
    if order == "dependence":
        return unconditional_dependence(rows).order()
    if order == "frequency":
        n_known, n_present = label_cells(rows)[:2]
        return tuple(np.argsort(-n_present / np.maximum(n_known, 1), kind="stable").tolist())
    return None


def _given_order(order: Iterable[Any], schema: Schema) -> Order:
    try:
        labels = [_number(label, schema) for label in order]
    except TypeError:
        raise ValueError(f"order must be a sequence of labels, not {order!r:.60}") from None
    missing = set(range(schema.n_labels)) - set(labels)
    if missing or len(labels) != schema.n_labels:
        problem = f"leaves out {quoted(schema.labels[min(missing)])}" if missing else "has repeats"
        raise ValueError(f"order must name each label once; it {problem}")
    return tuple(labels)


def _number(label: Any, schema: Schema) -> int:
    if isinstance(label, str) and label in schema.label_index:
        return schema.label_index[label]
    if is_whole(label) and label in range(schema.n_labels):
        return int(label)
    hint = suggestion(label, schema.labels) if isinstance(label, str) else ""
    raise ValueError(f"order has {label!r:.60}, which is neither a label nor its number{hint}")


def _read_order(names: list[str], schema: Schema, place: str) -> Order:
    order = label_numbers(names, schema, place)
    if sorted(order) != list(range(schema.n_labels)):
        raise DocumentError(place, "must name each label once")
    return order
