"""Transcripts of the command line: each command with its help, its examples, and wrong calls."""

import os
import shlex
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

from click import Context

from labelrules.cli.app import COMMANDS, program
from records.keeping import Cases
from records.texts import Sections, digest
from shell import called  # of tests
from tiny_studies import write_sets  # of tests

PATIENTS = "id,age,sex,asthma,flu\n1,36,f,1,0\n2,52,m,0,1\n3,47,m,0,1\n4,8,f,1,0\n5,12,m,1,0\n"
READERS = "age,sex,quality,tabloid\n36,f,1,0\n52,m,0,1\n47,m,0,1\n18,f,1,0\n22,m,1,0\n"
RULES = "quality <- education = University\nfashion <- sex = Female\n"
FILES = {
    "plan.toml": 'data = ["magazines"]\nsplit = 2\n'
    'learners = {lists = "separate-and-conquer", chain = "classifier-chain"}\n',
    "patients.csv": PATIENTS, "later.csv": PATIENTS, "readers.csv": READERS, "new.csv": READERS,
    "my-rules.txt": RULES, "edited.txt": f"{RULES}otherwise: no label\n",
    "names.csv": "old,new\nquality,serious\n", "broken.csv": "a,l\n1,0\n2\n",
    "broken.json": '{"format": "labelrules"}', "broken.txt": "quality <- educatoin = University\n",
}  # fmt: skip
L, P = "--labels quality,tabloid", "--labels asthma,flu"
LEARN = "learn magazines -o model.json"

LINES = {
    "learners": [
        f"learn magazines --learner {name}" for name in (
            "binary-relevance", "stacked-binary-relevance", "classifier-chain", "label-powerset",
            "scorecard", "associative-classifier", "constrained-classifier")
    ],
    "learn": [
        "learn clinic --set bins=32 --set max_rules=5 --test clinic", "learn magazines --json",
        "learn magazines --cv 3", "learn magazines -v", f"learn readers.csv {L} --memory-limit 1",
        f"learn patients.csv {P} --nominal id --ignore sex", "learn magazines --keep edited.txt",
        "learn magazines --keep edited.txt --first 1", "learn flags --part train --test flags",
        "learn --learner scorecard --settings", "learn --settings",
        "learn magazines --author Me --notes 'a note' -o noted.json", "show noted.json --about",
    ],
    "one file": [
        LEARN, "show model.json", "show model.json --by label", "show model.json --json",
        "show model.json --style unicode", "show model.json --style ascii",
        "show model.json --style markdown", "show model.json --style latex",
        "show model.json --style html", "show model.json --summary --data magazines",
        "show model.json --label quality", "show model.json --count magazines",
        "show model.json --names names.csv", "show my-rules.txt --data magazines --summary",
        "predict model.json magazines", "predict model.json magazines --as sets",
        "predict model.json magazines --as probabilities", "predict model.json magazines --json",
        "evaluate model.json magazines", "evaluate my-rules.txt magazines --json",
        "evaluate model.json magazines -m f1/micro/full -m subset/full",
        "explain model.json magazines --row 3", "explain model.json magazines --row 3 --details",
        "explain model.json magazines --row 3 --style sentences --training magazines",
        "explain model.json magazines --row 3 --style trace",
        "explain model.json magazines --row 3 --style html", "explain model.json magazines --json",
        "explain model.json magazines --row 2 --fixed education --label sports",
        "compare model.json my-rules.txt magazines",
        "compare model.json edited.txt magazines --json",
        "report model.json magazines -o -", "convert model.json - --to rules",
        *(f"convert model.json - --to {name}" for name in (
            "python", "javascript", "sql", "pmml", "latex", "markdown", "html", "json")),
    ],
    "card": [
        "learn magazines --learner scorecard -o card.json", "show card.json --by table",
        "explain card.json magazines --row 3", "convert card.json - --to sql",
    ],
    "data": [
        "stats magazines", "stats clinic", "stats clinic --json", f"stats readers.csv {L}",
        f"convert readers.csv - --to arff {L}", "convert magazines - --to csv",
        f"convert readers.csv there.parquet {L}", "stats there.parquet", "convert flags - --to csv",
    ],
    "discover": [
        "discover itemsets magazines --set min_support=4", "discover constraints flags",
        "discover rules magazines --set min_support=3 --set bodies=both --first 5 --json",
        "discover subgroups magazines --set measure=wracc --set target=quality --set top=3",
        "discover rules magazines -o - --set min_support=4", "discover rules --settings",
    ],
    "experiments": [
        "frontier magazines --sizes 4,8 --folds 3",
        "frontier magazines --sizes 4,8 --folds 3 --json",
        "frontier magazines --sizes 4,8 --folds 3 --csv -", "experiment plan.toml --dry-run",
        "experiment plan.toml", "experiment plan.toml --json",
    ],
    "wrong": [
        "", "lern magazines", "learn", "learn nowhere.csv", "learn magazine", "learn readers.csv",
        "learn readers.csv --labels qualty", "learn broken.csv --labels l",
        "learn magazines --cv 1",
        "learn magazines --set beam_widht=2", "learn magazines --set beam_width=x",
        "learn magazines --set beam_width=0", "learn magazines --learner riper",
        "learn magazines --learner ripper", "learn magazines --nominal sexx", "learn - --labels l",
        "show nothing.json", "show broken.json", "show broken.txt",
        "show broken.txt --data magazines",
        "predict broken.json magazines", f"predict broken.txt patients.csv {P}",
        "explain my-rules.txt magazines --row 99", "explain my-rules.txt magazines --label qualty",
        "evaluate my-rules.txt magazines -m beauty", "compare my-rules.txt nothing.json",
        "convert magazines there.xyz", "convert my-rules.txt - --to sql",
        "discover everything clinic",
        "discover rules magazines --set min_suport=2", "experiment nothing.toml", "stats",
        "frontier magazines --sizes many", "report my-rules.txt", "completion csh", "learn -x",
    ],
    "rest": ["--version", "demo", *(f"completion {one}" for one in ("bash", "zsh", "fish"))],
}  # fmt: skip
"""Calls one after the other in a folder with the files above; each group has a folder."""

