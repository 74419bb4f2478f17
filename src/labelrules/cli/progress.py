"""News of a learner, on the stream for errors, so that results can be piped."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from labelrules.cli.messages import say

Listener = Callable[[Any], object]


@contextmanager
def shown_news(quiet: bool, verbose: bool) -> Iterator[Listener]:
    """Whom a learner tells: a bar in a terminal, a line for each piece of news, or nobody."""
    if verbose:
        yield lambda news: say(str(news), prefix="")
    elif quiet or not sys.stderr.isatty():
        yield lambda news: None
    else:
        with _bar("learning (compiling comes first, once)", 1.0) as listener:
            yield listener


@contextmanager
def shown_wait(what: str) -> Iterator[None]:
    """For work without news until it is done: in a terminal, what it is and how long it takes."""
    if sys.stderr.isatty():
        with _bar(what, None):
            yield
    else:
        yield


@contextmanager
def _bar(start: str, total: float | None) -> Iterator[Listener]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(),
        *([] if total is None else [TextColumn("{task.percentage:>3.0f}%")]),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(start, total=total)
        yield lambda news: bar.update(task, completed=news.share, description=str(news))
