"""A new learner is one file and one decorator: all the rest follows from it."""

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import labelrules
from extras import needs
from labelrules import from_json, json_schema, load, load_model, save, to_json
from labelrules.data import DataError
from labelrules.learners import RuleClassifier, register, registered
from labelrules.learners.registry import can_be_stored, command_name, unregister

# Not named .py, so that no other test imports it: it is registered by being imported.
FILE = Path(__file__).with_name("most_frequent.learner")
MODULE = ModuleType("most_frequent")
sys.modules["most_frequent"] = MODULE  # where pickle looks for the class
exec(compile(FILE.read_text(encoding="utf-8"), FILE, "exec"), vars(MODULE))
MostFrequent = MODULE.MostFrequent
unregister(MostFrequent)


@pytest.fixture(autouse=True)
def toy():
    """The learner is known for the time of a test, so that others see those of the library only."""
    register(MostFrequent)
    yield
    unregister(MostFrequent)


def test_it_is_one_file_with_one_decorator():
    text = FILE.read_text(encoding="utf-8")
    assert text.count("@register") == 1
    assert "_state" not in text


def test_it_is_listed():
    assert list(registered().items())[-1] == ("most-frequent", MostFrequent)
    assert can_be_stored(MostFrequent)


def test_it_is_stored_and_loaded(tmp_path):
    readers = load("magazines")
    model = MostFrequent(n_labels=2).fit(readers)
    save(model, tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert type(again) is MostFrequent
    assert again.n_labels == 2
    assert again.theory_ == model.theory_
    assert (again.predict_proba(readers) == model.predict_proba(readers)).all()


def test_its_parameters_are_checked_as_by_fit():
    text = to_json(MostFrequent().fit(load("magazines")))
    document = json.loads(text)
    document["model"]["parameters"]["smoothing"] = -1
    with pytest.raises(DataError, match=r"\$\.model\.parameters: smoothing must be"):
        from_json(document)
    document["model"]["parameters"] = {"n_labels": 1}
    with pytest.raises(DataError, match=r'\$\.model\.parameters: "smoothing" is missing'):
        from_json(document)


def test_it_is_in_the_json_schema():
    jsonschema = needs("jsonschema")
    validator = jsonschema.Draft202012Validator(json_schema())
    document = json.loads(to_json(MostFrequent().fit(load("magazines"))))
    validator.validate(document)
    document["model"]["parameters"]["more"] = 1
    assert not validator.is_valid(document)


@parametrize_with_checks([MostFrequent()])
def test_it_is_an_estimator_of_scikit_learn(estimator, check):
    check(estimator)


# ---------------------------------------------------------------- the registry


def test_the_order_of_the_learners_is_fixed_and_their_names_are_public():
    names = [name for name in registered() if name != "most-frequent"]
    assert names == [
        "separate-and-conquer",
        "ripper",
        "binary-relevance",
        "stacked-binary-relevance",
        "classifier-chain",
        "label-powerset",
        "scorecard",
        "associative-classifier",
        "lazy-associative-classifier",
        "constrained-classifier",
    ]
    for name in names:
        learner = registered()[name]
        assert getattr(labelrules, learner.__name__) is learner
        assert learner.__name__ in labelrules.__all__
    assert [name for name in names if not can_be_stored(registered()[name])] == [
        "lazy-associative-classifier"
    ]


def test_names_on_the_command_line():
    made = [command_name(type(name, (), {})) for name in ("Ripper", "CBAList", "Top5Rules")]
    assert made == ["ripper", "cba-list", "top5-rules"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (BaseEstimator, "takes the class of a learner"),
        (MostFrequent(), "takes the class of a learner"),
        (RuleClassifier, "RuleClassifier cannot be registered: it has abstract methods"),
    ],
)
def test_other_classes_are_not_registered(wrong, message):
    with pytest.raises(TypeError, match=message):
        register(wrong)


def test_a_name_is_taken_once_unless_its_class_is_defined_again():
    with pytest.raises(ValueError, match=r"there is a learner Ripper in .* already: rename"):
        register(type("Ripper", (MostFrequent,), {}))
    again = type("MostFrequent", (MostFrequent,), {"__module__": MostFrequent.__module__})
    assert register(again) is again
    assert registered()["most-frequent"] is again
    unregister(again)
    assert "most-frequent" not in registered()
