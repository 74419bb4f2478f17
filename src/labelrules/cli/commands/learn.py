"""``labelrules learn``: a model from data."""

import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from labelrules._checks import counted
from labelrules._compiling import learning_clock
from labelrules._interrupts import heard_interrupts
from labelrules.cli.app import INTERRUPTED, SUCCESS
from labelrules.cli.commands import (
    Command,
    Count,
    DataName,
    File,
    OneOf,
    Text,
    data_argument,
    json_option,
    output_option,
    reading_options,
)
from labelrules.cli.commands.predict import usual_values, values_text
from labelrules.cli.io import (
    LARGE,
    STANDARD,
    Reading,
    announce,
    check_files,
    extension_of,
    is_data,
    large_files,
    read_data,
    say,
    shown_progress,
    write,
)
from labelrules.cli.models import (
    Model,
    document,
    is_terminal,
    kept_rules,
    labels_without,
    other_part,
    reading_text,
    shown_rules_text,
)
from labelrules.cli.settings import Pair, Setting, blaming, setting_options

if TYPE_CHECKING:
    from labelrules.data import Dataset, Partitions
    from labelrules.rules import DecisionList, Theory

EXAMPLES = """
labelrules learn magazines
labelrules learn emotions --part train --test emotions -o model.json
labelrules learn readers.csv --labels quality,tabloid --set heads=multi --set max_rules=20
labelrules learn yeast --learner binary-relevance --set base=ripper --set base.n_folds=5
labelrules learn --learner ripper --settings
labelrules learn magazines --keep edited.txt --first 1 -o model.json
labelrules learn emotions --part train --cv 5
labelrules learn readers.csv --labels quality,tabloid --memory-limit 1024
"""

BINS = 255
"""For rows in partitions, where none are chosen."""

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
@click.option("--keep", type=File(), help="keep the rules of this file, and learn what follows")
@click.option("--first", type=Count(1), help="keep only so many of the rules of --keep")
@click.option("--cv", type=Count(2), help="cross-validate in so many folds; without -o only that")
@click.option("--test", type=DataName(), help="data for evaluation; if --part train, the test part")
@click.option("--memory-limit", type=Count(1), help="read in partitions, and learn in so many MB")
@output_option("the model (JSON)")
@json_option("the rules")
@click.option("--author", type=Text(), help="who is responsible for the model, for its file")
@click.option("--notes", type=Text(), help="what is worth knowing about it, for its file")
@click.option("-q", "--quiet", is_flag=True, help="print the result only")
@click.option("-v", "--verbose", is_flag=True, help="print a line for each step")
@reading_options
def command(
    data: str, learner: str, settings: tuple[Pair, ...], keep: str | None, first: int | None,
    cv: int | None, test: str | None, memory_limit: int | None, output: str | None, as_json: bool,
    author: str | None, notes: str | None, quiet: bool, verbose: bool, reading: Reading,
) -> int:  # fmt: skip
    """Learn; the exit status is 130 if Ctrl-C has ended it early."""
    check_files(output, [data, test, keep, reading.xml])
    if output is not None:
        _check_output(output, learner)
    elif author is not None or notes is not None:
        raise click.UsageError("--author and --notes are for the file of the model: give --output")
    _check_keep(learner, keep, first)
    with blaming(settings):
        estimator = made_learner(learner, settings)
    with _progress(quiet, verbose) as show:
        announce(show, f"reading {data}")
        is_whole = keep is not None or cv is not None
        rows = _training_rows(data, reading, estimator, memory_limit, is_whole)
        _check_labels(learner, rows)
        # before the work, in case they are wrong
        tested = other_part(test, reading, rows.schema, "test")
        kept = None if keep is None else kept_rules(keep, first, rows.schema)
        task = _LearningTask(estimator, rows, kept, settings, output)
        folds = None if cv is None else task.cross_validated(cv, show)
        needs_model = folds is None or output is not None or tested is not None
        was_interrupted = needs_model and task.learn(show)
    if folds is not None and not needs_model:
        return _print_folds(folds, as_json)
    about = {"data": rows.name, "rows": len(rows), "seconds": task.seconds, "model": output}
    model = Model(estimator, learner)
    try:
        if output is not None:
            with _progress(quiet, verbose) as show:
                announce(show, f"writing {output}")
                _write(estimator, output, author, notes)
    finally:  # if it cannot be saved, it can at least be read
        if output != STANDARD:
            _print(model, about, tested, as_json, quiet, folds)
    if output is not None and not quiet:
        say(f"saved to {'standard output' if output == STANDARD else output}")
    return INTERRUPTED if was_interrupted else SUCCESS


