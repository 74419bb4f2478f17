"""The covering loop: learn a rule, write it, and go on with what is still open."""

from dataclasses import replace
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from labelrules._types import Board
from labelrules.data import Dataset
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.learners.base.progress import (
    Listener,
    Progress,
    is_nested_fit,
    rules_so_far,
    warn_of_early_end,
)
from labelrules.learners.base.sampling import held_out_rows, row_keys
from labelrules.learners.covering.board import TrainingBoard
from labelrules.learners.covering.last_resort import LastResort, is_mostly_present
from labelrules.learners.covering.next_rule import RuleFinder
from labelrules.learners.covering.pruning import (
    DescriptionLength,
    HeldOut,
    Pruner,
    Significance,
    prefixes_of,
)
from labelrules.learners.covering.settings import Settings
from labelrules.rules import Body, DecisionList, Evidence, Rule
from labelrules.search.bodies.grow import Grown, value_of


class Covering:
    """The list that is being learned, and the board that it has written."""

    def __init__(self, data: Dataset, settings: Settings, prefix: DecisionList | None) -> None:
        self.data, self.settings = data, settings
        self.started = monotonic()
        self.ended_early = False
        self.resorts: list[Rule] = []
        self.ground = TrainingBoard(data, settings.order)
        self.rules: list[Rule] = list(prefix or ())
        if self.ground.prepends and any(rule.body.on_labels for rule in self.rules):
            raise ValueError(
                "rules that test labels cannot be kept with order='prepend': new rules in front "
                "would change what they read; use order='append'"
            )
        self.evidence: list[tuple[Evidence, ...]] = self.ground.replay(self.rules, data.X)
        self.search = RuleFinder(data, self.ground, settings)
        self.prune = self._pruner()

    def go_on(self, tell: Listener) -> None:
        """Learn rules until nothing is left to do; the chapter's algorithm."""
        try:
            self._cover(tell)
        except KeyboardInterrupt:
            if is_nested_fit():
                raise
            self._end("it was interrupted")
            # It may have been while a rule was written: only what is in the list shall count.
            self.ground = TrainingBoard(self.data, self.settings.order)
            self.evidence = self.ground.replay(self.rules, self.data.X)
        finally:
            self.search.end()

    @heard_interrupts()
    def _cover(self, tell: Listener) -> None:
        while not self._is_done():
            grown = self.search.best_rule()
            if grown is None or not self._is_worth_adding(grown):
                break
            pruned = self._pruned(grown)
            if pruned is None:
                self.search.close(grown.head)
                continue
            rule = self._add(pruned)
            value = value_of(grown.rank)
            tell(Progress(len(self.rules), self.ground.n_open, self.data.Y.size, value, rule))
        self.resorts = self._last_resort()

    def _is_done(self) -> bool:
        settings = self.settings
        if settings.max_rules is not None and len(self.rules) >= settings.max_rules:
            return True
        if self._is_late():
            return True
        if self.ground.prepends:
            return False
        return self.ground.n_open <= settings.open_share * self.data.Y.size

    def _is_late(self) -> bool:
        limit = self.settings.time_limit
        if limit is None or monotonic() - self.started <= limit:
            return False
        self._end(f"the time limit of {limit:g} s was reached")
        return True

    def _end(self, reason: str) -> None:
        self.ended_early = True
        warn_of_early_end(reason, rules_so_far(len(self.rules), self.settings.default_rule))

    def _pruner(self) -> Pruner | None:
        settings, data = self.settings, self.data
        if settings.pruning == "mdl":
            pruner = DescriptionLength.of(self.search.refiner.columns, data.schema.n_labels)
            told = partial(pruner.told, self.ground)
            self.search.growth = replace(self.search.growth, told=told)
            return pruner
        if settings.pruning == "significance":
            return Significance()
        if settings.pruning == "irep":
            held = held_out_rows(data.Y, row_keys(data.X), settings.prune_share, settings.seed)
            self.ground.hold_out(held)
            return HeldOut(held)
        return None

    def _pruned(self, grown: Grown) -> Grown | None:
        """The rule without the conditions that are not warranted; None if it is not itself."""
        if self.prune is None:
            return grown
        prefixes = prefixes_of(grown.body, self.data.X, self.ground)
        kept = self.prune(grown, prefixes, self.ground)
        if kept is None:
            return None
        covered = grown.covered._replace(mask=prefixes[kept])
        return grown._replace(body=Body(grown.body.conditions[:kept]), covered=covered)

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

    def _last_resort(self) -> list[Rule]:
        """Rules for rows in which nothing was found, where that says they have no label."""
        settings, truth = self.settings, self.ground.truth
        if self.ended_early or settings.max_rules is not None:
            return []  # fewer rules were asked for
        says_absence = is_mostly_present(truth) or settings.polarity == "both"
        if settings.last_resort is None or says_absence or not settings.allowed.has_labels:
            return []
        least = settings.last_resort
        columns = self.search.refiner.columns
        resort = LastResort(self.data, self.ground, columns, settings, least, self._is_late)
        return resort.rules()

    def _stops(self, grown: Grown, covered: Any) -> bool:
        """A complete head needs no mark: it leaves nothing open."""
        share = self.settings.stop_share
        if share is None or grown.head.is_complete:
            return False
        return self.ground.share_incomplete(covered) <= share

    @property
    def board(self) -> Board:
        """What the list has written, rows by labels."""
        return self.ground.board.T

    def finished(self) -> DecisionList:
        """The list with its default rule and the evidence of each rule."""
        rules = [
            rule.with_evidence(found) for rule, found in zip(self.rules, self.evidence, strict=True)
        ]
        rules += self.resorts
        if self.settings.default_rule and not (rules and _always_says_all(rules[-1])):
            head = self.ground.default()
            evidence = self.ground.write_open(head, ~self.ground.ended)
            rules.append(Rule(head, evidence=evidence))
        theory = DecisionList(self.data.schema, rules)
        if self.ground.prepends:  # later rules have written over what earlier ones wrote
            self.ground.board[:] = theory.apply(self.data).T
            return theory.with_evidence(self.data, self.data.Y)
        return theory


def _always_says_all(rule: Rule) -> bool:
    """Whether nothing is left for a default rule to say, or it is never asked."""
    return not len(rule.body) and (rule.head.is_complete or rule.stops)
