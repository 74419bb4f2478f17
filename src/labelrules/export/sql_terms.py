"""The dialects of SQL, and expressions in them: columns, texts, numbers, conditions."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from labelrules._checks import quoted, suggestion
from labelrules.data.memory.columns import are_truth_words, is_number_text
from labelrules.data.schema import Feature, Schema
from labelrules.export.plan import holding_categories
from labelrules.rules.conditions import Body, Condition


@dataclass(frozen=True)
class Dialect:
    """A database and its limits, beyond the grammar of its SQL."""

    name: str
    title: str  # its name in programs, and in messages
    materialized: bool = False  # whether a common table expression can be computed once
    nan_is_greatest: bool = False  # NaN is above all numbers and equals itself; else above none
    longest: int = 0  # length of a name, 0 for any; PostgreSQL cuts longer ones silently
    in_bytes: bool = False  # whether that is in bytes of UTF-8, not in characters
    most_columns: int = 0  # how many columns a table or a result can have; 0 if that is not known

    def fault_of(self, name: str) -> str | None:
        """Why the database does not allow a name; None if it does."""
        length = len(name.encode("utf-8", "surrogatepass")) if self.in_bytes else len(name)
        if self.longest and length > self.longest:
            unit = "bytes of UTF-8" if self.in_bytes else "characters"
            return f"has names of at most {self.longest} {unit}, not {length}"
        if self.name == "mysql" and (name.endswith(" ") or any(c > "\uffff" for c in name)):
            return "has no names that end in a space, or with characters above U+FFFF"
        if self.name in _WITH_VARIABLES and "${" in name:
            return "puts the value of a variable in the place of ${...}"
        return None


_WITH_VARIABLES = ("databricks", "spark")

DIALECTS = {  # the databases whose SQL is written
    one.name: one
    for one in (
        Dialect("bigquery", "BigQuery", longest=300),
        Dialect("databricks", "Databricks", nan_is_greatest=True, longest=255),
        Dialect("duckdb", "DuckDB", materialized=True, nan_is_greatest=True),
        Dialect("mysql", "MySQL", longest=64, most_columns=4096),
        Dialect("postgres", "PostgreSQL", True, True, 63, in_bytes=True, most_columns=1600),
        Dialect("redshift", "Redshift", False, True, 127, in_bytes=True, most_columns=1600),
        Dialect("snowflake", "Snowflake", nan_is_greatest=True, longest=255),
        Dialect("spark", "Spark", nan_is_greatest=True),
        Dialect("sqlite", "SQLite", materialized=True, most_columns=2000),
        Dialect("trino", "Trino"),
    )
}


_NO_TYPING_ERRORS = ("mssql", "plsql", "psql", "tsql")  # other systems, with names like MySQL


def dialect_called(name: str) -> Dialect:
    """A dialect by its name."""
    if name not in DIALECTS:
        is_other = str(name).casefold() in _NO_TYPING_ERRORS
        meant = "" if is_other else suggestion(str(name), DIALECTS)
        known = ", ".join(DIALECTS)
        raise ValueError(f"dialect must be one of {known}, not {quoted(name)}{meant}")
    return DIALECTS[name]


Cells: TypeAlias = dict[int, str]  # from labels that some rule has written to their columns
Expression: TypeAlias = Any  # an expression of sqlglot, which is imported on use
_MOST_ARGUMENTS = 60  # of a function
_SINGLE = 2.0**24  # up to here all whole numbers have single precision


_STORED_TRUTH = {
    "false": ("False", "false", "FALSE", "F", "f", "0", "0.0", "0.00"),
    "true": ("True", "true", "TRUE", "T", "t", "1", "1.0", "1.00"),
}
"""Truth values as text: of a column of text, of truth values, of whole and of other numbers."""


class LabelSource(NamedTuple):
    """Where conditions on labels read."""

    cells: Mapping[int, str]  # from labels that some rule has written to their columns
    closed: bool  # whether labels that no rule wrote are absent; else they satisfy no condition


class Terms:
    """Builds expressions of sqlglot; the names are those of the features in the table."""

    def __init__(self, schema: Schema, names: Mapping[str, str], dialect: Dialect) -> None:
        self.exp: Any = sqlglot().exp
        self.schema, self.names, self.dialect = schema, names, dialect

    def column(self, name: str) -> Expression:
        """A column by its name."""
        return self.exp.Column(this=self.identifier(name))

    def identifier(self, name: str) -> Expression:
        """A name, always in quotes."""
        if "\0" in name:
            raise ValueError(f"SQL has no names with null characters, such as {quoted(name)}")
        return self.exp.to_identifier(name, quoted=True)

    def named(self, value: Expression, name: str) -> Expression:
        """A value with a name for its column."""
        return self.exp.Alias(this=value, alias=self.identifier(name))

    def number(self, value: float) -> Expression:
        """A number that databases read as exactly this one."""
        number = self.exp.Literal.number(sql_number(abs(value)))
        return self.exp.Neg(this=number) if value < 0 else number

    def text(self, text: str) -> Expression:
        """A category."""
        if "\0" in text:
            raise ValueError(f"SQL has no texts with null characters, such as {quoted(text)}")
        if self.dialect.fault_of("${") and "${" in text:
            parts = re.split(r"(?<=\$)(?={)", text)  # else taken for the name of a variable
            return self.exp.Concat(expressions=[self.exp.Literal.string(part) for part in parts])
        literal = self.exp.Literal.string(text)
        # Connections differ in the bytes that they send, but not for ASCII.
        return literal if self.dialect.name != "mysql" or text.isascii() else self.in_bytes(literal)

    def in_bytes(self, text: Expression) -> Expression:
        """Text as UTF-8, which MySQL compares exactly, with case and spaces at the end."""
        utf8 = sqlglot().parse_one("CAST(NULL AS CHAR CHARACTER SET utf8mb4)", dialect="mysql")
        utf8.set("this", text)
        return self.cast(utf8, "binary")

    def cast(self, value: Expression, kind: str) -> Expression:
        """A value as one of another type."""
        return self.exp.Cast(this=value, to=self.exp.DataType.build(kind))

    def read(self, number: int) -> Expression | None:
        """The values of a feature in the form that conditions compare; None if unchanged."""
        feature = self.schema.features[number]
        column = self.column(self.names[feature.name])
        if feature.is_numeric and self.dialect.nan_is_greatest:
            nan = self.cast(self.exp.Literal.string("NaN"), "double")
            return self.exp.Nullif(this=column, expression=nan)
        if feature.categories is None:
            return None
        # Redshift has no cast from truth values to text, but compares them with 'True'.
        if self.dialect.name != "redshift" and are_truth_words(feature.categories):
            return self._truth_word(column, feature.categories)
        return self.in_bytes(column) if self.dialect.name == "mysql" else None

    def _truth_word(self, column: Expression, categories: Sequence[str]) -> Expression:
        """The category of a truth value, which may be stored as such, as a number, or as text."""
        is_mysql = self.dialect.name == "mysql"
        text = self.in_bytes(column) if is_mysql else self.cast(column, "text")
        pairs = []
        for word in categories:
            stored = dict.fromkeys([word, *_STORED_TRUTH[word.lower()]])
            is_one = self.exp.In(this=text.copy(), expressions=list(map(self.text, stored)))
            pairs.append((is_one, self.text(word)))
        return self.case(pairs)

    def equal(self, left: Expression, right: Expression) -> Expression:
        """Whether two values are equal."""
        return self.exp.EQ(this=left, expression=right)

    def truth(self, value: bool) -> Expression:
        """A condition that always or never holds; not all databases have constants for it."""
        return self.equal(self.number(1), self.number(int(value)))

    def case(
        self, pairs: list[tuple[Expression, Expression]], default: Expression | None = None
    ) -> Expression:
        """The value of the first condition that holds, else the default, else NULL."""
        ifs = [self.exp.If(this=condition, true=value) for condition, value in pairs]
        return self.exp.Case(ifs=ifs, default=default)

    def above(self, left: Expression, right: Expression) -> Expression:
        """Whether a value is above another one."""
        return self.exp.GT(this=left, expression=right)

    def flag(self, condition: Expression, number: int = 1) -> Expression:
        """1, or another number, where a condition holds, else 0."""
        return self.case([(condition, self.number(number))], self.number(0))

    def total(self, terms: list[Expression]) -> Expression:
        """A sum as a balanced tree, since databases limit how deep expressions are."""
        if len(terms) < 2:
            return terms[0] if terms else self.number(0)
        half = len(terms) // 2
        sides = {"this": self.total(terms[:half]), "expression": self.total(terms[half:])}
        return self.exp.Paren(this=self.exp.Add(**sides))

    def greatest(self, values: list[Expression]) -> Expression:
        """The greatest of some numbers, of which none is NULL; databases limit how many."""
        if len(values) > _MOST_ARGUMENTS:
            half = len(values) // 2
            values = [self.greatest(values[:half]), self.greatest(values[half:])]
        if len(values) == 1:
            return values[0]
        # In DuckDB it ignores NULL; were that not wanted, sqlglot would test all values.
        ignores = self.dialect.name == "duckdb"
        return self.exp.Greatest(this=values[0], expressions=values[1:], ignore_nulls=ignores)

    def closed(self, label: int, cells: Mapping[int, str]) -> Expression:
        """The value of a label; 0 where no rule wrote it."""
        if label not in cells:
            return self.number(0)
        values = {"this": self.column(cells[label]), "expressions": [self.number(0)]}
        return self.exp.Coalesce(**values)

    def body(self, body: Body, labels: LabelSource) -> Expression:
        """All conditions of a body."""
        parts = [self._condition(condition, labels) for condition in body]
        return self.exp.and_(*parts) if parts else self.truth(True)

    def _condition(self, condition: Condition, labels: LabelSource) -> Expression:
        if condition.on_label:
            return self._label(condition, labels)
        feature = self.schema.features[condition.column]
        column = self.column(self.names[feature.name])
        if feature.categories is None:
            kind = self.exp.LTE if condition.operator == "<=" else self.exp.GT
            if feature.time is None:
                return kind(this=column, expression=self.number(condition.value))
            return kind(**self._times(column, feature, condition.value))
        # An unknown category is missing, so a value that merely differs is not enough.
        return self._among(column, holding_categories(condition, self.schema))

    def _times(self, column: Expression, feature: Feature, value: float) -> dict[str, Expression]:
        """The two sides of a comparison of a column with a date or a time."""
        kind, text = feature.time, feature.text(value).removesuffix("Z")
        text += ":00" * (text.count(":") == 1)  # not every database may leave out the seconds
        if self.dialect.name == "sqlite" and kind == "date":
            return {"this": self.exp.Anonymous(this="DATE", expressions=[column]),
                    "expression": self.exp.Literal.string(text)}  # fmt: skip
        if kind == "duration" or self.dialect.name == "sqlite":
            raise ValueError(
                f"{quoted(feature.name)} holds {kind}s, which cannot be exported to SQL of "
                f"{self.dialect.title}: turn them into numbers of one unit before learning"
            )
        if kind == "date":
            sides = self.cast(column, "date"), self.cast(self.exp.Literal.string(text), "date")
            return {"this": sides[0], "expression": sides[1]}
        literal = self.exp.Literal.string(text.replace("T", " ") + "+00:00" * (kind != "time"))
        if self.dialect.name == "mysql":
            if kind != "time":
                raise ValueError(f"MySQL has no times with a time zone, as {quoted(feature.name)}")
            return {"this": column, "expression": literal}
        type_name = "timestamp" if kind == "time" else "timestamptz"
        return {"this": column, "expression": self.cast(literal, type_name)}

    def _among(self, column: Expression, categories: tuple[str, ...]) -> Expression:
        """Whether a value is one of some categories."""
        values = [value for text in categories for value in self._values(text)]
        if not values:
            return self.truth(False)
        if len(values) == 1:
            return self.equal(column, values[0])
        return self.exp.In(this=column, expressions=values)

    def _values(self, text: str) -> list[Expression]:
        """A category; in SQLite also as a number, which a column without a type may hold."""
        is_number = self.dialect.name == "sqlite" and is_number_text(text)
        return [self.text(text), *([self.exp.Literal.number(text)] if is_number else [])]

    def _label(self, condition: Condition, labels: LabelSource) -> Expression:
        value = self.number(int(condition.value))
        if labels.closed:
            return self.equal(self.closed(condition.column, labels.cells), value)
        if condition.column not in labels.cells:
            return self.truth(False)
        return self.equal(self.column(labels.cells[condition.column]), value)


def sql_number(value: float) -> str:
    """A number as SQL; with an exponent unless it is the same in single precision.

    Without an exponent it is a decimal number, which some databases compare with a column of
    single precision in single precision, and round twice if it has many digits.

    >>> sql_number(2.5), sql_number(3.0), sql_number(0.1), sql_number(1e-7)
    ('2.5', '3', '0.1e0', '1e-07')
    """
    text = repr(float(value)).removesuffix(".0")
    is_short = abs(value) < _SINGLE and float(np.float32(value)) == value
    return text if is_short or "e" in text else f"{text}e0"


def sqlglot() -> Any:
    """The library of SQL dialects, if it is installed."""
    try:
        import sqlglot
    except ImportError:
        raise ImportError(
            "SQL needs sqlglot, which is not installed: pip install 'labelrules[sql]'"
        ) from None
    return sqlglot


TRUTH = ("true", "false")  # SQLite reads them as truth values, even in quotes, in subqueries

_RENAME_KEYS = "give the key another name in the table, or in a view of it"


def check_names(table: object, keys: object, columns: object) -> None:
    """Refuse names that are not texts or are empty, and one text where a list is needed."""
    if isinstance(keys, str):
        raise ValueError(f"keys must be a list of names, such as [{keys!r}], not the text {keys!r}")
    if not isinstance(keys, Sequence):
        raise ValueError(f"keys must be a list of names, not {keys!r}")
    if not isinstance(table, str | Sequence):
        raise ValueError(f"table must be a name, or a list of names, not {table!r}")
    if not isinstance(columns, Mapping):
        raise ValueError(
            f"columns must map names to names, such as {{'Age': 'age_1'}}, not {columns!r:.60}"
        )
    parts = (table,) if isinstance(table, str) else table
    for what, names in (("table", parts), ("keys", keys), ("columns", columns.values())):
        for name in names:
            if not (isinstance(name, str) and name):
                raise ValueError(f"{what}: a name must be text that is not empty, not {name!r}")


def check_renames(columns: Mapping[str, str], names: Sequence[str]) -> None:
    """Refuse new names for unknown features and labels."""
    for name in columns:
        if name not in names:
            raise ValueError(
                f"columns: there is no feature or label {quoted(name)}{suggestion(name, names)}"
            )


def check_unique(names: Iterable[str], where: str, keys: Sequence[str]) -> None:
    """Refuse names that differ only in case."""
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            other = seen[name.casefold()]
            are_keys = sum(key.casefold() == name.casefold() for key in keys) > 1
            remedy = _RENAME_KEYS if are_keys else "rename them by columns={...}"
            raise ValueError(
                f"{where} would have the columns {quoted(other)} and {quoted(name)}, which many "
                f"databases do not distinguish: {remedy}"
            )
        seen[name.casefold()] = name


def check_dialect_has(names: Iterable[str], where: str, dialect: Dialect) -> None:
    """Refuse names that a database does not allow."""
    for name in names:
        fault = dialect.fault_of(name)
        if fault:
            raise ValueError(
                f"{dialect.title} {fault}, so {where} cannot have {quoted(name)}: choose another "
                "name; rename features and labels by columns={...}"
            )


def refuse_truth(names: Iterable[str], keys: Sequence[str]) -> None:
    """Refuse columns that SQLite reads as truth values."""
    for name in names:
        if name.casefold() in TRUTH:
            other = f"give it another name in the table, and in columns={{{name!r}: ...}}"
            remedy = _RENAME_KEYS if name in keys else other
            raise ValueError(f"SQLite reads the column {name!r} as a truth value: {remedy}")


def check_column_count(n_columns: int, dialect: Dialect) -> None:
    """Refuse more columns than a database allows."""
    if dialect.most_columns and n_columns > dialect.most_columns:
        raise ValueError(
            f"the query would need {n_columns} columns at once, and {dialect.title} has at most "
            f"{dialect.most_columns}: learn from fewer features, or use to_python"
        )
