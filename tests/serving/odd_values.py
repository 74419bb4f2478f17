"""One table of odd values: how each is read, by every way to serve a model.

`VALUES` has equal values of Python, and of JavaScript as its source writes them. `READ_AS` says for
each kind of feature as what they are read: a number, the text of a time, or a category. Values that
it does not name are refused, but those that are `"missing"` are so everywhere.
"""

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from extras import pd
from labelrules import Feature

MISSING, REFUSED = None, "refused"

BEYOND = 2**53 + 1  # the first whole number that no float64 is equal to
NOON = dt.datetime(2018, 12, 30, 12)
ZONED = NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=1)))

VALUES = {
    "missing": (
        [None, math.nan, np.float32("nan"), Decimal("NaN"), pd.NA, pd.NaT,
         np.datetime64("NaT"), np.timedelta64("NaT")],
        ["null", "undefined", "NaN"],
    ),
    "other": (
        [b"a", np.bytes_(b"a"), 1j, np.complex128(1), (1,), [], {}, dt.time(12), np.arange(2),
         np.array(1), object()],
        ["[1]", "[]", "{}", "() => 1"],
    ),
    "a": (["a", np.str_("a")], ['"a"']),
    "text": (["", "A", "a ", "nan", "None", "1.0", "1n"],
             ['""', '"A"', '"a "', '"nan"', '"null"', '"1.0"', '"1n"']),
    "text 1": (["1"], ['"1"']),
    "text True": (["True"], ['"True"']),
    "text true": (["true"], ['"true"']),
    "text TRUE": (["TRUE", np.str_("TRUE")], ['"TRUE"']),
    "text infinity": (["inf", "Infinity"], ['"inf"', '"Infinity"']),
    "true": ([True, np.True_], ["true"]),
    "false": ([False, np.False_], ["false"]),
    "0": ([0, -0.0, np.uint8(0), Decimal(0)], ["0", "-0", "0n"]),
    "1": ([1, 1.0, np.int8(1), np.int64(1), np.float32(1), Decimal(1), Fraction(1)], ["1", "1n"]),
    "2.5": ([2.5, np.float16(2.5), np.longdouble(2.5), Decimal("2.50"), Fraction(5, 2)], ["2.5"]),
    "1e-05": ([1e-5, np.float64(1e-5)], ["0.00001"]),
    "1e+300": ([1e300], ["1e300"]),
    "2 to the 53": ([2**53, np.int64(2**53), np.uint64(2**53)], ["2 ** 53", "2n ** 53n"]),
    "2 to the 54": ([2**54, np.int64(2**54), Decimal(2**54)], ["2n ** 54n"]),
    "beyond": ([BEYOND, np.int64(BEYOND), np.uint64(BEYOND), Decimal(BEYOND), Fraction(BEYOND)],
               ["9007199254740993n"]),
    "infinite": ([math.inf, -math.inf, np.float32("inf"), Decimal("Infinity")],
                 ["Infinity", "-Infinity"]),
    "huge": ([10**400], ["10n ** 400n"]),
    "day": ([dt.date(2018, 12, 30), np.datetime64("2018-12-30")], []),
    "midnight": ([dt.datetime(2018, 12, 30), pd.Timestamp("2018-12-30")], []),
    "noon": ([NOON, pd.Timestamp(NOON), np.datetime64(NOON), np.datetime64(NOON, "ns")], []),
    "noon in a zone": ([ZONED, pd.Timestamp(ZONED)], ['new Date("2018-12-30T11:00Z")']),
    "2 h": ([dt.timedelta(hours=2), pd.Timedelta(hours=2), np.timedelta64(2, "h")], []),
    "no duration": ([np.timedelta64(2, "M"), np.timedelta64(2)], []),
    "text of a day": (["2018-12-30"], ['"2018-12-30"']),
    "text of noon": (
        ["2018-12-30T12:00", "2018-12-30 12:00:00", "2018-12-30T12:00:00.0"],
        ['"2018-12-30T12:00"', '"2018-12-30 12:00:00"', '"2018-12-30T12:00:00.0"'],
    ),
    "text of noon in a zone": (
        ["2018-12-30T12:00+01:00", "2018-12-30T12:00:00+0100", "2018-12-30T11:00:00.000Z"],
        ['"2018-12-30T12:00+01:00"', '"2018-12-30T12:00:00+0100"', '"2018-12-30T11:00:00.000Z"'],
    ),
    "text of 2 h": (["2 h", "02:00:00", "2:00", "1h 60 min", "+7200.0 s"],
                    ['"2 h"', '"02:00:00"', '"2:00"', '"1h 60 min"', '"+7200.0 s"']),
    "text of -1 day": (["-1 day", "-1 d", "-0 days 24:00:00"],
                       ['"-1 day"', '"-1 d"', '"-0 days 24:00:00"']),
}  # fmt: skip

