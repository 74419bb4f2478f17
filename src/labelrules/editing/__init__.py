"""EDIT: rules changed by hand, what that changes, the rest learned again, with a history."""

from labelrules.editing.beginning import edit
from labelrules.editing.edit_files import load_edits
from labelrules.editing.edit_history import EditHistory, HistoryStep, Version
from labelrules.editing.edit_session import Opening
from labelrules.editing.edited_rules import EditedRule
from labelrules.editing.editor import Editor
from labelrules.editing.knowledge import Knowledge
from labelrules.editing.previews import LabelChange, MeasureChange, PartPreview, Preview
from labelrules.editing.relearning import LearningCancelledError

__all__ = [
    "EditHistory",
    "EditedRule",
    "Editor",
    "HistoryStep",
    "Knowledge",
    "LabelChange",
    "LearningCancelledError",
    "MeasureChange",
    "Opening",
    "PartPreview",
    "Preview",
    "Version",
    "edit",
    "load_edits",
]
