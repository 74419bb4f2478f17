"""WRITE: export theories to Python, JavaScript, SQL and PMML."""

from labelrules.export.pmml import to_pmml
from labelrules.export.programs import to_javascript, to_python
from labelrules.export.sql import to_sql

__all__ = ["to_javascript", "to_pmml", "to_python", "to_sql"]
