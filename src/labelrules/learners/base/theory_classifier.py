"""Base classes of learners whose model is a decision list, or several lists in layers."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Meta
from scipy import sparse

from labelrules._checks import counted, listed, number, truth_value
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.data import Dataset, Feature, Schema
from labelrules.data.document import Count, DocumentError, Record
from labelrules.data.rows import Rows
from labelrules.data.table import cell_counts
from labelrules.learners.base.estimator import TableClassifier, Target
from labelrules.learners.base.progress import is_nested_fit, recorded
from labelrules.learners.base.tallies import label_cells
from labelrules.rules import (
    DecisionList,
    Evidence,
    LayeredRun,
    LayeredTheory,
    Rule,
    RuleTable,
    Run,
    Theory,
    labels_without_rules,
    parse,
)
from labelrules.rules.inference import ListChances
from labelrules.rules.json import LayersRecord, ListRecord
from labelrules.rules.rule_table import runner_of

Smoothing: TypeAlias = Literal["laplace"] | float
"""Laplace's estimate, or the m of the m-estimate."""

Estimate: TypeAlias = Callable[[Evidence, int], float]
"""From the cells with and without a label, and the label, to its probability."""


def check_smoothing(smoothing: object) -> None:
    """Refuse a value that is neither "laplace" nor a number above 0."""
    if smoothing != "laplace":
        number(smoothing, "smoothing", above=0, also="'laplace'")


class BackgroundRecord(Record):
    """For each label the cells that no rule wrote, with it and without, and its share of rows."""

    ones: list[Count]
    zeros: list[Count]
    share: list[Annotated[float, Meta(gt=0, lt=1)]]


@dataclass(frozen=True, eq=False)
class Background:
    """Per label the training cells that no rule wrote, with and without it, and its share.

    The share of all rows is Laplace's estimate, so that nothing is impossible.
    """

    ones: Integers
    zeros: Integers
    share: Floats

    @classmethod
    def left_by(cls, theory: Theory | None, rows: Rows) -> "Background":
        """Count the cells of rows that a theory leaves open; None leaves none open."""
        return cls.of_cells(rows.total(partial(_left_cells, theory), "counting open cells"))

    @classmethod
    def count(cls, board: Board, truth: Board, weights: Floats | None = None) -> "Background":
        """Count the cells that are still open; sums of weights are rounded."""
        return cls.of_cells(cls.cells(board, truth, weights))

    @staticmethod
    def cells(board: Board, truth: Board, weights: Floats | None = None) -> npt.NDArray[Any]:
        """For each label the open cells with and without it, and all cells with it and known."""
        is_open = board == UNSET
        kinds = is_open & (truth == 1), is_open & (truth == 0), truth == 1, truth != UNSET
        return np.array([cell_counts(one, weights) for one in kinds])

    @classmethod
    def of_cells(cls, totals: npt.NDArray[Any]) -> "Background":
        """From what `cells` gives, perhaps added up over parts of the rows."""
        ones, zeros, present, known = totals
        ones, zeros = (np.rint(part).astype(np.int64) for part in (ones, zeros))
        return cls(ones, zeros, (present + 1.0) / (known + 2.0))

    @property
    def record(self) -> BackgroundRecord:
        """The record for a model file."""
        return BackgroundRecord(*(one.tolist() for one in (self.ones, self.zeros, self.share)))

    @classmethod
    def of(cls, record: BackgroundRecord, n_labels: int) -> "Background":
        """Read a record, which must have `n_labels` numbers of each kind."""
        for name in record.__struct_fields__:
            if len(getattr(record, name)) != n_labels:
                message = f"must have a number for each of {n_labels} labels"
                raise DocumentError(f".background.{name}", message)
        ones, zeros = (np.array(one, dtype=np.int64) for one in (record.ones, record.zeros))
        return cls(ones, zeros, np.array(record.share, dtype=np.float64))

    def estimate(self, smoothing: Smoothing) -> Estimate:
        """Laplace's estimate, or the m-estimate with the label's share as prior."""
        if isinstance(smoothing, str):
            return lambda cells, label: cells.probability()
        m = float(smoothing)
        return lambda cells, label: cells.probability(m, float(self.share[label]))

    def presence(self, theory: DecisionList, run: Run, smoothing: Smoothing) -> Floats:
        """For each cell the probability of presence, by the evidence of the rule that wrote it.

        A cell that no rule wrote has the share among training cells that no rule wrote.
        """
        chances, n_labels = self.chances(theory, smoothing), len(self.ones)
        # Rules by labels; the last place is for the writer -1, which stands for no rule.
        lookup = np.empty((len(theory) + 1, n_labels))
        lookup[-1] = chances.undecided
        for rule_number, by_label in enumerate(chances.by_rule):
            for label, chance in by_label.items():
                lookup[rule_number, label] = chance
        return np.asarray(lookup[run.writer, np.arange(n_labels)])

    def chances(self, rules: Iterable[Rule], smoothing: Smoothing) -> ListChances:
        """The probabilities of presence by each rule, and of cells that no rule writes."""
        estimate = self.estimate(smoothing)
        counts = zip(self.ones.tolist(), self.zeros.tolist(), strict=True)
        unwritten = [Evidence(ones, zeros) for ones, zeros in counts]
        return ListChances(
            tuple(
                {label: estimate(cells, label) for label, cells in _present_and_absent(rule)}
                for rule in rules
            ),
            tuple(estimate(cells, label) for label, cells in enumerate(unwritten)),
        )


