"""Theories and models in files: they come back as they were, or the file says what is wrong."""

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import theories
from labelrules import (
    DecisionList,
    Feature,
    LayeredTheory,
    Measure,
    RuleSet,
    Schema,
    from_json,
    learners,
    load,
    parse,
    restore,
    save,
    to_json,
)
from labelrules.data import DataError, FileError
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    LazyAssociativeClassifier,
    Ripper,
    SeparateAndConquer,
    json_schema,
    kept,
)
from labelrules.learners.table import TableClassifier
from labelrules.measures import forget, formula
from labelrules.rules import Gibbs, LabelByLabel, Once, UntilStable
from learners.kept_models import CASES, KEPT_OF_REGISTRY, NOT_KEPT, REGISTRY, fitted, refusal
from learners.registry import ONE_LABEL_LEARNERS, Stumps
from shell import called

OLD_FILES = Path(__file__).parents[1] / "golden" / "kept"
SCHEMA = Schema(
    [Feature("x y"), Feature("größe", ("", 'a"b', "\x00\n")), Feature("select")],
    ["quality", "日本", "it's"],
    [None, "quality", None],
)
THEORY = parse('quality <- "x y" > 2\nnot quality, "it\'s", * <- true', SCHEMA)


# ---------------------------------------------------------------- what comes back


@pytest.mark.parametrize("name", CASES)
def test_models_come_back_with_the_same_answers_to_the_last_bit(name):
    model, X = fitted(name)
    text = to_json(model)
    again = from_json(text, learners=[Stumps])
    assert type(again) is type(model)
    for method in ("predict", "predict_proba"):
        before, after = getattr(model, method)(X), getattr(again, method)(X)
        assert before.dtype == after.dtype
        assert before.tobytes() == after.tobytes()
    assert vars(again).keys() == vars(model).keys()
    assert to_json(again) == text


def test_every_learner_is_kept_or_refused():
    """A learner that is new must come into the registry, and with it into the tests here."""
    tried = [learner for learner, _ in CASES.values()]
    for learner in [*KEPT_OF_REGISTRY, *ONE_LABEL_LEARNERS]:
        assert any(learner is one for one in tried), learner
    assert len(KEPT_OF_REGISTRY) + len(ONE_LABEL_LEARNERS) + len(NOT_KEPT) == len(REGISTRY)
    ours = [getattr(learners, name) for name in learners.__all__]
    classes = {one for one in ours if isinstance(one, type) and issubclass(one, TableClassifier)}
    concrete = {one for one in classes if not one.__abstractmethods__}
    assert concrete <= {type(learner) for learner in REGISTRY.values()}


@pytest.mark.parametrize("number", range(len(NOT_KEPT)))
def test_other_learners_of_the_registry_are_refused(number):
    model = clone(NOT_KEPT[number]).fit(load("magazines"))
    with pytest.raises(DataError, match=refusal(model)):
        to_json(model)


def test_the_cases_are_what_they_are_for():
    assert fitted("one layer")[0].n_layers_ == 1
    assert any(rule.votes for rule in fitted("voted")[0].theory_)
    assert len(fitted("voted, one rule")[0].theory_) == 1
    for name in ("constrained", "constrained frame"):
        model, X = fitted(name)
        assert len(model.repairs(X).rows), name
    found = fitted("constrained, alike")[0].found_
    assert found.equivalences
    assert found.hierarchy


@pytest.mark.parametrize("name", ["constrained", "constrained, alike"])
def test_what_a_constrained_classifier_has_found_comes_back(name):
    model, X = fitted(name)
    again = from_json(to_json(model), learners=[Stumps])
    assert str(again.found_) == str(model.found_)
    assert again.found_.as_dict() == model.found_.as_dict()
    assert again.found_.hierarchy == model.found_.hierarchy
    assert again.found_.schema == model.found_.schema
    assert again.constraints_.schema == model.constraints_.schema
    assert str(again.repairs(X)) == str(model.repairs(X))
    assert again.left_out_ == model.left_out_


@pytest.mark.parametrize("name", ["frame", "chains", "own label", "registry 1"])
def test_what_comes_back_can_go_on(name):
    """Evidence can be counted anew, rules traced, and learning repeated."""
    model, X = fitted(name)
    again = from_json(to_json(model), learners=[Stumps])
    if hasattr(model, "theory_"):
        assert again.theory_ == model.theory_
        assert (again.decision_path(X) != model.decision_path(X)).nnz == 0
    data = load("magazines")
    assert (again.fit(data).predict(data) == again.predict(data)).all()


