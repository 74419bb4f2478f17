"""The learner of multi-label decision lists by separate-and-conquer."""

from collections.abc import Iterable
from copy import copy
from typing import Any, ClassVar

from labelrules._wings import back_end
from labelrules.data import Dataset, DeviceError, Schema
from labelrules.data.codes.bins import Bins, bins_by_engine
from labelrules.data.document import Count, DocumentError, Record
from labelrules.data.rows import Rows
from labelrules.kernels.device import PARTS_ON_CPU, Engine, cpu_instead, may_use_gpu
from labelrules.learners.base.estimator import WeightKind
from labelrules.learners.base.progress import Listener, check_progress, phase, progress_listener
from labelrules.learners.base.size import within_literals
from labelrules.learners.base.theory_classifier import (
    KnownOfRules,
    RuleClassifier,
    Smoothing,
    TheoryState,
)
from labelrules.learners.covering.counted_rows import (
    CountedRows,
    counted_in_memory,
    counted_rows_of,
    is_counted,
)
from labelrules.learners.covering.local_rows import board_of
from labelrules.learners.covering.loop import Covering
from labelrules.learners.covering.next_rule import LastResort, last_resort_settings
from labelrules.learners.covering.settings import COUNTED, Settings, checked_settings
from labelrules.learners.covering.sorted_rows import SortedRows
from labelrules.learners.registry import register
from labelrules.measures import Measure
from labelrules.rules import DecisionList, LayeredTheory, Rule, Theory, labels_without_rules
from labelrules.search.bodies.rule_language import Wish
from labelrules.search.heads.size_bonus import SizeBonus


class CoveringState(TheoryState):
    """A decision list, perhaps with a list for rows without labels; its rules without a default."""

    n_learned: Count


