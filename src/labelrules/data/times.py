"""Dates, times and durations as whole numbers, and as texts that read back as the same number.

A date is a number of days since 1970-01-01, a time the microseconds since that day began, a
duration a number of microseconds. Times with a time zone are in UTC.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Literal, TypeAlias, get_args

TimeKind: TypeAlias = Literal["date", "time", "UTC time", "duration"]
TIME_KINDS: tuple[TimeKind, ...] = get_args(TimeKind)

_SECOND = 1_000_000
_MINUTE, _HOUR, DAY = 60 * _SECOND, 3600 * _SECOND, 86400 * _SECOND
_EPOCH = datetime(1970, 1, 1)
_FIRST_DAY = date(1970, 1, 1).toordinal()
_LONGEST = 2**63 - 1  # as NumPy and Arrow have it

LIMITS: dict[TimeKind, tuple[int, int]] = {
    "date": (date.min.toordinal() - _FIRST_DAY, date.max.toordinal() - _FIRST_DAY),
    "time": tuple(  # type: ignore[dict-item]
        (end - _EPOCH) // timedelta(microseconds=1) for end in (datetime.min, datetime.max)
    ),
    "duration": (-_LONGEST, _LONGEST),
}
"""The least and the greatest number of each kind: years have four digits."""
LIMITS["UTC time"] = LIMITS["time"]

_EXAMPLES: dict[TimeKind, str] = {
    "date": "a date such as 2018-12-30",
    "time": "a time such as 2018-12-30T14:00",
    "UTC time": "a time such as 2018-12-30T14:00Z",
    "duration": "a duration such as 3 days 4 h 30 min",
}

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_TIME = re.compile(
    r"(\d{4}-\d{2}-\d{2})[T ]((?:[01]\d|2[0-3]):\d{2}(?::\d{2}(?:\.\d{1,6})?)?)"
    r"(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?",
    re.ASCII,
)
_UNITS = {
    **dict.fromkeys(("days", "day", "d"), DAY),
    **dict.fromkeys(("h", "hours", "hour"), _HOUR),
    **dict.fromkeys(("min", "minutes", "minute"), _MINUTE),
    **dict.fromkeys(("s", "seconds", "second"), _SECOND),
}
_PART = re.compile(rf"(\d+(?:\.\d+)?) ?({'|'.join(_UNITS)})(?= |\Z)", re.ASCII)
_CLOCK = re.compile(r"(\d+):(\d{2})(?::(\d{2}(?:\.\d{1,6})?))?", re.ASCII)


class TimeText(str):
    """The text of a date, a time or a duration, which stands without quotes."""

    __slots__ = ()


def example_of(kind: TimeKind) -> str:
    """What messages ask for."""
    return _EXAMPLES[kind]


def time_text(number: float, kind: TimeKind) -> TimeText:
    """A whole number as a date, a time or a duration; `read_time` reads it back.

    >>> time_text(17895, "date"), time_text(1_546_178_400_000_000, "UTC time")
    ('2018-12-30', '2018-12-30T14:00Z')
    >>> time_text(273_600_500_000, "duration")
    '3 days 4 h 0.5 s'
    """
    whole = int(number)
    if kind == "date":
        return TimeText(date.fromordinal(whole + _FIRST_DAY).isoformat())
    if kind == "duration":
        return TimeText(_duration_text(whole))
    found = _EPOCH + timedelta(microseconds=whole)
    text = found.isoformat(timespec="microseconds")
    if not found.microsecond:
        text = found.isoformat(timespec="seconds" if found.second else "minutes")
    return TimeText((text.rstrip("0") if "." in text else text) + "Z" * (kind == "UTC time"))


def _duration_text(whole: int) -> str:
    parts, rest = [], abs(whole)
    for unit, name in ((DAY, "days"), (_HOUR, "h"), (_MINUTE, "min")):
        number, rest = divmod(rest, unit)
        if number:
            parts.append(f"{number} {'day' if (number, name) == (1, 'days') else name}")
    if rest or not parts:
        seconds, fraction = divmod(rest, _SECOND)
        decimals = f".{fraction:06}".rstrip("0") if fraction else ""
        parts.append(f"{seconds}{decimals} s")
    return ("-" if whole < 0 else "") + " ".join(parts)


def read_time(text: str, kind: TimeKind) -> int | None:
    """The number of a date, a time or a duration; None if the text is none of this kind.

    A time may be a date, its midnight. A duration may have hours, minutes and seconds with colons,
    and one sign, which is for all of it.

    >>> read_time("2018-12-30", "date"), read_time("2018-12-30 14:00", "time")
    (17895, 1546178400000000)
    >>> read_time("2 h 30 min", "duration") == read_time("02:30:00", "duration") == 9_000_000_000
    True
    """
    if kind == "duration":
        return _read_duration(text)
    if kind == "date" or _DATE.fullmatch(text):
        days = _read_date(text)
        return days if kind == "date" or days is None else days * DAY
    return _read_instant(text, kind == "UTC time")


def time_kind_of(text: str) -> TimeKind | None:
    """Which kind of time a text is written as in ISO 8601: a date, or a time without or with zone.

    >>> time_kind_of("2018-12-30"), time_kind_of("2018-12-30T14:00+01:00"), time_kind_of("2018")
    ('date', 'UTC time', None)
    """
    kind: TimeKind = "date"
    if match := _TIME.fullmatch(text):
        kind = "UTC time" if match[3] else "time"
    return None if read_time(text, kind) is None else kind


def times_of(texts: Sequence[str]) -> tuple[list[int], TimeKind] | None:
    """The numbers of texts that are all dates or times in ISO 8601, and their kind; else None.

    >>> times_of(["2018-12-30", "2018-12-31"]), times_of(["2018-12-30", "yesterday"])
    (([17895, 17896], 'date'), None)
    """
    kinds = {time_kind_of(text) for text in texts}
    if not kinds or None in kinds or not (len(kinds) == 1 or kinds == {"date", "time"}):
        return None
    kind: TimeKind = "time" if "time" in kinds else kinds.pop() or "date"
    return [read_time(text, kind) or 0 for text in texts], kind


def _read_date(text: str) -> int | None:
    try:
        found = date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:  # such as February 30
        return None
    return None if found is None else found.toordinal() - _FIRST_DAY


def _read_instant(text: str, has_zone: bool) -> int | None:
    match = _TIME.fullmatch(text)
    if match is None or (match[3] and not has_zone):
        return None
    try:
        found = datetime.fromisoformat(text)
        if found.tzinfo is not None:
            found = found.astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return exact((found - _EPOCH) // timedelta(microseconds=1))


def _read_duration(text: str) -> int | None:
    sign, rest = (-1 if text.startswith("-") else 1), text.lstrip("+-")
    if len(text) - len(rest) > 1:
        return None
    total, smallest = Decimal(0), DAY + 1
    while match := _PART.match(rest):
        unit = _UNITS[match[2]]
        if unit >= smallest:
            return None
        total, smallest, rest = total + Decimal(match[1]) * unit, unit, rest[match.end() :].lstrip()
    if clock := _CLOCK.fullmatch(rest) if smallest >= DAY else None:
        hours, minutes, seconds = clock.groups(default="0")
        parts = zip((hours, minutes, seconds), (_HOUR, _MINUTE, _SECOND), strict=True)
        total, rest = total + sum(Decimal(number) * unit for number, unit in parts), ""
    elif smallest > DAY:
        return None
    if rest or total != total.to_integral_value() or total > _LONGEST:
        return None
    return exact(sign * int(total))


def exact(number: int) -> int | None:
    """The number if a float64 holds it; None otherwise."""
    return number if float(number) == number else None


def roundest_between(low: float, high: float, kind: TimeKind) -> float:
    """The roundest time from `low` up to, but not including, `high`; the one nearest the middle.

    For dates the end of a year or a month, then any day; for times the start of a year, a month, a
    day, an hour, a minute, and so on; for durations days, hours, minutes, and so on.

    >>> low, high = read_time("2018-12-30", "date"), read_time("2019-01-07", "date")
    >>> time_text(roundest_between(low, high, "date"), "date")
    '2018-12-31'
    >>> low, high = read_time("2019-01-07 08:12", "time"), read_time("2019-01-07 11:03", "time")
    >>> time_text(roundest_between(low, high, "time"), "time")
    '2019-01-07T10:00'
    """
    first, last = int(low), int(high)
    middle = (first + last) // 2
    for around in _LADDERS[kind]:
        inside = [n for n in around(middle) if first <= n < last and exact(n) is not None]
        if inside:
            return float(min(inside, key=lambda number: (abs(2 * number - first - last), number)))
    return float(first)


def later(low: float, high: float, kind: TimeKind) -> float | None:
    """A time after `low`, at most `high`: one unit later, of the largest that the text shows.

    >>> time_text(later(read_time("3 days", "duration"), float("inf"), "duration"), "duration")
    '4 days'
    """
    whole = int(low)
    steps = [1] if kind == "date" else _STEPS
    for step in steps:
        number = whole + step
        fits = number <= min(high, LIMITS[kind][1]) and exact(number) is not None
        if whole % step == 0 and fits:
            return float(number)
    return None


Around: TypeAlias = Callable[[int], Iterator[int]]
"""The nearest round numbers at or below a number, and above it."""

_FRACTIONS = [10**power for power in range(5, -1, -1)]
_STEPS = [DAY, _HOUR, _MINUTE, _SECOND, *_FRACTIONS]


def _multiples(step: int) -> Around:
    def around(number: int) -> Iterator[int]:
        below = number - number % step
        yield below
        yield below + step

    return around


def _day_of(year: int, month: int) -> Iterator[int]:
    """The first day of a month, counted from December of the year before to the next January."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    if 1 <= year <= 9999:
        yield date(year, month, 1).toordinal() - _FIRST_DAY


def _years(day: int) -> Iterator[int]:
    year = date.fromordinal(day + _FIRST_DAY).year
    yield from _day_of(year, 1)
    yield from _day_of(year + 1, 1)


def _months(day: int) -> Iterator[int]:
    here = date.fromordinal(day + _FIRST_DAY)
    yield from _day_of(here.year, here.month)
    yield from _day_of(here.year, here.month + 1)


def _last_days(first_days: Around) -> Around:
    """The days before the first days of months or years."""
    return lambda day: (first - 1 for first in first_days(min(day + 1, LIMITS["date"][1])))


def _midnights(first_days: Around) -> Around:
    return lambda number: (day * DAY for day in first_days(number // DAY))


_OF_TIMES = [_midnights(_years), _midnights(_months), *map(_multiples, _STEPS)]
_LADDERS: dict[TimeKind, list[Around]] = {
    "date": [_last_days(_years), _last_days(_months), _multiples(1)],
    "time": _OF_TIMES,
    "UTC time": _OF_TIMES,
    "duration": [_multiples(DAY * 10**power) for power in range(6, 0, -1)]
    + [_multiples(step) for step in _STEPS],
}
