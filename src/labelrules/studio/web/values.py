"""What the interface answers: the values behind the pages."""

from collections.abc import Callable
from typing import Any

from labelrules.inspection import explain
from labelrules.studio import Editor, PartPreview
from labelrules.studio.web.answers import (
    CountsAnswer,
    ExplainedLabelAnswer,
    ExplanationAnswer,
    FeatureAnswer,
    FindingAnswer,
    FindingsAnswer,
    HistoryAnswer,
    LabelChangeAnswer,
    LearningAnswer,
    ListedRuleAnswer,
    MeasureChangeAnswer,
    NamesAnswer,
    OpeningAnswer,
    OpeningsAnswer,
    PartAnswer,
    PreviewAnswer,
    RuleAnswer,
    RulePairAnswer,
    RulesAnswer,
    StateAnswer,
    StepAnswer,
    VersionAnswer,
)
from labelrules.studio.web.figures import Counted
from labelrules.studio.web.inputs import Fields
from labelrules.studio.web.project import State
from labelrules.studio.web.site import NotThereError, Site
from labelrules.studio.web.views.checks import findings_of
from labelrules.studio.web.views.rows import ROWS_TRIED, chosen_part
from labelrules.studio.web.views.rule import found_line
from labelrules.studio.web.views.rules import RuleLine, rule_lines

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