@register(order=1)
class SeparateAndConquer(RuleClassifier):
    """Learn a multi-label decision list, rule by rule.

    Find the best rule for the cells that are still open, append it to the list and write it on the
    board; repeat until nothing is open or no rule is worth adding.

    Parameters
    ----------
    heads : {"single", "multi", "complete"} or int, default="single"
        One label, all labels that are equally good, every label, or at most so many labels.
    measure : str or Measure, default="f0.8"
        The measure that rules are scored by; see :mod:`labelrules.measures`.
    counting : {"head-relative", "chapter"}, default="head-relative"
        How cells that a rule does not cover count; see :func:`labelrules.measures.confusion`.
    size_bonus : function, optional
        A factor on the value by head size; see :mod:`labelrules.search.heads.size_bonus`.
    polarity : {"rarer", "both", "presence"}, default="rarer"
        Whether heads predict the rarer value of each label, with the majority as default, presence
        and absence, or presence only.
    fixed_head : bool, default=True
        Whether the head stays as chosen with the first condition, or is chosen anew with each.
    beam_width : int, default=1
        How many bodies are refined side by side; 1 is greedy search.
    operators : iterable of {"<=", ">", "=", "!=", "in"}, optional
        For conditions on features; "in" tests for sets of categories. By default all but "!=", and
        "in" only for columns of at least five categories.
    label_conditions : bool, default=True
        Whether bodies may test labels that earlier rules have written.
    required : iterable of str or (str, str)
        If given, each body tests one of these features, or the second label of a pair in rules
        for the first.
    forbidden : iterable of str or (str, str)
        Features that no body tests, and labels that it does not test in rules for another.
    max_conditions : int or None, default=10
        The largest body; None for any size. Longer ones are hard to read, and what their last
        conditions say seldom holds for new rows.
    min_coverage : int, default=2
        Cells that a rule must write for each label of its head.
    min_gain : float, default=0.0
        By how much a further condition must raise the measure.
    stop_share : float, optional
        A rule stops the list, for the rows it covers, if at most this share of them is still
        incomplete after it. Without it no rule stops the list.
    readd : {"all", "incomplete"}, default="all"
        Whether rows that are complete stay in the table, as neighbours for thresholds.
    open_share : float, default=0.0
        Learning ends when at most this share of all cells is open.
    max_rules : int, optional
        The longest list, rules given to `fit` included; a default rule comes on top.
    max_literals : int, optional
        The most literals of the theory, rules for rows without labels included: conditions and
        labels in heads. The least useful rules are left out.
    time_limit : float, optional
        Seconds after which learning ends; the rules learned so far are kept.
    order : {"append", "prepend"}, default="append"
        Whether a new rule comes last and writes what is open, or first and corrects the others.
    default_rule : bool, optional
        Whether the list ends with a rule for all unwritten cells. By default if `polarity` is
        "rarer" and some label is present in most of them: cells that no rule writes are absent.
    pruning : {"mdl", "irep", "significance"}, optional
        How rules are shortened and rejected: by the description length of rules and exceptions,
        on held-out rows, or by the likelihood ratio of each condition. None to keep all.
    prune_share : float, default=1/3
        The share of rows held out for "irep".
    random_state : int or RandomState, optional
        Chooses the rows held out. The same without it.
    last_resort : float, optional
        Rows in which the list finds no label get one that is more probable than this, by short
        rules after the list. Not for a single label, where some label is present in most rows, or
        with `order` "prepend".
    bins : int, optional
        Numeric features are cut into at most so many bins at exact quantiles, and rules are
        searched for by counting the rows of each bin: on many rows several times faster. 255 take a
        byte each. By default thresholds may lie between any two values.
    engine : {"auto", "cpu", "gpu"}, default="auto"
        Where the rows of bins are counted, and large tables predicted. "auto" takes a GPU if there
        is one and the table is large. The rules do not depend on it. See :doc:`/gpu`.
    smoothing : "laplace" or float, default="laplace"
        How evidence becomes a probability; see :class:`RuleClassifier`.
    n_jobs : int, optional
        Threads for the columns, -1 for all processors; the rules do not depend on it.
    progress : bool or function, default=False
        Whether to show a progress bar, or a function to call with each :class:`Progress`.
    warm_start : bool, default=False
        Whether `fit` extends the list that it has learned before.

    Examples
    --------
    >>> from labelrules import load
    >>> learner = SeparateAndConquer(heads="multi", measure="precision", counting="chapter",
    ...                              polarity="both", stop_share=0.01)
    >>> print(learner.fit(load("magazines")).theory_[:3])
    not quality, not fashion, not sports <- education = Primary
    quality, not sports <- education = University
    not fashion <- sex = Male
    """

    def __init__(
        self,
        *,
        heads: str | int = "single",
        measure: str | Measure = "f0.8",
        counting: str = "head-relative",
        size_bonus: SizeBonus | None = None,
        polarity: str = "rarer",
        fixed_head: bool = True,
        beam_width: int = 1,
        operators: Iterable[str] | None = None,
        label_conditions: bool = True,
        required: Iterable[Wish] = (),
        forbidden: Iterable[Wish] = (),
        max_conditions: int | None = 10,
        min_coverage: int = 2,
        min_gain: float = 0.0,
        stop_share: float | None = None,
        readd: str = "all",
        open_share: float = 0.0,
        max_rules: int | None = None,
        max_literals: int | None = None,
        time_limit: float | None = None,
        order: str = "append",
        default_rule: bool | None = None,
        pruning: str | None = "mdl",
        prune_share: float = 1 / 3,
        random_state: Any = None,
        last_resort: float | None = 0.4,
        bins: int | None = None,
        engine: Engine = "auto",
        smoothing: Smoothing = "laplace",
        n_jobs: int | None = None,
        progress: bool | Listener = False,
        warm_start: bool = False,
    ) -> None:
        self.heads = heads
        self.measure = measure
        self.counting = counting
        self.size_bonus = size_bonus
        self.polarity = polarity
        self.fixed_head = fixed_head
        self.beam_width = beam_width
        self.operators = operators
        self.label_conditions = label_conditions
        self.required = required
        self.forbidden = forbidden
        self.max_conditions = max_conditions
        self.min_coverage = min_coverage
        self.min_gain = min_gain
        self.stop_share = stop_share
        self.readd = readd
        self.open_share = open_share
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.time_limit = time_limit
        self.order = order
        self.default_rule = default_rule
        self.pruning = pruning
        self.prune_share = prune_share
        self.random_state = random_state
        self.last_resort = last_resort
        self.bins = bins
        self.engine = engine
        self.smoothing = smoothing
        self.n_jobs = n_jobs
        self.progress = progress
        self.warm_start = warm_start

    _State: ClassVar[type[Record]] = CoveringState
    _takes_partitions = True
    _naming_parameters = ("required", "forbidden")

    def _check_parameters(self) -> None:
        super()._check_parameters()
        for name in ("required", "forbidden"):
            wishes = getattr(self, name)
            pairs = [wish if isinstance(wish, tuple) else (wish,) for wish in _listed(name, wishes)]
            texts = all(isinstance(part, str) for pair in pairs for part in pair)
            if not (texts and all(len(pair) in (1, 2) for pair in pairs)):
                raise ValueError(f"{name} must name features, or pairs of labels")
        self._settings_without_data()
        check_progress(self.progress)

    def _settings_without_data(self) -> Settings:
        """The parameters as `fit` checks them, but for the names of columns."""
        rest = copy(self)
        rest.required = rest.forbidden = ()
        return checked_settings(rest, Schema([], ["label"]))

    def _check_for_partitions(self) -> None:
        check_settings_of_parts(self._settings_without_data())

    def _restore_state(self, state: Any) -> None:
        super()._restore_state(state)
        n_rules = len(_list_of(self.theory_))
        if state.n_learned > n_rules:
            raise DocumentError(".n_learned", f"there are {n_rules} rules only")

    def _weighs(self, data: Dataset, weights: WeightKind) -> bool:
        # Heads that need whole rows, and samples of rows, are made of rows as they are.
        settings = checked_settings(self, data.schema)
        return settings.scores_literals and settings.pruning != "irep"

    def _learn(self, data: Any, prefix: DecisionList | None) -> DecisionList | LayeredTheory:
        settings = checked_settings(self, data.schema)
        with progress_listener(self.progress) as listener:
            covering = _begun(data, settings, prefix)
            phase("searching for the first rule")
            covering.go_on(listener)
            if data.in_memory:
                phase("counting right and wrong cells")
            learned = covering.finished()
            kept, limit = learned, settings.max_literals
            if limit is not None:
                kept = within_literals(learned, data, limit)
        self._note(covering, learned, kept, limit)
        return kept

    def _note(
        self,
        covering: Covering,
        learned: DecisionList | LayeredTheory,
        kept: DecisionList | LayeredTheory,
        max_literals: int | None = None,
    ) -> None:
        """Note what the covering loop knows of the rules that it has learned."""
        whole, rules, rows = _list_of(learned), _list_of(kept), covering.rows
        has_default = len(whole) > len(covering.rules) and rules[-1:] == whole[-1:]
        self.n_learned_ = len(rules) - has_default
        self._known = KnownOfRules(
            reasons=covering.reasons() | _left_out(learned, kept, max_literals),
            failure=covering.failure,
            background=rows.background(learned) if kept is learned else None,
            cells=rows.known_cells,
        )

    def _fit_as_it_is(self, X: Any, y: Any, feature_names: Any) -> bool:
        if self.bins is None or self.max_literals is not None or not may_use_gpu(self.engine):
            return False
        if self._kept(None) is not None:
            return False
        gpu = back_end("gpu", "rows")
        found = gpu.table_as_it_is(self, X, y, feature_names)
        if found is None:
            return False
        table, target, settings = found
        with progress_listener(self.progress) as listener:
            try:
                covering = Covering(gpu.rows_on_gpu(table, settings), settings)
            except DeviceError as error:
                cpu_instead(settings.engine, error)
                return False
            phase("searching for the first rule")
            covering.go_on(listener)
        learned = covering.finished()
        self._note(covering, learned, learned)
        self.n_features_in_ = table.schema.n_features
        self._finish(learned, table, target)
        return True

    def _kept(self, theory: DecisionList | str | None) -> DecisionList | str | None:
        if theory is not None or not self.warm_start or not hasattr(self, "theory_"):
            return theory
        return _list_of(self.theory_)[: self.n_learned_]  # the rest is for the end of a list