def _left_cells(theory: Theory | None, block: Dataset) -> npt.NDArray[Any]:
    board = block.Y
    if theory is not None:
        board = runner_of(theory).run(block).board
    return Background.cells(board, block.Y, block.weights)


def _present_and_absent(rule: Rule) -> list[tuple[int, Evidence]]:
    """For each label of the head the cells written in which it is present, and absent."""
    counts = [count or Evidence(0, 0) for count in rule.evidence or (None,) * len(rule.head)]
    return [
        (label, cells if value else Evidence(cells.wrong, cells.right))
        for (label, value), cells in zip(rule.head, counts, strict=True)
    ]


class TheoryState(Record):
    """The rules, and counts for cells that no rule writes."""

    theory: ListRecord | LayersRecord
    background: BackgroundRecord


class TheoryClassifier(TableClassifier):
    """A classifier whose model is a decision list, or several in layers."""

    smoothing: Smoothing = "laplace"
    theory_: Any
    background_: Background

    _State: ClassVar[type[Record]] = TheoryState

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "background": self.background_.record}

    def _restore_state(self, state: Any) -> None:
        super()._restore_state(state)
        self.background_ = Background.of(state.background, self.n_labels_)

    def calibrate(self, X: Any, Y: Any = None) -> Self:
        """Count the evidence anew, on rows that were not learned from; the rules stay as they are.

        Rules fit the training rows, so evidence and probabilities from there are too optimistic.
        A tenth of the rows, kept from `fit`, corrects them. X and Y are as for `fit`, with the same
        features and the same labels or classes; a `Dataset` may bring weights.
        """
        target, table = self._check_fitted(), self._table(X)
        truth = target.board(X if isinstance(X, Dataset) else Y, self.schema_)
        self.theory_ = self.theory_.with_evidence(table, truth)
        weights = table.weights if isinstance(table, Dataset) else None
        self.background_ = Background.count(self._run(table).board, truth, weights)
        return self

    def writers(self, X: Any) -> Run | LayeredRun:
        """Which rule wrote each cell and ended each row, and the board they wrote.

        Rules are counted from 0 in `theory_`, or in each layer of it; -1 stands for none.
        """
        self._check_fitted()
        return self._run(self._table(X))

    def decision_path(self, X: Any) -> sparse.csr_array:
        """Rows by rules, by layers if any: 1 where a rule wrote a cell of the row or ended it."""
        runs = zip(self.writers(X).parts, self.theory_.parts, strict=True)
        return sparse.csr_array(sparse.hstack([_path(run, len(rules)) for run, rules in runs]))

    def _labels(self, X: Any) -> Board:
        return self._runner.predict(X, engine=self.engine)

    def _presence(self, X: Any) -> Floats:
        run, theory = self._run(X), self.theory_
        if isinstance(run, Run):
            return self._presence_by(theory, run)
        presence = run.presence
        if presence is None:
            presence = self._presence_by(theory.layers[-1], run.layers[-1])
        if run.fallback is None:
            return presence
        guessed = self._presence_by(theory.fallback, run.fallback)
        return np.where(run.fallback.writer >= 0, guessed, presence)

    def _chances(self) -> ListChances:
        """The probabilities by the rules that decide labels, for exports."""
        theory = self.theory_
        rules = (*theory.layers[-1].rules, *(theory.fallback or ()))
        return self.background_.chances(rules, self._smoothing)

    def _presence_by(self, theory: DecisionList, run: Run) -> Floats:
        return self.background_.presence(theory, run, self._smoothing)

    @property
    def _smoothing(self) -> Smoothing:
        return self.smoothing

    def _run(self, X: Any) -> Run | LayeredRun:
        return self._runner.run(X, engine=self.engine)

    @property
    def _runner(self) -> LayeredTheory | RuleTable:
        return runner_of(self.theory_)  # type: ignore[no-any-return]


