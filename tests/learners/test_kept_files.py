"""Files are whole, of any version, and as the published schema says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from labelrules import LayeredTheory, from_json, load, restore, save, to_json
from labelrules.data import DataError
from labelrules.learners import json_schema, kept
from labelrules.rules import Gibbs, LabelByLabel, UntilStable
from learners.kept_documents import SCHEMA, THEORY, changed, rule, voting
from learners.kept_models import CASES, fitted

OLD_FILES = Path(__file__).parents[1] / "golden" / "kept"


# ---------------------------------------------------------------- files that are whole


KILLED = """
import io, os, signal, sys
import labelrules.data.files.access
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
    "write": (labelrules.data.files.access, "TextIOWrapper", Dying),
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
