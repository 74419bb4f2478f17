"""The history of an edit: a tree of steps, branches in it, and named versions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from labelrules._checks import counted, quoted, suggestion
from labelrules.data.document import Count, FrozenRecord
from labelrules.measures import Evaluation
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
