"""Errors of arrays, frames, Parquet files, and CSV files that are not plain text or not there."""

import bz2
import datetime as dt
import gzip
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from extras import pa, pd, pl, pq
from labelrules import Ripper, SeparateAndConquer
from labelrules.data import (
    Dataset,
    Feature,
    Schema,
    dataset,
    encode,
    encode_labels,
    load,
    read_csv,
    read_parquet,
    write_csv,
    write_parquet,
)

Y1 = [[1]]
Y2 = [[0], [1]]
SCHEMA = Schema([Feature("age"), Feature("sex", ("Female", "Male"))], ["a", "b"])
PEOPLE = dataset(pd.DataFrame({"age": [36, 41], "sex": ["Male", "Female"]}), [{"a"}, {"l"}])
WHEN = dt.datetime(2020, 1, 1)
LEARNED = SeparateAndConquer().fit(pd.DataFrame({"a": [1, 2], "b": [2, 1]}), [[0, 1], [1, 0]])
HALVED = r"%s has the character '\\ud[89a-f]..', half of a pair, which no file can hold: rename it"


def frame(**columns: object) -> pd.DataFrame:
    return pd.DataFrame(columns)


ARRAYS: dict[str, tuple[Callable[[], object], str]] = {
    # --- X is not a table
    "X scalar": (
        lambda: dataset(3, Y1),
        "X of type int is not an array, sparse matrix, frame or list",
    ),
    "X 0-d": (lambda: dataset(np.array(3.0), Y1), "X of type ndarray is not an array"),
    "X none": (lambda: dataset(None, Y1), "X of type NoneType is not an array"),
    "X text": (lambda: dataset("table.csv", Y1), "X of type str is not an array"),
    "X dict": (
        lambda: dataset({"a": [1]}, Y1),
        "X of type dict is not .*: make a frame of it first",
    ),
    "X 1-d": (lambda: dataset(np.arange(3), Y1), r"X has 1 dimension, .* X\.reshape\(-1, 1\)"),
    "X list of numbers": (lambda: dataset([1, 2], Y2), "X has 1 dimension, but a table"),
    "X empty list": (lambda: dataset([], []), "X has 1 dimension, but a table"),
    "X 3-d": (lambda: dataset(np.zeros((2, 2, 2)), Y2), "X has 3 dimensions, but a table"),
    "X ragged": (lambda: dataset([[1, 2], [3]], Y2), "X has 2 cells in row 0 but 1 in row 1"),
    "X row not a list": (
        lambda: dataset([[1], 2], Y2),
        "X has rows, but row 1 is of type int: make it a list",
    ),
    "X series": (
        lambda: dataset(pd.Series([1, 2]), Y2),
        r"X is a single column: .*X\.to_frame\(\)",
    ),
    "X lazy": (
        lambda: dataset(pl.LazyFrame({"a": [1, 2]}), Y2),
        r"X is a lazy frame: collect its rows first, as by X\.collect\(\)",
    ),
    "X sparse 1-d": (
        lambda: dataset(sparse.coo_array([1, 2]), Y2),
        "X is sparse with 1 dimension, but a table",
    ),
    # --- values that no condition could test
    "X complex": (
        lambda: dataset(np.array([[1j], [2]]), Y2),
        "column 'x0' holds complex numbers: give the real and the imaginary part",
    ),
    "X bytes": (lambda: dataset(np.array([[b"a"]]), Y1), "column 'x0' holds bytes: decode them"),
    "X dates": (
        lambda: dataset(np.array([["10000-01-01"]], dtype="M8[D]"), Y1),
        "column 'x0' holds years beyond 1 to 9999: leave such rows out",
    ),
    "X durations": (
        lambda: dataset(np.array([[5]], dtype="m8[M]"), Y1),
        "column 'x0' holds months or years: give durations in days or less",
    ),
    "X records": (
        lambda: dataset(np.zeros((1, 1), dtype=[("a", "f8")]), Y1),
        "column 'x0' holds records: give each field a column",
    ),
    "X list cell": (
        lambda: dataset([[1, [2]]], Y1),
        "column 'x1' holds a value of type list in row 0: a cell is a number, text",
    ),
    "X mixed column": (
        lambda: dataset([[1], ["a"]], Y2),
        r"column 'x0' mixes numbers such as 1 with values such as 'a': .*nominal=\['x0'\]",
    ),
    "X numbers and truth values": (
        lambda: dataset([[0.5], [True]], Y2),
        "column 'x0' mixes numbers such as 0.5 with values such as True",
    ),
    "X infinite": (
        lambda: dataset([[1.0, np.inf]], Y1, feature_names=["a", "b"]),
        "feature 'b' has an infinite value: replace it by a number, or by NaN",
    ),
    "X infinite category": (
        lambda: dataset([[-np.inf]], Y1, nominal=[0]),
        "column 'x0' holds an infinite value",
    ),
    "X huge integer": (
        lambda: dataset(np.array([[1, 2**53 + 1]]), Y1),
        "column 'x1' holds the whole number 9007199254740993, which a float64 cannot hold exactly",
    ),
    "X huge unsigned": (
        lambda: dataset(np.array([[2**64 - 1]], dtype=np.uint64), Y1),
        "column 'x0' holds the whole number 18446744073709551615",
    ),
    "X huge object": (
        lambda: dataset([[10**400]], Y1),
        "feature 'x0' has an infinite value",
    ),
    "X huge sparse": (
        lambda: dataset(sparse.csr_array([[0, 2**60 + 1]]), Y1),
        "column 'x1' holds the whole number 1152921504606846977",
    ),
    "X sparse complex": (
        lambda: dataset(sparse.csr_array([[1j]]), Y1),
        "X is sparse with values of type complex128: use numbers",
    ),
    "X sparse infinite": (
        lambda: dataset(sparse.csr_array([[0, np.inf]]), Y1),
        "feature 'x1' has an infinite value",
    ),
    "X one text for two values": (
        lambda: dataset([["1"], [1]], Y2, nominal=[0]),
        "column 'x0': the values '1' and 1 would be the same category '1'",
    ),
    # --- frames
    "frame times": (
        lambda: dataset(frame(when=[WHEN, "never"]), Y2),
        "column 'when' holds a text in row 1 and a time in row 0: make them all of one kind",
    ),
    "frame zones": (
        lambda: dataset([[dt.datetime(2020, 1, 1)], [dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]], Y2),
        "column 'x0' holds a UTC time in row 1 and a time in row 0: make them all of one kind",
    ),
    "ordered unknown": (
        lambda: dataset([["M"], ["XL"]], Y2, ordered={"x0": ["S", "M", "L"]}),
        "column 'x0' holds 'XL', which is not among its ordered categories 'S', 'M', 'L'",
    ),
    "ordered no column": (
        lambda: dataset([["M"]], Y1, ordered={"x9": ["S", "M"]}),
        "ordered: there is no column 'x9'",
    ),
    "ordered text": (
        lambda: dataset([["M"]], Y1, ordered={"x0": "SML"}),
        "ordered: the categories of 'x0' must be a list",
    ),
    "ordered list": (
        lambda: dataset([["M"]], Y1, ordered=["x0"]),
        "ordered must map names to categories",
    ),
    "frame time of day": (
        lambda: dataset(pl.DataFrame({"t": [dt.time(1)]}), Y1),
        "column 't' holds times of day: turn them",
    ),
    "frame lists": (
        lambda: dataset(pl.DataFrame({"l": [[1]]}), Y1),
        "column 'l' holds lists: give each element a column",
    ),
    "frame arrays": (
        lambda: dataset(pl.DataFrame({"l": pl.Series([[1]], dtype=pl.Array(pl.Int8, 1))}), Y1),
        "column 'l' holds arrays: give each element a column",
    ),
    "frame records": (
        lambda: dataset(pa.table({"s": [{"a": 1}]}), Y1),
        "column 's' holds records: give each field a column",
    ),
    "frame bytes": (lambda: dataset(pl.DataFrame({"b": [b"x"]}), Y1), "column 'b' holds bytes"),
    "frame objects": (
        lambda: dataset(frame(o=[object()]), Y1),
        "column 'o' holds a value of type object in row 0",
    ),
    "frame complex": (
        lambda: dataset(frame(c=[1j]), Y1),
        "column 'c' holds values of type complex128: turn them into numbers or text",
    ),
    "frame sparse": (
        lambda: dataset(frame(s=pd.arrays.SparseArray([0, 1j])), Y2),
        "column 's' holds complex numbers: give the real and the imaginary part",
    ),
    "frame duplicate names": (
        lambda: dataset(pd.DataFrame([[1, 2]], columns=["a", "a"]), Y1),
        "X has two columns called 'a': rename one of them",
    ),
    "frame duplicate names as text": (
        lambda: dataset(pd.DataFrame([[1, 2]], columns=[1, "1"]), Y1),
        "X has two columns called '1': rename one of them",
    ),
    "arrow duplicate names": (
        lambda: dataset(pa.table([[1], [2]], names=["a", "a"]), Y1),
        "X has two columns called 'a'",
    ),
    "frame duplicate names in fit": (
        lambda: SeparateAndConquer().fit(pd.DataFrame([[1, 2]], columns=["a", "a"]), Y1),
        "X has two columns called 'a': rename one of them",
    ),
    "frame duplicate names as text in fit": (
        lambda: Ripper().fit(pd.DataFrame([[1, 2], [3, 4]], columns=[1, "1"]), [0, 1]),
        "X has two columns called '1': rename one of them",
    ),
    "frame duplicate names in predict": (
        lambda: LEARNED.predict(pd.DataFrame([[1, 2]], columns=["a", "a"])),
        "X has two columns called 'a': rename one of them",
    ),
    "frame of levels": (
        lambda: dataset(pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([("a", "b")])), Y1),
        "X has columns with several levels of names: flatten them",
    ),
    "frame with odd name": (
        lambda: dataset(pd.DataFrame([[1]], columns=[2.5]), Y1),
        "X has a column called 2.5 of type float: rename it",
    ),
    "frame with empty name": (
        lambda: dataset(pd.DataFrame([[1]], columns=[""]), Y1),
        "a feature has an empty name: give it one",
    ),
    # --- half of a pair of characters, which no file can hold
    "feature name halved": (lambda: Feature("a\ud800"), HALVED % r"feature 'a\\ud800'"),
    "label name halved": (lambda: Schema([], ["\udfff"]), HALVED % r"label '\\udfff'"),
    "category halved": (
        lambda: Feature("a", ("x", "é\udc00")),
        HALVED % r"feature 'a': category 'é\\udc00'",
    ),
    "cell halved": (
        lambda: dataset([["\ud800"]], Y1),
        HALVED % r"feature 'x0': category '\\ud800'",
    ),
    "label set halved": (lambda: dataset([[1]], [{"\ud800"}]), HALVED % r"label '\\ud800'"),
    "class halved": (
        lambda: Ripper().fit([[1], [2]], ["a\ud800", "b"]),
        HALVED % r"the class 'a\\ud800'",
    ),
    "data set name halved": (
        lambda: dataset([[1]], Y1, name="\ud800"),
        HALVED % r"the data set's name '\\ud800'",
    ),
    # --- names and choices
    "too few feature names": (
        lambda: dataset([[1, 2]], Y1, feature_names=["a"]),
        "X has 2 columns but 1 feature names were given",
    ),
    "feature names as text": (
        lambda: dataset([[1, 2]], Y1, feature_names="ab"),
        "feature_names is one text, 'ab': give a list",
    ),
    "feature names not text": (
        lambda: dataset([[1]], Y1, feature_names=[0]),
        "a feature name must be text, not 0 of type int",
    ),
    "feature names for a frame": (
        lambda: dataset(frame(a=[1]), Y1, feature_names=["b"]),
        "X is a frame and brings the names of its columns: leave feature_names out",
    ),
    "one name for both": (
        lambda: dataset(frame(a=[1]), frame(a=[1])),
        "'a' is the name of a feature and of a label",
    ),
    "label names twice": (
        lambda: dataset([[1]], [[0, 1]], label_names=["a", "a"]),
        "two labels are called 'a'",
    ),
    "too few label names": (
        lambda: dataset([[1]], [[0, 1, 1]], label_names=["a", "b"]),
        "Y has 3 columns but 2 label names were given",
    ),
    "nominal unknown": (
        lambda: dataset([[1]], Y1, feature_names=["grade"], nominal=["grad"]),
        r"nominal names 'grad', which X does not have; did you mean 'grade'\?",
    ),
    "nominal out of range": (
        lambda: dataset([[1]], Y1, nominal=[1]),
        "nominal has the position 1, but X has 1 columns",
    ),
    "nominal truth value": (
        lambda: dataset([[1]], Y1, nominal=[True]),
        "nominal has True: give names or positions",
    ),
    "nominal as text": (
        lambda: dataset([[1]], Y1, nominal="x0"),
        "nominal is 'x0': give a list of names or positions",
    ),
    # --- labels
    "Y two": (lambda: dataset([[1]], [[0, 2]]), "Y has 2 in row 0, column 1: a label is 0 or 1"),
    "Y half": (
        lambda: dataset([[1]], np.array([[0.5]]), label_names=["a"]),
        "Y has 0.5 in row 0, column 'a': a label is 0 or 1",
    ),
    "Y words": (lambda: dataset([[1]], np.array([["yes"]])), "Y has 'yes' in row 0, column 0"),
    "Y frame words": (
        lambda: dataset([[1]], frame(happy=["yes"])),
        "Y has 'yes' in row 0, column 'happy': a label is 0 or 1",
    ),
    "Y frame with other names": (
        lambda: dataset([[1]], frame(a=[1]), label_names=["b"]),
        "Y is a frame with the columns 'a', but label_names are 'b'",
    ),
    "Y sparse two": (
        lambda: dataset([[1]], sparse.coo_array(([1, 1], ([0, 0], [0, 0])), shape=(1, 2))),
        "Y has 2 in row 0, column 0",
    ),
    "Y 3-d": (lambda: dataset([[1]], np.zeros((1, 1, 1))), "Y has 3 dimensions, but a table"),
    "Y ragged": (lambda: dataset(Y2, [[0, 1], [1]]), "Y has 2 cells in row 0 but 1 in row 1"),
    "Y lazy": (lambda: dataset([[1]], pl.LazyFrame({"a": [1]})), "Y is a lazy frame"),
    "Y none": (lambda: dataset([[1]], None), "Y is missing: give the labels, or a frame as X"),
    "Y list of text": (
        lambda: dataset([[1], [2]], ["sports", "fashion"]),
        "Y has 'sports' in row 0, column 0: a label is 0 or 1",
    ),
    "Y sets and text": (
        lambda: dataset([[1], [2]], [{"sports"}, "fashion"]),
        "Y has 'fashion' in row 1 where other rows have label sets",
    ),
    "Y set of numbers": (
        lambda: dataset([[1]], [{1, 2}]),
        "Y has the label 1 of type int in row 0: labels in a label set are text",
    ),
    "Y unknown label": (
        lambda: dataset([[1]], [{"sport"}], label_names=["sports"]),
        r"Y has the unknown label 'sport' in row 0; did you mean 'sports'\?",
    ),
    "Y rows of text": (
        lambda: dataset([[1], [2]], [["0", "1"], ["1", "0"]]),
        "Y holds only the texts '0' and '1': turn them into numbers, as by .*int",
    ),
    "Y rows of text and names": (
        lambda: dataset([[1], [2]], [("0", "0"), ("1", "0")], label_names=["a", "b"]),
        "Y holds only the texts '0' and '1'",
    ),
    "Y sparse duplicates": (
        lambda: dataset(
            [[1]], sparse.coo_array((np.array([255, 2], np.uint8), ([0, 0], [0, 0])), shape=(1, 1))
        ),
        r"Y has 257.0 in row 0, column 0: a label is 0 or 1",
    ),
    "Y names of columns": (
        lambda: dataset(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0, 1, 1]}), ["b"]),
        r"^Y names columns of X \('b'\): leave it out, .* by dataset\(X, label_names=\['b'\]\)$",
    ),
    "Y dicts": (
        lambda: dataset([[1], [2]], [{"a": 1}, {"a": 0}]),
        "^Y has a dict in row 0: make a frame of the rows first, as by pandas.DataFrame",
    ),
    "Y frame of label sets": (
        lambda: dataset([[1], [2]], pd.DataFrame({"tags": [["a"], ["a", "b"]]})),
        r"column 'tags' holds label sets: give the column itself, Y\['tags'\]",
    ),
    "Y frame of joined labels": (
        lambda: dataset([[1], [2]], pd.DataFrame({"tags": ["a", "a,b"]})),
        r"split them by labelrules.split_labels\(Y\['tags'\], ','\)",
    ),
    "Y all empty": (lambda: dataset([[1]], [set()]), "every label set in Y is empty"),
    "rows differ": (lambda: dataset([[1]], Y2), "X has 1 rows but Y has 2"),
    # --- new data
    "new array too wide": (
        lambda: encode([[1, "Male", 3]], SCHEMA),
        "X has 3 columns but the schema has 2 features",
    ),
    "new sparse too wide": (
        lambda: encode(sparse.csr_array((1, 3)), SCHEMA),
        "X has 3 columns but the schema has 2 features",
    ),
    "new frame lacks a column": (
        lambda: encode(frame(age=[1]), SCHEMA),
        "X does not fit the schema: missing feature 'sex'",
    ),
    "new frame has a column more": (
        lambda: encode(frame(age=[1], sex=["Male"], id=[7]), SCHEMA),
        "X does not fit the schema: extra column 'id'",
    ),
    "new frame in another order": (
        lambda: encode(frame(sex=["Male"], age=[1]), SCHEMA),
        r"in another order .* column 0 is 'sex' instead of 'age'; use X\[names\]",
    ),
    "new text for numbers": (
        lambda: encode([["old", "Male"]], SCHEMA),
        "column 'age' must hold numbers, but it is nominal",
    ),
    "new numbers for categories": (
        lambda: encode(np.array([[36, 1]]), SCHEMA),
        "column 'sex' must hold the categories 'Female', 'Male', but it holds numbers",
    ),
    "new truth values for numbers": (
        lambda: encode(frame(age=[True], sex=["Male"]), SCHEMA),
        "column 'age' must hold numbers, but it is nominal",
    ),
    "new sparse truth values for numbers": (
        lambda: encode(
            sparse.csr_array((1, 2), dtype=bool), Schema([Feature("a"), Feature("b")], [])
        ),
        "column 'a' must hold numbers, but it is nominal; column 'b' must",
    ),
    "new sparse categories": (
        lambda: encode(sparse.csr_array([[36, 1]]), SCHEMA),
        r"column 'sex' is sparse, so '0' must be its first category.*\(pass X dense\)",
    ),
    "new infinite": (
        lambda: encode([[np.inf, "Male"]], SCHEMA),
        "feature 'age' has an infinite value",
    ),
    "new data set": (
        lambda: encode(load("magazines"), SCHEMA),
        "X does not fit the schema: missing feature 'age'; extra columns 'education', 'marital'",
    ),
    "new data set lacks a feature": (
        lambda: encode(PEOPLE.without(["sex"]), SCHEMA),
        "X does not fit the schema: missing feature 'sex'$",
    ),
    "new data set has more": (
        lambda: encode(PEOPLE, Schema(SCHEMA.features[:1], [])),
        "X does not fit the schema: extra column 'sex'$",
    ),
    "new data set in another order": (
        lambda: encode(PEOPLE, Schema(SCHEMA.features[::-1], [])),
        "the columns of X are in another order than the features of the schema: column 0 is 'age' "
        "instead of 'sex'; make the data set anew, with its columns in this order: 'sex', 'age'",
    ),
    "new data set of other kinds": (
        lambda: encode(PEOPLE, Schema([Feature("age", ("1",)), Feature("sex")], [])),
        "X does not fit the schema: column 'age' must hold the categories '1', but it holds "
        "numbers; column 'sex' must hold numbers, but it is nominal$",
    ),
    "new data set with other categories": (
        lambda: encode(PEOPLE, Schema([Feature("age"), Feature("sex", ("F", "M"))], [])),
        "column 'sex' must hold the categories 'F', 'M', but it holds the categories 'Female', "
        "'Male'$",
    ),
    "new data set with categories in another order": (
        lambda: encode(PEOPLE, Schema([Feature("age"), Feature("sex", ("Male", "Female"))], [])),
        "the categories 'Male', 'Female', but it holds .* 'Female', 'Male', in another order$",
    ),
    "new data set with other labels": (
        lambda: encode_labels(PEOPLE, SCHEMA),
        "Y does not fit the schema: missing label 'b'; extra column 'l'",
    ),
    "new truth values for categories": (
        lambda: encode(frame(age=[1], sex=[True]), SCHEMA),
        "column 'sex' must hold the categories 'Female', 'Male', but it holds truth values",
    ),
    "new truth values in a list": (
        lambda: encode([[1, None], [2, True]], SCHEMA),
        "column 'sex' must hold the categories 'Female', 'Male', but it holds truth values",
    ),
    "new truth values in an array": (
        lambda: encode(np.array([[True]]), Schema([Feature("a", ("0", "1"))], [])),
        "column 'a' must hold the categories '0', '1', but it holds truth values",
    ),
    "new truth values behind a mask": (
        lambda: encode(
            np.ma.array([[True], [False]], mask=[[0], [1]]), Schema([Feature("a", ("0", "1"))], [])
        ),
        "column 'a' must hold the categories '0', '1', but it holds truth values",
    ),
    "new truth values as categories": (
        lambda: encode(frame(age=[1], sex=pd.Categorical([True])), SCHEMA),
        "column 'sex' must hold the categories 'Female', 'Male', but it holds truth values",
    ),
    "new labels too many": (
        lambda: encode_labels([[1, 0, 1]], SCHEMA),
        "Y has 3 columns but 2 label names were given",
    ),
    "new label unknown": (lambda: encode_labels([{"c"}], SCHEMA), "unknown label 'c' in row 0"),
}


