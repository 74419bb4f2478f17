"""Previews of edits: rows, labels and measures, before and after."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from labelrules._checks import counted
from labelrules._html import fragment, html_table, paragraphs
from labelrules._types import Integers, Mask
from labelrules.data import Dataset, Schema
from labelrules.data.document import FrozenRecord
from labelrules.inspection import Comparison, compare
from labelrules.rules import Theory
from labelrules.rules.language.text import label_text
from labelrules.studio.edit_history import Outcome
from labelrules.studio.edits import body_of

SHOWN = 10
"""Labels that a printed preview shows."""


class LabelChange(FrozenRecord, frozen=True):
    """In how many rows a label changes, is gained or lost, becomes right or wrong."""

    label: str
    n_rows: int  #: Rows in which it changes.
    n_gained: int  #: Those in which it is now present.
    n_lost: int  #: Those in which it is now absent.
    n_righted: int  #: Those in which it was wrong and is now right.
    n_wronged: int  #: Those in which it was right and is now wrong.


class MeasureChange(FrozenRecord, frozen=True):
    """A measure before and after."""

    name: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """The value after, less the value before."""
        return self.after - self.before


@dataclass(frozen=True, eq=False, repr=False)
class PartPreview:
    """Predictions before and after, on one part of the data.

    Attributes
    ----------
    before, after : Outcome
        The labels that are predicted (`predicted`) and known (`truth`), rows by labels.
    index : array of int
        The rows of the part by their numbers in the data set it is taken from.
    """

    schema: Schema
    before: Outcome
    after: Outcome
    index: Integers

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.index)

    @cached_property
    def _cells(self) -> tuple[Integers, Integers]:
        """The rows and labels of cells that change; in the flat array they are found fastest."""
        differs = (self.before.predicted != self.after.predicted).ravel()
        rows, labels = np.divmod(np.flatnonzero(differs), max(1, self.schema.n_labels))
        return rows, labels

    @property
    def n_cells(self) -> int:
        """The number of labels of rows that change."""
        return len(self._cells[0])

    @cached_property
    def rows(self) -> Integers:
        """The rows in which a label changes, by their numbers in the data set."""
        return self.index[np.unique(self._cells[0])]

    @property
    def changed(self) -> Mask:
        """Rows by labels: which predictions change."""
        return np.asarray(self.before.predicted != self.after.predicted)

    @cached_property
    def labels(self) -> tuple[LabelChange, ...]:
        """The change of each label, all labels in order."""
        rows, labels = self._cells
        now, truth = self.after.predicted[rows, labels], self.after.truth[rows, labels]
        kinds = (now >= 0, now == 1, now == 0, now == truth, (truth >= 0) & (now != truth))
        counts = [np.bincount(labels[kind], minlength=self.schema.n_labels) for kind in kinds]
        return tuple(
            LabelChange(name, *(int(count[label]) for count in counts))
            for label, name in enumerate(self.schema.labels)
        )

    @cached_property
    def measures(self) -> tuple[MeasureChange, ...]:
        """Every measure before and after; none if no label of the part is known."""
        before, after = self.before.measures, self.after.measures
        if before is None or after is None:
            return ()
        return tuple(MeasureChange(name, before[name], after[name]) for name in before)

    def __repr__(self) -> str:
        return f"<PartPreview: {self.headline}>"

    @property
    def headline(self) -> str:
        """The number of changed labels and rows, in words."""
        if not self.n_cells:
            return f"nothing changes in {counted(self.n_rows, 'row')}"
        cells = counted(self.n_cells, "label")
        verb = "changes" if self.n_cells == 1 else "change"
        return f"{cells} {verb}, in {len(self.rows):,} of {counted(self.n_rows, 'row')}"


@dataclass(frozen=True, eq=False, repr=False)
class Preview:
    """Changes between two states of the rules; printing shows all parts.

    Attributes
    ----------
    before, after : Theory
    parts : dict of str to PartPreview
        ``"training"``, ``"validation"`` if there are such rows, and ``"slice"`` and
        ``"validation slice"`` if a slice was asked for.
    """

    before: Theory
    after: Theory
    parts: Mapping[str, PartPreview]

    @property
    def training(self) -> PartPreview:
        """The training rows."""
        return self.parts["training"]

    @property
    def validation(self) -> PartPreview | None:
        """The validation rows, if there are any."""
        return self.parts.get("validation")

    @property
    def slice(self) -> PartPreview | None:
        """The training rows of the slice, if there is one."""
        return self.parts.get("slice")

    @cached_property
    def rules(self) -> Comparison:
        """The rules that are added, removed and changed."""
        return compare(self.before, self.after)

    def __repr__(self) -> str:
        return f"<Preview: {self.training.headline}>"

    def __str__(self) -> str:
        lines: list[str] = []
        for name, part in self.parts.items():
            lines += [f"{name}: {part.headline}", *_label_lines(part), *_measure_lines(part)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        pieces: list[str] = []
        for name, part in self.parts.items():
            rows = [(m.name, f"{m.before:.4f}", f"{m.after:.4f}") for m in part.measures]
            pieces.append(paragraphs([f"{name}: {part.headline}"]))
            pieces.append(html_table(rows, ("measure", "before", "after")) if rows else "")
        return fragment(*pieces)


def _label_lines(part: PartPreview) -> list[str]:
    changed = sorted((one for one in part.labels if one.n_rows), key=lambda one: -one.n_rows)
    lines = [
        f"  {label_text(one.label)}: {one.n_gained:,} gained, {one.n_lost:,} lost; "
        f"{one.n_righted:,} now right, {one.n_wronged:,} now wrong"
        for one in changed[:SHOWN]
    ]
    more = len(changed) - SHOWN
    return [*lines, f"  and {counted(more, 'label')} more"] if more > 0 else lines


def _measure_lines(part: PartPreview) -> list[str]:
    if not part.n_cells:
        return []
    width = max((len(one.name) for one in part.measures), default=0)
    return [
        f"  {one.name:<{width}}  {one.before:.4f} -> {one.after:.4f}  ({one.difference:+.4f})"
        for one in part.measures
    ]


def part_preview(data: Dataset, before: Outcome, after: Outcome) -> PartPreview:
    """Compare predictions for all rows of a data set."""
    return PartPreview(data.schema, before, after, np.arange(data.n_rows))


def slice_preview(whole: PartPreview, rows: Mask) -> PartPreview:
    """Compare predictions for some rows of a part."""
    before, after = whole.before.of_rows(rows), whole.after.of_rows(rows)
    return PartPreview(whole.schema, before, after, whole.index[rows])


def rows_where(where: Any, data: Dataset) -> Mask:
    """The rows of a slice: a mask, or conditions in the rule language.

    Conditions on labels are tested on the labels that are known.
    """
    if isinstance(where, str):
        return body_of(where, data.schema).covers(data.X, data.Y)
    mask = np.asarray(where)
    if mask.dtype != np.bool_ or mask.shape != (data.n_rows,):
        raise ValueError(
            f"where must be conditions such as 'age > 60', or a truth value for each of "
            f"{counted(data.n_rows, 'row')}, not {where!r:.60}"
        )
    return mask
