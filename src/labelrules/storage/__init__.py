"""KEEP: theories and fitted models in files, as versioned JSON."""

from labelrules.storage.files import from_json, json_schema, load_model, save, to_json

__all__ = ["from_json", "json_schema", "load_model", "save", "to_json"]
