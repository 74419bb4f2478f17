"""``labelrules experiment``: learners compared over data sets, by a plan in a file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labelrules._report import records_of
from labelrules.cli.app import INTERRUPTED, SUCCESS
from labelrules.cli.commands import Command, Count, File, Text, json_option
from labelrules.cli.commands.learn import ending_early
from labelrules.cli.io import STANDARD, check_files, csv_text, plain, say, shown_progress, write

if TYPE_CHECKING:
    from labelrules.lab import Results
    from labelrules.lab.plans import StatisticsPlan

EXAMPLES = """
labelrules experiment plan.toml
labelrules experiment plan.toml --dry-run
labelrules experiment plan.toml --jobs 2 --csv fits.csv -q
"""


@click.command("experiment", cls=Command, examples=EXAMPLES)
@click.argument(
    "plan", type=File(), help="a file (.toml) with learners, data sets, measures and a split"
)
@click.option(
    "--folder", type=File(), help="keep fits here, and go on with those that are (PLAN-results)"
)
@click.option("--jobs", type=Count(1), help="fits that are run at the same time (1)")
@click.option("--dry-run", is_flag=True, help="list the fits, and run none")
@click.option("--retry", is_flag=True, help="run fits again that have failed or timed out")
@click.option("--restart", is_flag=True, help="remove the fits in the folder first")
@click.option(
    "--allow", "allowed", type=Text(), multiple=True, metavar="PACKAGE",
    help="a package whose classes the plan may name, besides scikit-learn; repeatable",
)  # fmt: skip
@click.option("--csv", type=File(), help="write a row for each fit (- is standard output)")
@json_option("fits and statistics")
@click.option("-q", "--quiet", is_flag=True, help="print the result only")
def command(
    plan: str, folder: str | None, jobs: int | None, dry_run: bool, retry: bool, restart: bool,
    allowed: tuple[str, ...], csv: str | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Run what is not finished; the exit status is 130 if Ctrl-C has ended it early."""
    check_files(csv, [plan], "--csv")
    from labelrules.lab import experiment
    from labelrules.lab.plans import PlanReader, folder_of, read_plan

    wanted, reader = read_plan(plan), PlanReader(plan, allowed)
    place = folder_of(wanted, plan) if folder is None else Path(folder)
    given: dict[str, Any] = {} if wanted.measures is None else {"measures": wanted.measures}
    if wanted.split != "given":
        given |= {"split": wanted.split, "n_repeats": wanted.repeats}
    learners, data = reader.learners(wanted), reader.data(wanted)
    with ending_early() as noted, shown_progress("running", 1.0, quiet) as bar:
        found = experiment(
            learners, data, **given, random_state=wanted.random_state,
            time_limit=wanted.time_limit, categories=wanted.categories, folder=place,
            restart=restart, retry=retry, dry_run=dry_run, n_jobs=jobs, progress=bar,
        )  # fmt: skip
    tests = {} if dry_run else _tests(found, wanted.statistics)
    _print(found, tests, csv, as_json, dry_run)
    if not dry_run:
        drawn = list(_draw(tests, place))
        if not quiet:
            say(f"results in {place}: {', '.join(['scores.csv', 'resources.csv', *drawn])}")
    return INTERRUPTED if noted else SUCCESS


def _tests(found: "Results", wanted: "StatisticsPlan") -> dict[str, list[Any]]:
    """By measure the tests that were asked for, or a text why there is none."""
    n_learners, n_sets = len(found.learners), len(found.datasets)
    if wanted.tests is None and (n_learners < 2 or n_sets < 2):
        return {}
    usual = ["friedman", "nemenyi"] if n_learners > 2 else ["wilcoxon"]
    names = usual if wanted.tests is None else wanted.tests
    tests: dict[str, list[Any]] = {}
    for measure in found.measures:
        try:
            tests[measure.name] = [_test(found, measure.name, name, wanted) for name in names]
        except ValueError as wrong:
            tests[measure.name] = [f"no tests: {wrong}"]
    return tests


def _test(found: "Results", measure: str, name: str, wanted: "StatisticsPlan") -> Any:
    from labelrules.lab import (
        bayesian_signed_rank,
        friedman_test,
        nemenyi_test,
        wilcoxon_holm,
    )

    table = found.table(measure)
    better: dict[str, Any] = {"higher_is_better": found.higher_is_better(measure)}
    if name == "friedman":
        return friedman_test(table, alpha=wanted.alpha, **better)
    if name == "nemenyi":
        return nemenyi_test(table, alpha=wanted.alpha, **better)
    if name == "wilcoxon":
        return wilcoxon_holm(table, alpha=wanted.alpha, control=wanted.control, **better)
    return bayesian_signed_rank(table, rope=wanted.rope, control=wanted.control, **better)


def _print(
    found: "Results", tests: dict[str, list[Any]], csv: str | None, as_json: bool, dry_run: bool
) -> None:
    columns = found.as_dict()
    if csv is not None:
        write(csv_text(columns, zip(*columns.values(), strict=True)), csv)
    if as_json:
        fits = records_of(columns)
        statistics = {
            measure: [one if isinstance(one, str) else _as_records(one) for one in made]
            for measure, made in tests.items()
        }
        write({"stopped": found.stopped, "fits": fits, "statistics": statistics})
    elif dry_run and csv != STANDARD:
        lines = [f"{fit.status:<9}  {fit}" for fit in found.fits]
        write("\n".join([found.headline, "", *lines]) + "\n")
    elif csv != STANDARD:
        parts = [str(found)]
        for measure, made in tests.items():
            parts += [f"{measure}: {made[0]}", *map(str, made[1:])]
        write("\n\n".join(parts) + "\n")


def _as_records(test: Any) -> dict[str, Any]:
    """A test as JSON: its name and its rows."""
    return {"test": type(test).__name__, "rows": plain(records_of(test.as_dict()))}


def _draw(tests: dict[str, list[Any]], folder: Path) -> Iterator[str]:
    """Write critical-difference diagrams; yields the names of the files."""
    from labelrules.lab import NemenyiTest, critical_difference_svg

    for measure, made in tests.items():
        for test in made:
            if isinstance(test, NemenyiTest):
                name = f"ranks-{re.sub('[^A-Za-z0-9]+', '-', measure).strip('-')}.svg"
                write(f"{critical_difference_svg(test)}\n", str(folder / name))
                yield name
