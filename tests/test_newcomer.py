"""A newcomer's walk: what the README says leads from a table of one's own to a model and a picture.

The commands are those of the README, with another file and other labels, so that the README and
this test cannot say different things. Here they run in this process, without the installation; a
slow test does all of it as it stands, in a fresh clone.
"""

import csv
import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from written import DOCS

from extras import needs
from labelrules import load_model
from shell import called

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
THEIRS, OURS = ["pneumonia", "flu", "infection"], ["urgent", "invoice", "spam"]


def commands(program: str = "") -> list[str]:
    """The lines of the shell blocks of the README, about our table instead of its own."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    text = (
        "".join(blocks).replace("patients.csv", "mails.csv").replace(*map(",".join, (THEIRS, OURS)))
    )
    return [line for line in text.splitlines() if line.startswith(program)]


def write_table(folder: Path) -> None:
    """A table as somebody may have it: numbers, words, gaps, and three labels."""
    chance = random.Random(31)
    with open(folder / "mails.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["sender", "hour", "links", "amount", *OURS])
        for _ in range(150):
            sender = chance.choice(["customer", "supplier", "unknown"])
            hour, links = chance.randrange(24), chance.randrange(12)
            amount = chance.choice(["", round(chance.uniform(5, 900), 2)])
            spam = sender == "unknown" and links > 4
            invoice = sender == "supplier" and amount != ""
            urgent = (sender == "customer" and hour < 9) or (invoice and float(amount) > 500)
            table.writerow([sender, hour, links, amount, *map(int, (urgent, invoice, spam))])


def check_results(folder: Path) -> None:
    """What a newcomer has at the end."""
    assert load_model(folder / "model.json").schema_.labels == tuple(OURS)
    assert all(label in (folder / "rules.html").read_text("utf-8") for label in OURS)
    assert ElementTree.parse(folder / "sizes.svg").getroot().tag.endswith("svg")


def test_the_readme_leads_to_a_model_an_explanation_and_a_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path)
    printed = {}
    for line in commands("labelrules "):
        done = called(*shlex.split(line, comments=True)[1:])
        assert done.code == 0, f"{line}\n{done.err}"
        assert "Traceback" not in done.err
        what = " ".join(line.split()[1:3])
        printed[what] = printed.get(what, "") + done.out
    assert "micro F1" in printed["learn mails.csv"]
    assert "sender = supplier" in printed["show model.json"]
    assert "\n    because " in printed["explain model.json"]
    check_results(tmp_path)


def test_it_takes_less_than_ten_commands():
    assert 4 <= len(commands()) < 10
    assert [line.split()[0] for line in commands()][:2] == ["python3", "pip"]


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 150


def test_the_table_of_get_started_is_the_one_that_its_script_makes(tmp_path):
    pandas = needs("pandas")
    needs("PIL")
    from overview import patients

    patients().to_csv(tmp_path / "patients.csv", index=False)
    made, kept = (tmp_path / "patients.csv").read_text(), DOCS / "_static" / "patients.csv"
    assert made == kept.read_text("utf-8")
    assert len(pandas.read_csv(kept)) == 462


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")
def test_a_fresh_clone_and_the_readme_are_enough(tmp_path):
    clone = tmp_path / "clone"
    done = subprocess.run(
        ["git", "clone", "-q", "--no-hardlinks", ROOT, clone], capture_output=True, text=True
    )
    if done.returncode != 0:
        pytest.skip(f"no clone can be made: {done.stderr.strip()[-200:]}")
    write_table(clone)
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment["PATH"] = f"{Path(sys.base_prefix) / 'bin'}{os.pathsep}{environment['PATH']}"
    environment["PIP_CONSTRAINT"] = str(clone / "requirements" / "constraints.txt")
    done = subprocess.run(
        ["bash", "-e", "-c", "\n".join(commands())],
        cwd=clone, env=environment, capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    if re.search("No matching distribution found for (hatchling|numpy)", done.stderr):
        pytest.skip(f"no package can be installed here: {done.stderr.strip()[-200:]}")
    assert done.returncode == 0, done.stderr
    assert "\n    because " in done.stdout
    check_results(clone)
