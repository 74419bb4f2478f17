"""SCORE: formulas, averaging, measures of predictions and of candidate rules, their properties."""

from labelrules.measures.confusion_matrix import (
    COUNTINGS,
    Confusion,
    Tally,
    cells,
    confusion,
    tally,
)
from labelrules.measures.evaluation import Evaluation, evaluate
from labelrules.measures.formulas import (
    Formula,
    forget,
    formula,
    formula_names,
    helpers,
    ratio,
    register_formula,
)
from labelrules.measures.measure import AVERAGINGS, PREDICTIONS, Measure, Merit
from labelrules.measures.measure_traits import COUNTEREXAMPLES, Counterexample, Traits, traits

__all__ = [
    "AVERAGINGS",
    "COUNTEREXAMPLES",
    "COUNTINGS",
    "PREDICTIONS",
    "Confusion",
    "Counterexample",
    "Evaluation",
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
    "formula_names",
    "helpers",
    "ratio",
    "register_formula",
    "tally",
    "traits",
]