def _begun(rows: Rows, settings: Settings, prefix: DecisionList | None) -> Covering:
    """The covering loop, on rows or on counts."""
    kept = list(prefix or ())
    if not rows.in_memory:
        assert settings.bins is not None, "checked before"
        phase("finding the bins of the columns")
        bins = Bins.of(rows, settings.bins)
        phase("coding the columns")
        return Covering(counted_rows_of(rows, bins, settings), settings, kept)
    (data,) = rows
    if settings.bins is None:
        phase("sorting the columns")
        return Covering(SortedRows(data, settings), settings, kept)
    is_by_counts = is_counted(settings, kept)
    if settings.engine == "gpu" and not is_by_counts:
        raise ValueError(
            "engine='gpu' learns by counts alone: no rule of theory stops the list, and "
            f"{COUNTED}; or set engine='cpu'"
        )
    phase("cutting the columns into bins")
    engine = settings.engine if is_by_counts else "cpu"
    bins, codes = bins_by_engine(data, settings.bins, engine)
    if not is_by_counts:
        return Covering(SortedRows(data, settings, bins), settings, kept)
    try:
        return counted_covering(data, bins, settings, kept, codes)
    except DeviceError as error:
        del codes
        cpu_instead(settings.engine, error)
        return counted_covering(data, bins, settings, kept)


