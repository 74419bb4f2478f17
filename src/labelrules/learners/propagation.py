"""Errors that are handed on from layer to layer."""

from dataclasses import dataclass

import numpy as np

from labelrules._types import Board, Floats


@dataclass(frozen=True, eq=False)
class ErrorPropagation:
    """How often a layer is right when it is shown true labels, and when predicted ones.

    If a label is told by another one, a mistake in the other is likely to become a mistake in it.
    What the layer loses by predicted labels is the price of that.

    Attributes
    ----------
    labels : tuple of str
    before : array of float
        For each label how often the layer before is right.
    on_predictions : array of float
        How often the layer is right that is shown what the layer before says.
    on_truth : array of float
        How often it would be right if it were shown the true labels.
    """

    labels: tuple[str, ...]
    before: Floats
    on_predictions: Floats
    on_truth: Floats

    @classmethod
    def count(
        cls,
        labels: tuple[str, ...],
        truth: Board,
        before: Board,
        on_predictions: Board,
        on_truth: Board,
    ) -> "ErrorPropagation":
        """Compare three boards with the true labels."""
        shares = [(board == truth).mean(axis=0) for board in (before, on_predictions, on_truth)]
        return cls(labels, *(np.asarray(share, dtype=np.float64) for share in shares))

    @property
    def loss(self) -> Floats:
        """For each label how much less often it is right because of predicted labels."""
        return self.on_truth - self.on_predictions

    def __str__(self) -> str:
        width = max(8, *(len(name) for name in self.labels))
        lines = [f"{'':<{width}}  layer before  on predictions  on true labels"]
        parts = (self.before, self.on_predictions, self.on_truth)
        for name, *shares in zip(self.labels, *parts, strict=True):
            lines.append(_line(name, width, shares))
        return "\n".join([*lines, _line("all", width, [float(part.mean()) for part in parts])])


def _line(name: str, width: int, shares: list[float]) -> str:
    before, predicted, true = shares
    return f"{name:<{width}}  {before:>12.3f}  {predicted:>14.3f}  {true:>14.3f}"
