"""Predict and evaluate from file to file: the rows are read in partitions, as many as there are."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from labelrules._checks import truth_value
from labelrules.data import DataError, Dataset, Partitions, Schema, scan
from labelrules.data.files.access import checked_target, replacing, written_text
from labelrules.data.files.model_columns import known_columns
from labelrules.data.memory.encoding import conform
from labelrules.data.partitions.scanning import format_of, part_files
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.tallies import OutcomeTally
from labelrules.measures import Evaluation, Measure
from labelrules.measures.evaluation import evaluation_of_counts, value_of_counts
from labelrules.rules import DecisionList, RuleSet, Theory
from labelrules.rules.rule_table import table_of


def predict_file(
    model: Any, source: Any, target: str | Path, *, probabilities: bool = False, **reading: Any
) -> int:
    """Predict the labels of all rows of files, and write them as CSV.

    The rows are read in partitions, so there may be more of them than fit into memory. The cells
    are those that `predict` or `predict_proba` would give for all rows at once.

    Parameters
    ----------
    model : fitted learner, or Theory
    source : path-like, sequence of paths, or Partitions
        CSV or Parquet files or a folder of them, as for :func:`labelrules.scan`, with the features
        of the model; labels may be missing, and other columns do not matter.
    target : path-like
        A CSV file with a column for each label; compressed if its name ends in ``.gz``, ``.bz2`` or
        ``.xz``. An existing file is replaced when the new one is complete.
    probabilities : bool, default=False
        Write probabilities of presence, not labels; not for a theory.
    **reading
        Options of :func:`labelrules.scan`, such as `delimiter`.

    Returns
    -------
    int
        The number of rows.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelrules import SeparateAndConquer, load
    >>> from labelrules.data import write_csv
    >>> readers = load("magazines")
    >>> model = SeparateAndConquer().fit(readers)
    >>> with TemporaryDirectory() as folder:
    ...     write_csv(readers, Path(folder, "new.csv"))
    ...     n_rows = predict_file(model, Path(folder, "new.csv"), Path(folder, "labels.csv"))
    ...     n_rows, Path(folder, "labels.csv").read_text().split()[:2]
    (14, ['quality,tabloid,fashion,sports', '0,0,0,0'])
    """
    from labelrules.data.files.csv import csv_header

    truth_value(probabilities, "probabilities")
    schema, path = schema_of(model), checked_target(target)
    n_rows = 0
    with replacing(path) as new, written_text(new, path) as file:
        file.write(csv_header(schema.labels))
        for part in rows_for(schema, source, with_labels=False, **reading):
            cells = model.predict_proba(part) if probabilities else label_matrix(model, part)
            file.writelines(",".join(map(repr, row)) + "\n" for row in cells.tolist())
            n_rows += len(part)
    return n_rows


def evaluate_file(
    model: Any, source: Any, measures: Iterable[Measure | str] = (), **reading: Any
) -> Evaluation:
    """The measures of a model's predictions for all rows of files.

    The rows are read in partitions; the values are those of :func:`labelrules.evaluate` for all
    rows at once, to the last bit. Measures of a ranking need all rows in memory, and are left out.

    Parameters
    ----------
    model, source, **reading
        As for :func:`predict_file`; the labels must be there.
    measures : iterable of Measure or str
        By default the usual ones; not those that average over cells.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelrules import SeparateAndConquer, load
    >>> from labelrules.data import write_csv
    >>> readers = load("magazines")
    >>> model = SeparateAndConquer().fit(readers)
    >>> with TemporaryDirectory() as folder:
    ...     write_csv(readers, Path(folder, "new.csv"))
    ...     evaluate_file(model, Path(folder, "new.csv"))
    <Evaluation: micro F1 ..., subset accuracy ..., Hamming loss ...>
    """
    chosen = [one if isinstance(one, Measure) else Measure.parse(one) for one in measures]
    schema = schema_of(model)
    tally = OutcomeTally(schema.n_labels)
    n_rows = 0
    for part in rows_for(schema, source, with_labels=True, **reading):
        tally.add(part.Y, label_matrix(model, part))
        n_rows += len(part)
    if not n_rows:
        raise DataError("the data have no rows, so there is nothing to compare with")
    counts = tally.counts()
    if not chosen:
        return evaluation_of_counts(counts)
    return Evaluation((str(one), value_of_counts(one, counts)) for one in chosen)


def rows_for(
    schema: Schema, source: Any, *, with_labels: bool, **reading: Any
) -> Iterator[Dataset]:
    """The rows of files in the columns and categories of a schema, part by part.

    Other columns are not read; labels that are not there count as absent, unless `with_labels`.
    """
    parts = source
    if not isinstance(source, Partitions):
        paths = part_files(source)
        labels = schema.labels if with_labels else ()
        chosen = tuple(reading.pop(name, None) for name in ("labels", "nominal", "ignore"))
        layout = reading.get("delimiter", ","), reading.get("encoding", "utf-8")
        is_csv = format_of(paths) == "csv"
        known = known_columns(paths, is_csv, schema, labels, chosen, layout)
        parts = scan(paths, **{**reading, **known})
    for part in parts:
        yield conform(part, schema, with_labels=with_labels)


def schema_of(model: Any) -> Schema:
    """The schema of the training data of a fitted learner of labels, or of a theory."""
    if isinstance(model, Theory):
        return model.schema
    if not isinstance(model, TableClassifier):
        raise TypeError(f"model must be a fitted learner or a theory, not a {type(model).__name__}")
    if model._check_fitted().kind != "labels":
        raise ValueError("the model predicts classes: files are predicted by models of labels")
    return model.schema_


def label_matrix(model: Any, rows: Dataset) -> Any:
    """The labels of some rows, 0 or 1."""
    flat = isinstance(model, DecisionList | RuleSet)
    return np.asarray((table_of(model) if flat else model).predict(rows))
