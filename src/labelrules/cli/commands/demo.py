"""``labelrules demo``: the chapter's readers, their rules, and one explanation."""

from typing import TYPE_CHECKING, NoReturn

import click

from labelrules.cli.commands import Command

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from labelrules.data import Dataset
    from labelrules.rules import DecisionList


@click.command("demo", cls=Command, examples="labelrules demo")
def command() -> None:
    """Learn and show."""
    from labelrules.data import load
    from labelrules.inspection import trace
    from labelrules.learners import SeparateAndConquer
    from labelrules.rules import rule_text

    console = _console()
    readers = load("magazines")
    with console.status("learning (the first run compiles)"):
        learner = SeparateAndConquer(
            heads="multi", measure="precision", counting="chapter", polarity="both",
            fixed_head=False, min_coverage=1, stop_share=0.01, pruning=None, last_resort=None,
        )  # fmt: skip
        theory = learner.fit(readers).theory_
    console.print(_data_table(readers, theory))
    console.print(
        "\nThe decision list, learned with the settings of the chapter; in brackets: right / wrong "
        "predictions for these readers\n",
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


def _console() -> "Console":
    """A console that leaves a broken pipe to `main`, which sets the exit status."""
    from rich.console import Console

    class PassingConsole(Console):
        def on_broken_pipe(self) -> NoReturn:
            raise BrokenPipeError

    return PassingConsole(highlight=False)


def _data_table(data: "Dataset", theory: "DecisionList") -> "Table":
    """The rows with their labels and the predicted labels."""
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
    for row, (true, labels) in enumerate(zip(data.label_sets(), predicted, strict=True)):
        values = [
            (feature.categories or ())[int(data.column(j)[row])]
            for j, feature in enumerate(data.schema.features)
        ]
        table.add_row(str(row + 1), *values, ", ".join(true) or "-", ", ".join(labels) or "-")
    return table
