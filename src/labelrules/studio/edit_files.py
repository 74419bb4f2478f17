"""Edits in files, with the whole history, and as programs in Python."""

import warnings
from dataclasses import replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from msgspec import UNSET
from msgspec.structs import replace as with_fields

from labelrules._checks import counted, quoted
from labelrules.data import DataError, Dataset, FileError
from labelrules.data.document import (
    DocumentError,
    Record,
    at,
    builtins_of,
    check_length,
    converted,
    indented_json,
    read_document,
    read_pieces,
)
from labelrules.data.files.access import (
    checked_target,
    is_stream,
    locked,
    opened_utf8,
    replacing,
    written_text,
)
from labelrules.data.fingerprints import FORM
from labelrules.measures import Evaluation
from labelrules.storage import from_json, to_json
from labelrules.storage.parameters import read_learner
from labelrules.storage.records import Fingerprint
from labelrules.studio.edit_history import (
    MAIN,
    EditHistory,
    EditSession,
    HistoryStep,
    Opening,
    Position,
    Time,
    Version,
)
from labelrules.studio.editor import Editor, edit
from labelrules.studio.edits import RulesRelearned
from labelrules.studio.relearning import expression


class EditsDocument(Record):
    """A file with edits: the fingerprints of the data, the original model and the history."""

    format: Literal["labelrules edits"]
    version: Literal[1]
    training: Fingerprint
    validation: Fingerprint | None
    test: Fingerprint | None
    author: str | None
    begun: Time
    original: dict[str, Any]
    steps: list[HistoryStep]
    branches: dict[str, Position]
    branch: str
    versions: list[Version]
    openings: list[Opening]


class EditConflictError(FileError):
    """A file of edits holds what others have written to it meanwhile; nothing was written."""

    def __init__(self, facts: str, path: Path) -> None:
        advice = "go on from the file by load_edits, or save these edits under another name"
        super().__init__(f"{facts}. Nothing was written: {advice}", path)
        self.facts = facts


def write_edits(
    session: EditSession, history: EditHistory, path: Path, left: EditHistory | None = None
) -> None:
    """Write edits to a file, which is the old one or the new one, never a part of it.

    A file that holds steps, versions, branches or looks at the test part which these edits lack is
    not replaced, nor is one whose branches are no longer where the history `left` has them.
    """
    target = checked_target(path)
    document = _document(session, history)
    text = indented_json(builtins_of(document, dict)) + "\n"
    check_length(len(text))
    with locked(target):
        found = _found(target)
        if found is not None:
            _check_kept(found, document, left, target)
        with replacing(target) as new, written_text(new, target) as file:
            file.write(text)


def _found(target: Path) -> EditsDocument | None:
    """The edits in the file to be replaced; None if there is nothing in it."""
    if is_stream(target) or not target.exists() or not target.stat().st_size:
        return None
    try:
        return _read(target)
    except FileError:
        raise
    except DataError as wrong:
        message = f"nothing is written over this file, which holds no edits ({wrong})"
    raise FileError(message, target)


def _check_kept(
    found: EditsDocument, document: EditsDocument, left: EditHistory | None, target: Path
) -> None:
    """Refuse to replace a file of edits, if that would drop anything in silence."""
    theirs, ours = _lacking(found, document), _lacking(document, found)
    if left is not None and not theirs and (found.steps or found.versions):
        theirs = _moved(found, left)
    if theirs:
        also = f"; these edits hold {', '.join(ours)}, which the file does not" if ours else ""
        facts = f"others have written to this file: it holds {', '.join(theirs)}, which these edits"
        raise EditConflictError(f"{facts} do not{also}", target)


_THINGS = ("steps", "step"), ("versions", "version"), ("openings", "look at the test")


def _lacking(one: EditsDocument, other: EditsDocument) -> list[str]:
    """Steps, versions, openings and branches, in words, that other edits lack."""
    is_same = (one.begun, one.author) == (other.begun, other.author)
    found = []
    for name, noun in _THINGS:
        more = _after_common(getattr(one, name), getattr(other, name) if is_same else [])
        if more:
            last, what = more[-1], counted(len(more), noun)
            which = "" if len(more) == 1 else ", the last"
            author = "" if last.author is None else f" by {last.author}"
            about = getattr(last, "reason", last)
            time = builtins_of(last.time)
            found.append(f"{what}{which}{author} at {time} ({quoted(about)})")
    found += [f"the branch {quoted(name)}" for name in one.branches if name not in other.branches]
    return found


