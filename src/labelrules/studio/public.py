"""The public names of the room `studio`."""

from labelrules.studio.edit_files import load_edits
from labelrules.studio.edit_history import EditHistory, HistoryStep, Opening, Version
from labelrules.studio.edited_rules import EditedRule
from labelrules.studio.editor import Editor, edit
from labelrules.studio.knowledge import Knowledge
from labelrules.studio.previews import LabelChange, MeasureChange, PartPreview, Preview
from labelrules.studio.relearning import LearningCancelledError

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
