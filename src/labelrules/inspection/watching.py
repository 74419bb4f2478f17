"""Which rules of a last layer do anything while it is asked again and again."""

from collections.abc import Sequence

import numpy as np

from labelrules._types import UNSET, Board, Mask
from labelrules.data.table import Dataset
from labelrules.rules import DecisionList, Gibbs, LabelByLabel, UntilStable
from labelrules.rules.inference import Inference
from labelrules.rules.readers import TheoryColumn, TheoryReader
from labelrules.rules.rounds import closed, label_by_label, sampled, until_stable
from labelrules.rules.theory import Run, Theory


def active_rules(layer: Theory, way: Inference, rows: Dataset, seen: Board | None) -> Mask:
    """For each rule whether it writes, votes or ends a row in any round, also if that is undone.

    Parameters
    ----------
    layer : DecisionList or RuleSet
    way : UntilStable, LabelByLabel or Gibbs
    rows : Dataset
        Whose labels do not matter.
    seen : array of int8, optional
        What the layers before have found; None for the only layer.
    """
    active = np.zeros(len(layer), dtype=np.bool_)
    reader = _Watched(TheoryReader(layer, rows, None), layer, range(len(layer)), active)
    if isinstance(way, UntilStable):
        until_stable(reader, way.max_rounds, seen)
        return active
    start = closed(reader.read(None).board if seen is None else seen)
    columns = [TheoryColumn(layer, label, rows, None) for label in range(rows.schema.n_labels)]
    for column in columns:
        # What it writes of other labels is not looked at.
        column.reader = _Watched(column.reader, layer, column.numbers, active, column.label)
    if isinstance(way, LabelByLabel):
        label_by_label(columns, way.labels(len(columns)), way.max_rounds, start)
    elif isinstance(way, Gibbs):
        sampled(columns, way, start)
    return active


class _Watched(TheoryReader):
    """A reader that notes which rules do something; rules by their numbers in the whole layer."""

    def __init__(
        self,
        reader: TheoryReader,
        layer: Theory,
        numbers: Sequence[int],
        active: Mask,
        label: int | None = None,
    ) -> None:
        self.table, self.rows, self.known = reader.table, reader.rows, reader.known
        self.layer, self.numbers, self.active = layer, np.array(numbers, dtype=np.int64), active
        self.labels = slice(None) if label is None else slice(label, label + 1)

    def read(self, seen: Board | None) -> Run:
        """What the layer writes when it sees these labels."""
        run = super().read(seen)
        if isinstance(self.layer, DecisionList):
            for found in (run.writer[:, self.labels], run.stopped):
                self.active[self.numbers[np.unique(found[found >= 0])]] = True
            return run
        looked_at = np.full_like(run.board, UNSET) if seen is None else seen
        for number in self.numbers[~self.active[self.numbers]]:
            body = self.layer[int(number)].body
            self.active[number] = body.covers(self.rows.X, looked_at).any()
        return run