def counted_covering(
    data: Dataset,
    bins: Bins,
    settings: Settings,
    kept: list[Rule],
    codes: Any = None,
) -> Covering:
    """The covering loop on counts, of rows in memory or on a GPU."""
    rows, kept = counted_in_memory(data, bins, settings, kept, codes)
    return Covering(rows, settings, kept)


def _left_out(whole: Theory, kept: Theory, max_literals: int | None) -> dict[int, str]:
    """The labels whose rules were left out, so that the theory does not become too large."""
    if kept is whole:
        return {}
    left = set(labels_without_rules(kept)) - set(labels_without_rules(whole))
    places = whole.schema.label_index
    return {
        places[name]: f"its rules did not fit into max_literals={max_literals}" for name in left
    }


def _list_of(theory: DecisionList | LayeredTheory) -> DecisionList:
    """The list, without the rules for rows in which it finds no label."""
    return theory.layers[0] if isinstance(theory, LayeredTheory) else theory  # type: ignore[return-value]


def _listed(name: str, wishes: Any) -> Iterable[Any]:
    if not isinstance(wishes, Iterable) or isinstance(wishes, str):
        raise ValueError(f"{name} must be a list of features, or of pairs of labels")
    return wishes


def check_settings_of_parts(settings: Settings) -> None:
    """Refuse parameters by which rows in partitions cannot be learned from."""
    if settings.bins is None:
        raise ValueError(
            "rows in partitions are learned from by bins: set bins, as in "
            "SeparateAndConquer(bins=255)"
        )
    if not settings.are_counted:
        raise ValueError(f"rows in partitions are learned from by counts alone: {COUNTED}")
    if settings.engine == "gpu":
        raise ValueError(PARTS_ON_CPU)
    if settings.max_literals is not None:
        raise ValueError("max_literals needs all rows in memory: leave it out, or set max_rules")


def rules_of_last_resort(
    rows: Rows, theory: Theory, least: float, n_bins: int | None
) -> DecisionList | None:
    """Rules that guess a label for rows in which a theory finds none; None if no guess is good.

    Learned as by `SeparateAndConquer`, with so many bins.
    """
    settings = checked_settings(SeparateAndConquer(bins=n_bins), rows.schema)
    alone = last_resort_settings(settings)
    found: SortedRows | CountedRows
    if settings.bins is None:
        (data,) = rows
        found = SortedRows(data, settings)
        found.board.board[:] = board_of(theory, data)
    else:
        found = counted_rows_of(rows, Bins.of(rows, settings.bins), alone, theory)
    try:
        rules = LastResort(found.wait(), settings, least).rules()
    finally:
        found.close()
    return DecisionList(rows.schema, rules) if rules else None
