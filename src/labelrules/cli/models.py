"""Models named on the command line, and data in the columns of a model."""

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labelrules._checks import quoted, suggestion
from labelrules.cli.io import STANDARD, Reading, check_files, is_data, read_data, read_file

if TYPE_CHECKING:
    from labelrules._types import Board, Floats
    from labelrules.data import Dataset, Feature, Schema
    from labelrules.data.files.arff.header import Header
    from labelrules.data.files.csv_records import Source
    from labelrules.discovery import Repairs
    from labelrules.rules import RuleSet, Theory

_CONSTRAINED = "ConstrainedClassifier"


@dataclass(frozen=True)
class Model:
    """A fitted learner or a theory, whichever the file has.

    Attributes
    ----------
    kept : fitted learner or theory
    source : str
        The file, for messages.
    """

    kept: Any
    source: str

    @property
    def schema(self) -> "Schema":
        """The schema of its training data."""
        schema: Schema = self.kept.schema if self.is_theory else self.kept.schema_
        return schema

    @property
    def is_theory(self) -> bool:
        """Whether it is a theory, without a learner."""
        from labelrules.rules import Theory

        return isinstance(self.kept, Theory)

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self.kept).__name__

    @property
    def theories(self) -> "list[Theory]":
        """Its rules; several theories if several vote."""
        if self.is_theory:
            return [self.kept]
        # Constraints around a learner change its predictions; the rules are those of the learner.
        of = getattr(self.kept, "base_", self.kept) if self.kind == _CONSTRAINED else self.kept
        if hasattr(of, "theory_"):
            return [of.theory_]
        found = list(getattr(of, "theories_", []))
        if not found:
            raise click.ClickException(
                f"{self.source}: this {self.kind} has no rules for labels to show"
            )
        return found

    @property
    def constraints(self) -> "RuleSet | None":
        """The constraints that every prediction satisfies, if it has any."""
        return self.kept.constraints_ if self.kind == _CONSTRAINED else None

    @property
    def theory(self) -> "Theory":
        """Its rules, if they are one theory that determines the predictions."""
        if self.kind == _CONSTRAINED:
            raise click.ClickException(
                f"{self.source}: constraints change the predictions of the rules of this model, "
                "so the rules alone are not the model; explain shows both, row by row"
            )
        return self.rules

    @property
    def rules(self) -> "Theory":
        """Its rules, if they are one theory; constraints may change their predictions."""
        if len(self.theories) > 1:
            raise click.ClickException(
                f"{self.source}: {len(self.theories)} theories vote in this {self.kind}, so "
                "there is no single one"
            )
        return self.theories[0]

    def predict(self, data: "Dataset") -> Any:
        """Labels, rows by labels; or classes, if it was learned from classes."""
        from labelrules.rules import DecisionList, RuleSet, RuleTable

        is_flat = isinstance(self.kept, DecisionList | RuleSet)
        return (RuleTable(self.kept) if is_flat else self.kept).predict(data)

    def board(self, data: "Dataset") -> "Board":
        """Labels, rows by labels."""
        found: Board = self.predict(data)
        if found.ndim != 2:
            raise click.ClickException(
                f"{self.source}: the model predicts classes, not sets of labels"
            )
        return found

    def repairs(self, data: "Dataset") -> "Repairs | None":
        """The changes that constraints make to the predictions; None without constraints."""
        return self.kept.repairs(data) if self.kind == _CONSTRAINED else None

    def probabilities(self, data: "Dataset") -> "Floats | None":
        """The probability of each label; None for a theory."""
        return None if self.is_theory else self.kept.predict_proba(data)


def read_model(source: str, schema: "Callable[[], Schema] | None" = None) -> Model:
    """Read a model or theory, or rules as text, which need the schema of their data."""
    from labelrules.data import FileError
    from labelrules.rules import parse
    from labelrules.storage import from_json

    if is_data(source):
        raise click.UsageError(f"{source} is a data file, but a model is needed here")
    shown = "standard input" if source == STANDARD else source
    try:
        text = _text(source)
        if text.lstrip("\ufeff \t\r\n").startswith("{"):
            return Model(from_json(text), shown)
        if schema is None:
            raise click.UsageError(
                f"{shown} is not JSON; if it holds rules as text, give their data by --data"
            )
        return Model(parse(text, schema()), shown)
    except FileError:  # which names the file
        raise
    except ValueError as wrong:
        raise click.ClickException(f"{shown}: {wrong}") from None