def _path(run: Run, n_rules: int) -> sparse.csr_array:
    """Rows by rules, 1 where the rule wrote a cell of the row or ended it."""
    rows, labels = np.nonzero(run.writer >= 0)
    ended = np.flatnonzero(run.stopped >= 0)
    rules = np.concatenate([run.writer[rows, labels], run.stopped[ended]])
    ones = np.ones(len(rules), dtype=np.int64)
    shape = (len(run.board), n_rules)
    path = sparse.csr_array((ones, (np.concatenate([rows, ended]), rules)), shape=shape)
    path.sum_duplicates()
    path.data[:] = 1
    return path


class KnownOfRules(NamedTuple):
    """What a learner knows of rules that it has learned, and of their rows.

    For labels without a rule the reasons, by number; an error to be raised at the end, if the rows
    were lost on the way; the cells that the rules leave open; for each label the rows in which it
    is known, and those that have it. What is None is counted by whoever needs it.
    """

    reasons: Mapping[int, str] | None = None
    failure: Exception | None = None
    background: Background | None = None
    cells: Any = None


class ListState(TheoryState):
    """A decision list, and counts for cells that no rule writes."""

    theory: ListRecord


class RuleClassifier(TheoryClassifier):
    """Base class of all learners of one decision list.

    The first rule that covers a row and has a label in its head predicts the label; a label that
    no rule predicts is absent. The probability of a cell comes from the evidence of the rule
    which wrote it; that of a cell no rule wrote, from the training cells no rule wrote. Evidence
    from the rows that the rules were learned from is too optimistic: see `calibrate`.

    A subclass learns the list in ``_learn(data, prefix)``, and has these parameters among those
    of its ``__init__``, if users are to choose them:

    Parameters
    ----------
    smoothing : "laplace" or float, default="laplace"
        How evidence becomes a probability: Laplace's estimate, or the m-estimate with
        this m, above 0, and the label's share in the training rows as prior.
    warm_start : bool, default=False
        Whether another `fit` keeps the rules of the last one, but for a default rule at the
        end, and learns what follows.

    Attributes
    ----------
    theory_ : DecisionList, or LayeredTheory
        The rules, with evidence from the training rows, or those given to `calibrate`.
    background_ : Background
        Counts for cells that no rule writes.
    schema_ : Schema
        Names, kinds and categories of the features, and names of the labels.
    labels_ : list of str
        The names of the labels.
    labels_without_rules_ : list of str
        The names of the labels that no rule predicts as present, last resorts and default rules
        included: they are never predicted.
    why_without_rules_ : dict of str to str
        For each of these labels, if `fit` was given it, why no rule was found.
    classes_ : array
        The classes of a target of one dimension, or of a single label; else the numbers of labels.
    n_labels_, n_features_in_ : int
    feature_names_in_ : array of str
        If `fit` was given names.
    engine : {"auto", "cpu", "gpu"}
        Where `predict` applies the rules, "auto" if it is not set; see :meth:`RuleTable.apply`.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> class Constant(RuleClassifier):
    ...     def _learn(self, data, prefix):
    ...         return parse("not fashion <- sex = Male", data.schema)
    >>> readers = load("magazines")
    >>> model = Constant().fit(readers)
    >>> model.theory_[0].evidence
    (Evidence(right=9, wrong=0),)
    >>> model.predict_proba(readers)[0].round(2)
    array([0.5 , 0.44, 0.09, 0.19])
    >>> model.labels_without_rules_
    ['quality', 'tabloid', 'fashion', 'sports']
    """

    warm_start: bool = False
    _known: KnownOfRules
    """What `_learn` knows besides the rules; only within `fit`."""

    _State: ClassVar[type[Record]] = ListState

    def _check_parameters(self) -> None:
        check_smoothing(self.smoothing)
        truth_value(self.warm_start, "warm_start")

    @abstractmethod
    def _learn(self, data: Any, prefix: DecisionList | None) -> DecisionList | LayeredTheory:
        """Learn a list that begins with the prefix; evidence is counted later if any lacks it."""

    @recorded
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        theory: DecisionList | str | None = None,
        feature_names: Any = None,
    ) -> Self:
        """Learn a decision list.

        Parameters
        ----------
        X : array, sparse matrix, frame, list of rows, or Dataset
            Features as for :func:`labelrules.dataset`: columns of text, truth values or categories
            are nominal, NaN and None are missing values, sparse X stays so. A `Dataset` brings its
            labels and may have no features at all. `Partitions`, as :func:`labelrules.scan` makes
            them, bring theirs, too, if the learner takes them.
        y : array, sparse matrix, frame, series or list
            Rows by labels, 0 or 1, or label sets; a frame names them. Or, in one dimension, the
            class of each row: two classes, such as -1 and 1, are one label, any other number of
            classes a label each. In rows by labels, also of a single one, a label that is missing
            or -1 is unknown: it does not count.
        sample_weight : array, optional
            How much each row counts; a whole weight stands for so many equal rows. Rows by labels:
            how much each cell counts, if the learner takes that.
        theory : DecisionList or str, optional
            Rules to keep, also as text; only what follows them is learned.
        feature_names : sequence of str, or fitted transformer, optional
            The names of the columns of an X that has none, such as a sparse matrix; or what made
            it, whose `get_feature_names_out` gives them.
        """
        check_smoothing(self.smoothing)
        if sample_weight is None and theory is None and self._fit_as_it_is(X, y, feature_names):
            return self
        rows, target = self._training_data(X, y, sample_weight, feature_names, theory)
        if not rows.in_memory and self.warm_start and hasattr(self, "theory_"):
            raise ValueError("warm_start needs all rows in memory: set it to False")
        return self._fit_data(rows, target, theory)

    def _fit_as_it_is(self, X: Any, y: Any, feature_names: Any) -> bool:
        """Learn from a table that need not be checked and copied first; False if it must be."""
        return False

    def _fit_data(
        self, rows: Rows, target: Target, theory: DecisionList | str | None = None
    ) -> Self:
        """Learn from rows that are checked already."""
        prefix = as_prefix(self._kept(theory), rows.schema)
        return self._finish(self._learn(rows, prefix), rows, target)

    def _finish(self, learned: DecisionList | LayeredTheory, rows: Any, target: Target) -> Self:
        """Keep what was learned, and count of the rows what `_learn` does not know of them."""
        if not all(rule.is_counted for rule in learned):
            learned = learned.with_evidence(rows)
        self.theory_ = learned
        self._remember(rows.schema, target)
        known = self.__dict__.pop("_known", KnownOfRules())
        self.background_ = known.background or Background.left_by(learned, rows)
        cells = label_cells(rows) if known.cells is None else known.cells
        self.why_without_rules_ = reasons_without_rules(self, cells, known.reasons)
        if known.failure is not None:
            raise known.failure
        return self

    def _kept(self, theory: DecisionList | str | None) -> DecisionList | str | None:
        """The rules to keep: those given, or with `warm_start` those learned before.

        A last rule that always holds would leave nothing to learn, so it is learned anew.
        """
        if theory is not None or not self.warm_start or not hasattr(self, "theory_"):
            return theory
        learned: DecisionList = self.theory_
        return learned[:-1] if learned.rules and not len(learned[-1].body) else learned


