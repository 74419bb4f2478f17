"""The tables of the page on the clinic: which of its rules were found, and how good models are.

``python docs/clinic.py`` writes them into the page, between the marks that name them;
`tests/test_docs_clinic.py` fails when the page says something else.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from written import table, write

from labelrules import DecisionList, Measure, Rule, load, rule_text
from labelrules.learners import BinaryRelevance, Ripper, Scorecard, SeparateAndConquer
from labelrules.rules import clinic_truth

FOUND, PARTLY = 0.9, 0.5
"""Shares of the patients that two rules must have in common."""
FOLDS = 5
LEARNERS = {
    "decision list": SeparateAndConquer(),
    "scorecard": Scorecard(),
    "RIPPER for each label": BinaryRelevance(Ripper()),
}


class Match(NamedTuple):
    """A rule, and the rule of the other list for the same label that is most like it."""

    rule: Rule
    other: Rule | None
    overlap: float
    n_rows: int

    @property
    def verdict(self) -> str:
        """Found, found in part, or missed."""
        if self.overlap >= FOUND:
            return "found"
        return "in part" if self.overlap >= PARTLY else "missed"


@cache
def learned() -> DecisionList:
    """The list that is learned with default settings."""
    return SeparateAndConquer().fit(load("clinic")).theory_


def covered(theory: DecisionList) -> list[np.ndarray]:
    """The patients whom each rule covers, whether or not an earlier one decides."""
    clinic = load("clinic")
    board = theory.apply(clinic)
    return [rule.body.covers(clinic.X, board) for rule in theory]


def matches(one: DecisionList, other: DecisionList) -> list[Match]:
    """For each rule of one list the rule of the other that is most like it."""
    others = list(zip(other, covered(other), strict=True))
    found = []
    for rule, rows in zip(one, covered(one), strict=True):
        shared = [
            ((rows & theirs).sum() / max((rows | theirs).sum(), 1), place)
            for place, (their, theirs) in enumerate(others)
            if their.head == rule.head
        ]
        overlap, place = max(shared, key=lambda pair: (pair[0], -pair[1]), default=(0.0, None))
        like = None if place is None or overlap < PARTLY else others[place][0]
        found.append(Match(rule, like, float(overlap), int(rows.sum())))
    return found


def fate() -> str:
    """What became of each true rule."""
    lines = [
        [
            f"`{_text(match.rule)}`",
            str(match.n_rows),
            f"`{_text(match.other)}`" if match.other else "",
            f"{match.overlap:.2f}" if match.other else "",
            match.verdict,
        ]
        for match in matches(clinic_truth(), learned())
    ]
    return table("true rule, patients, learned rule, overlap, verdict", lines)


def invented() -> str:
    """Learned rules that are like no true one."""
    lines = [
        f"- `{rule_text(match.rule, learned().schema, evidence=True)}`"
        for match in matches(learned(), clinic_truth())
        if match.verdict == "missed"
    ]
    return "\n".join(lines) or "None."


def quality() -> str:
    """How good models are for patients whom they have not seen."""
    clinic = load("clinic")
    truth = _figures(clinic_truth().predict(clinic))
    lines = [["the true rules", str(clinic_truth().n_literals), *truth]]
    for name, learner in LEARNERS.items():
        board = np.empty_like(clinic.Y)
        for fold in range(FOLDS):
            held_out = np.arange(clinic.n_rows) % FOLDS == fold
            model = learner.fit(clinic.take(~held_out))
            board[held_out] = model.predict(clinic.take(held_out))
        size = learner.fit(clinic).theory_.n_literals
        lines.append([name, str(size), *_figures(board)])
    return table("rules, literals, precision, recall, F1, subset accuracy", lines)


def _figures(board: np.ndarray) -> list[str]:
    measures = ("precision/micro/full", "recall/micro/full", "f1/micro/full", "subset/samples/full")
    Y = load("clinic").Y
    return [f"{Measure.parse(name).of_predictions(Y, board):.3f}" for name in measures]


def _text(rule: Rule) -> str:
    return rule_text(rule, learned().schema)


PARTS = {"fate": fate, "invented": invented, "quality": quality}
"""From the mark to what belongs there."""


if __name__ == "__main__":
    write("clinic.md", PARTS)
