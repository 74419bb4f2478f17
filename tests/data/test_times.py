"""Dates, times and durations: read from everything, written as text, cut at round times."""

import datetime as dt
import warnings
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from extras import pa, pd, pl
from labelrules import Feature, Schema, dataset
from labelrules.data import (
    DataError,
    encode,
    read_csv,
    read_meka,
    read_mulan,
    read_parquet,
    write_csv,
    write_mulan,
    write_parquet,
)
from labelrules.data.memory.encoding import conform
from labelrules.data.times import (
    LIMITS,
    TIME_KINDS,
    later,
    read_time,
    roundest_between,
    time_kind_of,
    time_text,
    times_of,
)

Y = [[1], [0], [1]]
DAYS = [dt.date(2018, 12, 30), dt.date(2020, 2, 29), None]
TIMES = [dt.datetime(2018, 12, 30, 14), dt.datetime(1969, 7, 20, 20, 17, 40, 250000), None]
STAYS = [dt.timedelta(days=3, hours=4), dt.timedelta(minutes=-90), None]
BERLIN = pl.DataFrame({"z": TIMES}).select(pl.col("z").dt.replace_time_zone("Europe/Berlin"))
EXPECTED = {
    "d": ("date", ["2018-12-30", "2020-02-29", "?"]),
    "t": ("time", ["2018-12-30T14:00", "1969-07-20T20:17:40.25", "?"]),
    "s": ("duration", ["3 days 4 h", "-1 h 30 min", "?"]),
    "z": ("UTC time", ["2018-12-30T13:00Z", "1969-07-20T19:17:40.25Z", "?"]),
}


def polars_frame():
    return pl.DataFrame({"d": DAYS, "t": TIMES, "s": STAYS}).with_columns(BERLIN)


def frames():
    frame = polars_frame()
    pandas = pd.DataFrame(
        {
            "d": pd.to_datetime(DAYS),
            "t": pd.to_datetime(TIMES),
            "s": pd.to_timedelta(STAYS),
            "z": pd.to_datetime(TIMES).tz_localize("Europe/Berlin"),
        }
    )
    yield "polars", frame
    yield "arrow", frame.to_arrow()
    yield "arrow in pandas", frame.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
    yield "pandas", pandas
    yield "objects in pandas", pandas.astype(object)
    yield "lists", [list(row) for row in pandas.astype(object).itertuples(index=False)]
    for unit in ("ms", "us", "ns"):
        zone = f"datetime64[{unit}, Europe/Berlin]"
        kinds = {"d": f"datetime64[{unit}]", "t": f"datetime64[{unit}]", "z": zone}
        yield unit, pandas.astype(kinds | {"s": f"timedelta64[{unit}]"})


@pytest.mark.parametrize(("name", "frame"), list(frames()))
def test_every_table_gives_the_same_times(name, frame):
    names = list("dtsz") if name == "lists" else None
    data = dataset(frame, Y, feature_names=names)
    for column, feature in enumerate(data.schema.features):
        texts = [feature.text(value) for value in data.column(column)]
        assert (feature.kind, texts) == EXPECTED[feature.name]
    np.testing.assert_array_equal(encode(frame, data.schema), data.X)


def test_numpy_arrays_of_any_unit():
    days = np.array([["2018-12-30"], ["1600-02-29"], ["NaT"]], dtype="M8[D]")
    for unit in ("D", "h", "m", "s", "ms", "us", "25s"):
        (feature,) = dataset(days.astype(f"M8[{unit}]"), Y).schema.features
        assert feature.kind == "date"
        np.testing.assert_array_equal(dataset(days.astype(f"M8[{unit}]"), Y).X, dataset(days, Y).X)
    months = np.array([["2018-12"], ["1600-02"], ["NaT"]], dtype="M8[M]")
    assert dataset(months, Y).X[1, 0] == dataset(months.astype("M8[D]"), Y).X[1, 0]
    stays = np.array([[3], [-4], ["NaT"]], dtype="m8[W]")
    for unit in ("D", "h", "s", "ns", "7s"):
        data = dataset(stays.astype(f"m8[{unit}]"), Y)
        assert data.schema.features[0].text(data.X[1, 0]) == "-28 days"


def test_what_is_finer_than_a_microsecond_is_cut_off_towards_the_past():
    times = np.array([1001, 1999, -1], dtype=np.int64).view("M8[ns]").reshape(-1, 1)
    assert dataset(times, Y).X.ravel().tolist() == [1, 1, -1]
    assert dataset(times.view("m8[ns]"), Y).X.ravel().tolist() == [1, 1, -1]


