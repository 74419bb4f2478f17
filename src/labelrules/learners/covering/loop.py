"""The covering loop: learn a rule, write it, and go on with the cells that are still open."""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from labelrules._compiling import learning_clock
from labelrules._interrupts import heard_interrupts
from labelrules.data import ClusterError, Dataset, DeviceError
from labelrules.data.codes.bins import Bins
from labelrules.learners.base.progress import (
    Listener,
    Progress,
    is_nested_fit,
    lost_rows,
    phase,
    rules_so_far,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import held_out_rows, row_keys
from labelrules.learners.covering.board import TrainingBoard
from labelrules.learners.covering.next_rule import LastResort, RuleFinder, values_of
from labelrules.learners.covering.pruning import (
    DescriptionLength,
    HeldOut,
    Pruner,
    Significance,
    prefixes_of,
)
from labelrules.learners.covering.settings import Settings
from labelrules.rules import Body, DecisionList, Head, LayeredTheory, Rule
from labelrules.search.bodies.code_tables import rule_on_values
from labelrules.search.bodies.grow import Grown

SMALLER_BETA = 0.4
"""The weight of recall in F for labels whose next rule was rejected: it may have covered too much.

By cross-validation on the training parts of eight benchmarks, 0.3, and 0.5 and then 0.3, are as
good; they take more time or find fewer rules.
"""


PRESENT = 2
"""The bit for presence, as `RuleFinder` marks the values of labels."""

REJECTED = {
    "mdl": "pruning rejected its rules: wrong as often as right, or too long for what they explain",
    "irep": "pruning rejected its rules: wrong as often as right on held-out rows",
    "significance": "pruning rejected its rules: not beyond chance",
}
"""Why rules are rejected."""


class CoveringLoop(ABC):
    """The loop for any way to count rows: what is found, pruned and written is up to a subclass.

    ``rules`` are those of the list so far.
    """

    finder: Any
    board: Any
    rules: list[Rule]

    def __init__(self, settings: Settings, n_labels: int) -> None:
        self.settings, self.n_labels = settings, n_labels
        self.rejected = np.zeros(n_labels, dtype=np.int8)
        self.started = learning_clock()
        self.n_found = 0
        self.ended_early = False
        self.stopped: str | None = None
        self.lost: Exception | None = None
        self.fallback: list[Rule] = []

    @property
    def failure(self) -> Exception | None:
        """What is to be raised once the rules so far are kept, if the rows were lost."""
        if self.lost is None or is_nested_fit():  # what is kept is for whoever learns from it
            return self.lost
        return lost_rows(self.lost, len(self.rules))

    @abstractmethod
    def _find_anew(self, settings: Settings) -> Any:
        """A finder by other settings, that searches for the labels which this one gave up."""

    @abstractmethod
    def _pruned(self, grown: Any) -> Any:
        """The rule without the conditions that are not warranted; None if the rule is not."""

    @abstractmethod
    def _add(self, grown: Any) -> Rule:
        """Write the rule, and put it on the list."""

    @abstractmethod
    def _fall_back(self, least: float) -> list[Rule]:
        """Rules for rows in which no label was found, of labels more probable than this."""

    @abstractmethod
    def _begin_again(self) -> None:
        """Count the rules of the list only, as the next may have been half written."""

    @abstractmethod
    def _close(self) -> None:
        """End threads, and whatever else was only for learning."""

    def _is_worth_adding(self, grown: Any) -> bool:
        """Whether a rule that was found may be added."""
        return True

    def go_on(self, listener: Listener) -> None:
        """Learn rules until nothing is left to do; the chapter's algorithm."""
        try:
            self._cover(listener)
        except KeyboardInterrupt:
            if is_nested_fit():
                raise
            self._end("it was interrupted")
            # A rule may have been half written: only the rules of the list shall count.
            self._begin_again()
        except (ClusterError, DeviceError) as lost:
            what = "cluster was lost" if isinstance(lost, ClusterError) else "GPU failed"
            self.ended_early, self.stopped = True, f"the {what}"
            self.lost = lost
            self._begin_again()
        finally:
            self._close()

    @heard_interrupts()
    def _cover(self, listener: Listener) -> None:
        self._add_rules(listener)
        if self._may_try_again():
            phase("searching again for labels whose rules were rejected")
            self._try_again(SMALLER_BETA)
            self._add_rules(listener)
        phase("searching for rules for rows without a label")
        self.fallback = self._last_resort()

    def _may_try_again(self) -> bool:
        """Whether there is a measure that weighs recall less, and a label that was given up."""
        settings, formula = self.settings, self.settings.measure.formula
        if settings.pruning is None or not settings.scores_literals or self.ended_early:
            return False
        if formula.name != "f" or self.board.prepends or not self.finder.given_up.any():
            return False
        return (formula.parameter or 0.0) > SMALLER_BETA

    def _try_again(self, beta: float) -> None:
        """Search again for labels that were given up, by a measure that weighs recall less."""
        formula = replace(self.settings.measure.formula, parameter=beta)
        settings = replace(self.settings, measure=replace(self.settings.measure, formula=formula))
        finder = self._find_anew(settings)
        self.rejected |= self.finder.given_up
        self.finder = finder

    def _add_rules(self, listener: Listener) -> None:
        while not self._is_done():
            grown = self.finder.best_rule()
            if grown is None or not self._is_worth_adding(grown):
                break
            pruned = self._pruned(grown)
            if pruned is None:
                self.finder.exclude(grown.head)
                continue
            rule = self._add(pruned)
            listener(self._progress(rule, float(grown.merit.value)))

    def _progress(self, rule: Rule, value: float) -> Progress:
        """What there is to tell after a rule."""
        board, most = self.board, self.settings.max_rules
        self.n_found += sum(map(_n_right, [rule] if self.n_found else self.rules))
        return Progress(
            len(self.rules), board.n_open, board.n_cells, value, rule, self.n_found, self.n_sought,
            most,
        )  # fmt: skip

    @cached_property
    def n_sought(self) -> int:
        """The cells with a value that rules may predict."""
        values = values_of(self.settings.polarity, self.board.is_common)
        n_cells: int = round(self.board.unit * self.board.n_with(values))
        return n_cells

    def _is_done(self) -> bool:
        settings = self.settings
        if settings.max_rules is not None and len(self.rules) >= settings.max_rules:
            return True
        if self._is_late():
            return True
        if self.board.prepends:
            return False
        return bool(self.board.n_open <= settings.open_share * self.board.n_cells)

    def _is_late(self) -> bool:
        limit = self.settings.time_limit
        if limit is None or learning_clock() - self.started <= limit:
            return False
        self._end(f"the time limit of {limit:g} s was reached")
        return True

    def _end(self, reason: str) -> None:
        self.ended_early, self.stopped = True, reason
        warn_of_early_end(
            reason, rules_so_far(len(self.rules), self.settings.default_rule is not False)
        )

    def reasons(self) -> dict[int, str]:
        """Why labels have no rule that predicts their presence, whether or not they have one."""
        settings = self.settings
        rejected = (self.rejected | self.finder.given_up) & PRESENT
        searched = values_of(settings.polarity, self.board.is_common) & PRESENT
        is_full = settings.max_rules is not None and len(self.rules) >= settings.max_rules
        found = {}
        for label in range(self.n_labels):
            if not searched[label]:
                found[label] = "most rows have it, and rules predict the rarer value"
            elif rejected[label]:
                found[label] = REJECTED[settings.pruning or "mdl"]
            elif self.stopped is not None:
                found[label] = f"learning ended early because {self.stopped}"
            elif is_full:
                found[label] = f"the list has max_rules={settings.max_rules} rules"
            else:
                found[label] = "no rule for it was found that may be added"
        return found

    def _last_resort(self) -> list[Rule]:
        """Rules for rows in which no label was found."""
        settings = self.settings
        if self.ended_early or settings.max_rules is not None or self.n_labels == 1:
            return []  # the list is cut short anyway, or a row without its label is no surprise
        predicts_absence = self.board.is_common.any() or settings.polarity == "both"
        if settings.last_resort is None or predicts_absence or self.board.prepends:
            return []
        return self._fall_back(settings.last_resort)

    def _wants_default(self, default: Head) -> bool:
        """Whether the list ends with a default rule; absence of all labels is understood."""
        wanted, rules = self.settings.default_rule, self.rules
        if wanted is None:
            wanted = self.settings.polarity == "rarer" and 1 in default.values
        return wanted and not (rules and _is_default(rules[-1]))


class Covering(CoveringLoop):
    """A list while it is learned, and the training board that it has written.

    With `bins` rules are searched for on codes, and then tell what these stand for.
    """

    finder: RuleFinder
    board: TrainingBoard

    def __init__(
        self,
        data: Dataset,
        settings: Settings,
        prefix: DecisionList | None,
        bins: Bins | None = None,
    ) -> None:
        super().__init__(settings, data.schema.n_labels)
        self.data, self.bins = data, bins
        self.searched = data if bins is None else bins.coded(data)
        self.board = TrainingBoard(data, settings.order)
        kept = list(prefix or ())
        if self.board.prepends and any(rule.body.on_labels for rule in kept):
            raise ValueError(
                "rules that test labels cannot be kept with order='prepend': new rules in front "
                "would change what they read; use order='append'"
            )
        self.rules = self.board.replay(kept, data.X)
        self.finder = RuleFinder(self.searched, self.board, settings)
        self.prune = self._pruner()

    def _close(self) -> None:
        self.finder.close()

    def _begin_again(self) -> None:
        self.board = TrainingBoard(self.data, self.settings.order)
        self.rules = self.board.replay(self.rules, self.data.X)

    def _find_anew(self, settings: Settings) -> RuleFinder:
        finder = RuleFinder(self.searched, self.board, settings, self.finder.refiner.columns)
        finder.growth, finder.values[:] = self.finder.growth, self.finder.given_up
        self.finder.close()
        return finder

    def _read(self, rule: Rule) -> Rule:
        """The rule on values, if it was found on codes."""
        return rule if self.bins is None else rule_on_values(self.bins, rule)

    def _pruner(self) -> Pruner | None:
        settings, data = self.settings, self.searched
        if settings.pruning == "mdl":
            n_labels, refiner = len(self.board.truth), self.finder.refiner
            n_values = refiner.columns.n_values if settings.allowed.has_sets else None
            pruner = DescriptionLength(refiner.n_conditions + n_labels, n_labels, n_values)
            describe = partial(pruner.counts, self.board)
            self.finder.growth = replace(self.finder.growth, describe=describe)
            return pruner
        if settings.pruning == "significance":
            return Significance()
        if settings.pruning == "irep":
            held = held_out_rows(data.Y, row_keys(data.X), settings.prune_share, settings.seed)
            self.board.hold_out(held)
            return HeldOut(held)
        return None

    def _pruned(self, grown: Grown) -> Grown | None:
        """The rule without the conditions that are not warranted; None if the rule is not."""
        if self.prune is None:
            return grown
        prefixes = prefixes_of(grown.body, self.searched.X, self.board)
        kept = self.prune(grown, prefixes, self.board)
        if kept is None:
            return None
        covered = grown.covered._replace(mask=prefixes[kept])
        return grown._replace(body=Body(grown.body.conditions[:kept]), covered=covered)

    def _is_worth_adding(self, grown: Grown) -> bool:
        """A rule in front of others must get more cells right than wrong."""
        if not self.board.prepends:
            return True
        right, wrong = self.board.count(grown.head, grown.covered.mask)
        return right > wrong

    def _add(self, grown: Grown) -> Rule:
        """Write the rule, and mark it when it completes the rows that it covers."""
        covered = grown.covered.mask
        evidence = self.board.write(grown.head, covered & ~self.board.ended)
        changed = np.zeros(grown.head.n_labels, dtype=np.bool_)
        changed[list(grown.head.labels)] = True
        stops = self._stops(grown, covered)
        if stops:
            changed |= self.board.end(covered)
        self.finder.changed(changed)
        body = Body(grown.body).without_implied()
        rule = self._read(Rule(grown.head, body, stops, evidence))
        self.rules.insert(0 if self.board.prepends else len(self.rules), rule)
        return rule

    def _fall_back(self, least: float) -> list[Rule]:
        columns = self.finder.refiner.columns
        resort = LastResort(self.searched, self.board, columns, self.settings, least, self._is_late)
        return [self._read(rule) for rule in resort.rules()]

    def _stops(self, grown: Grown, covered: Any) -> bool:
        """Whether a rule stops the list; a complete head leaves nothing open and needs no mark."""
        share = self.settings.stop_share
        if share is None or grown.head.is_complete:
            return False
        return self.board.share_incomplete(covered) <= share

    def finished(self) -> DecisionList | LayeredTheory:
        """The list with its default rule, rules for rows without a label, and all evidence."""
        rules, default = list(self.rules), self.board.default()
        if self._wants_default(default):
            evidence = self.board.write_open(default, ~self.board.ended)
            rules.append(Rule(default, evidence=evidence))
        theory = DecisionList(self.data.schema, rules)
        if self.board.prepends:  # later rules have written over what earlier ones wrote
            self.board.board[:] = theory.apply(self.data).T
            return theory.with_evidence(self.data, self.data.Y)
        if not self.fallback:
            return theory
        fallback = DecisionList(self.data.schema, self.fallback)
        layered = LayeredTheory(self.data.schema, [theory], fallback=fallback)
        self.board.board[:] = layered.apply(self.data).T
        return layered


def _n_right(rule: Rule) -> int:
    """The cells that a rule has written rightly."""
    return sum(one.right for one in rule.evidence or () if one is not None)


def _is_default(rule: Rule) -> bool:
    """Whether no cell is left to a default rule."""
    return not rule.body.conditions and (rule.head.is_complete or rule.stops)
