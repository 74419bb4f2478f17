"""The models of the page on reading, learned from flags, and what is printed of them.

``python docs/reading.py`` writes them into the page, between the marks that name them. With a
folder as its argument it also writes the HTML pages of which ``_static/flags-list.png`` and
``_static/flags-card.png`` are pictures. The data sets are looked for in ``$LABELRULES_DATA``, or in
``shared/data`` beside the project folder; `tests/test_docs_reading.py` fails when the page says
something else.
"""

import sys
from functools import cache
from pathlib import Path

from written import folder, write

from labelrules import Dataset, explain, load, theory_text
from labelrules.learners import Scorecard, SeparateAndConquer
from labelrules.rules import theory_html, theory_table, theory_view

WIDTH = 100
"""Where lines are wrapped."""
ROW = 14
"""The row of the test part that is explained."""


@cache
def rows(part: str) -> Dataset:
    """A part of flags."""
    return load("flags", folder(), part=part)


@cache
def model(kind: str) -> SeparateAndConquer | Scorecard:
    """A list or a scorecard, learned from the training part."""
    learner = SeparateAndConquer() if kind == "list" else Scorecard()
    return learner.fit(rows("train"))


def rules(kind: str) -> str:
    """A model as text that `parse` reads."""
    return _box(theory_text(model(kind), evidence=kind == "list"))


def by_label() -> str:
    """The list, label by label."""
    return _box(theory_view(model("list"), order="label", width=WIDTH))


def points() -> str:
    """The scorecard as a table."""
    return _box(theory_table(model("card"), width=WIDTH))


def explained(kind: str) -> str:
    """Why a row of the test part gets its labels."""
    found = explain(model(kind), rows("test"), ROW, counterfactuals="given").text(width=WIDTH)
    return _box("\n".join(found.splitlines()[:-1]))  # the last line is for Python


def page(kind: str) -> str:
    """A model as a page for a browser."""
    title = {"list": "A decision list for flags", "card": "A scorecard for flags"}[kind]
    return theory_html(model(kind), page=True, title=title)


def sizes() -> str:
    """The size of both models."""
    named = (("list", "The list"), ("card", "The scorecard"))
    found = [f"{name} has {model(kind).theory_.size_text}." for kind, name in named]
    return " ".join(found)


def _box(text: str) -> str:
    return f"```text\n{text}\n```"


PARTS = {
    "list": lambda: rules("list"),
    "by label": by_label,
    "card": lambda: rules("card"),
    "table": points,
    "list explained": lambda: explained("list"),
    "card explained": lambda: explained("card"),
    "sizes": sizes,
}
"""From the mark to what belongs there."""


def main() -> None:
    """Write every part into the page, and the HTML of both models into a folder."""
    write("reading.md", PARTS)
    for target in sys.argv[1:2]:
        for kind in ("list", "card"):
            Path(target, f"flags-{kind}.html").write_text(page(kind), "utf-8")


if __name__ == "__main__":
    main()