with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # from NumPy 2.5 on
    WITHOUT_UNIT = np.array([[3]], dtype="m8")


@pytest.mark.parametrize(("table", "message"), [
    (np.array([["12000-01-01"]], dtype="M8[D]"), "years beyond 1 to 9999"),
    (np.array([["1500-01-01T00:00:00.000001"]], dtype="M8[us]"), "more than 285 years from 1970"),
    (np.array([[3]], dtype="m8[M]"), "months or years"),
    (WITHOUT_UNIT, "durations without a unit"),
    (np.array([[2**62]], dtype="m8[D]"), "more than 292,000 years"),
    (np.array([[2**62]], dtype="m8[10us]"), "more than 292,000 years"),
    (np.array([[2**61]], dtype="M8[10ns]"), "more than 285 years from 1970"),
    (np.array([[2**61]], dtype="M8[s]"), "years beyond 1 to 9999"),
    ([[dt.date(2020, 1, 1)], [3]], "a date in row 0 and a number in row 1: make them all"),
    ([[dt.date(2020, 1, 1)], [dt.timedelta(1)]], "a date in row 0 and a duration in row 1"),
    ([[dt.datetime(1500, 1, 1, microsecond=1)]], "more than 285 years"),
    ([[dt.time(3)]], "a value of type datetime.time in row 0"),
])  # fmt: skip
def test_what_cannot_be_held_is_refused(table, message):
    with pytest.raises(DataError, match=message):
        dataset(table, [[1]] * len(table))


def test_new_data_must_be_of_the_same_kind():
    day, time = (
        Schema([Feature("x", kind="date")], ["l"]),
        Schema([Feature("x", kind="time")], ["l"]),
    )
    zoned = Schema([Feature("x", kind="UTC time")], ["l"])
    at_noon = pd.DataFrame({"x": pd.to_datetime(["2018-12-30 12:00"])})
    assert encode(at_noon, day)[0, 0] == encode(at_noon.x.dt.floor("D").to_frame(), day)[0, 0]
    assert encode(at_noon.x.dt.date.to_frame(), time)[0, 0] == 17895 * 86400 * 10**6
    assert encode(pd.DataFrame({"x": ["2018-12-30 12:00"]}), time) == encode(at_noon, time)
    for table, schema, message in (
        (
            at_noon,
            zoned,
            "must hold times with a time zone, but it holds times without a time zone",
        ),
        (at_noon.x.dt.tz_localize("UTC").to_frame(), time, "but it holds times with a time zone"),
        (pd.DataFrame({"x": [3.0]}), day, "must hold dates, but it holds numbers"),
        (pd.DataFrame({"x": ["soon"]}), day, "must hold a date such as 2018-12-30, not 'soon'"),
        (at_noon, Schema([Feature("x")], ["l"]), "must hold numbers, but it holds times"),
        (at_noon, Schema([Feature("x", ("a",))], ["l"]), "but it holds times without"),
    ):
        with pytest.raises(DataError, match=message):
            encode(table, schema)


ZONES = [
    "Europe/Berlin", "America/New_York", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "GMT0",
    "Asia/Kathmandu", "UTC",
]  # fmt: skip


def zoned_frames(times, zone):
    """Columns of times in a zone, in all libraries, with a missing one."""
    plain = [None if one is None else one.replace(tzinfo=None) for one in times]
    table = pl.DataFrame({"x": plain}, schema={"x": pl.Datetime("us")})
    table = table.select(pl.col("x").dt.replace_time_zone(zone))
    pandas = pd.DataFrame({"x": pd.Series(plain, dtype="M8[us]").dt.tz_localize(zone)})
    yield "polars", table
    yield "arrow", table.to_arrow()
    yield "arrow in pandas", table.to_arrow().to_pandas(types_mapper=pd.ArrowDtype)
    yield "pandas", pandas
    yield "pandas, one row", pandas.iloc[:1]
    yield "objects in pandas", pandas.astype(object)
    yield "rows", [[one] for one in times]
    yield "objects", np.array([[one] for one in times], dtype=object)
    yield (
        "masked",
        np.ma.masked_array([[one] for one in times], mask=[[one is None] for one in times]),
    )


