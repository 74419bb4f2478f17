"""Answers into files, one each, and what differs between two folders of them."""

import difflib
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import chdir
from pathlib import Path
from typing import Any, TypeAlias

from records.texts import folded, masked, shown

Cases: TypeAlias = Iterable[tuple[str, Callable[[], Any]]]

FAILED = "FAILED: "


def answer_text(make: Callable[[], Any]) -> str:
    """What a case answers, in an empty folder, with the warnings that it gives."""
    with (
        tempfile.TemporaryDirectory() as folder,
        chdir(folder),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        text = shown(make())
        said = dict.fromkeys(
            f"{one.category.__name__}: {one.message}" for one in caught
            if not issubclass(one.category, (DeprecationWarning, ResourceWarning))
        )  # fmt: skip
        lines = [text, *(["=== warnings", *said] if said else ())]
        return folded(masked("\n".join(lines), Path(folder)))


def or_refusal(make: Callable[[], Any]) -> Any:
    """What a case answers, or the words in which the library refuses it.

    A refusal is raised by the library itself; an error that only passes through it is a defect.
    """
    try:
        return make()
    except (ValueError, TypeError) as wrong:
        last = traceback.extract_tb(wrong.__traceback__)[-1]
        if "labelrules" not in Path(last.filename).parts or not str(last.line).startswith("raise"):
            raise
        return f"refused: {type(wrong).__name__}: {wrong}"


def keep(folder: Path, part: str, cases: Callable[[], Cases]) -> tuple[int, list[str]]:
    """Write the records of a part; their number, and those that failed."""
    place = folder / part
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    n_records, n_refused, failed = 0, 0, []
    whole = time.process_time()
    for name, make in _safely(cases):
        try:
            text = answer_text(make)
        except KeyboardInterrupt:
            raise
        except BaseException as wrong:  # also those by which tests are skipped or programs end
            text = f"{FAILED}{type(wrong).__name__}: {masked(str(wrong))}\n"
            failed.append(f"{part}/{name}: {type(wrong).__name__}: {wrong}")
            traceback.print_exc(limit=-3, file=sys.stderr)
        path = place / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        n_records += 1
        n_refused += text.startswith(("refused: ", "=== refusal\n"))
    print(f"{part:10} {n_records:5} records, {n_refused} refused, {len(failed)} failed, "
          f"{time.process_time() - whole:.0f} s of CPU", flush=True)  # fmt: skip
    return n_records, failed


def _safely(cases: Callable[[], Cases]) -> Cases:
    """The cases, and one that fails if what they need cannot be made."""
    try:
        yield from cases()
    except Exception as wrong:
        cause = wrong

        def fail() -> None:
            raise cause

        yield "the rest of this part", fail


def compare(before: Path, after: Path, parts: Iterable[str], n_lines: int, n_files: int) -> int:
    """Print which records differ, and how; the exit status is 1 if some do."""
    total = different = failing = 0
    for part in parts:
        names = sorted({
            str(path.relative_to(folder)) for folder in (before, after)
            for path in (folder / part).rglob("*.txt")
        })  # fmt: skip
        changed = [name for name in names if _lines(before / name) != _lines(after / name)]
        total += len(names)
        failing += sum((_lines(after / name) or [""])[0].startswith(FAILED) for name in names)
        if names:
            print(f"{part:10} {len(names) - len(changed)} of {len(names)} records are equal")
        for name in changed:
            different += 1
            if different <= n_files:
                print("".join(_difference(before, after, name, n_lines)))
    print(f"{total - different} of {total} records are equal"
          + (f"; {failing} failed afterwards" if failing else ""))  # fmt: skip
    if different > n_files:
        print(f"({n_files} differences are shown: --files shows more)")
    return int(bool(different or failing or not total))


def _lines(path: Path) -> list[str] | None:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else None


def _difference(before: Path, after: Path, name: str, n_lines: int) -> Iterable[str]:
    one, other = _lines(before / name), _lines(after / name)
    if one is None or other is None:
        yield f"--- {name}: only {'before' if other is None else 'after'}\n"
        return
    found = list(difflib.unified_diff(one, other, n=0, lineterm=""))[2:]
    yield f"--- {name}\n"
    yield from (f"    {line[:240]}\n" for line in found[:n_lines])
    if len(found) > n_lines:
        yield f"    ... {len(found) - n_lines} more lines\n"
