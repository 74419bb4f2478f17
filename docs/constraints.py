"""The tables and lists of the page on constraints, computed from the data sets.

``python docs/constraints.py`` writes them into the page, between the marks that name them, and
draws the picture. The data sets are in ``$LABELRULES_DATA``, or in ``shared/data`` beside the
project folder; `tests/test_docs_constraints.py` fails when the page differs.
"""

from functools import cache

import numpy as np
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier
from written import DOCS, folder, table, write

from labelrules import Dataset, load
from labelrules.constraints import Constraints, find_constraints, repair, violations
from labelrules.inspection import plot_constraints
from labelrules.learners import ConstrainedClassifier
from labelrules.measures import Measure

SETS = ("yeast", "enron", "medical", "genbase")
PICTURE = DOCS / "_static" / "enron-constraints.png"
NOISE = 0.1
"""The share of labels that are made wrong."""


@cache
def rows(name: str, part: str | None = None) -> Dataset:
    """A part of a data set, or all of it."""
    return load(name, folder(), part=part)


@cache
def found(name: str, **options: float) -> Constraints:
    """Constraints of all rows of a data set."""
    return find_constraints(rows(name), **options)


def counts() -> str:
    """How many constraints each data set has, and how many are significant."""
    lines = []
    for name in SETS:
        every, sure, larger = (
            found(name),
            found(name, alpha=0.05),
            found(name, alpha=0.05, max_conditions=2),
        )
        lines.append(
            [
                name,
                *(str(number) for number in rows(name).Y.shape),
                str(len(every.of_kind("subset"))),
                str(len(sure.of_kind("subset"))),
                str(len(every.of_kind("exclusion"))),
                str(len(sure.of_kind("exclusion"))),
                str(len(sure.groups)),
                str(sum(len(one.body) > 1 for one in larger)),
            ]
        )
    return table(
        "set, rows, labels, subset, significant, exclusion, significant, groups of these, "
        "significant with two labels in the body",
        lines,
    )


def rules(name: str) -> str:
    """The significant constraints with up to two labels in the body."""
    lines = [str(one) for one in found(name, alpha=0.05, max_conditions=2)]
    return "```text\n" + "\n".join(lines) + "\n```"


def topics() -> str:
    """What is below company business in enron, with up to a tenth of exceptions."""
    links = found("enron", tolerance=0.1, alpha=0.05).graph().subsets
    lines = [str(link.constraint) for link in links if link.above == ("A.A1",)]
    return "```text\n" + "\n".join(lines) + "\n```"


def noisy() -> str:
    """Labels made wrong on purpose, and repaired."""
    lines = []
    for name in SETS:
        data = rows(name, "test")
        constraints = find_constraints(rows(name, "train"), alpha=0.05)
        random = np.random.default_rng(0)
        wrong = data.Y ^ (random.random(data.Y.shape) < NOISE)
        sure = np.where(wrong == data.Y, random.uniform(0.6, 1, wrong.shape), 0.6)
        presence = np.where(wrong == 1, sure, 1 - sure)
        by_labels = repair(wrong, constraints)
        by_odds = repair(wrong, constraints, probabilities=presence)
        lines.append(
            [
                name,
                str(len(constraints)),
                str(len({violation.row for violation in violations(wrong, constraints)})),
                str(int(by_labels.changed.sum())),
                str(len(violations(by_labels.after, constraints))),
                *(f"{(Y == data.Y).mean():.3f}" for Y in (wrong, by_labels.after, by_odds.after)),
            ]
        )
    return table(
        "set, constraints, rows with violations, labels changed, violations left, right before, "
        "right after, right after by probabilities",
        lines,
    )


def qualities() -> str:
    """A decision tree for each label, with and without constraints."""
    f1 = Measure.parse("f1/micro/full")
    base = MultiOutputClassifier(DecisionTreeClassifier(min_samples_leaf=2, random_state=0))
    lines = []
    for name in SETS:
        train, test = rows(name, "train"), rows(name, "test")
        for tolerance in (0.0, 0.1):
            model = ConstrainedClassifier(base, tolerance=tolerance).fit(train)
            done = model.repairs(test)
            both = (done.before, done.after)
            values = [f1.of_predictions(test.Y, Y) for Y in both]
            values += [(test.Y == Y).all(axis=1).mean() for Y in both]
            counted = [len(model.constraints_), len(done.rows), int(done.changed.sum())]
            numbers = [*map(str, counted), *(f"{value:.3f}" for value in values)]
            lines.append([name, str(tolerance), *numbers])
    return table(
        "set, tolerance, constraints, rows changed, labels changed, micro F1 before, after, "
        "subset accuracy before, after",
        lines,
    )


def draw() -> None:
    """The picture of enron."""
    import matplotlib

    matplotlib.use("Agg")
    ax = plot_constraints(found("enron", tolerance=0.1, alpha=0.05).graph())
    ax.figure.savefig(PICTURE, dpi=100)


PARTS = {
    "counts": counts,
    "rules of yeast": lambda: rules("yeast"),
    "rules of enron": lambda: rules("enron"),
    "rules of medical": lambda: rules("medical"),
    "rules of genbase": lambda: rules("genbase"),
    "topics": topics,
    "noisy": noisy,
    "qualities": qualities,
}
"""From the mark to what belongs there."""


def main() -> None:
    """Write every part into the page, and draw the picture."""
    write("constraints.md", PARTS)
    draw()


if __name__ == "__main__":
    main()
