"""What happened when a layered theory was applied."""

from dataclasses import dataclass

import numpy as np

from labelrules._types import UNSET, Board, Floats, Integers, Mask
from labelrules.data.schema import Schema
from labelrules.rules.theory import Run


@dataclass(frozen=True, eq=False)
class LayeredRun:
    """What happened when a layered theory was applied; printing it tells what did not settle.

    Attributes
    ----------
    layers : tuple of Run
        For each layer its board and, if it is a decision list, the rules that wrote the cells;
        for the last one, those of the round that decides.
    rounds : array of int
        For each row how often the last layer was asked until nothing changed; 0 if something
        changed even in the last round, or if nobody looked.
    moving : array of bool
        Cells that changed even in the last round.
    presence : array of float, optional
        With Gibbs sampling, how probable each label is.
    fallback : Run, optional
        For rows in which the layers found no label, what the list for them wrote; nothing is
        written in other rows.
    """

    schema: Schema
    layers: tuple[Run, ...]
    rounds: Integers
    moving: Mask
    presence: Floats | None = None
    fallback: Run | None = None

    @property
    def board(self) -> Board:
        """The board of the last layer; in rows without labels, what the list for them writes."""
        board = self.layers[-1].board
        if self.fallback is None:
            return board
        guessed = bare(board)[:, None] & (self.fallback.board != UNSET)
        return np.where(guessed, self.fallback.board, board)

    @property
    def unsettled(self) -> Integers:
        """The rows in which something changed even in the last round."""
        return np.flatnonzero(self.moving.any(axis=1))

    def __str__(self) -> str:
        n_rows, rows = len(self.moving), self.unsettled
        longest = int(self.rounds.max(initial=0))
        lines = [f"{n_rows - len(rows)} of {n_rows} rows are settled, after {longest} round(s)"]
        for row in rows[:10].tolist():
            names = [self.schema.labels[label] for label in np.flatnonzero(self.moving[row])]
            lines.append(f"  row {row}: {', '.join(names)} still changed")
        more = len(rows) - 10
        return "\n".join([*lines, f"  ... and {more} more"] if more > 0 else lines)


def bare(board: Board) -> Mask:
    """The rows in which no label is present."""
    return np.asarray(~(board == 1).any(axis=1))
