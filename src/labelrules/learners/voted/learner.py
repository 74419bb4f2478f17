"""Rules that vote: found in many samples of the rows, elected by what they save."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from labelrules._checks import counted
from labelrules._types import Board, Floats, Integers
from labelrules.data import Dataset
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import (
    Listener,
    are_passed_on,
    needed,
    number,
    passed_on,
    told,
    warn_of_early_end,
    whole,
)
from labelrules.learners.base.thresholds import bootstrap_sample
from labelrules.learners.base.workers import checked_jobs
from labelrules.learners.covering.learner import SeparateAndConquer
from labelrules.learners.voted.election import DOUBLING, Election, Stakes
from labelrules.rules import Body, Evidence, Head, Rule, RuleSet, RuleTable


@dataclass(frozen=True)
class ListProgress:
    """How many of the lists are learned whose rules stand for election.

    Attributes
    ----------
    n_done, n_lists : int
    """

    n_done: int
    n_lists: int

    @property
    def share(self) -> float:
        """How much is done, from 0 to 1."""
        return self.n_done / self.n_lists

    def __str__(self) -> str:
        return f"{self.n_done} of {self.n_lists} lists"


class VotedRules(TableClassifier):
    """Learn a set of short rules that vote on the labels.

    Decision lists are learned from samples of the rows, drawn with replacement. The bodies of their
    rules stand for election: one after the other is given votes on all labels for which that pays.
    Two votes for presence double the odds that a label is present. A label is predicted if there
    are more votes for its presence than for its absence.

    Votes weigh misses by `miss_cost`, and `predict_proba` takes that out again: a label is
    predicted if the odds of its presence are better than 1 : `miss_cost`, so with the default 2 if
    its probability is above one third, and not one half. `threshold_` is that probability.

    Such a set takes more adding up than a decision list when it is read, but it is shorter and
    predicts better. It has no conditions on labels; labels meet in the heads of rules.

    Parameters
    ----------
    n_lists : int, default=10
        How many lists are learned.
    max_conditions : int, optional, default=2
        The most conditions of a rule.
    miss_cost : float, optional
        How many times worse it is to miss a label than to predict one that is absent. The more, the
        more labels are predicted. By default 2; but 1 for a single label, and for classes, of which
        each row has one.
    vote_cost : float, default=0.5
        How many bits a vote must save. The higher, the fewer rules.
    condition_cost : float, default=0.75
        How many bits each condition of a rule must save. The higher, the fewer and shorter rules.
    random_state : int or RandomState, optional
        Draws the samples, together with the values of the rows. The same without it.
    n_jobs : int, optional
        Lists that are learned at the same time, by joblib. The result does not depend on it.
    progress : bool or function, default=False
        Whether to show how far learning has come, or a function to call with each
        :class:`ListProgress`.

    Attributes
    ----------
    theory_ : RuleSet
        The rules in the order of their election, the votes that are cast on every row last.
        Evidence is from the training rows on which a rule fires.
    threshold_ : float
        The probability above which a label is predicted.
    schema_ : Schema
    classes_ : array, or list of arrays
    n_labels_ : int

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> model = VotedRules().fit(readers)
    >>> print(model.theory_)
    in any order:
    not quality x6 <- education = Primary
    fashion x5 <- sex = Female
    quality x3, tabloid, not fashion x4, not sports x3 <- true
    """

    theory_: RuleSet

    def __init__(
        self,
        *,
        n_lists: int = 10,
        max_conditions: int | None = 2,
        miss_cost: float | None = None,
        vote_cost: float = 0.5,
        condition_cost: float = 0.75,
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: bool | Listener = False,
    ) -> None:
        self.n_lists = n_lists
        self.max_conditions = max_conditions
        self.miss_cost = miss_cost
        self.vote_cost = vote_cost
        self.condition_cost = condition_cost
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, Y: Any = None) -> Self:
        """Learn the rules and their votes.

        Parameters
        ----------
        X : array, sparse matrix, frame, list of rows, or Dataset
            Features as for :func:`labelrules.dataset`: columns of text, truth values or
            categories are nominal, NaN and None are missing values, sparse X stays so.
            A `Dataset` brings its labels.
        Y : array, sparse matrix, frame, series or list
            Rows by labels, 0 or 1, or label sets; a frame names them. Or, in one
            dimension, the class of each row.

        Returns
        -------
        self
        """
        self._check()
        data, target = self._training_data(X, Y)
        is_single = target.kind != "labels" or data.schema.n_labels == 1
        miss = (1.0 if is_single else 2.0) if self.miss_cost is None else float(self.miss_cost)
        with told(self.progress) as listener:
            bodies, n_learned = self._candidates(data, listener)
        stakes = Stakes(miss, float(self.vote_cost), float(self.condition_cost))
        rules, is_finished = _elected(bodies, data, stakes)
        self.theory_ = RuleSet(data.schema, rules)
        self._odds_of_none = miss
        self._remember(data.schema, target)
        self._warn(n_learned, is_finished)
        return self

    @property
    def threshold_(self) -> float:
        """The probability above which a label is predicted: odds of 1 : `miss_cost`."""
        return 1 / (1 + self._odds_of_none)

    def _check(self) -> None:
        needed(whole(self, "n_lists", 1), "n_lists")
        whole(self, "max_conditions", 1)
        for name in ("vote_cost", "condition_cost"):
            needed(number(self, name, highest=1000), name)
        if number(self, "miss_cost", highest=1000) == 0:
            raise ValueError("miss_cost must be above 0; at 0 nothing would be predicted")
        checked_jobs(self.n_jobs)

    def _warn(self, n_learned: int, is_finished: bool) -> None:
        """Say what is kept if somebody interrupted."""
        kept = []
        if n_learned < self.n_lists:
            kept.append(f"the rules of {n_learned} of {self.n_lists} lists vote")
        if not is_finished:
            n_rules = sum(len(rule.body) > 0 for rule in self.theory_)
            kept.append(f"the election ended after {counted(n_rules, 'rule')}")
        if kept:
            warn_of_early_end("it was interrupted", " and ".join(kept))

    def _candidates(self, data: Dataset, listener: Listener) -> tuple[list[Body], int]:
        """The bodies of rules from all lists, each once; and how many lists were learned."""
        chance = check_random_state(0 if self.random_state is None else self.random_state)
        base = SeparateAndConquer(
            max_conditions=self.max_conditions, label_conditions=False, last_resort=None
        )
        samples = [bootstrap_sample(data, chance) for _ in range(self.n_lists)]
        lists: list[list[Body]] = []
        parallel = Parallel(n_jobs=checked_jobs(self.n_jobs), return_as="generator")
        try:
            for bodies in parallel(delayed(_bodies)(base, data, rows) for rows in samples):
                lists.append(bodies)
                listener(ListProgress(len(lists), len(samples)))
        except KeyboardInterrupt:
            if not lists or are_passed_on():
                raise
        return list(dict.fromkeys(body for bodies in lists for body in bodies)), len(lists)

    def _labels(self, X: Any) -> Board:
        return RuleTable(self.theory_).predict(X)

    def _presence(self, X: Any) -> Floats:
        # The votes were given as if each present label counted so many times.
        with np.errstate(over="ignore"):  # thousands of votes against are a probability of 0
            against = np.exp2(-self.theory_.margin(X) / DOUBLING)
            return np.asarray(1 / (1 + self._odds_of_none * against))


@heard_interrupts()
def _bodies(base: SeparateAndConquer, data: Dataset, rows: Integers) -> list[Body]:
    """The bodies of a list that is learned from some rows, but for the empty one."""
    with passed_on():
        learned = base.fit(data.take(rows)).theory_
    return [rule.body for rule in learned if len(rule.body)]


def _elected(bodies: list[Body], data: Dataset, stakes: Stakes) -> tuple[list[Rule], bool]:
    """The rules that have votes, and whether nobody interrupted their election.

    Those elected until then are kept; if it is before any was, a first few are elected.
    """
    election: Election | None = None
    try:
        election = _election(bodies, data, stakes)
        return _rules(bodies, election.held(), data), True
    except KeyboardInterrupt:
        if are_passed_on():
            raise
    if election is None or not election.votes[:-1].any():
        election = _election(bodies, data, stakes)
        election.held(most_terms=1)
    return _rules(bodies, election.votes, data), False


def _election(bodies: list[Body], data: Dataset, stakes: Stakes) -> Election:
    lengths = np.array([len(body) for body in bodies], dtype=np.int64)
    return Election(_fires(bodies, data), lengths, data.Y, stakes)


def _fires(bodies: Iterable[Body], data: Dataset) -> sparse.csr_array:
    """Bodies by rows, 1 where a body holds."""
    nothing = data.empty_board()
    rows = [np.flatnonzero(body.covers(data.X, nothing)) for body in bodies]
    places = np.concatenate([[0], np.cumsum([len(some) for some in rows])]).astype(np.int64)
    columns = np.concatenate(rows) if rows else np.empty(0, dtype=np.int64)
    shape = (len(rows), data.n_rows)
    return sparse.csr_array((np.ones(len(columns)), columns, places), shape=shape)


def _rules(bodies: Iterable[Body], votes: Integers, data: Dataset) -> list[Rule]:
    """The rules that have votes, that for every row last, with evidence from where they fire."""
    nothing, rules = data.empty_board(), []
    for body, given in zip([*bodies, Body()], votes, strict=True):
        labels = np.flatnonzero(given).tolist()
        if not labels:
            continue
        covered = body.covers(data.X, nothing)
        values = {label: int(given[label] > 0) for label in labels}
        n_present = {label: int(data.Y[covered, label].sum()) for label in labels}
        n_rows = int(covered.sum())
        evidence = (
            Evidence(n_present[label], n_rows - n_present[label])
            if values[label]
            else Evidence(n_rows - n_present[label], n_present[label])
            for label in labels
        )
        head = Head(values, data.schema.n_labels)
        cast = tuple(abs(int(given[i])) for i in labels)
        rules.append(Rule(head, body, False, tuple(evidence), cast))
    return rules
