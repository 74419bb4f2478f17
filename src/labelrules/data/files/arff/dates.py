"""Dates of ARFF files, in the format that the attribute declares, and how they are written."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from labelrules._checks import quoted
from labelrules.data.schema import Feature
from labelrules.data.times import TimeKind, read_time, time_text

USUAL_FORMAT = "yyyy-MM-dd'T'HH:mm:ss"
"""The format of dates for which an attribute declares none."""

_FORMATS: dict[TimeKind, str] = {"date": "yyyy-MM-dd", "time": "yyyy-MM-dd'T'HH:mm:ss.SSS"}
_PIECE = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
_FIELDS = {
    "yyyy": r"(?P<year>\d{4})",
    **dict.fromkeys(("MM", "M"), r"(?P<month>\d{1,2})"),
    **dict.fromkeys(("dd", "d"), r"(?P<day>\d{1,2})"),
    **dict.fromkeys(("HH", "H"), r"(?P<hour>\d{1,2})"),
    **dict.fromkeys(("mm", "m"), r"(?P<minute>\d{1,2})"),
    **dict.fromkeys(("ss", "s"), r"(?P<second>\d{1,2})"),
    "SSS": r"(?P<fraction>\d{1,3})",
}
_MILLISECOND = 1000


class DateCodes(Mapping[str, int]):
    """From the text of a date in a format to the number that stands for it."""

    def __init__(self, declared: str) -> None:
        self._pattern = re.compile("".join(_pattern_parts(declared)), re.ASCII)
        if "year" not in self._pattern.groupindex:
            raise ValueError(f"the format {quoted(declared)} has no year (yyyy)")
        has_hour = "hour" in self._pattern.groupindex
        self.kind: TimeKind = "time" if has_hour else "date"

    def __getitem__(self, text: str) -> int:
        match = self._pattern.fullmatch(text)
        parts = {} if match is None else match.groupdict()
        names = ("month", "day", "hour", "minute", "second")
        month, day, *clock = (parts.get(name, "") for name in names)
        written = f"{parts.get('year')}-{month or '1':0>2}-{day or '1':0>2}"
        if self.kind == "time":
            hour, minute, second = (part or "0" for part in clock)
            milliseconds = parts.get("fraction", "0")  # a number, not decimals
            written += f"T{hour:0>2}:{minute:0>2}:{second:0>2}.{milliseconds:0>3}"
        number = None if match is None else read_time(written, self.kind)
        if number is None:
            raise KeyError(text)
        return number

    def __iter__(self) -> Iterator[str]:
        return iter(())  # no text is listed

    def __len__(self) -> int:
        return 0


def _pattern_parts(declared: str) -> Iterator[str]:
    end = 0
    while end < len(declared):
        match = _PIECE.match(declared, end)
        piece = match.group() if match else declared[end:]
        if match is None or (match[2] and piece not in _FIELDS):
            raise ValueError(
                f"the format {quoted(declared)} has {quoted(piece)}, which is none of "
                "yyyy, MM, dd, HH, mm, ss and SSS"
            )
        literal = "'" if piece == "''" else match[1].replace("''", "'") if match[1] else piece
        yield _FIELDS[piece] if match[2] else re.escape(literal)
        end = match.end()


@lru_cache(maxsize=64)
def date_codes(declared: str) -> DateCodes:
    """The codes of a format."""
    try:
        return DateCodes(declared)
    except re.error:
        message = f"the format {quoted(declared)} has a part twice"
    raise ValueError(message)


def written_format(feature: Feature) -> str:
    """The type of an attribute that holds the dates or times of a feature."""
    assert feature.time is not None, "other features have other types"
    return f'date "{_FORMATS[feature.time]}"'


def why_not_written(feature: Feature, values: list[float]) -> str | None:
    """Why a file cannot hold the times of a feature; None if it can."""
    if feature.time not in _FORMATS:
        return f"holds {feature.time}s, for which ARFF has no type"
    if feature.time == "time" and any(value % _MILLISECOND for value in values):
        return "holds times to the microsecond, but ARFF has milliseconds at most"
    return None


def written_date(value: float, kind: TimeKind) -> str:
    """A date or a time in the format of `written_format`, in quotes if it needs them."""
    text = time_text(value, kind)
    if kind == "date":
        return text
    day, _, clock = text.partition("T")
    whole, _, fraction = clock.partition(".")
    seconds = whole if whole.count(":") == 2 else f"{whole}:00"
    return f'"{day}T{seconds}.{fraction:0<3}"'