def _write(model: Any, output: str, author: str | None, notes: str | None) -> None:
    from labelrules.storage import to_json

    write(to_json(model, author=author, notes=notes), output)


def _check_keep(learner: str, keep: str | None, first: int | None) -> None:
    """Refuse rules to keep where a learner cannot go on from rules."""
    if first is not None and keep is None:
        raise click.UsageError("--first says how many rules of --keep to keep: give --keep, too")
    if keep is None or _goes_on(learner):
        return
    able = ", ".join(name for name in learner_classes() if _goes_on(name))
    raise click.UsageError(f"--keep: {learner} cannot go on from rules; these can: {able}")


def _goes_on(learner: str) -> bool:
    return "theory" in signature(learner_classes()[learner].fit).parameters


def _training_rows(
    data: str, reading: Reading, estimator: Any, limit: int | None, is_whole: bool
) -> "Dataset | Partitions":
    """The rows, in partitions if the files are large and the learner takes them so."""
    can = estimator._takes_partitions and not is_whole
    files = large_files(data, reading, LARGE if limit is None else 0)
    if limit is not None and (files is None or not can):
        raise click.UsageError(
            "--memory-limit is for CSV and Parquet files, from which separate-and-conquer, ripper, "
            "binary-relevance, chains and stacked layers learn without --keep and --cv"
        )
    if files is None or not can or (limit is None and not _has_settings_of_parts(estimator)):
        return read_data(data, reading)
    from labelrules.data import scan

    searching = _searching(estimator)
    if searching.get_params(deep=False).get("bins", BINS) is None:
        searching.set_params(bins=BINS)
        say(f"rows in partitions are learned from with bins={BINS}; --set bins chooses another")
    options: dict[str, Any] = {} if limit is None else {"memory_limit": limit}
    return scan(files, **reading.given(), **options)


def _has_settings_of_parts(estimator: Any) -> bool:
    """Whether a learner searches by bins, and as it does in partitions; else memory must do."""
    if getattr(estimator, "bins", None) is None:
        return False
    try:
        estimator._check_for_partitions()
    except ValueError:
        return False
    return True


def _searching(estimator: Any) -> Any:
    """The learner that searches for rules: this one, or the one that it is made of."""
    if "base" not in estimator.get_params(deep=False):
        return estimator
    if estimator.base is None:
        from labelrules.learners import Ripper

        estimator.set_params(base=Ripper())
    return estimator.base


def _check_labels(learner: str, rows: "Dataset | Partitions") -> None:
    if learner == "ripper" and rows.schema.n_labels != 1:
        raise click.UsageError(
            f"ripper learns one label, but these data have {rows.schema.n_labels}: use --learner "
            "binary-relevance --set base=ripper, or --learner label-powerset"
        )


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


@contextmanager
def _progress(quiet: bool, verbose: bool) -> Iterator[Any]:
    """Shows progress: a bar on a terminal, lines if wanted, or nothing."""
    with shown_progress("learning", 1.0, quiet or verbose) as bar:
        yield _Steps() if verbose else bar


class _Steps:
    """Prints a line for each report and each phase."""

    def __call__(self, report: object) -> None:
        print(report, file=sys.stderr, flush=True)

    phase = __call__


