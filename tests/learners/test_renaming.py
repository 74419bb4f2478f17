"""Other names of features and labels: schemas, data sets, theories, and fitted learners."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from extras import needs
from labelrules import (
    ClassifierChain,
    ConstrainedClassifier,
    Feature,
    LazyAssociativeClassifier,
    Schema,
    SeparateAndConquer,
    from_json,
    load,
    parse,
    theory_text,
    to_json,
)
from labelrules.data import DataError
from learners.registry import ASSOCIATIVE, COMPOSED, RULE_LEARNERS, VOTING

READERS = load("magazines")
NAMES = {"sports": "Sport", "quality": "tabloid", "tabloid": "quality", "sex": "a b"}
OTHER = READERS.rename(NAMES)
BACK = {new: old for old, new in NAMES.items()}


def test_schemas():
    schema = Schema([Feature("f", ("x", "y"))], ["a", "b"], [None, "a"])
    other = schema.rename({"a": "b", "b": "f", "f": "a"})
    assert other == Schema([Feature("a", ("x", "y"))], ["b", "f"], [None, "b"])
    assert schema.rename({}) == schema


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        ({"sprts": "x"}, "there is no feature or label 'sprts' to rename; did you mean 'sports'?"),
        ({"sports": "sex"}, "'sex' and 'sports' would both be called 'sex': choose another name"),
        ({"sports": "x", "sex": "x"}, "'sex' and 'sports' would both be called 'x'"),
        ({"sports": ""}, "a label has an empty name"),
        ({"sports": 3}, "a label name must be text, not 3"),
        ([("sports", "x")], "names must be a mapping from old names to new ones"),
    ],
)
def test_wrong_names(names, problem):
    model = SeparateAndConquer(max_rules=1).fit(READERS)
    for thing in (READERS.schema, READERS, model.theory_, model):
        with pytest.raises(DataError, match=problem.replace("?", r"\?")):
            thing.rename(names)


def test_data_sets():
    assert OTHER.schema.labels == ("tabloid", "quality", "fashion", "Sport")
    assert np.array_equal(OTHER.Y, READERS.Y)
    assert OTHER.rename(BACK) == READERS


def test_theories():
    text = (
        "layer 1:\nin any order:\nquality +2 <- sex = Male\nusual label sets:\n{quality, sports} +1"
        "\nlayer 2, label by label in at most 2 rounds, in the order sports, quality, tabloid, "
        "fashion:\nsports <- quality (3/1)\nif no label was found:\ntabloid <- sex = Male"
    )
    theory = parse(text, READERS.schema)
    other = theory.rename(NAMES)
    assert np.array_equal(other.predict(OTHER), theory.predict(READERS))
    assert "Sport <- tabloid (3/1)" in theory_text(other, evidence=True)
    assert other.rename(BACK) == theory
    assert parse(str(other), OTHER.schema) == other


MODELS = [*RULE_LEARNERS, *COMPOSED, *ASSOCIATIVE, *VOTING]


@pytest.mark.parametrize("learner", MODELS, ids=lambda one: str(one)[:60])
def test_models_predict_the_same(learner):
    frame = as_frame(READERS)
    model = learner.fit(frame, as_labels(READERS))
    other = model.rename(NAMES)
    renamed = frame.rename(columns=NAMES)
    assert other.labels_ == list(OTHER.schema.labels)
    assert np.array_equal(other.predict(renamed), model.predict(frame))
    assert np.allclose(other.predict_proba(renamed), model.predict_proba(frame))
    assert model.labels_ == list(READERS.schema.labels)
    with pytest.raises(ValueError, match="feature names"):
        other.predict(frame)
    if hasattr(model, "theory_"):
        assert other.theory_ == model.theory_.rename(NAMES)
        assert other.rename(BACK).theory_ == model.theory_
    if not any(name in str(learner) for name in ("Stumps", "LogisticRegression")):
        again = from_json(to_json(other))
        assert np.array_equal(again.predict(renamed), model.predict(frame))


def as_frame(data):
    pandas = needs("pandas")
    features = data.schema.features
    return pandas.DataFrame(
        {one.name: [one.text(v) for v in data.column(one.name)] for one in features}
    )


def as_labels(data):
    pandas = needs("pandas")
    return pandas.DataFrame(data.Y, columns=data.schema.labels)


def test_parameters_that_name_columns():
    model = SeparateAndConquer(forbidden=["sex", ("sports", "quality")]).fit(READERS)
    assert model.rename(NAMES).forbidden == ["a b", ("Sport", "tabloid")]
    base = SeparateAndConquer(forbidden=("sex",))
    chain = ClassifierChain(base, order=["sports", 0, "tabloid", "fashion"]).fit(READERS)
    other = chain.rename(NAMES)
    assert other.order == ["Sport", 0, "quality", "fashion"]
    assert other.base.forbidden == ("a b",)
    assert other.fit(OTHER).theory_ == chain.rename(NAMES).theory_
    assert chain.base.forbidden == ("sex",)


def test_constraints():
    model = ConstrainedClassifier(constraints="quality <- sports", alpha=None).fit(READERS)
    other = model.rename(NAMES)
    assert other.constraints == "in any order:\ntabloid <- Sport"
    assert str(other.constraints_).splitlines()[1] == "tabloid <- Sport"
    assert [one.text for one in other.found_] == [
        one.text for one in model.rename(NAMES).rename(BACK).rename(NAMES).found_
    ]
    assert np.array_equal(other.predict(OTHER), model.predict(READERS))
    assert "tabloid" in str(other.repairs(OTHER)) or not other.repairs(OTHER).changed.any()
    assert from_json(to_json(other)).constraints_ == other.constraints_
    assert other.fit(OTHER).constraints_ == model.rename(NAMES).constraints_


def test_what_cannot_be_renamed():
    frame, labels = as_frame(READERS), as_labels(READERS)
    numbers = (frame == frame.iloc[0]).astype(float)
    model = ConstrainedClassifier(DecisionTreeClassifier()).fit(numbers, labels)
    assert model.rename({"sports": "Sport"}).labels_[3] == "Sport"
    lazy = LazyAssociativeClassifier().fit(READERS)
    with pytest.raises(ValueError, match="rename the data, and fit it again"):
        lazy.rename({"sports": "Sport"})


def test_classes_stay_as_they_are():
    frame = as_frame(READERS)
    classes = np.where(READERS.Y[:, 0] == 1, "reads", np.where(READERS.Y[:, 1] == 1, "looks", "no"))
    model = SeparateAndConquer().fit(frame, classes).rename({"reads": "Leser", "sex": "gender"})
    assert set(model.predict(frame.rename(columns={"sex": "gender"}))) <= {"reads", "looks", "no"}
    assert "Leser" in model.labels_