def as_prefix(theory: Any, schema: Schema) -> DecisionList | None:
    """The rules to keep, over the training schema, without evidence from perhaps other rows."""
    if theory is None:
        return None
    if isinstance(theory, str):
        theory = parse(theory, schema)
    if isinstance(theory, LayeredTheory) and len(theory.layers) == 1:
        theory = theory.layers[0]  # rules for rows without labels are learned anew
    if not isinstance(theory, DecisionList):
        raise ValueError(
            f"theory must be a DecisionList, or the text of one, not a {type(theory).__name__}"
        )
    if theory.schema != schema:
        raise ValueError(
            f"theory does not fit the training data: {_difference(theory.schema, schema)}. To "
            "have its rules read by the names of features and labels, give their text: "
            "theory=str(theory)"
        )
    return DecisionList(schema, [rule.with_evidence(None) for rule in theory])


def _difference(given: Schema, expected: Schema) -> str:
    if given.labels != expected.labels:
        return f"its labels are {listed(given.labels)}, those of Y {listed(expected.labels)}"
    if given.feature_names != expected.feature_names:
        names = listed(given.feature_names), listed(expected.feature_names)
        return f"its features are {names[0] or 'none'}, those of X {names[1] or 'none'}"
    for a, b in zip(given.features, expected.features, strict=True):
        if a != b:
            kinds = _kind(a), _kind(b)
            return f"its feature {a.name!r} is {kinds[0]}, that of X {kinds[1]}"
    return "its hierarchy of labels is another"


