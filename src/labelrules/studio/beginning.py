"""Begin an edit: the model and the rows, checked."""

from typing import Any

import numpy as np

from labelrules.data import Dataset
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.learners.base.estimator import TableClassifier
from labelrules.rules import Theory, theory_of
from labelrules.studio.edit_history import EditHistory, HistoryStep, now
from labelrules.studio.edit_session import EditSession
from labelrules.studio.edited_rules import EditedRules
from labelrules.studio.editor import Editor
from labelrules.studio.outcomes import Outcome


def edit(
    model: Any,
    data: Any,
    Y: Any = None,
    *,
    validation: Any = None,
    test: Any = None,
    author: str | None = None,
) -> Editor:
    """Edit the rules of a theory or a fitted learner.

    Parameters
    ----------
    model : DecisionList, RuleSet, LayeredTheory or fitted learner
    data : Dataset, or X
        The rows that the rules were learned from: evidence is counted on them, previews show what
        changes there, and rules are learned again from them.
    Y : array-like, optional
        The labels, if `data` is X.
    validation : Dataset, or pair of X and Y, optional
        Further rows, on which previews and versions show the measures, too.
    test : Dataset, or pair of X and Y, optional
        Rows that are locked: only `Editor.open_test` measures on them, and every look is counted.
    author : str, optional
        Who edits, for the history.

    Examples
    --------
    >>> from labelrules import SeparateAndConquer, load
    >>> readers = load("magazines")
    >>> editor = edit(SeparateAndConquer().fit(readers), readers)
    >>> print(editor.theory[:2])
    quality <- education = University
    fashion <- sex = Female, education = University
    >>> changed = editor.replace(1, "quality <- children = No")
    >>> print(changed.preview().training.headline)
    6 labels change, in 6 of 14 rows
    """
    original = _checked_original(model)
    parts = {"training": _checked_part(data, original, "data", Y)}
    if validation is not None:
        parts["validation"] = _checked_part(validation, original, "validation")
    locked = None if test is None else _checked_part(test, original, "test")
    _check_predicts_by_rules(original, parts["training"])
    session = EditSession(original, parts, locked)
    start = HistoryStep(0, None, None, author, now(), EditedRules.of(session.frame))
    return Editor(session, EditHistory((start,)), author)


def _checked_original(original: Any) -> Any:
    """A theory, or a fitted learner whose predictions are those of its theory."""
    if isinstance(original, Theory):
        return original
    if isinstance(original, TableClassifier):
        original._check_fitted()
    theory = theory_of(original)
    if not isinstance(original, TableClassifier) or theory.schema != original.schema_:
        raise ValueError(
            f"the model of a {type(original).__name__} is more than its rules: edit its theory_"
        )
    return original


def _checked_part(given: Any, original: Any, name: str, Y: Any = None) -> Dataset:
    """Rows with labels as a data set over the schema of the theory."""
    theory = theory_of(original)
    schema = theory.schema
    X = given
    if Y is None and isinstance(given, tuple) and len(given) == 2:
        X, Y = given
    if not isinstance(X, Dataset) and Y is None:
        raise ValueError(f"{name} must be a Dataset, or X and Y, not a {type(given).__name__}")
    if isinstance(X, Dataset) and Y is None and X.schema == schema:
        return _not_empty(X, name)
    matrix = encode(X, schema)
    if Y is not None and not isinstance(original, Theory):
        labels = original._target.board(Y, schema)
    else:
        labels = encode_labels(X if Y is None else Y, schema)
    if len(labels) != matrix.shape[0]:
        raise ValueError(f"{name} has {matrix.shape[0]} rows, but its labels {len(labels)}")
    weights = X.weights if isinstance(X, Dataset) else None
    return _not_empty(Dataset(schema, matrix, labels, getattr(X, "name", "") or "", weights), name)


def _not_empty(data: Dataset, name: str) -> Dataset:
    if not len(data):
        raise ValueError(f"the {name} part has no rows")
    return data


def _check_predicts_by_rules(original: Any, data: Dataset) -> None:
    """Refuse a fitted learner that predicts other labels than its theory."""
    if isinstance(original, Theory) or original._target.kind == "classes":
        return
    predicted = original._labels(data)
    if not np.array_equal(predicted, Outcome.of(theory_of(original), data).predicted != 0):
        raise ValueError(
            f"this {type(original).__name__} does not predict by its rules alone: edit its theory_"
        )


def held_out(data: Dataset) -> tuple[Dataset, Dataset]:
    """Three of four rows to learn from, and every fourth for validation.

    >>> from labelrules import load
    >>> [part.n_rows for part in held_out(load("clinic"))]
    [750, 250]
    """
    is_held_out = np.arange(data.n_rows) % 4 == 3
    return data.take(~is_held_out), data.take(is_held_out)
