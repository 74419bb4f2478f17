"""Multi-label separate-and-conquer: one rule after the other, each for what is still open."""

import warnings
from collections.abc import Iterable
from time import monotonic
from typing import Any

import numpy as np

from labelrules.data import Dataset
from labelrules.learners.base import RuleClassifier
from labelrules.learners.ground import Ground
from labelrules.learners.progress import Listener, Progress, told
from labelrules.learners.rulesearch import RuleSearch
from labelrules.learners.settings import Settings, checked_settings
from labelrules.measures import Measure
from labelrules.rules import DecisionList, Evidence, Rule
from labelrules.search.bodies import Grown, value_of
from labelrules.search.language import Wish
from labelrules.search.lift import Lift


class LearningInterrupted(UserWarning):
    """Learning ended before it was finished; the rules learned so far are kept."""


class SeparateAndConquer(RuleClassifier):
    """Learn a multi-label decision list, rule by rule.

    The best rule for the cells that are still open is searched for, appended to the list, and
    written on the board; and again, until nothing is open or no rule is worth adding.

    Parameters
    ----------
    heads : {"single", "multi", "complete"} or int, default="single"
        One label, all labels that are equally good, every label, or at most so many.
    measure : str or Measure, default="f1"
        What makes a rule good; see :mod:`labelrules.measures`.
    counting : {"head-relative", "chapter"}, default="head-relative"
        How cells that a rule does not cover count; see :func:`labelrules.measures.confusion`.
    lift : function, optional
        A factor on the value by the size of the head; see :mod:`labelrules.search.lift`.
    polarity : {"rarer", "both", "presence"}, default="rarer"
        Whether heads say of each label its rarer value only, with the majority as default,
        presence and absence, or presence only.
    fixed_head : bool, default=False
        Whether the head stays as it was chosen with the first condition. Otherwise it is chosen
        anew with every condition.
    beam : int, default=1
        How many bodies are refined side by side.
    operators : iterable of {"<=", ">", "=", "!="}
        For conditions on features.
    label_conditions : bool, default=True
        Whether bodies may test labels that earlier rules have written.
    required : iterable of str or (str, str)
        If given, each body tests one of these features, or the second label of a pair in rules
        for the first.
    forbidden : iterable of str or (str, str)
        Features that no body tests, and labels that it does not test in rules for another.
    max_conditions : int, optional
        The largest body.
    min_coverage : int, default=1
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
        The longest list, rules given to `fit` included.
    time_limit : float, optional
        Seconds after which learning ends; the rules learned so far are kept.
    order : {"append", "prepend"}, default="append"
        Whether a new rule comes last and writes what is open, or first and corrects the others.
    default_rule : bool, optional
        Whether to end the list with a rule for all that nobody wrote. By default if `polarity`
        is "rarer".
    n_jobs : int, optional
        Threads; -1 for all processors. The rules do not depend on it.
    progress : bool or function, default=False
        Whether to show how far learning has come, or a function to call with each
        :class:`Progress`.
    warm_start : bool, default=False
        Whether `fit` goes on with the list it has learned before.

    Examples
    --------
    >>> from labelrules import load
    >>> readers = load("magazines")
    >>> learner = SeparateAndConquer(heads="multi", measure="precision", counting="chapter",
    ...                              polarity="both", stop_share=0.01)
    >>> print(learner.fit(readers).theory_[:3])
    not quality, not fashion, not sports <- education = Primary
    quality, not sports <- education = University
    not fashion <- sex = Male
    """

    def __init__(
        self,
        *,
        heads: str | int = "single",
        measure: str | Measure = "f1",
        counting: str = "head-relative",
        lift: Lift | None = None,
        polarity: str = "rarer",
        fixed_head: bool = False,
        beam: int = 1,
        operators: Iterable[str] = ("<=", ">", "="),
        label_conditions: bool = True,
        required: Iterable[Wish] = (),
        forbidden: Iterable[Wish] = (),
        max_conditions: int | None = None,
        min_coverage: int = 1,
        min_gain: float = 0.0,
        stop_share: float | None = None,
        readd: str = "all",
        open_share: float = 0.0,
        max_rules: int | None = None,
        time_limit: float | None = None,
        order: str = "append",
        default_rule: bool | None = None,
        n_jobs: int | None = None,
        progress: bool | Listener = False,
        warm_start: bool = False,
    ) -> None:
        self.heads = heads
        self.measure = measure
        self.counting = counting
        self.lift = lift
        self.polarity = polarity
        self.fixed_head = fixed_head
        self.beam = beam
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
        self.time_limit = time_limit
        self.order = order
        self.default_rule = default_rule
        self.n_jobs = n_jobs
        self.progress = progress
        self.warm_start = warm_start

    def _learn(self, data: Dataset, prefix: DecisionList | None) -> DecisionList:
        settings = checked_settings(self, data.schema)
        covering = _Covering(data, settings, prefix)
        with told(self.progress) as listener:
            covering.go_on(listener)
        return covering.finished()


