"""Chains: each label may be told by those before it."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from labelrules._messages import quoted, suggestion
from labelrules._types import Board, Floats
from labelrules.data import Dataset, Schema
from labelrules.learners.crew import Crew
from labelrules.learners.dependence import unconditional_dependence
from labelrules.learners.fitted import FittedReader
from labelrules.learners.labelwise import LabelwiseClassifier, flat, majority
from labelrules.learners.members import Job, Work
from labelrules.learners.probability import Background, presence
from labelrules.learners.progress import Listener
from labelrules.learners.widened import numbers_of
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
    random_state : int or RandomState, optional
        For random orders. The same without it.
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
        random_state: Any = None,
        last_resort: float | None = None,
        n_jobs: int | None = None,
        progress: bool | Listener = False,
    ) -> None:
        self.base = base
        self.order = order
        self.n_chains = n_chains
        self.random_state = random_state
        self.last_resort = last_resort
        self.n_jobs = n_jobs
        self.progress = progress

    def _learn(self, data: Dataset, base: Any, crew: Crew) -> None:
        orders = self._orders(data)
        chains = [_jobs(order) for order in orders]
        work = Work(base, data, data.Y)
        learned = crew.learn(work, (job for jobs in chains for job in jobs), "chain")
        usual = majority(data.Y)
        for job in {job for jobs in chains for job in jobs} - learned.keys():
            learned[job] = work.constant(job, usual[job.label])
        self.orders_ = orders
        self._chains: list[list[Any]] = [[learned[job] for job in jobs] for jobs in chains]
        self.__dict__.pop("theories_", None)
        if work.makes_rules:
            theories = [DecisionList(data.schema, flat(members)) for members in self._chains]
            self.theories_ = [theory.with_evidence(data, data.Y) for theory in theories]
            if len(theories) == 1:
                self._keep(theories[0], data)
            self.background_ = Background.count(data.Y, data.Y)

    def _orders(self, data: Dataset) -> list[Order]:
        n_chains, order = self.n_chains, self.order
        if isinstance(n_chains, bool) or not isinstance(n_chains, Integral) or n_chains < 1:
            raise ValueError(f"n_chains must be a whole number of at least 1, not {n_chains!r}")
        if n_chains > 1 and not isinstance(order, str):
            raise ValueError("several chains have random orders: leave order out, or n_chains at 1")
        known = chain_order(order, data)
        if n_chains == 1 and known is not None:
            return [known]
        chance = check_random_state(0 if self.random_state is None else self.random_state)
        labels = data.schema.n_labels
        return [tuple(chance.permutation(labels).tolist()) for _ in range(int(n_chains))]

    def _why_no_theory(self) -> str:
        if hasattr(self, "theories_"):
            return (
                f"{len(self.theories_)} chains that vote are no single theory: see theories_, or "
                "use n_chains=1"
            )
        return super()._why_no_theory()

    def _said(self, X: Any) -> Board:
        if len(self.orders_) == 1:
            return self._chained(self._reader(X, 0), self.orders_[0])
        return (self._probable(X) > 0.5).astype(np.int8)

    def _probable(self, X: Any) -> Floats:
        votes = [self._vote(X, number) for number in range(len(self.orders_))]
        return np.asarray(np.mean(votes, axis=0))

    def _vote(self, X: Any, number: int) -> Floats:
        """The probabilities by one chain."""
        if hasattr(self, "theories_"):
            theory = self.theories_[number]
            run = RuleTable(theory).run(X)
            return presence(theory, run, self.background_, self._smoothing)
        reader = self._reader(X, number)
        # No label tests one after it, so all can be asked at once when all are known.
        return reader.presence(self._chained(reader, self.orders_[number]))

    def _reader(self, X: Any, number: int) -> FittedReader:
        members = sorted(self._chains[number], key=lambda member: int(member.job.label))
        return FittedReader(members, numbers_of(self._rows(X)))

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
    raise ValueError(f"order must be {', '.join(map(repr, WORDS))} or labels, not {order!r}")


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


def _jobs(order: Order) -> list[Job]:
    """Each label with those before it; tested in the order of their numbers."""
    return [Job(label, tuple(sorted(order[:place]))) for place, label in enumerate(order)]
