"""Every way to serve a model reads each odd value as `odd_values` says, or refuses it."""

import datetime as dt
import functools
import json
import math
import shutil
import subprocess
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from extras import pd
from labelrules import (
    Body,
    Condition,
    Dataset,
    DecisionList,
    Feature,
    Head,
    Predictor,
    Rule,
    Schema,
)
from labelrules.data.times import read_time
from labelrules.export import to_javascript, to_python, to_sql
from serving.odd_values import FEATURES, NUMBERS, READ_AS, REFUSED, VALUES, read_as
from sql_engines import TABLE, engine

KINDS = list(FEATURES)


def encoded(kind, text):
    """What is read, as the number that stands for it."""
    feature = FEATURES[kind]
    if text is None:
        return math.nan
    if feature.categories is not None:
        return float(feature.categories.index(text))
    return text if feature.time is None else float(read_time(text, feature.time))


@functools.cache
def theory_of_kind(kind):
    """Labels that tell each value that can be read from every other one, and from a missing one."""
    feature = FEATURES[kind]
    found = {encoded(kind, text) for text in READ_AS[kind].values() if text is not None}
    if feature.categories is not None:
        tests = [Condition.equals(0, code) for code in range(len(feature.categories))]
        if feature.kind == "ordered":
            tests = [Condition.at_most(0, 0), Condition.above(0, 0)]
    else:
        step = 1 if feature.time else 0
        below = {value: value - 1 if step else np.nextafter(value, -1e308) for value in found}
        tests = [Condition.at_most(0, value) for value in sorted(found)]
        tests += [Condition.above(0, float(below[value])) for value in sorted(found)]
    schema = Schema([feature], [f"l{number}" for number in range(len(tests))])
    n = schema.n_labels
    rules = [Rule(Head({label: 1}, n), Body([test])) for label, test in enumerate(tests)]
    return DecisionList(schema, rules)


@functools.cache
def expected(kind, name):
    """The labels of a value, or that it is refused."""
    text = read_as(kind, name)
    if text == REFUSED:
        return REFUSED
    theory = theory_of_kind(kind)
    X = np.array([[encoded(kind, text)]])
    board = theory.predict(
        Dataset(theory.schema, X, np.zeros((1, theory.schema.n_labels), np.int8))
    )
    return board[0].tolist()


def answer(predict, value):
    """The labels of a value, or that it is refused."""
    try:
        return list(predict(value))
    except ValueError:  # a DataError is one, too
        return REFUSED


def by_frame(theory):
    return lambda value: theory.predict(pd.DataFrame({"x": pd.Series([value], dtype=object)}))[0]


def by_frame_with_a_type(theory):
    """The type that pandas finds for the column."""
    return lambda value: theory.predict(pd.DataFrame({"x": [value]}))[0]


def by_predictor(theory):
    predictor = Predictor(theory)
    return lambda value: predictor.predict({"x": value})


def by_python(theory):
    module = {}
    exec(to_python(theory), module)
    return lambda value: module["predict"]({"x": value}).values()


DOORS = {
    "frame": by_frame,
    "frame with a type": by_frame_with_a_type,
    "predictor": by_predictor,
    "Python": by_python,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_values_of_python(kind, door):
    predict = DOORS[door](theory_of_kind(kind))
    for name, (values, _) in VALUES.items():
        for value in values:
            if door == "frame with a type" and is_changed(value):
                continue
            assert answer(predict, value) == expected(kind, name), (name, value)


def is_changed(value):
    """Whether pandas makes other values of it, or none at all."""
    try:
        (found,) = pd.DataFrame({"x": [value]})["x"].tolist()
    except (ValueError, TypeError, OverflowError):
        return True
    is_alike = type(found) is type(value) or isinstance(found, int | float | str | pd.Timestamp)
    return not is_alike or isinstance(value, np.datetime64 | list)


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_javascript(kind, tmp_path):
    theory = theory_of_kind(kind)
    names, values = zip(*((n, value) for n, (_, js) in VALUES.items() for value in js), strict=True)
    found = in_node(theory, "(x) => Object.values(predict({x}))", values, tmp_path)
    for name, value, labels in zip(names, values, found, strict=True):
        if kind == "duration" and name in NUMBERS:
            continue  # there, numbers are durations in milliseconds
        assert labels == expected(kind, name), (name, value)


def in_node(theory, function, values, folder):
    """What a function of the exported module gives for each value, or that it is refused."""
    if shutil.which("node") is None:
        pytest.skip("there is no Node.js")
    program = (
        f"{to_javascript(theory)}\nconst read = {function};\nconst answer = (x) => {{\n"
        "  try { return read(x); } catch (error) {\n"
        '    if (error.message.startsWith(`"x" must be a`)) return "refused";\n'
        "    throw error;\n  }\n};\n"
        f"console.log(JSON.stringify([{', '.join(f'answer({value})' for value in values)}]));"
    )
    path = folder / "exported.mjs"
    path.write_text(program, encoding="utf-8")
    done = subprocess.run(["node", path], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout, parse_int=float)  # as they are in JavaScript


TYPES = {bool: "boolean", int: "long", float: "double", str: "text", dt.date: "date"}
COLUMNS = {
    "number": {int, float},
    "amount": {int, float},
    "truth value": {bool},
    "truth word": set(),  # a query takes more texts for truth values, by how they are stored
    "date": {dt.date, dt.datetime},
    "time": {dt.date, dt.datetime},
    "UTC time": {dt.datetime},
}
"""The types of columns that a query can read; those of categories are of text."""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "duration"])
def test_values_in_columns_of_a_database(kind):
    pytest.importorskip("sqlglot", reason="the extra `sql` brings it")
    database, theory = engine("duckdb"), theory_of_kind(kind)
    query = to_sql(theory, TABLE, dialect="duckdb")
    for name, (values, _) in VALUES.items():
        for value in values:
            if read_as(kind, name) == REFUSED or type(value) not in COLUMNS.get(kind, {str}):
                continue
            has_zone = getattr(value, "tzinfo", None) is not None
            if has_zone and kind == "date":
                continue  # the day is that of the session's time zone
            column = TYPES.get(type(value)) or ("UTC time" if has_zone else "time")
            database.fill({"x": (column, [value])})
            ((*found,),) = database.ask(query)[1]
            assert found == expected(kind, name), (name, value)


