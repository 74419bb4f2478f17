"""The command line as somebody gets it who installs the package: a wheel, in an empty environment.

Every command runs there on real data. Nothing of this folder is on the path.
"""

import json
import os
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

import pytest

from labelrules import __version__
from labelrules.cli.app import COMMANDS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="the folders of an environment have other names"),
]

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements" / "constraints.txt"

CALLS = """
learn flags --part train -q -o model.json
learn flags --part train -q --learner binary-relevance -o other.json
predict model.json flags --part test -o labels.csv
evaluate model.json flags --part test --json
show model.json --summary
show model.json --style html -o rules.html
explain model.json flags --part test --row 3 --training flags
compare model.json other.json --data flags --part test
frontier flags --part test --learners separate-and-conquer --sizes 5 --folds 2
experiment plan.toml -q
discover constraints flags
discover rules flags --set min_support=0.2 -o rules.csv
convert flags flags.parquet --part test
convert model.json model.sql --dialect duckdb
convert model.json model.py
stats flags --part test --json
warm-up
completion bash
demo
"""


OF_AN_EXTRA = {"workbench", "report"}
"""Commands of the extra `workbench`, which is installed later."""

PAGES = {
    "/": "text/html",
    "/rules/1": "text/html",
    "/static/style.css": "text/css",
    "/static/workbench.js": "text/javascript",
    "/api/rules": "application/json",
}

PLAN = """
data = ["flags"]
split = "given"
measures = "micro F1"
learners = {lists = "separate-and-conquer", tree = "sklearn.tree.DecisionTreeClassifier"}
"""


def run(*words, folder, **more):
    """Run a program without what this process has on its paths."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    return subprocess.run(
        [*map(str, words)], cwd=folder, env={**environment, **more}, capture_output=True,
        text=True, timeout=600, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder with the programs of an environment into which the wheel was installed."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "env", with_pip=True)
    bin_ = folder / "env" / "bin"
    pip = [bin_ / "python", "-m", "pip", "--disable-pip-version-check"]
    asked = run(*pip, "download", "--no-deps", "-q", "-c", LOCK, "hatchling", folder=folder)
    if asked.returncode != 0:
        pytest.skip(f"no package can be installed here: {asked.stderr.strip()[-200:]}")
    for words in (
        ["wheel", "-q", "--no-deps", "-c", LOCK, "-w", folder / "dist", ROOT],
        ["install", "-q", "-c", LOCK, "--find-links", folder / "dist",
         f"labelrules[sql,parquet]=={__version__}"],
    ):  # fmt: skip
        done = run(*pip, *words, folder=folder)
        assert done.returncode == 0, done.stderr
    assert [one.suffix for one in (folder / "dist").iterdir()] == [".whl"]
    return bin_


def test_every_command_runs_on_real_data(installed, data_folder, tmp_path):
    where = run(
        installed / "python", "-c", "import labelrules; print(labelrules.__file__)", folder=tmp_path
    )
    assert Path(where.stdout.strip()).is_relative_to(installed.parent), where.stdout
    calls = [line.split() for line in CALLS.strip().splitlines()]
    assert {words[0] for words in calls} == COMMANDS.keys() - OF_AN_EXTRA
    Path(tmp_path, "plan.toml").write_text(PLAN, encoding="utf-8")
    for words in calls:
        done = run(
            installed / "labelrules", *words, folder=tmp_path, LABELRULES_DATA=str(data_folder)
        )
        assert done.returncode == 0, f"{words}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        assert "--json" not in words or json.loads(done.stdout)
    made = {"model.json", "other.json", "labels.csv", "rules.html", "rules.csv", "flags.parquet"}
    assert {one.name for one in tmp_path.iterdir()} >= made | {"model.sql", "model.py"}


@pytest.fixture(scope="module")
def with_workbench(installed):
    """The same environment, with the extra `workbench`, from the same wheel."""
    folder = installed.parent.parent
    words = ["install", "-q", "-c", LOCK, "--find-links", folder / "dist",
             f"labelrules[workbench]=={__version__}"]  # fmt: skip
    pip = [installed / "python", "-m", "pip", "--disable-pip-version-check"]
    done = run(*pip, *words, folder=folder)
    assert done.returncode == 0, done.stderr
    return installed


@pytest.mark.parametrize("words", [(), ("magazines", "rules.txt")], ids=["clinic", "rules"])
def test_one_command_opens_a_page(with_workbench, tmp_path, words):
    Path(tmp_path, "rules.txt").write_text("quality <- sex = Female\n", encoding="utf-8")
    server = subprocess.Popen(
        [with_workbench / "labelrules", "workbench", *words], cwd=tmp_path, text=True,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), server.stderr.read()
        token = address.partition("token=")[2]
        for path, kind in PAGES.items():
            request = urllib.request.Request(
                address.partition("/?")[0] + path, headers={"Authorization": f"Bearer {token}"}
            )
            with urllib.request.urlopen(request, timeout=120) as answer:
                assert answer.headers.get_content_type() == kind
                assert len(answer.read()) > 200
    finally:
        server.kill()
        server.communicate(timeout=30)


def test_a_report_is_one_file(with_workbench, tmp_path):
    Path(tmp_path, "rules.txt").write_text("quality <- sex = Female\n", encoding="utf-8")
    words = ["report", "rules.txt", "magazines", "-o", "report.html"]
    done = run(with_workbench / "labelrules", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    text = Path(tmp_path, "report.html").read_text(encoding="utf-8")
    assert "1 rule with 1 condition" in text
    assert "src=" not in text
    assert "<link" not in text


def test_it_is_the_same_version_and_python(installed, tmp_path):
    done = run(installed / "labelrules", "--version", folder=tmp_path)
    assert done.stdout == f"labelrules {__version__}\n"
    version = run(installed / "python", "--version", folder=tmp_path).stdout.split()[1]
    assert version == sys.version.split()[0]
