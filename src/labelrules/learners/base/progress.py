"""News from a learner at work."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from labelrules._checks import counted, quoted, suggestion
from labelrules.rules import Rule


@dataclass(frozen=True)
class Progress:
    """What a learner of a list has done so far.

    Attributes
    ----------
    n_rules : int
        Rules in the list.
    n_open : int
        Cells of the training rows that no rule has written yet.
    n_cells : int
        All cells.
    value : float
        What the last rule was worth by the measure, before it was pruned.
    rule : Rule
        The last rule.
    """

    n_rules: int
    n_open: int
    n_cells: int
    value: float
    rule: Rule

    @property
    def share(self) -> float:
        """How much of the work is done, from 0 to 1."""
        return 1 - self.n_open / self.n_cells

    def __str__(self) -> str:
        return f"{counted(self.n_rules, 'rule')}, last one {self.value:.3f}"


@dataclass(frozen=True)
class LabelProgress:
    """What a learner of one model for each label has done so far.

    Attributes
    ----------
    n_done, n_labels : int
        Labels that are finished, and all of them, in this phase.
    label : str
        The label that was finished last.
    phase : str
        What they are learned for, such as "layer 2".
    """

    n_done: int
    n_labels: int
    label: str
    phase: str

    @property
    def share(self) -> float:
        """How much of this phase is done, from 0 to 1."""
        return self.n_done / self.n_labels

    def __str__(self) -> str:
        return f"{self.phase}: {self.n_done} of {self.n_labels} labels, last one {self.label}"


News: TypeAlias = Progress | LabelProgress
Listener: TypeAlias = Callable[[Any], object]


@contextmanager
def told(wanted: "bool | Listener") -> Iterator[Listener]:
    """Whom to tell: nobody, the function given, or a bar in the terminal or notebook."""
    if not (callable(wanted) or isinstance(wanted, bool | np.bool_)):
        raise ValueError(f"progress must be True, False or a function, not {wanted!r}")
    if callable(wanted):
        yield wanted
    elif wanted:
        with _bar() as listener:
            yield listener
    else:
        yield lambda news: None


@contextmanager
def _bar() -> Iterator[Listener]:
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.description}", markup=False),
        TimeElapsedColumn(),
    )
    with Bar(*columns) as bar:
        task = bar.add_task("learning", total=1.0)

        def show(news: News) -> None:
            bar.update(task, completed=news.share, description=str(news))

        yield show


# -------------------- Ctrl-C: what was learned so far is kept

_passed_on = ContextVar("interrupts are passed on", default=False)


class LearningInterrupted(UserWarning):
    """Learning ended before it was finished; what was learned so far is kept."""


@contextmanager
def passed_on() -> Iterator[None]:
    """Let learners inside this block not deal with Ctrl-C, because the learner around them does.

    Otherwise each of many learners, one after the other, would have to be interrupted.
    """
    token = _passed_on.set(True)
    try:
        yield
    finally:
        _passed_on.reset(token)


def are_passed_on() -> bool:
    """Whether a learner around this one deals with Ctrl-C."""
    return _passed_on.get()


def warn_of_early_end(reason: str, kept: str) -> None:
    """Tell the caller of this package why learning ended early, and what is kept."""
    warnings.warn(
        f"learning ended early because {reason}; {kept}",
        LearningInterrupted,
        stacklevel=_levels_to_caller(),
    )


def rules_so_far(number: int, has_default: bool = True) -> str:
    """What is kept of a list, to which a default rule may be added.

    >>> rules_so_far(1), rules_so_far(2)
    ('the rule learned so far is kept', 'the 2 rules learned so far are kept')
    >>> rules_so_far(0)
    'no rule was learned yet, so only the default rule is kept'
    """
    if number == 0:
        kept = "only the default rule is" if has_default else "none is"
        return f"no rule was learned yet, so {kept} kept"
    if number == 1:
        return "the rule learned so far is kept"
    return f"the {number} rules learned so far are kept"


def _levels_to_caller() -> int:
    """How far up the stack the caller of this package is, as warnings count."""
    frame, level = sys._getframe(1), 1
    inside = ("labelrules.", "contextlib")  # which runs what `heard_interrupts` decorates
    while frame.f_back is not None and frame.f_globals["__name__"].startswith(inside):
        frame, level = frame.f_back, level + 1
    return level


# -------------------- Parameters of learners, checked one by one: the message names the parameter

Number = TypeVar("Number", int, float)


def seed(learner: Any) -> int:
    """A number from `random_state`; 0 if there is none."""
    if learner.random_state is None:
        return 0
    return int(check_random_state(learner.random_state).randint(2**31 - 1))


def word(learner: Any, name: str, known: tuple[str, ...]) -> str:
    """A parameter that must be one of these words."""
    value = getattr(learner, name)
    if not (isinstance(value, str) and value in known):
        words = " or ".join(map(repr, known))
        raise ValueError(
            f"{name} must be {words}, not {quoted(value)}{suggestion(str(value), known)}"
        )
    return value


def truth(learner: Any, name: str) -> bool:
    """A parameter that must be true or false."""
    value = getattr(learner, name)
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")
    return bool(value)


def whole(learner: Any, name: str, lowest: int) -> int | None:
    """A parameter that must be a whole number, or None."""
    value = getattr(learner, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < lowest:
        raise ValueError(f"{name} must be a whole number of at least {lowest}, not {value!r}")
    return int(value)


def number(learner: Any, name: str, highest: float = float("inf")) -> float | None:
    """A parameter that must be a number of at least 0, or None."""
    value = getattr(learner, name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= highest:
        upper = "" if highest == float("inf") else f" and at most {highest:g}"
        raise ValueError(f"{name} must be a number of at least 0{upper}, not {value!r}")
    return float(value)


def needed(number: Number | None, name: str) -> Number:
    """The number, which must not be None."""
    if number is None:
        raise ValueError(f"{name} must be a number, not None")
    return number
