"""Names of tables and columns: what is refused, and why."""

from collections.abc import Iterable, Mapping, Sequence

from labelrules._checks import quoted, suggestion
from labelrules.inspection.sql_dialects import Dialect

TRUTH = ("true", "false")
"""Words that SQLite takes for truth values even in quotes, if they name a column of a subquery."""

_RENAME_KEYS = "give the key another name in the table, or in a view of it"


def check_names(table: object, keys: object, columns: object) -> None:
    """Refuse what is no name, or an empty one, and a single name where several are asked for."""
    if isinstance(keys, str):
        raise ValueError(f"keys must be a list of names, such as [{keys!r}], not the text {keys!r}")
    if not isinstance(keys, Sequence):
        raise ValueError(f"keys must be a list of names, not {keys!r}")
    if not isinstance(table, str | Sequence):
        raise ValueError(f"table must be a name, or a list of names, not {table!r}")
    if not isinstance(columns, Mapping):
        raise ValueError(
            f"columns must say which name stands for which, such as {{'Age': 'age_1'}}, "
            f"not {columns!r:.60}"
        )
    parts = (table,) if isinstance(table, str) else table
    for what, names in (("table", parts), ("keys", keys), ("columns", columns.values())):
        for name in names:
            if not (isinstance(name, str) and name):
                raise ValueError(f"{what}: a name must be text that is not empty, not {name!r}")


def check_known(columns: Mapping[str, str], names: Sequence[str]) -> None:
    """Refuse new names for what is not there."""
    for name in columns:
        if name not in names:
            raise ValueError(
                f"columns: there is no feature or label {quoted(name)}{suggestion(name, names)}"
            )


def check_unique(names: Iterable[str], where: str, keys: Sequence[str]) -> None:
    """Refuse names that are the same where case does not matter."""
    seen: dict[str, str] = {}
    for name in names:
        if name.casefold() in seen:
            other = seen[name.casefold()]
            are_keys = sum(key.casefold() == name.casefold() for key in keys) > 1
            way = _RENAME_KEYS if are_keys else "say what they are called by columns={...}"
            raise ValueError(
                f"{where} would have the columns {quoted(other)} and {quoted(name)}, which many "
                f"databases take for the same: {way}"
            )
        seen[name.casefold()] = name


def check_dialect_has(names: Iterable[str], where: str, dialect: Dialect) -> None:
    """Refuse names that a database does not have, or takes for others."""
    for name in names:
        fault = dialect.fault_of(name)
        if fault:
            raise ValueError(
                f"{dialect.title} {fault}, so {where} cannot have {quoted(name)}: choose another "
                "name; of features and labels, say it by columns={...}"
            )


def refuse_truth(names: Iterable[str], keys: Sequence[str]) -> None:
    """Refuse columns that SQLite takes for truth values."""
    for name in names:
        if name.casefold() in TRUTH:
            renamed = f"give it another name in the table, and say so by columns={{{name!r}: ...}}"
            way = _RENAME_KEYS if name in keys else renamed
            raise ValueError(f"SQLite would take the column {name!r} for a truth value: {way}")


def check_number(n_columns: int, dialect: Dialect) -> None:
    """Refuse more columns than a database has room for."""
    if dialect.most_columns and n_columns > dialect.most_columns:
        raise ValueError(
            f"the query would need {n_columns} columns at once, and {dialect.title} has at most "
            f"{dialect.most_columns}: learn from fewer features, or use to_python"
        )