@settings(max_examples=30)
@given(theories.theories(SCHEMA))
def test_theories_come_back(theory):
    again = from_json(to_json(theory))
    assert again == theory
    assert [rule.evidence for rule in again] == [rule.evidence for rule in theory]
    assert [rule.ballot for rule in again] == [rule.ballot for rule in theory]
    assert [rule.body.conditions for rule in again] == [rule.body.conditions for rule in theory]


@pytest.mark.parametrize(
    "way", [Once(), UntilStable(3), LabelByLabel(2), LabelByLabel(2, (2, 0, 1)), Gibbs(5, 1, 2**40)]
)
@pytest.mark.parametrize("fallback", [None, DecisionList(SCHEMA, [THEORY[0]])])
def test_layered_theories_come_back(way, fallback):
    layers = [RuleSet(SCHEMA, [THEORY[0]]), THEORY]
    theory = LayeredTheory(SCHEMA, layers, way, fallback)
    assert from_json(to_json(theory)) == theory


@pytest.mark.parametrize("name", ["model.json", "model.json.gz"])
def test_files(tmp_path, name):
    path = tmp_path / name
    save(THEORY, path)
    assert restore(path) == THEORY == restore(str(path))
    assert [file.name for file in tmp_path.iterdir()] == [name]
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == name.endswith("gz")


def test_documents_are_read_as_plain_values_too():
    assert from_json(json.loads(to_json(THEORY))) == THEORY
    assert from_json(to_json(THEORY).encode()) == THEORY
    assert from_json("\ufeff" + to_json(THEORY)) == THEORY


def test_a_formula_of_ones_own_is_kept_by_name():
    @formula("my-own")
    def my_own(tp, fp, tn, fn):
        return tp - fp + 0.0

    measure = Measure.parse("my-own/label/partial")
    model = SeparateAndConquer().fit(load("magazines"))  # learning with it would be compiled first
    text = to_json(model.set_params(measure=measure))
    named = to_json(model.set_params(measure="my-own/label"))
    assert from_json(text).measure == measure
    forget("my-own")
    for document in (text, named):
        with pytest.raises(
            DataError, match=r"\$\.model\.parameters.*no formula 'my-own'.*register"
        ):
            from_json(document)


