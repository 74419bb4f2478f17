"""Hypothesis: names, features, schemas, data sets, frames."""

import string
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from scipy import sparse

from labelrules.data import Dataset, Feature, Schema
from labelrules.data.times import DAY, LIMITS, TIME_KINDS, TimeKind

TRICKY = (
    " ",
    "a b",
    "'",
    '"',
    "it's",
    "<=",
    "←",
    "≠",
    "!x",
    "not",
    "true",
    "others",
    "otherwise",
    "no",
    "label",
    "if",
    "in",
    "layer",
    "usual",
    "otherwise:",
    "+1",
    "-1",
    "'x'",
    '"x"',
    "x",
    "\\'",
    "*",
    "a,b",
    "a;b",
    "{0,1}",
    "?",
    "%",
    "\\",
    "\t",
    "\n",
    "\r\n",
    "\ufeffname",
    "ß",
    "é",
    "e\u0301",
    "日本語",
    "🙂",
    "0",
    "1.0",
    "nan",
    "x\0y",
)
"""Texts that have broken a reader, a writer or a parser somewhere."""

BINARY = (("0", "1"), ("1", "0"), ("False", "True"), ("True", "False"))
"""Categories of features that are shown by their names."""

EXTREMES = (
    0.0,
    -0.0,
    5e-324,
    -5e-324,
    2.2250738585072014e-308,
    1.7976931348623157e308,
    -1.7976931348623157e308,
    0.1,
    1 / 3,
    1e16,
    123456789.0,
    2.0**53,
    -1e-7,
)
"""Numbers whose text is easily wrong: denormal, the largest, those with long expansions."""


def texts(min_size: int = 0) -> st.SearchStrategy[str]:
    """Any Unicode text, without halves of characters, which no file can hold."""
    anything = st.text(st.characters(exclude_categories=("Cs",)), min_size=min_size, max_size=8)
    tricky = st.sampled_from([text for text in TRICKY if len(text) >= min_size])
    return st.one_of(st.text(string.ascii_letters, min_size=min_size, max_size=3), tricky, anything)


def names() -> st.SearchStrategy[str]:
    """Names of features and labels: any text that is not empty."""
    return texts(min_size=1)


def numbers() -> st.SearchStrategy[float]:
    """Any finite number."""
    return st.one_of(
        st.integers(-3, 3).map(float),
        st.sampled_from(EXTREMES),
        st.floats(allow_nan=False, allow_infinity=False),
    )


def times(kind: TimeKind) -> st.SearchStrategy[float]:
    """Any date, time or duration, as the number that stands for it."""
    low, high = LIMITS[kind]
    exact = min(high, 2**53)
    return st.one_of(
        st.integers(-3, 3).map(float),
        st.integers(-400, 400).map(lambda n: float(n * (1 if kind == "date" else DAY))),
        st.integers(-90_000, 90_000).map(lambda n: float(n * (1 if kind == "date" else 1_000_000))),
        st.integers(max(low, -exact), exact).map(float),
        *([st.sampled_from([float(low), float(high)])] if kind == "date" else []),
    )


@st.composite
def features(draw: st.DrawFn, name: str | None = None, special: bool = True) -> Feature:
    """A feature of any kind; numeric or nominal if it is not special."""
    called = draw(names()) if name is None else name
    if special and not draw(st.integers(0, 3)):
        if draw(st.booleans()):
            return Feature(called, kind=draw(st.sampled_from(("amount", *TIME_KINDS))))
        categories = draw(st.lists(texts(), min_size=1, max_size=4, unique=True))
        return Feature(called, tuple(categories), "ordered")
    if draw(st.booleans()):
        return Feature(called)
    if draw(st.booleans()):
        return Feature(called, draw(st.sampled_from(BINARY)))
    return Feature(called, tuple(draw(st.lists(texts(), min_size=1, max_size=4, unique=True))))


