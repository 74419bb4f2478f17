"""``labelrules experiment``: plans, what is printed and written, what plans may not do."""

import csv
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest

from labelrules import dataset, experiment, load, planted
from labelrules.data import write_csv, write_mulan
from labelrules.lab.commands import experiment as program
from labelrules.lab.plans import PlanReader, read_plan
from shell import called, output

PLAN = """
measures = ["micro F1", "subset accuracy"]
split = 2
data = ["magazines", {source = "few.csv", labels = ["quality", "tabloid"]}]

[learners]
lists = "separate-and-conquer"
ripper = {learner = "binary-relevance", settings = {base = "ripper"}}
tree = {learner = "sklearn.tree.DecisionTreeClassifier", settings = {max_depth = 2}}
"""
FEW = "age,sex,quality,tabloid\n" + "36,f,1,0\n52,m,0,1\n47,m,0,1\n18,f,1,0\n" * 2


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELRULES_DATA", raising=False)
    Path("few.csv").write_text(FEW, encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")


def learners_of(text, *allowed):
    Path("other.toml").write_text(f'data = ["magazines"]\n[learners]\n{text}', encoding="utf-8")
    plan = read_plan("other.toml")
    return PlanReader("other.toml", allowed).learners(plan)


def data_of(text, split="5"):
    Path("other.toml").write_text(
        f'split = {split}\ndata = {text}\nlearners = {{r = "ripper"}}', encoding="utf-8"
    )
    plan = read_plan("other.toml")
    return PlanReader("other.toml").data(plan)


# ---------------------------------------------------------------- what is printed and written


def test_results_tests_and_files():
    done = called("experiment", "plan.toml")
    assert (done.code, done.err) == (
        0,
        "labelrules: results in plan-results: scores.csv, resources.csv, ranks-micro-F1.svg, "
        "ranks-subset-accuracy.svg\n",
    )
    plan = read_plan("plan.toml")
    reader = PlanReader("plan.toml")
    found = experiment(reader.learners(plan), reader.data(plan), plan.measures, 2)
    assert done.out.startswith(f"{found}\n\nmicro F1: Do 3 learners differ over 2 data sets?")
    assert done.out.count("Nemenyi test of 3 learners over 2 data sets") == 2
    picture = Path("plan-results/ranks-micro-F1.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    before = {path.name: path.read_bytes() for path in Path("plan-results").glob("*.*")}
    again = called("experiment", "plan.toml", "--csv", "fits.csv", "-q")
    assert (again.out, again.err) == (done.out, "")
    assert {path.name: path.read_bytes() for path in Path("plan-results").glob("*.*")} == before
    rows = list(csv.DictReader(Path("fits.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["learner"] for row in rows[:3]] == ["lists", "lists", "ripper"]
    shown = called("experiment", "plan.toml", "--json", "-q").json
    assert [fit["fingerprint"] for fit in shown["fits"]] == [row["fingerprint"] for row in rows]
    first = shown["statistics"]["micro F1"]
    assert [one["test"] for one in first] == ["FriedmanTest", "NemenyiTest"]
    shown = output("experiment", "plan.toml", "--dry-run", "--restart")
    assert shown.startswith("3 learners on 2 data sets: 12 fits, 0 done, 12 not run\n\nnot run    ")


def test_statistics_that_are_asked_for():
    text = PLAN + '[statistics]\ntests = ["wilcoxon", "bayes"]\ncontrol = "tree"\nrope = 0.05\n'
    Path("plan.toml").write_text(text, encoding="utf-8")
    shown = output("experiment", "plan.toml", "--folder", "kept")
    assert shown.count("Bayesian signed-rank test over 2 data sets: differences up to 0.05") == 2
    assert "tree - lists" in shown
    assert "lists - ripper" not in shown
    assert not list(Path("kept").glob("*.svg"))


def test_failures_are_shown_and_leave_out_the_tests():
    text = PLAN + 'wrong = {learner = "separate-and-conquer", settings = {beam_width = 0}}\n'
    Path("plan.toml").write_text(text, encoding="utf-8")
    shown = output("experiment", "plan.toml")
    assert "16 fits, 12 done, 4 failed" in shown
    assert "wrong on magazines, repeat 0, fold 0: failed, ValueError: beam_width must be" in shown
    assert "micro F1: no tests: 2 scores are missing: 'wrong' on 'magazines'" in shown


def test_ctrl_c_keeps_what_is_finished(monkeypatch):
    def interrupt(report):
        if report.n_done == 5:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(program, "shown_progress", lambda *given: nullcontext(interrupt))
    done = called("experiment", "plan.toml")
    assert done.code == 130
    assert "12 fits, 5 done, 7 not run" in done.out
    assert "the 5 of 12 fits finished so far are kept in plan-results" in done.err
    monkeypatch.undo()


# ---------------------------------------------------------------- learners


def test_learners_by_name_and_by_dotted_name():
    found = learners_of(
        """
        a = "ripper"
        b = {learner = "classifier-chain", settings = {base = {learner = "ripper"}}}
        c = {learner = "sklearn.multioutput.MultiOutputClassifier", settings = {estimator = {
             learner = "sklearn.tree.DecisionTreeClassifier", settings = {max_depth = 3}}}}
        d = {pipeline = ["sklearn.preprocessing.StandardScaler", {learner = "ripper"}]}
        e = {learner = "separate-and-conquer", settings = {size_bonus = "kln(0.1)"}}
        """.replace("estimator = {\n             learner", "estimator = {learner")
    )
    assert repr(found["a"]) == "Ripper()"
    assert repr(found["b"]) == "ClassifierChain(base=Ripper())"
    assert repr(found["c"]) == (
        "MultiOutputClassifier(estimator=DecisionTreeClassifier(max_depth=3))"
    )
    assert [type(step).__name__ for _, step in found["d"].steps] == ["StandardScaler", "Ripper"]
    assert type(found["e"].size_bonus).__name__ != "str"


def test_modules_of_other_packages_are_not_imported():
    """A plan that was sent by someone must not run code by being read."""
    Path("harm.py").write_text("raise SystemExit('harm')", encoding="utf-8")
    for name in ("harm.Learner", "os.system", "subprocess.Popen"):
        with pytest.raises(ValueError, match="if you trust this plan, write --allow"):
            learners_of(f'a = "{name}"')
    for name in ("sklearn.utils.fixes.os", "labelrules.data.load", "sklearn.base.clone"):
        with pytest.raises(ValueError, match="has no class"):
            learners_of(f'a = "{name}"')


def test_other_packages_can_be_allowed(monkeypatch):
    code = "from sklearn.dummy import DummyClassifier\nclass Own(DummyClassifier):\n    pass\n"
    Path("own_learners.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(".")
    found = learners_of('a = "own_learners.Own"', "own_learners")
    assert type(found["a"]).__name__ == "Own"


# ---------------------------------------------------------------- data


def test_data_sets_by_name_file_and_folder(monkeypatch):
    folder = Path("sets")
    folder.mkdir()
    whole, _ = planted(12, random_state=1)
    write_mulan(whole, folder / "whole.arff")
    write_mulan(whole.take(range(8)), folder / "half-train.arff")
    write_mulan(whole.take(range(8, 12)), folder / "half-test.arff")
    Path("sets/half.xml").write_bytes(Path("sets/whole.xml").read_bytes())
    write_csv(dataset([[1], [2]], [[0], [1]]), folder / "table.csv")
    found = data_of('["sets", {source = "few.csv", name = "mine", labels = ["quality"]}]')
    assert {name: data.n_rows for name, data in found.items()} == {
        "half": 12, "table": 2, "whole": 12, "mine": 8,
    }  # fmt: skip
    assert list(data_of('[{source = "sets", sets = ["whole"]}]')) == ["whole"]
    parts = data_of('[{source = "sets", sets = ["half"]}]', '"given"')["half"]
    assert [part.n_rows for part in parts] == [8, 4]
    monkeypatch.setenv("LABELRULES_DATA", "sets")
    parts = data_of('["half"]', '"given"')["half"]
    assert [part.n_rows for part in parts] == [8, 4]
    both = data_of('[{source = "few.csv", test = "few.csv", labels = ["quality"]}]')
    assert [part.n_rows for part in both["few"]] == [8, 8]


def test_files_are_looked_for_beside_the_plan(monkeypatch, tmp_path):
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    shown = output("experiment", "../plan.toml", "--dry-run")
    assert "few" in shown
    assert not Path("../plan-results").exists()
    data = PlanReader("../plan.toml").data(read_plan("../plan.toml"))
    assert data["magazines"] == load("magazines")