def _kind(feature: Feature) -> str:
    if feature.categories is None:
        return feature.kind
    return f"{feature.kind} with {listed(feature.categories) or 'no category'}"


NOT_GOOD_ENOUGH = "no rule for it was good enough"
"""The reason where nothing more is known."""


def reasons_without_rules(
    model: Any,
    cells: Any,
    reasons: Mapping[int, str] | None = None,
    stopped: str | None = None,
) -> dict[str, str]:
    """Why no rule of a model predicts some labels as present, by their names.

    Parameters
    ----------
    model : fitted learner
    cells : LabelCells, or pair of arrays
        For each label the training rows in which it is known, and those that have it.
    reasons : mapping of int to str, optional
        What the learner itself knows, by the number of the label.
    stopped : str, optional
        Why learning has ended early, if it has.
    """
    if is_nested_fit() or "theory_" not in vars(model):
        return {}
    names = labels_without_rules(model.theory_)
    known, last = reasons or {}, stopped or str(getattr(model, "_no_rule_reason", NOT_GOOD_ENOUGH))
    least = int(getattr(model, "min_coverage", 1))
    places = model.theory_.schema.label_index
    n_known, n_present = (one.tolist() for one in cells[:2])
    return {
        name: too_few(n_known[at], n_present[at], least) or known.get(at, last)
        for name in names
        for at in [places[name]]
    }


def too_few(n_known: int, n_present: int, least: int) -> str:
    """The reason if a label has too few rows to learn from; else empty.

    >>> too_few(1, 0, 2), too_few(2, 1, 2)
    ('no row has it', '1 row has it, fewer than min_coverage=2')
    """
    if not n_known:
        return "it is unknown in all rows"
    if not n_present:
        return "no row has it"
    if n_present < least:
        verb = "has" if n_present == 1 else "have"
        return f"{counted(n_present, 'row')} {verb} it, fewer than min_coverage={least}"
    return ""
