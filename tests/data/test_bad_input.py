"""Malformed input and its messages.

Text files are in the folder `bad`, with the call that reads them and the message that it gives
(``<any>`` for the words of another library). What is not text is in `bad_arff.py` (Mulan and MEKA
files) and `bad_tables.py` (arrays, frames, CSV and Parquet files): a name, how to make and read the
input, and the message as a pattern.
"""

import re
import traceback
from pathlib import Path

import pytest

import bad_arff
import bad_tables
import labelrules.data
from labelrules.data import DataError, FileError

SECTION = re.compile(r"^(?:>>> |--- )(.*)\n((?:(?!--- ).*\n)*)", re.MULTILINE)
BAD = Path(__file__).parent / "bad"


def assert_reads_well(error: Exception, message: str) -> None:
    """The whole message is as the table says, on one line, and no other error stands above it."""
    assert re.search(message, str(error)), str(error)
    assert "\n" not in str(error)
    shown = "".join(traceback.format_exception(error))
    assert shown.count("Traceback (most recent call last)") == 1


def text_cases() -> dict[str, str]:
    cases = {}
    for file in sorted(BAD.glob("*.txt")):
        for case in re.split(r"^=== ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, _, content = case.partition("\n")
            assert cases.setdefault(f"{file.stem}: {name}", content) is content, "a name twice"
    return cases


@pytest.mark.parametrize("content", text_cases().values(), ids=text_cases())
def test_bad_text_files(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call, *files, (end, message) = re.findall(
        r"^(?:--- |>>> )(.*)\n((?:(?!--- ).*\n)*)", content, re.M
    )
    assert end == "error"
    monkeypatch.chdir(tmp_path)
    Path("labels.xml").write_bytes((BAD / "labels.xml").read_bytes())
    for name, text in files:
        Path(name).write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        eval(call[0], vars(labelrules.data))
    expected = ".*".join(map(re.escape, message.strip().split("<any>")))
    assert_reads_well(caught.value, rf"\A{expected}\Z")
    line = re.match(r"[^:]*, line (\d+): ", message)
    assert caught.value.line == (int(line[1]) if line else None)


def shown(path: Path) -> str:
    """A path as messages name it: in quotes if it has characters that cannot be shown."""
    return str(path) if str(path).isprintable() else repr(str(path))


@pytest.mark.parametrize("case", bad_tables.ARRAYS)
def test_bad_arrays_and_frames(case: str) -> None:
    attempt, message = bad_tables.ARRAYS[case]
    with pytest.raises(DataError) as caught:
        attempt()
    assert_reads_well(caught.value, message)


@pytest.mark.parametrize("case", bad_arff.FILES)
def test_bad_mulan_and_meka_files(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt, message = bad_arff.FILES[case]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError) as caught:
        attempt(Path())
    error = caught.value
    assert_reads_well(error, rf"\A{message}\Z")
    assert str(error).startswith(shown(error.path))
    assert (error.line is None) == (", line " not in str(error).partition(": ")[0])


@pytest.mark.parametrize("case", bad_tables.FILES)
def test_bad_csv_and_parquet_files(case: str, tmp_path: Path) -> None:
    attempt, line, message = bad_tables.FILES[case]
    with pytest.raises(FileError) as caught:
        attempt(tmp_path)
    error = caught.value
    assert_reads_well(error, message)
    assert error.line == line
    assert str(error).startswith(shown(error.path))
    assert error.path == tmp_path or tmp_path in error.path.parents


@pytest.mark.parametrize("table", [bad_arff, bad_tables])
def test_bad_options(table, tmp_path: Path) -> None:
    for attempt, message in table.OPTIONS.values():
        with pytest.raises(DataError) as caught:
            attempt(tmp_path)
        assert_reads_well(caught.value, message)


def test_the_good_file_of_the_table_is_good(tmp_path: Path) -> None:
    """Else the cases would fail for another reason than they name."""
    assert len(bad_arff.mulan()(tmp_path)) == 2