def _after_common(one: list[Any], other: list[Any]) -> list[Any]:
    """The records after those with which both lists begin."""
    n_common = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        n_common += 1
    return one[n_common:]


def _moved(found: EditsDocument, left: EditHistory) -> list[str]:
    """Branches that are elsewhere than they were left, in words."""
    words = [
        f"the branch {quoted(name)} at step {at.step}"
        for name, at in found.branches.items()
        if at != left.positions.get(name)
    ]
    if not words and found.branch != left.branch:
        words = [f"the branch {quoted(found.branch)} as the present one"]
    return words


def _document(session: EditSession, history: EditHistory) -> EditsDocument:
    first, *steps = history.steps
    known = {**session.left_out, **session.fingerprints}
    return EditsDocument(
        format="labelrules edits",
        version=1,
        training=known["training"],
        validation=known.get("validation"),
        test=known.get("test"),
        author=first.author,
        begun=first.time,
        original=session.original_document,
        steps=[with_fields(one, number=UNSET) for one in steps],
        branches=dict(history.positions),
        branch=history.branch,
        versions=list(history.versions),
        openings=[with_fields(one, number=UNSET) for one in session.openings],
    )


def load_edits(
    path: str | PathLike[str],
    data: Any,
    Y: Any = None,
    *,
    validation: Any = None,
    test: Any = None,
    author: str | None = None,
) -> Editor:
    """Go on with edits that :meth:`Editor.save` has written; nothing is learned, nothing lost.

    Parameters
    ----------
    path : path-like
    data, Y, validation, test
        The same data as for :func:`edit`. The validation and test parts may be left out.
    author : str, optional
        Who goes on; by default who began.

    Raises
    ------
    FileError
        If the file is wrong, or the data are others than those of the file.
    """
    target = Path(path)
    try:
        record = _read(target)
        with at("$"), at(".original"):
            original = from_json(record.original)
        editor = edit(original, data, Y, validation=validation, test=test)
        _check_same_data(record, editor.session)
        with at("$"):
            return _restored(record, editor, author, target)
    except FileError:
        raise
    except DataError as wrong:
        message = str(wrong)
    raise FileError(message, target)


def _read(path: Path) -> EditsDocument:
    with opened_utf8(path) as file:
        text = read_pieces(file)
    with at("$"):
        return converted(read_document(text), EditsDocument, _measures)


def _measures(kind: type, value: Any) -> Evaluation:
    """Measures, the only values of the document that are no plain ones."""
    return Evaluation(converted(value, dict[str, float]))


def _check_same_data(record: EditsDocument, session: EditSession) -> None:
    for part in ("training", "validation", "test"):
        known, found = getattr(record, part), session.fingerprints.get(part)
        if known is not None and found is None:
            session.left_out[part] = known
        elif known is not None and not known.startswith(FORM):
            warnings.warn(
                f"whether these are the {part} rows of the edits is not known: they were written "
                "by an earlier version, whose fingerprints of data were others",
                stacklevel=3,
            )
        elif known not in (None, found):
            raise DataError(
                f"these are other {part} rows than those of the edits: give the same rows, or "
                "begin anew by edit(editor.model, data)"
            )


def _restored(record: EditsDocument, editor: Editor, author: str | None, path: Path) -> Editor:
    session = editor.session
    history = EditHistory.of(editor.history.present, record.author, record.begun)
    for number, one in enumerate(record.steps, 1):
        with at(f".steps[{number - 1}]"):
            history = _with_step(history, one, number)
    if record.branch not in record.branches or MAIN not in record.branches:
        raise DocumentError(".branches", f'there must be "{MAIN}" and the present branch')
    _check_numbers(record)
    history = replace(
        history, positions=MappingProxyType(record.branches), branch=record.branch,
        versions=tuple(record.versions),
    )  # fmt: skip
    numbered = enumerate(record.openings, 1)
    session.openings = tuple(with_fields(one, number=n) for n, one in numbered)
    return Editor(session, history, author or record.author, path)


