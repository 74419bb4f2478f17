"""Groups of rows whose labels are exceptional, as they were found."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, overload

import numpy as np

from labelrules._checks import counted
from labelrules._types import Board, Floats, Integers, Mask
from labelrules.data import Schema
from labelrules.discovery.limits import frame_of
from labelrules.rules import Body, Condition, Head, Rule, RuleSet
from labelrules.rules.formats.language import name_text
from labelrules.rules.formats.text import body_text

# -------------------- How exceptional the labels of a group of rows are, from counts within the
# group
# A deviation says which columns are to be counted, what a group is worth, and which groups could
# have a refinement that is worth a goal. Values are rounded to `DIGITS` decimal places, so that
# equal ones are equal on every machine.

DIGITS = 12
SLACK = 1e-9
"""A bound that misses the goal by less than this may have done so by rounding."""


class Contrast(NamedTuple):
    """What is otherwise in a group: of one label its share, of two their correlation.

    `weight` says how much of the value of the group it makes up, before groups are weighted by
    their size.
    """

    labels: tuple[int, ...]
    inside: float
    reference: float
    weight: float


class Deviation(Protocol):
    """A measure of how exceptional a group of rows is; counts are groups by 1 + columns."""

    columns: Mask
    """Columns by rows: those that are counted within a group."""

    def values(self, counts: Integers) -> Floats:
        """What groups are worth."""

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part of at least `least` rows that is worth the goal."""

    def changes(self, counts: Integers) -> list[Contrast]:
        """What is otherwise in one group, the greatest change first."""


class RelativeAccuracy:
    """Weighted relative accuracy: coverage times the gain in the share of rows that have a head.

    With P of all N rows having what the head says, and p of the n rows of a group, it is
    ``n/N (p/n - P/N)``. A part of the group is worth at most as much as its p rows alone.

    Parameters
    ----------
    Y : array, rows by labels
    head : dict of int to int
        Labels and what they must be, all at once.

    Examples
    --------
    >>> wracc = RelativeAccuracy(np.array([[1], [1], [0], [0]]), {0: 1})
    >>> wracc.values(np.array([[2, 2], [2, 1], [4, 2]]))
    array([0.25, 0.  , 0.  ])
    """

    def __init__(self, Y: Board, head: dict[int, int]) -> None:
        self.labels = tuple(head)
        self.columns: Mask = (Y[:, list(head)] == list(head.values())).all(axis=1)[np.newaxis]
        self.n_rows, self.n_all = len(Y), int(self.columns.sum())

    def values(self, counts: Integers) -> Floats:
        """What groups are worth."""
        n, p = counts[:, 0], counts[:, 1]
        return np.round((p * self.n_rows - n * self.n_all) / self.n_rows**2, DIGITS)

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part that is worth the goal."""
        purest = np.column_stack([np.maximum(counts[:, 1], least), counts[:, 1]])
        return np.asarray(self.values(purest) >= goal - SLACK)

    def changes(self, counts: Integers) -> list[Contrast]:
        """What is otherwise in one group, the greatest change first."""
        inside, overall = counts[1] / counts[0], self.n_all / self.n_rows
        return [Contrast(self.labels, inside, overall, inside - overall)]


class Divergence:
    """Weighted Kullback-Leibler divergence of the labels' shares, label by label, in bits.

    With shares p in a group of n rows and P in all N, it is the sum over the labels of
    ``n/N (p log(p/P) + (1-p) log((1-p)/(1-P)))``: labels are taken as independent.

    For a part of s rows each term is greatest where the part has as many rows with the label as it
    can, or as many without it. The sum of these, as a function of s, is greatest where s is
    the number of rows with or without one of the labels, or at an end: between these places it is
    convex. So a bound takes as many steps as there are such places.

    Parameters
    ----------
    Y : array, rows by labels
    labels : sequence of int
        Those that count.

    Examples
    --------
    >>> divergence = Divergence(np.array([[1], [1], [0], [0]]), [0])
    >>> divergence.values(np.array([[2, 2], [2, 1], [4, 2]]))
    array([0.5, 0. , 0. ])
    """

    def __init__(self, Y: Board, labels: list[int]) -> None:
        self.labels = labels
        self.columns: Mask = np.ascontiguousarray(Y[:, labels].T == 1)
        self.n_rows = len(Y)
        self.share: Floats = self.columns.mean(axis=1)
        steps = np.arange(self.n_rows + 1)
        self._x_log_x: Floats = steps * _log2(steps)
        self._log_share, self._log_rest = _log2(self.share), _log2(1 - self.share)

    def values(self, counts: Integers) -> Floats:
        """What groups are worth."""
        ones = counts[:, 1:]
        terms = self._terms(ones, counts[:, :1] - ones)
        return np.asarray(np.round(terms.sum(axis=1) / self.n_rows, DIGITS))

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part that is worth the goal."""
        wanted = (goal - SLACK) * self.n_rows
        ones = counts[:, 1:]
        zeros = counts[:, :1] - ones
        pure = np.maximum(-ones * self._log_share, -zeros * self._log_rest)
        quick = np.maximum(pure, self._terms(ones, zeros)).sum(axis=1)
        found: Mask = quick >= wanted
        some = np.flatnonzero(found)
        found[some] = self._most(ones[some], zeros[some], least) >= wanted
        return found

    def changes(self, counts: Integers) -> list[Contrast]:
        """What is otherwise in one group, the greatest change first."""
        ones = counts[1:]
        weights = self._terms(ones, counts[0] - ones) / counts[0]
        order = np.argsort(-weights, kind="stable")
        inside = ones / counts[0]
        return [
            Contrast((self.labels[i],), float(inside[i]), float(self.share[i]), float(weights[i]))
            for i in order.tolist()
        ]

    def _terms(self, ones: Integers, zeros: Integers) -> Floats:
        """For each label the divergence of a group with so many rows, times their number."""
        x_log_x = self._x_log_x
        mixed = x_log_x[ones] + x_log_x[zeros] - x_log_x[ones + zeros]
        return np.asarray(mixed - ones * self._log_share - zeros * self._log_rest)

    def _most(self, ones: Integers, zeros: Integers, least: int) -> Floats:
        """What parts of groups can be worth at most, times all rows."""
        most = np.zeros(len(ones))
        n = ones[:, :1] + zeros[:, :1]
        for place in range(2 * ones.shape[1] + 2):
            size = self._place(place, ones, zeros, n, least)
            with_ = np.minimum(ones, size)
            without = np.minimum(zeros, size)
            ends = np.maximum(
                self._terms(with_, size - with_), self._terms(size - without, without)
            )
            most = np.maximum(most, ends.sum(axis=1))
        return most

    @staticmethod
    def _place(place: int, ones: Integers, zeros: Integers, n: Integers, least: int) -> Integers:
        n_labels = ones.shape[1]
        if place < n_labels:
            size = ones[:, place : place + 1]
        elif place < 2 * n_labels:
            size = zeros[:, place - n_labels : place - n_labels + 1]
        else:
            size = n if place == 2 * n_labels else np.full_like(n, least)
        return np.minimum(np.maximum(size, least), n)


