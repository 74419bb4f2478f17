"""``labelrules demo``: the chapter's readers, their rules, and one explanation."""

from argparse import Namespace
from typing import TYPE_CHECKING, NoReturn

from labelrules.cli.errors import OK
from labelrules.cli.parser import Parser

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from labelrules.data import Dataset
    from labelrules.rules import DecisionList

SUMMARY = "Learn the chapter's rules for its magazine readers, and show why one gets her labels."
EXAMPLES = "labelrules demo"


def add_arguments(parser: Parser) -> None:
    """It takes nothing."""


def run(options: Namespace) -> int:
    """Learn and show."""
    from labelrules.data import load
    from labelrules.inspection import trace
    from labelrules.learners import SeparateAndConquer
    from labelrules.rules import rule_text

    console = _console()
    readers = load("magazines")
    with console.status("learning (the first time ever, the search is compiled)"):
        learner = SeparateAndConquer(
            heads="multi", measure="precision", counting="chapter", polarity="both",
            fixed_head=False, min_coverage=1, stop_share=0.01, pruning=None, last_resort=None,
        )  # fmt: skip
        theory = learner.fit(readers).theory_
    console.print(_data_table(readers, theory))
    console.print(
        "\nThe decision list that was learned, with the settings of the chapter; in brackets: "
        "cells written right / wrong on these readers\n",
        soft_wrap=True,
    )
    for number, rule in enumerate(theory, 1):
        console.print(
            f"{number:>3}  {rule_text(rule, readers.schema, evidence=True)}", markup=False
        )
    wrong = int((theory.predict(readers) != readers.Y).sum())
    console.print(f"\nIt gets {readers.Y.size - wrong} of {readers.Y.size} labels right.")
    console.print("\nWhy reader 4 gets her labels\n")
    console.print(str(trace(theory, readers, 3)), markup=False, soft_wrap=True)
    return OK


def _console() -> "Console":
    """A console that leaves it to the front door what the shell is told of a broken pipe."""
    from rich.console import Console

    class Passing(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return Passing(highlight=False)


def _data_table(data: "Dataset", theory: "DecisionList") -> "Table":
    """The rows with their labels and, beside them, what the theory predicts."""
    from rich import box
    from rich.table import Table

    from labelrules.data import Dataset

    table = Table(
        box=box.SIMPLE,
        pad_edge=False,
        title="Magazine readers: features, labels, and the labels the rules predict",
    )
    for name in ("no", *data.schema.feature_names, "subscribed", "predicted"):
        table.add_column(name)
    predicted = Dataset(data.schema, data.X, theory.predict(data)).label_sets()
    for row, (true, said) in enumerate(zip(data.label_sets(), predicted, strict=True)):
        values = [
            (feature.categories or ())[int(data.column(j)[row])]
            for j, feature in enumerate(data.schema.features)
        ]
        table.add_row(str(row + 1), *values, ", ".join(true) or "-", ", ".join(said) or "-")
    return table