@pytest.mark.parametrize("zone", ZONES)
def test_the_day_of_a_zoned_time_is_the_one_written(zone):
    place = ZoneInfo(zone)
    times = [
        dt.datetime(2020, 3, 1, 0, 30, tzinfo=place),
        dt.datetime(2020, 2, 29, 23, 30, tzinfo=place),
        None,
        dt.datetime(1, 1, 1, 0, 30, tzinfo=place),
        dt.datetime(9999, 12, 30, 23, 30, tzinfo=place),
    ]
    day = Schema([Feature("x", kind="date")], ["l"])
    days = [np.nan if one is None else one.toordinal() - 719163 for one in times]
    for name, frame in zoned_frames(times, zone):
        found = encode(frame, day)[:, 0]
        np.testing.assert_array_equal(found, days[: len(found)], err_msg=name)


def test_times_in_utc_have_lost_the_day_of_their_zone(tmp_path):
    day = Schema([Feature("x", kind="date")], ["l"])
    path = tmp_path / "visits.csv"
    path.write_text("x,l\n2020-03-01T00:30+01:00,1\n2020-01-01T00:30+01:00,0\n")
    data = read_csv(path, ["l"])
    message = "'x' must hold dates, but it holds times with a time zone, which are kept in UTC, "
    with pytest.raises(DataError, match=f"{message}without the days in their zones: give those"):
        conform(data, day, with_labels=True)
    with pytest.raises(DataError, match=message):
        encode(data, day)
    (written,) = encode(pd.DataFrame({"x": ["2020-03-01T00:30+01:00"]}), day)[:, 0]
    assert written == dt.date(2020, 3, 1).toordinal() - dt.date(1970, 1, 1).toordinal()


@pytest.mark.parametrize("zone", ZONES)
def test_times_of_every_zone_are_read(zone):
    place = ZoneInfo(zone)
    times = [dt.datetime(2020, 3, 1, 0, 30, tzinfo=place), None]
    times += [dt.datetime(2020, 7, 1, 23, 30, 1, 250000, tzinfo=place)]
    expected = [np.nan if one is None else int(one.timestamp() * 10**6) for one in times]
    for name, frame in zoned_frames(times, zone):
        if name != "pandas, one row":
            data = dataset(frame, Y)
            assert data.schema.features[0].kind == "UTC time", name
            np.testing.assert_array_equal(data.X[:, 0], expected, err_msg=name)


def test_the_dates_of_arrow_in_milliseconds():
    days = pa.array([dt.date(2018, 12, 30), None, dt.date(1600, 2, 29)])
    table = pa.table({"x": days.cast(pa.date64())})
    for frame in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        assert dataset(frame, Y) == dataset(pa.table({"x": days}), Y)
        assert (
            dataset(frame.slice(0, 0) if frame is table else frame[:0], np.empty((0, 1))).n_rows
            == 0
        )


