"""Statistics of a data set: sizes, label frequencies, label imbalance and co-occurrence."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from labelrules._checks import counted
from labelrules._html import fragment, html_table, render
from labelrules._types import UNSET, Floats, Integers
from labelrules.data.table import Dataset, freeze

_LABELS_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """Statistics of a data set; :func:`statistics` computes them.

    Labels that are known to be present are counted; the shares that are printed are those of the
    rows in which the label is known.

    Attributes
    ----------
    instances, nominal, numeric, labels : int
        Rows, features with categories, with numbers, labels.
    cardinality, density : float
        Mean number of labels per row; the same divided by the number of labels.
    distinct : int
        Different label sets that occur, the empty one included.
    diversity : float
        `distinct` divided by the number of label sets that could occur: ``2**labels``, but no more
        than there are rows. (MLDA [1]_ divides by ``2**labels`` alone, which makes it practically 0
        for some dozens of labels.)
    label_names : tuple of str
    label_counts : ndarray of int64
        Rows that have the label.
    imbalance : ndarray of float64
        Per label, the count of the most frequent label divided by its own: IRLbl [2]_; infinite
        for a label that no row has.
    imbalance_mean, imbalance_max : float
        Over the labels that occur (the mean is MeanIR [2]_).
    never : int
        Labels that no row has.
    co_occurrence : ndarray of int64
        Labels by labels: rows that have both; the diagonal is `label_counts`.
    times : int
        Features that hold dates, times or durations.
    label_unknown : ndarray of int64
        Rows in which it is unknown whether they have the label.

    References
    ----------
    .. [1] J. M. Moyano, E. L. Gibaja, S. Ventura, "MLDA: A tool for analyzing multi-label
       datasets", Knowledge-Based Systems 121, 2017.
    .. [2] F. Charte, A. J. Rivera, M. J. del Jesus, F. Herrera, "Addressing imbalance in
       multilabel classification", Neurocomputing 163, 2015.
    """

    name: str
    instances: int
    nominal: int
    numeric: int
    labels: int
    cardinality: float
    density: float
    distinct: int
    diversity: float
    label_names: tuple[str, ...]
    label_counts: Integers
    imbalance: Floats
    imbalance_mean: float
    imbalance_max: float
    never: int
    co_occurrence: Integers
    times: int
    label_unknown: Integers

    @property
    def unknown(self) -> int:
        """Number of labels that are unknown, in all rows together."""
        return int(self.label_unknown.sum())

    def as_dict(self) -> dict[str, Any]:
        """The figures as plain Python values, arrays as lists."""
        return {
            key: value.tolist() if isinstance(value, np.ndarray) else value
            for key, value in asdict(self).items()
        }

    def __repr__(self) -> str:
        sizes = f"{counted(self.instances, 'row')}, {counted(self.labels, 'label')}"
        name = f"{self.name!r}: " if self.name else ""
        return f"Statistics({name}{sizes}, cardinality {self.cardinality:.3f})"

    def __str__(self) -> str:
        lines = [self.name] if self.name else []
        lines += [f"{what:<21}{figure:>9}" for what, figure in self._figures()]
        rows = self._label_rows()
        if rows:
            width = max(5, *(len(name) for name, *_ in rows))
            lines += ["", f"{'label':<{width}}{'rows':>9}{'share':>8}{'imbalance':>11}"]
            lines += [f"{name:<{width}}{n:>9}{share:>8}{skew:>11}" for name, n, share, skew in rows]
        more = self.labels - len(rows)
        return "\n".join([*lines, f"... and {more} more"] if more else lines)

    def _repr_html_(self) -> str:
        """What ``print`` shows, as tables for notebooks."""
        more = self.labels - len(rows) if (rows := self._label_rows()) else 0
        return fragment(
            render("<h4>{{ name }}</h4>", name=self.name or "Statistics"),
            html_table(self._figures()),
            html_table(rows, ["label", "rows", "share", "imbalance"]) if rows else "",
            render('<p class="about">… and {{ more }} more</p>', more=more) if more else "",
        )

    def _figures(self) -> list[tuple[str, str]]:
        return [
            ("instances", f"{self.instances}"),
            ("nominal features", f"{self.nominal}"),
            ("numeric features", f"{self.numeric}"),
            *([("dates and times", f"{self.times}")] if self.times else []),
            ("labels", f"{self.labels}"),
            ("cardinality", f"{self.cardinality:.3f}"),
            ("density", f"{self.density:.3f}"),
            ("distinct label sets", f"{self.distinct}"),
            ("diversity", f"{self.diversity:.3f}"),
            ("mean imbalance", f"{self.imbalance_mean:.3f}"),
            ("largest imbalance", f"{self.imbalance_max:.3f}"),
            ("labels never present", f"{self.never}"),
            *([("unknown cells", f"{self.unknown}")] if self.unknown else []),
        ]

    def _label_rows(self) -> list[tuple[str, int, str, str]]:
        """The most frequent labels with their counts, shares and imbalance."""
        shown = np.argsort(-self.label_counts, kind="stable")[:_LABELS_SHOWN].tolist()
        shares = self.label_counts / np.maximum(self.instances - self.label_unknown, 1)
        columns = (self.label_names, self.label_counts.tolist(), shares, self.imbalance)
        rows = [[column[label] for column in columns] for label in shown]
        return [(name, n, f"{share:.3f}", f"{skew:.3f}") for name, n, share, skew in rows]


def statistics(data: Dataset) -> Statistics:
    """Compute the statistics of a data set.

    Examples
    --------
    >>> from labelrules.data import load
    >>> figures = statistics(load("magazines"))
    >>> figures.instances, figures.labels, figures.distinct, figures.label_counts.tolist()
    (14, 4, 6, [7, 6, 3, 2])
    >>> print(figures)
    magazines
    instances                   14
    ...
    """
    Y = data.Y == 1
    counts: Integers = Y.sum(axis=0, dtype=np.int64)
    most, never = counts.max(initial=0), counts == 0
    imbalance = np.divide(most, counts, out=np.full(len(counts), np.inf), where=~never)
    occurring = imbalance[~never]
    n_rows, n_labels = Y.shape
    cardinality = int(counts.sum()) / max(n_rows, 1)
    distinct = len({row.tobytes() for row in np.packbits(Y, axis=1)})
    ones = sparse.csr_array(Y).astype(np.int64)  # most rows have few labels
    n_nominal = sum(feature.categories is not None for feature in data.schema.features)
    n_times = len(data.schema.times)
    return Statistics(
        name=data.name,
        instances=n_rows,
        nominal=n_nominal,
        numeric=data.schema.n_features - n_nominal - n_times,
        labels=n_labels,
        cardinality=cardinality,
        density=cardinality / max(n_labels, 1),
        distinct=distinct,
        diversity=distinct / max(min(2**n_labels, n_rows), 1),
        label_names=data.schema.labels,
        label_counts=freeze(counts),
        imbalance=freeze(imbalance),
        imbalance_mean=float(occurring.mean()) if len(occurring) else 0.0,
        imbalance_max=float(occurring.max()) if len(occurring) else 0.0,
        never=int(never.sum()),
        co_occurrence=freeze(np.asarray((ones.T @ ones).toarray())),
        times=n_times,
        label_unknown=freeze((data.Y == UNSET).sum(axis=0, dtype=np.int64)),
    )
