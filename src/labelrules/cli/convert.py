"""``labelrules convert``: data and models in other formats."""

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from labelrules.cli.errors import OK, UsageError
from labelrules.cli.models import Model, read_model
from labelrules.cli.parser import OneOf, Parser
from labelrules.cli.reading import OPENML, add_reading, is_data, read_data, schema_of
from labelrules.cli.settings import blamed
from labelrules.cli.writing import (
    STANDARD,
    check_place,
    check_standard_input,
    ending_of,
    files_beside,
    files_of,
    is_same_file,
    write_text,
)

if TYPE_CHECKING:
    from labelrules.data import Dataset

SUMMARY = "Convert data to another format, or a model to Python, SQL, PMML, HTML, text or JSON."
EXAMPLES = """
labelrules convert yeast yeast.csv --part train
labelrules convert readers.csv readers.arff --labels quality,tabloid
labelrules convert model.json model.py
labelrules convert model.json model.sql --table patients --dialect duckdb --key id
labelrules convert model.json - --to rules
labelrules convert my-rules.txt model.json --data magazines
"""

DATA_FORMS = {".arff": "arff", ".csv": "csv", ".parquet": "parquet"}
MODEL_FORMS = {
    ".json": "json",
    ".py": "python",
    ".sql": "sql",
    ".pmml": "pmml",
    ".rules": "rules",
    ".txt": "rules",
    ".tex": "latex",
    ".md": "markdown",
    ".html": "html",
}
FORMS = tuple(dict.fromkeys([*DATA_FORMS.values(), *MODEL_FORMS.values()]))
_OF_SQL = ("table", "dialect", "key")


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    parser.add_argument("source", metavar="SOURCE", help="data, or a model; - is standard input")
    parser.add_argument("target", metavar="TARGET", help="the new file; - is standard output")
    parser.add_argument("--to", metavar="FORM", type=OneOf("form", FORMS),
                        help=f"{', '.join(FORMS)}; by default the ending tells")  # fmt: skip
    parser.add_argument("--data", metavar="DATA", help="for rules as text: what they are about")
    group = parser.add_argument_group("SQL")
    group.add_argument("--table", metavar="NAME", help="the table with the features (data)")
    group.add_argument("--dialect", metavar="NAME", help="such as sqlite, duckdb, postgres")
    group.add_argument("--key", metavar="NAME", action="append",
                       help="a further column for the result; repeat it for several")  # fmt: skip
    add_reading(parser)


def run(options: Namespace) -> int:
    """Convert."""
    check_place(options.target, [options.source, options.data, options.xml], "TARGET")
    form = _form(options)
    for name in _OF_SQL:
        if form != "sql" and getattr(options, name) is not None:
            raise UsageError(f"--{name} is for SQL only, not for {form}")
    if form in DATA_FORMS.values():
        if options.target != STANDARD:
            _check_beside(form, options)
        _write_data(read_data(options.source, options), form, Path(options.target))
        return OK
    check_standard_input(options.source, options.data)
    model = read_model(options.source, schema_of(options))
    write_text(_model_text(model, form, options), options.target)
    return OK


def _form(options: Namespace) -> str:
    ending = ending_of(options.target)
    plain = ending.removesuffix(".gz")
    form = options.to or DATA_FORMS.get(plain) or MODEL_FORMS.get(plain)
    if form is None:
        raise UsageError(
            f"the ending of {options.target} says nothing of the form; choose one by --to: "
            f"{', '.join(FORMS)}"
        )
    _check_stream(form, options.target)
    source = ending_of(options.source).removesuffix(".gz")
    if form in DATA_FORMS.values() and source in MODEL_FORMS and options.format is None:
        raise UsageError(f"{options.source} is a model, which has no form {form}")
    if form in MODEL_FORMS.values() and _is_surely_data(options.source):
        raise UsageError(f"{options.source} is data, which have no form {form}")
    return str(form)


def _check_stream(form: str, target: str) -> None:
    """See that data which need files get them."""
    from labelrules.data.files.access import is_stream

    if (form == "parquet" and target == STANDARD) or (
        form == "arff" and (target == STANDARD or is_stream(Path(target)))
    ):
        raise UsageError(f"{form} goes into files only, since more than one is written or needed")


def _is_surely_data(source: str) -> bool:
    return is_data(source) or source == "magazines" or source.startswith(OPENML)


def _check_beside(form: str, options: Namespace) -> None:
    """The files that are written beside the table must not be those of another table."""
    ending = "" if ending_of(options.target).startswith(f".{form}") else f".{form}"
    read = list(files_of([options.source, options.xml]))
    for beside in files_beside(options.target + ending):
        is_read = any(is_same_file(beside, one) for one in read)
        if is_read or (beside.exists() and not Path(options.target).exists()):
            raise UsageError(
                f"{beside} would be written, too, but it is there and belongs to other data; "
                "choose another name"
            )


def _write_data(data: "Dataset", form: str, target: Path) -> None:
    from labelrules.data import write_csv, write_mulan, write_parquet

    if form == "csv" and str(target) == STANDARD:
        from labelrules.data.files.csv import csv_lines

        write_text("".join(csv_lines(data)), STANDARD)
    elif form == "csv":
        write_csv(data, target)
    elif form == "arff":
        write_mulan(data, target)
    else:
        write_parquet(data, target)


def _model_text(model: Model, form: str, options: Namespace) -> str:
    from labelrules.export import to_pmml, to_python
    from labelrules.learners import to_json
    from labelrules.rules import theory_html, theory_latex, theory_markdown, theory_text

    ways: dict[str, Callable[[], str]] = {
        "json": lambda: to_json(model.kept),
        "python": lambda: to_python(model.theory),
        "sql": lambda: _sql(model, options),
        "pmml": lambda: to_pmml(model.theory),
        "rules": lambda: theory_text(model.theory, evidence=True) + "\n",
        "latex": lambda: theory_latex(model.theory, evidence=True) + "\n",
        "markdown": lambda: theory_markdown(model.theory, evidence=True) + "\n",
        "html": lambda: theory_html(model.theory, page=True, title=f"Rules of {model.source}"),
    }
    return ways[form]()


def _sql(model: Model, options: Namespace) -> str:
    from labelrules.export import to_sql

    with blamed([("dialect", "")], "--dialect"):
        return to_sql(
            model.theory,
            "data" if options.table is None else options.table,
            dialect="sqlite" if options.dialect is None else options.dialect,
            keys=options.key or (),
        )
