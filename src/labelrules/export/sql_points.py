"""SQL for rule sets that decide the labels of a row together: points, usual label sets."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from labelrules.export.plan import FreeNames, label_points
from labelrules.export.sql_terms import Cells, Expression, LabelSource, Terms
from labelrules.rules.theory import RuleSet


class TableWriter(Protocol):
    """A query to which tables are added, each reading the one before."""

    terms: Terms
    free: FreeNames

    def add(self, name: str, columns: list[str], computed: list[tuple[str, Expression]]) -> None:
        """Add a table with these columns, some of them computed from the table before."""

    def free_name(self, name: str, otherwise: str) -> str:
        """A free name, or another one if the database does not allow it."""

    def new_cells(self, labels: Iterable[int]) -> Cells:
        """Columns for labels."""


class PointTables:
    """A rule set that decides the labels of a row together.

    Its tables: the points of the labels, totals of label sets, the best total, the label set that
    has it, and the labels.
    """

    def __init__(self, query: TableWriter, part: RuleSet, name: str, kept: list[str]) -> None:
        self.query, self.terms, self.part, self.name = query, query.terms, part, name
        self.kept = kept
        self.points: Cells = {}  # from labels that some rule mentions to the columns of points
        free = query.free.free
        self.most, self.first = free("most points"), free("first label")
        self.above, self.best = free("points above 0"), free("best total")
        self.sets = [free(f"label set {n}") for n in range(1, len(part.label_sets) + 1)]
        self.winner = free("label set")

    def cells(self, labels: LabelSource) -> Cells:
        """Add the tables; returns the columns of the labels."""
        kept = list(self.kept)
        self._add("points", self._points_of_labels(labels))
        self._add("totals", self._totals())
        self._add("best total", self._best(), dropped=[self.above])
        if self.sets:
            self._add("label set", [self._winner()], dropped=[*self.sets, self.best])
        cells = self.query.new_cells(range(self.part.schema.n_labels))
        computed = [(name, self._cell(label)) for label, name in cells.items()]
        self.query.add(self.name, [*kept, *cells.values()], computed)
        return cells

    def _add(
        self, what: str, computed: list[tuple[str, Expression]], dropped: Sequence[str] = ()
    ) -> None:
        """Add a table with further columns, unless there are none, and without some."""
        if computed:
            names = [*self.kept, *(name for name, _ in computed)]
            self.kept = [name for name in names if name not in dropped]
            self.query.add(f"{what} of {self.name}", self.kept, computed)

    def _points_of_labels(self, labels: LabelSource) -> list[tuple[str, Expression]]:
        terms, computed = self.terms, []
        for label, rules in label_points(self.part):
            flags = [
                terms.flag(terms.body(rule.body, labels), points)
                if len(rule.body)
                else terms.number(points)
                for _, rule, points in rules
            ]
            title = f"points of {self.part.schema.labels[label]}"
            self.points[label] = self.query.free_name(title, f"points {label + 1}")
            computed.append((self.points[label], terms.total(flags)))
        return computed

    def _totals(self) -> list[tuple[str, Expression]]:
        """The points of the best label, of each label set, and of all labels above 0."""
        terms, computed = self.terms, []
        if self.part.at_least_one:
            every = map(self._points, range(self.part.schema.n_labels))
            computed.append((self.most, terms.greatest(list(every))))
        for name, (labels, bonus) in zip(self.sets, self.part.label_sets, strict=True):
            points = [terms.column(self.points[n]) for n in labels if n in self.points]
            points += [terms.number(bonus)] if bonus or not points else []
            computed.append((name, terms.total(points)))
        if self.sets:
            positive = [
                terms.case([(self._is_above_0(name), terms.column(name))], terms.number(0))
                for name in self.points.values()
            ]
            computed.append((self.above, terms.total(positive)))
        return computed

    def _best(self) -> list[tuple[str, Expression]]:
        """The first label with the most points, and the best total, with or without a set."""
        terms, computed = self.terms, []
        alone = terms.column(self.above)
        if self.part.at_least_one:
            most, every = terms.column(self.most), range(self.part.schema.n_labels)
            pairs = [(terms.equal(self._points(n), most.copy()), terms.number(n)) for n in every]
            computed.append((self.first, terms.case(pairs)))
            alone = terms.case([(self._is_above_0(self.most), alone)], most.copy())
        if self.sets:
            totals = [terms.column(name) for name in self.sets]
            computed.append((self.best, terms.greatest([alone, *totals])))
        return computed

    def _winner(self) -> tuple[str, Expression]:
        """The number of the first label set with the best total, from 1, or 0."""
        terms = self.terms
        pairs = [
            (terms.equal(terms.column(name), terms.column(self.best)), terms.number(number))
            for number, name in enumerate(self.sets, 1)
        ]
        return self.winner, terms.case(pairs, terms.number(0))

    def _cell(self, label: int) -> Expression:
        """Whether a row gets a label: by the label set it has, or by points."""
        terms, pairs = self.terms, []
        sets = enumerate(self.part.label_sets, 1)
        numbers = [terms.number(n) for n, (labels, _) in sets if label in labels]
        if numbers:
            is_in = terms.exp.In(this=terms.column(self.winner), expressions=numbers)
            pairs.append((is_in, terms.number(1)))
        if self.sets:
            pairs.append((self._is_above_0(self.winner), terms.number(0)))
        if label in self.points:
            pairs.append((self._is_above_0(self.points[label]), terms.number(1)))
        if self.part.at_least_one:
            is_first = terms.equal(terms.column(self.first), terms.number(label))
            none = terms.exp.LTE(this=terms.column(self.most), expression=terms.number(0))
            pairs.append((terms.exp.and_(none, is_first), terms.number(1)))
        return terms.case(pairs, terms.number(0)) if pairs else terms.number(0)

    def _points(self, label: int) -> Expression:
        column = self.points.get(label)
        return self.terms.number(0) if column is None else self.terms.column(column)

    def _is_above_0(self, column: str) -> Expression:
        return self.terms.above(self.terms.column(column), self.terms.number(0))