def _text(source: str) -> str:
    from labelrules.data.document import read_pieces
    from labelrules.data.files.access import opened_utf8

    if source == STANDARD:
        try:
            return str(read_pieces(sys.stdin.buffer), "utf-8")
        except UnicodeDecodeError as wrong:
            raise click.ClickException(
                f"standard input: this is not UTF-8 text ({wrong.reason})"
            ) from None
    with opened_utf8(Path(source)) as file:
        return read_pieces(file)


def schema_of(data: str | None, reading: Reading) -> "Callable[[], Schema] | None":
    """The schema of the data that an option names, read when it is needed."""
    return None if data is None else lambda: read_data(data, reading).schema


def model_and_data(
    model: str, data: str, reading: Reading, *, with_labels: bool
) -> "tuple[Model, Dataset]":
    """Read both; the data in the columns of the model."""
    check_files(None, [model, data])
    if is_data(model):
        raise click.UsageError(f"{model} is a data file: give the model first, then the data")
    rows: list[Dataset] = []

    def schema_of_data() -> "Schema":
        rows.append(read_data(data, reading))
        return rows[0].schema

    found = read_model(model, schema_of_data)
    if rows:
        return found, rows[0]
    labels = found.schema.labels if with_labels else ()
    table = read_data(data, reading, found.schema, labels)
    return found, conformed(table, found.schema, with_labels=with_labels)


def data_for(data: str, reading: Reading, schema: "Schema") -> "Dataset":
    """Read labelled data in the columns of a model."""
    return conformed(read_data(data, reading, schema), schema, with_labels=True)


def check_label(name: str, schema: "Schema") -> None:
    """Refuse a label that the model does not have."""
    if name not in schema.label_index:
        near = suggestion(name, schema.labels)
        raise click.UsageError(f"--label: there is no label {quoted(name)}{near}")


# ---------------------------------------------------------------- data in a model's columns


def arff_header(path: Path, given: dict[str, Any]) -> "Header":
    """The header of an ARFF file."""
    from labelrules.data.files.access import read_blocks
    from labelrules.data.files.arff.header import read_header

    with closing(read_blocks(path, given.get("encoding", "utf-8"))) as blocks:
        return read_header(blocks, path)[0]


def read_columns(
    path: Path, form: str, given: dict[str, Any], wanted: "Schema", labels: tuple[str, ...]
) -> "Dataset":
    """Read the columns of a file that a model knows; others may hold anything.

    So may its labels, except those listed: in rows to predict they are often blank.
    """
    if form in ("arff", "mulan", "meka"):
        return _read_arff(path, given, wanted, labels)
    columns = _columns(path, form, given, wanted)
    if columns is None:  # a schema comes with the file
        if form == "csv":
            unused = {*wanted.labels} - {*labels}
            ignored = [name for name in _csv(path, given).header if name in unused]
            given = {**given, "ignore": [*given.get("ignore", ()), *ignored]}
        return read_file(path, form, given)
    all_labels = [*labels, *given.get("labels", ())]
    known = {*wanted.feature_names, *all_labels} - {*given.get("ignore", ())}
    chosen = {
        "labels": [name for name in columns if name in all_labels],
        "nominal": _nominal(path, form, given, wanted, columns),
        **given,
        "ignore": [name for name in columns if name not in known],
    }
    return read_file(path, form, chosen)


def _nominal(
    path: Path, form: str, given: dict[str, Any], wanted: "Schema", columns: list[str]
) -> list[str]:
    """The columns of categories; in a table without rows, which shows no type, all of them."""
    is_empty = form == "csv" and _csv(path, given).is_empty
    nominal = [one.name for one in wanted.features if one.is_nominal or is_empty]
    return [name for name in nominal if name in columns]


