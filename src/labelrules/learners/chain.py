"""Chains: each label may be told by those before it."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelrules._checks import quoted, suggestion
from labelrules._types import Board, Floats, Integers
from labelrules.data import Dataset, Schema
from labelrules.learners.base.per_label import LabelwiseClassifier, flat, majority
from labelrules.learners.base.progress import Listener
from labelrules.learners.base.theory_classifier import Background, RuleClassifier, presence
from labelrules.learners.base.thresholds import (
    Threshold,
    bootstrap_sample,
    cardinality_threshold,
    checked_threshold,
)
from labelrules.learners.base.workers import Crew, FittedReader, Job, Work, numbers_of
from labelrules.learners.dependence import unconditional_dependence
from labelrules.rules import DecisionList, LabelByLabel, RuleTable

Order = tuple[int, ...]
WORDS = ("frequency", "dependence", "random", "columns")


class ClassifierChain(LabelwiseClassifier):
    """Learn a model for each label, by the features and the labels before it in a chain.

    The models learn from the true values of the labels before; in predicting they are shown the
    predicted ones. With a base that learns rules, `theory_` is one decision list: the lists of the
    labels, in the order of the chain, of which later ones test the labels of earlier ones.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels; see :class:`LabelwiseClassifier`. By default `Ripper()`.
    order : {"frequency", "dependence", "random", "columns"} or labels, default="frequency"
        The order of the labels: the most frequent first; each near those it depends on, by a
        chi-square test (see :meth:`Dependence.order`); by chance; that of the columns of Y; or as
        given, by name or number.
    n_chains : int, default=1
        How many chains vote with their probabilities, each in a random order whatever `order` says.
    bootstrap : bool, default=True
        Whether each of several chains learns from a random sample of the rows, drawn with
        replacement.
    threshold : "cardinality" or float, default="cardinality"
        How probable a label must be, in the mean of several chains, to be predicted: such that as
        many labels are predicted as there are, for rows that chains have not learned from (or for
        all rows, if there are none); or this number.
    random_state : int or RandomState, optional
        For random orders and samples. The same without it.
    last_resort : float, optional
        Rows in which no label is found are given the likeliest one if it is more probable than
        this; see :class:`LabelwiseClassifier`.
    n_jobs : int, optional
        Labels that are learned at the same time. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show how far learning has come, or a function to call with each
        :class:`LabelProgress`.

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
    >>> readers = load("magazines")
    >>> order = ["sports", "quality", "fashion", "tabloid"]
    >>> model = ClassifierChain(SeparateAndConquer(), order=order).fit(readers)
    >>> print(model.theory_)
    sports <- marital = Divorced, education = Secondary, children = No
    not sports <- true
    quality <- education = University
    quality <- sports
    not quality <- true
    fashion <- sex = Female
    not fashion <- true
    not tabloid <- true
    """

    def __init__(
        self,
        base: Any = None,
        *,
        order: str | Sequence[str | int] = "frequency",
        n_chains: int = 1,
        bootstrap: bool = True,
        threshold: Threshold = "cardinality",
        random_state: Any = None,
        last_resort: float | None = None,
        n_jobs: int | None = None,
        progress: bool | Listener = False,
    ) -> None:
        self.base = base
        self.order = order
        self.n_chains = n_chains
        self.bootstrap = bootstrap
        self.threshold = threshold
        self.random_state = random_state
        self.last_resort = last_resort
        self.n_jobs = n_jobs
        self.progress = progress

    def _learn(self, data: Dataset, base: Any, crew: Crew) -> None:
        self._check()
        chance = check_random_state(0 if self.random_state is None else self.random_state)
        orders = self._orders(data, chance)
        samples = [self._sample(data, chance) for _ in orders]
        self._chains: list[list[Any]] = []
        self.orders_: list[Order] = []
        for number, (order, sample) in enumerate(zip(orders, samples, strict=True), 1):
            part = data if sample is None else data.take(sample)
            phase = "chain" if len(orders) == 1 else f"chain {number} of {len(orders)}"
            members = _learn_chain(Work(base, part, part.Y), order, crew, phase)
            if crew.was_interrupted and self._chains:
                break  # an unfinished chain would vote for what is usual
            self._chains.append(members)
            self.orders_.append(order)
        for stale in ("theories_", "threshold_"):
            self.__dict__.pop(stale, None)
        if isinstance(base, RuleClassifier):
            self._keep_theories(data)
        if len(orders) > 1:
            self.threshold_ = self._chosen_threshold(data, samples[: len(self._chains)])

    def _check(self) -> None:
        n_chains = self.n_chains
        if isinstance(n_chains, bool) or not isinstance(n_chains, Integral) or n_chains < 1:
            raise ValueError(f"n_chains must be a whole number of at least 1, not {n_chains!r}")
        if n_chains > 1 and not isinstance(self.order, str):
            raise ValueError("several chains have random orders: leave order out, or n_chains at 1")
        if not isinstance(self.bootstrap, bool | np.bool_):
            raise ValueError(f"bootstrap must be True or False, not {self.bootstrap!r}")
        checked_threshold(self.threshold)

    def _orders(self, data: Dataset, chance: np.random.RandomState) -> list[Order]:
        known = chain_order(self.order, data)
        if self.n_chains == 1 and known is not None:
            return [known]
        n_labels = data.schema.n_labels
        return [tuple(chance.permutation(n_labels).tolist()) for _ in range(int(self.n_chains))]

    def _sample(self, data: Dataset, chance: np.random.RandomState) -> Integers | None:
        """The rows that a chain learns from; None for all of them."""
        return bootstrap_sample(data, chance) if self.bootstrap and self.n_chains > 1 else None

    def _keep_theories(self, data: Dataset) -> None:
        theories = [DecisionList(data.schema, flat(members)) for members in self._chains]
        self.theories_ = [theory.with_evidence(data, data.Y) for theory in theories]
        self.background_ = Background.count(data.Y, data.Y)
        if self.n_chains == 1:
            self._keep(theories[0], data)

    def _chosen_threshold(self, data: Dataset, samples: list[Integers | None]) -> float:
        threshold = checked_threshold(self.threshold)
        if not isinstance(threshold, str):
            return threshold
        total, n_votes = np.zeros(data.Y.shape), np.zeros(data.n_rows)
        for number, sample in enumerate(samples):
            outside = np.ones(data.n_rows, dtype=np.bool_)
            if sample is not None:
                outside[sample] = False
            if outside.any():
                total[outside] += self._vote(data.take(outside), number)
            n_votes += outside
        asked = n_votes > 0
        return cardinality_threshold(total[asked] / n_votes[asked, None], data.Y[asked])

    def _why_no_theory(self) -> str:
        if hasattr(self, "theories_"):
            return (
                f"{len(self.theories_)} chains that vote are no single theory: see theories_, or "
                "use n_chains=1"
            )
        return super()._why_no_theory()

    def _said(self, X: Any) -> Board:
        if not hasattr(self, "threshold_"):
            return self._chained(self._reader(self._rows(X), 0), self.orders_[0])
        return (self._probable(X) > self.threshold_).astype(np.int8)

    def _probable(self, X: Any) -> Floats:
        rows = self._rows(X)
        votes = [self._vote(rows, number) for number in range(len(self.orders_))]
        return np.asarray(np.mean(votes, axis=0))

    def _vote(self, rows: Dataset, number: int) -> Floats:
        """The probabilities by one chain."""
        if hasattr(self, "theories_"):
            theory = self.theories_[number]
            run = RuleTable(theory).run(rows)
            return presence(theory, run, self.background_, self._smoothing)
        reader = self._reader(rows, number)
        # No label tests one after it, so all can be asked at once when all are known.
        return reader.presence(self._chained(reader, self.orders_[number]))

    def _reader(self, rows: Dataset, number: int) -> FittedReader:
        members = sorted(self._chains[number], key=lambda member: int(member.job.label))
        return FittedReader(members, numbers_of(rows))

    def _chained(self, reader: FittedReader, order: Order) -> Board:
        return reader.ask(LabelByLabel(1, order), None).run.board


def chain_order(order: Any, data: Dataset) -> Order | None:
    """The labels by number, in the order that was asked for; None if chance decides."""
    if not isinstance(order, str):
        return _given_order(order, data.schema)
    if order == "columns":
        return tuple(range(data.schema.n_labels))
    if order == "dependence":
        return unconditional_dependence(data).order()
    if order == "frequency":
        return tuple(np.argsort(-data.Y.sum(axis=0, dtype=np.int64), kind="stable").tolist())
    if order == "random":
        return None
    raise ValueError(
        f"order must be {', '.join(map(repr, WORDS))} or labels, not {order!r}"
        f"{suggestion(order, WORDS)}"
    )


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
    if isinstance(label, str):
        if label not in schema.label_index:
            hint = suggestion(label, schema.labels)
            raise ValueError(f"order has the unknown label {quoted(label)}{hint}")
        return schema.label_index[label]
    is_number = isinstance(label, Integral) and not isinstance(label, bool)
    if not is_number or int(label) not in range(schema.n_labels):
        raise ValueError(f"order has {label!r:.60}, which is neither a label nor its number")
    return int(label)


def _learn_chain(work: Work, order: Order, crew: Crew, phase: str) -> list[Any]:
    """The models of a chain in its order; of labels that were not finished, the majority."""
    # Each label with those before it, tested in the order of their numbers.
    jobs = [Job(label, tuple(sorted(order[:place]))) for place, label in enumerate(order)]
    learned = crew.learn(work, jobs, phase)
    usual = majority(work.data.Y)
    return [
        learned[job] if job in learned else work.constant(job, usual[job.label]) for job in jobs
    ]
