"""Export a theory to a query, in the SQL of many databases."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from labelrules.export.plan import (
    FreeNames,
    Plan,
    is_list,
    is_scorecard,
    label_points,
    steps,
    used_features,
)
from labelrules.export.sql_terms import (
    TRUTH,
    Cells,
    Dialect,
    Expression,
    LabelSource,
    Terms,
    check_column_count,
    check_dialect_has,
    check_names,
    check_renames,
    check_unique,
    dialect_called,
    refuse_truth,
)
from labelrules.rules.rule import Rule
from labelrules.rules.theory import RuleSet, Theory


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


_MOST_FLAGS = 400  # databases limit the columns of a table, some to about a thousand
_ALL_ROWS = 2**64 - 1  # MySQL puts a subquery into the next one, unless it has a limit


def to_sql(
    theory: Any,
    table: str | Sequence[str],
    *,
    dialect: str = "sqlite",
    keys: Iterable[str] = (),
    columns: Mapping[str, str] | None = None,
) -> str:
    r"""A query for the labels of each row of a table, 0 or 1.

    NULL, NaN and unknown categories are missing values and satisfy no condition. Needs the extra
    ``sql``.

    The queries of SQLite, DuckDB, PostgreSQL, MariaDB (as "mysql") and Spark have been run and
    compared with `predict`. Those of BigQuery, Databricks, Redshift, Snowflake, Trino and of MySQL
    itself were never run, only parsed by the dialect's grammar: compare some rows first.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        The last layer must be read once.
    table : str or sequence of str
        The table with the features; several names are those of a schema and a table in it.
    dialect : str, default="sqlite"
        "bigquery", "databricks", "duckdb", "mysql", "postgres", "redshift", "snowflake", "spark",
        "sqlite" or "trino".
    keys : iterable of str
        Further columns of the table for the result, which identify the rows.
    columns : mapping of str to str, optional
        The names of features in the table, and of labels in the result, where they differ from
        those of the schema. Most databases do not distinguish upper from lower case.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not fashion <- sex = Male\nfashion <- true", load("magazines").schema)
    >>> print(to_sql(theory, "readers", keys=["id"]), end="")
    WITH "features" AS MATERIALIZED (
      SELECT
        "id",
        "sex"
      FROM "readers"
    ), "layer 1" AS MATERIALIZED (
      SELECT
        "id",
        CASE WHEN "sex" = 'Male' THEN 0 ELSE 1 END AS "fashion"
      FROM "features"
    )
    SELECT
      "id",
      0 AS "quality",
      0 AS "tabloid",
      COALESCE("fashion", 0) AS "fashion",
      0 AS "sports"
    FROM "layer 1"
    """
    database = dialect_called(dialect)
    plan = Plan.of(theory).only_once("SQL")
    known = {} if columns is None else columns
    given = tuple(keys) if isinstance(keys, Iterable) and not isinstance(keys, str) else keys
    check_names(table, given, known)
    return _Query(plan, table, database, tuple(given), dict(known)).text()


class _Query:
    """A query of common table expressions, each reading the one before.

    Columns: the keys, features needed later, and labels: 1, 0, or NULL where no rule has written.
    """

    def __init__(
        self,
        plan: Plan,
        table: str | Sequence[str],
        dialect: Dialect,
        keys: tuple[str, ...],
        columns: dict[str, str],
    ) -> None:
        self.plan, self.dialect, self.keys = plan, dialect, keys
        schema = plan.schema
        check_renames(columns, (*schema.feature_names, *schema.labels))
        self.names = {name: columns.get(name, name) for name in schema.feature_names}
        self.results = [columns.get(label, label) for label in schema.labels]
        parts = (table,) if isinstance(table, str) else tuple(table)
        taken = list(dict.fromkeys([*keys, *self._of_features(plan.used)]))
        self._check(parts, taken)
        self.terms = Terms(schema, self.names, dialect)
        self.free, self.tables = FreeNames([*taken, "one", *TRUTH]), FreeNames(parts)
        self.tables_made: list[tuple[Expression, Expression]] = []
        self.source = _table(self.terms, parts)
        self._read()

    def _check(self, parts: tuple[str, ...], taken: list[str]) -> None:
        """Refuse names that the database does not distinguish."""
        check_unique(taken, "the table", self.keys)
        if self.dialect.name == "sqlite":
            refuse_truth(taken, self.keys)
        check_unique([*self.keys, *self.results], "the result", self.keys)
        for where, names in (
            ("the path of the table", parts),
            ("the table", taken),
            ("the result", self.results),
        ):
            check_dialect_has(names, where, self.dialect)

    def _read(self) -> None:
        """Add the columns that the rules need, with values in the form in which they compare."""
        computed = []
        for number in self.plan.used:
            feature = self.plan.schema.features[number]
            name = self.names[feature.name]
            value = self.terms.read(number)
            if value is not None:
                # A key goes into the result unchanged, in whatever form the rules compare it.
                inside = (
                    self.free_name(name, f"feature {number + 1}") if name in self.keys else name
                )
                self.names[feature.name] = inside
                computed.append((inside, value))
        columns = self.columns_with(self.plan.used, ())
        self.add("features", columns or ["one"], computed or [("one", self.terms.number(1))])

    def text(self) -> str:
        """The whole query."""
        plan, terms = self.plan, self.terms
        cells: Cells | None = None
        for number, layer in enumerate(plan.layers, 1):
            rest = [rule for part in plan.parts[number:] for rule in part]
            cells = self._layer(layer, f"layer {number}", cells, used_features(rest), [])
        found = {label: terms.closed(label, cells or {}) for label in range(len(self.results))}
        if plan.fallback is not None:
            found = self._with_fallback(plan.fallback, cells or {}, found)
        labels = [terms.named(found[label], name) for label, name in enumerate(self.results)]
        check_column_count(len(self.keys) + len(labels), self.dialect)
        query = terms.exp.select(*map(terms.column, self.keys), *labels).from_(self.source)
        # What is computed once must not be computed anew each time it is used.
        materialized = self.dialect.materialized or None
        for number, (name, table) in enumerate(self.tables_made):
            if self.dialect.name == "mysql" and number:
                table.limit(_ALL_ROWS, copy=False)
            query.with_(name, as_=table, materialized=materialized, copy=False)
        text: str = query.sql(dialect=self.dialect.name, pretty=True)
        return f"{text}\n"

    def _with_fallback(
        self, fallback: Theory, cells: Cells, found: dict[int, Expression]
    ) -> dict[int, Expression]:
        """The values of the fallback list where no label was found."""
        terms = self.terms
        any_found = self.free.free("found")
        some = [terms.column(name) for name in cells.values()]
        is_found = terms.exp.In(this=terms.number(1), expressions=some) if some else None
        value = terms.number(0) if is_found is None else terms.flag(is_found)
        names = self.columns_with(used_features(fallback), [*cells.values(), any_found])
        self.add("found", names, [(any_found, value)])
        guessed = self._layer(fallback, "without labels", None, (), [*cells.values(), any_found])
        sure = terms.equal(terms.column(any_found), terms.number(1))
        return {
            label: terms.case([(sure, value)], terms.closed(label, guessed))
            for label, value in found.items()
        }

    def _layer(
        self, part: Theory, name: str, seen: Cells | None, later: tuple[int, ...], kept: list[str]
    ) -> Cells:
        """Add the labels that a layer writes; it reads `seen`, or its own labels."""
        if not is_list(part):
            return self._votes(part, name, seen or {}, seen is not None, later, kept)
        cells: Cells = {}
        stopped: str | None = None
        parts = steps(part, seen is None, _MOST_FLAGS)
        for number, rules in enumerate(parts, 1):
            rest = [rule for further in parts[number:] for rule in further]
            step = _Step(
                self, rules, LabelSource(cells if seen is None else seen, seen is not None)
            )
            title = name if len(parts) == 1 else f"{name}, step {number}"
            others = [*kept, *((seen or {}).values())]
            needed = sorted({*later, *used_features(rest)})
            step.share(title, cells, stopped, others, needed)
            cells, stopped = step.write(title, cells, stopped, others if rest else kept, needed)
        return cells

    def _votes(
        self,
        part: Theory,
        name: str,
        seen: Cells,
        closed: bool,
        later: tuple[int, ...],
        kept: list[str],
    ) -> Cells:
        """Add the votes of a rule set: a label with more votes for presence is present."""
        terms, labels = self.terms, LabelSource(seen, closed)
        if is_scorecard(part):
            return PointTables(self, part, name, self.columns_with(later, kept)).cells(labels)
        cells = self.new_cells(label for rule in part for label in rule.head.labels)
        computed = []
        for label, cell in cells.items():
            votes: dict[int, list[Expression]] = {0: [], 1: []}
            for rule in part:
                for voted, value, number in rule.ballot:
                    if voted == label:
                        fires = terms.body(rule.body, labels)
                        votes[value].append(terms.flag(fires, number))
            more = terms.above(terms.total(votes[1]), terms.total(votes[0]))
            computed.append((cell, terms.flag(more)))
        self.add(name, self.columns_with(later, [*kept, *cells.values()]), computed)
        return cells

    def new_cells(self, labels: Iterable[int]) -> Cells:
        """Columns for labels, with their names if these are free."""
        names = self.plan.schema.labels
        return {
            label: self.free_name(names[label], f"label {label + 1}")
            for label in sorted(set(labels))
        }

    def free_name(self, name: str, otherwise: str) -> str:
        """A free name, or another one if the database does not allow it."""
        free = self.free.free(name)
        return free if self.dialect.fault_of(free) is None else self.free.free(otherwise)

    def add(self, name: str, columns: list[str], computed: list[tuple[str, Expression]]) -> None:
        """Add a table with these columns, some of them computed from the table before."""
        terms, values = self.terms, dict(computed)
        check_column_count(len(columns), self.dialect)
        select = [
            terms.named(values[column], column) if column in values else terms.column(column)
            for column in columns or ["one"]
        ]
        if not columns:  # a table has columns, whether or not they are needed
            select = [terms.named(terms.number(1), "one")]
        identifier = terms.identifier(self.tables.free(name))
        self.tables_made.append((identifier, terms.exp.select(*select).from_(self.source)))
        self.source = terms.exp.Table(this=identifier.copy())

    def columns_with(self, features: Iterable[int], others: Iterable[str]) -> list[str]:
        """The keys, some features, and other columns."""
        return list(dict.fromkeys([*self.keys, *self._of_features(features), *others]))

    def _of_features(self, features: Iterable[int]) -> list[str]:
        return [self.names[self.plan.schema.feature_names[column]] for column in features]


class _Step:
    """Rules of which none tests what another one of them writes."""

    def __init__(self, query: _Query, rules: list[Rule], labels: LabelSource) -> None:
        self.query, self.rules, self.labels = query, rules, labels
        self.flags: dict[int, str] = {}

    def share(
        self, title: str, cells: Cells, stopped: str | None, others: list[str], later: Iterable[int]
    ) -> None:
        """Compute the conditions of rules that decide several labels once for all of them."""
        query = self.query
        shared = [
            number
            for number, rule in enumerate(self.rules)
            if (len(rule.head) > 1 or rule.stops) and len(rule.body)
        ]
        if not shared:
            return
        numbers = {number: query.free.free(f"rule {number + 1} of {title}") for number in shared}
        computed = [(name, self._fires(self.rules[number])) for number, name in numbers.items()]
        alone = used_features(r for n, r in enumerate(self.rules) if n not in numbers)
        states = [*others, *cells.values(), *([stopped] if stopped else [])]
        names = query.columns_with(sorted({*alone, *later}), [*states, *numbers.values()])
        query.add(f"conditions of {title}", names, computed)
        self.flags = numbers

    def write(
        self, title: str, cells: Cells, stopped: str | None, others: list[str], later: Sequence[int]
    ) -> tuple[Cells, str | None]:
        """Write the labels; cells that are written already stay."""
        query, terms = self.query, self.query.terms
        labels = {label for rule in self.rules for label in rule.head.labels}
        after = {**cells, **query.new_cells(labels - cells.keys())}
        computed = [(after[label], self._cell(label, cells, stopped)) for label in sorted(labels)]
        stops = [number for number, rule in enumerate(self.rules) if rule.stops]
        ended = stopped
        if stops:
            ended = stopped or query.free.free("stopped")
            pairs = [(self._condition(number), terms.number(1)) for number in stops]
            if stopped:
                pairs.insert(0, (self._is_stopped(stopped), terms.number(1)))
            computed.append((ended, terms.case(pairs, terms.number(0))))
        states = [*after.values(), *others, *([ended] if ended else [])]
        query.add(title, query.columns_with(later, states), computed)
        return after, ended

    def _cell(self, label: int, cells: Cells, stopped: str | None) -> Expression:
        terms = self.query.terms
        null = terms.exp.Null()
        pairs = []
        if label in cells:
            column = terms.column(cells[label])
            is_written = terms.exp.Not(this=terms.exp.Is(this=column, expression=null.copy()))
            pairs.append((is_written, column.copy()))
        if stopped:
            pairs.append((self._is_stopped(stopped), null.copy()))
        for number, rule in enumerate(self.rules):
            head = dict(rule.head)
            if label not in head and not rule.stops:
                continue
            value = terms.number(head[label]) if label in head else null.copy()
            if not len(rule.body):
                # Alone, NULL would be of no type, and in PostgreSQL no number.
                alone = value if label in head else terms.cast(value, "int")
                return terms.case(pairs, value) if pairs else alone
            pairs.append((self._condition(number), value))
        return terms.case(pairs)

    def _is_stopped(self, column: str) -> Expression:
        terms = self.query.terms
        return terms.equal(terms.column(column), terms.number(1))

    def _condition(self, number: int) -> Expression:
        terms = self.query.terms
        if number in self.flags:
            return terms.equal(terms.column(self.flags[number]), terms.number(1))
        return terms.body(self.rules[number].body, self.labels)

    def _fires(self, rule: Rule) -> Expression:
        terms = self.query.terms
        return terms.flag(terms.body(rule.body, self.labels))


def _table(terms: Terms, parts: tuple[str, ...]) -> Expression:
    names = ("this", "db", "catalog")
    if not 1 <= len(parts) <= len(names) or not all(isinstance(p, str) and p for p in parts):
        raise ValueError(f"table must be a name, or those of a schema and a table, not {parts!r}")
    identifiers = map(terms.identifier, reversed(parts))
    return terms.exp.Table(**dict(zip(names, identifiers, strict=False)))
