"""The history of an edit, a tree of steps, and the session that all its editors share."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import UNSET, Meta, UnsetType

from labelrules._checks import counted, quoted, suggestion
from labelrules._types import Board
from labelrules.data import Dataset
from labelrules.data.document import Count, FrozenRecord, read_document
from labelrules.data.fingerprints import fingerprint
from labelrules.learners import SeparateAndConquer
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import About, library_version
from labelrules.learners.base.tallies import outcome_counts
from labelrules.learners.base.theory_classifier import Background, TheoryClassifier
from labelrules.measures import Evaluation
from labelrules.measures.evaluation import evaluation_of_counts
from labelrules.rules import (
    DecisionList,
    Evidence,
    LayeredTheory,
    Rule,
    RuleSet,
    Theory,
    labels_without_rules,
    theory_of,
)
from labelrules.rules.rule_table import table_of
from labelrules.rules.theory import closed
from labelrules.storage import to_json
from labelrules.studio.edited_rules import EditedRules
from labelrules.studio.edits import Step

MAIN = "main"
"""The branch on which every edit begins."""


Time: TypeAlias = Annotated[datetime, Meta(tz=True)]
if TYPE_CHECKING:
    Order: TypeAlias = int
else:
    Order = int | UnsetType
"""A number that follows from the place in a list: files leave it out."""


class HistoryStep(FrozenRecord, frozen=True, kw_only=True):
    """A step of the history; step 0 is the theory as it was at first.

    Attributes
    ----------
    number : int
    parent : int or None
        The step before.
    author : str or None
    time : datetime
        In UTC, to the second.
    step : Step or None
        The edit; None for step 0.
    """

    number: Order = UNSET  # type: ignore[assignment]
    parent: Count | None
    author: str | None
    time: Time
    step: Step | None

    def __str__(self) -> str:
        return "the theory as it was" if self.step is None else str(self.step)


class Version(FrozenRecord, frozen=True):
    """A state of the rules that somebody has named.

    Attributes
    ----------
    name : str
    step : int
        The step after which the rules are this version.
    branch : str
        The branch on which it was named.
    reason : str
    author : str or None
    time : datetime
        In UTC, to the second.
    measures : dict of str to dict
        The measures on the ``"training"`` rows, and on the ``"validation"`` rows if there are any.
    """

    name: str
    step: Count
    branch: str
    reason: str
    author: str | None
    time: Time
    measures: dict[str, Evaluation]


class Opening(FrozenRecord, frozen=True, kw_only=True):
    """A look at the test part.

    Attributes
    ----------
    number : int
        How many there have been, this one included.
    reason : str
    author : str or None
    time : datetime
    step : int
        The step of the history whose rules were measured.
    measures : dict of str to float
    """

    number: Order = UNSET  # type: ignore[assignment]
    reason: str
    author: str | None
    time: Time
    step: Count
    measures: Evaluation


class Position(FrozenRecord, frozen=True):
    """Where a branch is, and the steps that were undone there, the last one first."""

    step: Count
    undone: tuple[Count, ...] = ()


@dataclass(frozen=True, eq=False)
class EditHistory:
    """All steps with their branches and versions; a value, which grows by making another one."""

    steps: tuple[HistoryStep, ...]
    rules: tuple[EditedRules, ...]
    """The rules after each step."""
    positions: Mapping[str, Position] = field(
        default_factory=lambda: MappingProxyType({MAIN: Position(0)})
    )
    branch: str = MAIN
    versions: tuple[Version, ...] = ()

    @classmethod
    def of(cls, rules: EditedRules, author: str | None, time: datetime) -> "EditHistory":
        """The history of rules that nobody has edited yet."""
        start = HistoryStep(number=0, parent=None, author=author, time=time, step=None)
        return cls((start,), (rules,))

    @property
    def present(self) -> EditedRules:
        """The rules as they are now."""
        return self.rules[self.position.step]

    @property
    def position(self) -> Position:
        """Where the present branch is."""
        return self.positions[self.branch]

    @property
    def now(self) -> HistoryStep:
        """The step after which the rules are as they are now."""
        return self.steps[self.position.step]

    def path(self) -> Iterator[HistoryStep]:
        """The steps from the first to the present one, without step 0."""
        found, at = [], self.now
        while at.parent is not None:
            found.append(at)
            at = self.steps[at.parent]
        return reversed(found)

    def described(self) -> str | None:
        """Describe the edits: how many, by whom, which version; None if there are none."""
        steps = list(self.path())
        if not steps:
            return None
        authors = dict.fromkeys(one.author for one in steps if one.author)
        by = f" by {', '.join(authors)}" if authors else ""
        return f"in {counted(len(steps), 'step')}{by}; {self._version_words()}"

    def _version_words(self) -> str:
        """The last version on the way here, and how many steps came after it."""
        numbers = [0, *(one.number for one in self.path())]
        on_path = [one for one in self.versions if one.step in numbers]
        if not on_path:
            return "no version was named"
        last = max(on_path, key=lambda one: numbers.index(one.step))
        last = next(one for one in reversed(on_path) if one.step == last.step)
        n_after = len(numbers) - 1 - numbers.index(last.step)
        after = f", and {counted(n_after, 'step')} after it" if n_after else ""
        return f"version {quoted(last.name)} ({last.reason}){after}"

    def grown(self, step: Step, author: str | None, time: datetime | None = None) -> "EditHistory":
        """Add a step after the present one; what was undone can no longer be redone."""
        number, parent = len(self.steps), self.position.step
        rules = (*self.rules, step.apply(self.present, number))
        new = HistoryStep(
            number=number, parent=parent, author=author, time=time or now(), step=step
        )
        return replace(self, steps=(*self.steps, new), rules=rules).at(Position(number))

    def at(self, position: Position) -> "EditHistory":
        """Move the present branch."""
        positions = MappingProxyType({**self.positions, self.branch: position})
        return replace(self, positions=positions)

    def undone(self) -> "EditHistory":
        """The present branch, one step back."""
        position, before = self.position, self.now.parent
        if before is None:
            raise ValueError("there is nothing to undo: the theory is as it was at first")
        return self.at(Position(before, (position.step, *position.undone)))

    def redone(self) -> "EditHistory":
        """The present branch, with the step that was undone last."""
        if not self.position.undone:
            raise ValueError("there is nothing to redo: no step was undone since the last edit")
        step, *rest = self.position.undone
        return self.at(Position(step, tuple(rest)))

    def branched(self, name: str) -> "EditHistory":
        """A new branch that begins at the present step."""
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"a branch needs a name, not {name!r}")
        if name in self.positions:
            raise ValueError(f"there is a branch {quoted(name)} already: switch to it")
        grown = MappingProxyType({**self.positions, name: Position(self.position.step)})
        return replace(self, positions=grown, branch=name)

    def switched(self, name: str) -> "EditHistory":
        """Make another branch the present one."""
        if name not in self.positions:
            near = suggestion(str(name), self.positions)
            raise ValueError(f"there is no branch {quoted(name)}{near}")
        return replace(self, branch=name)

    def version(self, name: str) -> Version:
        """The version with a name."""
        for one in self.versions:
            if one.name == name:
                return one
        near = suggestion(str(name), [one.name for one in self.versions])
        raise ValueError(f"there is no version {quoted(name)}{near}")


def now() -> datetime:
    """The present time, to the second."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(frozen=True, eq=False)
