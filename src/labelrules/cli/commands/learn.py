"""``labelrules learn``: a model from data."""

import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from labelrules._checks import counted, listed, quoted
from labelrules._compiling import learning_clock
from labelrules._interrupts import heard_interrupts
from labelrules.cli.app import INTERRUPTED, SUCCESS
from labelrules.cli.commands import (
    Command,
    DataName,
    OneOf,
    data_argument,
    json_option,
    output_option,
    reading_options,
)
from labelrules.cli.commands.evaluate import usual_values, values_text
from labelrules.cli.io import (
    STANDARD,
    Reading,
    check_files,
    extension_of,
    is_data,
    read_data,
    say,
    shown_progress,
    write,
)
from labelrules.cli.models import Model, other_part
from labelrules.cli.settings import Pair, Setting, blaming, setting_options

if TYPE_CHECKING:
    from labelrules.data import Dataset
    from labelrules.rules import Theory

WIDTH_OF_NAMES = 70
"""Where a list of names in a message ends."""

EXAMPLES = """
labelrules learn magazines
labelrules learn emotions --part train --test emotions -o model.json
labelrules learn readers.csv --labels quality,tabloid --set heads=multi --set max_rules=20
labelrules learn yeast --learner binary-relevance --set base=ripper --set base.n_folds=5
labelrules learn --learner ripper --settings
"""

DEFAULT = "separate-and-conquer"

_NOT_SET = ("progress", "warm_start", "constraints")
"""Parameters that have a meaning in Python only."""


def learner_classes() -> dict[str, Any]:
    """The registered learners by their names on the command line."""
    from labelrules.learners import registered

    return dict(registered())


_SETTING = Setting(learner_classes, "learner", _NOT_SET)


class LearnerName(OneOf):
    """The name of a learner, with dashes, with underscores, or as in Python."""

    def words(self) -> dict[str, Any]:
        """The learners, which are imported when they are needed."""
        return learner_classes()

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The name, with dashes."""
        plain = {name.replace("-", ""): name for name in self.words()}
        key = value.lower().replace("-", "").replace("_", "")
        return plain.get(key) or super().convert(value, param, ctx)


LEARNERS = LearnerName("learner", ())


class LearnerOption(click.Option):
    """The option for the learner, whose help lists those there are when it is shown."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option, and its help."""
        self.help = f"{', '.join(learner_classes())}; default: {DEFAULT}"
        return super().get_help_record(ctx)


@click.command("learn", cls=Command, examples=EXAMPLES)
@data_argument
@click.option("-l", "--learner", type=LEARNERS, cls=LearnerOption, default=DEFAULT, is_eager=True)
@setting_options("the learner", _SETTING)
@click.option("--test", type=DataName(), help="data for evaluation; if --part train, the test part")
@output_option("the model (JSON)")
@json_option("the rules")
@click.option("-q", "--quiet", is_flag=True, help="print the result only")
@click.option("-v", "--verbose", is_flag=True, help="print a line for each step")
@reading_options
def command(
    data: str, learner: str, settings: tuple[Pair, ...], test: str | None, output: str | None,
    as_json: bool, quiet: bool, verbose: bool, reading: Reading,
) -> int:  # fmt: skip
    """Learn; the exit status is 130 if Ctrl-C has ended it early."""
    check_files(output, [data, test, reading.xml])
    if output is not None:
        _check_output(output, learner)
    with blaming(settings):
        estimator = made_learner(learner, settings)
    rows = read_data(data, reading)
    if learner == "ripper" and rows.schema.n_labels != 1:
        raise click.UsageError(
            f"ripper learns one label, but these data have {rows.schema.n_labels}: use --learner "
            "binary-relevance --set base=ripper, or --learner label-powerset"
        )
    tested = other_part(test, reading, rows.schema, "test")  # before the work, in case it is wrong
    start = learning_clock()
    with blaming([(name.removeprefix("base."), text) for name, text in settings]):
        was_interrupted = _fit(estimator, rows, quiet, verbose)
    about = {
        "data": rows.name,
        "rows": len(rows),
        "seconds": round(learning_clock() - start, 3),
        "model": output,
    }
    model = Model(estimator, learner)
    try:
        if output is not None:
            from labelrules.storage import to_json

            write(to_json(estimator), output)
    finally:  # if it cannot be saved, it can at least be read
        if output != STANDARD:
            _print(model, about, tested, as_json, quiet)
    if output is not None and not quiet:
        say(f"saved to {'standard output' if output == STANDARD else output}")
    return INTERRUPTED if was_interrupted else SUCCESS


def _check_output(output: str, learner: str) -> None:
    if is_data(output) or extension_of(output) == ".xml":
        raise click.UsageError(f"--output: {output} is a name for data; name a .json file")
    why_not = learner_classes()[learner]._why_not_stored
    if why_not is not None:
        raise click.UsageError(f"--output: a {learner} cannot be stored, because {why_not}")


