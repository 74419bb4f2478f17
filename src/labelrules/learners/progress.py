"""News from a learner at work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from labelrules.rules import Rule


@dataclass(frozen=True)
class Progress:
    """What a learner has done so far.

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


Listener: TypeAlias = Callable[[Progress], object]


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
        TextColumn("{task.fields[n_rules]} rules"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% of cells written, last rule {task.fields[value]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns) as bar:
        task = bar.add_task("learning", n_rules=0, value="-")

        def show(news: Progress) -> None:
            bar.update(
                task,
                total=news.n_cells,
                completed=news.n_cells - news.n_open,
                n_rules=news.n_rules,
                value=f"{news.value:.3f}",
            )

        yield show