class Outcome:
    """The labels that a theory predicts for some rows, and the truth."""

    truth: Board
    predicted: Board

    @classmethod
    def of(cls, theory: Theory, data: Dataset) -> "Outcome":
        """Apply a theory to the rows of a data set."""
        return cls(data.Y, closed(cls.written(theory, data)))

    @staticmethod
    def written(theory: Theory, data: Dataset) -> Board:
        """The board that a theory writes."""
        runner = theory if isinstance(theory, LayeredTheory) else table_of(theory)
        return runner.apply(data)

    @cached_property
    def measures(self) -> Evaluation | None:
        """The usual measures; None if no row has a known label."""
        if not (self.truth >= 0).any():
            return None
        return evaluation_of_counts(outcome_counts(self.truth, self.predicted))

    def of_rows(self, rows: npt.NDArray[np.bool_]) -> "Outcome":
        """Take some of the rows."""
        return Outcome(self.truth[rows], self.predicted[rows])


def with_evidence(theory: Theory, data: Dataset) -> Theory:
    """The theory with evidence counted on these rows.

    Rules that vote have it from the rows that they cover, if they lack it; other rules from the
    cells that they write.
    """
    if isinstance(theory, LayeredTheory):
        return theory.with_evidence(data, data.Y)
    if isinstance(theory, DecisionList):
        return theory.with_counts(table_of(theory).run(data), data.Y, data.weights)
    if isinstance(theory, RuleSet):
        counted = theory.with_rules(_voting(rule, data) for rule in theory)
        return counted.numbered(theory.numbers)
    raise TypeError(f"a {type(theory).__name__} has no evidence")


def _voting(rule: Rule, data: Dataset) -> Rule:
    if rule.is_counted:
        return rule
    covered = rule.body.covers(data.X, data.empty_board())
    return rule.with_evidence(
        Evidence.of_cells(covered, value, data.Y[:, label]) for label, value in rule.head
    )


BY_HAND = "the rules were edited by hand"
"""Why a label has no rule, where its learner does not say."""

KEPT = 6
"""Results that are kept for each part of the data: the states that previews compare, and some."""


