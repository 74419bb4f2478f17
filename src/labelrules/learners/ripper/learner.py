"""RIPPER as a classifier for one label, or for classes."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._checks import truth_value, whole_number
from labelrules._types import UNSET, Board, Integers, Mask
from labelrules.data import Dataset
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.learners.base.progress import (
    Listener,
    Progress,
    check_progress,
    is_nested_fit,
    progress_listener,
    rules_so_far,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import random_seed
from labelrules.learners.base.targets import Target
from labelrules.learners.base.theory_classifier import RuleClassifier, Smoothing
from labelrules.learners.registry import register
from labelrules.learners.ripper.one_class import Candidate, OneClass, RipperSettings
from labelrules.rules import Body, DecisionList, Head, Rule, RuleTable
from labelrules.search.bodies.foil import Chance, FoilSearch
from labelrules.search.bodies.sorted_columns import SortedColumns

# -------------------- RIPPER's rules for all classes: for each but the most frequent, the rarest
# first


class ClassNews(NamedTuple):
    """A rule that has taken its place, or that of another.

    Its class, how many rules there are now, how many rows none of them covers, and the share of
    the rows it covers that have its class.
    """

    target: int
    rule: Candidate
    n_rules: int
    n_left: int
    share_right: float


Teller: TypeAlias = Callable[["ClassLearner", ClassNews], object]


class ClassLearner:
    """Learns an ordered list of rules, each for one class, and a default class.

    The search holds the sorted features and can be used again, for other classes of the same rows;
    so the columns of many labels are sorted once. Results depend on features, classes and the
    seed, not on what the search was used for before.

    Parameters
    ----------
    search : FoilSearch
    settings : RipperSettings
    classes : array of int
        The class of each row, from 0 on; of a label 0 for absent and 1 for present.
    left : array of bool, optional
        The rows to learn from; all by default.

    Attributes
    ----------
    rules : list of (int, Candidate)
        The class and the body of each rule, in order. If learning is interrupted those found so
        far.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.search.bodies.sorted_columns import Columns
    >>> readers = load("magazines")
    >>> search = FoilSearch(Columns.of(readers))
    >>> settings = RipperSettings(2, 3, 2, True, True, seed=0)
    >>> for label in (0, 2):
    ...     learner = ClassLearner(search, settings, readers.Y[:, label].astype(int))
    ...     learner.learn()
    ...     print([(one, len(body)) for one, body in learner.listed()])
    [(1, 1), (0, 0)]
    [(1, 2), (0, 0)]
    """

    def __init__(
        self,
        search: FoilSearch,
        settings: RipperSettings,
        classes: Integers,
        left: Mask | None = None,
    ) -> None:
        self.search, self.settings, self.classes = search, settings, classes
        self.left: Mask = np.ones(len(classes), dtype=np.bool_) if left is None else left
        rows = self.left if self.left.any() else slice(None)
        n_rows = np.bincount(classes[rows])
        # Rising frequency; of classes that are equally frequent the last comes first.
        order = np.lexsort((-np.arange(len(n_rows)), n_rows))
        self.order: Integers = order[n_rows[order] > 0]
        self.rules: list[tuple[int, Candidate]] = []

    def learn(self, tell: Teller | None = None) -> None:
        """Learn the rules of each class but the last."""
        ranks = np.zeros(self.classes.max() + 1, dtype=np.int64)
        ranks[self.order] = np.arange(len(self.order))
        ranked = ranks[self.classes]
        chance = Chance(self.settings.seed)
        for rank, target in enumerate(self.order[:-1].tolist()):
            one = OneClass(self.search, self.settings, ranked, rank, self.left, chance)
            try:
                one.learn(None if tell is None else partial(self._tell, tell, target, one))
            finally:  # what an interrupted learner has found is kept
                self.rules += [(target, rule) for rule in one.rules]
                self.left = one.uncovered()

    @property
    def default(self) -> int:
        """The most frequent class of the rows that no rule covers, the more frequent of equals."""
        n_rows = np.bincount(self.classes[self.left], minlength=self.order.max() + 1)[self.order]
        return int(self.order[np.flatnonzero(n_rows == n_rows.max())[-1]])

    def listed(self) -> list[tuple[int, Body]]:
        """The list so far: the class and the body of each rule, the default rule last.

        A rule that always holds may come before; then the list ends with it.
        """
        found: list[tuple[int, Body]] = []
        for target, rule in self.rules:
            found.append((target, self.body(rule)))
            if len(rule.cuts) == 0:
                return found
        return [*found, (self.default, Body())]

    def body(self, rule: Candidate) -> Body:
        """The conditions of a rule."""
        return self.search.body(rule.cuts)

    def _tell(self, tell: Teller, target: int, one: OneClass, rule: Candidate) -> None:
        left = int(np.count_nonzero(one.uncovered()))
        tell(self, ClassNews(target, rule, len(self.rules) + len(one.rules), left, one.share(rule)))


# ---------------------------------------------------------------- the main part


@register(order=2)
class Ripper(RuleClassifier):
    """Learn a decision list for one label, or for classes, by RIPPER.

    Classes are taken in order of rising frequency. Rules for a class are grown one at a time by
    FOIL's gain, on two thirds of the rows that are left, and pruned on the last third, until the
    description of rules and exceptions gets too long. Then each rule is compared with a revised
    and with a new one in its place, more rules are added if rows of the class are left, and rules
    that do not pay are left out; and again. The most frequent class is the default.

    W. W. Cohen, "Fast Effective Rule Induction", ICML 1995; choices that this leaves open are made
    as in Weka's JRip. For several labels put it into a learner for each, such as `BinaryRelevance`.

    Parameters
    ----------
    n_passes : int, default=2
        How often the rules of a class are optimised.
    folds : int, default=3
        One of so many parts of the rows is held out for pruning.
    min_coverage : int, default=2
        Rows of its class that a condition must leave to a rule that is grown.
    pruning : bool, default=True
        Whether rules are pruned and optimised. Otherwise they are grown on all rows.
    check_error : bool, default=True
        Whether a rule that is wrong at least as often as right is rejected.
    random_state : int or RandomState, optional
        Divides the rows for growing and pruning, by what is in them and not by their order. The
        same without it.
    smoothing : "laplace" or float, default="laplace"
        How evidence becomes a probability; see `RuleClassifier`.
    progress : bool or function, default=False
        Whether to show how far learning has come, or a function to call with each
        :class:`Progress`; its value is the share of rows that a rule gets right.
    warm_start : bool, default=False
        Whether `fit` goes on with the list it has learned before, without its default rule.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelrules import Ripper, theory_text
    >>> flowers = load_iris(as_frame=True)
    >>> names = flowers.target_names[flowers.target]
    >>> print(theory_text(Ripper().fit(flowers.data, names).theory_, evidence=True))
    not setosa (48/0), not versicolor (46/2), virginica (46/2) <- "petal width (cm)" > 1.6
    not setosa (5/0), not versicolor (4/1), virginica (4/1) <- "petal length (cm)" > 4.9
    not setosa (46/0), versicolor (46/0), not virginica (46/0) <- "petal length (cm)" > 3
    setosa (50/1), not versicolor (50/1), not virginica (51/0) <- true
    """

    def __init__(
        self,
        *,
        n_passes: int = 2,
        folds: int = 3,
        min_coverage: int = 2,
        pruning: bool = True,
        check_error: bool = True,
        random_state: Any = None,
        smoothing: Smoothing = "laplace",
        progress: bool | Listener = False,
        warm_start: bool = False,
    ) -> None:
        self.n_passes = n_passes
        self.folds = folds
        self.min_coverage = min_coverage
        self.pruning = pruning
        self.check_error = check_error
        self.random_state = random_state
        self.smoothing = smoothing
        self.progress = progress
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ripper_settings(self)
        check_progress(self.progress)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict labels, or classes where `fit` was given classes: what the list says."""
        if self._check_fitted().kind != "classes":
            return super().predict(X)
        said = RuleTable(self.theory_).predict(self._table(X))
        return np.asarray(self._target.values[said.argmax(axis=1)])

    def _training_data(self, X: Any, Y: Any) -> tuple[Dataset, Target]:
        data, target = super()._training_data(X, Y)
        if target.kind == "labels" and data.schema.n_labels > 1:
            raise ValueError(
                f"Ripper learns one label, or classes in one dimension, but Y has "
                f"{data.schema.n_labels} labels: use BinaryRelevance(Ripper()), which learns each "
                "label by itself"
            )
        return data, target

    def _learn(self, data: Dataset, prefix: DecisionList | None) -> DecisionList:
        settings = ripper_settings(self)
        heads = _heads(data.schema.n_labels)
        kept = list(prefix or ())
        _check_kept(kept, data.schema.n_labels)
        learner = ClassLearner(
            FoilSearch(SortedColumns.of(data)), settings, _classes(data.Y), _undecided(prefix, data)
        )
        with progress_listener(self.progress) as listener:
            tell = partial(_tell, listener, data, heads, len(kept)) if self.progress else None
            try:
                with heard_interrupts():
                    learner.learn(tell)
            except KeyboardInterrupt:
                if is_nested_fit():
                    raise
                n_rules = len(kept) + len(learner.rules)
                warn_of_early_end("it was interrupted", rules_so_far(n_rules))
        learned = [Rule(heads[one], body) for one, body in learner.listed()]
        return DecisionList(data.schema, [*kept, *learned])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


