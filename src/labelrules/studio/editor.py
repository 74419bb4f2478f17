"""The editor: rules as a value with a history, of which every edit makes another one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from labelrules._checks import counted, quoted
from labelrules.data import Dataset
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.inspection import Comparison, compare
from labelrules.learners.base.estimator import TableClassifier
from labelrules.learners.base.progress import About
from labelrules.measures import Evaluation
from labelrules.rules import (
    Condition,
    Rule,
    Theory,
    parse,
    rule_text,
    theory_of,
    theory_text,
)
from labelrules.rules.language.text import condition_text, rule_texts
from labelrules.studio.edit_history import (
    EditHistory,
    EditSession,
    HistoryStep,
    Opening,
    Outcome,
    Position,
    Version,
    now,
)
from labelrules.studio.edited_rules import EditedRule, EditedRules, rules_kept
from labelrules.studio.edits import (
    AddCondition,
    AddRule,
    DropCondition,
    Edit,
    RuleMarked,
    RuleMoved,
    RuleNoted,
    RuleRemoved,
    RuleReplaced,
    RulesRelearned,
    SetLabel,
    SetThreshold,
    ToggleLabel,
    printed_rule,
)
from labelrules.studio.knowledge import Knowledge, checked_knowledge
from labelrules.studio.previews import Preview, part_preview, rows_where, slice_preview
from labelrules.studio.relearning import Relearning, checked_learner, record_of

RulesSource = Any
"""An editor, a version or its name, a theory or a fitted learner."""


@dataclass(frozen=True, eq=False, repr=False)
class Editor:
    """Rules that are edited, with their history; every edit returns a new editor.

    Made by :func:`edit` and :func:`load_edits`. Rules have the numbers that people see: from 1,
    through all layers of a theory, rules for rows without a label last.

    Attributes
    ----------
    session : EditSession
        What all editors of one edit share.
    history : EditHistory
        All steps, branches and versions.
    author : str or None
        Who edits.
    path : Path or None
        The file that is written after every step.
    """

    session: EditSession
    history: EditHistory
    author: str | None = None
    path: Path | None = None

    @property
    def theory(self) -> Theory:
        """The theory as it is now, without disabled rules; evidence is from the training rows."""
        return self.session.counted(self._rules)

    @property
    def rules(self) -> tuple[EditedRule, ...]:
        """All rules in their order, disabled ones included."""
        rules, theory = self._rules, self.theory
        enabled = zip(theory, rule_texts(theory), strict=True)
        shown = []
        pairs = zip(rules.entries, rules.places(), strict=True)
        for number, (entry, place) in enumerate(pairs, 1):
            rule, is_last = entry.rule, entry.layer == rules.n_layers
            if entry.disabled:
                # That rules for rows without a label end the row need not be said.
                plain = replace(rule, note=None, stops=rule.stops and not is_last)
                text = rule_text(plain, rules.frame.schema)
            else:
                rule, text = next(enabled)
            layer = None if is_last or rules.n_layers == 1 else entry.layer + 1
            marks = entry.locked, entry.disabled, entry.changed, entry.rule.note
            shown.append(EditedRule(number, entry.id, rule, text, *marks, layer, is_last, place))
        return tuple(shown)

    @property
    def model(self) -> Any:
        """A fitted learner that predicts as the edited theory does; or the theory, of a theory.

        It is that which was given, with the rules as they are now, evidence and all counts that
        probabilities are estimated from anew. It can be saved and exported.
        """
        return self.session.model_of(self.theory, self.about)

    @property
    def about(self) -> About | None:
        """The record of how the model came about and was edited; None if nothing is known."""
        return self.session.about_of(self.history.described())

    @property
    def measures(self) -> dict[str, Evaluation]:
        """The measures now, on the ``"training"`` and, if there are any, ``"validation"`` rows."""
        return self.session.measures(self._rules)

    @property
    def data(self) -> Dataset:
        """The training rows."""
        return self.session.training

    @property
    def validation(self) -> Dataset | None:
        """The validation rows, if there are any."""
        return self.session.parts.get("validation")

    @property
    def has_test(self) -> bool:
        """Whether there is a test part, which `open_test` measures on."""
        return self.session.test is not None

    @property
    def _rules(self) -> EditedRules:
        return self.history.present

    def edited(self, edit: Edit) -> "Editor":
        """The editor after an edit, which is a step of its history."""
        step = edit.step(self._rules)
        return self._with(self.history.grown(step, self.author))

    def replace(self, number: int, rule: Rule | str) -> "Editor":
        """Replace a rule by another one or its text; it keeps its note, if it brings none."""
        return self.edited(RuleReplaced(number, printed_rule(rule, self._schema)))

    def add(self, rule: Rule | str, at: int | None = None, *, layer: int | None = None) -> "Editor":
        """Add a rule, which gets the number `at`.

        Parameters
        ----------
        rule : Rule or str
        at : int, optional
            By default it comes last, but before rules that hold for every row.
        layer : int, optional
            Its layer, from 1; rules for rows without a label are in the one after the last. By
            default that of the rule that has the number `at` now, else the last layer.
        """
        return self.edited(AddRule(printed_rule(rule, self._schema), at, layer))

    def remove(self, number: int) -> "Editor":
        """Remove a rule."""
        return self.edited(RuleRemoved(number))

    def move(self, number: int, *, to: int) -> "Editor":
        """Give a rule another number; the rules between move by one."""
        return self.edited(RuleMoved(number, to))

    def lock(self, number: int) -> "Editor":
        """Lock a rule: it cannot be changed, and stays when rules are learned again."""
        return self.edited(RuleMarked(number, "lock"))

    def unlock(self, number: int) -> "Editor":
        """Let a rule be changed again."""
        return self.edited(RuleMarked(number, "unlock"))

    def disable(self, number: int) -> "Editor":
        """Leave a rule out of the theory; it stays where it is."""
        return self.edited(RuleMarked(number, "disable"))

    def enable(self, number: int) -> "Editor":
        """Take a rule into the theory again."""
        return self.edited(RuleMarked(number, "enable"))

    def note(self, number: int, note: str | None) -> "Editor":
        """Set the note of a rule; None or an empty text for none."""
        return self.edited(RuleNoted(number, note))

    def set_threshold(self, number: int, *, condition: int, value: float | str) -> "Editor":
        """Set the threshold of one of the conditions of a rule, counted from 1.

        Dates, times, durations and categories with an order are given as text.
        """
        return self.edited(SetThreshold(number, condition, value))

    def add_condition(self, number: int, condition: Condition | str) -> "Editor":
        """Add a condition to a rule."""
        if not isinstance(condition, str):
            condition = condition_text(condition, self._schema)
        return self.edited(AddCondition(number, condition))

    def drop_condition(self, number: int, *, condition: int) -> "Editor":
        """Drop one of the conditions of a rule, counted from 1."""
        return self.edited(DropCondition(number, condition))

    def set_label(self, number: int, label: str, present: bool | None) -> "Editor":
        """Let a rule predict a label present or absent, or with None leave it open."""
        return self.edited(SetLabel(number, label, present))

    def toggle_label(self, number: int, label: str) -> "Editor":
        """Take the next value of a label: not predicted, present, absent, not predicted."""
        return self.edited(ToggleLabel(number, label))

    def relearn(
        self,
        after: int | None = None,
        *,
        labels: Iterable[str] | None = None,
        learner: Any = None,
        knowledge: Knowledge | None = None,
        listener: Callable[[Any], object] | None = None,
        learned: Theory | str | None = None,
    ) -> "Editor":
        """Learn rules again: those after a rule, or those for some labels.

        Locked rules stay. Ctrl-C, or an error of the listener, leaves everything as it was.

        Parameters
        ----------
        after : int, optional
            All rules up to this one are kept, by default none; locked rules that come later follow
            them. What comes then is learned anew.
        labels : iterable of str, optional
            Instead: only the rules for these labels are learned anew, from the cells of these
            labels that are open; they come where the first old one was.
        learner : RuleClassifier, optional
            A learner that goes on from rules. By default that of the model if it is one, else
            `SeparateAndConquer()`.
        knowledge : Knowledge, optional
        listener : function, optional
            Is called with each report of progress; if it returns False, learning is cancelled:
            :class:`LearningCancelledError` is raised.
        learned : Theory or str, optional
            The new rules, if they are known: nothing is learned. Scripts give them where learning
            again might end elsewhere, because there was a time limit.
        """
        told = checked_knowledge(knowledge, self._schema)
        names = None if labels is None else _names(labels)
        made = checked_learner(learner, self.session.model)
        kept = rules_kept(self._rules, after, names, len(self.history.steps))
        if learned is None:
            found = Relearning(kept, self.data, made, told, listener).new_rules()
        else:
            found = parse(learned, self._schema) if isinstance(learned, str) else learned
        repeatable = learned is None and getattr(made, "time_limit", None) is None
        text = theory_text(found)
        return self.edited(RulesRelearned(after, names, record_of(made), told, text, repeatable))

    def preview(self, since: RulesSource = None, *, where: Any = None) -> Preview:
        """Show rows, labels and every measure, before and after.

        Parameters
        ----------
        since : Editor, Version or str, optional
            The state to compare with: another editor, a version or its name, or ``"commit"`` for
            the last version on the way here. By default the state before the last step.
        where : str or array of bool, optional
            A slice to be shown, too: conditions such as ``"age > 60, flu"``, where labels are those
            that are known, or a mask of the training rows.
        """
        before, after = self._since(since), self._rules
        parts = {}
        for name, data in self.session.parts.items():
            outcomes = [self.session.outcome(rules, name) for rules in (before, after)]
            parts[name] = part_preview(data, *outcomes)
        if where is not None:
            parts["slice"] = slice_preview(parts["training"], rows_where(where, self.data))
            if self.validation is not None and isinstance(where, str):
                rows = rows_where(where, self.validation)
                parts["validation slice"] = slice_preview(parts["validation"], rows)
        return Preview(before.theory, after.theory, MappingProxyType(parts))

    def diff(self, other: RulesSource) -> Comparison:
        """The rules and, on the training rows, predictions that differ from another state.

        `other` is an editor, a version or its name, ``"commit"`` for the last version, a theory or
        a fitted learner; it is the first of the two in the comparison.
        """
        if isinstance(other, Editor | Version | str):
            theory = self.session.counted(self._since(other))
        else:
            theory = theory_of(other)
        return compare(theory, self.theory, self.data)

    def open_test(self, reason: str, *, author: str | None = None) -> Opening:
        """The measures on the test part; that it was looked at is counted, and cannot be undone.

        If it cannot be written, there is no look: the measures are not given.
        """
        step, signed = self.history.now.number, author or self.author
        write = partial(self._written, self.history)
        return self.session.open_test(self._rules, step, _reason(reason), signed, write)

    @property
    def openings(self) -> tuple[Opening, ...]:
        """Every look at the test part, whichever editor of this edit was asked for it."""
        return self.session.openings

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return self.history.now.parent is not None

    @property
    def can_redo(self) -> bool:
        """Whether there is a step that was undone and can be done again."""
        return bool(self.history.position.undone)

    def undo(self) -> "Editor":
        """The editor before the last step; nothing is forgotten."""
        return self._with(self.history.undone())

    def redo(self) -> "Editor":
        """The editor after the step that was undone last."""
        return self._with(self.history.redone())

    def go_to(self, step: int | Version | str) -> "Editor":
        """The present branch at another step of the history, or at a version."""
        if isinstance(step, Version | str):
            step = self._version(step).step
        if not (isinstance(step, int) and 0 <= step < len(self.history.steps)):
            raise ValueError(
                f"there is no step {step!r}: the last is {len(self.history.steps) - 1}"
            )
        return self._with(self.history.at(Position(step)))

    @property
    def steps(self) -> tuple[HistoryStep, ...]:
        """The steps that lead to the rules as they are now, the first one first."""
        return tuple(self.history.path())

    def commit(
        self, reason: str, *, name: str | None = None, author: str | None = None
    ) -> "Editor":
        """Name the rules as a version, with the reason and all measures."""
        history = self.history
        given = f"version {len(history.versions) + 1}" if name is None else name
        if any(one.name == given for one in history.versions):
            raise ValueError(f"there is a version {quoted(given)} already: give another name")
        version = Version(
            given, history.now.number, history.branch, _reason(reason), author or self.author,
            now(), self.measures,
        )  # fmt: skip
        return self._with(replace(history, versions=(*history.versions, version)))

    @property
    def versions(self) -> tuple[Version, ...]:
        """All versions, in the order in which they were named."""
        return self.history.versions

    def branch(self, name: str) -> "Editor":
        """A new branch that begins here, and is the present one."""
        return self._with(self.history.branched(name))

    def switch(self, name: str) -> "Editor":
        """Go to another branch, where it was left."""
        return self._with(self.history.switched(name))

    @property
    def branches(self) -> Mapping[str, int]:
        """The names of all branches, and at which step each is."""
        return {name: position.step for name, position in self.history.positions.items()}

    @property
    def branch_name(self) -> str:
        """The name of the present branch."""
        return self.history.branch

    def script(self) -> str:
        """A program in Python that makes the model again from its data, byte for byte."""
        from labelrules.studio.edit_files import script_of

        return script_of(self.session, self.history)

    def save(self, path: str | PathLike[str]) -> "Editor":
        """Write the editor to a file, now and after every step; `load_edits` reads it.

        A file that holds steps which this editor does not have is not replaced, whoever made them:
        another person, another program, or somebody who went on from this editor before. That is
        refused, now and after every step, and nothing is written.
        """
        saved = replace(self, path=Path(path))
        saved._written(self.history if self.path == saved.path else None)
        return saved

    def draft(self) -> "Editor":
        """Leave the file: what is tried from now on is not written."""
        return replace(self, path=None)

    def by(self, author: str | None) -> "Editor":
        """Go on as another author."""
        return replace(self, author=author)

    @property
    def _schema(self) -> Any:
        return self.session.frame.schema

    def _with(self, history: EditHistory) -> "Editor":
        other = replace(self, history=history)
        other._written(self.history)
        return other

    def _written(self, left: EditHistory | None) -> None:
        """Write the file, in which others have left this history, if one is given."""
        if self.path is not None:
            from labelrules.studio.edit_files import write_edits

            write_edits(self.session, self.history, self.path, left)

    def _version(self, version: Version | str) -> Version:
        if isinstance(version, Version):
            return version
        on_path = {0, *(step.number for step in self.steps)}
        if version == "commit" and not any(one.name == version for one in self.versions):
            for one in reversed(self.versions):
                if one.step in on_path:
                    return one
            raise ValueError("no version was named on the way here: use commit(reason) first")
        return self.history.version(version)

    def _since(self, since: RulesSource) -> EditedRules:
        rules = self.history.rules
        if since is None:
            return rules[self.history.now.parent or 0]
        if isinstance(since, Editor):
            if since.session is not self.session:
                raise ValueError("the other editor is of another edit: compare them by diff")
            return since._rules
        if not isinstance(since, Version | str):
            raise TypeError(f"since must be an editor, a version or its name, not {since!r:.60}")
        return rules[self._version(since).step]

    def __repr__(self) -> str:
        rules, steps = counted(len(self._rules.entries), "rule"), counted(len(self.steps), "step")
        return f"<Editor: {rules}, {steps} on {quoted(self.branch_name)}>"

    def __str__(self) -> str:
        marks = {one.number: _marks(one) for one in self.rules}
        return "\n".join(f"{one.number:>3} {one.text}{marks[one.number]}" for one in self.rules)


def _marks(rule: EditedRule) -> str:
    words = [word for word in ("locked", "disabled") if getattr(rule, word)]
    note = [] if rule.note is None else [f"note: {rule.note}"]
    return f"  # {', '.join([*words, *note])}" if words or note else ""


def _names(labels: Iterable[str]) -> tuple[str, ...]:
    if isinstance(labels, str):
        raise ValueError(f"labels must be a list of labels, such as [{labels!r}]")
    return tuple(labels)


def _reason(reason: str) -> str:
    if not isinstance(reason, str) or not reason.strip():
        raise ValueError("give a reason, in a few words: it is kept in the history")
    return reason.strip()


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
        Its rules are counted from 1, also where it is the theory of another editor, in which
        disabled rules have numbers, too.
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
    history = EditHistory.of(EditedRules.of(session.frame), author, now())
    return Editor(session, history, author)


def _checked_original(original: Any) -> Any:
    """Accept a theory, or a fitted learner that predicts by its theory."""
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
