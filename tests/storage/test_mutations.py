"""Files that were tampered with: an error that says what is wrong, or the model that the file says.

Documents have one form only, so a document that is read must come out of the model as it went in.
"""

import json
import random
import time

import numpy as np
import pytest

from labelrules import from_json, to_json
from labelrules.data import DataError, Dataset
from labelrules.rules import Theory
from learners.registry import Stumps
from storage.models import fitted

MODELS = ["registry 2", "registry 6", "covering", "frame", "chains", "stacked", "drawn", "powerset"]
MODELS += ["powerset of relevance", "classes 0", "options", "peak"]
MODELS += ["scorecard", "scorecard of classes"]
MODELS += ["associative", "constrained", "constrained frame", "all chains alike"]

WRONG = [
    None, True, False, 0, 1, -1, 2, 3.5, -0.0, 1e308, 10**18, 2**63, 2**64, 10**30, float("nan"),
    float("inf"), "", "1", "labels", "classes", "infinity", "Ripper", "__class__", "os.system",
    "\ud800", "x" * 10_000, [], [[]], {}, {"learner": "Ripper"}, {"number": "infinity"},
    {"measure": "f1"}, {"measure": "f9e99999"}, {"inference": {"way": "once"}}, [0, 1], ["a", "b"],
]  # fmt: skip
"""Values to be put in the place of others."""

LITERALS = ["1e999999", "-1e999999", "9" * 5000, "NaN", "-Infinity", "[" * 50_000, '{"a":' * 3000]
"""Texts to be put in the place of values."""


# ---------------------------------------------------------------- tampering


def places(value, path=()):
    """The ways to all parts of a document."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def random_bytes(document, chance):
    text = bytearray(json.dumps(document).encode())
    for _ in range(chance.choice([1, 1, 2, 5])):
        place = chance.randrange(len(text))
        kind = chance.randrange(4)
        if kind == 0:
            text[place] = chance.randrange(256)
        elif kind == 1:
            del text[place : place + chance.choice([1, 1, 10, 100])]
        elif kind == 2:
            text[place:place] = bytes(chance.choices(b'0123456789{}[]",:.eE-+truefalsn \\', k=2))
        else:
            other = chance.randrange(len(text))
            text[place:place] = text[other : other + chance.randrange(40)]
        if not text:
            return b""
    return bytes(text)


def other_value(document, chance):
    *way, last = chance.choice(list(places(document))[1:])
    whole = json.loads(json.dumps(document))
    values = [*WRONG, at(document, chance.choice(list(places(document))))]
    at(whole, way)[last] = chance.choice(values)
    return json.dumps(whole)


def other_literal(document, chance):
    *way, last = chance.choice(list(places(document))[1:])
    whole = json.loads(json.dumps(document))
    at(whole, way)[last] = "to be replaced"
    return json.dumps(whole).replace('"to be replaced"', chance.choice(LITERALS))


def without_part(document, chance):
    *way, last = chance.choice(list(places(document))[1:])
    whole = json.loads(json.dumps(document))
    del at(whole, way)[last]
    return json.dumps(whole)


def with_part(document, chance):
    whole = json.loads(json.dumps(document))
    part = at(whole, chance.choice(list(places(document))))
    if isinstance(part, list):
        part.insert(chance.randrange(len(part) + 1), chance.choice([*WRONG, *part]))
    elif isinstance(part, dict):
        name = chance.choice([*part, "notes", "theory", "base", "value"])
        part[f"{name}{chance.choice(['', '_'])}"] = chance.choice(WRONG)
    return json.dumps(whole)


def with_key_twice(document, chance):
    text = json.dumps(document)
    key = json.dumps(chance.choice(["stops", "head", "kind", "value", "learner", "labels"]))
    return text.replace(f"{key}:", f"{key}: 1, {key}:", 1)


def shuffled(document, chance):
    whole = json.loads(json.dumps(document))
    lists = [part for part in (at(whole, way) for way in places(document)) if _is_long(part)]
    chance.shuffle(chance.choice(lists))
    return json.dumps(whole)


def _is_long(part):
    return isinstance(part, list) and len(part) > 1


TAMPERING = [random_bytes, random_bytes, other_value, other_value, other_literal, without_part]
TAMPERING += [with_part, with_key_twice, shuffled]


# ---------------------------------------------------------------- judging


def is_same(a, b):
    """Whether two documents are equal; 1 is not true, but it is 1.0.

    Where there is but one kind of object, it need not be named.
    """
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, dict) and isinstance(b, dict):
        a = {"kind": b["kind"], **a} if "kind" in b else a
        return a.keys() == b.keys() and all(is_same(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(is_same, a, b))
    return a == b


def rows_for(schema, n_rows=5):
    rng = np.random.default_rng(0)
    columns = [
        rng.normal(size=n_rows) if f.is_numeric else rng.integers(-1, len(f.categories), n_rows)
        for f in schema.features
    ]
    X = np.column_stack(columns).astype(float) if columns else np.empty((n_rows, 0))
    for column, feature in enumerate(schema.features):
        if feature.is_nominal:
            X[X[:, column] < 0, column] = np.nan
    return Dataset(schema, X, np.zeros((n_rows, schema.n_labels), dtype=np.int8))


def judge(text):
    """Read a document; True if it is read, and then it says what the model is."""
    start = time.thread_time()  # of the processor: a busy machine takes longer by the clock
    try:
        model, message = from_json(text, learners=[Stumps]), ""
    except DataError as wrong:
        model, message = None, str(wrong)
    assert time.thread_time() - start < 2
    assert "\n" not in message
    assert len(message) < 1000
    if model is None:
        return False
    said = json.loads(text)
    if isinstance(said.get("model"), dict) and said["model"].get("why_without_rules") == {}:
        del said["model"]["why_without_rules"]  # no reasons are the same as none given
    assert is_same(said, json.loads(to_json(model)))
    if '"max_rounds": 10000' not in json.dumps(said) and not _is_long_sampling(said):
        rows = rows_for(model.schema if isinstance(model, Theory) else model.schema_)
        assert len(model.predict(rows)) == 5
        assert isinstance(model, Theory) or np.isfinite(model.predict_proba(rows)).all()
    return True


def _is_long_sampling(said):
    numbers = [at(said, way) for way in places(said) if way and way[-1] in ("n_samples", "burn_in")]
    return any(number > 1000 for number in numbers)


def run(n_files, seed):
    chance = random.Random(seed)
    documents = [json.loads(to_json(fitted(name)[0])) for name in MODELS]
    theory = json.loads(to_json(fitted("stacked")[0].theory_))
    read = 0
    for _ in range(n_files):
        document = chance.choice([*documents, theory])
        read += judge(chance.choice(TAMPERING)(document, chance))
    return read


def test_a_thousand_files_that_were_tampered_with():
    assert 20 < run(1000, seed=0) < 500


@pytest.mark.slow
def test_ten_thousand_files_that_were_tampered_with():
    assert 200 < run(10_000, seed=1) < 5000
