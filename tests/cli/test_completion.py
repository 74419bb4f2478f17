"""Completion, asked of the shells themselves where they are at hand."""

import os
import shutil
import subprocess

import pytest

from shell import output

SHELLS = ["bash", "zsh", "fish"]
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def program(shell):
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"{shell} is not there: install it to have its completion tested")
    return found


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_whole(shell):
    script = output("completion", shell)
    for word in ("discover", "stacked-binary-relevance", "min_support=", "subgroups"):
        assert word in script


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_are_sound(shell, tmp_path):
    path = tmp_path / "script"
    path.write_text(output("completion", shell), encoding="utf-8")
    subprocess.run([program(shell), "-n", str(path)], check=True)


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
    """In bash names with spaces fell apart; --option=value was completed by fish alone."""
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
    session = Session(shell, tmp_path, setup)
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
    session = Session("zsh", tmp_path, ["autoload -Uz compinit", "compinit -u -D", f". {script}"])
    try:
        assert session.given("learn --lear") == "<learn><--learner>"
    finally:
        session.close()
