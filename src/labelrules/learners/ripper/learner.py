"""RIPPER as a classifier for one label, or for classes."""

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from labelrules._checks import random_seed, truth_value, whole_number
from labelrules._interrupts import heard_interrupts
from labelrules._types import UNSET, Board, Integers, Mask
from labelrules._wings import back_end
from labelrules.data import Dataset, DeviceError, Partitions, Schema
from labelrules.data.codes.bins import Bins, bins_by_engine, checked_bins
from labelrules.data.weights import row_units
from labelrules.kernels.device import NO_BINS, PARTS_ON_CPU, Engine, checked_engine, cpu_instead
from labelrules.learners.base.estimator import Target, WeightKind
from labelrules.learners.base.progress import (
    Listener,
    Progress,
    check_progress,
    is_nested_fit,
    lost_rows,
    phase,
    progress_listener,
    rules_so_far,
    warn_of_early_end,
)
from labelrules.learners.base.tallies import label_cells
from labelrules.learners.base.theory_classifier import KnownOfRules, RuleClassifier, Smoothing
from labelrules.learners.registry import register
from labelrules.learners.ripper.one_class import ClassLearner, NewRule, RipperSettings
from labelrules.rules import DecisionList, Head, Rule, RuleTable
from labelrules.search.bodies.foil import CodedFoilSearch, FoilSearch
from labelrules.search.bodies.sorted_columns import SortedColumns


@register(order=2)
class Ripper(RuleClassifier):
    """Learn a decision list for one label, or for classes, by RIPPER.

    Classes are learned in order of rising frequency. Rules for a class are grown one at a time by
    FOIL's gain, on two thirds of the rows that are left, and pruned on the last third, until the
    description of rules and exceptions gets too long. Then each rule is compared with a revised and
    with a new one in its place, more rules are added if rows of the class are left, and rules that
    do not pay are left out; repeated `n_passes` times. The most frequent class is the default.

    W. W. Cohen, "Fast Effective Rule Induction", ICML 1995; choices that this leaves open are made
    as in Weka's JRip. For several labels put it into a learner for each, such as `BinaryRelevance`.

    Weights that are not whole are numbers of rows in gains, `min_coverage` and descriptions; each
    row is then for growing or for pruning as a whole.

    Parameters
    ----------
    n_passes : int, default=2
        How often the rules of a class are optimised.
    n_folds : int, default=3
        One of so many parts of the rows is held out for pruning.
    min_coverage : int, default=2
        Rows of its class that a condition must leave to a rule that is grown.
    pruning : bool, default=True
        Whether rules are pruned and optimised. Otherwise they are grown on all rows.
    check_error : bool, default=True
        Whether a rule that is wrong at least as often as right is rejected.
    bins : int, optional
        Numeric features are cut into at most so many bins at exact quantiles, and rules are grown
        by counting the rows of each bin. By default thresholds may lie between any two values.
    engine : {"auto", "cpu", "gpu"}, default="auto"
        Where the rows of bins are counted, and large tables predicted. "auto" takes a GPU if there
        is one and the table is large. The rules do not depend on it. See :doc:`/gpu`.
    random_state : int or RandomState, optional
        Divides the rows for growing and pruning, by their values and not by their order. None is
        always the same division.
    smoothing : "laplace" or float, default="laplace"
        How evidence becomes a probability; see `RuleClassifier`.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`Progress`; its value
        is the share of covered rows that a rule gets right.
    warm_start : bool, default=False
        Whether `fit` extends the list that it has learned before, without its default rule.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from labelrules import Ripper, theory_text
    >>> flowers = load_iris(as_frame=True)
    >>> names = flowers.target_names[flowers.target]
    >>> print(theory_text(Ripper().fit(flowers.data, names).theory_, evidence=True))
    virginica, not others <- "petal width (cm)" > 1.6 (46/2)
    virginica, not others <- "petal length (cm)" > 4.9 (4/1)
    versicolor, not others <- "petal length (cm)" > 3 (46/0)
    otherwise: setosa, no other label (50/1)
    """

    _rules_choose_classes = True
    _takes_partitions = True

    def __init__(
        self,
        *,
        n_passes: int = 2,
        n_folds: int = 3,
        min_coverage: int = 2,
        pruning: bool = True,
        check_error: bool = True,
        bins: int | None = None,
        engine: Engine = "auto",
        random_state: Any = None,
        smoothing: Smoothing = "laplace",
        progress: bool | Listener = False,
        warm_start: bool = False,
    ) -> None:
        self.n_passes = n_passes
        self.n_folds = n_folds
        self.min_coverage = min_coverage
        self.pruning = pruning
        self.check_error = check_error
        self.bins = bins
        self.engine = engine
        self.random_state = random_state
        self.smoothing = smoothing
        self.progress = progress
        self.warm_start = warm_start

    _no_rule_reason = "no rule was right more often than wrong, or shortened the description"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        ripper_settings(self)
        check_progress(self.progress)

    def _training_data(
        self,
        X: Any,
        Y: Any,
        sample_weight: Any = None,
        feature_names: Any = None,
        theory: Any = None,
    ) -> tuple[Any, Target]:
        data, target = super()._training_data(X, Y, sample_weight, feature_names, theory)
        if target.kind == "labels":
            _refuse_several(data.schema.n_labels)
        return data, target

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        # The rows are divided at random, so whole weights are rows that are repeated.
        return weights == "rows"

    def _learn(self, data: Any, prefix: DecisionList | None) -> DecisionList:
        settings = ripper_settings(self)
        if not data.in_memory:
            return self._learned_from_parts(data, settings)
        if data.n_unknown:  # of a single label: rows in which it is unknown tell nothing
            data = data.take(data.Y[:, 0] != UNSET)
        kept = list(prefix or ())
        _check_kept(kept, data.schema.n_labels)
        with progress_listener(self.progress) as listener:
            search = _search(data, settings)
            learner = ClassLearner(search, settings, _classes(data.Y), _undecided(prefix, data))
            return self._learned(learner, data.schema, kept, listener)

    def _learned_from_parts(self, data: Partitions, settings: RipperSettings) -> DecisionList:
        assert settings.bins is not None, "checked before"
        n_rows = int(label_cells(data).known[0])
        if not n_rows:
            raise ValueError("the label is unknown in all rows, so there is nothing to learn from")
        with (
            progress_listener(self.progress) as listener,
            tempfile.TemporaryDirectory(prefix="labelrules-") as folder,
        ):
            phase("finding the bins of the columns")
            bins = Bins.of(data, settings.bins)
            phase("coding the columns")
            # one search reads all rows, wherever the partitions are
            codes, Y = back_end("files", "counts").all_codes(data, bins, n_rows, Path(folder))
            learner = ClassLearner(CodedFoilSearch(bins, codes), settings, _classes(Y))
            learned = self._learned(learner, data.schema, [], listener)
        phase("counting right and wrong cells")
        return learned

    def _learned(
        self, learner: ClassLearner, schema: Schema, kept: list[Rule], listener: Listener
    ) -> DecisionList:
        """The rules kept, and those that are learned; after Ctrl-C those found so far."""
        heads = _heads(schema.n_labels)
        phase("searching for the first rule")
        report = partial(_report, listener, learner.search.n_rows, heads, len(kept))
        try:
            with heard_interrupts():
                learner.learn(report if self.progress else None)
        except KeyboardInterrupt:
            if is_nested_fit():
                raise
            n_rules = len(kept) + len(learner.rules)
            warn_of_early_end("it was interrupted", rules_so_far(n_rules))
        except DeviceError as error:
            self._known = KnownOfRules(failure=lost_rows(error, len(kept) + len(learner.rules)))
        finally:
            learner.search.close()
        learned = [Rule(heads[one], body) for one, body in learner.listed()]
        return DecisionList(schema, [*kept, *learned])

    def _check_for_partitions(self) -> None:
        settings = ripper_settings(self)
        if settings.bins is None:
            raise ValueError(
                "rows in partitions are learned from by bins: set bins, as in Ripper(bins=255)"
            )
        if settings.engine == "gpu":
            raise ValueError(PARTS_ON_CPU)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags


