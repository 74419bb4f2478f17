"""``labelrules convert``: data and models in other formats."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labelrules.cli.commands import Command, DataName, File, OneOf, Text, reading_options
from labelrules.cli.io import (
    STANDARD,
    Reading,
    check_files,
    extension_of,
    files_beside,
    files_of,
    is_data,
    is_same_file,
    read_data,
    unpacked_extension_of,
    write,
)
from labelrules.cli.models import (
    Model,
    names_option,
    option_schema,
    read_model,
    shown_rules_text,
    with_names_of,
)
from labelrules.cli.settings import blaming

if TYPE_CHECKING:
    from labelrules.data import Dataset

EXAMPLES = """
labelrules convert yeast yeast.csv --part train
labelrules convert readers.csv readers.arff --labels quality,tabloid
labelrules convert model.json model.py
labelrules convert model.json model.mjs
labelrules convert model.json model.sql --table patients --dialect duckdb --key id
labelrules convert model.json - --to rules
labelrules convert my-rules.txt model.json --data magazines
labelrules convert model.json legible.json --names names.csv
"""

DATA_FORMATS = {".arff": "arff", ".csv": "csv", ".parquet": "parquet"}
MODEL_FORMATS = {
    ".json": "json",
    ".py": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".sql": "sql",
    ".pmml": "pmml",
    ".rules": "rules",
    ".txt": "rules",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
}
FORMATS = tuple(dict.fromkeys([*DATA_FORMATS.values(), *MODEL_FORMATS.values()]))
FORMATS_HELP = f"{', '.join(FORMATS)}; default: by file extension"


@click.command("convert", cls=Command, examples=EXAMPLES)
@click.argument(
    "source", type=DataName(), nargs=-1, required=True,
    help="data, perhaps several files, or a model; - is standard input",
)  # fmt: skip
@click.argument("target", type=File(), help="the new file; - is standard output")
@click.option("--to", "to_format", type=OneOf("format", FORMATS), help=FORMATS_HELP)
@click.option("--data", type=DataName(), help="for rules as text: the data that they are about")
@names_option()
@click.option("--table", type=Text(), help="SQL: the table with the features (data)")
@click.option("--dialect", type=Text(), help="SQL: sqlite, duckdb, postgres, ... (sqlite)")
@click.option("--key", type=Text(), multiple=True, help="SQL: a column to copy; repeatable")
@reading_options
def command(
    source: str, target: str, to_format: str | None, data: str | None, names: str | None,
    reading: Reading, **sql: Any,
) -> None:  # fmt: skip
    """Convert data or a model."""
    check_files(target, [source, data, names, reading.xml], "TARGET")
    form = _format(source, target, to_format, reading)
    for name, value in sql.items():
        if form != "sql" and value:
            raise click.UsageError(f"--{name} is for SQL only, not for {form}")
    if form in DATA_FORMATS.values():
        if target != STANDARD:
            _check_beside(form, target, [source, reading.xml])
        _write_data(with_names_of(read_data(source, reading), names), form, Path(target))
    else:
        if reading.more:
            raise click.UsageError(f"several files are data, which cannot be converted to {form}")
        model = with_names_of(read_model(source, option_schema(data, reading)), names)
        write(_model_text(model, form, sql), target)


def _format(source: str, target: str, to_format: str | None, reading: Reading) -> str:
    extension = extension_of(target)
    by_name = {**DATA_FORMATS, **MODEL_FORMATS}.get(unpacked_extension_of(target))
    form = to_format or by_name
    if form is None:
        raise click.UsageError(
            f"{target}: cannot tell the format from the file extension {extension!r}: give --to, "
            f"one of {', '.join(FORMATS)}"
        )
    from labelrules.data.catalog import EMBEDDED
    from labelrules.data.files.access import is_stream

    is_pipe = target == STANDARD or (form == "arff" and is_stream(Path(target)))
    if form in ("arff", "parquet") and is_pipe:
        raise click.UsageError(f"TARGET: {form} is written to files only: give the name of a file")
    is_model = unpacked_extension_of(source) in MODEL_FORMATS
    if form in DATA_FORMATS.values() and is_model and reading.format is None:
        raise click.UsageError(f"{source} is a model, which cannot be converted to {form}")
    if form in MODEL_FORMATS.values() and (is_data(source) or source in EMBEDDED):
        raise click.UsageError(f"{source} is data, which cannot be converted to {form}")
    return form


def _check_beside(form: str, target: str, inputs: list[str | None]) -> None:
    """The files that are written beside the table must not be those of another table."""
    extension = "" if extension_of(target).startswith(f".{form}") else f".{form}"
    read = list(files_of(inputs))
    for beside in files_beside(target + extension):
        is_read = any(is_same_file(beside, one) for one in read)
        if is_read or (beside.exists() and not Path(target).exists()):
            raise click.UsageError(
                f"TARGET: {beside} would be replaced, too, but belongs to other data; choose "
                "another name"
            )


def _write_data(data: "Dataset", form: str, target: Path) -> None:
    from labelrules.data import write_csv, write_mulan, write_parquet

    if str(target) == STANDARD:  # CSV: `_format` refuses the others
        from labelrules.data.files.csv import csv_lines

        write("".join(csv_lines(data)), STANDARD)
    else:
        writers: dict[str, Callable[..., object]] = {
            "csv": write_csv,
            "arff": write_mulan,
            "parquet": write_parquet,
        }
        writers[form](data, target)


def _model_text(model: Model, form: str, sql: dict[str, Any]) -> str:
    from labelrules.export import to_javascript, to_pmml, to_python, to_sql
    from labelrules.storage import to_json

    if form == "json":
        if model.said is None:
            return to_json(model.kept)
        return to_json(model.kept, author=model.said.author, notes=model.said.notes)
    theory = model.theory  # there is one, and there are no constraints
    if form == "sql":
        table, dialect = sql["table"] or "data", sql["dialect"] or "sqlite"
        with blaming([("dialect", "")], "--dialect"):
            return to_sql(theory, table, dialect=dialect, keys=sql["key"])
    if form == "python":
        return to_python(model.kept)  # with what its probabilities need
    if form == "javascript":
        return to_javascript(model.kept)
    if form == "pmml":
        return to_pmml(theory)
    return shown_rules_text(model, "plain" if form == "rules" else form) + "\n"
