"""The page on the command line shows what is printed."""

import re
import shlex
from pathlib import Path

from shell import called, with_extras

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```toml\n(# (\S+)\n.*?)^```$", re.MULTILINE | re.DOTALL)


def calls(page: str) -> list[tuple[str, str]]:
    """Each line that begins with a dollar, and what stands below it."""
    found = []
    for block in BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, shown = part.partition("\n")
            found.append((line, shown))
    return found


def printed(line: str) -> str:
    """What a line prints, errors included."""
    line, _, target = line.partition(" > ")
    text, errors = "", ""
    for part in line.split(" | "):
        program, *words = shlex.split(part)
        if program == "labelrules":
            done = with_extras(called(*words, stdin=text))
            text, errors = done.out, errors + done.err
        elif program == "cat":
            text = Path(words[0]).read_text(encoding="utf-8")
        elif program == "echo":
            text = " ".join(words) + "\n"
        elif program == "sed":
            text = "".join(text.splitlines(keepends=True)[1:])
        else:
            raise ValueError(f"no program {program}")
    if target:
        Path(target).write_text(text, encoding="utf-8")
        text = ""
    return text + errors


def same(shown: str, found: str) -> bool:
    """Equal but for times, which differ from run to run."""
    times = re.compile(r"\d+\.\d s\b")
    return times.sub("T s", shown) == times.sub("T s", found)


def test_every_line_of_the_page_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELRULES_DATA", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    page = PAGE.read_text(encoding="utf-8")
    for text, name in FILE.findall(page):
        Path(name).write_text(text, encoding="utf-8")
    listed = calls(page)
    assert len(listed) >= 25
    for line, shown in listed:
        assert same(shown, printed(line)), f"{line}\n{printed(line)}"


def test_get_started_shows_what_is_printed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    docs = PAGE.parent
    Path("patients.csv").write_bytes((docs / "_static" / "patients.csv").read_bytes())
    listed = calls((docs / "get-started.md").read_text(encoding="utf-8"))
    assert len(listed) >= 5
    for line, shown in listed:
        assert same(shown, printed(line)), f"{line}\n{printed(line)}"
