"""``labelrules demo``: the chapter's readers and the clinic's patients, with their rules."""

from typing import TYPE_CHECKING

import click

from labelrules._report import aligned
from labelrules.cli.commands import Command
from labelrules.cli.io import shown_progress

if TYPE_CHECKING:
    from labelrules.data import Dataset
    from labelrules.rules import DecisionList

_PATIENT, _WIDTH = 22, 90
_BEGINNING = """\
Rules for rows that may have several labels: learned, read, and asked for reasons.
"a, not b <- c = d" means: if c is d, then label a is present, and b is absent. The first
rule to name a label decides it; * ends the list for a row; a body may test labels, too.
"""
_NEXT = """
With a table of your own, a column of 0 and 1 for each label:

  labelrules learn TABLE.csv --labels a,b,c -o model.json
  labelrules explain model.json TABLE.csv --row 0
  labelrules workbench TABLE.csv model.json --labels a,b,c

labelrules --help lists all commands.
"""


@click.command("demo", cls=Command, examples="labelrules demo")
def command() -> None:
    """Learn and show."""
    print(_BEGINNING)
    _show_readers()
    print()
    _show_clinic()
    print(_NEXT, end="")


def _show_readers() -> None:
    from labelrules.data import load
    from labelrules.inspection import trace
    from labelrules.learners import SeparateAndConquer
    from labelrules.rules.language.text import rule_texts

    readers = load("magazines")
    with shown_progress("learning"):
        learner = SeparateAndConquer(
            heads="multi", measure="precision", counting="chapter", polarity="both",
            fixed_head=False, min_coverage=1, stop_share=0.01, pruning=None, last_resort=None,
        )  # fmt: skip
        theory = learner.fit(readers).theory_
    wrong = int((theory.predict(readers) != readers.Y).sum())
    print("Magazine readers: features, labels, and the labels that the rules predict\n")
    print(_table(readers, theory))
    print("\nThe decision list, learned with the settings of the chapter; in brackets: right and")
    print("wrong predictions for these readers\n")
    for number, text in enumerate(rule_texts(theory, evidence=True), 1):
        print(f"{number:>3}  {text}")
    print(f"\nIt gets {readers.Y.size - wrong} of {readers.Y.size} labels right.")
    print("\nWhy reader 4 gets her labels\n")
    print(trace(theory, readers, 3))


def _show_clinic() -> None:
    from labelrules.data import load
    from labelrules.inspection import explain
    from labelrules.learners import SeparateAndConquer
    from labelrules.rules import clinic_truth, theory_view

    clinic = load("clinic")
    with shown_progress("learning"):
        learner = SeparateAndConquer().fit(clinic)
    print(f"A clinic: {clinic.n_rows:,} invented patients, whose diagnoses follow from")
    print(
        f"{len(clinic_truth())} rules, with errors and gaps; these rules were learned from them\n"
    )
    print(theory_view(learner, order="label", width=_WIDTH))
    print(f"\nWhy patient {_PATIENT} gets these diagnoses\n")
    explanation = explain(learner, clinic, _PATIENT - 1, counterfactuals="given")
    lines = explanation.text(width=_WIDTH).splitlines()
    print("\n".join(lines[2:-1]))  # without the number of the row, and a hint for Python


def _table(data: "Dataset", theory: "DecisionList") -> str:
    """The rows with their labels and the predicted labels."""
    from labelrules.data import Dataset

    predicted = Dataset(data.schema, data.X, theory.predict(data)).label_sets()
    rows = [("no", *data.schema.feature_names, "subscribed", "predicted")]
    for row, label_sets in enumerate(zip(data.label_sets(), predicted, strict=True)):
        values = [
            (feature.categories or ())[int(data.column(j)[row])]
            for j, feature in enumerate(data.schema.features)
        ]
        rows.append((str(row + 1), *values, *(", ".join(labels) or "-" for labels in label_sets)))
    return "\n".join(aligned(rows, left=range(len(rows[0]))))