# ---------------------------------------------------------------- values that nobody thought of


TIMES = st.from_regex(
    r"[0-9]{4}-[01][0-9]-[0-3][0-9]"
    r"([T ][0-2][0-9]:[0-6][0-9](:[0-6][0-9](\.[0-9]{1,7})?)?(Z|[+-][0-2][0-9]:?[0-6][0-9])?)?",
    fullmatch=True,
)
DURATIONS = st.from_regex(
    r"[+-]?([0-9]{1,2}(\.[0-9]{1,8})? ?(days|day|d|h|hours|min|s|seconds) ?){0,3}"
    r"([0-9]{1,3}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,7})?)?)?",
    fullmatch=True,
)
TEXTS = (
    TIMES
    | DURATIONS
    | st.sampled_from(["True", "true", "FALSE", "a", "b", "1", "2.5", ""])
    | st.text(max_size=3)
)
JSON = st.none() | st.booleans() | st.floats() | TEXTS
ZONES = st.integers(-1439, 1439).map(lambda n: dt.timezone(dt.timedelta(minutes=n))) | st.none()
VALUES_OF_PYTHON = (
    JSON
    | st.integers()
    | st.sampled_from([np.int64, np.uint64]).flatmap(lambda t: st.integers(0, 2**63 - 1).map(t))
    | st.decimals()
    | st.fractions()
    | st.dates()
    | st.timedeltas()
    | st.datetimes(dt.datetime(2, 1, 1), dt.datetime(9998, 1, 1), timezones=ZONES)
    | st.sampled_from(["s", "ns"]).flatmap(
        lambda unit: st.integers(-(2**62), 2**62).map(lambda n: np.timedelta64(n, unit))
    )
    | st.integers(-(2**62), 2**62).map(lambda n: np.datetime64(n, "ns"))
)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=100)
@given(VALUES_OF_PYTHON)
def test_exported_python_reads_as_the_predictor_does(kind, value):
    is_time = isinstance(value, dt.date | dt.timedelta | np.datetime64 | np.timedelta64)
    # `odd_values` has times for categories that are numbers.
    assume(not (kind == "category like a number" and is_time))
    predict, module = readers_of(kind)
    found, wanted = (answer_of(read, {"x": value}) for read in (module, predict))
    assert found == wanted


@functools.cache
def readers_of(kind):
    """How rows are read by the predictor, and by the exported Python."""
    theory, module = theory_of_kind(kind), {}
    exec(to_python(theory), module)
    return Predictor(theory)._engine._values, module["_values"]


def answer_of(read, row):
    try:
        value = read(row)["x"]
    except ValueError:
        return REFUSED
    return None if value != value else value


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=3)
@given(st.lists(JSON, min_size=20, max_size=30))
def test_exported_javascript_reads_as_the_predictor_does(kind, tmp_path_factory, values):
    if kind == "duration":
        values = [one for one in values if not isinstance(one, float)]
    predict, _ = readers_of(kind)
    source = [json.dumps(value) for value in values]
    folder = tmp_path_factory.mktemp("node")
    found = in_node(theory_of_kind(kind), "(x) => valuesOf({x})[0]", source, folder)
    for value, one in zip(values, found, strict=True):
        assert one == answer_of(predict, {"x": value}), value


@pytest.mark.parametrize(("year", "hours"), [(1, 1), (9999, -1)])
def test_instants_beyond_the_years_are_refused_by_predictor_and_exported_python(year, hours):
    """Where UTC is in another year than the zone: texts of such times are in `odd_values`."""
    day = (12, 31, 23, 59) if year > 1 else (1, 1)
    time = dt.datetime(year, *day, tzinfo=dt.timezone(dt.timedelta(hours=hours)))
    predict, module = readers_of("UTC time")
    assert [answer_of(read, {"x": time}) for read in (predict, module)] == [REFUSED, REFUSED]


@pytest.mark.parametrize("kind", KINDS)
def test_a_signalling_nan_is_missing(kind):
    predict, module = readers_of(kind)
    assert [answer_of(read, {"x": Decimal("sNaN")}) for read in (predict, module)] == [None, None]


@pytest.mark.parametrize("door", DOORS)
def test_a_truth_value_in_other_letters_is_refused_with_what_to_write(door):
    schema = Schema([Feature("x", ("False", "True"))], ["l"])
    rule = Rule(Head({0: 1}, 1), Body([Condition.equals(0, 1)]))
    predict = DOORS[door](DecisionList(schema, [rule]))
    with pytest.raises(ValueError, match=r"true'?\"?: did you mean '?\"?True'?\"?\?"):
        predict("true")
    assert [list(predict(value)) for value in ("True", True, "yes")] == [[1], [1], [0]]


@pytest.mark.parametrize("unit", ["s", "h", "W"])
@pytest.mark.parametrize("door", DOORS)
def test_durations_beyond_64_bits_of_microseconds_are_refused(door, unit):
    predict = DOORS[door](theory_of_kind("duration"))
    assert answer(predict, np.timedelta64(2**62, unit)) == "refused"
