"""The examples that every ``--help`` shows are run, on the data that they name."""

import shlex
from pathlib import Path

import pytest
from click import Context

from extras import needs
from labelrules import SeparateAndConquer, load, save
from labelrules.cli.app import COMMANDS, program
from labelrules.data import read_csv
from shell import called, with_extras

PATIENTS = "id,age,sex,asthma,flu\n1,36,f,1,0\n2,52,m,0,1\n3,47,m,0,1\n4,8,f,1,0\n5,12,m,1,0\n"
READERS = "age,sex,quality,tabloid\n36,f,1,0\n52,m,0,1\n47,m,0,1\n18,f,1,0\n22,m,1,0\n"
RULES = "quality <- education = University\nfashion <- sex = Female\n"
PLAN = """data = ["magazines"]
split = 2
learners = {lists = "separate-and-conquer", chain = "classifier-chain"}
"""
FILES = {
    "plan.toml": PLAN,
    "patients.csv": PATIENTS,
    "later.csv": PATIENTS,
    "readers.csv": READERS,
    "new.csv": READERS,
    "my-rules.txt": RULES,
    "edited.txt": RULES,
    "names.csv": "old,new\nquality,serious\n",
}
LABELS = {
    "patients.csv": ["asthma", "flu"],
    "later.csv": ["asthma", "flu"],
    "readers.csv": ["quality", "tabloid"],
    "new.csv": ["quality", "tabloid"],
}
BENCHMARKS = ("yeast", "emotions", "medical")
MODELS = ("model.json", "old.json", "new.json")


def examples():
    """Each line, without what else a shell does."""
    for name in COMMANDS:
        for line in program.get_command(Context(program), name).examples:
            start = line.index("labelrules ")
            words = shlex.split(line[start:].rstrip(")").partition(" > ")[0])[1:]
            assert words[0] == name, line
            yield pytest.param(line, words, id=line)


def data_of(words):
    """What the example is about: a file, a data set, or the readers."""
    of_file = [word for word in words if word in LABELS]
    if of_file:
        return read_csv(of_file[0], LABELS[of_file[0]])
    known = [word for word in words if word in BENCHMARKS]
    return load(known[0], part="train") if known else load("magazines")


@pytest.mark.parametrize(("line", "words"), list(examples()))
def test_every_example_of_the_help_runs(line, words, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if set(words) & {*BENCHMARKS}:
        folder = request.getfixturevalue("data_folder")  # or skip, and say why
        monkeypatch.setenv("LABELRULES_DATA", str(folder))
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    if words[0] != "learn" and {*words} & {*MODELS}:
        model = SeparateAndConquer(max_rules=3).fit(data_of(line.split()))
        for name in {*words} & {*MODELS}:
            save(model, name)
    if words[0] == "workbench":  # all but the serving, which has no end
        needs("starlette")
        monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    given = next((text for name, text in FILES.items() if line.startswith(f"cat {name} |")), "")
    done = with_extras(called(*words, stdin=given))
    assert done.code == 0, done.err
    assert "Traceback" not in done.err
