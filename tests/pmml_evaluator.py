"""A small evaluator of PMML, by the words of the standard: rule sets and scorecards in chains.

Truth has three values: a comparison with a missing value is unknown; "and" is false if a part is
false, else unknown if a part is; "or" is true if a part is true, else unknown if a part is; a rule
fires if its predicate is true.
"""

import re
from functools import reduce
from xml.etree import ElementTree as ET

import numpy as np

SPACE = "{http://www.dmg.org/PMML-4_4}"
COMPARE = {
    "equal": np.equal,
    "notEqual": np.not_equal,
    "lessOrEqual": np.less_equal,
    "greaterThan": np.greater,
    "greaterOrEqual": np.greater_equal,
}
ORDER = {
    "PMML": ["Header", "DataDictionary", "MiningModel"],
    "MiningModel": ["MiningSchema", "Segmentation"],
    "RuleSetModel": ["MiningSchema", "Output", "RuleSet"],
    "Scorecard": ["MiningSchema", "Output", "Characteristics"],
}
"""The children that elements have, in the order of the standard's schema."""


NUMBERS = {
    "sum": sum,
    "max": np.maximum.reduce,
    "-": lambda parts: parts[0] - parts[1],
    "greaterThan": lambda parts: parts[0] > parts[1],
}


class Truth:
    """True, false or unknown for each row."""

    def __init__(self, true, false):
        self.true, self.false = true, false

    def and_(self, other):
        return Truth(self.true & other.true, self.false | other.false)

    def or_(self, other):
        return Truth(self.true | other.true, self.false & other.false)


def tag(element):
    return element.tag.removeprefix(SPACE)


def evaluate(text, rows):
    """For each output field of the whole the values of the rows.

    Parameters
    ----------
    text : str
        A PMML document.
    rows : list of dict
        From fields to values, None if missing.
    """
    root = ET.fromstring(text)
    check_structure(root)
    fields = read_fields(root, rows)
    visible = {}
    segments = root.find(f"{SPACE}MiningModel/{SPACE}Segmentation")
    assert segments.get("multipleModelMethod") == "modelChain"
    outputs = {}
    for segment in segments:
        model = segment[1]
        assert tag(segment[0]) == "True"
        names = [field.get("name") for field in model.find(f"{SPACE}MiningSchema")]
        # A model sees what its mining schema lets in, and that must be known by then.
        seen = {name: (fields | visible)[name] for name in names}
        outputs = run_model(model, seen, len(rows))
        assert not outputs.keys() & (fields | visible).keys(), "names are unique in a scope"
        visible |= outputs
    return outputs  # those of a chain are those of its last model


def check_structure(root):
    for element in root.iter():
        if tag(element) in ORDER:
            assert [tag(child) for child in element] == ORDER[tag(element)]
    ids = [segment.get("id") for segment in root.iter(f"{SPACE}Segment")]
    assert len(set(ids)) == len(ids)


def read_fields(root, rows):
    """The fields of the data dictionary; invalid values are missing where it is said so."""
    lenient = {
        field.get("name")
        for field in root.find(f"{SPACE}MiningModel/{SPACE}MiningSchema")
        if field.get("invalidValueTreatment") == "asMissing"
    }
    found = {}
    for field in root.find(f"{SPACE}DataDictionary"):
        name = field.get("name")
        values = [row[name] for row in rows]
        if field.get("dataType") == "double":
            numbers = [np.nan if value is None else float(value) for value in values]
            found[name] = np.array(numbers)
        elif field.get("dataType") in ("date", "dateTime"):
            found[name] = np.array([_moment(value) for value in values])
        else:
            valid = {value.get("value") for value in field}
            assert name in lenient or all(value in valid for value in values if value is not None)
            texts = [value if value in valid else None for value in values]
            found[name] = np.array(texts, dtype=object)
    return found


def _moment(value):
    """Microseconds since 1970, NaN if missing."""
    if value is None:
        return np.nan
    return float(np.datetime64(value, "us").astype(np.int64))


