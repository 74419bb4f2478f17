"""The table and the picture of the page on quality against size, from the data set emotions.

``python docs/frontier.py`` writes the table into the page, between the marks that name it, and
draws the picture. The data set is looked for in ``$LABELRULES_DATA``, or in ``shared/data`` beside
the project folder; `tests/test_docs_frontier.py` fails when the page says something else.
"""

from functools import cache

from written import DOCS, folder, write

from labelrules import frontier, load
from labelrules.lab import Frontier

PICTURE = DOCS / "_static" / "emotions-frontier.png"


@cache
def found() -> Frontier:
    """All learners in five folds of the training rows."""
    return frontier(load("emotions", folder(), part="train"))


def emotions() -> str:
    """The table."""
    return f"```text\n{found()}\n```"


def draw() -> None:
    """Draw the picture."""
    import matplotlib

    matplotlib.use("Agg")
    found().plot().figure.savefig(PICTURE, dpi=110)


PARTS = {"emotions": emotions}
"""From the mark to what belongs there."""


def main() -> None:
    """Write the table into the page, and draw the picture."""
    write("frontier.md", PARTS)
    draw()


if __name__ == "__main__":
    main()