@dataclass
class _LearningTask:
    """A learner, the rows that it learns from, rules to keep, and where the model goes."""

    learner: Any
    rows: "Dataset | Partitions"
    kept: "DecisionList | None"
    settings: tuple[Pair, ...]
    output: str | None
    seconds: float = 0.0

    @property
    def _options(self) -> dict[str, Any]:
        return {} if self.kept is None else {"theory": self.kept}

    def learn(self, show: Any) -> bool:
        """Learn; return whether it has ended early, by Ctrl-C or since rows were lost."""
        from labelrules.data import ClusterError, Dataset, DeviceError
        from labelrules.data.suspicious import warn_of_columns

        start = learning_clock()
        with self._blamed(), ending_early() as noted:
            has_progress = "progress" in self.learner.get_params(deep=False)
            if has_progress:
                self.learner.set_params(progress=show)
            try:
                if isinstance(self.rows, Dataset):
                    warn_of_columns(self.rows, stacklevel=2)
                with heard_interrupts():
                    self.learner.fit(self.rows, **self._options)
            except KeyboardInterrupt:
                raise self._nothing("before there was a model") from None
            except (ClusterError, DeviceError) as lost:
                self._keep_after(lost)
                noted.append(0)
            if has_progress:
                self.learner.set_params(progress=False)  # a function cannot be saved
            if noted and not self._has_new_rules():
                raise self._nothing("before the first rule was learned")
        self.seconds = round(learning_clock() - start, 3)
        return bool(noted)

    def _keep_after(self, lost: Exception) -> None:
        """Go on with the rules so far, if there are any."""
        if not hasattr(self.learner, "theory_") or not self._has_new_rules():
            raise click.ClickException(str(lost)) from None
        if "engine" in self.learner.get_params(deep=False):
            self.learner.set_params(engine="auto")  # the GPU may have failed for good
        warnings.warn(str(lost), stacklevel=2)

    def cross_validated(self, n_folds: int, show: Any) -> Any:
        """Cross-validate; Ctrl-C leaves nothing, since means need all folds."""
        from labelrules import cross_validate

        rows: Any = self.rows  # in memory, where folds are asked for
        announce(show, "cross-validating")
        with self._blamed(), ending_early():
            try:
                return cross_validate(rows, self.learner, n_folds, progress=show, **self._options)
            except KeyboardInterrupt:
                raise self._nothing("before all folds were finished") from None

    def _blamed(self) -> AbstractContextManager[None]:
        return blaming([(name.removeprefix("base."), text) for name, text in self.settings])

    def _has_new_rules(self) -> bool:
        """Whether there is a rule with conditions that was not given."""
        try:
            theories = Model(self.learner, "").theories
        except click.ClickException:
            return True  # rules are made for each row
        n_kept = sum(len(rule.body) > 0 for rule in self.kept or ())
        return sum(len(rule.body) > 0 for theory in theories for rule in theory) > n_kept

    def _nothing(self, when: str) -> KeyboardInterrupt:
        if self.output not in (None, STANDARD) and Path(str(self.output)).exists():
            return KeyboardInterrupt(f"{when}: nothing is saved, and {self.output} is as it was")
        return KeyboardInterrupt(f"{when}: nothing is saved")


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
    """Take note of Ctrl-C, after which learners end early, unless it is to be ignored."""
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

    # Whoever starts a program in the background, a shell too, may have it ignore Ctrl-C; a handler
    # that is not Python's, None here, could not be put back.
    is_heard = before not in (signal.SIG_IGN, None)
    with suppress(ValueError):  # not in the main thread, where no signals arrive
        if is_heard:
            signal.signal(signal.SIGINT, note)
    sys.unraisablehook = complain_of_others
    try:
        yield noted
    finally:
        sys.unraisablehook = complain
        with suppress(ValueError):
            if is_heard:
                signal.signal(signal.SIGINT, before)


def _print(
    model: Model,
    about: dict[str, Any],
    test: "Dataset | None",
    as_json: bool,
    quiet: bool,
    folds: Any,
) -> None:
    try:
        theories = model.theories
    except click.ClickException:
        theories = []  # rules are made for each row
    values = None if test is None else usual_values(model, test)
    if as_json:
        rules = _rules_document(model, document(model)) if theories else {}
        tested = {} if values is None else {"values": values}
        validated = {} if folds is None else {"cross_validation": folds.as_dict()}
        write({"learner": model.kind, **about, **rules, **tested, **validated})
        return
    is_read = is_terminal()
    if not quiet:
        header = _header(theories, about)
        write(f"{header}\n\n") if is_read else say(header)
    if theories:
        text = reading_text(model) if is_read else shown_rules_text(model, "plain", evidence=True)
        write(f"{text}\n")
    for line in [] if quiet else model.shortcomings():
        say(line)
    if values is not None:
        write("\n" * bool(theories) + values_text(values) + "\n")
    if folds is not None:
        write(f"\n{folds}\n")


def _rules_document(model: Model, rules: dict[str, Any]) -> dict[str, Any]:
    """The rules, the labels that have none, and why."""
    return {
        **rules,
        "labels_without_rules": labels_without(model.theories),
        "why_without_rules": model.kept.why_without_rules_,
    }


def _print_folds(folds: Any, as_json: bool) -> int:
    about = {"data": folds.data, "rows": folds.n_rows, "learner": folds.learner}
    write({**about, "cross_validation": folds.as_dict()} if as_json else f"{folds}\n")
    return SUCCESS


def _header(theories: "list[Theory]", about: dict[str, Any]) -> str:
    """One line about a model: its data, its size, the rows and the time."""
    size = "no rules of its own"
    if theories:
        several = f"{len(theories)} theories, " if len(theories) > 1 else ""
        rules, literals = sum(map(len, theories)), sum(one.n_literals for one in theories)
        labels = counted(theories[0].schema.n_labels, "label")
        size = f"{several}{counted(rules, 'rule')}, {counted(literals, 'literal')} for {labels}"
    return f"{about['data']}: {size} · {counted(about['rows'], 'row')} · {about['seconds']:.1f} s"
