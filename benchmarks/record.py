"""Record what the library answers, and compare two records.

    python benchmarks/record.py before                      # everything but times
    python benchmarks/record.py after --only learners,names
    python benchmarks/record.py after --only learners --sets flags,yeast
    python benchmarks/record.py --compare before after
    python benchmarks/record.py --times old/src new/src     # ratios of times, interleaved

A change of the code that is no change of results leaves all records equal. A record is a file of
text in the folder of its part, without days, places, versions and durations. What fails is a
record, too, is named on standard error, and makes the exit status 1.

The parts are `learners` (theories and predictions in many settings), `results` (texts, HTML, frames
and dicts of each result, explanations, pictures), `exports` (written and run), `edits`,
`workbench` (pages and JSON), `shell` (transcripts), `files` (tables and models read and written,
errors), `names` (public names and their signatures), and `times`, which `--compare` does not read.
Settings and addresses stand in tables in `benchmarks/records`: a case is a line there.
"""

import argparse
import sys
from functools import partial
from importlib import import_module
from pathlib import Path

from records import keeping, times

PARTS = ("learners", "results", "exports", "edits", "workbench", "shell", "files", "names")
SMALL = ("flags", "emotions", "medical")
NINE = (*SMALL, "genbase", "birds", "scene", "yeast", "enron", "CAL500")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path, help="where records are, or sources")
    parser.add_argument("--only", default=",".join(PARTS), help="some parts: a,b,c")
    parser.add_argument("--sets", default=",".join(SMALL), help="data sets of learners; or 'nine'")
    parser.add_argument("--jobs", type=int, help="n_jobs of every learner that takes it")
    parser.add_argument("--compare", action="store_true", help="compare two folders")
    parser.add_argument("--times", action="store_true", help="compare times of two source folders")
    parser.add_argument("--lines", type=int, default=16, help="lines of a difference (16)")
    parser.add_argument("--files", type=int, default=60, help="differences that are shown (60)")
    parser.add_argument("--rounds", type=int, default=5, help="repeats of times (5)")
    return parser.parse_args()


def main() -> int:
    """Record, or compare."""
    given = arguments()
    parts, folder = given.only.split(","), given.folders[0]
    sets = NINE if given.sets == "nine" else given.sets.split(",")
    if unknown := {*parts} - {*PARTS, "times"}:
        sys.exit(f"there are no parts {', '.join(unknown)}; there are {', '.join(PARTS)}, times")
    if given.times:
        return times.compare(given.folders, sets, given.rounds)
    if given.compare:
        return keeping.compare(*given.folders, parts, given.lines, given.files)
    failed = []
    for part in parts:
        if part == "times":
            times.record(folder / "times.txt", sets, given.rounds)
            continue
        cases = partial(_cases, part, sets, given.jobs)
        failed += keeping.keep(folder, part, cases)[1]
    for line in failed:
        print(f"failed: {line:.300}", file=sys.stderr)
    return int(bool(failed))


def _cases(part: str, sets: tuple[str, ...], n_jobs: int | None) -> keeping.Cases:
    """The cases of a part, whose module is imported only then: it may be what fails."""
    yield from import_module(f"records.{part}").cases(sets, n_jobs)


if __name__ == "__main__":
    sys.exit(main())
