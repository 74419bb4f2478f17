"""Subgroups as values, and the measures of how exceptional the labels of a group are.

A deviation names the columns to count within a group, and computes from the counts the value of
groups and a bound for their refinements. Values are rounded to `DIGITS` decimal places, so that
equal ones are equal on every machine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, overload

import numpy as np

from labelrules._checks import counted
from labelrules._report import Columns, Excerpt, Lines, Part, Report, Tabular
from labelrules._types import Board, Floats, Integers, Mask
from labelrules.data import Schema
from labelrules.rules import Body, Condition, Head, Rule, RuleSet
from labelrules.rules.language.text import body_text, label_text

DIGITS = 12
SLACK = 1e-9  # a bound that misses the goal by less than this may be rounded


class Contrast(NamedTuple):
    """The share of a label, or the correlation of two, in a group and elsewhere.

    `weight` is its part of the value of the group, before groups are weighted by their size.
    """

    labels: tuple[int, ...]
    inside: float
    reference: float
    weight: float


class Deviation(Protocol):
    """A measure of exceptional groups; `counts` are groups by rows and rows of each column."""

    columns: Mask  # columns by rows: what is counted within a group

    def values(self, counts: Integers) -> Floats:
        """The values of groups."""

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part of at least `least` rows whose value reaches the goal."""

    def changes(self, counts: Integers) -> list[Contrast]:
        """The contrasts of one group, the greatest first."""


class RelativeAccuracy:
    """Weighted relative accuracy: coverage times the gain in the share of rows with a head.

    With P of all N rows that satisfy the head, and p of the n rows of a group, it is
    ``n/N (p/n - P/N)``. The p rows alone have the greatest value of all parts of the group.
    """

    def __init__(self, Y: Board, head: dict[int, int]) -> None:
        self.labels = tuple(head)
        self.columns: Mask = (Y[:, list(head)] == list(head.values())).all(axis=1)[np.newaxis]
        self.n_rows, self.n_all = len(Y), int(self.columns.sum())

    def values(self, counts: Integers) -> Floats:
        """The values of groups."""
        n, p = counts[:, 0], counts[:, 1]
        return np.round((p * self.n_rows - n * self.n_all) / self.n_rows**2, DIGITS)

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part whose value reaches the goal."""
        purest = np.column_stack([np.maximum(counts[:, 1], least), counts[:, 1]])
        return np.asarray(self.values(purest) >= goal - SLACK)

    def changes(self, counts: Integers) -> list[Contrast]:
        """The contrasts of one group, the greatest first."""
        inside, overall = counts[1] / counts[0], self.n_all / self.n_rows
        return [Contrast(self.labels, inside, overall, inside - overall)]


class Divergence:
    """Weighted Kullback-Leibler divergence of the labels' shares, label by label, in bits.

    With shares p in a group of n rows and P in all N, it is the sum over the labels of
    ``n/N (p log(p/P) + (1-p) log((1-p)/(1-P)))``: labels count as independent.

    For a part of s rows each term is greatest where the part has as many rows with the label as it
    can, or as many without it. Their sum is convex in s between the numbers of rows with or without
    one of the labels, so it is greatest at one of these sizes or at an end, which the bound tries.
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
        """The values of groups."""
        ones = counts[:, 1:]
        terms = self._terms(ones, counts[:, :1] - ones)
        return np.asarray(np.round(terms.sum(axis=1) / self.n_rows, DIGITS))

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part whose value reaches the goal."""
        wanted = (goal - SLACK) * self.n_rows
        ones = counts[:, 1:]
        zeros = counts[:, :1] - ones
        pure = np.maximum(-ones * self._log_share, -zeros * self._log_rest)
        quick = np.maximum(pure, self._terms(ones, zeros)).sum(axis=1)
        reaching: Mask = quick >= wanted
        some = np.flatnonzero(reaching)
        reaching[some] = self._most(ones[some], zeros[some], least) >= wanted
        return reaching

    def changes(self, counts: Integers) -> list[Contrast]:
        """The contrasts of one group, the greatest first."""
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
        """An upper bound of the values of parts of groups, times all rows."""
        most = np.zeros(len(ones))
        n = ones[:, :1] + zeros[:, :1]
        for size in np.hstack([ones, zeros, n, np.full_like(n, least)]).T[..., np.newaxis]:
            size = np.minimum(np.maximum(size, least), n)
            with_ = np.minimum(ones, size)
            without = np.minimum(zeros, size)
            ends = np.maximum(
                self._terms(with_, size - with_), self._terms(size - without, without)
            )
            most = np.maximum(most, ends.sum(axis=1))
        return most


class DependenceChange:
    """How much the correlations of the labels change, weighted by the entropy of the division.

    The mean over pairs of labels of the absolute difference of their phi coefficients, in the group
    and in the other rows (or all), times the entropy, in bits, of the division. Where a label is
    always or never present phi is 0. The bound is weak: only the entropy limits small parts.
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
        """The values of groups."""
        change = np.abs(self._phi(counts) - self._reference(counts)).mean(axis=1)
        return np.asarray(np.round(self._entropy(counts[:, 0]) * change, DIGITS))

    def reaches(self, counts: Integers, least: int, goal: float) -> Mask:
        """Which groups may have a part whose value reaches the goal."""
        even = np.clip(self.n_rows / 2, least, counts[:, 0])
        return np.asarray(self._entropy(even) * self._limit >= goal - SLACK)

    def changes(self, counts: Integers) -> list[Contrast]:
        """The contrasts of one group, the greatest first."""
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

        return np.asarray(phi_coefficients(counts, len(self.labels)))


