"""Labels learned in parallel: the same result, progress, and Ctrl-C keeps what is done."""

import warnings

import joblib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from labelrules import Dataset, Ripper, Schema, load
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    LabelProgress,
    LearningInterrupted,
    SeparateAndConquer,
    StackedBinaryRelevance,
    conditional_dependence,
)
from learners.registry import Stumps

TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def a_table(n_rows=40):
    rng = np.random.default_rng(0)
    schema = load("magazines").schema
    X = np.column_stack([rng.integers(0, len(f.categories), n_rows) for f in schema.features])
    Y = (rng.random((n_rows, 4)) < 0.15 + 0.3 * (X % 3)).astype(np.int8)
    return Dataset(schema, X.astype(float), Y)


def makers(base):
    return [
        BinaryRelevance(base),
        ClassifierChain(base, n_chains=2),
        StackedBinaryRelevance(base, labels_from="out-of-fold", n_folds=2),
    ]


def predictions(model, data):
    rules = [str(theory) for theory in getattr(model, "theories_", [])]
    rules += [str(model.theory_)] if hasattr(model, "theory_") else []
    return rules, model.predict_proba(data).tolist()


@pytest.mark.parametrize("backend", ["sequential", "threading", "loky"])
@pytest.mark.parametrize("base", [SeparateAndConquer(), TREE], ids=["rules", "tree"])
def test_the_result_does_not_depend_on_workers(backend, base):
    data = a_table()
    for model in makers(base):
        alone = predictions(model.fit(data), data)
        with joblib.parallel_config(backend=backend, n_jobs=2):
            assert predictions(model.fit(data), data) == alone
        if backend != "sequential":
            with joblib.parallel_config(backend=backend):
                assert predictions(model.set_params(n_jobs=3).fit(data), data) == alone


def test_dependence_does_not_depend_on_workers():
    data = a_table()
    alone = conditional_dependence(data, Stumps(), n_folds=2)
    with joblib.parallel_config(backend="threading"):
        beside = conditional_dependence(data, Stumps(), n_folds=2, n_jobs=2)
    np.testing.assert_array_equal(alone.p, beside.p)


@pytest.mark.parametrize("base", [Stumps(), TREE], ids=["rules", "tree"])
def test_the_result_does_not_depend_on_the_order_of_rows(base):
    """Rows are put into folds by what they hold."""
    data = a_table()
    order = np.random.default_rng(1).permutation(len(data))
    for model in makers(base):
        first = model.fit(data).predict(data)
        np.testing.assert_array_equal(model.fit(data.take(order)).predict(data), first)


# ---------------------------------------------------------------- progress


def test_progress_of_each_label():
    reports = []
    BinaryRelevance(Stumps(), progress=reports.append).fit(a_table())
    names = a_table().schema.labels
    assert reports == [
        LabelProgress(n + 1, 4, name, "each label on its own") for n, name in enumerate(names)
    ]
    assert [one.share for one in reports] == [0.25, 0.5, 0.75, 1]
    assert str(reports[1]) == "each label on its own: 2 of 4 labels, last one tabloid"


def test_progress_of_each_phase():
    reports = []
    model = StackedBinaryRelevance(
        Stumps(), labels_from="out-of-fold", n_folds=2, progress=reports.append
    )
    model.fit(a_table())
    phases = list(dict.fromkeys(one.phase for one in reports))
    assert phases == [
        "layer 1",
        *(f"layer 1, fold {fold} of 2" for fold in (1, 2)),
        "layer 2",
        *(f"layer 2 on trial, fold {fold} of 2" for fold in (1, 2)),
    ]
    assert len(reports) == 24


def test_progress_of_several_chains():
    reports = []
    ClassifierChain(Stumps(), n_chains=2, progress=reports.append).fit(a_table())
    assert [one.phase for one in reports] == ["chain 1 of 2"] * 4 + ["chain 2 of 2"] * 4


def test_a_bar_shows_it(capsys):
    BinaryRelevance(Stumps(), progress=True).fit(a_table())
    assert "4 of 4 labels" in capsys.readouterr().out


# ---------------------------------------------------------------- Ctrl-C


class Interrupting(Stumps):
    """Presses Ctrl-C when it comes to a label."""

    def __init__(self, at="fashion", again=1):
        self.at = at
        self.again = again

    def _learn(self, data, prefix):
        if data.schema.labels[0] == self.at and data.schema.n_features >= self.again:
            raise KeyboardInterrupt
        return super()._learn(data, prefix)

    use_conditions = True
    smoothing = "laplace"


def test_ctrl_c_keeps_finished_labels():
    data = a_table()
    with pytest.warns(LearningInterrupted, match="it was interrupted; the 2 of 4 labels") as caught:
        model = BinaryRelevance(Interrupting()).fit(data)
    assert caught[0].filename == __file__
    whole = BinaryRelevance(Stumps()).fit(data)
    np.testing.assert_array_equal(model.predict(data)[:, :2], whole.predict(data)[:, :2])
    usual = data.Y.mean(axis=0) > 0.5
    np.testing.assert_array_equal(model.predict(data)[:, 2:], np.tile(usual[2:], (len(data), 1)))


def test_ctrl_c_in_a_chain():
    data = a_table()
    with pytest.warns(LearningInterrupted, match="the 2 of 4 labels"):
        model = ClassifierChain(Interrupting(), order="columns").fit(data)
    whole = ClassifierChain(Stumps(), order="columns").fit(data)
    np.testing.assert_array_equal(model.predict(data)[:, :2], whole.predict(data)[:, :2])