@pytest.mark.parametrize("unit", ["ps", "fs", "as"])
@pytest.mark.parametrize("letter", "mM")
def test_units_finer_than_nanoseconds(unit, letter):
    per = {"ps": 10**6, "fs": 10**9, "as": 10**12}[unit]
    whole = np.array([5 * per + 1, -1, 0, np.iinfo(np.int64).max])
    expected = [5, -1, 0, np.iinfo(np.int64).max // per]
    times = whole.view(f"{letter}8[{unit}]").reshape(-1, 1)
    assert dataset(times, [[1]] * 4).X.ravel().tolist() == expected
    assert dataset([[one] for one in times[:, 0]], [[1]] * 4).X.ravel().tolist() == expected
    several = (whole // 7).view(f"{letter}8[7{unit}]").reshape(-1, 1)
    assert dataset(several, [[1]] * 4).X.ravel().tolist() == [int(n) // 7 * 7 // per for n in whole]


@pytest.mark.parametrize(
    ("time", "hours"), [(dt.datetime(1, 1, 1, 1), 5), (dt.datetime(9999, 12, 31, 23), -5)]
)
def test_zoned_times_beyond_the_first_and_the_last_year_are_refused(time, hours):
    there, back = (dt.timezone(dt.timedelta(hours=number)) for number in (hours, -hours))
    with pytest.raises(
        DataError, match="'x0' holds years beyond 1 to 9999 in UTC: leave such rows"
    ):
        dataset([[time.replace(tzinfo=there)]], [[1]])
    number = dataset([[time.replace(tzinfo=back)]], [[1]]).X[0, 0]
    assert time_text(number, "UTC time") == time_text(
        (time - dt.datetime(1970, 1, 1) + dt.timedelta(hours=hours))
        // dt.timedelta(microseconds=1),
        "UTC time",
    )


def test_named_as_nominal_they_are_categories_by_their_text():
    frame = pd.DataFrame({"t": pd.to_datetime(["2018-12-30 12:00", "2018-12-31 00:00", None])})
    data = dataset(frame, Y, nominal=["t"])
    assert data.schema.features[0].categories == ("2018-12-30T12:00", "2018-12-31")
    assert encode(frame.iloc[1:], Schema([Feature("t", ("0", "2018-12-31"))], []))[0, 0] == 1


@pytest.mark.parametrize("kind", TIME_KINDS)
@given(data=st.data())
def test_texts_read_back(kind, data):
    number = data.draw(strategies.times(kind))
    assert read_time(time_text(number, kind), kind) == number


@pytest.mark.parametrize("kind", TIME_KINDS)
@given(data=st.data())
def test_thresholds_part_the_same_values_and_are_the_roundest(kind, data):
    low, high = sorted(data.draw(st.tuples(*[strategies.times(kind)] * 2)))
    if low == high:
        return
    found = roundest_between(low, high, kind)
    assert low <= found < high
    assert read_time(time_text(found, kind), kind) == found
    assert len(time_text(found, kind)) <= max(len(time_text(low, kind)), 16 + (kind == "UTC time"))
    after = later(low, high, kind)
    assert after is None or low < after <= high


@pytest.mark.parametrize(("kind", "low", "high", "expected"), [
    ("date", "2018-12-28", "2018-12-30", "2018-12-29"),
    ("date", "2018-12-28", "2019-01-02", "2018-12-31"),
    ("date", "2018-01-20", "2018-02-10", "2018-01-31"),
    ("date", "2018-12-30", "2018-12-31", "2018-12-30"),
    ("date", "9999-12-30", "9999-12-31", "9999-12-30"),
    ("time", "2018-12-30T09:12", "2018-12-31T17:00", "2018-12-31T00:00"),
    ("time", "2018-11-30T09:12", "2019-02-02T17:00", "2019-01-01T00:00"),
    ("time", "2018-12-30T09:12", "2018-12-30T09:15:10", "2018-12-30T09:14"),
    ("time", "2018-12-30T09:12:01.25", "2018-12-30T09:12:01.75", "2018-12-30T09:12:01.5"),
    ("UTC time", "2018-12-29T23:00Z", "2018-12-30T23:00Z", "2018-12-30T00:00Z"),
    ("duration", "-2 h", "3 days", "0 s"),
    ("duration", "3 days 1 h", "5 days", "4 days"),
    ("duration", "3 h 5 min", "3 h 50 min", "3 h 27 min"),
    ("duration", "0.1 s", "0.9 s", "0.5 s"),
    ("duration", "90 days", "130 days", "100 days"),
])  # fmt: skip
def test_round_thresholds(kind, low, high, expected):
    ends = read_time(low, kind), read_time(high, kind)
    assert time_text(roundest_between(*ends, kind), kind) == expected


@pytest.mark.parametrize(("text", "kind"), [
    ("2018-02-30", "date"), ("2018-12", "date"), ("20181230", "date"), ("2018-12-30T10:00", "date"),
    ("2018-12-30T25:00", "time"), ("2018-12-30T10:00Z", "time"), ("10:00", "time"),
    ("0001-01-01T00:00+14:00", "UTC time"), ("1500-01-01T00:00:00.000001", "time"),
    ("3", "duration"), ("3 weeks", "duration"), ("3 h 2 days", "duration"), ("--3 h", "duration"),
    ("0.0000001 s", "duration"), ("3 h 02:00:00", "duration"), ("", "duration"),
    ("99999999999999999 days", "duration"),
])  # fmt: skip
def test_what_is_no_time(text, kind):
    assert read_time(text, kind) is None


def test_other_ways_to_write_a_time():
    assert read_time("2018-12-30", "time") == read_time("2018-12-30 00:00:00", "time")
    assert read_time("2018-12-30T15:00+01:00", "UTC time") == read_time(
        "2018-12-30 14:00Z", "UTC time"
    )
    assert read_time("3 days 04:00:00", "duration") == read_time("3 d 4 hours", "duration")
    assert read_time("2.5 h", "duration") == read_time("+2 h 30 min", "duration")
    assert times_of(["2018-12-30", "2018-12-30T12:00"])[1] == "time"
    assert times_of(["2018-12-30T12:00", "2018-12-30T12:00Z"]) is None
    assert times_of([]) is None
    assert time_kind_of("2018-13-30") is None


@given(strategies.datasets(min_rows=1))
def test_files_keep_every_kind(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("files")
    write_csv(data, folder / "data.csv")
    assert read_csv(folder / "data.csv") == data
    write_parquet(data, folder / "data.parquet")
    assert read_parquet(folder / "data.parquet") == data


def test_dates_in_csv_are_found(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(
        "day,time,zone,mixed,word,l\n"
        "2018-12-30,2018-12-30 14:00,2018-12-30T14:00Z,2018-12-30,2018-12-30,1\n"
        "2019-01-02,2019-01-02,2019-01-02T00:00+01:00,,never,0\n,,,,,1\n"
    )
    data = read_csv(path, ["l"])
    kinds = {feature.name: feature.kind for feature in data.schema.features}
    assert kinds == {
        "day": "date",
        "time": "time",
        "zone": "UTC time",
        "mixed": "date",
        "word": "nominal",
    }
    assert data.column("day").tolist()[:2] == [17895, 17898]
    again = read_csv(path, ["l"], nominal=["day"])
    assert again.schema.features[0].categories == ("2018-12-30", "2019-01-02")


def test_a_wrong_time_in_a_described_table_is_refused(tmp_path):
    data = dataset(polars_frame(), Y)
    write_csv(data, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text()
    (tmp_path / "a.csv").write_text(text.replace("2020-02-29", "2020-02-30"))
    with pytest.raises(DataError, match="line 3: column 'd' must hold a date such as 2018-12-30"):
        read_csv(tmp_path / "a.csv")


def test_date_attributes_of_arff(tmp_path):
    path = tmp_path / "visits.arff"
    path.write_text(
        "@relation 'visits: -C 1'\n@attribute l {0,1}\n@attribute usual DATE\n"
        "@attribute day date 'dd.MM.yyyy'\n@attribute year date yyyy\n"
        "@attribute stamp date \"yyyy/MM/dd HH:mm:ss.SSS\"\n@attribute other date 'EEE'\n@data\n"
        "1,2018-12-30T14:00:01,30.12.2018,2018,'2018/12/30 14:00:01.250',Mon\n"
        "0,?,1.1.2018,?,?,?\n"
    )
    data = read_meka(path, ignore=["other"])
    texts = [f.text(data.X[0, j]) for j, f in enumerate(data.schema.features)]
    assert texts == ["2018-12-30T14:00:01", "2018-12-30", "2018-01-01", "2018-12-30T14:00:01.25"]
    assert np.isnan(data.X[1]).tolist() == [True, False, True, True]
    with pytest.raises(
        DataError, match="line 7: attribute 'other' is a date, but the format 'EEE'"
    ):
        read_meka(path)
    path.write_text(path.read_text().replace("30.12.2018", "30.13.2018"))
    with pytest.raises(DataError, match=r"line 9: .*'30.13.2018', which is no date in its format"):
        read_meka(path, ignore=["other"])


def test_dates_are_written_to_arff(tmp_path):
    frame = polars_frame().select("d", "t")
    data = dataset(frame, pl.DataFrame({"l": [1, 0, 1]}), name="visits")
    write_mulan(data, tmp_path / "visits.arff")
    assert read_mulan(tmp_path / "visits.arff") == data
    for column, message in (("s", "holds durations, for which ARFF"), ("z", "holds UTC times")):
        refused = dataset(polars_frame().select(column), Y)
        with pytest.raises(DataError, match=message):
            write_mulan(refused, tmp_path / "no.arff")
    fine = dataset(np.array([[1]], dtype="M8[us]"), [[1]])
    with pytest.raises(DataError, match="ARFF has milliseconds at most"):
        write_mulan(fine, tmp_path / "no.arff")


def test_numbers_that_stand_for_no_time_are_refused():
    from labelrules import Body, Condition, Dataset, DecisionList, Head, Rule

    for kind, number in (("date", 0.5), ("date", 3e6), ("time", np.inf), ("duration", 1e19)):
        schema = Schema([Feature("x", kind=kind)], ["l"])
        with pytest.raises(DataError, match=r"stands for none|infinite"):
            Dataset(schema, np.array([[number]]), np.array([[1]]))
        if np.isfinite(number):
            rule = Rule(Head({0: 1}, 1), Body([Condition.at_most(0, number)]))
            with pytest.raises(ValueError, match="stands for none"):
                DecisionList(schema, [rule])
    assert LIMITS["date"][0] < 0 < LIMITS["date"][1]
