"""How good predictions and candidate rules are: formulas, averaging, measures and their traits."""

from labelrules.measures.averaging import AVERAGINGS
from labelrules.measures.confusion import CONVENTIONS, Confusion, Tally, cells, confusion, tally
from labelrules.measures.formula import Formula
from labelrules.measures.formulas import ratio
from labelrules.measures.measure import PREDICTIONS, Measure
from labelrules.measures.merit import Merit
from labelrules.measures.registry import forget, formula, helpers, register, registered

__all__ = [
    "AVERAGINGS",
    "CONVENTIONS",
    "PREDICTIONS",
    "Confusion",
    "Formula",
    "Measure",
    "Merit",
    "Tally",
    "cells",
    "confusion",
    "forget",
    "formula",
    "helpers",
    "ratio",
    "register",
    "registered",
    "tally",
]
