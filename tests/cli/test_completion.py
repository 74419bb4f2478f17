"""Completion, asked of the shells themselves where they are at hand."""

import os
import shutil
import subprocess
import sys

import pytest

from labelrules.cli.app import COMMANDS
from shell import output

SHELLS = ["bash", "zsh", "fish"]
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def program(shell):
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not there: install it to have its completion tested")
    return found


OFFERED = {
    "": [*COMMANDS],
    "--v": ["--version"],
    "learn --lear": ["--learner"],
    "learn --learner rip": ["ripper"],
    "learn -l label": ["label-powerset"],
    "learn --set hea": ["heads="],
    "learn -l ripper --set n_f": ["n_folds="],
    "discover rules --set min_s": ["min_support="],
    "discover subgroups --set measure=k": ["measure=kl"],
    "show model.json --sty": ["--style"],
    "show --style uni": ["unicode"],
    "discover con": ["constraints"],
    "convert a.csv b --to par": ["parquet"],
    "stats maga": ["magazines"],
    "stats yea": ["yeast"],
    "stats --part te": ["test"],
    "completion zs": ["zsh"],
    "learn --learner nothing": [],
    "learn --learner=rip": ["--learner=ripper"],
    "learn --set=hea": ["--set=heads="],
    "learn mod": "files",
    "learn -o mod": "files",
    "show mod": "files",
}
"""What is typed, and the whole words that are offered for the last one."""


@pytest.mark.parametrize("typed", OFFERED)
@pytest.mark.parametrize("shell", SHELLS)
def test_words_are_offered(shell, typed, monkeypatch, tmp_path):
    """As the scripts call the program; file names are left to the shells."""
    (tmp_path / "yeast.xml").touch()
    monkeypatch.setenv("LABELRULES_DATA", str(tmp_path))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    words = ["labelrules", *typed.split(" ")]
    if shell == "bash":  # which splits words at =, and replaces what stands behind it
        words = " ".join(words).replace("=", " = ").split(" ")
    monkeypatch.setenv("_LABELRULES_COMPLETE", f"{shell}_complete")
    monkeypatch.setenv("COMP_WORDS", " ".join(words))
    monkeypatch.setenv("COMP_CWORD", words[-1] if shell == "fish" else str(len(words) - 1))
    printed = output().rstrip("\n")
    if shell == "zsh":
        lines = printed.split("\n") if printed else []
        items = list(zip(lines[::3], lines[1::3], strict=True))
    else:
        items = [tuple(line.split("\t")[0].split(",")) for line in printed.splitlines()]
    if OFFERED[typed] == "files":
        assert [kind for kind, _ in items] == ["file"]
        return
    start = (
        typed.split(" ")[-1].rpartition("=")[0] + "=" if "=" in typed and shell == "bash" else ""
    )
    assert [start + value for _, value in items] == OFFERED[typed]


def test_the_changes_of_the_script_for_zsh_take_place():
    """They are made in the text of click's script, which may be another one some day."""
    script = output("completion", "zsh")
    assert 'compadd "${suffix[@]}" -U' in script
    assert "if [[ $funcstack[1] == _labelrules ]]" in script


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_sound(shell, tmp_path):
    path = tmp_path / "script"
    path.write_text(output("completion", shell), encoding="utf-8")
    subprocess.run([program(shell), "-n", str(path)], check=True)


def programs(folder):
    """A folder with the program in it, which scripts call."""
    place = folder / ".programs"
    place.mkdir()
    path = f"{os.pathsep.join(sys.path[1:])}"
    program = place / "labelrules"
    program.write_text(f'#!/bin/sh\nPYTHONPATH={path} exec {sys.executable} -m labelrules "$@"\n')
    program.chmod(0o755)
    return place


CASES = {
    "lear": "<learn>",
    "--vers": "<--version>",
    "learn --lear": "<learn><--learner>",
    "learn --learner rip": "<learn><--learner><ripper>",
    "learn -l rip": "<learn><-l><ripper>",
    "learn --learner=rip": "<learn><--learner=ripper>",
    "learn --set hea": "<learn><--set><heads=>",
    "learn --set=hea": "<learn><--set=heads=>",
    "learn -s hea": "<learn><-s><heads=>",
    "show mod": "<show><model of 2024.json>",
    "show model\\ o": "<show><model of 2024.json>",
    "show folder/": "<show><folder/rows.csv>",
    "learn folder/r": "<learn><folder/rows.csv>",
    "learn -o mod": "<learn><-o><model of 2024.json>",
    "show model.json --sty": "<show><model.json><--style>",
    "show --style uni": "<show><--style><unicode>",
    "discover con": "<discover><constraints>",
    "convert a.csv b --to par": "<convert><a.csv><b><--to><parquet>",
    "completion zs": "<completion><zsh>",
    "learn --learner nothing": "<learn><--learner><nothing>",
}
"""What is typed before Tab and Enter, and what the program is given then."""


# Slow: what a terminal shows depends on when it is typed, and a busy machine mixes up the two.
@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals on Windows")
@pytest.mark.parametrize("shell", SHELLS)
def test_tab_in_a_terminal(shell, tmp_path):
    """In bash names with spaces fell apart; --option=value was completed by fish alone.

    In zsh, click's script does nothing at the second Tab, which is why it is changed.
    """
    from shell_sessions import Session

    program(shell)
    (tmp_path / "model of 2024.json").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "rows.csv").touch()
    script = tmp_path / ".functions" / "_labelrules"
    script.parent.mkdir()
    script.write_text(output("completion", shell), encoding="utf-8")
    setup = [f"source {script}"]
    if shell == "zsh":
        setup = [f"fpath=({script.parent} $fpath)", "autoload -Uz compinit", "compinit -u -D"]
    session = Session(shell, tmp_path, programs(tmp_path), setup)
    try:
        found = {typed: session.given(typed) for typed in CASES}
    finally:
        session.close()
    assert found == CASES


@pytest.mark.slow
def test_zsh_can_source_the_script(tmp_path):
    from shell_sessions import Session

    program("zsh")
    script = tmp_path / "script"
    script.write_text(output("completion", "zsh"), encoding="utf-8")
    setup = ["autoload -Uz compinit", "compinit -u -D", f". {script}"]
    session = Session("zsh", tmp_path, programs(tmp_path), setup)
    try:
        assert session.given("learn --lear") == "<learn><--learner>"
    finally:
        session.close()