def run_model(model, fields, n_rows):
    if tag(model) == "Scorecard":
        assert (model.get("functionName"), model.get("useReasonCodes")) == ("regression", "false")
        predicted = scorecard(model, fields, n_rows)
    else:
        rules = model.find(f"{SPACE}RuleSet")
        scores = first_hit if rules[0].get("criterion") == "firstHit" else weighted_sum
        predicted = scores(rules, fields, n_rows)
    found = {}
    for output in model.find(f"{SPACE}Output"):
        if output.get("feature") == "predictedValue":
            found[output.get("name")] = predicted
        else:
            # An output may use those before it.
            value = expression(output[0], fields | found, n_rows)
            is_number = output.get("dataType") == "double"
            found[output.get("name")] = value.astype(float) if is_number else value
    return found


def scorecard(model, fields, n_rows):
    """The initial score, and of each characteristic the first attribute that holds."""
    score = np.full(n_rows, float(model.get("initialScore")))
    characteristics = model.find(f"{SPACE}Characteristics")
    assert len(characteristics)
    for characteristic in characteristics:
        waiting = np.ones(n_rows, dtype=bool)
        for attribute in characteristic:
            hit = waiting & predicate(attribute[0], fields, n_rows).true
            score[hit] += float(attribute.get("partialScore"))
            waiting &= ~hit
        assert not waiting.any(), "the standard wants an attribute for every row"
    return score


def first_hit(rules, fields, n_rows):
    found = np.full(n_rows, rules.get("defaultScore"), dtype=object)
    waiting = np.ones(n_rows, dtype=bool)
    for rule in rules[1:]:
        hit = waiting & predicate(rule[0], fields, n_rows).true
        found[hit] = rule.get("score")
        waiting &= ~hit
    return found


def weighted_sum(rules, fields, n_rows):
    sums = {"0": np.zeros(n_rows), "1": np.zeros(n_rows)}
    for rule in rules[1:]:
        fires = predicate(rule[0], fields, n_rows).true
        sums[rule.get("score")][fires] += float(rule.get("weight"))
    assert (sums["0"] != sums["1"]).all(), "the standard does not settle ties"
    return np.where(sums["1"] > sums["0"], "1", "0").astype(object)


def predicate(element, fields, n_rows):
    all_rows, no_rows = np.ones(n_rows, dtype=bool), np.zeros(n_rows, dtype=bool)
    if tag(element) in ("True", "False"):
        is_true = tag(element) == "True"
        return Truth(all_rows, no_rows) if is_true else Truth(no_rows, all_rows)
    if tag(element) == "CompoundPredicate":
        join = {"and": Truth.and_, "or": Truth.or_}[element.get("booleanOperator")]
        assert len(element) > 1, "the standard's schema wants two"
        return reduce(join, [predicate(part, fields, n_rows) for part in element])
    assert tag(element) == "SimplePredicate", "evaluators differ in how they read arrays"
    values, text = fields[element.get("field")], element.get("value")
    known = ~np.isnan(values) if values.dtype == float else values != None  # noqa: E711
    if values.dtype == float:
        is_date = re.match(r"\d{4}-\d{2}-\d{2}", text)
        text = _moment(text) if is_date else float(text)
    holds = COMPARE[element.get("operator")](values, text)
    return Truth(known & holds.astype(bool), known & ~holds.astype(bool))


def expression(element, fields, n_rows):
    if tag(element) == "Constant":
        kind = {"integer": int, "string": str, "double": float}[element.get("dataType")]
        return np.full(n_rows, kind(element.text), dtype=object)
    if tag(element) == "FieldRef":
        return fields[element.get("field")]
    parts = [expression(part, fields, n_rows) for part in element]
    function = element.get("function")
    if function == "if":
        return np.where(parts[0].astype(bool), parts[1], parts[2])
    if function == "equal":
        return (parts[0] == parts[1]).astype(object)
    if function in NUMBERS:
        assert len(parts) > 1, "functions of numbers have several arguments"
        return NUMBERS[function]([part.astype(float) for part in parts])
    logic = {"and": np.logical_and, "or": np.logical_or}[function]
    return logic.reduce([part.astype(bool) for part in parts]).astype(object)