def test_ctrl_c_keeps_finished_chains():
    def interrupt(news):
        if (news.phase, news.n_done) == ("chain 3 of 5", 2):
            raise KeyboardInterrupt

    data = a_table()
    with pytest.warns(LearningInterrupted, match="10 of 12 models were learned"):
        model = ClassifierChain(Stumps(), n_chains=5, progress=interrupt).fit(data)
    assert len(model.theories_) == len(model.orders_) == 2
    assert model.predict(data).shape == (40, 4)


@pytest.mark.parametrize(
    "options", [{"labels_from": "truth"}, {"alpha": None}, {}], ids=["truth", "anew", "default"]
)
def test_ctrl_c_in_the_second_layer_lets_labels_of_the_first_through(options):
    """Tables of the second layer have three more columns."""
    data = a_table()
    Y = data.Y.copy()
    Y[:, 2] = data.column("sex") == 1  # so that the first layer has a rule for it
    data = Dataset(data.schema, data.X, Y)
    base = Interrupting(again=5)
    with pytest.warns(LearningInterrupted, match="it was interrupted"):
        model = StackedBinaryRelevance(base, last_resort=None, **options).fit(data)
    first = model.theory_.layers[0].predict(data)
    np.testing.assert_array_equal(model.predict(data)[:, 2:], first[:, 2:])
    # By default a layer that could not be tried is not kept.
    assert ("fashion <- fashion" in str(model.theory_)) == bool(options)
    assert model.n_layers_ == (2 if options else 1)


def test_ctrl_c_with_classifiers_that_learn_no_rules():
    data = a_table()

    def interrupt(news):
        if (news.phase, news.n_done) == ("layer 2", 3):
            raise KeyboardInterrupt

    model = StackedBinaryRelevance(LogisticRegression(), progress=interrupt, labels_from="truth")
    with pytest.warns(LearningInterrupted, match="7 of 8 models were learned"):
        model.fit(data)
    first = BinaryRelevance(LogisticRegression()).fit(data).predict(data)
    whole = StackedBinaryRelevance(LogisticRegression(), labels_from="truth").fit(data)
    whole = whole.predict(data)
    np.testing.assert_array_equal(model.predict(data)[:, 3], first[:, 3])
    np.testing.assert_array_equal(model.predict(data)[:, :3], whole[:, :3])
    assert model.predict_proba(data).shape == (40, 4)


def test_one_ctrl_c_is_enough():
    """The covering learner keeps its rules when it is interrupted, but not below another one."""
    data, pressed = a_table(), []

    def interrupt(news):
        pressed.append(news)
        raise KeyboardInterrupt

    base = SeparateAndConquer(progress=interrupt, pruning=None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        BinaryRelevance(base).fit(data)
    assert len(pressed) == 1
    assert [str(w.message) for w in caught] == [
        "learning ended early because it was interrupted; no label was learned yet, so only "
        "default rules are kept"
    ]
    with pytest.warns(LearningInterrupted, match="the rule learned so far"):
        base.fit(data)  # and alone it deals with it itself


@pytest.mark.parametrize(
    ("default_rule", "kept"), [(True, "only the default rule is kept"), (False, "none is kept")]
)
def test_ctrl_c_before_the_first_rule(default_rule, kept, monkeypatch):
    monkeypatch.setattr(
        "labelrules.learners.covering.next_rule.RuleFinder.best_rule", hidden_interrupt
    )
    with pytest.warns(LearningInterrupted, match=f"no rule was learned yet, so {kept}"):
        model = SeparateAndConquer(default_rule=default_rule).fit(a_table())
    assert len(model.theory_) == default_rule


def test_ctrl_c_in_a_test_for_dependence_ends_it():
    with pytest.raises(KeyboardInterrupt):
        conditional_dependence(a_table(), Interrupting())


def hidden_interrupt(*given):
    """As Python tells of Ctrl-C while a compiled function gets its arguments."""
    raise SystemError("returned a result with an exception set") from KeyboardInterrupt()


def lost_interrupt(*given):
    """As Numba tells of Ctrl-C while LLVM hands it what is compiled."""
    raise RuntimeError("no compiled object yet for <Library 'grow' at 0x7f>")


def other_fault(*given):
    raise RuntimeError("something else")


hidden_ways = pytest.mark.parametrize("hidden", [hidden_interrupt, lost_interrupt])


@hidden_ways
@pytest.mark.parametrize("learner", [SeparateAndConquer, Ripper])
def test_interrupts_that_compiled_code_hides_are_heard(learner, hidden):
    data = a_table()
    data = data if learner is SeparateAndConquer else Dataset(
        Schema(data.schema.features, data.schema.labels[:1]), data.X, data.Y[:, :1]
    )  # fmt: skip
    with pytest.warns(LearningInterrupted, match="the rule learned so far is kept"):
        model = learner(progress=hidden).fit(data)
    assert len(model.theory_) >= 1


@hidden_ways
def test_interrupts_that_compiled_code_hides_end_many_learners(hidden, monkeypatch):
    monkeypatch.setattr(Stumps, "fit", hidden)
    with pytest.warns(LearningInterrupted, match="only default rules are kept"):
        BinaryRelevance(Stumps()).fit(a_table())


def test_other_faults_are_no_interrupts():
    with pytest.raises(RuntimeError, match="something else"):
        SeparateAndConquer(progress=other_fault).fit(a_table())
