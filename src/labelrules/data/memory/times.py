"""Dates, times and durations of NumPy, pandas and Python as the numbers that stand for them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._checks import quoted
from labelrules._types import Floats, Integers, Mask
from labelrules.data.errors import DataError
from labelrules.data.times import DAY, TimeKind

_DAYS = ("Y", "M", "W", "D")
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
_MICROSECONDS = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6}
_EPOCH = datetime(1970, 1, 1)
_FIRST_DAY = date(1970, 1, 1).toordinal()


def object_time_kind(value: Any) -> TimeKind | None:
    """The kind of a Python or NumPy object that is a date, a time or a duration; else None."""
    if isinstance(value, datetime):
        return "time" if value.utcoffset() is None else "UTC time"
    if isinstance(value, date):
        return "date"
    if isinstance(value, timedelta | np.timedelta64):
        return "duration"
    return "time" if isinstance(value, np.datetime64) else None


def numpy_times(values: npt.NDArray[Any], name: str) -> tuple[Floats, TimeKind]:
    """The numbers of an array of times or durations; what is finer than microseconds is cut off."""
    unit, count = np.datetime_data(values.dtype)
    missing = np.isnat(values)
    if values.dtype.kind == "m":
        if unit in ("Y", "M", "generic"):
            what = "months or years" if unit != "generic" else "durations without a unit"
            raise DataError(f"column {quoted(name)} holds {what}: give durations in days or less")
        return _floats(_durations(values[~missing].astype(np.int64), unit, count, name), missing)
    if unit == "generic":  # nothing but NaT
        return np.full(len(values), nan), "time"
    known = values[~missing]
    years = known.astype("M8[Y]").astype(np.int64) + 1970
    if years.size and not (years.min() >= 1 and years.max() <= 9999):
        raise DataError(f"column {quoted(name)} holds years beyond 1 to 9999: leave such rows out")
    if unit in _DAYS:
        days = known.astype("M8[D]").astype(np.int64)
        return _floats((days, "date"), missing)
    whole = known.astype(np.int64) * count
    if unit in _PER_MICROSECOND:
        return _floats((_exact(whole // _PER_MICROSECOND[unit], name), "time"), missing)
    return _floats((_exact(whole * _MICROSECONDS[unit], name), "time"), missing)


def _durations(whole: Integers, unit: str, count: int, name: str) -> tuple[Integers, TimeKind]:
    if unit in _PER_MICROSECOND:
        return _exact(whole * count // _PER_MICROSECOND[unit], name), "duration"
    factor = count * (_MICROSECONDS | {"D": DAY, "W": 7 * DAY})[unit]
    if whole.size and max(abs(int(whole.min())), abs(int(whole.max()))) * factor >= 2**63:
        raise DataError(f"column {quoted(name)} holds durations of more than 292,000 years")
    return _exact(whole * factor, name), "duration"


def _exact(whole: Integers, name: str) -> Integers:
    rounded = whole[whole.astype(np.float64).astype(np.int64) != whole]
    if rounded.size:
        raise _too_far(name)
    return whole


def _too_far(name: str) -> DataError:
    return DataError(
        f"column {quoted(name)} holds a time more than 285 years from 1970, or a duration as long, "
        "to the microsecond, which a float64 cannot hold exactly: round the column to seconds"
    )


def _floats(found: tuple[Integers, TimeKind], missing: Mask) -> tuple[Floats, TimeKind]:
    values = np.full(len(missing), nan)
    values[~missing] = found[0]
    return values, found[1]


def object_times(values: Sequence[Any], kinds: Sequence[str], name: str) -> tuple[Floats, TimeKind]:
    """The numbers of Python objects that are all durations, all with a zone, or all without."""
    found: Any = set(kinds) - {"missing"}
    kind: TimeKind = next(iter(found)) if len(found) == 1 else "time"
    numbers = [
        nan if own == "missing" else _object_number(value, kind, name)
        for value, own in zip(values, kinds, strict=True)
    ]
    return np.array(numbers, dtype=np.float64), kind


def _object_number(value: Any, kind: TimeKind, name: str) -> float:
    if isinstance(value, np.datetime64 | np.timedelta64):
        numbers, own = numpy_times(np.array([value]), name)
        return float(numbers[0]) * (DAY if own == "date" and kind == "time" else 1)
    if kind == "date":
        return float(value.toordinal() - _FIRST_DAY)
    if kind == "duration":
        whole = value // timedelta(microseconds=1)
    else:
        if not isinstance(value, datetime):
            value = datetime(value.year, value.month, value.day)
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        whole = (value - _EPOCH) // timedelta(microseconds=1)
    if float(whole) != whole:
        raise _too_far(name)
    return float(whole)
