"""Theories and fitted models as versioned JSON, in files that are whole or not there."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from labelrules.data import DataError, FileError
from labelrules.data.document import Node, check_length, laid_out, read_document, read_pieces
from labelrules.data.files.access import checked_target, opened_utf8, replacing, written_text
from labelrules.data.schemajson import read_schema, schema_document
from labelrules.learners.associative.lazy import LazyAssociativeClassifier
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.kept_state import (
    KEEPERS,
    Keeper,
    background_document,
    read_background,
    read_target_document,
    target_document,
)
from labelrules.learners.kept_values import OURS, LearnerTable, learner_document, read_learner
from labelrules.rules import Theory
from labelrules.rules.json import read_theory, theory_document

FORMAT = "labelrules"
VERSION = 1

STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""From each older version a function that makes a document of the next one of it."""

_COMMON = frozenset(
    {
        "_target",
        "background_",
        "classes_",
        "feature_names_in_",
        "n_features_in_",
        "n_labels_",
        "schema_",
        "theory_",
    }
)
"""The attributes of every model."""

_COLUMNS = ("named", "numbered", "unseen")

Kept = Theory | TableClassifier


# ---------------------------------------------------------------- the front door


def save(kept: Kept, path: str | Path) -> None:
    """Write a theory or a fitted model to a file, as JSON.

    The file is written beside its place and then put there, so that it is the old one or the new
    one, whatever happens, and keeps the mode of the old one. It is compressed if its name ends in
    ``.gz``. What is there and is no file, such as a pipe, is written into.

    Parameters
    ----------
    kept : DecisionList, RuleSet, LayeredTheory or fitted learner
        Of the learners those whose models are rules.
    path : str or path-like

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labelrules import Ripper, load, restore, save
    >>> readers = load("magazines")
    >>> model = Ripper().fit(readers.X, ["yes" if quality else "no" for quality in readers.Y[:, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.json"
    ...     save(model, path)
    ...     print(restore(path).predict(readers.X[:4]))
    ['no' 'no' 'no' 'yes']
    """
    target = checked_target(path)
    text = to_json(kept)
    with replacing(target) as new, written_text(new, target) as file:
        file.write(text)


def restore(path: str | Path, *, learners: Iterable[type[TableClassifier]] = ()) -> Any:
    """Read what :func:`save` has written; nothing in the file is run.

    Parameters
    ----------
    path : str or path-like
    learners : iterable of class
        Learners of your own that the file may name; those of labelrules are known.

    Returns
    -------
    DecisionList, RuleSet, LayeredTheory or fitted learner

    Raises
    ------
    FileError
        If anything in the file is not as it should be; the message says what, and where.
    """
    target = Path(path)
    try:
        with opened_utf8(target) as file:
            text = read_pieces(file)
        return from_json(text, learners=learners)
    except FileError:
        raise
    except DataError as wrong:
        message = str(wrong)
    raise FileError(message, target)


def to_json(kept: Kept) -> str:
    """A theory or a fitted model as JSON text; see :func:`save`.

    Examples
    --------
    >>> from labelrules import parse, to_json
    >>> from labelrules.data import Schema
    >>> print(to_json(parse("b <- not a", Schema([], ["a", "b"]))), end="")
    {
     "format": "labelrules",
     "version": 1,
     "schema": {"features": [], "labels": ["a", "b"], "parents": [null, null]},
     "theory": {
      "kind": "decision list",
      "rules": [
       {"head": {"b": 1}, "body": [{"label": "a", "value": 0}], "stops": false, "evidence": null}
      ]
     }
    }
    """
    start = {"format": FORMAT, "version": VERSION}
    if isinstance(kept, Theory):
        schema = schema_document(kept.schema)
        document = {**start, "schema": schema, "theory": theory_document(kept)}
        known: LearnerTable = {}
    elif isinstance(kept, TableClassifier):
        document = {**start, "model": model_document(kept)}
        known = _classes_in(kept)
    else:
        raise TypeError(f"what can be kept is a theory or a fitted learner, not {kept!r:.60}")
    # What is written can be read: better an error now than from a file that is all there is.
    _read(Node(document), {**OURS, **known})
    text = laid_out(document) + "\n"
    check_length(len(text))
    return text


def from_json(
    text: str | bytes | Mapping[str, Any], *, learners: Iterable[type[TableClassifier]] = ()
) -> Any:
    """Read what :func:`to_json` has written, as text or as the values that JSON stands for.

    Parameters
    ----------
    text : str, bytes or dict
    learners : iterable of class
        Learners of your own that the document may name.

    Raises
    ------
    DataError
        If anything is not as it should be; the message begins with its place, ``$`` being the top.

    Examples
    --------
    >>> from labelrules import from_json
    >>> from_json('{"format": "labelrules", "version": 1, "schema": {"features": []}}')
    Traceback (most recent call last):
    labelrules.data.errors.DataError: $: "theory" or "model" is not there
    """
    if not isinstance(text, str | bytes | Mapping):
        raise TypeError(f"what is read must be text or a mapping, not {text!r:.60}")
    node = read_document(text) if isinstance(text, str | bytes) else Node(dict(text))
    return _read(current(node), {**_table(learners), **OURS})


def json_schema(version: int = VERSION) -> dict[str, Any]:
    """The published JSON schema of the files, for programs that do not use labelrules.

    >>> json_schema()["$id"]
    'labelrules-1.schema.json'
    """
    path = files("labelrules.learners") / f"labelrules-{version}.schema.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


# ---------------------------------------------------------------- versions


