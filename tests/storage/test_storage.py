"""Theories and models in files: they come back as they were, or are refused before."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

import theories
from labelrules import (
    DecisionList,
    LabelSet,
    LayeredTheory,
    Measure,
    RuleSet,
    from_json,
    load,
    load_model,
    parse,
    save,
    to_json,
)
from labelrules.data import DataError
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    Ripper,
    SeparateAndConquer,
    registered,
)
from labelrules.measures import forget, formula
from labelrules.mining import LazyAssociativeClassifier
from labelrules.rules import Gibbs, LabelByLabel, Once, UntilStable
from learners.registry import Stumps
from storage.documents import SCHEMA, THEORY
from storage.models import (
    CASES,
    KEPT_OF_REGISTRY,
    NOT_KEPT,
    ONE_LABEL,
    REGISTRY,
    fitted,
    refusal,
)

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
    for learner in [*KEPT_OF_REGISTRY, *ONE_LABEL]:
        assert any(learner is one for one in tried), learner
    assert len(KEPT_OF_REGISTRY) + len(ONE_LABEL) + len(NOT_KEPT) == len(REGISTRY)
    ours = {one for one in registered().values() if one.__module__.startswith("labelrules.")}
    assert ours <= {type(learner) for learner in REGISTRY.values()}


@pytest.mark.parametrize("number", range(len(NOT_KEPT)))
def test_other_learners_of_the_registry_are_refused(number):
    model = clone(NOT_KEPT[number]).fit(load("magazines"))
    with pytest.raises(DataError, match=refusal(model)):
        to_json(model)


def test_the_cases_are_what_they_are_for():
    assert fitted("one layer")[0].n_layers_ == 1
    assert any(rule.votes for rule in fitted("scorecard")[0].theory_)
    assert len(fitted("scorecard, one rule")[0].theory_) == 1
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
    assert again.found_.found == model.found_.found
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
@given(theories.theories(SCHEMA) | theories.scorecards(SCHEMA))
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
    label_sets = [LabelSet((0, 2), -3), LabelSet((), 1)]
    layers = [RuleSet(SCHEMA, [THEORY[0]], label_sets, at_least_one=True), THEORY]
    theory = LayeredTheory(SCHEMA, layers, way, fallback)
    assert from_json(to_json(theory)) == theory


@pytest.mark.parametrize("name", ["model.json", "model.json.gz"])
def test_files(tmp_path, name):
    path = tmp_path / name
    save(THEORY, path)
    assert load_model(path) == THEORY == load_model(str(path))
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

    measure = Measure.parse("my-own/macro/partial")
    model = SeparateAndConquer().fit(load("magazines"))  # learning with it would be compiled first
    text = to_json(model.set_params(measure=measure))
    named = to_json(model.set_params(measure="my-own/macro"))
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
        (
            lambda d: BinaryRelevance(LogisticRegression()).fit(d),
            "base of BinaryRelevance is a LogisticRegression",
        ),
        (lambda d: ClassifierChain(LogisticRegression()).fit(d), "pickle the model"),
        (
            lambda d: SeparateAndConquer(size_bonus=lambda size: 1.0, heads="multi").fit(d),
            r"parameter size_bonus of SeparateAndConquer is a function.*set_params\(size_bonus=",
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
        (lambda d: _with_more(Stumps().fit(d)), "no field for the attribute more_"),
        (
            lambda d: BinaryRelevance(BinaryRelevance(Stumps())).fit(d),
            "has no theory_, because its base BinaryRelevance does not learn rules; .*rules only",
        ),
        (
            lambda d: ConstrainedClassifier(LazyAssociativeClassifier()).fit(d),
            "a LazyAssociativeClassifier cannot be stored, because it mines rules from",
        ),
        (
            lambda d: ConstrainedClassifier(FrozenEstimator(Stumps().fit(d))).fit(d),
            "a FrozenEstimator, fitted elsewhere, .*pickle the model",
        ),
        (
            lambda d: ConstrainedClassifier(
                BinaryRelevance(Stumps()), constraints=[parse("quality <- sports", d.schema)]
            ).fit(d),
            r"constraints of ConstrainedClassifier is a DecisionList, .* as text .*'a <- b'\)",
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
    with pytest.raises(TypeError, match="a theory or a fitted learner can be saved, not 3"):
        to_json(3)
    with pytest.raises(TypeError, match="must be classes of learners"):
        from_json(to_json(THEORY), learners=["Stumps"])


def test_a_name_with_half_a_character_is_refused():
    text = to_json(THEORY).replace(
        f'"name": "{THEORY.schema.feature_names[0]}"', '"name": "\\ud800"'
    )
    with pytest.raises(DataError, match="half"):
        from_json(text)


def test_a_learner_of_ones_own_must_be_given():
    model, _ = fitted("registry 0")
    with pytest.raises(
        DataError,
        match=r"\$\.model\.learner: there is no learner 'Stumps': .*register.*=\[Stumps\]",
    ):
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