# --- files ------------------------------------------------------------------------------


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def csv(text: str | bytes, *labels: str, **options: object) -> Callable[[Path], object]:
    """Read these bytes as CSV."""
    content = text.encode() if isinstance(text, str) else text

    def attempt(folder: Path) -> object:
        return read_csv(written(folder / "t.csv", content), labels or ["l"], **options)

    return attempt


def beside(content: bytes) -> Callable[[Path], object]:
    """Read a table with this schema file."""

    def attempt(folder: Path) -> object:
        written(folder / "t.csv.schema.json", content)
        return read_csv(written(folder / "t.csv", b"a,b,l\n1,x,1\n"))

    return attempt


def nul_in_a_cell(folder: Path) -> object:
    path = folder / "t.csv"
    write_csv(dataset([[1, "x"]], [[1]]), path)
    return read_csv(written(path, path.read_bytes().replace(b"x,", b"\0,")))


def zipped(content: bytes) -> Callable[[Path], object]:
    return lambda folder: read_csv(written(folder / "t.csv.gz", content), ["l"])


def parquet(content: bytes) -> Callable[[Path], object]:
    return lambda folder: read_parquet(written(folder / "t.parquet", content), ["l"])


def table(labels: list[str] | None = None, **columns: object) -> Callable[[Path], object]:
    """Read a foreign Parquet file."""

    def attempt(folder: Path) -> object:
        pq.write_table(pa.table(columns), folder / "t.parquet")
        return read_parquet(folder / "t.parquet", labels)

    return attempt


