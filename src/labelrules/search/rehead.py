"""The same bodies with heads for another loss."""

from typing import Any

import numpy as np

from labelrules._types import UNSET, Board, Mask
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.table import Dataset
from labelrules.measures import Measure
from labelrules.rules import DecisionList, Head, Rule
from labelrules.search.heads import MAX_NODES, best_head
from labelrules.search.lift import Lift, no_lift
from labelrules.search.problem import RuleConvention


def rehead(
    theory: DecisionList,
    data: Dataset,
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
    data : Dataset
        Rows and true labels, over the schema of the theory; `labelrules.dataset` makes one.
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
    >>> print(rehead(theory, readers, "subset/example/full"))
    quality, tabloid, not fashion, not sports <- education = University
    not quality, not tabloid, not fashion, not sports <- true
    """
    if not isinstance(theory, DecisionList):
        raise ValueError(f"rehead takes a DecisionList, not a {type(theory).__name__}")
    if not isinstance(data, Dataset):
        raise TypeError(f"rehead needs a Dataset, not {type(data).__name__}: use dataset(X, Y)")
    matrix = encode(data, theory.schema)
    truth = encode_labels(data, theory.schema)
    if matrix.shape[0] != len(truth):
        raise ValueError(f"X has {matrix.shape[0]} rows but Y has {len(truth)}")
    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    options = {
        "convention": convention, "absence": absence, "max_labels": max_labels,
        "lift": lift, "max_nodes": max_nodes,
    }  # fmt: skip
    rules: list[Rule] = []
    for rule in theory:
        run = DecisionList(theory.schema, rules).run(data)
        going = run.stopped < 0
        covered = rule.body.covers(matrix, run.board) & going
        # Rows that a stopping rule has finished are written for good, whatever they left open.
        board = np.where(going[:, np.newaxis], run.board, truth)
        rules.append(_reheaded(rule, truth, covered, board, measure, options))
    return DecisionList(theory.schema, rules).with_evidence(data, truth)


def _reheaded(
    rule: Rule, truth: Board, covered: Mask, board: Board, measure: Measure, options: dict[str, Any]
) -> Rule:
    writable = (board[covered] == UNSET).any(axis=0)
    if not writable.any():
        return rule
    full = measure.predictions == "full"
    # A partial head says nothing of labels that it could not write anywhere.
    labels = np.flatnonzero(writable | full)
    found = best_head(truth[:, labels], covered, measure, board[:, labels], **options)
    vector = np.full(len(writable), UNSET)
    vector[labels] = found.vector
    head = Head.from_vector(vector)
    return Rule(head.completed() if full else head, rule.body, rule.stops)
