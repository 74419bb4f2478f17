"""``labelrules frontier``: quality against size, of several learners."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from labelrules._report import records_of
from labelrules.cli.app import INTERRUPTED, SUCCESS
from labelrules.cli.commands import (
    Command,
    Count,
    File,
    data_argument,
    json_option,
    list_option,
    reading_options,
)
from labelrules.cli.commands.learn import LEARNERS, ending_early
from labelrules.cli.io import (
    STANDARD,
    Reading,
    check_files,
    csv_text,
    extension_of,
    read_data,
    say,
    shown_progress,
    write,
)

if TYPE_CHECKING:
    from labelrules.lab import Frontier

EXAMPLES = """
labelrules frontier magazines --sizes 4,8,16 --folds 3
labelrules frontier emotions --part train --learners separate-and-conquer --sizes 25,50 --folds 2
labelrules frontier readers.csv --labels quality,tabloid --folds 2 --csv points.csv -o picture.svg
"""

PICTURES = (".svg", ".png", ".pdf")


def _sizes(texts: list[str]) -> list[int]:
    return [Count(1).convert(size, None, None) for size in texts]


def _learners(texts: list[str]) -> list[str]:
    from labelrules.lab.size_frontier import checked_learners

    found = [LEARNERS.convert(name, None, None) for name in texts]
    with _blaming_option():
        checked_learners(found)
    return found


def _measure(text: str) -> str:
    from labelrules.lab.size_frontier import checked_measures

    with _blaming_option():
        checked_measures(text)
    return text


@contextmanager
def _blaming_option() -> Iterator[None]:
    """Raise errors of the library as errors of the option."""
    try:
        yield
    except ValueError as wrong:
        raise click.BadParameter(str(wrong)) from None


MEASURES_HELP = "micro-F1, formula/averaging; repeatable; the first decides where the knee is"


@click.command("frontier", cls=Command, examples=EXAMPLES)
@data_argument
@list_option(
    "--sizes", of=_sizes, metavar="SIZES", help="limits of literals: 50,100,200; repeatable"
)
@list_option(
    "--learners",
    of=_learners,
    metavar="NAMES",
    help="names of learners, as for labelrules learn: a,b; repeatable",
)
@click.option("--folds", type=Count(2), default=5, help="folds of the cross-validation (5)")
@click.option(
    "-m", "--measure", "measures", type=_measure, metavar="MEASURE", multiple=True,
    help=MEASURES_HELP,
)  # fmt: skip
@click.option("--jobs", type=Count(1), help="models that are learned at the same time (1)")
@click.option("-o", "--output", type=File(), help=f"draw a picture ({', '.join(PICTURES)})")
@click.option("--csv", type=File(), help="write the points to this file (- is standard output)")
@json_option("the points")
@click.option("-q", "--quiet", is_flag=True, help="print the result only")
@reading_options
def command(
    data: str, sizes: list[int] | None, learners: list[str] | None, folds: int,
    measures: tuple[str, ...], jobs: int | None, output: str | None, csv: str | None,
    as_json: bool, quiet: bool, reading: Reading,
) -> int:  # fmt: skip
    """Compare; the exit status is 130 if Ctrl-C has ended it early."""
    _check_targets(output, csv, [data, reading.xml])
    from labelrules.lab import frontier

    given = {"sizes": sizes, "learners": learners, "measure": measures or None}
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    rows = read_data(data, reading)
    with ending_early() as noted, shown_progress("comparing", 1.0, quiet) as bar:
        found = frontier(rows, n_folds=folds, n_jobs=jobs, progress=bar, **chosen)
    _print(found, csv, as_json)
    if output is not None:
        _draw(found, output)
        if not quiet:
            say(f"drawn to {output}")
    return INTERRUPTED if noted else SUCCESS


def _check_targets(output: str | None, csv: str | None, inputs: list[str | None]) -> None:
    """Refuse names of files before the work, and a picture without the extra for it."""
    check_files(csv, inputs, "--csv")
    if output is None:
        return
    if extension_of(output) not in PICTURES:
        raise click.UsageError(
            f"--output: a picture is a file {', '.join(PICTURES)}, not {output}; --csv writes the "
            "points"
        )
    check_files(output, inputs)
    from labelrules.inspection.pictures.plots import check_matplotlib

    check_matplotlib()


def _print(found: "Frontier", csv: str | None, as_json: bool) -> None:
    columns = found.as_dict()
    if csv is not None:
        write(csv_text(columns, zip(*columns.values(), strict=True)), csv)
    if as_json:
        about = {"data": found.data, "rows": found.n_rows, "folds": found.n_folds}
        points = records_of(columns)
        write({**about, "stopped": found.stopped, "points": points, "knee": found.knee()})
    elif csv != STANDARD:
        write(f"{found}\n")


def _draw(found: "Frontier", target: str) -> None:
    """Draw to a complete file, the same bytes each time."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    from labelrules.data.files.access import checked_target, replacing

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    found.plot(figure.subplots())
    form = extension_of(target).removeprefix(".")
    date = {"svg": "Date", "pdf": "CreationDate"}.get(form)
    with rc_context({"svg.hashsalt": "labelrules"}), replacing(checked_target(target)) as new:
        figure.savefig(new, format=form, dpi=150, metadata={date: None} if date else None)
