"""How results are shown: columns of text, and data frames."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from labelrules._checks import one_of

if TYPE_CHECKING:
    import pandas


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first column on the left, the others on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def typed_frame(columns: dict[str, list[Any]], types: dict[str, str], library: str) -> Any:
    """Columns as a frame of pandas or polars, for the `to_frame` of a result.

    The types are "number" (whole), "count" (whole, perhaps missing), "real" (perhaps missing),
    "flag" and "text".
    """
    one_of(library, "library", ("pandas", "polars"))
    try:
        return _pandas(columns, types) if library == "pandas" else _polars(columns, types)
    except ImportError:
        raise ImportError(
            f'to_frame needs {library}: pip install "labelrules[{library}]"'
        ) from None


def _pandas(columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
    import pandas as pd

    # Counts are whole numbers that may be missing, for which NumPy has no type.
    known = {"number": "int64", "count": "Int64", "real": "float64", "flag": "bool"}
    return pd.DataFrame(
        {
            name: pd.Series(values, dtype=known.get(types[name], "object"))
            for name, values in columns.items()
        }
    )


def _polars(columns: dict[str, list[Any]], types: dict[str, str]) -> Any:
    import polars as pl

    known = {"number": pl.Int64, "count": pl.Int64, "real": pl.Float64, "flag": pl.Boolean}
    schema = {name: known.get(kind, pl.String) for name, kind in types.items()}
    return pl.DataFrame(columns, schema=schema)


def pandas_frame(columns: dict[str, Any]) -> "pandas.DataFrame":
    """Columns as a pandas data frame, for the `to_frame` of a result."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            'to_frame needs pandas: pip install "labelrules[pandas]"; '
            "as_dict gives the columns for any other library"
        ) from None
    return pd.DataFrame(columns)
