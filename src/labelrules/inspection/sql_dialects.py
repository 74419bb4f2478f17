"""What databases differ in, beyond the grammar of their SQL."""

from dataclasses import dataclass

from labelrules._checks import quoted, suggestion


@dataclass(frozen=True)
class Dialect:
    """A database, and what is particular to it.

    Parameters
    ----------
    name, title : str
        What it is called in programs, and by people.
    materialized : bool
        Whether a common table expression can be said to be computed once.
    nan_is_greatest : bool
        Whether NaN is a number above all others and equal to itself; else it is above none.
    longest, in_bytes : int, bool
        How long a name can be, in characters or in bytes of UTF-8; 0 for any length. PostgreSQL
        cuts longer names off without an error, so that two of them can become the same.
    most_columns : int
        How many columns a table or a result can have; 0 if that is not known.
    """

    name: str
    title: str
    materialized: bool = False
    nan_is_greatest: bool = False
    longest: int = 0
    in_bytes: bool = False
    most_columns: int = 0

    def fault_of(self, name: str) -> str | None:
        """Why the database has no such name, or takes it for another one; None if it is fine."""
        length = len(name.encode("utf-8", "surrogatepass")) if self.in_bytes else len(name)
        if self.longest and length > self.longest:
            unit = "bytes of UTF-8" if self.in_bytes else "characters"
            return f"has names of at most {self.longest} {unit}, not {length}"
        if self.name == "mysql" and (name.endswith(" ") or any(sign > "\uffff" for sign in name)):
            return "has no names that end in a space, or with signs above U+FFFF"
        if self.name in _WITH_VARIABLES and "${" in name:
            return "puts the value of a variable in the place of ${...}"
        return None


_WITH_VARIABLES = ("databricks", "spark")

DIALECTS = {
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
"""The databases whose SQL is written."""


_NO_TYPING_ERRORS = ("mssql", "plsql", "psql", "tsql")
"""Names that look like MySQL and are something else."""


def dialect_called(name: str) -> Dialect:
    """A dialect by its name."""
    if name not in DIALECTS:
        is_other = str(name).casefold() in _NO_TYPING_ERRORS
        meant = "" if is_other else suggestion(str(name), DIALECTS)
        known = ", ".join(DIALECTS)
        raise ValueError(f"dialect must be one of {known}, not {quoted(name)}{meant}")
    return DIALECTS[name]