def _with_step(history: EditHistory, one: HistoryStep, number: int) -> EditHistory:
    if one.parent is None or one.step is None:
        raise DocumentError("", "only the first step has no step before it")
    if one.parent >= number:
        raise DocumentError(".parent", f"there is no step {one.parent} before this one")
    if isinstance(one.step, RulesRelearned):
        with at(".step.learner"):
            learner = one.step.learner
            read_learner(learner.kind, learner.parameters, _learners())
            expression(learner)
    before = history.at(Position(one.parent))
    with at(".step"):
        return before.grown(one.step, one.author, one.time)


def _learners() -> dict[str, Any]:
    from labelrules.learners.registry import registered

    return {learner.__name__: learner for learner in registered().values()}


def _check_numbers(record: EditsDocument) -> None:
    """Refuse numbers of steps that are not there, and steps undone that do not follow."""
    last = len(record.steps)
    parents = [0, *(one.parent for one in record.steps)]
    for name, position in record.branches.items():
        with at(f".branches[{name!r}]"):
            before = position.step
            for step in (position.step, *position.undone):
                if step > last:
                    raise DocumentError("", f"there is no step {step}")
            for step in position.undone:
                if step == 0 or parents[step] != before:
                    raise DocumentError(".undone", f"step {step} does not follow step {before}")
                before = step
    for place in ("versions", "openings"):
        for number, one in enumerate(getattr(record, place)):
            if one.step > last:
                raise DocumentError(f".{place}[{number}].step", f"there is no step {one.step}")


_PROGRAM = '''\
"""Edits of the rules of a model, made by labelrules: they make the model again.

In Python: replay(data).model. As a program: python THIS_FILE DATA -o model.json, where DATA and
--labels, --part and so on are given as for labelrules workbench; --help lists them. Where the
workbench has held out every fourth row for validation, DATA are all rows.
"""

{imports}

ORIGINAL = {original}


def replay(data, validation=None):
    """The editor after all edits; its attribute `model` is the edited model."""
    if fingerprint(data) != {fingerprint!r}:
        raise ValueError("these are other data than those the rules were edited with{named}")
    editor = edit(from_json(ORIGINAL), data, validation=validation)
{steps}
    return editor


if __name__ == "__main__":
    from labelrules.studio.commands.workbench import run_history

    run_history(replay, ORIGINAL, {fingerprint!r})
'''


def script_of(session: EditSession, history: EditHistory) -> str:
    """A program that makes the model again from its data."""
    names = {("labelrules", "edit"), ("labelrules", "from_json")}
    names.add(("labelrules.data", "fingerprint"))
    commits: dict[int, list[str]] = {}
    for version in history.versions:
        text = f"commit({version.reason!r}, name={version.name!r}, author={version.author!r})"
        commits.setdefault(version.step, []).append(text)
    calls = list(commits.get(0, ()))
    author = None
    for one in history.path():
        if one.step is None:
            continue
        if one.author != author:
            author = one.author
            calls.append(f"by({author!r})")
        names |= one.step.imports()
        calls += [one.step.call(), *commits.get(one.number, ())]
    lines = [f"    editor = editor.{call}" for call in calls]
    data = session.training
    return _PROGRAM.format(
        imports=_imports(names),
        original=_text_literal(to_json(session.original)),
        fingerprint=session.fingerprints["training"],
        named=_named(data),
        steps="\n".join(lines),
    ).replace("\n\n    return", "\n    return")


def _imports(names: set[tuple[str, str]]) -> str:
    modules = sorted({module for module, _ in names})
    return "\n".join(
        f"from {module} import {', '.join(sorted(name for one, name in names if one == module))}"
        for module in modules
    )


def _text_literal(text: str) -> str:
    """A text as a Python expression with one line for each of its own."""
    lines = "".join(f"    {line!r}\n" for line in text.splitlines(keepends=True))
    return f"(\n{lines})"


def _named(data: Dataset) -> str:
    """The name of a data set, as part of a message in the program."""
    escaped = repr(data.name)[1:-1].replace('"', '\\"').replace("{", "{{").replace("}", "}}")
    return f": {escaped}" if data.name else ""
