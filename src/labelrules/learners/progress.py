"""News from a learner at work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from labelrules._checks import counted
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


def check_progress(wanted: Any) -> None:
    """Refuse what is neither true nor false nor a function."""
    if not (callable(wanted) or isinstance(wanted, bool | np.bool_)):
        raise ValueError(f"progress must be True, False or a function, not {wanted!r}")


@contextmanager
def told(wanted: "bool | Listener") -> Iterator[Listener]:
    """Whom to tell: nobody, the function given, or a bar in the terminal or notebook."""
    check_progress(wanted)
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