def _refuse_several(n_labels: int) -> None:
    if n_labels > 1:
        raise ValueError(
            f"Ripper learns one label, or classes in one dimension, but Y has {n_labels} labels: "
            "use BinaryRelevance(Ripper()), which learns each label by itself"
        )


def _search(data: Dataset, settings: RipperSettings) -> FoilSearch | CodedFoilSearch:
    """The search, on sorted columns or on bins, these perhaps on a GPU."""
    weights = row_units(data.weights)
    if settings.bins is None:
        phase("sorting the columns")
        return FoilSearch(SortedColumns.of(data), *weights)
    phase("cutting the columns into bins")
    bins, codes = bins_by_engine(data, settings.bins, settings.engine)
    if codes is not None:
        try:
            search: CodedFoilSearch = codes.foil_search(bins)
            return search
        except DeviceError as error:
            cpu_instead(settings.engine, error)
    return CodedFoilSearch(bins, bins.encode(data.X), *weights)


def ripper_settings(learner: Any) -> RipperSettings:
    """Check the parameters of a learner."""
    engine, bins = checked_engine(learner.engine), checked_bins(learner.bins)
    if engine == "gpu" and bins is None:
        raise ValueError(NO_BINS)
    return RipperSettings(
        n_passes=whole_number(learner.n_passes, "n_passes", low=0),
        n_folds=whole_number(learner.n_folds, "n_folds", low=2),
        min_coverage=whole_number(learner.min_coverage, "min_coverage", low=1),
        pruning=truth_value(learner.pruning, "pruning"),
        check_error=truth_value(learner.check_error, "check_error"),
        seed=random_seed(learner.random_state),
        bins=bins,
        engine=engine,
    )


def _classes(Y: Board) -> Integers:
    """The class of each row: absent or present, or the one label of several that it has."""
    return (Y[:, 0] if Y.shape[1] == 1 else Y.argmax(axis=1)).astype(np.int64)


def _heads(n_labels: int) -> list[Head]:
    """The head of each class."""
    if n_labels == 1:
        return [Head({0: value}, 1) for value in (0, 1)]
    return [
        Head({label: int(label == one) for label in range(n_labels)}, n_labels)
        for one in range(n_labels)
    ]


def _check_kept(rules: list[Rule], n_labels: int) -> None:
    """Refuse rules for classes that do not predict exactly one."""
    if n_labels == 1:
        return
    for number, rule in enumerate(rules):
        if not (rule.head.is_complete and sum(rule.head.values) == 1):
            raise ValueError(
                f"rule {number + 1} of theory must predict one class as present and all others as "
                "absent, such as 'a, not b, not c <- ...': each row has one class"
            )


def _undecided(prefix: DecisionList | None, data: Dataset) -> Mask:
    """The rows that no rule to keep decides or ends."""
    if prefix is None:
        return np.ones(data.n_rows, dtype=np.bool_)
    run = RuleTable(prefix).run(data)
    return np.asarray((run.board[:, 0] == UNSET) & (run.stopped < 0))


def _report(listener: Listener, n_rows: int, heads: list[Head], n_kept: int, new: NewRule) -> None:
    rule = Rule(heads[new.target], new.body)
    listener(Progress(n_kept + new.n_rules, new.n_left, n_rows, new.share_right, rule))
