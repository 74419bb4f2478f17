"""Tables and models in files: what is read and written, and the words of refusals."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import bad_arff  # these two of tests
import bad_tables
from labelrules import load, load_model, to_json
from labelrules.rules import theory_of
from records import ROOT
from records.ground import told
from records.keeping import Cases, or_refusal
from records.learners import ROWS
from records.texts import Sections, array_text, digest

TABLES = {
    "kinds": "n,i,c,day,when,l\n1.5,1,red,2024-01-02,2024-01-02T10:00:00,0\n,2,,,,1\n"
    "-2e3,3,blue,2023-12-31,2024-02-29 23:59:59,1\n",
    "quotes": 'a,"b, c",l\n"x ""y""","p,q",1\n"line\nbreak",r,0\n',
    "semicolons": "a;b;l\n1,5;x;1\n2,5;y;0\n",
    "codes": "id,zip,l\n1,01234,0\n2,99999,1\n3,01234,1\n",
    "truth": "a,b,l,m\nyes,TRUE,1,0\nno,FALSE,0,\n",
    "missing": "a,b,l\n?,x,1\n3,?,0\n",
    "spaces": "a , b,l\n 1,x ,1\n2, y,0\n",
    "unicode": "größe,日本,l\n1,é🙂,1\n2,ß,0\n",
    "many digits": "a,l\n0.1234567890123456789,1\n1e308,0\n5e-324,1\n9007199254740993,0\n",
    "mixed": "a,l\n1,0\nx,1\n",
    "endings": "a,l\r\n1,0\r\n2,1\r\n",
    "no last line end": "a,l\n1,0\n2,1",
}
CALLS = {
    "plain": "read_csv('t.csv', ['l'])",
    "nominal": "read_csv('t.csv', ['l'], nominal=['a'])",
    "semicolon": "read_csv('t.csv', ['l'], delimiter=';')",
    "question": "read_csv('t.csv', ['l'], missing='?')",
    "scanned": "next(iter(scan('t.csv', ['l'])))",
    "packed": "read_csv('t.csv.gz', ['l'])",
    "by pandas": "dataset(pd.read_csv('t.csv', keep_default_na=False, "
    "na_values=['']).drop(columns='l'), "
    "pd.read_csv('t.csv')[['l']])",
    "by polars": "dataset(pl.read_csv('t.csv').drop('l'), pl.read_csv('t.csv').select('l'))",
}
WRITTEN = {"csv": "write_csv({}, 't.csv')", "mulan": "write_mulan({}, 't.arff', 't.xml')",
           "parquet": "write_parquet({}, 't.parquet')"}  # fmt: skip
READ = {"csv": "read_csv('t.csv')", "mulan": "read_mulan('t.arff', 't.xml')",
        "parquet": "read_parquet('t.parquet')"}  # fmt: skip
MODELS = ROOT / "tests" / "golden" / "models"


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """Tables read and written, bad tables, and stored models of all versions."""
    for name, text in TABLES.items():
        for call, expression in CALLS.items():
            if name == "semicolons" and call.startswith("by "):
                continue  # which pandas and polars do not read as a table
            read = partial(_read, text, expression)
            yield f"csv/{name}, {call}", partial(or_refusal, read)
    for rows in ("train", "readers", "invented"):
        for name in WRITTEN:
            for change in (None, "whole weights", "unknown labels"):
                written = partial(_written, rows, name, change)
                yield f"written/{rows}, {name}, {change}", partial(or_refusal, written)
    for name, table in (("tables", bad_tables), ("arff", bad_arff)):
        for kind in ("FILES", "OPTIONS"):
            yield f"refused/{name}, {kind.lower()}", partial(_refused, getattr(table, kind))
    yield "refused/arrays", partial(_refused, bad_tables.ARRAYS)
    for path in sorted(MODELS.glob("*.json")):
        yield f"models/{path.stem}", partial(_model, path)
    for name in sets:
        yield f"sets/{name}", partial(_set, name)


def table_text(data: Any) -> Sections:
    """A data set: its columns with their kinds, and its cells."""
    X = np.asarray(data.X.todense() if data.is_sparse else data.X)
    weights = "none" if data.weights is None else digest(np.asarray(data.weights))
    return Sections({
        "columns": [repr(one) for one in data.schema.features], "labels": repr(data.schema.labels),
        "name": data.name, "weights": weights, "is_sparse": str(data.is_sparse),
        "X": array_text(X) if X.size < 2000 else [
            f"{feature.name}: {np.nanmean(column):.12g} {digest(column)}"
            for feature, column in zip(data.schema.features, X.T, strict=True)
        ],
        "Y": array_text(data.Y) if data.Y.size < 500 else digest(data.Y),
    })  # fmt: skip


def _read(text: str, expression: str) -> Sections:
    import gzip

    import pandas as pd
    import polars as pl

    Path("t.csv").write_bytes(text.encode())
    Path("t.csv.gz").write_bytes(gzip.compress(text.encode()))
    return table_text(told(expression, pd=pd, pl=pl))


def _written(rows: str, name: str, change: str | None) -> Sections:
    """What a file says, and what is read of it."""
    data = told(rows).take(range(14))
    if change is not None:
        data = ROWS[change](data)
    told(WRITTEN[name].format("data"), data=data)
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(Path().iterdir())
             if path.suffix != ".parquet"}  # fmt: skip
    return Sections({**texts, "read again": table_text(told(READ[name]))})


def _refused(table: dict[str, tuple[Callable[..., object], Any]]) -> Sections:
    """The message of each case of a table of bad files."""
    found = Sections()
    for name, (attempt, *_) in table.items():
        folder = Path(f"case {len(found)}")
        folder.mkdir()
        given = () if table is bad_tables.ARRAYS else (folder.resolve(),)
        found[name] = or_refusal(partial(_message, attempt, given))
    return found


def _message(attempt: Callable[..., object], given: tuple[Path, ...]) -> str:
    try:
        return f"read: {attempt(*given)!r:.80}"
    except OSError as wrong:  # those of the library are values that are wrong as well
        return f"refused: {type(wrong).__name__}: {wrong}"


def _model(path: Path) -> Sections:
    """A stored model: its rules, its answers, and how it is stored now."""
    model, readers = load_model(path), load("magazines")
    found = Sections({"class": type(model).__name__, "predictions": model.predict(readers)})
    found["theory"] = or_refusal(lambda: str(theory_of(model)))
    found["stored"] = to_json(model, about=False)
    return found


def _set(name: str) -> Sections:
    from parts.sets import part

    return Sections({which: table_text(part(name, which)) for which in ("train", "test")})  # type: ignore[arg-type]