def twins(*names: str) -> Callable[[Path], object]:
    """Read a foreign Parquet file with columns of these names."""

    def attempt(folder: Path) -> object:
        columns = [pa.array([1, 0])] * len(names)
        pq.write_table(pa.Table.from_arrays(columns, names=list(names)), folder / "t.parquet")
        return read_parquet(folder / "t.parquet", ["l"])

    return attempt


def spoilt(change: Callable[[pa.Table], pa.Table], thin: bool = False) -> Callable[[Path], object]:
    """Read a Parquet file of ours after somebody changed it."""

    def attempt(folder: Path) -> object:
        path = folder / "t.parquet"
        X = sparse.csr_array([[0.0, 2.0]]) if thin else [[1, "x"]]
        write_parquet(dataset(X, [[1]], feature_names=["a", "b"], label_names=["l"]), path)
        pq.write_table(change(pq.read_table(path)), path)
        return read_parquet(path)

    return attempt


def half_parquet(folder: Path) -> object:
    write_parquet(load("magazines"), folder / "t.parquet")
    content = (folder / "t.parquet").read_bytes()
    return parquet(content[: len(content) // 2])(folder)


GOOD = "a,b,l\n1,x,1\n"
HUGE = '"' + "x" * 200_000 + '"'
PACKED = gzip.compress(("a,l\n" + "".join(f"{n},0\n" for n in range(5000))).encode())
CUT = len(PACKED) // 2
CUT_LINE = zlib.decompressobj(wbits=31).decompress(PACKED[:CUT]).count(b"\n") + 1

FILES: dict[str, tuple[Callable[[Path], object], int | None, str]] = {
    # name: how to make it, the line named, what is said
    "csv not there": (lambda f: read_csv(f / "t.csv", ["l"]), None, "there is no such file"),
    "csv is a folder": (lambda f: read_csv(f, ["l"]), None, "this is a folder"),
    "csv huge cell": (csv(f"a,l\n1,0\n{HUGE},0\n"), 3, "a cell has more than 131072 characters"),
    "csv NUL": (csv("a,l\n1,0\n\0,0\n"), 3, "the line has a NUL character"),
    "csv not UTF-8": (
        csv(b"a,l\n1,0\n\xff,0\n"),
        3,
        r"not utf-8 text .*: pass its encoding, such as encoding=",
    ),
    "csv bad header text": (csv(b"\xff,l\n1,0\n"), 1, "not utf-8 text"),
    "csv not UTF-16": (csv("a,l\n", encoding="utf-16"), 1, "not utf-16 text .*start with BOM"),
    "csv UTF-16 unannounced": (csv("a,l\n1,0\n".encode("utf-16")), 1, "not utf-8 text"),
    "gzip truncated": (zipped(PACKED[:CUT]), CUT_LINE, "the compressed file ends early: get it"),
    "gzip truncated in the header": (zipped(PACKED[:5]), None, "the compressed file ends early"),
    "gzip without its sum": (
        zipped(gzip.compress(b"a,l\r1,0\r2,0\r")[:-8]),
        3,
        "the compressed file ends early",
    ),
    "gzip with a wrong sum": (
        zipped(PACKED[:-8] + bytes(4) + PACKED[-4:]),
        None,
        r"the compressed file is damaged \(CRC check failed .*\): get it again",
    ),
    "gzip followed by something": (
        zipped(PACKED + b"more"),
        None,
        r"the compressed file is damaged \(Not a gzipped file \(b'mo'\)\): get it again",
    ),
    "gzip damaged": (
        zipped(PACKED[:10] + b"\xff" * 9 + PACKED[19:]),
        None,
        r"the compressed file is damaged \(.*\): get it again",
    ),
    "gzip is none": (zipped(b"a,l\n1,0\n"), None, "this is not a gzip file"),
    # --- CSV with a schema file
    "schema: NUL": (nul_in_a_cell, 2, r"unknown category '\\x00'"),
    "schema not UTF-8": (beside(b'{"a": "\xff"}'), 1, "not utf-8 text"),
    "schema with a long number": (
        beside(b'{"format": "labelrules-schema", "version": ' + b"1" * 5000 + b"}"),
        None,
        r"\$\.version: this labelrules reads 1, not 1{20}\.\.\. of 5000 digits",
    ),
    "schema nested": (beside(b"[" * 100_000), None, "it is nested too deeply"),
    # --- Parquet
    "parquet not there": (
        lambda f: read_parquet(f / "t.parquet"),
        None,
        "there is no such file or folder",
    ),
    "parquet is a folder": (lambda f: read_parquet(f), None, "this is a folder"),
    "parquet empty": (parquet(b""), None, "not a sound Parquet file"),
    "parquet is text": (parquet(b"a,l\n1,0\n" * 100), None, "not a sound Parquet file"),
    "parquet truncated": (half_parquet, None, "not a sound Parquet file"),
    "parquet two features of a name": (twins("a", "a", "l"), None, "two columns are called 'a'"),
    "parquet two labels of a name": (twins("a", "l", "l"), None, "two columns are called 'l'"),
    "parquet twice and ours": (
        spoilt(lambda t: t.append_column("a", t["a"])),
        None,
        "two columns are called 'a': rename one of them",
    ),
    "parquet no labels named": (table(a=[1], l=[0]), None, r"which columns are labels\?"),
    "parquet unknown label": (
        table(["sport"], a=[1], sports=[0]),
        None,
        r"there is no column 'sport'; did you mean 'sports'\?",
    ),
    "parquet label not 0 or 1": (table(["l"], a=[1], l=[2]), None, "Y has 2 in row 0, column 'l'"),
    "parquet times": (table(["l"], a=[dt.time(3)], l=[0]), None, "column 'a' holds times of day"),
    "parquet column gone": (
        spoilt(lambda t: t.drop_columns("b")),
        None,
        "there is no column 'b', which its schema names",
    ),
    "parquet label gone": (
        spoilt(lambda t: t.drop_columns("l")),
        None,
        "there is no column 'l', which its schema names",
    ),
    "parquet unknown category": (
        spoilt(lambda t: t.set_column(1, "b", pa.array(["z"]))),
        None,
        "column 'b' has a category that its schema lacks",
    ),
    "parquet text for numbers": (
        spoilt(lambda t: t.set_column(0, "a", pa.array(["z"]))),
        None,
        "column 'a' must hold numbers, but it is nominal",
    ),
    "parquet infinite": (
        spoilt(lambda t: t.set_column(0, "a", pa.array([float("inf")]))),
        None,
        "feature 'a' has an infinite value",
    ),
    "parquet schema broken": (
        spoilt(lambda t: t.replace_schema_metadata({"labelrules": "{"})),
        None,
        "the schema is wrong: line 1, column 2: not valid JSON",
    ),
    "parquet schema not UTF-8": (
        spoilt(lambda t: t.replace_schema_metadata({"labelrules": b"\xff"})),
        None,
        "the schema is wrong: this is not UTF-8 text",
    ),
    "parquet sparse rows beyond": (
        spoilt(
            lambda t: t.set_column(0, "indices", pa.array([[9]], pa.large_list(pa.int32()))), True
        ),
        None,
        "the sparse rows name features that are not there",
    ),
    "parquet sparse rows uneven": (
        spoilt(
            lambda t: t.set_column(0, "indices", pa.array([[]], pa.large_list(pa.int32()))), True
        ),
        None,
        "the sparse rows have different numbers of values and indices",
    ),
    "parquet sparse rows no lists": (
        spoilt(lambda t: t.set_column(0, "indices", pa.array([1])), True),
        None,
        "the columns indices and values of sparse data are not lists",
    ),
}


def several(**contents: str) -> Callable[[Path], object]:
    """Read CSV files as one data set."""

    def attempt(folder: Path) -> object:
        paths = [written(folder / f"{name}.csv", text.encode()) for name, text in contents.items()]
        return read_csv(paths, ["l"])

    return attempt


def differently_described(folder: Path) -> object:
    """Read two CSV files whose schema files differ."""
    for name, order in (("t", ("x", "y")), ("u", ("y", "x"))):
        schema = Schema([Feature("a", order)], ["l"])
        write_csv(Dataset(schema, np.zeros((1, 1)), np.zeros((1, 1))), folder / f"{name}.csv")
    return read_csv([folder / "t.csv", folder / "u.csv"])


def several_tables(**tables: object) -> Callable[[Path], object]:
    """Read foreign Parquet files as one data set."""

    def attempt(folder: Path) -> object:
        for name, columns in tables.items():
            pq.write_table(pa.table(columns), folder / f"{name}.parquet")
        return read_parquet([folder / f"{name}.parquet" for name in tables], ["l"])

    return attempt


def ours_and_foreign(folder: Path) -> object:
    """Read a Parquet file with its schema and one without."""
    write_parquet(
        dataset([[1.5]], [[1]], feature_names=["a"], label_names=["l"]), folder / "t.parquet"
    )
    pq.write_table(pa.table({"a": [1.5], "l": [1]}), folder / "u.parquet")
    return read_parquet([folder / "t.parquet", folder / "u.parquet"])


def name_not_utf8(folder: Path) -> object:
    """Read a Parquet file with a name of bytes that are no text."""
    path = folder / "t.parquet"
    pq.write_table(pa.table({"abcdef": [1], "l": [1]}), path, store_schema=False)
    return read_parquet(written(path, path.read_bytes().replace(b"abcdef", b"ab\xff\xfeef")), ["l"])


def packed(
    pack: Callable[[bytes], bytes], ending: str, damage: slice | None = None
) -> Callable[[Path], object]:
    """Read a compressed CSV file, of which perhaps only a part is there."""
    content = pack(b"a,l\n" + b"1,0\n" * 50_000)
    return lambda folder: read_csv(
        written(folder / f"t.csv{ending}", content[damage] if damage else content), ["l"]
    )


FILES |= {
    "csv a NUL in the path": (
        lambda f: read_csv(f / "a\0b.csv", ["l"]),
        None,
        r"a\\x00b\.csv': no file has a NUL character in its name",
    ),
    "parquet a NUL in the path": (
        lambda f: read_parquet(f / "a\0b.parquet", ["l"]),
        None,
        "no file has a NUL character in its name",
    ),
    "csv half a character in the path": (
        lambda f: read_csv(f / "a\ud800.csv", ["l"]),
        None,
        r"a\\ud800\.csv': no file has half a character in its name",
    ),
    "csv bzip2 by content": (
        lambda f: read_csv(written(f / "t.csv", bz2.compress(b"a,l\n1,0\n")), ["l"]),
        None,
        r"the file is bzip2-compressed: its name must end in \.bz2",
    ),
    "csv xz by content": (
        lambda f: read_csv(written(f / "t.csv", lzma.compress(b"a,l\n1,0\n")), ["l"]),
        None,
        r"the file is xz-compressed: its name must end in \.xz",
    ),
    "bzip2 truncated": (
        packed(bz2.compress, ".bz2", slice(0, 60)),
        50_001,
        "the compressed file ends early: get it again",
    ),
    "xz truncated": (
        packed(lzma.compress, ".xz", slice(0, -20)),
        50_001,
        "the compressed file ends early: get it again",
    ),
    "bzip2 is none": (
        packed(bytes, ".bz2"),
        None,
        r"this is not a bzip2 file \(Invalid data stream\)",
    ),
    "xz is none": (
        packed(bytes, ".xz"),
        None,
        r"this is not a xz file \(Input format not supported",
    ),
    # --- several files
    "several: a column less": (
        several(t="a,b,l\n1,2,0\n", u="a,l\n1,0\n"),
        1,
        r"u\.csv, line 1: there is no column 'b' as in .*t\.csv; files are joined only if",
    ),
    "several: a column more": (
        several(t="a,l\n1,0\n", u="l,a,b\n1,0,1\n"),
        1,
        r"u\.csv, line 1: column 'b' is not in .*t\.csv; files are joined only if",
    ),
    "several: numbers and text": (
        several(t="a,l\n1,0\n", u="l,a\n0,2\n1,x\n"),
        3,
        r"u\.csv, line 3: column 'a' holds numbers, such as '1' in line 2 of .*t\.csv, but this",
    ),
    "several: text and numbers": (
        several(t="a,l\nx,0\n", u="l,a\n0,2\n"),
        2,
        r"t\.csv, line 2: column 'a' holds numbers, such as '2' in line 2 of .*u\.csv, but this",
    ),
    "several: a wrong label": (
        several(t="a,l\n1,0\n", u="l,a\n2,2\n"),
        2,
        r"u\.csv, line 2: label 'l' is '2'",
    ),
    "several: other schema files": (
        differently_described,
        None,
        r"u\.csv\.schema\.json: it describes other columns than the schema file before it",
    ),
    "several: parquet, a column less": (
        several_tables(t={"a": [1], "b": [2], "l": [0]}, u={"l": [0], "a": [1]}),
        None,
        r"u\.parquet: there is no column 'b' as in .*t\.parquet; files are joined only if",
    ),
    "several: parquet, a column more": (
        several_tables(t={"a": [1], "l": [0]}, u={"l": [0], "a": [1], "b": [2]}),
        None,
        r"u\.parquet: column 'b' is not in .*t\.parquet; files are joined only if",
    ),
    "several: parquet, other types": (
        several_tables(t={"a": [1], "l": [0]}, u={"a": ["x"], "l": [0]}),
        None,
        r"u\.parquet: column 'a' is of type string, but int64 in .*t\.parquet",
    ),
    "several: parquet, ours and another": (
        ours_and_foreign,
        None,
        r"u\.parquet: its schema is another than that of .*t\.parquet",
    ),
    "parquet name not UTF-8": (
        name_not_utf8,
        None,
        "the name of a column is not UTF-8 text .*: rename the column",
    ),
}


OPTIONS: dict[str, tuple[Callable[[Path], object], str]] = {
    "encoding none": (csv(GOOD, encoding=None), "encoding=None is no text encoding"),
    "encoding hex": (csv(GOOD, encoding="hex"), "encoding='hex' is no text encoding"),
    "encoding rot13": (csv(GOOD, encoding="rot13"), "encoding='rot13' is no text encoding"),
    "encoding idna": (csv(GOOD, encoding="idna"), "encoding='idna' is no text encoding"),
    "encoding with NUL": (csv(GOOD, encoding="utf\0"), r"encoding='utf\\x00' is no text encoding"),
    "several texts for missing": (
        csv(GOOD, missing=["NA", "?"]),
        r"^missing is \['NA', '\?'\]: give the one text that stands for a missing value",
    ),
    "missing none": (csv(GOOD, missing=None), "^missing is None: give the one text"),
    "csv no path": (
        lambda f: read_csv(None, ["l"]),
        "path must be a path or a list of paths, not None",
    ),
    "csv bytes": (
        lambda f: read_csv(b"t.csv", ["l"]),
        "path must be a path or a list of paths, not b't",
    ),
    "csv no files": (
        lambda f: read_csv([], ["l"]),
        "path is an empty list: give the path of a file",
    ),
    "parquet number": (
        lambda f: read_parquet([3]),
        r"path must be a path or a list of paths, not \[3\]",
    ),
    "standard input twice": (
        lambda f: read_csv(["-", "-"], ["l"]),
        r"path names the standard input \(-\) twice, which can be read only once",
    ),
    "load no name": (lambda f: load(None), "name must be the name of a data set, not None"),
    "load a long name": (lambda f: load("x" * 5000, f), "has no data set 'xxx"),
    "load from a long folder": (lambda f: load("x", "y" * 5000), "this folder does not exist"),
    "delimiter of two": (csv(GOOD, delimiter=";;"), "delimiter is ';;': give one character"),
    "delimiter a quote": (csv(GOOD, delimiter='"'), "delimiter is '\"'"),
    "encoding unknown": (csv(GOOD, encoding="utf-99"), "encoding='utf-99' is no text encoding"),
    "labels as text": (
        lambda f: read_csv(written(f / "t.csv", GOOD.encode()), "l"),
        "labels is one text, 'l': give a list",
    ),
    "parquet labels as text": (
        lambda f: read_parquet(f / "t.parquet", "l"),
        "labels is one text, 'l': give a list",
    ),
    "labels twice": (csv(GOOD, "l", "l"), "labels name 'l' twice"),
    "label ignored": (csv(GOOD, ignore=["l"]), "'l' is named as a label and as something else"),
}