LEARNED = ("model.json", "old.json", "new.json")


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """Help, examples of the help, and further lines."""
    yield "help", lambda: _transcript(["--help"], ["-h"])
    for name in COMMANDS:
        yield f"help/{name}", partial(_transcript, [name, "--help"])
        command: Any = program.get_command(Context(program), name)
        for number, line in enumerate(getattr(command, "examples", ())):
            if name not in ("workbench", "warm-up"):  # without end; says what is compiled already
                yield f"examples/{name} {number}", partial(_example, line)
    for name, lines in LINES.items():
        yield f"lines/{name}", partial(_lines, lines)


def _prepare(*sets: str) -> None:
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    write_sets(Path("sets"), *sets)


def _transcript(*calls: list[str], stdin: str = "") -> Sections:
    """What each call prints, its exit status, and the files that it has written."""
    found = Sections()
    for words in calls:
        before = _files()
        done = called(*words, stdin=stdin)
        said = [done.out, *(f"stderr: {line}" for line in done.err.splitlines()
                            if "compiling, once" not in line)]  # fmt: skip
        new = [f"wrote {path}" + (f": {digest(text)}" if _is_same(path, text) else "")
               for path, text in _files().items() if before.get(path) != text]  # fmt: skip
        found[f"labelrules {shlex.join(words)}"] = [*said, f"exit status {done.code}", *new]
    return found


def _is_same(path: str, content: bytes) -> bool:
    """Whether a file is the same at any time."""
    return path.endswith((".csv", ".arff", ".xml", ".svg")) and b"seconds" not in content


def _files() -> dict[str, bytes]:
    return {
        str(one): one.read_bytes() for one in sorted(Path().rglob("*"))
        if one.is_file() and one.parts[0] not in ("sets", "data") and "results" not in one.parts[0]
    }  # fmt: skip


@patch.dict(os.environ, {"LABELRULES_DATA": "sets"})
def _lines(lines: list[str]) -> Sections:
    _prepare("flags")
    return _transcript(*map(shlex.split, lines))


@patch.dict(os.environ, {"LABELRULES_DATA": "sets"})
def _example(line: str) -> Sections:
    """An example of a help text, on files of the names that it has."""
    words = shlex.split(line[line.index("labelrules ") :].rstrip(")").partition(" > ")[0])[1:]
    _prepare("flags", "medical", "emotions", "yeast", "genbase")
    Path("data").symlink_to("sets")  # as examples name the folder
    if words[0] != "learn":
        _learn(line.split())
    given = next((text for name, text in FILES.items() if line.startswith(f"cat {name} |")), "")
    return _transcript(words, stdin=given)


def _learn(words: list[str]) -> None:
    """The models that an example needs, of the data that it names."""
    files = {"patients.csv": P, "later.csv": P, "readers.csv": L, "new.csv": L}
    known = [f"{word} {files[word]}" for word in words if word in files]
    sets = [f"{word} --part train" for word in words if word in ("yeast", "medical", "emotions")]
    data = (known or sets or ["magazines"])[0]
    for name in {*words} & {*LEARNED}:
        done = called(*shlex.split(f"learn {data} --set max_rules=3 -o {name}"))
        assert done.code == 0, done.err