def ripper_settings(learner: Any) -> RipperSettings:
    """Check the parameters of a learner."""
    return RipperSettings(
        n_passes=whole_number(learner.n_passes, "n_passes", low=0),
        folds=whole_number(learner.folds, "folds", low=2),
        min_coverage=whole_number(learner.min_coverage, "min_coverage", low=1),
        pruning=truth_value(learner.pruning, "pruning"),
        check_error=truth_value(learner.check_error, "check_error"),
        seed=random_seed(learner.random_state),
    )


def _classes(Y: Board) -> Integers:
    """The class of each row: absent or present, or the one label of several that it has."""
    return (Y[:, 0] if Y.shape[1] == 1 else Y.argmax(axis=1)).astype(np.int64)


def _heads(n_labels: int) -> list[Head]:
    """What to say for each class."""
    if n_labels == 1:
        return [Head({0: value}, 1) for value in (0, 1)]
    return [
        Head({label: int(label == one) for label in range(n_labels)}, n_labels)
        for one in range(n_labels)
    ]


def _check_kept(rules: list[Rule], n_labels: int) -> None:
    """Rules for classes must name one, so that what is learned next is about other rows."""
    if n_labels == 1:
        return
    for number, rule in enumerate(rules):
        if not (rule.head.is_complete and sum(rule.head.values) == 1):
            raise ValueError(
                f"rule {number + 1} of theory must say of every class whether it is present, and "
                "that of one alone, such as 'a, not others <- ...': each row has one class"
            )


def _undecided(prefix: DecisionList | None, data: Dataset) -> Mask:
    """The rows that no rule to keep decides or ends."""
    if prefix is None:
        return np.ones(data.n_rows, dtype=np.bool_)
    run = RuleTable(prefix).run(data)
    return np.asarray((run.board[:, 0] == UNSET) & (run.stopped < 0))


def _tell(
    listener: Listener,
    data: Dataset,
    heads: list[Head],
    n_kept: int,
    learner: ClassLearner,
    news: ClassNews,
) -> None:
    rule = Rule(heads[news.target], learner.body(news.rule))
    listener(Progress(n_kept + news.n_rules, news.n_left, data.n_rows, news.share_right, rule))