class EditSession:
    """A model or theory, the rows that its rules are edited with, and results that are kept.

    The test part is used by `open_test` only, and every use is noted, whichever editor asks.
    """

    def __init__(self, original: Any, parts: dict[str, Dataset], test: Dataset | None) -> None:
        self.original, self.parts, self._test = original, parts, test
        self.frame: Theory = theory_of(original)
        self.openings: tuple[Opening, ...] = ()
        self.left_out: dict[str, str] = {}
        """The fingerprints of parts that a file of edits knows, but that were not given again."""
        self._results: OrderedDict[tuple[int, str], tuple[Theory, Any]] = OrderedDict()
        self._lock = Lock()

    @property
    def model(self) -> TableClassifier | None:
        """The fitted learner that is edited; None if it is a theory."""
        return None if isinstance(self.original, Theory) else self.original

    @property
    def training(self) -> Dataset:
        """The training rows."""
        return self.parts["training"]

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of each part of the data, the test part included."""
        parts = self.parts if self._test is None else {**self.parts, "test": self._test}
        return {name: fingerprint(data) for name, data in parts.items()}

    @cached_property
    def original_document(self) -> dict[str, Any]:
        """The model or theory as the values of a JSON document."""
        document: dict[str, Any] = read_document(to_json(self.original))
        return document

    @property
    def test(self) -> Dataset | None:
        """The test part, for files and fingerprints only."""
        return self._test

    def outcome(self, rules: EditedRules, part: str) -> Outcome:
        """Apply rules to a part of the data; the last results are kept."""
        make = partial(Outcome.of, rules.theory, self.parts[part])
        found: Outcome = self._kept(rules.theory, part, make)
        return found

    def counted(self, rules: EditedRules) -> Theory:
        """The theory of these rules with evidence from the training rows."""
        make = partial(with_evidence, rules.theory, self.training)
        found: Theory = self._kept(rules.theory, "evidence", make)
        return found

    def _kept(self, theory: Theory, what: str, make: Callable[[], Any]) -> Any:
        """Make a result, or take the kept one; threads may make it twice, but lose nothing.

        The theory is kept with it, so that no other one can have its identity meanwhile.
        """
        key = (id(theory), what)
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key][1]
        found = make()
        with self._lock:
            self._results[key] = theory, found
            if len(self._results) > KEPT * (len(self.parts) + 1):
                self._results.popitem(last=False)
        return found

    def about_of(self, edited: str | None) -> About | None:
        """The record of the model, with the edits of its rules."""
        known: About | None = getattr(self.original, "about_", None)
        if edited is None:
            return known
        return replace(known or About(version=library_version()), edited=edited)

    def model_of(self, theory: Theory, about: About | None) -> Any:
        """The fitted learner with a theory that has evidence; of a theory, that theory.

        Its rules are counted from 1, as in its file, which has no rule that is disabled.
        """
        theory = theory.numbered(None)
        if isinstance(self.original, Theory):
            return theory
        data, model = self.training, copy(self.original)
        model.theory_ = theory
        if about is not None:
            model.about_ = about
        if isinstance(model, TheoryClassifier):
            board = Outcome.written(theory, data)
            model.background_ = Background.count(board, data.Y, data.weights)
        if isinstance(model, SeparateAndConquer):
            model.n_learned_ = _n_learned(theory, self.frame, self.original.n_learned_)
        reasons, without = self.original.why_without_rules_, labels_without_rules(theory)
        if reasons or self.original.labels_without_rules_ != without:
            model.why_without_rules_ = {name: reasons.get(name, BY_HAND) for name in without}
        return model

    def measures(self, rules: EditedRules) -> dict[str, Evaluation]:
        """The measures on every part whose labels are known."""
        found = {part: self.outcome(rules, part).measures for part in self.parts}
        return {part: values for part, values in found.items() if values is not None}

    def open_test(
        self,
        rules: EditedRules,
        step: int,
        reason: str,
        author: str | None,
        write: Callable[[], object],
    ) -> Opening:
        """Measure rules on the test part, and note it; `write` writes all openings."""
        if self._test is None:
            raise ValueError("there is no test part: give one by edit(..., test=...)")
        measures = Outcome.of(rules.theory, self._test).measures
        if measures is None:
            raise ValueError("no label of the test part is known: there is nothing to measure")
        with self._lock:
            before = self.openings
            opening = Opening(
                number=len(before) + 1, reason=reason, author=author, time=now(), step=step,
                measures=measures,
            )  # fmt: skip
            self.openings = (*before, opening)
            try:
                write()
            except BaseException:
                self.openings = before
                raise
        return opening


def _n_learned(theory: Theory, first: Theory, n_first: int) -> int:
    """Count the rules of a list without its default rule, as it was counted at first."""
    rules, old = (
        one.layers[0].rules if isinstance(one, LayeredTheory) else one.rules
        for one in (theory, first)
    )
    if not rules or rules[-1].body:
        return len(rules)
    was_learned = n_first == len(old) > 0 and rules[-1] == old[-1]
    return len(rules) if was_learned else len(rules) - 1