# ---------------------------------------------------------------- what is not kept


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (lambda d: Ripper(), "this Ripper is not fitted"),
        (lambda d: BinaryRelevance(LogisticRegression()).fit(d), "its base LogisticRegression"),
        (lambda d: ClassifierChain(LogisticRegression()).fit(d), "pickle the model"),
        (
            lambda d: SeparateAndConquer(lift=lambda size: 1.0, heads="multi").fit(d),
            r"the parameter lift of SeparateAndConquer is a function.*set_params\(lift=",
        ),
        (
            lambda d: BinaryRelevance(Stumps(), progress=print).fit(d),
            "the parameter progress of BinaryRelevance is a function",
        ),
        (
            lambda d: SeparateAndConquer(random_state=np.random.RandomState(0)).fit(d),
            "random_state of SeparateAndConquer is a RandomState",
        ),
        (lambda d: type("Ripper", (Stumps,), {})().fit(d), "the name of another one, Ripper"),
        (lambda d: _with_more(Stumps().fit(d)), "has more than a file holds: more_"),
        (lambda d: BinaryRelevance(BinaryRelevance(Stumps())).fit(d), "it has no theory"),
        (
            lambda d: ConstrainedClassifier(LazyAssociativeClassifier()).fit(d),
            "a LazyAssociativeClassifier is not kept, because it makes its rules from the training",
        ),
        (
            lambda d: ConstrainedClassifier(FrozenEstimator(Stumps().fit(d))).fit(d),
            "its base was fitted elsewhere",
        ),
        (
            lambda d: ConstrainedClassifier(
                BinaryRelevance(Stumps()), constraints=[parse("quality <- sports", d.schema)]
            ).fit(d),
            r"constraints of ConstrainedClassifier is a DecisionList, .* text only: .*'a <- b'\)",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_be_kept_is_refused_before_anything_is_written(
    tmp_path, model, message, capsys
):
    made = model(load("magazines"))
    with pytest.raises(DataError, match=message):
        save(made, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def _with_more(model):
    model.more_ = 1
    return model


def test_other_things_are_no_models():
    with pytest.raises(TypeError, match="a theory or a fitted learner, not 3"):
        to_json(3)
    with pytest.raises(TypeError, match="must be classes of learners"):
        from_json(to_json(THEORY), learners=["Stumps"])


def test_a_name_with_half_a_character_is_refused():
    theory = DecisionList(Schema([Feature("\ud800")], ["a"]))
    with pytest.raises(DataError, match=r"features\[0\].name: the text has half a character"):
        to_json(theory)


def test_a_learner_of_ones_own_must_be_given():
    model, _ = fitted("registry 0")
    with pytest.raises(DataError, match=r"\$\.model\.learner: 'Stumps' is no.*learners=\[Stumps\]"):
        from_json(to_json(model))


class Choosy(SeparateAndConquer):
    """A learner of somebody else, with a parameter of its own and without the others."""

    def __init__(self, taste="none"):
        super().__init__()
        self.taste = taste


def test_a_learner_made_of_ours_is_kept_with_its_own_parameters():
    model = Choosy(taste="good").fit(load("magazines"))
    again = from_json(to_json(model), learners=[Choosy])
    assert again.taste == "good"
    assert again.theory_ == model.theory_


# ---------------------------------------------------------------- wrong documents


def changed(theory=THEORY, /, **fields):
    return json.dumps({**json.loads(to_json(theory)), **fields})


def rule(kind="decision list", /, **fields):
    usual = {"head": {"quality": 1}, "body": [], "stops": False, "evidence": None}
    return changed(theory={"kind": kind, "rules": [{**usual, **fields}]})


def voting(votes):
    return rule("rule set", votes=votes)


BAD = {
    "no JSON": ("{", r"line 1, column 2: not valid JSON"),
    "nothing": ("", "line 1, column 1: not valid JSON"),
    "not UTF-8": (b'{"a": "\xff"}', r"not UTF-8 text \(invalid start byte at byte 7\)"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "a list": ("[]", r"\$: must be an object, not a list of 0"),
    "no format": ("{}", r'\$: "format" is not there'),
    "other format": ('{"format": "x"}', r'\$\.format: must be "labelrules"'),
    "newer": (changed(version=2), r"\$\.version: the file is of version 2; .* up to 1"),
    "older than the first": (changed(version=0), r"\$\.version: must be from 1"),
    "version as text": (changed(version="1"), r"\$\.version: must be a whole number, not '1'"),
    "version as truth": (changed(version=True), r"\$\.version: must be a whole number, not true"),
    "more": (changed(notes=1), r"\$: there is no field 'notes'"),
    "typo": (changed(theroy=1), r"\$: there is no field 'theroy'; did you mean 'theory'\?"),
    "twice": ('{"format": 1, "format": 2}', r"\$: 'format' is there twice"),
    "kind": (changed(theory={"kind": "tree"}), r"\$\.theory\.kind: there is no kind .* 'tree'"),
    "label": (rule(head={"qality": 1}), r"rules\[0\]\.head\.qality: .*did you mean 'quality'\?"),
    "head": (rule(head={}), r"\$\.theory\.rules\[0\]\.head: a head names at least one label"),
    "head value": (rule(head={"日本": 2}), r"head\.日本: must be from 0 to 1, not 2"),
    "true as 1": (rule(head={"quality": True}), r"must be a whole number, not true"),
    "odd key": (rule(head={"it's": None}), r"""head\["it's"\]: must be a whole number, not null"""),
    "stops": (rule(stops=1), r"\$\.theory\.rules\[0\]\.stops: must be true or false, not 1"),
    "evidence": (rule(evidence={"日本": [1, 2]}), r"evidence: .*each label of the head"),
    "count": (rule(evidence={"quality": [1, -1]}), r"quality\[1\]: must be from 0 to"),
    "counts": (rule(evidence={"quality": [1]}), r"quality: must be how often right"),
    "votes in a list": (
        rule(votes={"quality": 2}),
        r"\$\.theory: rule 1 casts several votes, .* use a RuleSet",
    ),
    "one vote each": (voting({"quality": 1}), r"votes: one vote for each label goes without"),
    "votes of another label": (voting({"日本": 2}), r"votes: .*each label of the head, and for no"),
    "votes of no label": (voting({"qality": 2}), r"votes\.qality: .*did you mean 'quality'\?"),
    "no votes": (voting(None), r"votes: must be an object, not null"),
    "no vote": (voting({"quality": 0}), r"votes\.quality: must be from 1 to 10000, not 0"),
    "votes against": (voting({"quality": -2}), r"votes\.quality: must be from 1 to 10000"),
    "too many votes": (voting({"quality": 10001}), r"votes\.quality: must be from 1 to 10000"),
    "half a vote": (voting({"quality": 1.5}), r"votes\.quality: must be a whole number"),
    "column": (
        rule(body=[{"feature": "xy", "operator": ">", "value": 1}]),
        r"body\[0\]\.feature: there is no feature 'xy'; did you mean 'x y'\?",
    ),
    "operator": (
        rule(body=[{"feature": "x y", "operator": ">=", "value": 1}]),
        r"body\[0\]\.operator: there is no operator '>='",
    ),
    "kind of operator": (
        rule(body=[{"feature": "x y", "operator": "=", "value": 1}]),
        r"body\[0\]: numbers are compared by <= and >",
    ),
    "category": (
        rule(body=[{"feature": "größe", "operator": "=", "value": "b"}]),
        r"value: there is no category 'b'",
    ),
    "threshold": (
        rule(body=[{"feature": "x y", "operator": ">", "value": "1"}]),
        r"value: must be a number, not '1'",
    ),
    "twice the same": (
        rule(body=[{"label": "日本", "value": 1}] * 2),
        "a condition is there twice",
    ),
    "NaN": (rule(stops=float("nan")), r"stops: must be true or false, not NaN"),
    "layers": (
        changed(
            theory={"kind": "layers", "layers": [], "inference": {"way": "once"}, "fallback": None}
        ),
        r"\$\.theory: a layered theory needs at least one layer",
    ),
    "rounds": (
        changed(
            theory={
                "kind": "layers",
                "layers": [],
                "inference": {"way": "until stable", "max_rounds": 10**9},
                "fallback": None,
            }
        ),
        r"\$\.theory\.inference\.max_rounds: must be from 1 to 1000000, not 1000000000",
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
        ("1e999999", "the number is too large"),
        ("1" * 5000, r"not 1{20}\.\.\. of 5000 digits"),
        ("9007199254740993", "no floating-point number is 9007199254740993"),
        ("Infinity", "must be a number, not Infinity"),
        ('"\\ud800"', "half a character"),
    ],
)
def test_wrong_numbers(number, message):
    wrong = rule(body=[{"feature": "x y", "operator": ">", "value": 12345}])
    if number.startswith('"'):
        wrong = rule(body=[{"feature": "größe", "operator": "=", "value": 12345}])
    with pytest.raises(DataError, match=rf"\$\.theory\.rules\[0\]\.body\[0\]\.value: .*{message}"):
        from_json(wrong.replace("12345", number))


def test_a_wrong_file_is_named(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(rule(stops=0), encoding="utf-8")
    with pytest.raises(FileError, match=r"model\.json: \$\.theory\.rules\[0\]\.stops: must be"):
        restore(path)
    with pytest.raises(FileError, match="there is no such file"):
        restore(tmp_path / "nothing.json")
    with pytest.raises(FileError, match="cannot write: this is a folder"):
        save(THEORY, tmp_path)


def test_a_small_file_that_is_long_inside_is_refused_early(tmp_path):
    path = tmp_path / "model.json.gz"
    path.write_bytes(gzip.compress(b" " * 2**20) * 300)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"gz: the document has more than 67,108,864 char"):
            restore(path)
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
    with pytest.raises(TypeError, match="what is read must be text or a mapping, not "):
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
            r"\$\.model\.learner: 'Riper' is no learner",
        ),
        ("frame", lambda m: m.update(learner="os.system"), "there is no learner 'os.system'"),
        ("frame", lambda m: m["parameters"].pop("n_jobs"), r'parameters: "n_jobs" is not there'),
        ("frame", lambda m: m["parameters"].update(n_job=1), "did you mean 'n_jobs'"),
        ("frame", lambda m: m["parameters"].update(n_jobs="many"), "n_jobs must be a number"),
        ("frame", lambda m: m["parameters"].update(base=3), "base must be a learner, or null"),
        ("frame", lambda m: m["parameters"].update(last_resort=7), "last_resort must be a number"),
        ("frame", lambda m: m.update(theory=None), r"\$\.model\.theory: must be an object"),
        ("frame", lambda m: m["background"]["ones"].pop(), "a number for each of 3 labels"),
        ("frame", lambda m: m["background"]["share"].__setitem__(0, 1), "share: a share must be"),
        ("frame", lambda m: m["target"].update(type="object"), "no type of classes 'object'"),
        ("frame", lambda m: m["target"].update(type="int128"), "no type of classes 'int128'"),
        ("frame", lambda m: m["target"].update(values=[1, 0]), "a label is absent"),
        ("frame", lambda m: m.update(columns="lettered"), "no kind of columns 'lettered'"),
        ("classes 0", lambda m: m["target"]["values"].reverse(), "classes must rise"),
        ("classes 0", lambda m: m["target"].update(type="text2"), "longer than 2"),
        ("classes 0", lambda m: m["target"].update(type="text999999", values=["a"] * 300), "array"),
        ("two 0", lambda m: m["target"].update(kind="labels"), None),
        ("covering", lambda m: m["further"].update(n_learned=99), "must be from 0 to"),
        ("covering", lambda m: m["parameters"].update(heads="x"), "heads must be"),
        (
            "covering",
            lambda m: m["parameters"].update(required="x"),
            "required must be a list",
        ),
        ("chains", lambda m: m["further"]["orders"].pop(), "an order and a theory"),
        ("chains", lambda m: m["further"]["orders"][0].pop(), "must name each label once"),
        ("powerset", lambda m: m["further"]["sets"].reverse(), "in rising order"),
        ("powerset", lambda m: m["further"].update(base=None), "a classifier is needed"),
        ("stacked", lambda m: m["parameters"].update(n_layers=1), "n_layers must be a whole"),
        ("stacked", lambda m: m["parameters"].update(alpha=0), "alpha must be between"),
        ("chains", lambda m: m["further"].update(threshold=None), "several are not and have a"),
        ("chains", lambda m: m["parameters"].update(threshold=2), "threshold must be"),
        ("chains", lambda m: m["parameters"].update(bootstrap=1), "bootstrap must be"),
        ("voted", lambda m: m["parameters"].update(n_lists=0), "n_lists must be"),
        ("voted", lambda m: m["further"].update(miss_cost=0), "miss_cost: must be above 0"),
        ("voted", lambda m: m["theory"].update(kind="decision list"), "casts several votes"),
        (
            "voted",
            lambda m: m.update(theory={"kind": "decision list", "rules": []}),
            "a VotedRules has another kind of theory",
        ),
        (
            "voted",
            lambda m: m.update(background={"ones": [], "zeros": [], "share": []}),
            "background: a VotedRules has no such counts",
        ),
        ("associative", lambda m: m["parameters"].update(bins="wide"), "bins must be one of"),
        ("associative", lambda m: m["parameters"].update(min_support=0), "min_support must be"),
        ("associative", lambda m: m["further"].update(n_mined=-1), "must be from 0"),
        ("constrained", lambda m: m["parameters"].update(by="luck"), "by must be one of"),
        ("constrained", lambda m: m["parameters"].update(max_body=0), "max_body must be"),
        ("constrained", lambda m: m["parameters"].update(tolerance=2), "tolerance"),
        ("constrained", lambda m: m["parameters"].update(constraints=[3]), "must be text"),
        (
            "constrained",
            lambda m: m["further"]["constraints"]["rules"].append(
                m["further"]["constraints"]["rules"][0]
            ),
            "a rule for one label, once",
        ),
        (
            "constrained",
            lambda m: m["further"]["constraints"].update(rules=CONTRADICTORY),
            "no label set satisfies these constraints",
        ),
        (
            "constrained",
            lambda m: m["further"]["base"]["schema"]["labels"].reverse(),
            "its features and labels must be those of the whole",
        ),
        ("constrained", lambda m: m["further"].update(found=3), "found: must be an object"),
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


def test_a_hierarchy_of_many_labels_is_read_at_once():
    """The way to the root was walked anew for each label, for hours if it is long."""
    labels = [f"l{number}" for number in range(20_000)]
    schema = {"features": [], "labels": labels, "parents": [None, *labels[:-1]]}
    theory = from_json(changed(schema=schema, theory={"kind": "rule set", "rules": []}))
    assert theory.schema.parents[-1] == "l19998"


# ---------------------------------------------------------------- files that are whole


KILLED = """
import io, os, signal, sys
import labelrules.data.writing
from labelrules import load, parse, save

class Dying(io.TextIOWrapper):
    def write(self, text):
        super().write(text[: len(text) // 2])
        self.flush()
        die()

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

labelrules.save  # what it needs is imported once, before the processes part
moments = {
    "write": (labelrules.data.writing, "TextIOWrapper", Dying),
    "fsync": (os, "fsync", die),
    "replace": (os, "replace", die),
}
theory = parse("\\n".join(["not fashion <- sex = Male"] * 50), load("magazines").schema)
for name, place in moments.items():
    child = os.fork()
    if child == 0:
        setattr(*place)
        save(theory, os.path.join(sys.argv[1], f"{name}.json"))
        os._exit(0)
    print(name, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals of POSIX")
def test_a_killed_write_leaves_the_old_file(tmp_path):
    """A process each that dies half-way, before all is on the disk, and before it has its name."""
    moments = ["write", "fsync", "replace"]
    for moment in moments:
        save(THEORY, tmp_path / f"{moment}.json")
    before = (tmp_path / "write.json").read_bytes()
    command = [sys.executable, "-W", "ignore", "-c", KILLED, str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["write", "-9", "fsync", "-9", "replace", "-9"]
    for moment in moments:
        assert (tmp_path / f"{moment}.json").read_bytes() == before
        assert restore(tmp_path / f"{moment}.json") == THEORY


# ---------------------------------------------------------------- versions


def test_there_is_a_step_from_every_older_version_and_a_file_of_each():
    assert sorted(kept.STEPS) == list(range(1, kept.VERSION))
    for version in range(1, kept.VERSION + 1):
        assert list(OLD_FILES.glob(f"version-{version}-*.json")), version
        assert json_schema(version)["properties"]["version"] == {"const": version}


@pytest.mark.parametrize("path", sorted(OLD_FILES.glob("version-*.json")), ids=lambda p: p.stem)
def test_files_of_every_version_are_read(path):
    """What they predict for the magazine readers is kept beside them, one row to a line."""
    expected = np.loadtxt(path.with_suffix(".txt"), dtype=np.int8)
    assert (restore(path).predict(load("magazines")) == expected).all()


def test_older_documents_go_through_every_step(monkeypatch):
    """As if the present version were the third: rules were once a bare list, then without name."""

    def from_first(document):
        return {**document, "theory": {"rules": document["theory"]}}

    def from_second(document):
        return {**document, "theory": {"kind": "decision list", **document["theory"]}}

    monkeypatch.setattr(kept, "STEPS", {1: from_first, 2: from_second})
    monkeypatch.setattr(kept, "VERSION", 3)
    rules = json.loads(to_json(THEORY))["theory"]["rules"]
    assert from_json(changed(version=1, theory=rules)) == THEORY
    assert from_json(changed(version=2, theory={"rules": rules})) == THEORY
    assert from_json(changed(version=3)) == THEORY
    with pytest.raises(DataError, match=r"\$\.version: .* up to 3"):
        from_json(changed(version=4))
    with pytest.raises(DataError, match=r"\$\.theory\.rules: must be a list, not text|must be"):
        from_json(changed(version=1, theory="text"))


# ---------------------------------------------------------------- the published schema


@pytest.mark.parametrize("name", CASES)
def test_files_are_as_the_published_schema_says(name):
    jsonschema = pytest.importorskip("jsonschema", reason="the extra `test` brings it")
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.validate(json.loads(to_json(fitted(name)[0])))


def test_the_published_schema_is_one_itself():
    jsonschema = pytest.importorskip("jsonschema", reason="the extra `test` brings it")
    jsonschema.Draft202012Validator.check_schema(json_schema())
    validator = jsonschema.Draft202012Validator(json_schema())
    for layers in (UntilStable(3), LabelByLabel(2, (2, 0, 1)), Gibbs(5, 1, 2)):
        validator.validate(json.loads(to_json(LayeredTheory(SCHEMA, [THEORY], layers, THEORY))))
    assert not validator.is_valid(json.loads(rule(stops=1)))
    assert validator.is_valid(json.loads(voting({"quality": 2})))
    for wrong in (voting({"quality": 0}), voting(None), rule(votes={"quality": 2})):
        assert not validator.is_valid(json.loads(wrong))
    assert not validator.is_valid(json.loads(changed(notes=1)))