@st.composite
def schemas(
    draw: st.DrawFn, max_features: int = 4, max_labels: int = 4, special: bool = True
) -> Schema:
    """Features and labels, at least one label; sometimes the labels are a hierarchy."""
    n_features = draw(st.integers(0, max_features))
    n_labels = draw(st.integers(1, max_labels))
    size = n_features + n_labels
    called = draw(st.lists(names(), min_size=size, max_size=size, unique=True))
    labels = called[n_features:]
    parents = None
    if draw(st.booleans()):
        # a parent comes before its children, so that nobody is his own ancestor
        parents = [None] + [
            draw(st.sampled_from([None, *labels[:index]])) for index in range(1, n_labels)
        ]
    found = [draw(features(name, special)) for name in called[:n_features]]
    return Schema(found, labels, parents)


@st.composite
def columns(draw: st.DrawFn, feature: Feature, n_rows: int) -> npt.NDArray[np.float64]:
    """Encoded values of one feature, some of them missing."""
    known: st.SearchStrategy[float] = numbers() if feature.time is None else times(feature.time)
    if feature.categories is not None:
        known = st.integers(0, len(feature.categories) - 1).map(float)
    cells = st.one_of(known, known, known, st.just(float("nan")))
    return np.array(draw(st.lists(cells, min_size=n_rows, max_size=n_rows)), dtype=np.float64)


@st.composite
def datasets(
    draw: st.DrawFn,
    schema: Schema | None = None,
    min_rows: int = 0,
    max_rows: int = 6,
    storage: Sequence[str] = ("dense", "sparse"),
    special: bool = True,
    with_unknown: bool = False,
) -> Dataset:
    """Any data set, dense or sparse, perhaps with unknown labels or special kinds of features."""
    described = draw(schemas(special=special)) if schema is None else schema
    n_rows = draw(st.integers(min_rows, max_rows))
    X = np.empty((n_rows, described.n_features))
    for index, feature in enumerate(described.features):
        X[:, index] = draw(columns(feature, n_rows))
    cells = st.lists(
        st.integers(-1 if with_unknown else 0, 1),
        min_size=n_rows * described.n_labels,
        max_size=n_rows * described.n_labels,
    )
    Y = np.array(draw(cells), dtype=np.int8).reshape(n_rows, described.n_labels)
    name = draw(texts())
    if draw(st.sampled_from(tuple(storage))) == "sparse":
        return Dataset(described, sparse.csc_array(X), Y, name)
    return Dataset(described, X, Y, name)


@st.composite
def frames(draw: st.DrawFn, library: str | None = None) -> tuple[object, Dataset]:
    """A frame of pandas, polars or pyarrow, and the data set that it holds with its labels.

    Text columns become nominal with sorted categories, so the data set has them sorted.
    """
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    data = draw(datasets(min_rows=1, storage=("dense",), special=False))
    table: dict[str, list[object]] = {}
    encoded, kinds = [], []
    for index, feature in enumerate(data.schema.features):
        values = data.X[:, index].tolist()
        if feature.categories is None:
            table[feature.name] = [None if value != value else value for value in values]
            encoded.append(values)
            kinds.append(feature)
            continue
        cells = [None if code != code else feature.categories[int(code)] for code in values]
        found = tuple(sorted({cell for cell in cells if cell is not None}))
        table[feature.name] = list(cells)
        encoded.append(
            [float("nan") if cell is None else float(found.index(cell)) for cell in cells]
        )
        kinds.append(Feature(feature.name, found))
    X = np.array(encoded, dtype=np.float64).reshape(len(kinds), data.n_rows).T
    expected = Dataset(Schema(kinds, data.schema.labels), X, data.Y, data.name)
    libraries = ["pandas", "polars", "pyarrow"] if kinds else ["pandas"]  # rows without columns
    chosen = library or draw(st.sampled_from(libraries))
    types = {feature.name: feature.is_numeric for feature in kinds}
    if chosen == "pandas":
        series = {
            name: pd.Series(cells, dtype="float64" if types[name] else "str")
            for name, cells in table.items()
        }
        return pd.DataFrame(series, index=range(data.n_rows)), expected
    if chosen == "polars":
        kind = {name: pl.Float64 if numeric else pl.String for name, numeric in types.items()}
        return pl.DataFrame(table, schema=kind), expected
    arrays = [
        pa.array(cells, pa.float64() if types[name] else pa.string())
        for name, cells in table.items()
    ]
    return pa.table(arrays, names=list(table)), expected