def current(node: Node) -> Node:
    """The document in the form of the present version."""
    if node.field("format").text() != FORMAT:
        node.field("format").refuse(f'must be "{FORMAT}": this is no file of labelrules')
    number = node.field("version").whole(1)
    if number > VERSION:
        node.field("version").refuse(
            f"the file is of version {number}; this labelrules reads versions up to {VERSION}, so "
            "a newer one is needed"
        )
    document = node.value
    for version in range(number, VERSION):
        document = STEPS[version](document)
    return Node(document)


def _read(node: Node, table: LearnerTable) -> Any:
    if node.has("model"):
        return _read_model(node.fields("format", "version", "model")["model"], table)
    if not node.has("theory"):
        node.refuse('"theory" or "model" is not there')
    fields = node.fields("format", "version", "schema", "theory")
    return read_theory(fields["theory"], read_schema(fields["schema"]))


# ---------------------------------------------------------------- models


def model_document(model: TableClassifier) -> dict[str, Any]:
    """A fitted model as plain values."""
    keeper = _keeper(model)
    _check_keepable(model, keeper)
    theory = vars(model).get("theory_")
    background = vars(model).get("background_")
    return {
        **learner_document(model),
        "schema": schema_document(model.schema_),
        "target": target_document(model._target),
        "columns": _columns(model),
        "theory": None if theory is None else theory_document(theory),
        "background": None if background is None else background_document(background),
        "further": keeper.write(model, model_document),
    }


def _read_model(node: Node, table: LearnerTable, depth: int = 0) -> TableClassifier:
    names = ("schema", "target", "columns", "theory", "background", "further")
    fields = node.fields("learner", "parameters", *names)
    model: Any = read_learner(node, table, depth)
    keeper = _keeper(model)
    schema = read_schema(fields["schema"])
    model._remember(schema, read_target_document(fields["target"], schema))
    columns = fields["columns"].word(_COLUMNS, "kind of columns")
    if columns != "unseen":
        model.n_features_in_ = schema.n_features
    if columns == "named":
        model.feature_names_in_ = np.array(schema.feature_names, dtype=object)
    if not (fields["theory"].is_null and keeper.may_lack_theory):
        model.theory_ = read_theory(fields["theory"], schema)
        if not isinstance(model.theory_, keeper.theories):
            fields["theory"].refuse(f"a {type(model).__name__} has another kind of theory")
    background = fields["background"]
    if keeper.has_background and not (background.is_null and fields["theory"].is_null):
        model.background_ = read_background(background, schema.n_labels)
    elif not background.is_null:
        background.refuse(f"a {type(model).__name__} has no such counts")
    keeper.read(model, fields["further"], partial(_read_model, table=table, depth=depth + 1))
    return model  # type: ignore[no-any-return]


def _keeper(model: Any) -> Keeper:
    for kind in type(model).__mro__:
        if kind in REFUSED:
            raise DataError(f"a {type(model).__name__} is not kept, because {REFUSED[kind]}")
        if kind in KEEPERS:
            return KEEPERS[kind]
    raise DataError(
        f"a {type(model).__name__} is not kept: only learners of labelrules are, and others that "
        "come from RuleClassifier"
    )


def _check_keepable(model: TableClassifier, keeper: Keeper) -> None:
    name, known = type(model).__name__, vars(model)
    if "schema_" not in known:
        raise DataError(f"this {name} is not fitted: there is nothing to keep yet")
    base = getattr(model, "base", None)
    if isinstance(base, FrozenEstimator):
        raise DataError(
            f"this {name} is not kept, because its base was fitted elsewhere (FrozenEstimator): "
            "fit it with the learner itself, or pickle the model"
        )
    if base is not None and not isinstance(base, TableClassifier):
        raise DataError(
            f"this {name} is not kept, because its base {type(base).__name__} does not learn "
            "rules and files hold rules only: use a base such as Ripper() or SeparateAndConquer(), "
            "or pickle the model, as by joblib.dump, and load it only where the file is trusted"
        )
    if "theory_" not in known and not (keeper.may_lack_theory and known.keys() & _PARTS):
        raise DataError(f"this {name} is not kept, because it has no theory")
    if OURS.get(name, type(model)) is not type(model):
        raise DataError(f"your learner has the name of another one, {name}: rename it")
    made = vars(type(model)(**model.get_params(deep=False)))
    extra = known.keys() - _COMMON - keeper.attributes - made.keys()
    if extra:
        raise DataError(
            f"this {name} is not kept, because it has more than a file holds: {min(extra)}"
        )


REFUSED: dict[type, str] = {
    LazyAssociativeClassifier: (
        "it makes its rules from the training rows when it is asked, and files hold rules, not "
        "data: pickle it, as by joblib.dump, and load it only where the file is trusted; or use "
        "AssociativeClassifier, which makes its rules in fit"
    ),
}
"""By learner why its models are not kept, and what to do."""

_PARTS = {"theories_", "sets_", "constraints_"}
"""What a model has that is no single theory, but made of rules."""


def _columns(model: TableClassifier) -> str:
    if not hasattr(model, "n_features_in_"):
        return "unseen"
    return "named" if hasattr(model, "feature_names_in_") else "numbered"


def _table(learners: Iterable[type[TableClassifier]]) -> LearnerTable:
    found = {}
    for learner in learners:
        if not (isinstance(learner, type) and issubclass(learner, TableClassifier)):
            raise TypeError(f"learners must be classes of learners, not {learner!r:.60}")
        found[learner.__name__] = learner
    return found


def _classes_in(model: TableClassifier) -> LearnerTable:
    """The class of a model and those of the learners in it."""
    found: dict[str, type[TableClassifier]] = {type(model).__name__: type(model)}
    for part in (getattr(model, "base", None), getattr(model, "base_", None)):
        if isinstance(part, TableClassifier):
            found.update(_classes_in(part))
    return found
