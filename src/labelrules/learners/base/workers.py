"""What is learned for one label: rules, or any fitted classifier."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils.parallel import Parallel, delayed

from labelrules._types import Board, Floats, Integers, Mask, Matrix
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.table import column_of
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.learners.base.progress import LabelProgress, passed_on, warn_of_early_end
from labelrules.learners.base.theory_classifier import RuleClassifier
from labelrules.learners.covering.pruning import row_keys
from labelrules.rules import Body, Condition, DecisionList, Head, Rule, RuleTable, Run
from labelrules.rules.inference import (
    Inference,
    LabelByLabel,
    Numbers,
    Once,
    Rounds,
    UntilStable,
    closed,
    label_by_label,
    nobody,
    nothing_known,
    sampled,
    until_stable,
)

# -------------------- The table of one label, in which other labels are features like any other

ABSENT_PRESENT = ("0", "1")
"""The categories of a label that is a feature."""


def table_of(
    data: Dataset, label: int, tested: Sequence[int], shown: Board, with_features: bool = True
) -> Dataset:
    """A data set with one label, and with some labels as nominal features behind the others.

    Parameters
    ----------
    data : Dataset
    label : int
        The label that is left.
    tested : sequence of int
        The labels that become features.
    shown : array of int8
        Their values, in rows by all labels.
    with_features : bool, default=True
        Whether to keep the features.
    """
    schema = data.schema
    features = list(schema.features) if with_features else []
    # Of the label itself only what was shown of it before is a feature, under another name.
    taken = {*schema.feature_names, *schema.labels}
    features += [
        Feature(_free(schema.labels[j], taken) if j == label else schema.labels[j], ABSENT_PRESENT)
        for j in tested
    ]
    matrix = widened(data.X if with_features else None, shown[:, list(tested)])
    return Dataset(Schema(features, [schema.labels[label]]), matrix, data.Y[:, [label]], data.name)


def widened(X: Matrix | None, cells: Board) -> Matrix:
    """Features with further columns; X stays sparse."""
    if X is None:
        return np.asfortranarray(cells, dtype=np.float64)
    if not cells.shape[1]:
        return X
    if sparse.issparse(X):
        return sparse.csc_array(sparse.hstack([X, sparse.csc_array(cells.astype(np.float64))]))
    wide = np.empty((X.shape[0], X.shape[1] + cells.shape[1]), order="F")
    wide[:, : X.shape[1]] = X
    wide[:, X.shape[1] :] = cells
    wide.setflags(write=False)
    return wide


def rules_for(
    label: int, rules: Iterable[Rule], schema: Schema, tested: Sequence[int], n_features: int
) -> list[Rule]:
    """Rules from the table of one label as rules over all features and labels.

    The list ends with a rule that always holds, so that it says something of every row.
    """
    found = []
    for rule in rules:
        if rule.body.on_labels:
            continue  # it asks for its own label, and what is written nobody can write
        body = Body(_condition(condition, tested, n_features) for condition in rule.body)
        found.append(Rule(Head({label: rule.head.values[0]}, schema.n_labels), body))
        if not len(body):
            return found
    return [*found, Rule(Head({label: 0}, schema.n_labels))]


def _condition(condition: Condition, tested: Sequence[int], n_features: int) -> Condition:
    if condition.column < n_features:
        return condition
    present = (condition.value == 1) == (condition.operator == "=")
    return Condition.label(tested[condition.column - n_features], present)


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    return name


def numbers_of(data: Dataset) -> Matrix:
    """Features as numbers for any classifier.

    A nominal feature becomes a column of 0 and 1 for each category, or for the second if it has
    two; where its value is missing, all of them are 0.
    """
    if all(feature.is_numeric for feature in data.schema.features):
        return data.X
    columns = [
        column
        for index, feature in enumerate(data.schema.features)
        for column in _columns_of(data.X, index, feature)
    ]
    if data.is_sparse:
        return sparse.csc_array(sparse.hstack([sparse.csc_array(c[:, None]) for c in columns]))
    return np.asfortranarray(np.column_stack(columns))


def _columns_of(X: Matrix, index: int, feature: Feature) -> list[Any]:
    values = column_of(X, index)
    if feature.categories is None:
        return [values]
    n = len(feature.categories)
    return [(values == code).astype(np.float64) for code in ([1] if n == 2 else range(n))]


# ---------------------------------------------------------------- the main part


def default_base() -> Any:
    """The learner for single labels where none is given: RIPPER."""
    from labelrules.learners.ripper.learner import Ripper

    return Ripper()


def checked_base(base: Any) -> Any:
    """The learner for single labels, the default if there is none."""
    if base is None:
        return default_base()
    if isinstance(base, type) or not (hasattr(base, "fit") and is_classifier(base)):
        raise ValueError(
            f"base must be a classifier of scikit-learn's kind, such as SeparateAndConquer(), "
            f"not {base!r:.80}"
        )
    return base


class Job(NamedTuple):
    """A label to be learned, and the labels that may be tested for it."""

    label: int
    tested: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Fitted:
    """A classifier for one label, of any kind.

    Parameters
    ----------
    job : Job
    with_features : bool
        Whether it looks at features, or at labels only.
    classifier : fitted estimator, or int
        A number if all training rows had the same value.
    """

    job: Job
    with_features: bool
    classifier: Any

    def cells(self, X: Matrix, seen: Board) -> Board:
        """Whether the label is present, by features as numbers and other labels."""
        if isinstance(self.classifier, int):
            return np.full(len(seen), self.classifier, dtype=np.int8)
        return np.asarray(self.classifier.predict(self._wide(X, seen))).astype(np.int8)

    def presence(self, X: Matrix, seen: Board) -> Floats:
        """How probable it is that the label is present; 0 or 1 if the classifier only decides."""
        if isinstance(self.classifier, int) or not hasattr(self.classifier, "predict_proba"):
            return self.cells(X, seen).astype(np.float64)
        place = int(np.flatnonzero(self.classifier.classes_ == 1)[0])
        return np.asarray(self.classifier.predict_proba(self._wide(X, seen)))[:, place]

    def _wide(self, X: Matrix, seen: Board) -> Matrix:
        return widened(X if self.with_features else None, seen[:, list(self.job.tested)])


class _Unchanged:
    """Predicts what its only feature says."""

    def predict(self, X: Any) -> Any:
        return X[:, 0]


Member: TypeAlias = "list[Rule] | Fitted"
"""The model of one label."""


@dataclass(frozen=True, eq=False)
class Work:
    """What the models of the labels are learned from; it can be sent to other processes.

    Parameters
    ----------
    base : classifier
    data : Dataset
    shown : array of int8
        Rows by labels: what is shown of labels that are tested.
    with_features : bool
    """

    base: Any
    data: Dataset
    shown: Board
    with_features: bool = True

    @property
    def makes_rules(self) -> bool:
        """Whether the models are rules."""
        return isinstance(self.base, RuleClassifier)

    def learn(self, job: Job) -> Member:
        """Learn one label. A label that all rows have, or none, needs no learning."""
        values = np.unique(self.data.Y[:, job.label])
        if len(values) == 1:
            return self.constant(job, int(values[0]))
        with passed_on():
            return self._rules(job) if self.makes_rules else self._fitted(job)

    def constant(self, job: Job, value: int) -> Member:
        """A model that knows only one answer."""
        if self.makes_rules:
            return [Rule(Head({job.label: value}, self.data.schema.n_labels))]
        return Fitted(job, self.with_features, value)

    def unchanged(self, label: int) -> Member:
        """A model that says what it is shown of the label."""
        job, n_labels = Job(label, (label,)), self.data.schema.n_labels
        if self.makes_rules:
            shown = Rule(Head({label: 1}, n_labels), Body([Condition.label(label)]))
            return [shown, Rule(Head({label: 0}, n_labels))]
        return Fitted(job, False, _Unchanged())

    def _rules(self, job: Job) -> list[Rule]:
        table = table_of(self.data, job.label, job.tested, self.shown, self.with_features)
        theory = clone(self.base).fit(table).theory_
        n_features = table.schema.n_features - len(job.tested)
        return rules_for(job.label, theory, self.data.schema, job.tested, n_features)

    def _fitted(self, job: Job) -> Fitted:
        X = numbers_of(self.data) if self.with_features else None
        wide = widened(X, self.shown[:, list(job.tested)])
        classifier = clone(self.base).fit(wide, self.data.Y[:, job.label].astype(np.int64))
        return Fitted(job, self.with_features, classifier)


# -------------------- Labels learned side by side: with news, and with an end by Ctrl-C that
# keeps what is done


class Crew:
    """Learns the models of many labels, by the workers that joblib provides.

    Parameters
    ----------
    n_jobs : int, optional
        Labels that are learned at the same time, as joblib counts.
    tell : function
        Called with each `LabelProgress`.
    """

    def __init__(self, n_jobs: int | None, tell: Callable[[LabelProgress], object]) -> None:
        self.n_jobs, self.tell = checked_jobs(n_jobs), tell
        self.n_done = self.n_asked = self.n_phases = 0
        self.was_interrupted = False

    def learn(self, work: Work, jobs: Iterable[Job], phase: str) -> dict[Job, Member]:
        """The models of the jobs that were finished: all, unless somebody interrupts.

        After that nothing more is learned.
        """
        found: dict[Job, Member] = {}
        wanted = list(dict.fromkeys(jobs))
        self.n_asked += len(wanted)
        self.n_phases += 1
        if self.was_interrupted or not wanted:
            return found
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")
        try:
            for job, member in parallel(delayed(_learn)(work, job) for job in wanted):
                found[job] = member
                self.n_done += 1
                name = work.data.schema.labels[job.label]
                self.tell(LabelProgress(len(found), len(wanted), name, phase))
        except KeyboardInterrupt:
            self.was_interrupted = True
        return found

    def unless_interrupted(self, work: Callable[[], None]) -> None:
        """Do some further work, unless somebody interrupts, or has."""
        if self.was_interrupted:
            return
        try:
            work()
        except KeyboardInterrupt:
            self.was_interrupted = True

    def warn(self) -> None:
        """Say so if not everything was learned."""
        if self.was_interrupted:
            warn_of_early_end("it was interrupted", self._kept())

    def _kept(self) -> str:
        share = f"{self.n_done} of {self.n_asked}"
        if self.n_done == 0:
            return "no label was learned yet, so only default rules are kept"
        if self.n_phases == 1:
            return f"the {share} labels learned so far are kept"
        # A label has several models, and some are needed only for what was not begun.
        return f"{share} models were learned, and what can be used of them is kept"


@heard_interrupts()
def _learn(work: Work, job: Job) -> tuple[Job, Member]:
    return job, work.learn(job)


def checked_jobs(given: Any) -> int | None:
    """A number of workers as joblib counts, if it is one."""
    whole = isinstance(given, Integral) and not isinstance(given, bool)
    if given is not None and not (whole and given != 0):
        raise ValueError(f"n_jobs must be a number of workers, or -1 for all, not {given!r}")
    return None if given is None else int(given)


# -------------------- Layers of fitted classifiers, asked as layers of rules are


class FittedColumn:
    """A classifier for one label, and the rows it is asked about."""

    def __init__(self, member: Fitted, X: Matrix) -> None:
        self.label, self.member, self.X = member.job.label, member, X

    def read(self, seen: Board) -> tuple[Board, Numbers]:
        """The cells of the label; no rule wrote them."""
        return self.member.cells(self.X, seen), np.full(len(seen), -1, dtype=np.int32)

    def presence(self, seen: Board) -> Floats:
        """How probable it is that the label is present."""
        return self.member.presence(self.X, seen)


class FittedReader:
    """A classifier for each label, and the rows they are asked about.

    Parameters
    ----------
    members : sequence of Fitted
        In the order of the labels.
    X : matrix
        Features as numbers.
    """

    def __init__(self, members: Sequence[Fitted], X: Matrix) -> None:
        self.columns = [FittedColumn(member, X) for member in members]
        self.nothing: Board = np.zeros((X.shape[0], len(members)), dtype=np.int8)

    def read(self, seen: Board | None) -> Run:
        """What the classifiers say when they see these labels, or none."""
        labels = self.nothing if seen is None else seen
        board = self.nothing.copy()
        for column in self.columns:
            board[:, column.label] = column.read(labels)[0]
        return Run(board, *nobody(board))

    def presence(self, seen: Board | None) -> Floats:
        """How probable each label is, given these."""
        labels = self.nothing if seen is None else seen
        found = np.zeros(labels.shape)
        for column in self.columns:
            found[:, column.label] = column.presence(labels)
        return found

    def ask(self, way: Inference, seen: Board | None) -> Rounds:
        """Ask the classifiers in one of the ways there are."""
        if isinstance(way, UntilStable):
            return until_stable(self, way.max_rounds, seen)
        if isinstance(way, Once):
            run = self.read(seen)
            return Rounds(run, *nothing_known(run.board))
        start = self.nothing if seen is None else seen
        if isinstance(way, LabelByLabel):
            order = way.labels(len(self.columns))
            return label_by_label(self.columns, order, way.max_rounds, start)
        return sampled(self.columns, way, start)


# -------------------- Rows divided into folds by what they hold, not by their order


def folds_of(data: Dataset, n_folds: int, seed: int = 0) -> Integers:
    """For each row its fold; each label set is spread evenly over the folds.

    Which fold a row is in follows from its values, its label set and the seed. Fewer rows than
    folds make fewer folds, but two at least.
    """
    sets, kinds = np.unique(data.Y, axis=0, return_inverse=True)
    chance = np.random.default_rng(seed)
    factor = chance.integers(1, 2**62, dtype=np.int64) * 2 + 1
    shuffled = chance.permutation(len(sets))[kinds.ravel()]
    keys = row_keys(data.X)
    order = np.lexsort(((keys * factor) ^ (keys >> 17), shuffled))
    folds = np.empty(data.n_rows, dtype=np.int64)
    folds[order] = np.arange(data.n_rows) % max(2, min(n_folds, data.n_rows))
    return folds


def held_out_cells(
    work: Work, jobs: list[Job], folds: Integers, crew: Crew, phase: str
) -> dict[Job, Board]:
    """For each job what is said of rows by models that were learned from the rows of other folds.

    What labels that are tested are like is as `work` shows it, in learning and in predicting.
    """
    n_rows = work.data.n_rows
    found: dict[Job, Board] = {job: np.zeros(n_rows, dtype=np.int8) for job in jobs}
    n_folds = int(folds.max()) + 1
    for number, held in enumerate(_each(folds)):
        kept = np.flatnonzero(~held)
        if not kept.size:  # a single row
            continue
        part = Work(work.base, work.data.take(kept), work.shown[kept], work.with_features)
        learned = crew.learn(part, jobs, f"{phase}, fold {number + 1} of {n_folds}")
        rows, seen = work.data.take(held), work.shown[held]
        for job, member in learned.items():
            found[job][held] = cells_said(member, job, rows, seen)
    return found


def cells_said(member: Member, job: Job, rows: Dataset, seen: Board) -> Board:
    """What a model says of a label when it sees these labels."""
    if isinstance(member, Fitted):
        return member.cells(numbers_of(rows), seen)
    board = RuleTable(DecisionList(rows.schema, member)).apply(rows, reads=seen)
    return closed(board)[:, job.label]


def _each(folds: Integers) -> Iterator[Mask]:
    for fold in range(int(folds.max()) + 1):
        yield folds == fold