NO_TIMES = [
    "2018-02-30", "0000-01-01", "2018-13-01", "2018-1-1", "18-12-30", "2018-12-30Z", "20181230",
    "2018-12-30T24:00", "2018-12-30T12:60", "2018-12-30T12", "2018-12-30T12:00:60", "T12:00",
    "2018-12-30T12:00+24:00", "2018-12-30T12:00+01:60", "2018-12-30T12:00.5",
    "2018-12-30T12:00:00.", "2018-12-30T12:00:00.1234567",
    "2018-12-30t12:00", "2018-12-30T12:00z", "2018-12-30 ",
    "1000-01-01T00:00:00.000001", "0001-01-01T00:00+01:00", "9999-12-31T23:59-01:00",
    "\uff12\uff10\uff11\uff18-12-30", "2018-12-30\n", "3", "2 h 3 h", "3 weeks", "--2 h", "1.5.2 h",
    "0.0000001 s", "2 h 30", "1:2", "3 h 02:00", "2 h ago", "1. h", ".5 h", "292472 days 9:99:99x",
    "1000000000 days", "300 days 0.0000005 s", "h", "1:00:00.1234567", "yesterday", "-", "2  h",
]  # fmt: skip
"""Texts of no time, or of one that a float64 does not hold exactly."""

for _text in NO_TIMES:
    VALUES[f"text {_text!r}"] = ([_text], [ascii(_text)])

TEXTS = [name for name in VALUES if name.startswith("text") or name == "a"]
NUMBERS = {
    "0": 0.0, "1": 1.0, "2.5": 2.5, "1e-05": 1e-5, "1e+300": 1e300,
    "2 to the 53": 2.0**53, "2 to the 54": 2.0**54,
}  # fmt: skip
INSTANTS = ["noon in a zone", "text of noon in a zone"]
LOCALS = ["day", "midnight", "noon", "text of a day", "text of noon"]


def _texts(**known):
    """Every text is a category or missing."""
    return {
        **dict.fromkeys(TEXTS),
        **{name.replace("_", " "): text for name, text in known.items()},
    }


def _truth_words(**known):
    """A truth value in other letters is refused, which hardly anybody means to be missing."""
    words = {"text True", "text true", "text TRUE"}
    read = _texts(**known)
    return {name: text for name, text in read.items() if text is not None or name not in words}


FEATURES = {
    "number": Feature("x"),
    "amount": Feature("x", kind="amount"),
    "category": Feature("x", ("a", "b", "2018-12-30")),
    "ordered category": Feature("x", ("a", "b"), "ordered"),
    "truth value": Feature("x", ("False", "True")),
    "truth word": Feature("x", ("false", "true")),
    "truth value or other": Feature("x", ("True", "maybe")),
    "category like a number": Feature("x", ("0", "1", "2.5", "9007199254740993", "1e-05")),
    "date": Feature("x", kind="date"),
    "time": Feature("x", kind="time"),
    "UTC time": Feature("x", kind="UTC time"),
    "duration": Feature("x", kind="duration"),
}

_UNKNOWN = dict.fromkeys([*NUMBERS, "huge", "day", "midnight", "noon", "noon in a zone", "2 h"])

READ_AS = {
    "number": NUMBERS,
    "amount": NUMBERS,
    "category": _texts(a="a", text_of_a_day="2018-12-30"),
    "ordered category": _texts(a="a"),
    "truth word": _truth_words(text_true="true"),
    "truth value": {**_truth_words(text_True="True"), "true": "True", "false": "False"},
    "truth value or other": {**_texts(text_True="True"), "true": "True", "false": MISSING},
    "category like a number": {
        **_texts(text_1="1"), **_UNKNOWN, "0": "0", "1": "1", "2.5": "2.5", "1e-05": "1e-05",
        "beyond": "9007199254740993",
    },
    "date": dict.fromkeys([*LOCALS, *INSTANTS], "2018-12-30"),
    "time": {
        **dict.fromkeys(["day", "midnight", "text of a day"], "2018-12-30"),
        **dict.fromkeys(["noon", "text of noon"], "2018-12-30T12:00"),
    },
    "UTC time": {
        **dict.fromkeys(INSTANTS, "2018-12-30T11:00Z"),
        "text of a day": "2018-12-30", "text of noon": "2018-12-30T12:00Z",
    },
    "duration": {
        **dict.fromkeys(["2 h", "text of 2 h", "text '2:00'"], "2 h"), "text of -1 day": "-1 day",
    },
}  # fmt: skip


def read_as(kind, name):
    """As what a value is read by a feature of a kind."""
    return MISSING if name == "missing" else READ_AS[kind].get(name, REFUSED)
