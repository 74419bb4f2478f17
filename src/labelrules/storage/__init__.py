"""KEEP: theories and fitted models in files, as versioned JSON."""

from labelrules.learners.base.progress import About
from labelrules.storage.files import about, from_json, load_model, save, to_json
from labelrules.storage.records import json_schema

__all__ = ["About", "about", "from_json", "json_schema", "load_model", "save", "to_json"]