def _log2(numbers: Integers | Floats) -> Floats:
    """Logarithms; 0, which is always multiplied by 0, has the logarithm 0."""
    given = np.asarray(numbers, dtype=np.float64)
    return np.log2(given, out=np.zeros_like(given), where=given > 0)


SHOWN = 3  # contrasts that are shown with a subgroup


@dataclass(frozen=True)
class Subgroup:
    """A group of rows, described by a body, with exceptional labels.

    Attributes
    ----------
    body : Body
    value : float
        The value of the measure.
    n_covered : int
        The number of rows.
    rule : Rule
        The body with the target as head, else the majority in the group; with evidence.
    changes : tuple of Contrast
        The contrasts to other rows, the greatest first; see `Subgroups`.
    p : float or None
        The probability that a search finds such a value by chance; None without permutations.
    """

    body: Body
    value: float
    n_covered: int
    rule: Rule
    changes: tuple[Contrast, ...]
    p: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Subgroups(Report, Tabular, Sequence[Subgroup]):
    """The result of :func:`subgroups`, the best first; printing shows each on a line.

    After the body come the greatest contrasts: the shares of labels, or the correlations (phi) of
    pairs of labels, within the subgroup and elsewhere.

    Attributes
    ----------
    found : tuple of Subgroup
    measure : str
    schema : Schema
    n_rows, n_bodies : int
        The number of all rows, and of the bodies that the search visited.
    target : Head or None
    is_complete : bool
        Whether no other body of the allowed conditions can be better.
    """

    found: tuple[Subgroup, ...]
    measure: str
    schema: Schema
    n_rows: int
    target: Head | None
    n_bodies: int
    is_complete: bool

    _heading = "h4"

    def theory(self) -> RuleSet:
        """The rules of the subgroups as a rule set, with evidence."""
        return RuleSet(self.schema, [group.rule for group in self.found])

    def bodies(self) -> list[Body]:
        """The bodies, the best first."""
        return [group.body for group in self.found]

    def as_dict(self) -> Columns:
        """The subgroups as columns, for a data frame of any library."""
        return {
            "body": [body_text(group.body, self.schema) for group in self.found],
            "value": [group.value for group in self.found],
            "n_covered": [group.n_covered for group in self.found],
            "coverage": [group.n_covered / self.n_rows for group in self.found],
            "changes": [self._changes(group) for group in self.found],
            "p": [group.p for group in self.found],
        }

    @overload
    def __getitem__(self, index: int) -> Subgroup: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Subgroup]: ...
    def __getitem__(self, index: int | slice) -> Subgroup | Sequence[Subgroup]:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    @property
    def headline(self) -> str:
        """How many subgroups, by which measure, of how many bodies."""
        bodies = "all bodies" if self.is_complete else f"{self.n_bodies:,} bodies"
        groups = counted(len(self), "subgroup")
        return f"{groups} of {self.n_rows} rows by {self.measure}, {bodies} searched"

    def _page(self) -> Iterator[Part]:
        columns = self.as_dict()
        columns["value"] = [f"{value:.4f}" for value in columns["value"]]
        columns["p"] = ["" if p is None else p for p in columns["p"]]
        names = "value", "n_covered", "body", "changes", "p"
        rows = list(zip(*(columns[name][:20] for name in names), strict=True))
        yield Excerpt(("value", "rows", *names[2:]), rows, len(self))

    def _parts(self) -> Iterator[Part]:
        yield Lines(list(map(self._line, self.found)))

    def _line(self, group: Subgroup) -> str:
        p = "" if group.p is None else f", p = {group.p:.2g}"
        size, body = counted(group.n_covered, "row"), body_text(group.body, self.schema)
        return f"{group.value:.4f}, {size}{p}: {body} ({self._changes(group)})"

    def _changes(self, group: Subgroup) -> str:
        return "; ".join(
            f"{self._what(change)} {change.inside:.2f} instead of {change.reference:.2f}"
            for change in group.changes[:SHOWN]
            if change.weight
        )

    def _what(self, change: Contrast) -> str:
        if self.target is None:
            return " ~ ".join(label_text(self.schema.labels[label]) for label in change.labels)
        conditions = [Condition.label(label, bool(value)) for label, value in self.target]
        return body_text(Body(conditions), self.schema)