def _read_arff(
    path: Path, given: dict[str, Any], wanted: "Schema", labels: tuple[str, ...]
) -> "Dataset":
    from labelrules.data.files.arff.file import read_arff

    known = {*wanted.feature_names, *labels} - {*given.get("ignore", ())}
    names = [attribute.name for attribute in arff_header(path, given).attributes]

    def hierarchy(header: "Header") -> dict[str, str | None]:
        return {name: None for name in names if name in labels}

    ignored = [name for name in names if name not in known]
    return read_arff([path], hierarchy, ignored, path.stem, given.get("encoding", "utf-8"))


def _csv(path: Path, given: dict[str, Any]) -> "Source":
    from labelrules.data.files.csv_records import Source

    return Source(path, given.get("delimiter", ","), given.get("encoding", "utf-8"))


def _columns(path: Path, form: str, given: dict[str, Any], wanted: "Schema") -> list[str] | None:
    """The names of a table's columns; None if a schema comes with it."""
    if form == "csv":
        from labelrules.data.schema_json import schema_path

        if schema_path(path).is_file():
            return None
        source = _csv(path, given)
        if source.other_delimiter and wanted.features:
            source.column(wanted.feature_names[0])
        return source.header
    from labelrules.data.files.parquet import METADATA, pyarrow

    pyarrow()
    from pyarrow.parquet import read_schema

    try:
        found = read_schema(path)
    except Exception as wrong:  # pyarrow has many kinds
        raise click.ClickException(f"{path}: this is not a sound Parquet file ({wrong})") from None
    return None if METADATA in (found.metadata or {}) else list(found.names)


def conformed(data: "Dataset", wanted: "Schema", *, with_labels: bool) -> "Dataset":
    """The data in the columns and categories of a model.

    Parameters
    ----------
    data : Dataset
    wanted : Schema
        Of the model. A category it does not know becomes a missing value, as in `encode`.
    with_labels : bool
        Whether every label is required, and a row; else missing labels count as absent.
    """
    import numpy as np
    from scipy import sparse

    from labelrules.data import Dataset

    for name in wanted.feature_names:
        _check_column(name, data.schema.feature_names, "feature")
    if with_labels and not len(data):
        raise click.ClickException("the data have no rows, so there is nothing to compare with")
    Y = _labels(data, wanted, with_labels)
    if data.schema.features == wanted.features:
        return Dataset(wanted, data.X, Y, data.name)
    columns = [_column(data, feature) for feature in wanted.features]
    if data.is_sparse:
        parts = [sparse.csc_array(column[:, None]) for column in columns]
        X: Any = sparse.hstack(parts, format="csc") if parts else sparse.csc_array((len(data), 0))
    else:
        X = np.column_stack(columns) if columns else np.empty((len(data), 0))
    return Dataset(wanted, X, Y, data.name)


def _check_column(name: str, names: tuple[str, ...], what: str) -> None:
    if name not in names:
        raise click.ClickException(
            f"the data have no column {quoted(name)}, a {what} of the model"
            f"{suggestion(name, names)}"
        )


def _labels(data: "Dataset", wanted: "Schema", required: bool) -> "Board":
    import numpy as np

    have = data.schema.label_index
    if required:
        for name in wanted.labels:
            _check_column(name, data.schema.labels, "label")
    if data.schema.labels == wanted.labels:
        return data.Y
    Y = np.zeros((len(data), wanted.n_labels), dtype=np.int8)
    for place, name in enumerate(wanted.labels):
        if name in have:
            Y[:, place] = data.Y[:, have[name]]
    return Y


def _column(data: "Dataset", feature: "Feature") -> "Floats":
    import numpy as np

    index = data.schema.feature_index[feature.name]
    found, values = data.schema.features[index], data.column(index)
    if found == feature or np.isnan(values).all():
        return values
    if found.categories is None or feature.categories is None:
        kinds = ("categories", "numbers") if found.is_nominal else ("numbers", "categories")
        raise click.ClickException(
            f"column {quoted(feature.name)} holds {kinds[0]}, but for the model it has {kinds[1]}"
        )
    code_of = {category: code for code, category in enumerate(feature.categories)}
    codes = np.array([code_of.get(category, np.nan) for category in found.categories] + [np.nan])
    places = np.where(np.isnan(values), len(codes) - 1, values).astype(np.intp)
    return np.asarray(codes[places], dtype=np.float64)
