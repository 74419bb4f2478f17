"""How good predictions and candidate rules are: formulas, averaging, measures and their traits."""

from labelrules._arithmetic import ratio
from labelrules.measures.averaging import AVERAGINGS
from labelrules.measures.confusion import CONVENTIONS, Confusion, Tally, cells, confusion, tally
from labelrules.measures.counterexample import Counterexample
from labelrules.measures.counterexamples import COUNTEREXAMPLES
from labelrules.measures.formula import Formula
from labelrules.measures.measure import PREDICTIONS, Measure
from labelrules.measures.merit import Merit
from labelrules.measures.registry import forget, formula, helpers, register, registered
from labelrules.measures.traits import Traits, traits
from labelrules.measures.usual import evaluate

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
