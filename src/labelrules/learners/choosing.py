"""The rules that a decision list needs, chosen from many."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._types import Floats, Integers, Mask
from labelrules.data import Schema
from labelrules.discovery.items import Items
from labelrules.discovery.ragged import Ragged
from labelrules.discovery.selectors import packed_rows
from labelrules.kernels.interrupts import heard_interrupts
from labelrules.rules import Head, Rule


class Candidates(NamedTuple):
    """Rules for the presence of single labels, to choose from.

    Rule r has the items ``body[r]`` and the label ``label[r]``; of the ``n_body[r]`` rows it covers
    ``n_both[r]`` have the label. `confidence` may be an estimate.
    """

    items: Items
    body: Ragged
    label: Integers
    n_body: Integers
    n_both: Integers
    confidence: Floats

    def ranks(self) -> Integers:
        """The place of each rule: by confidence, then rows that are right, then length.

        Of rules that are equal in all this the first comes first.
        """
        order = np.lexsort((self.body.lengths, -self.n_both, -self.confidence))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order))
        return ranks


class Chosen(NamedTuple):
    """The rules chosen for a label, in order, and what the label is by default."""

    rules: Integers
    default: int


@heard_interrupts()
def chosen_rules(
    candidates: Candidates, ranks: Integers, label: int, truth: npt.NDArray[np.int8], is_open: Mask
) -> Chosen:
    """Cover the open rows: keep what is right about a row that is left, up to the least errors.

    Of several places with as few errors the first is taken. By default a label is what more of the
    rows left are, absent if as many.
    """
    from labelrules.kernels.chosen import choose_rules

    order = np.flatnonzero(candidates.label == label)
    order = order[np.argsort(ranks[order])]
    wanted, open_rows = packed_rows(truth == 1), packed_rows(is_open)
    kept = np.empty(len(order), dtype=np.int64)
    errors = np.empty(len(order) + 1, dtype=np.int64)
    body = candidates.body
    args = body.start, body.values, candidates.items.words, order, wanted
    n_kept = choose_rules(*args, open_rows, kept, errors)
    n_used = int(errors[: n_kept + 1].argmin())
    rules = kept[:n_used]
    left = is_open.copy()
    for rule in rules.tolist():
        left &= ~_covers(candidates, rule)
    return Chosen(rules, _default(truth, left))


def nothing_chosen(truth: npt.NDArray[np.int8], is_open: Mask) -> Chosen:
    """For a label without rules what it is by default."""
    return Chosen(np.empty(0, dtype=np.int64), _default(truth, is_open))


def _default(truth: npt.NDArray[np.int8], left: Mask) -> int:
    return int(2 * int((truth[left] == 1).sum()) > int(left.sum()))


def _covers(candidates: Candidates, rule: int) -> Mask:
    covered = np.ones(candidates.items.n_rows, dtype=np.bool_)
    for item in candidates.body[rule]:
        holds = np.zeros_like(covered)
        holds[candidates.items.rows_of(item)] = True
        covered &= holds
    return covered


def merged_rules(
    candidates: Candidates, ranks: Integers, chosen: list[Chosen], values: Integers, schema: Schema
) -> list[Rule]:
    """One rule for each body, at the place of the best of those that have it.

    `values` says what the rules of each label predict.
    """
    heads: dict[tuple[int, ...], dict[int, int]] = {}
    best: dict[tuple[int, ...], int] = {}
    for label, one in enumerate(chosen):
        for rule in one.rules.tolist():
            body = tuple(candidates.body[rule])
            heads.setdefault(body, {})[label] = int(values[label])
            best[body] = min(best.get(body, len(ranks)), int(ranks[rule]))
    return [
        Rule(Head(heads[body], schema.n_labels), candidates.items.body(body))
        for body in sorted(heads, key=lambda body: best[body])
    ]