class DependenceChange:
    """How much the correlations of the labels change, weighted by the entropy of the division.

    For each pair of labels their phi coefficient among the rows of the group is compared with that
    among the other rows, or among all; the mean of the absolute differences is multiplied by
    the entropy, in bits, of the division into the group and the others. Where a label is always or
    never present phi is 0. Small groups are never worth much, but that is all that is known of
    the parts of a group: the bound is weak.

    Parameters
    ----------
    Y : array, rows by labels
    labels : sequence of int
        Those that count, at least two.
    against_all : bool
        Whether groups are compared with all rows, or with those that are not in the group.

    Examples
    --------
    >>> Y = np.array([[1, 1], [0, 0], [1, 0], [0, 1]])
    >>> DependenceChange(Y, [0, 1], against_all=False).values(np.array([[2, 1, 1, 1]]))
    array([2.])
    """

    def __init__(self, Y: Board, labels: list[int], against_all: bool) -> None:
        self.labels, self.against_all = labels, against_all
        ones = Y[:, labels].T == 1
        self._first, self._second = np.triu_indices(len(labels), 1)
        self.columns: Mask = np.concatenate([ones, ones[self._first] & ones[self._second]])
        self.n_rows = len(Y)
        self._all = np.concatenate([[self.n_rows], self.columns.sum(axis=1)])[np.newaxis]
        overall = self._phi(self._all)[0]
        self._limit = float((1 + np.abs(overall)).mean()) if against_all else 2.0

    def values(self, counts: Integers) -> Floats:
        """What groups are worth."""
        change = np.abs(self._phi(counts) - self._reference(counts)).mean(axis=1)
        return np.asarray(np.round(self._entropy(counts[:, 0]) * change, DIGITS))

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part that is worth the goal."""
        even = np.clip(self.n_rows / 2, least, counts[:, 0])
        return np.asarray(self._entropy(even) * self._limit >= goal - SLACK)

    def changes(self, counts: Integers) -> list[Contrast]:
        """What is otherwise in one group, the greatest change first."""
        inside = self._phi(counts[np.newaxis])[0]
        reference = self._reference(counts[np.newaxis])[0]
        weights = np.abs(inside - reference) / len(inside)
        return [
            Contrast(
                (self.labels[self._first[i]], self.labels[self._second[i]]),
                float(inside[i]),
                float(reference[i]),
                float(weights[i]),
            )
            for i in np.argsort(-weights, kind="stable").tolist()
        ]

    def _reference(self, counts: Integers) -> Floats:
        return self._phi(self._all if self.against_all else self._all - counts)

    def _entropy(self, n: Integers | Floats) -> Floats:
        share = n / self.n_rows
        return np.asarray(-share * _log2(share) - (1 - share) * _log2(1 - share))

    def _phi(self, counts: Integers) -> Floats:
        from labelrules.kernels.mining.bits import phi_coefficients

        found: Floats = phi_coefficients(counts, len(self.labels))
        return found


def _log2(numbers: Integers | Floats) -> Floats:
    """Logarithms; 0, which is always multiplied by 0, has the logarithm 0."""
    given = np.asarray(numbers, dtype=np.float64)
    return np.log2(given, out=np.zeros_like(given), where=given > 0)


# ---------------------------------------------------------------- the main part

SHOWN = 3
"""How many changes of labels are shown with a subgroup."""


@dataclass(frozen=True)
class Subgroup:
    """Rows that a body describes, and what is exceptional about their labels.

    Attributes
    ----------
    body : Body
    value : float
        What the measure says.
    n_covered : int
        How many rows there are.
    rule : Rule
        The body with a head: the target, if there was one, else what most of the rows have; the
        evidence says how many do.
    changes : tuple of Contrast
        What is otherwise here than elsewhere, the greatest change first; see `Subgroups`.
    p : float or None
        How probable it is by chance that a search finds something worth as much; None if that
        was not asked for.
    """

    body: Body
    value: float
    n_covered: int
    rule: Rule
    changes: tuple[Contrast, ...]
    p: float | None = None


@dataclass(frozen=True, eq=False)
class Subgroups(Sequence[Subgroup]):
    """What :func:`subgroups` has found, the best first; printing it shows each on a line.

    Behind the body stand the greatest changes: of labels the share of rows that have them, and of
    pairs of labels their correlation (phi), within the subgroup and elsewhere.

    Attributes
    ----------
    found : tuple of Subgroup
    measure : str
    schema : Schema
    n_rows : int
        Rows that were searched.
    target : Head or None
        What the rows of a subgroup are to have, if that was asked for.
    n_bodies : int
        Bodies that were looked at.
    is_complete : bool
        Whether none can be better, by the conditions that were allowed.
    """

    found: tuple[Subgroup, ...]
    measure: str
    schema: Schema
    n_rows: int
    target: Head | None
    n_bodies: int
    is_complete: bool

    def theory(self) -> RuleSet:
        """The rules of the subgroups, with evidence."""
        return RuleSet(self.schema, [group.rule for group in self.found])

    def bodies(self) -> list[Body]:
        """The bodies, the best first."""
        return [group.body for group in self.found]

    def as_dict(self) -> dict[str, list[Any]]:
        """The subgroups as columns, for a data frame of any library."""
        return {
            "body": [body_text(group.body, self.schema) for group in self.found],
            "value": [group.value for group in self.found],
            "n_covered": [group.n_covered for group in self.found],
            "coverage": [group.n_covered / self.n_rows for group in self.found],
            "changes": [self._changes(group) for group in self.found],
            "p": [group.p for group in self.found],
        }

    def to_frame(self) -> Any:
        """The subgroups as a data frame of pandas."""
        return frame_of(self.as_dict())

    @overload
    def __getitem__(self, index: int) -> Subgroup: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Subgroup]: ...
    def __getitem__(self, index: int | slice) -> Subgroup | Sequence[Subgroup]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Subgroup]:
        return iter(self.found)

    def __str__(self) -> str:
        n_found = f"{len(self)} subgroup{'s' if len(self) != 1 else ''}"
        how = "all bodies" if self.is_complete else f"{self.n_bodies:,} bodies"
        lines = [f"{n_found} of {self.n_rows} rows by {self.measure}, {how} searched"]
        for group in self.found:
            p = "" if group.p is None else f", p = {group.p:.2g}"
            lines.append(
                f"{group.value:.4f}, {counted(group.n_covered, 'row')}{p}: "
                f"{body_text(group.body, self.schema)} ({self._changes(group)})"
            )
        return "\n".join(lines)

    def _changes(self, group: Subgroup) -> str:
        return "; ".join(
            f"{self._what(change)} {change.inside:.2f} instead of {change.reference:.2f}"
            for change in group.changes[:SHOWN]
            if change.weight
        )

    def _what(self, change: Contrast) -> str:
        if self.target is None:
            return " ~ ".join(name_text(self.schema.labels[label]) for label in change.labels)
        conditions = [Condition.label(label, bool(value)) for label, value in self.target]
        return body_text(Body(conditions), self.schema)
