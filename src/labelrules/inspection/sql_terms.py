"""Parts of queries: columns, texts, numbers, conditions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from labelrules._checks import quoted
from labelrules.data.memory.columns import is_number_text
from labelrules.data.schema import Schema
from labelrules.inspection.export_plan import other_categories
from labelrules.inspection.sql_dialects import Dialect
from labelrules.rules.body import Body
from labelrules.rules.condition import Condition

Expression: TypeAlias = Any
"""An expression of sqlglot, which is imported on use."""

_SINGLE = 2.0**24  # up to here all whole numbers have single precision


@dataclass(frozen=True)
class Looks:
    """Where conditions on labels look.

    Parameters
    ----------
    cells : mapping of int to str
        From labels that some rule has written to their columns.
    closed : bool
        Whether what nobody wrote is absent; else it satisfies no condition.
    """

    cells: Mapping[int, str]
    closed: bool


class Terms:
    """Makes expressions of sqlglot.

    Parameters
    ----------
    schema : Schema
    names : mapping of str to str
        From features to the columns of the table.
    dialect : Dialect
    """

    def __init__(self, schema: Schema, names: Mapping[str, str], dialect: Dialect) -> None:
        self.exp: Any = sqlglot().exp
        self.schema, self.names, self.dialect = schema, names, dialect

    def column(self, name: str) -> Expression:
        """A column by its name."""
        return self.exp.Column(this=self.identifier(name))

    def identifier(self, name: str) -> Expression:
        """A name, in quotes whatever it is."""
        if "\0" in name:
            raise ValueError(f"SQL has no names with null characters, such as {quoted(name)}")
        return self.exp.to_identifier(name, quoted=True)

    def named(self, value: Expression, name: str) -> Expression:
        """A value with a name for its column."""
        return self.exp.Alias(this=value, alias=self.identifier(name))

    def number(self, value: float) -> Expression:
        """A number that databases read as exactly this one."""
        number = self.exp.Literal.number(number_text(abs(value)))
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
        """Text as UTF-8, which MySQL compares sign by sign, with case and spaces at the end."""
        utf8 = sqlglot().parse_one("CAST(NULL AS CHAR CHARACTER SET utf8mb4)", dialect="mysql")
        utf8.set("this", text)
        return self.cast(utf8, "binary")

    def cast(self, value: Expression, kind: str) -> Expression:
        """A value as one of another type."""
        return self.exp.Cast(this=value, to=self.exp.DataType.build(kind))

    def read(self, number: int) -> Expression | None:
        """The values of a feature as they are compared; None if that is as they are."""
        feature = self.schema.features[number]
        column = self.column(self.names[feature.name])
        if feature.is_numeric and self.dialect.nan_is_greatest:
            nan = self.cast(self.exp.Literal.string("NaN"), "double")
            return self.exp.Nullif(this=column, expression=nan)
        if not feature.is_numeric and self.dialect.name == "mysql":
            return self.in_bytes(column)
        return None

    def equal(self, left: Expression, right: Expression) -> Expression:
        """Whether two values are equal."""
        return self.exp.EQ(this=left, expression=right)

    def truth(self, value: bool) -> Expression:
        """What always or never holds; not all databases have words for it."""
        return self.equal(self.number(1), self.number(int(value)))

    def case(
        self, pairs: list[tuple[Expression, Expression]], default: Expression | None = None
    ) -> Expression:
        """The value of the first condition that holds, else the default, else NULL."""
        ifs = [self.exp.If(this=condition, true=value) for condition, value in pairs]
        return self.exp.Case(ifs=ifs, default=default)

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

    def closed(self, label: int, cells: Mapping[int, str]) -> Expression:
        """What was written of a label; 0 where nobody did."""
        if label not in cells:
            return self.number(0)
        values = {"this": self.column(cells[label]), "expressions": [self.number(0)]}
        return self.exp.Coalesce(**values)

    def body(self, body: Body, looks: Looks) -> Expression:
        """All conditions of a body."""
        parts = [self._condition(condition, looks) for condition in body]
        return self.exp.and_(*parts) if parts else self.truth(True)

    def _condition(self, condition: Condition, looks: Looks) -> Expression:
        if condition.on_label:
            return self._label(condition, looks)
        feature = self.schema.features[condition.column]
        column = self.column(self.names[feature.name])
        if feature.categories is None:
            kind = self.exp.LTE if condition.operator == "<=" else self.exp.GT
            return kind(this=column, expression=self.number(condition.value))
        code = int(condition.value)
        if condition.operator == "=":
            return self._among(column, (feature.categories[code],))
        # A value that is not among the categories is missing: it is not enough to differ.
        return self._among(column, other_categories(self.schema, condition.column, code))

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

    def _label(self, condition: Condition, looks: Looks) -> Expression:
        value = self.number(int(condition.value))
        if looks.closed:
            return self.equal(self.closed(condition.column, looks.cells), value)
        if condition.column not in looks.cells:
            return self.truth(False)
        return self.equal(self.column(looks.cells[condition.column]), value)


def number_text(value: float) -> str:
    """A number as SQL; with an exponent unless it is the same in single precision.

    Without an exponent it is a decimal number, which some databases compare with a column of
    single precision in single precision, and round twice if it has many digits.

    >>> number_text(2.5), number_text(3.0), number_text(0.1), number_text(1e-7)
    ('2.5', '3', '0.1e0', '1e-07')
    """
    text = repr(float(value)).removesuffix(".0")
    is_short = abs(value) < _SINGLE and float(np.float32(value)) == value
    return text if is_short or "e" in text else f"{text}e0"


def sqlglot() -> Any:
    """The library that knows the dialects, if it is there."""
    try:
        import sqlglot
    except ImportError:
        raise ImportError(
            "SQL needs sqlglot, which is not installed: pip install 'labelrules[sql]'"
        ) from None
    return sqlglot
