"""Binary relevance: each label on its own."""

from typing import Any

from labelrules._types import Board, Floats
from labelrules.data import Dataset
from labelrules.learners.base.per_label import LabelwiseClassifier, flat, majority
from labelrules.learners.base.progress import Listener
from labelrules.learners.base.workers import Crew, FittedReader, Job, Work, numbers_of
from labelrules.rules import DecisionList


class BinaryRelevance(LabelwiseClassifier):
    """Learn a model for each label, by the features alone.

    With a base that learns rules, `theory_` is one decision list: the lists of the labels, one
    after the other. They do not test labels, so their order does not matter.

    Parameters
    ----------
    base : classifier, optional
        The learner for single labels; see :class:`LabelwiseClassifier`. By default `Ripper()`.
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
        If the base learns rules; with rules for rows without labels, a LayeredTheory.
    members_ : list
        For each label its rules, or the fitted classifier.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.learners import SeparateAndConquer
    >>> readers = load("magazines")
    >>> model = BinaryRelevance(SeparateAndConquer()).fit(readers)
    >>> print(model.theory_)
    quality <- education = University
    quality <- marital = Divorced, children = No
    not quality <- true
    not tabloid <- true
    fashion <- sex = Female, education = University
    not fashion <- true
    sports <- marital = Divorced, education = Secondary, children = No
    not sports <- true
    """

    def __init__(
        self,
        base: Any = None,
        *,
        last_resort: float | None = None,
        n_jobs: int | None = None,
        progress: bool | Listener = False,
    ) -> None:
        self.base = base
        self.last_resort = last_resort
        self.n_jobs = n_jobs
        self.progress = progress

    def _learn(self, data: Dataset, base: Any, crew: Crew) -> None:
        work = Work(base, data, data.Y)
        jobs = [Job(label) for label in range(data.schema.n_labels)]
        learned = crew.learn(work, jobs, "each label on its own")
        usual = majority(data.Y)
        self.members_: list[Any] = [
            learned[job] if job in learned else work.constant(job, usual[job.label]) for job in jobs
        ]
        if work.makes_rules:
            self._keep(DecisionList(data.schema, flat(self.members_)), data)

    def _said(self, X: Any) -> Board:
        return self._reader(X).read(None).board

    def _probable(self, X: Any) -> Floats:
        return self._reader(X).presence(None)

    def _reader(self, X: Any) -> FittedReader:
        return FittedReader(self.members_, numbers_of(self._rows(X)))
