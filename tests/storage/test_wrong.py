"""Files that are wrong say where, and what."""

import gzip
import json
import tracemalloc

import pytest

from labelrules import from_json, load_model, save, to_json
from labelrules.data import DataError, FileError
from learners.registry import Stumps
from shell import called
from storage.documents import THEORY, changed, rule, scoring, usual, voting
from storage.models import fitted

ONCE = {"kind": "once", "parameters": {}}

BAD = {
    "no JSON": ("{", r"line 1, column 2: not valid JSON"),
    "nothing": ("", "line 1, column 1: not valid JSON"),
    "not UTF-8": (b'{"a": "\xff"}', r"not UTF-8 text \(invalid start byte at byte 7\)"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "a list": ("[]", r"\$: must be an object, not a list of 0"),
    "no format": ("{}", r'\$\.format: must be "labelrules"'),
    "other format": ('{"format": "x"}', r'\$\.format: must be "labelrules"'),
    "newer": (
        changed(version=2),
        r"\$\.version: the file is of version 2, .* up to 1: install a newer",
    ),
    "older than the first": (
        changed(version=0),
        r"\$\.version: 0 is not possible here; use one of 1",
    ),
    "version as text": (changed(version="1"), r"\$\.version: must be a whole number, not '1'"),
    "version as truth": (changed(version=True), r"\$\.version: must be a whole number, not true"),
    "more": (changed(notes=1), r"\$: there is no field 'notes'"),
    "typo": (changed(theroy=1), r"\$: there is no field 'theroy'; did you mean 'theory'\?"),
    "twice": ('{"format": 1, "format": 2}', r"\$: the key 'format' occurs twice"),
    "kind": (
        changed(theory={"kind": "tree"}),
        r"theory\.kind: 'tree' is not .* decision list, rule set, layers$",
    ),
    "label": (rule(head={"qality": 1}), r"rules\[0\]\.head\.qality: .*did you mean 'quality'\?"),
    "head": (rule(head={}), r"\$\.theory\.rules\[0\]\.head: must be an object that is not empty"),
    "head value": (rule(head={"日本": 2}), r"head\.日本: 2 is not possible here; use one of 0, 1"),
    "true as 1": (rule(head={"quality": True}), r"must be a whole number, not true"),
    "odd key": (rule(head={"it's": None}), r"""head\["it's"\]: must be a whole number, not null"""),
    "stops": (rule(stops=1), r"\$\.theory\.rules\[0\]\.stops: must be true or false, not 1"),
    "evidence": (rule(evidence={"日本": [1, 2]}), r"evidence: .*each label of the head"),
    "no evidence": (
        rule(evidence={"quality": None}),
        r"evidence: no label was counted: write null",
    ),
    "count": (
        rule(evidence={"quality": [1, -1]}),
        r"quality\[1\]: must be a whole number >= 0, not -1",
    ),
    "counts": (
        rule(evidence={"quality": [1]}),
        r"quality: must be a list of length 2, not a list of 1",
    ),
    "votes in a list": (
        rule(votes={"quality": 2}),
        r"\$\.theory\.rules\[0\]: there is no field 'votes'",
    ),
    "one vote each": (
        voting({"quality": 1}),
        r"votes: leave the field out if each label has one vote",
    ),
    "votes of another label": (voting({"日本": 2}), r"votes: .*each label of the head, and for no"),
    "votes of no label": (voting({"qality": 2}), r"votes\.qality: .*did you mean 'quality'\?"),
    "no votes": (voting(None), r"votes: must be an object, not null"),
    "no vote": (voting({"quality": 0}), r"votes\.quality: must be a whole number >= 1, not 0"),
    "votes against": (voting({"quality": -2}), r"votes\.quality: must be a whole number >= 1"),
    "too many votes": (
        voting({"quality": 10001}),
        r"votes\.quality: must be a whole number <= 10000",
    ),
    "half a vote": (voting({"quality": 1.5}), r"votes\.quality: must be a whole number"),
    "label sets of a list": (
        changed(theory={"kind": "decision list", "rules": [], "label_sets": []}),
        r"\$\.theory: there is no field 'label_sets'; use one of kind, rules",
    ),
    "no label sets": (scoring(label_sets=[]), r"label_sets: must be a list that is not empty"),
    "label sets as null": (
        scoring(label_sets=None),
        r"theory\.label_sets: must be a list, not null",
    ),
    "a label set alone": (
        scoring(label_sets=[["quality"]]),
        r"label_sets\[0\]: must be an object, not a list of 1",
    ),
    "a label set without a bonus": (
        scoring(label_sets=[{"labels": []}]),
        r'theory\.label_sets\[0\]: "bonus" is missing',
    ),
    "bonus": (usual(bonus=1.5), r"label_sets\[0\]\.bonus: must be a whole number"),
    "too large a bonus": (usual(bonus=10001), r"bonus: must be a whole number <= 10000, not 10001"),
    "too small a bonus": (usual(bonus=-10001), r"bonus: must be a whole number >= -10000"),
    "a label of no set": (
        usual("quality", "qality"),
        r"\$\.theory\.label_sets\[0\]\.labels\[1\]: .*'qality'; did you mean 'quality'\?",
    ),
    "a label twice in a set": (
        usual("quality", "quality"),
        r"label_sets\[0\]\.labels: each label must be there once, and in the order of the schema",
    ),
    "labels in another order": (
        usual("日本", "quality"),
        r"label_sets\[0\]\.labels: each label .* in the order of the schema",
    ),
    "a label set twice": (
        scoring(label_sets=[{"labels": ["quality"], "bonus": n} for n in (1, 2)]),
        r"\$\.theory\.label_sets\[1\]\.labels: this label set is there twice",
    ),
    "not at least one": (
        scoring(at_least_one=False),
        r"\$\.theory\.at_least_one: leave the field out unless it is true",
    ),
    "at least two": (scoring(at_least_one=2), r"at_least_one: must be true or false, not 2"),
    "column": (
        rule(body=[{"column": "xy", "operator": ">", "value": 1}]),
        r"body\[0\]\.column: there is no feature or label 'xy'; did you mean 'x y'\?",
    ),
    "operator": (
        rule(body=[{"column": "x y", "operator": ">=", "value": 1}]),
        r"body\[0\]\.operator: '>=' is not possible here; ",
    ),
    "kind of operator": (
        rule(body=[{"column": "x y", "operator": "=", "value": 1}]),
        r"body\[0\]: numbers are compared by <= and >",
    ),
    "category": (
        rule(body=[{"column": "größe", "operator": "=", "value": "b"}]),
        r"value: there is no category 'b'",
    ),
    "threshold": (
        rule(body=[{"column": "x y", "operator": ">", "value": "1"}]),
        r"value: must be a number, not '1'",
    ),
    "twice the same": (
        rule(body=[{"column": "日本", "operator": "=", "value": 1}] * 2),
        "a condition is there twice",
    ),
    "NaN": (rule(stops=float("nan")), r"stops: must be true or false, not NaN"),
    "layers": (
        changed(
            theory={
                "kind": "layers",
                "layers": [],
                "inference": {"kind": "once", "parameters": {}},
                "fallback": None,
            }
        ),
        r"\$\.theory\.layers: must be a list that is not empty",
    ),
    "rounds": (
        changed(
            theory={
                "kind": "layers",
                "layers": [{"kind": "decision list", "rules": []}],
                "inference": {"kind": "until stable", "parameters": {"max_rounds": 10**9}},
                "fallback": None,
            }
        ),
        r"\$\.theory\.inference\.parameters\.max_rounds: must be at most 1000000",
    ),
    "stopping rule set": (
        changed(
            theory={"kind": "rule set", "rules": json.loads(to_json(THEORY))["theory"]["rules"]}
        ),
        r"\$\.theory: rule 2 has a stop mark",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_documents(case):
    text, message = BAD[case]
    with pytest.raises(DataError, match=message) as caught:
        from_json(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("1e999999", "not 1e999999, which is too large"),
        ("1" * 5000, r"not 1{20}\.\.\. of 5000 digits"),
        ("9007199254740993", "no floating-point number is 9007199254740993"),
        ("Infinity", "must be .* a number .*, not Infinity"),
        ('"\\ud800"', "half a character"),
    ],
)
def test_wrong_numbers(number, message):
    wrong = rule(body=[{"column": "x y", "operator": ">", "value": 12345}])
    if number.startswith('"'):
        wrong = rule(body=[{"column": "größe", "operator": "=", "value": 12345}])
    with pytest.raises(DataError, match=rf"\$\.theory\.rules\[0\]\.body\[0\]\.value: .*{message}"):
        from_json(wrong.replace("12345", number))


def test_a_wrong_file_is_named(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(rule(stops=0), encoding="utf-8")
    with pytest.raises(FileError, match=r"model\.json: \$\.theory\.rules\[0\]\.stops: must be"):
        load_model(path)
    with pytest.raises(FileError, match="there is no such file"):
        load_model(tmp_path / "nothing.json")
    with pytest.raises(FileError, match="cannot write: this is a folder"):
        save(THEORY, tmp_path)


def test_a_small_file_that_is_long_inside_is_refused_early(tmp_path):
    path = tmp_path / "model.json.gz"
    path.write_bytes(gzip.compress(b" " * 2**20) * 300)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"gz: the document has more than 67,108,864 char"):
            load_model(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 * 2**20
    done = called("show", str(path))
    assert (done.code, "json.gz: the document has more than" in done.err) == (1, True)


def test_what_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("labelrules.data.document.LARGEST_TEXT", 200)
    with pytest.raises(DataError, match="the document has more than 200 characters"):
        save(THEORY, tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("wrong", [None, 3, [], ["format"], object()])
def test_what_is_no_document_is_said(wrong):
    with pytest.raises(TypeError, match="from_json reads text or a mapping, not "):
        from_json(wrong)


def model_changed(name, change):
    document = json.loads(to_json(fitted(name)[0]))
    change(document["model"])
    return json.dumps(document)


CONTRADICTORY = [
    {"head": {"quality": value}, "body": [], "stops": False, "evidence": None} for value in (0, 1)
]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        (
            "frame",
            lambda m: m.update(learner="Riper"),
            r"\$\.model\.learner: there is no learner 'Riper'; did you mean 'Ripper'\?",
        ),
        ("frame", lambda m: m.update(learner="os.system"), "there is no learner 'os.system'"),
        ("frame", lambda m: m["parameters"].pop("n_jobs"), r'parameters: "n_jobs" is missing'),
        ("frame", lambda m: m["parameters"].update(n_job=1), "did you mean 'n_jobs'"),
        ("frame", lambda m: m["parameters"].update(n_jobs="many"), "n_jobs must be a number"),
        ("frame", lambda m: m["parameters"].update(base=3), "base must be a classifier"),
        ("frame", lambda m: m["parameters"].update(last_resort=7), "last_resort must be a number"),
        (
            "frame",
            lambda m: m["state"].update(theory=None),
            r"\$\.model\.state\.theory: must be an object",
        ),
        (
            "frame",
            lambda m: m["state"]["background"]["ones"].pop(),
            "a number for each of 3 labels",
        ),
        (
            "frame",
            lambda m: m["state"]["background"]["share"].__setitem__(0, 1),
            r"state\.background\.share\[0\]: must be a number < 1.0, not 1",
        ),
        ("frame", lambda m: m["target"].update(type="object"), "type: 'object' does not match"),
        ("frame", lambda m: m["target"].update(type="int128"), "type: 'int128' does not match"),
        ("frame", lambda m: m["target"].update(values=[1, 0]), "a label is absent"),
        (
            "frame",
            lambda m: m.update(columns="lettered"),
            "'lettered' is not possible here; use one of named, numbered, unseen",
        ),
        ("classes 0", lambda m: m["target"]["values"].reverse(), "classes must rise"),
        (
            "classes 0",
            lambda m: m["target"].update(type="text2"),
            "does not fit into the type text2",
        ),
        ("classes 0", lambda m: m["target"].update(type="text999999", values=["a"] * 300), "array"),
        ("two 0", lambda m: m["target"].update(kind="labels"), None),
        (
            "covering",
            lambda m: m["state"].update(n_learned=99),
            "n_learned: there are .* rules only",
        ),
        ("covering", lambda m: m["parameters"].update(heads="x"), "heads must be"),
        (
            "covering",
            lambda m: m["parameters"].update(required="x"),
            "required must be a list",
        ),
        ("chains", lambda m: m["state"]["orders"].pop(), "an order and a theory"),
        ("chains", lambda m: m["state"]["orders"][0].pop(), "must name each label once"),
        ("powerset", lambda m: m["state"]["sets"].reverse(), "in rising order"),
        (
            "powerset",
            lambda m: m["state"].update(base=None),
            "several label sets, and only these, need a classifier",
        ),
        ("stacked", lambda m: m["parameters"].update(n_layers=1), "n_layers must be a whole"),
        (
            "stacked",
            lambda m: m["parameters"].update(alpha=0),
            "alpha must be a number",
        ),
        (
            "chains",
            lambda m: m["state"].update(threshold=None),
            "several have theories and a threshold",
        ),
        ("chains", lambda m: m["parameters"].update(threshold=2), "threshold must be"),
        ("chains", lambda m: m["parameters"].update(bootstrap=1), "bootstrap must be"),
        ("scorecard", lambda m: m["parameters"].update(n_cuts=0), "n_cuts must be"),
        (
            "scorecard",
            lambda m: m["state"].update(literal_cost=-1),
            "literal_cost: must be a number >= 0.0, not -1",
        ),
        (
            "scorecard",
            lambda m: m["state"]["theory"].update(kind="decision list"),
            "kind: 'decision list' is not",
        ),
        (
            "scorecard",
            lambda m: m["state"].update(theory={"kind": "layers", "rules": []}),
            "kind: 'layers' is not possible here; use one of rule set",
        ),
        (
            "scorecard",
            lambda m: m["state"].update(background={"ones": [], "zeros": [], "share": []}),
            "state: there is no field 'background'; use one of theory, shift, literal_cost",
        ),
        (
            "associative",
            lambda m: m["parameters"].update(bins="wide"),
            "bins must be 'width'",
        ),
        ("associative", lambda m: m["parameters"].update(min_support=0), "min_support must be"),
        ("associative", lambda m: m["state"].update(n_mined=-1), "must be a whole number >= 0"),
        ("constrained", lambda m: m["parameters"].update(by="luck"), "by must be 'auto', "),
        (
            "constrained",
            lambda m: m["parameters"].update(max_conditions=0),
            "must be a whole number",
        ),
        ("constrained", lambda m: m["parameters"].update(tolerance=2), "tolerance"),
        ("constrained", lambda m: m["parameters"].update(constraints=[3]), "must be text"),
        (
            "constrained",
            lambda m: m["state"]["found"]["found"][0].update(turned=[1, 2, 3]),
            "only an exclusion has turned, a number for each label of the body",
        ),
        (
            "constrained",
            lambda m: m["state"]["constraints"]["rules"].append(
                m["state"]["constraints"]["rules"][0]
            ),
            "a rule for one label, once",
        ),
        (
            "constrained",
            lambda m: m["state"]["constraints"].update(rules=CONTRADICTORY),
            "no label set satisfies these constraints",
        ),
        (
            "constrained",
            lambda m: m["state"]["base"]["schema"]["labels"].reverse(),
            "its features and labels must be those of the whole",
        ),
        ("constrained", lambda m: m["state"].update(found=3), "found: must be an object"),
    ],
)
def test_wrong_models(name, change, message):
    text = model_changed(name, change)
    if message is None:  # two truth values are labels as well as classes
        assert from_json(text).predict(fitted(name)[1]).shape == (50, 1)
        return
    with pytest.raises(DataError, match=message) as caught:
        from_json(text, learners=[Stumps])
    assert str(caught.value).startswith("$.model")
    assert "\n" not in str(caught.value)


def test_learners_that_stand_in_one_another_without_end():
    """They are refused before the memory or the stack is full, fitted or not."""
    document = json.loads(to_json(fitted("powerset")[0]))
    unfitted = None
    for _ in range(300):
        unfitted = {"kind": "LabelPowerset", "parameters": {"base": unfitted}}
    document["model"]["parameters"]["base"] = unfitted
    with pytest.raises(DataError, match=r"base(\.parameters\.base){8}\.kind: learners are nested"):
        from_json(document)
    model = json.loads(to_json(fitted("powerset")[0]))["model"]
    for _ in range(150):
        model = {**model, "state": {**model["state"], "base": model}}
    with pytest.raises(DataError, match=r"\$\.model(\.state\.base){8}.*: learners are nested"):
        from_json({**document, "model": model})


def test_a_hierarchy_of_many_labels_is_read_at_once():
    """The way to the root was walked anew for each label, for hours if it is long."""
    labels = [f"l{number}" for number in range(20_000)]
    schema = {"features": [], "labels": labels, "parents": [None, *labels[:-1]]}
    theory = from_json(changed(schema=schema, theory={"kind": "rule set", "rules": []}))
    assert theory.schema.parents[-1] == "l19998"
