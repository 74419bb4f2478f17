"""The covering loop: learn a rule, write it, and go on with the cells that are still open."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from labelrules._compiling import learning_clock
from labelrules._interrupts import heard_interrupts
from labelrules.data import ClusterError, DeviceError
from labelrules.learners.base.progress import (
    Listener,
    Progress,
    is_nested_fit,
    lost_rows,
    phase,
    rules_so_far,
    warn_of_early_end,
)
from labelrules.learners.covering.board import LabelCounts
from labelrules.learners.covering.next_rule import LastResort, RuleFinder, values_of
from labelrules.learners.covering.pruning import DescriptionLength, HeldOut, Pruner, Significance
from labelrules.learners.covering.settings import Settings
from labelrules.learners.covering.training_rows import TrainingRows
from labelrules.rules import DecisionList, Head, LayeredTheory, Rule
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


class Covering:
    """A list while it is learned, from whatever rows; ``rules`` are those of the list so far."""

    def __init__(
        self, rows: TrainingRows, settings: Settings, kept: Sequence[Rule] | None = None
    ) -> None:
        self.rows, self.settings = rows, settings
        self.n_labels = rows.schema.n_labels
        self.rejected = np.zeros(self.n_labels, dtype=np.int8)
        self.started = learning_clock()
        self.n_found = 0
        self.ended_early = False
        self.stopped: str | None = None
        self.lost: Exception | None = None
        self.fallback: list[Rule] = []
        self.rules = rows.replay(self._checked(list(kept))) if kept else []
        self.finder = RuleFinder(rows, settings)
        self.prune = self._pruner()

    def _checked(self, kept: list[Rule]) -> list[Rule]:
        if self.board.prepends and any(rule.body.on_labels for rule in kept):
            raise ValueError(
                "rules that test labels cannot be kept with order='prepend': new rules in front "
                "would change what they read; use order='append'"
            )
        return kept

    @property
    def board(self) -> LabelCounts:
        """What is known, open and written."""
        return self.rows.board

    @property
    def failure(self) -> Exception | None:
        """What is to be raised once the rules so far are kept, if the rows were lost."""
        if self.lost is None or is_nested_fit():  # what is kept is for whoever learns from it
            return self.lost
        return lost_rows(self.lost, len(self.rules))

    def _pruner(self) -> Pruner | None:
        settings, rows = self.settings, self.rows
        if settings.pruning == "mdl":
            n_values = rows.n_values if settings.allowed.has_sets else None
            n_possible = rows.n_conditions + self.n_labels
            pruner = DescriptionLength(rows.board, n_possible, self.n_labels, n_values)
            self.finder.growth = replace(self.finder.growth, describe=pruner.describe)
            return pruner
        if settings.pruning == "irep":
            rows.hold_out(settings.prune_share, settings.seed)
            return HeldOut()
        return Significance() if settings.pruning == "significance" else None

    def go_on(self, listener: Listener) -> None:
        """Learn rules until nothing is left to do; the chapter's algorithm."""
        try:
            self._cover(listener)
        except KeyboardInterrupt:
            if is_nested_fit():
                raise
            self._end("it was interrupted")
            # A rule may have been half written: only the rules of the list shall count.
            self.rules = self.rows.replay(self.rules)
        except (ClusterError, DeviceError) as lost:
            what = "cluster was lost" if isinstance(lost, ClusterError) else "GPU failed"
            self.ended_early, self.stopped = True, f"the {what}"
            self.lost = lost
            self.rules = self.rows.replay(self.rules)
        finally:
            self.finder.close()
            self.rows.close()

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
        given_up, growth = self.finder.given_up, self.finder.growth
        self.rejected |= given_up
        self.finder.close()
        self.finder = RuleFinder(self.rows, settings, given_up, growth)

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

    def _is_worth_adding(self, grown: Grown) -> bool:
        """Whether a rule in front of others gets more cells right than wrong; others always do."""
        if not self.board.prepends:
            return True
        right, wrong = self.rows.prefixes(grown).count(len(grown.body))
        return right > wrong

    def _pruned(self, grown: Grown) -> Grown | None:
        """The rule without the conditions that are not warranted; None if the rule is not."""
        if self.prune is None:
            return grown
        prefixes = self.rows.prefixes(grown)
        kept = self.prune(grown, prefixes)
        return None if kept is None else prefixes.shortened(kept)

    def _add(self, grown: Grown) -> Rule:
        """Write the rule, and put it on the list."""
        rule = self.rows.write(grown, self.finder.search)
        self.rules.insert(0 if self.board.prepends else len(self.rules), rule)
        return rule

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
        resort = LastResort(self.rows.wait(), settings, settings.last_resort)
        return resort.rules(self._is_late)

    def _wants_default(self, default: Head) -> bool:
        """Whether the list ends with a default rule; absence of all labels is understood."""
        wanted, rules = self.settings.default_rule, self.rules
        if wanted is None:
            wanted = self.settings.polarity == "rarer" and 1 in default.values
        return wanted and not (rules and _is_default(rules[-1]))

    def finished(self) -> DecisionList | LayeredTheory:
        """The list with its default rule, rules for rows without a label, and all evidence."""
        rules, default = list(self.rules), self.board.default()
        if self._wants_default(default):
            rules.append(self.rows.write_default(default))
        theory: DecisionList | LayeredTheory = DecisionList(self.rows.schema, rules)
        if self.fallback:
            fallback = DecisionList(self.rows.schema, self.fallback)
            theory = LayeredTheory(self.rows.schema, [theory], fallback=fallback)
        return self.rows.settled(theory)


def _n_right(rule: Rule) -> int:
    """The cells that a rule has written rightly."""
    return sum([one.right for one in rule.evidence or () if one is not None])


def _is_default(rule: Rule) -> bool:
    """Whether no cell is left to a default rule."""
    return not rule.body.conditions and (rule.head.is_complete or rule.stops)
