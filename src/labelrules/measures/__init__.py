"""How good predictions and candidate rules are: formulas, averaging, measures and their traits."""

from labelrules.measures.confusion import CONVENTIONS, Confusion, Tally, cells, confusion, tally
from labelrules.measures.counterexamples import COUNTEREXAMPLES, Counterexample
from labelrules.measures.formulas import (
    Formula,
    forget,
    formula,
    helpers,
    ratio,
    register,
    registered,
)
from labelrules.measures.measure import AVERAGINGS, PREDICTIONS, Measure, Merit
from labelrules.measures.prediction import evaluate
from labelrules.measures.traits import Traits, traits

__all__ = [
    "AVERAGINGS",
    "CONVENTIONS",
    "COUNTEREXAMPLES",
    "PREDICTIONS",
    "Confusion",
    "Counterexample",
    "Formula",
    "Measure",
    "Merit",
    "Tally",
    "Traits",
    "cells",
    "confusion",
    "evaluate",
    "forget",
    "formula",
    "helpers",
    "ratio",
    "register",
    "registered",
    "tally",
    "traits",
]
