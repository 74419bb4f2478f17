"""Dates, times and durations of NumPy, pandas and Python as the numbers that stand for them."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from math import nan
from typing import Any

import numpy as np
import numpy.typing as npt

from labelrules._checks import quoted
from labelrules._types import Floats, Integers, Mask
from labelrules.data.errors import DataError
from labelrules.data.times import DAY, LIMITS, TimeKind

_DAYS = ("Y", "M", "W", "D")
_PER_MICROSECOND = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
_MICROSECONDS = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6}
_MICROSECONDS |= {"D": DAY, "W": 7 * DAY}
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
        whole = values[~missing].astype(np.int64)
        return _floats(_microseconds(whole, unit, count, "duration", name), missing)
    if unit == "generic":  # nothing but NaT
        return np.full(len(values), nan), "time"
    known = values[~missing]
    if unit in _DAYS:
        years = known.astype("M8[Y]").astype(np.int64) + 1970
        if years.size and not (years.min() >= 1 and years.max() <= 9999):
            raise _beyond("time", name)
        return _floats((known.astype("M8[D]").astype(np.int64), "date"), missing)
    return _floats(_microseconds(known.astype(np.int64), unit, count, "time", name), missing)


def _microseconds(
    whole: Integers, unit: str, count: int, kind: TimeKind, name: str
) -> tuple[Integers, TimeKind]:
    """So many times `count` units in microseconds; what is finer is cut off."""
    factor = count * _MICROSECONDS.get(unit, 1)
    ends = (int(whole.min()), int(whole.max())) if whole.size else (0, 0)
    if max(map(abs, ends)) * factor >= 2**63:
        whole = whole.astype(object)  # Python's numbers have no end
    whole = whole * factor // _PER_MICROSECOND.get(unit, 1)
    if whole.size and not LIMITS[kind][0] <= whole.min() <= whole.max() <= LIMITS[kind][1]:
        raise _beyond(kind, name)
    return _exact(whole.astype(np.int64), name), kind


def _beyond(kind: TimeKind, name: str) -> DataError:
    if kind == "duration":
        return DataError(f"column {quoted(name)} holds durations of more than 292,000 years")
    in_utc = " in UTC" if kind == "UTC time" else ""
    return DataError(
        f"column {quoted(name)} holds years beyond 1 to 9999{in_utc}: leave such rows out"
    )


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


def object_times(
    values: Sequence[Any], kinds: Sequence[str], name: str, local: bool = False
) -> tuple[Floats, TimeKind]:
    """The numbers of Python objects that are all durations, all with a zone, or all without.

    With `local`, times with a zone are those of the clock there, without the zone.
    """
    found: Any = set(kinds) - {"missing"}
    kind: TimeKind = next(iter(found)) if len(found) == 1 else "time"
    if local and kind == "UTC time":
        kind = "time"
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
        since = value.replace(tzinfo=None) - _EPOCH
        # subtracted from what has no end, because the year may be the first or the last
        since -= value.utcoffset() if kind == "UTC time" else timedelta()
        whole = since // timedelta(microseconds=1)
        if not LIMITS[kind][0] <= whole <= LIMITS[kind][1]:
            raise _beyond(kind, name)
    if float(whole) != whole:
        raise _too_far(name)
    return float(whole)
