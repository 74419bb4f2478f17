"""Experiments: results by hand, failures, time limits, folders, splits, tables and files."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import KFold, PredefinedSplit, RepeatedKFold
from sklearn.multioutput import ClassifierChain as Chain
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from extras import needs
from labelrules import SeparateAndConquer, dataset, evaluate, load, planted
from labelrules.lab import ExperimentProgress, IterativeStratifiedKFold, experiment
from labelrules.lab.measuring import as_numbers
from labelrules.learners import LearningInterrupted

DATA = {f"planted {n}": planted(60, random_state=n)[0] for n in (1, 2)}
LEARNERS = {"rules": SeparateAndConquer(max_rules=5), "tree": DecisionTreeClassifier(max_depth=3)}
MEASURES = ["micro F1", "subset accuracy"]


class Odd(ClassifierMixin, BaseEstimator):
    """A learner that does what it is told to."""

    def __init__(self, what="predict", file=None):
        self.what, self.file = what, file

    def fit(self, X, Y):
        if self.file is not None:
            with open(self.file, "a") as file:
                file.write("x")
        if self.what == "fail":
            raise RuntimeError("no\nluck")
        if self.what == "sleep":
            time.sleep(60)
        if self.what == "end":
            os._exit(3)
        if self.what == "interrupt":
            signal.raise_signal(signal.SIGINT)
        self.n_labels, self.n_literals = Y.shape[1], 7
        return self

    def predict(self, X):
        return np.zeros((len(X), self.n_labels), int)


@pytest.fixture(scope="module")
def found():
    return experiment(LEARNERS, DATA, MEASURES, 3)


# ---------------------------------------------------------------- what is measured


def test_values_are_those_of_fits_by_hand(found):
    assert [fit.place for fit in found.fits] == [
        (data, learner, 0, fold) for data in DATA for learner in LEARNERS for fold in range(3)
    ]
    again = experiment(LEARNERS, DATA, MEASURES, KFold(3))
    data = DATA["planted 1"]
    for fit, (train, test) in zip(
        again.of("planted 1", "tree"), KFold(3).split(data.X), strict=True
    ):
        tree = DecisionTreeClassifier(max_depth=3, random_state=0)
        X = as_numbers(data)
        tree.fit(X[train], data.Y[train].astype(int))
        values = evaluate(data.Y[test], tree.predict(X[test]))
        assert fit.outcome.values == {name: values[name] for name in MEASURES}
        assert (fit.value("literals"), fit.status) == (None, "done")
    for fit, (train, test) in zip(
        again.of("planted 1", "rules"), KFold(3).split(data.X), strict=True
    ):
        rules = SeparateAndConquer(max_rules=5, random_state=0).fit(data.take(train))
        values = evaluate(data.Y[test], rules.predict(data.take(test)))
        assert fit.outcome.values == {name: values[name] for name in MEASURES}
        assert fit.value("literals") == rules.theory_.n_literals
        assert fit.value("rules") == len(rules.theory_)


def test_time_processor_time_and_memory_of_each_fit(found):
    for fit in found.fits:
        assert fit.value("seconds") >= 0
        assert fit.value("cpu_seconds") >= 0
        assert fit.value("predict_seconds") >= 0
        peak = fit.value("peak_memory")
        assert peak is None or peak > 1_000_000
        assert set(fit.outcome.versions) == {"labelrules", "python", "numpy", "scikit-learn"}


def test_learners_of_many_kinds():
    learners = {
        "chain": Chain(BernoulliNB()),
        "each label": MultiOutputClassifier(BernoulliNB()),
        "pipeline": make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=2)),
        "forest": RandomForestClassifier(3),
        "no estimator": Odd(),
        "ripper": "binary-relevance",
    }
    data, _ = planted(60, n_labels=3, random_state=4)
    found = experiment(learners, {"d": data}, ["micro ROC AUC", "f1/macro"], 0.3)
    statuses = {fit.learner: (fit.status, fit.outcome.message) for fit in found.fits}
    odd = statuses.pop("no estimator")
    assert set(statuses.values()) == {("done", "")}
    assert odd == ("failed", "ValueError: Odd has neither predict_proba nor decision_function, "
                   "which measures of a ranking need: leave them out")  # fmt: skip
    again = experiment(learners, {"d": data}, "f1/macro", 0.3)
    assert again.of("d", "no estimator")[0].value("literals") == 7


def test_features_with_categories_and_sparse_ones():
    readers = load("magazines")
    assert as_numbers(readers).shape == (14, 3 + 3 + 1 + 1)
    assert as_numbers(readers, "codes").shape == (14, 4)
    holed = dataset([["a", 1.0], [None, 2.0], ["b", None], ["c", 3.0]], [[0], [1], [1], [0]])
    columns = as_numbers(holed)
    assert np.isnan(columns).sum(axis=1).tolist() == [0, 0, 1, 0]
    assert columns[:, :3].tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert np.isnan(as_numbers(holed, "codes")).sum(axis=1).tolist() == [0, 1, 1, 0]


# ---------------------------------------------------------------- failures and limits


def test_failures_are_recorded_and_others_go_on():
    found = experiment({"odd": Odd("fail"), **LEARNERS}, DATA, MEASURES, 0.5)
    assert [fit.status for fit in found.fits] == ["failed", "done", "done"] * 2
    assert found.failures[0].outcome.message == "RuntimeError: no luck"
    assert "odd on planted 1, repeat 0, fold 0: failed, RuntimeError: no luck" in str(found)
    assert "No average ranks by micro F1: 2 scores are missing: 'odd' on 'planted 1'" in str(found)
    with pytest.raises(ValueError, match="2 scores are missing"):
        found.ranks()


def test_time_outs_and_sudden_ends_are_recorded(tmp_path):
    learners = {"slow": Odd("sleep"), "sudden": Odd("end"), "tree": DecisionTreeClassifier()}
    given = {"d": DATA["planted 1"]}, MEASURES, 0.5
    with parallel_config(backend="threading"):
        found = experiment(learners, *given, time_limit=1.5, folder=tmp_path, n_jobs=3)
    slow, sudden, tree = found.fits
    assert (slow.status, slow.outcome.message) == ("timed out", "stopped after 1.5 s")
    assert (sudden.status, sudden.outcome.message) == (
        "failed", "the process of the fit ended with status 3 without a result"
    )  # fmt: skip
    assert tree.status == "done"
    assert os.name == "nt" or tree.value("peak_memory") > 1_000_000
    shown = experiment(learners, *given, time_limit=1.0, folder=tmp_path, dry_run=True)
    assert [fit.status for fit in shown.fits] == ["timed out", "failed", "done"]
    shown = experiment(learners, *given, time_limit=2, folder=tmp_path, dry_run=True)
    assert [fit.status for fit in shown.fits] == ["not run", "failed", "done"]
    shown = experiment(learners, *given, folder=tmp_path, dry_run=True, retry=True)
    assert [fit.status for fit in shown.fits] == ["not run", "not run", "done"]


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    learners = {"tree": DecisionTreeClassifier(), "odd": Odd("interrupt")}
    with pytest.warns(LearningInterrupted, match="the 2 of 4 fits finished so far are kept in"):
        found = experiment(learners, {"d": DATA["planted 1"]}, MEASURES, 2, folder=tmp_path)
    assert [fit.status for fit in found.fits] == ["done", "done", "not run", "not run"]
    assert str(found).endswith("Not all fits: it was interrupted.")
    assert (tmp_path / "scores.csv").is_file()


# ---------------------------------------------------------------- folders


def test_finished_fits_are_not_run_again(tmp_path):
    file, folder = tmp_path / "log", tmp_path / "kept"

    def n_fits(learners, measures=MEASURES, data=DATA, **options):
        file.write_text("")
        experiment(learners, data, measures, 2, folder=folder, **options)
        return len(file.read_text())

    odd = {"odd": Odd(file=file)}
    assert n_fits(odd) == 4
    assert n_fits(odd) == 0
    assert n_fits({"another name": Odd(file=file), **odd}) == 0
    assert n_fits(odd, data={"renamed": DATA["planted 2"], **DATA}) == 0
    assert n_fits(odd, "micro F1") == 0
    assert n_fits(odd, ["Hamming loss"]) == 4
    assert n_fits(odd, ["Hamming loss"], random_state=9) == 4
    assert n_fits({"odd": Odd("other", file=file)}) == 4
    assert n_fits(odd, ["Hamming loss"], restart=True) == 4
    assert n_fits({"odd": Odd("other", file=file)}) == 4


def test_a_broken_file_of_a_fit_is_named(tmp_path):
    experiment({"odd": Odd()}, DATA, MEASURES, 0.5, folder=tmp_path)
    broken = sorted((tmp_path / "fits").iterdir())[0]
    broken.write_text("{")
    with pytest.raises(ValueError, match=r"this is no fit of an experiment .*: remove it, and it"):
        experiment({"odd": Odd()}, DATA, MEASURES, 0.5, folder=tmp_path)


def test_any_number_of_jobs_and_any_order_give_the_same_scores(tmp_path):
    texts = []
    for n_jobs in (1, 2):
        folder = tmp_path / str(n_jobs)
        experiment(LEARNERS, DATA, MEASURES, 2, n_repeats=2, folder=folder, n_jobs=n_jobs)
        texts.append((folder / "scores.csv").read_bytes())
    assert texts[0] == texts[1]
    rows = list(csv.DictReader(texts[0].decode().splitlines()))
    assert len(rows) == 2 * 2 * 4
    assert rows[0]["message"] == ""


@pytest.mark.filterwarnings("ignore::UserWarning")  # of joblib, on the worker that has ended
def test_the_end_of_a_worker_without_a_limit_is_explained(tmp_path):
    # after the test before, whose workers it ends
    with pytest.raises(RuntimeError, match=r"with a time limit .* each fit has a process of its"):
        experiment({"sudden": Odd("end")}, DATA, MEASURES, 0.5, n_jobs=2, folder=tmp_path)


def test_progress_is_reported(tmp_path):
    reports: list[ExperimentProgress] = []
    given = {"odd": Odd()}, DATA, MEASURES, 0.5
    experiment(*given, folder=tmp_path, progress=reports.append)
    assert [(one.n_done, one.n_fits, one.share) for one in reports] == [(1, 2, 0.5), (2, 2, 1.0)]
    assert str(reports[1]) == "2 of 2 fits, last one odd on planted 2, repeat 0, fold 0"


# ---------------------------------------------------------------- splits


def test_folds_are_stratified_whatever_the_order_of_rows(found):
    data = DATA["planted 1"]
    turned = data.take(np.arange(60)[::-1])
    other = experiment(LEARNERS, {"planted 1": turned}, MEASURES, 3)
    values = [fit.outcome.values for fit in found.of("planted 1", "rules")]
    assert [fit.outcome.values for fit in other.of("planted 1", "rules")] == values


def test_splitters_repeats_and_given_parts():
    data = DATA["planted 1"]
    found = experiment({"odd": Odd()}, DATA, MEASURES, 3, n_repeats=2)
    places = [(fit.repeat, fit.fold) for fit in found.of("planted 1", "odd")]
    assert places == [(repeat, fold) for repeat in (0, 1) for fold in range(3)]
    for splitter in (
        IterativeStratifiedKFold(3, n_repeats=2),
        RepeatedKFold(n_splits=3, n_repeats=2, random_state=1),
    ):
        found = experiment({"odd": Odd()}, {"d": data}, MEASURES, splitter)
        assert [(fit.repeat, fit.fold) for fit in found.fits] == places
    given = PredefinedSplit([-1] * 40 + [0] * 20)
    (one,) = experiment({"rules": LEARNERS["rules"]}, {"d": data}, MEASURES, given).fits
    parts = data.take(range(40)), data.take(range(40, 60))
    (fit,) = experiment({"rules": LEARNERS["rules"]}, {"d": parts}, MEASURES).fits
    rules = SeparateAndConquer(max_rules=5, random_state=0).fit(parts[0])
    expected = evaluate(parts[1].Y, rules.predict(parts[1]))["micro F1"]
    assert fit.value("micro F1") == one.value("micro F1") == expected


def test_learners_without_a_seed_get_one_for_each_repeat():
    forest = {"forest": RandomForestClassifier(2)}
    first = experiment(forest, {"d": DATA["planted 1"]}, MEASURES, 2, random_state=1)
    again = experiment(forest, {"d": DATA["planted 1"]}, MEASURES, 2, random_state=1)
    values = [fit.outcome.values for fit in first.fits]
    assert [fit.outcome.values for fit in again.fits] == values
    assert forest["forest"].random_state is None


# ---------------------------------------------------------------- tables and files


def test_the_table_and_the_ranks(found):
    table = found.table("subset accuracy")
    values = [fit.value("subset accuracy") for fit in found.of("planted 2", "tree")]
    assert table.of("tree")[1] == pytest.approx(np.mean(values))
    assert found.higher_is_better("micro-F1")
    assert not found.higher_is_better("seconds")
    assert found.ranks("micro-F1").datasets == tuple(DATA)
    lines = str(found).splitlines()
    assert lines[0] == "2 learners on 2 data sets: 12 fits, 12 done"
    assert lines[2].split() == ["data", "learner", "micro", "F1", "subset", "accuracy", "literals"]
    assert "average rank" in lines[8]
    assert "<table" in found._repr_html_()
    with pytest.raises(ValueError, match="did you mean 'micro F1'"):
        found.table("mikro F1")


def test_frames_and_files_have_a_row_for_each_fit(found, tmp_path):
    needs("pandas")
    frame = found.to_frame()
    assert list(frame.columns) == [
        "data", "learner", "repeat", "fold", "status", "message", *MEASURES, "literals", "rules",
        "seconds", "predict_seconds", "cpu_seconds", "peak_memory", "version", "fingerprint",
    ]  # fmt: skip
    assert frame["literals"].tolist()[:3] == [fit.value("literals") for fit in found.fits][:3]
    assert frame["literals"].isna().sum() == 6
    found.save_csv(tmp_path / "all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [float(row["micro F1"]) for row in rows] == frame["micro F1"].tolist()
    assert rows[-1]["literals"] == ""
    parquet = needs("pyarrow.parquet")
    found.save_parquet(tmp_path / "all.parquet")
    columns = parquet.read_table(tmp_path / "all.parquet").to_pydict()
    assert columns == found.as_dict()


# ---------------------------------------------------------------- wrong calls


class Drawing:
    """A splitter that divides the rows otherwise each time."""

    def split(self, X, y):
        order = np.random.default_rng().permutation(len(X))
        yield order[:30], order[30:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"learners": {}}, "learners is empty: give at least one"),
        ({"learners": "ripper"}, "learners must be a dict from names to learners, or a list"),
        ({"learners": ["riper"]}, "there is no learner 'riper'; did you mean 'ripper'?"),
        ({"learners": [DecisionTreeClassifier]}, "write DecisionTreeClassifier()"),
        ({"learners": [3]}, "a learner must be an object with fit and predict, not 3"),
        ({"learners": ["ripper", "ripper"]}, "two learners are called 'ripper'"),
        ({"data": {}}, "data is empty"),
        ({"data": DATA["planted 1"]}, "data must be a dict from names to data sets"),
        ({"data": {"x": 3}}, "data['x'] must be a Dataset, or a pair of them"),
        ({"measures": []}, "measures is empty: give at least one"),
        ({"measures": "mikro F1"}, "did you mean 'micro F1'?"),
        ({"measures": ["micro F1", "micro-F1"]}, "the measure 'micro F1' is given twice"),
        ({"split": 1}, "data['planted 1']: split must be a whole number of at least 2, not 1"),
        ({"split": 61}, "data['planted 1']: 61 folds need at least as many rows, not 60"),
        ({"split": 1.5}, "split must be a number between 0 and 1, not 1.5"),
        ({"split": "5"}, "split must be a number of folds, a share of rows to hold out, or a"),
        ({"split": KFold(3), "n_repeats": 2}, "has repeats of its own"),
        ({"split": Drawing()}, "divides the rows otherwise each time"),
        ({"n_repeats": 0}, "n_repeats must be a whole number of at least 1, not 0"),
        ({"random_state": None}, "random_state must be a whole number"),
        ({"time_limit": 0}, "time_limit must be a number above 0 or None, not 0"),
        ({"categories": "one-hot"}, "categories must be 'columns' or 'codes', not 'one-hot'"),
        ({"dry_run": 1}, "dry_run must be True or False, not 1"),
        ({"folder": __file__}, "cannot be the folder of an experiment"),
    ],
)
def test_wrong_calls_are_explained(change, message):
    given = {"learners": LEARNERS, "data": DATA, "measures": MEASURES} | change
    with pytest.raises(ValueError, match=re.escape(message)):
        experiment(**given)


# ---------------------------------------------------------------- killed runs


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_run_killed_at_random_moments_and_resumed_gives_the_same_file(tmp_path):
    program = Path(__file__).parents[1] / "killed_experiments.py"
    command = [sys.executable, str(program), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["killed"] >= 1
    assert max(report["kept"]) <= 60
    assert report["kept"] == sorted(report["kept"])
    assert (report["fits"], report["run again"]) == (60, [])
    assert report["left over"] == ["resources.csv", "scores.csv"]
    assert report["same"]
