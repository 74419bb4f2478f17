"""What the JSON interface answers with, as types, and how it is made from the present state."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from msgspec import UNSET, UnsetType

from labelrules.data.document import Record
from labelrules.inspection import explain
from labelrules.studio import Editor, PartPreview
from labelrules.studio.web.project import Counted, State
from labelrules.studio.web.site import Fields, NotThereError, Site
from labelrules.studio.web.views.checks import findings_of
from labelrules.studio.web.views.rows import ROWS_TRIED, chosen_part
from labelrules.studio.web.views.rule import found_line
from labelrules.studio.web.views.rules import RuleLine, rule_lines


class StateAnswer(Record):
    """The present state: a change must name its revision. Measures are given for each part."""

    revision: int
    data: str
    branch: str
    n_rules: int
    can_undo: bool
    can_redo: bool
    is_learning: bool
    measures: dict[str, dict[str, float]]


class FeatureAnswer(Record):
    """A feature; only some kinds have categories."""

    name: str
    kind: str
    categories: list[str] | None


class NamesAnswer(Record):
    """Labels and features, in the order of the data."""

    labels: list[str]
    features: list[FeatureAnswer]


class CountsAnswer(Record):
    """How often a rule is right and wrong, the share of right, and its 95 % interval."""

    right: int
    wrong: int
    share: float
    low: float
    high: float


class ListedRuleAnswer(Record):
    """A rule; a disabled one has no counts, and only one in layers has a layer."""

    number: int
    id: int
    text: str
    note: str | None
    locked: bool
    disabled: bool
    layer: int | None
    for_no_label: bool
    training: CountsAnswer | None
    validation: CountsAnswer | None


class RuleAnswer(ListedRuleAnswer):
    """A rule, and the state that it is of."""

    revision: int


class RulesAnswer(Record):
    """All rules in their order, and the state that they are of."""

    revision: int
    rules: list[ListedRuleAnswer]


class RulePairAnswer(Record):
    """A rule that changes, as text."""

    before: str
    after: str


class LabelChangeAnswer(Record):
    """In how many rows a label changes, is gained or lost, becomes right or wrong."""

    label: str
    n_rows: int
    n_gained: int
    n_lost: int
    n_righted: int
    n_wronged: int


class MeasureChangeAnswer(Record):
    """A measure before and after."""

    name: str
    before: float
    after: float


class PartAnswer(Record):
    """What changes in a part of the data; of many rows only the first are listed."""

    n_rows: int
    n_changed_cells: int
    n_changed_rows: int
    rows: list[int]
    labels: list[LabelChangeAnswer]
    measures: list[MeasureChangeAnswer]


class PreviewAnswer(Record):
    """What a change would do to the state with this revision; rules are given as text."""

    revision: int
    removed: list[str]
    added: list[str]
    changed: list[RulePairAnswer]
    reordered: bool
    parts: dict[str, PartAnswer]


class ExplainedLabelAnswer(Record):
    """A label of a row: 1 if it is present, 0 if it is absent, null if that is unknown."""

    predicted: int
    truth: int | None
    sentence: str


class ExplanationAnswer(Record):
    """Why a row gets its labels."""

    row: int
    part: str
    labels: dict[str, ExplainedLabelAnswer]


class FindingAnswer(Record):
    """Something to look at, perhaps with a way to settle it, and what that would do."""

    kind: str
    sentence: str
    fix: str | None
    effect: str | None


class FindingsAnswer(Record):
    """What is to be looked at."""

    findings: list[FindingAnswer]


class StepAnswer(Record):
    """A step of the history."""

    number: int
    text: str
    author: str | None
    time: datetime


class VersionAnswer(Record):
    """A named version, with the measures of each part."""

    name: str
    reason: str
    author: str | None
    step: int
    time: datetime
    measures: dict[str, dict[str, float]]


class HistoryAnswer(Record):
    """The steps that lead to the present rules, the versions, and the step of each branch."""

    steps: list[StepAnswer]
    versions: list[VersionAnswer]
    branches: dict[str, int]
    branch: str


class LearningAnswer(Record):
    """The progress of learning; `job` is 0 if nothing is learned, and no proposal waits."""

    job: int
    is_running: bool
    share: float
    text: str
    error: str
    has_proposal: bool


class OpeningAnswer(Record):
    """A look at the test part."""

    number: int
    reason: str
    author: str | None
    step: int
    time: datetime
    measures: dict[str, float]


class OpeningsAnswer(Record):
    """The looks at the test part, if there is one."""

    has_test: bool
    openings: list[OpeningAnswer]


class ErrorAnswer(Record):
    """Why a request was refused; with the present revision if another one was named."""

    error: str
    revision: int | UnsetType = UNSET


ROWS_LISTED = 200
"""Rows that a preview lists; their number is always given."""


def state_value(site: Site, state: State) -> StateAnswer:
    """The present state."""
    editor = state.editor
    with site.project.reading:
        measures = {name: dict(values) for name, values in editor.measures.items()}
    return StateAnswer(
        revision=state.revision,
        data=site.name,
        branch=editor.branch_name,
        n_rules=len(site.figures(state).rules),
        can_undo=editor.can_undo,
        can_redo=editor.can_redo,
        is_learning=site.job.is_running,
        measures=measures,
    )


def names_value(site: Site, state: State, fields: Fields) -> NamesAnswer:
    """Labels and features."""
    schema = state.editor.theory.schema
    features = [
        FeatureAnswer(one.name, one.kind, None if one.categories is None else list(one.categories))
        for one in schema.features
    ]
    return NamesAnswer(list(schema.labels), features)


def _counts(counted: Counted | None) -> CountsAnswer | None:
    return None if counted is None else CountsAnswer(*counted)


def _line(line: RuleLine) -> dict[str, Any]:
    one = line.edited
    return {
        "number": one.number,
        "id": one.id,
        "text": one.text,
        "note": one.note,
        "locked": one.locked,
        "disabled": one.disabled,
        "layer": one.layer,
        "for_no_label": one.for_no_label,
        "training": _counts(line.training),
        "validation": _counts(line.validation),
    }


def rules_value(site: Site, state: State, fields: Fields) -> RulesAnswer:
    """All rules."""
    lines = rule_lines(state, site.figures(state))
    return RulesAnswer(state.revision, [ListedRuleAnswer(**_line(line)) for line in lines])


def rule_value(site: Site, state: State, fields: Fields) -> RuleAnswer:
    """One rule."""
    line = found_line(fields.number("number"), state, site.figures(state))
    return RuleAnswer(**_line(line), revision=state.revision)


def preview_value(
    site: Site, state: State, change: Callable[[Editor], Editor], where: str | None
) -> PreviewAnswer:
    """What a change would do."""
    with site.project.reading:
        preview = change(state.editor).preview(since=state.editor, where=where)
        parts = {name: _part(part) for name, part in preview.parts.items()}
        rules = preview.rules
    return PreviewAnswer(
        revision=state.revision,
        removed=[one.text for one in rules.removed],
        added=[one.text for one in rules.added],
        changed=[RulePairAnswer(one.one.text, one.other.text) for one in rules.changed],
        reordered=rules.reordered,
        parts=parts,
    )


def _part(part: PartPreview) -> PartAnswer:
    return PartAnswer(
        n_rows=part.n_rows,
        n_changed_cells=part.n_cells,
        n_changed_rows=len(part.rows),
        rows=part.rows[:ROWS_LISTED].tolist(),
        labels=[LabelChangeAnswer(*one) for one in part.labels if one.n_rows],
        measures=[MeasureChangeAnswer(*one) for one in part.measures],
    )


def explanation_value(site: Site, state: State, fields: Fields) -> ExplanationAnswer:
    """Why a row gets its labels."""
    name, part = chosen_part(site, state, fields)
    row = fields.number("row")
    if row >= part.data.n_rows:
        raise NotThereError(
            f"there is no row {row}: the {name} part has {part.data.n_rows}, from 0"
        )
    explanation = explain(
        state.editor.theory, part.data.take([row]), 0, counterfactuals="given", limit=ROWS_TRIED
    )
    names = state.editor.theory.schema.labels
    truth = dict(zip(names, part.data.Y[row].tolist(), strict=True))
    labels = {
        one.label: ExplainedLabelAnswer(
            one.predicted, None if truth[one.label] < 0 else truth[one.label], one.sentence()
        )
        for one in explanation
    }
    return ExplanationAnswer(row, name, labels)


def findings_value(site: Site, state: State, fields: Fields) -> FindingsAnswer:
    """What is to be looked at."""
    return FindingsAnswer(
        [
            FindingAnswer(
                one.kind,
                one.sentence,
                None if one.fix is None else str(one.fix),
                None if one.effect is None else str(one.effect),
            )
            for one in findings_of(state.editor)
        ]
    )


def history_value(site: Site, state: State, fields: Fields) -> HistoryAnswer:
    """Steps, versions and branches."""
    editor = state.editor
    return HistoryAnswer(
        steps=[StepAnswer(one.number, str(one), one.author, one.time) for one in editor.steps],
        versions=[
            VersionAnswer(
                one.name, one.reason, one.author, one.step, one.time,
                {part: dict(found) for part, found in one.measures.items()},
            )
            for one in editor.versions
        ],
        branches=dict(editor.branches),
        branch=editor.branch_name,
    )  # fmt: skip


def learning_value(site: Site, state: State, fields: Fields) -> LearningAnswer:
    """The progress of learning."""
    job = site.job
    return LearningAnswer(
        job=job.number,
        is_running=job.is_running,
        share=job.share,
        text=job.text if job.base is not None else "",
        error=job.error,
        has_proposal=job.proposal is not None,
    )


def openings_value(site: Site, state: State, fields: Fields) -> OpeningsAnswer:
    """The openings of the test part."""
    openings = [
        OpeningAnswer(one.number, one.reason, one.author, one.step, one.time, dict(one.measures))
        for one in state.editor.openings
    ]
    return OpeningsAnswer(state.editor.has_test, openings)