class _Covering:
    """The list that is being learned, and the board that it has written."""

    def __init__(self, data: Dataset, settings: Settings, prefix: DecisionList | None) -> None:
        self.data, self.settings = data, settings
        self.started = monotonic()
        self.ground = Ground(data, settings.order)
        self.rules: list[Rule] = list(prefix or ())
        self.evidence: list[tuple[Evidence, ...]] = self.ground.replay(self.rules, data.X)
        self.search = RuleSearch(data, self.ground, settings)

    def go_on(self, tell: Listener) -> None:
        """Learn rules until nothing is left to do; the chapter's algorithm."""
        try:
            while not self._is_done():
                grown = self.search.best_rule()
                if grown is None or not self._is_worth_adding(grown):
                    return
                rule = self._add(grown)
                value = value_of(grown.rank)
                tell(Progress(len(self.rules), self.ground.n_open, self.data.Y.size, value, rule))
        except KeyboardInterrupt:
            self._warn("it was interrupted")

    def _is_done(self) -> bool:
        settings = self.settings
        if settings.max_rules is not None and len(self.rules) >= settings.max_rules:
            return True
        if settings.time_limit is not None and monotonic() - self.started > settings.time_limit:
            self._warn(f"the time limit of {settings.time_limit:g} s was reached")
            return True
        if self.ground.prepends:
            return False
        return self.ground.n_open <= settings.open_share * self.data.Y.size

    def _warn(self, reason: str) -> None:
        warnings.warn(
            f"learning ended early because {reason}; the {len(self.rules)} rules learned so far "
            "are kept",
            LearningInterrupted,
            stacklevel=6,
        )

    def _is_worth_adding(self, grown: Grown) -> bool:
        """A rule in front of others must set more cells right than wrong."""
        return not self.ground.prepends or self.ground.gain(grown.head, grown.covered.mask) > 0

    def _add(self, grown: Grown) -> Rule:
        """Write the rule, and mark it when it completes the rows that it covers."""
        covered = grown.covered.mask
        evidence = self.ground.write(grown.head, covered & ~self.ground.ended)
        changed = np.zeros(grown.head.n_labels, dtype=np.bool_)
        changed[list(grown.head.labels)] = True
        stops = self._stops(grown, covered)
        if stops:
            changed |= self.ground.end(covered)
        self.search.changed(changed)
        rule = Rule(grown.head, grown.body, stops, evidence)
        where = 0 if self.ground.prepends else len(self.rules)
        self.rules.insert(where, rule)
        self.evidence.insert(where, evidence)
        return rule

    def _stops(self, grown: Grown, covered: Any) -> bool:
        """A complete head needs no mark: it leaves nothing open."""
        share = self.settings.stop_share
        if share is None or grown.head.is_complete:
            return False
        return self.ground.share_incomplete(covered) <= share

    def finished(self) -> DecisionList:
        """The list with its default rule and the evidence of each rule."""
        rules = [
            rule.with_evidence(found) for rule, found in zip(self.rules, self.evidence, strict=True)
        ]
        if self.settings.default_rule:
            head = self.ground.default()
            rules.append(Rule(head, evidence=self.ground.unwritten(head)))
        theory = DecisionList(self.data.schema, rules)
        if self.ground.prepends:  # later rules have written over what earlier ones wrote
            return theory.with_evidence(self.data, self.data.Y)
        return theory