def made_learner(name: str, settings: Sequence[Pair]) -> Any:
    """A learner with its settings; ``base.NAME`` is a setting of its base."""
    inner = [(key[5:], value) for key, value in settings if key.startswith("base.")]
    values = _SETTING.values(name, [one for one in settings if not one[0].startswith("base.")])
    if inner and "base" not in _SETTING.parameters([name]):
        raise click.UsageError(f"--set base.{inner[0][0]}: {name} has no base")
    if inner and "base" not in values:
        raise click.UsageError(
            f"--set base.{inner[0][0]} sets a parameter of the base: choose the base, too, as by "
            "--set base=ripper"
        )
    if values.get("base") is not None:
        try:
            base = LEARNERS.convert(str(values["base"]), None, None)
        except click.BadParameter as wrong:
            raise click.UsageError(f"--set base: {wrong.message}") from None
        values["base"] = made_learner(base, inner)
    return learner_classes()[name](**values)


def _fit(learner: Any, data: "Dataset", quiet: bool, verbose: bool) -> bool:
    """Learn; return whether Ctrl-C has ended it early."""
    from labelrules.data.suspicious import warn_of_columns

    with ending_early() as noted, shown_progress("learning", 1.0, quiet or verbose) as bar:
        has_progress = "progress" in learner.get_params(deep=False)
        if has_progress:
            steps = partial(print, file=sys.stderr, flush=True)
            learner.set_params(progress=steps if verbose else bar)
        try:
            warn_of_columns(data, stacklevel=2)
            with heard_interrupts():
                learner.fit(data)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("before there was a model: nothing is saved") from None
        if has_progress:
            learner.set_params(progress=False)  # a function cannot be saved
    return bool(noted)


@contextmanager
def ending_early() -> Iterator[list[int]]:
    """Take note of Ctrl-C, after which long work ends early, and say its warnings at the end."""
    with _interrupts() as noted, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        yield noted
    for message in dict.fromkeys(str(one.message) for one in warned):
        say(message)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Take note of Ctrl-C, after which learners end early."""
    noted: list[int] = []
    before, complain = signal.getsignal(signal.SIGINT), sys.unraisablehook

    def note(number: int, frame: Any) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    def complain_of_others(lost: Any) -> None:
        # The compiler loses an interrupt while it hands over what it has compiled, and then fails
        # in a way that `heard_interrupts` knows.
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            complain(lost)

    with suppress(ValueError):  # not in the main thread, where no signals arrive
        signal.signal(signal.SIGINT, note)
    sys.unraisablehook = complain_of_others
    try:
        yield noted
    finally:
        sys.unraisablehook = complain
        with suppress(ValueError):
            signal.signal(signal.SIGINT, before)


def _print(
    model: Model, about: dict[str, Any], test: "Dataset | None", as_json: bool, quiet: bool
) -> None:
    from labelrules.cli.commands.show import document, is_terminal, reading_text, text_of

    try:
        theories = model.theories
    except click.ClickException:
        theories = []  # rules are made for each row
    values = None if test is None else usual_values(model, test)
    bare = _without_rules(theories)
    if as_json:
        rules = {**document(model), "labels_without_rules": bare} if theories else {}
        tested = {} if values is None else {"values": values}
        write({"learner": model.kind, **about, **rules, **tested})
        return
    is_read = is_terminal()
    if not quiet:
        header = _header(theories, about)
        print(f"{header}\n") if is_read else say(header)
    if theories:
        print(reading_text(model) if is_read else text_of(model, "plain", evidence=True))
    if bare and not quiet and not is_read:  # what is laid out for reading has such a line
        verb = "has" if len(bare) == 1 else "have"
        say(f"{counted(len(bare), 'label')} {verb} no rule: {_first_of(bare)}")
    if values is not None:
        print("\n" * bool(theories) + values_text(values))


def _first_of(names: list[str]) -> str:
    """The first names, as many as fit into a line, and how many more there are."""
    texts = [listed(names)] + [
        f"{', '.join(map(quoted, names[:n]))} and {len(names) - n} more"
        for n in range(4, 0, -1)
        if n < len(names)
    ]
    return next((text for text in texts if len(text) <= WIDTH_OF_NAMES), texts[-1])


def _without_rules(theories: "list[Theory]") -> list[str]:
    """The labels that no rule of any theory predicts as present."""
    from labelrules.rules import labels_without_rules

    names = list(theories[0].schema.labels) if theories else []
    for theory in theories:
        without = set(labels_without_rules(theory))
        names = [name for name in names if name in without]
    return names


def _header(theories: "list[Theory]", about: dict[str, Any]) -> str:
    """One line about a model: its data, its size, the rows and the time."""
    size = "no rules of its own"
    if theories:
        several = f"{len(theories)} theories, " if len(theories) > 1 else ""
        rules, literals = sum(map(len, theories)), sum(one.n_literals for one in theories)
        labels = counted(theories[0].schema.n_labels, "label")
        size = f"{several}{counted(rules, 'rule')}, {counted(literals, 'literal')} for {labels}"
    return f"{about['data']}: {size} · {counted(about['rows'], 'row')} · {about['seconds']:.1f} s"
