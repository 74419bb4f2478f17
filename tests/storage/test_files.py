"""Files are whole, of any version, and as the JSON schema says."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from extras import needs
from labelrules import LayeredTheory, from_json, json_schema, load, load_model, save, to_json
from labelrules.data import DataError
from labelrules.learners import register, registered
from labelrules.learners.registry import can_be_stored, unregister
from labelrules.rules import Gibbs, LabelByLabel, UntilStable
from labelrules.storage import files
from learners.registry import Stumps
from storage.documents import SCHEMA, THEORY, changed, rule, voting
from storage.golden import FOLDER
from storage.models import CASES, fitted

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
        assert load_model(tmp_path / f"{moment}.json") == THEORY


# ---------------------------------------------------------------- versions


def test_there_is_an_upgrade_from_every_older_version_and_a_file_of_each_learner():
    assert sorted(files.UPGRADES) == list(range(1, files.VERSION))
    assert json_schema()["$defs"]["ModelDocument"]["properties"]["version"] == {
        "enum": [files.VERSION]
    }
    for version in range(1, files.VERSION + 1):
        kept = {path.stem.removeprefix(f"version-{version}-") for path in FOLDER.glob("*.json")}
        assert kept >= {"decision-list", "rule-set", "layers"}
        if version == files.VERSION:
            stored = {name for name, one in registered().items() if can_be_stored(one)}
            assert stored <= kept


@pytest.mark.parametrize("path", sorted(FOLDER.glob("version-*.json")), ids=lambda p: p.stem)
def test_files_of_every_version_are_read(path):
    """What they predict for the magazine readers is kept beside them, one row to a line."""
    expected = np.loadtxt(path.with_suffix(".txt"), dtype=np.int8, ndmin=2)
    model = load_model(path)
    assert model.predict(load("magazines")).tolist() == expected.tolist()
    if path.stem.startswith(f"version-{files.VERSION}-"):
        assert to_json(model) == path.read_text(encoding="utf-8")


def test_older_documents_go_through_every_upgrade(monkeypatch):
    """As if the rules had once been a bare list, then without the name of their kind."""

    def from_first(document):
        return {**document, "version": 0, "theory": {"rules": document["theory"]}}

    def from_second(document):
        theory = {"kind": "decision list", **document["theory"]}
        return {**document, "version": 1, "theory": theory}

    monkeypatch.setattr(files, "UPGRADES", {-1: from_first, 0: from_second})
    rules = json.loads(to_json(THEORY))["theory"]["rules"]
    assert from_json(changed(version=-1, theory=rules)) == THEORY
    assert from_json(changed(version=0, theory={"rules": rules})) == THEORY
    assert from_json(changed(version=1)) == THEORY
    with pytest.raises(DataError, match=r"\$\.version: .* up to 1"):
        from_json(changed(version=2))
    with pytest.raises(DataError, match=r"\$\.version: -2 is not possible"):
        from_json(changed(version=-2))
    with pytest.raises(DataError, match=r"\$\.theory\.rules: must be a list, not 'text'"):
        from_json(changed(version=-1, theory="text"))


# ---------------------------------------------------------------- the JSON schema


@pytest.fixture(scope="module")
def validator():
    jsonschema = needs("jsonschema")
    register(Stumps)
    yield jsonschema.Draft202012Validator(json_schema())
    unregister(Stumps)


@pytest.mark.parametrize("name", CASES)
def test_files_are_as_the_json_schema_says(name, validator):
    validator.validate(json.loads(to_json(fitted(name)[0])))


@pytest.mark.parametrize("path", sorted(FOLDER.glob("version-1-*.json")), ids=lambda p: p.stem)
def test_stored_files_are_as_the_json_schema_says(path, validator):
    validator.validate(json.loads(path.read_text(encoding="utf-8")))


def test_the_json_schema_knows_every_learner_with_its_parameters_and_state(validator):
    parts = validator.schema["$defs"]
    for learner in registered().values():
        name = learner.__name__
        assert (f"{name}Model" in parts) == can_be_stored(learner)
        if can_be_stored(learner):
            assert parts[f"{name}Parameters"]["required"] == learner._get_param_names()
    document = json.loads(to_json(fitted("covering")[0]))
    document["model"]["learner"] = "Ripper"
    assert not validator.is_valid(document)
    document["model"]["learner"] = "SeparateAndConquer"
    assert validator.is_valid(document)
    document["model"]["state"]["more"] = 1
    assert not validator.is_valid(document)


def test_the_json_schema_is_one_itself(validator):
    validator.check_schema(validator.schema)
    for layers in (UntilStable(3), LabelByLabel(2, (2, 0, 1)), Gibbs(5, 1, 2)):
        validator.validate(json.loads(to_json(LayeredTheory(SCHEMA, [THEORY], layers, THEORY))))
    assert not validator.is_valid(json.loads(rule(stops=1)))
    assert validator.is_valid(json.loads(voting({"quality": 2})))
    for wrong in (voting({"quality": 0}), voting(None), rule(votes={"quality": 2})):
        assert not validator.is_valid(json.loads(wrong))
    assert not validator.is_valid(json.loads(changed(notes=1)))
