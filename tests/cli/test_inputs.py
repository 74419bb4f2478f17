"""Several files, compressed files and standard input, for every command that reads data."""

import bz2
import lzma
from pathlib import Path

import pytest

from labelrules.data import load, read_csv, write_csv, write_mulan
from shell import called, output

N_FIRST = 9


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The readers of magazines in two parts, as CSV and as ARFF, and a model."""
    data = load("magazines")
    monkeypatch.chdir(tmp_path)
    for name, rows in (("one", range(N_FIRST)), ("two", range(N_FIRST, len(data)))):
        part = data.take(list(rows))
        write_csv(part, f"{name}.csv.bz2" if name == "two" else f"{name}.csv")
        write_mulan(part, f"{name}.arff.xz" if name == "two" else f"{name}.arff")
    write_csv(data, "all.csv")
    output("learn", "magazines", "-o", "model.json")
    return tmp_path


CALLS = [
    ["stats", "{}", "--json"],
    ["predict", "model.json", "{}"],
    ["predict", "model.json", "{}", "--json"],
    ["evaluate", "model.json", "{}", "-m", "f1"],
    ["explain", "model.json", "{}", "--row", "12"],
    ["discover", "itemsets", "{}"],
    ["compare", "model.json", "model.json", "--data", "{}"],
    ["show", "model.json", "--summary", "--data", "{}"],
    ["convert", "{}", "-", "--to", "csv"],
]


def with_files(call: list[str], *names: str) -> list[str]:
    """The words of a call; an option is repeated for each file."""
    words: list[str] = []
    for word in call:
        if word != "{}":
            words.append(word)
        elif words[-1] == "--data":
            words += [names[0], *(part for name in names[1:] for part in ("--data", name))]
        else:
            words += names
    return words


@pytest.mark.parametrize("call", CALLS, ids=lambda call: " ".join(call))
@pytest.mark.parametrize("names", [("one.csv", "two.csv.bz2"), ("one.arff", "two.arff.xz")])
def test_several_files_are_one_data_set(
    call: list[str], names: tuple[str, ...], folder: Path
) -> None:
    whole = output(*with_files(call, "all.csv"))
    assert output(*with_files(call, *names)).replace('"one"', '"magazines"') == whole


def test_learning_from_several_files(folder: Path) -> None:
    words = ["-o", "again.json", "--json"]
    expected = called("learn", "magazines", *words).json
    found = called("learn", "one.csv", "two.csv.bz2", "--test", "all.csv", *words).json
    assert found["rows"] == expected["rows"] == 14
    assert output("show", "again.json") == output("show", "model.json")


@pytest.mark.parametrize("pack", [bytes, bz2.compress, lzma.compress])
def test_standard_input_may_be_compressed(pack, folder: Path) -> None:
    labels = ",".join(load("magazines").schema.labels)
    content = pack(Path("all.csv").read_bytes())
    found = called("stats", "-", "--labels", labels, "--json", stdin=content)
    assert found.json["instances"] == 14


def test_standard_input_may_be_one_of_several(folder: Path) -> None:
    rest = bz2.decompress(Path("two.csv.bz2").read_bytes()).decode()
    whole = output("predict", "model.json", "all.csv")
    assert output("predict", "model.json", "one.csv", "-", stdin=rest) == whole


@pytest.mark.parametrize("ending", [".bz2", ".xz"])
def test_data_are_converted_to_compressed_files(ending: str, folder: Path) -> None:
    output("convert", "one.csv", "two.csv.bz2", f"both.csv{ending}")
    assert read_csv(f"both.csv{ending}") == load("magazines")
