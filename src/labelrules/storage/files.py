"""Theories and fitted models as versioned JSON, in files that are whole or not there."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import UNSET

from labelrules.data import DataError, FileError, Schema
from labelrules.data.document import (
    DocumentError,
    at,
    builtins_of,
    check_length,
    converted,
    indented_json,
    read_document,
    read_pieces,
    read_schema,
    schema_record,
)
from labelrules.data.files.access import checked_target, opened_utf8, replacing, written_text
from labelrules.learners.base.estimator import TableClassifier, Target
from labelrules.learners.base.progress import About
from labelrules.learners.registry import registered
from labelrules.rules import Theory
from labelrules.rules.json import label_numbers, read_theory, theory_record
from labelrules.storage.parameters import Learners, parameters_of, read_learner
from labelrules.storage.records import (
    FORMAT,
    VERSION,
    AboutRecord,
    ModelDocument,
    ModelRecord,
    TargetRecord,
    TheoryDocument,
    about_record,
    read_about,
    signed,
)

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}  # by version, to the next one
LARGEST_ARRAY = 2**28  # characters of an array of classes: a small file must not fill memory

Stored = Theory | TableClassifier


def save(
    stored: Stored,
    path: str | Path,
    *,
    author: str | None = None,
    notes: str | None = None,
    about: bool | About = True,
) -> None:
    """Write a theory or a fitted model to a file, as JSON.

    The file is replaced as a whole, so that it is the old one or the new one, and keeps its mode.
    It is compressed if its name ends in ``.gz``. A pipe or a device is written into.

    Parameters
    ----------
    stored : DecisionList, RuleSet, LayeredTheory or fitted learner
        Of the learners those whose models are rules.
    path : str or path-like
    author, notes : str, optional
        Who is responsible for the model, and whatever is worth knowing about it.
    about : bool or About, default=True
        Whether the file says how the model came about: see :func:`about`. Without that, equal
        models make equal files. Of a theory, which does not know it, it may be given.

    Raises
    ------
    DataError
        If the model could not be loaded again as it is; the message gives the reason.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from labelrules import Ripper, load, load_model, save
    >>> readers = load("magazines")
    >>> model = Ripper().fit(readers.X, ["yes" if quality else "no" for quality in readers.Y[:, 0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.json"
    ...     save(model, path)
    ...     print(load_model(path).predict(readers.X[:4]))
    ['no' 'no' 'no' 'yes']
    """
    target = checked_target(path)
    text = to_json(stored, author=author, notes=notes, about=about)
    with replacing(target) as new, written_text(new, target) as file:
        file.write(text)


def load_model(path: str | Path, *, learners: Iterable[type[TableClassifier]] = ()) -> Any:
    """Load a theory or a fitted model that :func:`save` has written; nothing in the file is run.

    Parameters
    ----------
    path : str or path-like
    learners : iterable of class
        Learners that the file may name besides those that are registered; see
        :func:`labelrules.learners.register`.

    Returns
    -------
    DecisionList, RuleSet, LayeredTheory or fitted learner

    Raises
    ------
    FileError
        If anything in the file is wrong; the message names the place.
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


def to_json(
    stored: Stored,
    *,
    author: str | None = None,
    notes: str | None = None,
    about: bool | About = True,
) -> str:
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
       {
        "head": {"b": 1},
        "body": [{"column": "a", "operator": "=", "value": 0}],
        "stops": false,
        "evidence": null
       }
      ]
     }
    }
    """
    document = _document(stored)
    said = _said(stored, author, notes, about)
    text = indented_json({**document, **said}) + "\n"
    check_length(len(text))
    # Better an error now than from a file that is all there is.
    own = _classes_in(stored) if isinstance(stored, TableClassifier) else {}
    again = _read(read_document(text), {**_registered(), **own})
    _check_same(stored, again)
    if _document(again) != document:
        raise DataError(f"this {type(stored).__name__} would not be loaded as it is saved")
    return text


def from_json(
    text: str | bytes | Mapping[str, Any], *, learners: Iterable[type[TableClassifier]] = ()
) -> Any:
    """Read what :func:`to_json` has written, as text or as the values that JSON stands for.

    Parameters
    ----------
    text : str, bytes or dict
    learners : iterable of class
        As for :func:`load_model`.

    Raises
    ------
    DataError
        If anything is wrong; the message begins with its place, ``$`` being the whole document.

    Examples
    --------
    >>> from labelrules import from_json
    >>> from_json('{"format": "labelrules", "version": 1, "schema": {"features": []}}')
    Traceback (most recent call last):
    labelrules.data.document.DocumentError: $.schema: "labels" is missing
    """
    if isinstance(text, Mapping):
        text = _as_text(text)
    if not isinstance(text, str | bytes):
        raise TypeError(f"from_json reads text or a mapping, not {text!r:.60}")
    return _read(read_document(text), {**_given(learners), **_registered()})


def about(source: TableClassifier | str | Path) -> About:
    """How a model came about: when and from which data it was learned, and what that took.

    Parameters
    ----------
    source : fitted learner, or path of a file
        Of a learner it is also the attribute `about_`; a file may hold a theory, too.

    Raises
    ------
    DataError
        If nothing is known: for files without such notes, and theories that nobody has signed.

    Examples
    --------
    >>> from labelrules import SeparateAndConquer, about, load
    >>> from labelrules.data import fingerprint
    >>> readers = load("magazines")
    >>> found = about(SeparateAndConquer().fit(readers))
    >>> found.data_name, found.n_rows, found.data == fingerprint(readers)
    ('magazines', 14, True)
    """
    if isinstance(source, TableClassifier):
        source._check_fitted()
        found: About | None = getattr(source, "about_", None)
        where = f"this {type(source).__name__}"
    elif isinstance(source, str | Path):
        with opened_utf8(Path(source)) as file:
            found, where = about_in(read_pieces(file)), str(source)
    else:
        raise TypeError(f"about takes a fitted learner or the path of a file, not {source!r:.60}")
    if found is None:
        raise DataError(f"{where}: nothing is known of how it came about")
    return found


def _said(
    stored: Stored, author: str | None, notes: str | None, said: bool | About
) -> dict[str, Any]:
    """The part of a document that says how the model came about."""
    if not said:
        if author or notes:
            raise ValueError("author and notes are part of what about=False leaves out")
        return {}
    known = said if isinstance(said, About) else getattr(stored, "about_", None)
    found = signed(known, author, notes)
    return {} if found is None else {"about": builtins_of(about_record(found))}


def about_in(text: str) -> About | None:
    """Read from JSON text how the model came about."""
    with at("$"):
        said = _upgraded(read_document(text)).get("about")
        with at(".about"):
            return None if said is None else read_about(converted(said, AboutRecord))


def _document(stored: Stored) -> dict[str, Any]:
    start = {"format": FORMAT, "version": VERSION}
    if isinstance(stored, Theory):
        schema, theory = schema_record(stored.schema), theory_record(stored)
        return builtins_of({**start, "schema": schema, "theory": theory})  # type: ignore[no-any-return]
    if isinstance(stored, TableClassifier):
        return {**start, "model": _model_document(stored)}
    raise TypeError(f"a theory or a fitted learner can be saved, not {stored!r:.60}")


def _model_document(model: TableClassifier) -> dict[str, Any]:
    name = type(model).__name__
    if "schema_" not in vars(model):
        raise DataError(f"this {name} is not fitted: there is nothing to save yet")
    if model._why_not_stored is not None:
        raise DataError(f"a {name} cannot be stored, because {model._why_not_stored}")
    if _registered().get(name, type(model)) is not type(model):
        raise DataError(f"your learner has the name of another one, {name}: rename it")
    columns = "named" if hasattr(model, "feature_names_in_") else "numbered"
    record = ModelRecord(
        name,
        parameters_of(model),
        schema_record(model.schema_),
        _target_record(model._target),
        columns if hasattr(model, "n_features_in_") else "unseen",  # type: ignore[arg-type]
        {name: _state_value(value) for name, value in model._state().items()},
        model.why_without_rules_ or UNSET,
    )
    return builtins_of(record, lambda value: value.tolist())  # type: ignore[no-any-return]


def _state_value(value: Any) -> Any:
    """A value of the state of a model; it may be another model."""
    return _model_document(value) if isinstance(value, TableClassifier) else value


def _target_record(target: Target) -> TargetRecord:
    dtype = target.values.dtype
    name = f"text{dtype.itemsize // 4}" if dtype.kind == "U" else dtype.name
    if dtype.kind not in "Ubiuf" or dtype.name == "longdouble" or dtype.itemsize > LARGEST_ARRAY:
        raise DataError(f"classes of the type {name} cannot be stored: use text or numbers")
    return TargetRecord(target.kind, name, target.values.tolist())


def _check_same(stored: Any, again: Any) -> None:
    """Refuse a model that has learned more than a file holds of it."""
    if not isinstance(stored, TableClassifier):
        return
    extra = vars(stored).keys() - vars(again).keys() - {"about_"}
    if extra:
        raise DataError(
            f"this {type(stored).__name__} cannot be stored, because its state has no field for "
            f"the attribute {min(extra)}"
        )
    for name, value in vars(stored).items():
        if isinstance(value, TableClassifier):
            _check_same(value, getattr(again, name))


def _classes_in(model: TableClassifier) -> Learners:
    """The classes of a model and of the learners in it."""
    found: dict[str, type[TableClassifier]] = {type(model).__name__: type(model)}
    for part in vars(model).values():
        if isinstance(part, TableClassifier):
            found.update(_classes_in(part))
    return found


def _read(document: Any, learners: Learners) -> Any:
    with at("$"):
        document = _upgraded(document)
        kind: Any = ModelDocument if "model" in document else TheoryDocument
        record = converted(document, kind, partial(_read_part, learners=learners, depth=0))
        if isinstance(record, ModelDocument):
            if isinstance(record.about, AboutRecord):
                with at(".about"):
                    record.model.about_ = read_about(record.about)
            return record.model
        with at(".schema"):
            schema = read_schema(record.schema)
        return read_theory(record.theory, schema, ".theory")


def _upgraded(document: Any) -> dict[str, Any]:
    """The document in the form of the present version."""
    if not isinstance(document, dict):
        converted(document, TheoryDocument)
    if document.get("format") != FORMAT:
        raise DocumentError(".format", f'must be "{FORMAT}": this is no file of labelrules')
    number = document.get("version")
    if type(number) is int and number > VERSION:
        raise DocumentError(
            ".version",
            f"the file is of version {number}, and this labelrules reads versions up to {VERSION}: "
            "install a newer one",
        )
    while number in UPGRADES:
        document = UPGRADES[number](document)
        number += 1
    return document  # type: ignore[no-any-return]


def _read_part(kind: type, value: Any, *, learners: Learners, depth: int) -> TableClassifier:
    """A model, which may be the base of another one."""
    record = converted(value, ModelRecord)
    model = read_learner(record.learner, record.parameters, learners, depth)
    if model._why_not_stored is not None:
        raise DocumentError(".learner", f"a {record.learner} cannot be stored")
    with at(".schema"):
        schema = read_schema(record.schema)
    with at(".target"):
        model._remember(schema, _read_target(record.target, schema))
    if record.why_without_rules is not UNSET:
        with at(".why_without_rules"):
            label_numbers(list(record.why_without_rules), schema)
        model.why_without_rules_ = record.why_without_rules
    if record.columns != "unseen":
        model.n_features_in_ = schema.n_features
    if record.columns == "named":
        model.feature_names_in_ = np.array(schema.feature_names, dtype=object)
    with at(".state"):
        nested = partial(_read_part, learners=learners, depth=depth + 1)
        model._restore_state(converted(record.state, type(model)._State, nested))
    return model


def _read_target(record: TargetRecord, schema: Schema) -> Target:
    values = _class_array(record.type, record.values)
    expected = schema.n_labels if record.kind == "classes" else 2
    if len(values) != expected or (record.kind == "two classes" and schema.n_labels != 1):
        raise ValueError(f"{len(values)} values do not go with {schema.n_labels} labels")
    if record.kind == "labels" and values.tolist() != [0, 1]:
        raise DocumentError(".values", "a label is absent (0) or present (1)")
    if record.kind == "classes" and len(values) == 2:
        raise ValueError("two classes are one label")
    if not (values[:-1] < values[1:]).all():
        raise DocumentError(".values", "classes must rise")
    return Target(record.kind, values)


_CELLS = {"U": (str,), "b": (bool,), "i": (int,), "u": (int,), "f": (int, float)}


def _class_array(name: str, values: list[Any]) -> Any:
    """The classes as an array of their type, which must hold them exactly."""
    dtype = np.dtype(f"<U{name[4:]}" if name.startswith("text") else name)
    if dtype.itemsize * len(values) > 4 * LARGEST_ARRAY:
        raise DocumentError(".values", "the array of classes would be too large")
    with at(".values"), np.errstate(over="ignore"):
        if any(type(value) not in _CELLS[dtype.kind] for value in values):
            raise ValueError(f"must all be of the type {name}")
        found = np.array(values, dtype=dtype)
        if found.tolist() != values:
            raise ValueError(f"some value does not fit into the type {name}")
    return found


def _as_text(values: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(values))
    except (TypeError, ValueError, RecursionError) as wrong:
        message = f"from_json reads the values that JSON stands for: {wrong}"
    raise DataError(message[:400])


def _registered() -> Learners:
    return {learner.__name__: learner for learner in registered().values()}


def _given(learners: Iterable[type[TableClassifier]]) -> Learners:
    found = {}
    for learner in learners:
        if not (isinstance(learner, type) and issubclass(learner, TableClassifier)):
            raise TypeError(f"learners must be classes of learners, not {learner!r:.60}")
        found[learner.__name__] = learner
    return found
