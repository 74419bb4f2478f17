"""Results as data frames."""

from typing import Any


def frame_of(columns: dict[str, Any]) -> Any:
    """The columns as a data frame of pandas."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            'to_frame needs pandas: pip install "labelrules[pandas]"; '
            "as_dict gives the columns for any other library"
        ) from None
    return pd.DataFrame(columns)
