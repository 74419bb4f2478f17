"""The same bodies with heads for another loss."""

from typing import Any

from labelrules._types import UNSET, Board
from labelrules.data.encode import encode, encode_labels
from labelrules.measures import Measure
from labelrules.rules import DecisionList, Rule
from labelrules.search.heads import MAX_NODES, best_head
from labelrules.search.lift import Lift, no_lift
from labelrules.search.problem import RuleConvention


def rehead(
    theory: DecisionList,
    X: Any,
    Y: Any,
    measure: Measure | str,
    *,
    convention: RuleConvention = "chapter",
    absence: bool = True,
    max_labels: int | None = None,
    lift: Lift = no_lift,
    max_nodes: int = MAX_NODES,
) -> DecisionList:
    r"""Choose the head of every rule anew, for a measure; bodies and stop marks stay.

    The rules are gone through in order on one board, as when the list is applied: a rule sees
    the labels that the new heads before it have written, and its head is chosen on the cells
    that are still open. A rule that has no open cell to write keeps its head.

    Parameters
    ----------
    theory : DecisionList
    X, Y : the data, as for `DecisionList.with_evidence`
    measure : Measure or str
    convention, absence, max_labels, lift, max_nodes
        As for :func:`labelrules.search.best_head`.

    Returns
    -------
    DecisionList
        With evidence counted on the cells that each rule writes.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("quality <- education = University\nquality <- true", readers.schema)
    >>> print(rehead(theory, readers, readers, "subset/example/full"))
    quality, tabloid, not fashion, not sports <- education = University
    not quality, not tabloid, not fashion, not sports <- true
    """
    matrix = encode(X, theory.schema)
    truth = encode_labels(Y, theory.schema)
    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    rules: list[Rule] = []
    for rule in theory:
        run = DecisionList(theory.schema, rules).run(X)
        going = run.stopped < 0
        covered = rule.body.covers(matrix, run.board) & going
        # Rows that a stopping rule has finished are written for good, whatever they left open.
        board: Board = run.board.copy()
        board[~going] = truth[~going]
        if (board[covered] == UNSET).any():
            found = best_head(
                truth, covered, measure, board, convention=convention, absence=absence,
                max_labels=max_labels, lift=lift, max_nodes=max_nodes,
            )  # fmt: skip
            full = measure.predictions == "full"
            rule = Rule(found.head.completed() if full else found.head, rule.body, rule.stops)
        rules.append(rule)
    return DecisionList(theory.schema, rules).with_evidence(X, truth)
