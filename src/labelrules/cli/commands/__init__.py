"""Shared by the commands, one module each: layout of the help, types of options, common options."""

import codecs
import os
from collections.abc import Callable, Collection
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from labelrules._checks import quoted, split_names, suggestion
from labelrules.cli.io import FORMATS, Reading, check_files, naming_output

Function = Callable[..., Any]

WORDS = "labelrules.words"
"""The key in the context of a command under which the words are that it was called with."""

help_option = click.help_option("-h", "--help", help="show this help and exit")


class Command(click.Command):
    """A command whose help lists examples, and how to read data in a section of its own."""

    allow_extra_args = True  # `parse_args` refuses them

    def __init__(self, name: str, examples: str, **more: Any) -> None:
        super().__init__(name, add_help_option=False, **more)
        help_option(self)
        self.examples = examples.strip().splitlines()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; errors carry the context, by which messages name the command."""
        ctx.meta[WORDS] = list(args)
        try:
            self._check_given_once(ctx, args)
            with naming_output():  # options such as --help print
                rest = super().parse_args(ctx, args)
        except click.UsageError as wrong:
            wrong.ctx = wrong.ctx or ctx
            raise
        if rest and not ctx.resilient_parsing:
            raise click.UsageError(f"unexpected argument {quoted(rest[0])}", ctx)
        return rest

    def _check_given_once(self, ctx: click.Context, args: list[str]) -> None:
        """Refuse two values for an option that takes one; of them click takes the last."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        given: set[click.Parameter] = set()
        for one in order:
            takes_one = isinstance(one, click.Option) and not (one.is_flag or one.multiple)
            if takes_one and one in given and not ctx.resilient_parsing:
                raise click.UsageError(f"{parameter_name(one)} is given twice, but takes one value")
            given.add(one)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, those on how to read data in a section of their own."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if isinstance(param, click.Option) and record is not None:
                title = "Reading data" if param.name in Reading.names() else "Options"
                sections.setdefault(title, []).append(record)
        for title, records in sorted(sections.items()):
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the examples, each on its line."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def parameter_name(param: click.Parameter) -> str:
    """A parameter as messages name it: ``--output``, ``DATA``."""
    return param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name


class Text(click.ParamType[str]):
    """A text that is not empty: often a variable of the shell is not set."""

    name = "name"

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The text, unless it is empty, or an option whose value was forgotten."""
        if value == "":
            self.fail("the value is empty: give a name", param, ctx)
        if ctx is not None and any(value in one.opts for one in ctx.command.params):
            self.fail(f"the value is missing: {value} is an option", param, ctx)
        return value


class File(Text):
    """The name of a file, or ``-``."""

    name = "file"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Files, which shells complete by themselves."""
        return [CompletionItem(incomplete, type="file")]


class DataName(File):
    """A file, or the name of a data set."""

    name = "data"

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """Files, or where no file begins so, names of data sets."""
        folder = os.environ.get("LABELRULES_DATA")
        known = [path.stem for path in Path(folder).glob("*.xml")] if folder else []
        fit = [
            name for name in ("clinic", "magazines", *sorted(known)) if name.startswith(incomplete)
        ]
        if not fit or any(name.startswith(incomplete) for name in os.listdir()):
            return super().shell_complete(ctx, param, incomplete)
        return [CompletionItem(name) for name in fit]


class OneOf(click.ParamType[str]):
    """One of some words; `name` is what they stand for."""

    def __init__(self, name: str, words: Collection[str]) -> None:
        self.name, self.known = name, words

    def words(self) -> Collection[str]:
        """The words."""
        return self.known

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The word, if it is known."""
        words = self.words()
        if value not in words:
            near = suggestion(value.lower(), words) or f"; there are {', '.join(words)}"
            self.fail(f"there is no {self.name} {quoted(value)}{near}", param, ctx)
        return value

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """The words that begin so."""
        return [CompletionItem(word) for word in self.words() if word.startswith(incomplete)]


class Count(click.ParamType[int]):
    """A whole number of at least `least`."""

    name = "n"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: str | int, param: Any, ctx: Any) -> int:
        """The number, if it is one; defaults are numbers already."""
        text = str(value)
        if text.isascii() and text.isdigit() and int(text) >= self.least:
            return int(text)
        message = f"must be a whole number of at least {self.least}, not {quoted(text)}"
        return self.fail(message, param, ctx)


def names(text: str) -> list[str]:
    """Names separated by commas; a name with a comma is in double quotes."""
    found = split_names(text)
    if not found or "" in found:
        raise click.BadParameter("a name is empty: give names separated by commas")
    return found


def list_option(*words: str, of: Callable[[list[str]], list[Any]] = list, **more: Any) -> Function:
    """The option for names separated by commas, which may be given again for more of them.

    `of` checks all of them, or makes other values of them.
    """

    def together(ctx: click.Context, param: click.Parameter, given: Any) -> list[Any] | None:
        return of([name for some in given for name in some]) if given else None

    return click.option(*words, type=names, multiple=True, callback=together, **more)


def character(text: str) -> str:
    """One character; a tab may be given by name, which is easier in a shell."""
    found = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(found) != 1:
        raise click.BadParameter(f"must be one character, or tab, not {quoted(text)}")
    return found


def encoding(text: str) -> str:
    """The name of an encoding of text."""
    try:
        known = codecs.lookup(text)
        b"\n".decode(text, "replace")
        known.incrementaldecoder()
        return text
    except (LookupError, ValueError, TypeError):
        raise click.BadParameter(f"there is no encoding {quoted(text)} of text") from None


model_argument = partial(
    click.argument,
    type=File(),
    help="a model or theory (.json), rules as text, or - for standard input",
)
data_argument = click.argument(
    "data",
    type=DataName(),
    nargs=-1,
    required=True,
    help="a file (.arff, .csv, .parquet), perhaps compressed (.csv.gz), several files with the "
    "same columns, - for standard input, the name of a data set in the folder $LABELRULES_DATA, "
    "openml:NAME, clinic or magazines",
)


def output_option(what: str) -> Function:
    """The option for a file, - being the standard output."""
    about = f"write {what} to this file (- is standard output)"
    return click.option("-o", "--output", type=File(), help=about)


def json_option(what: str) -> Function:
    """The option for results that programs read."""
    return click.option("--json", "as_json", is_flag=True, help=f"print {what} as JSON")


_READING = {
    "--labels": (names, "label columns: a,b,c; repeatable"),
    "--part": (OneOf("part", ("train", "test")), "train or test, of a data set by name"),
    "--format": (OneOf("format", FORMATS), f"{', '.join(FORMATS)}; default: by file extension"),
    "--xml": (File(), "Mulan's XML file that lists the labels"),
    "--nominal": (names, "columns of numbers that stand for categories; repeatable"),
    "--ignore": (names, "columns to leave out; repeatable"),
    "--delimiter": (character, "the character between cells (,)"),
    "--missing": (str, "the cell that stands for a missing value (empty)"),
    "--encoding": (encoding, "the encoding of the file (utf-8)"),
}


def _more_files(values: dict[str, Any]) -> tuple[str, ...]:
    """The files after the first one, where several may be given; the command gets the first."""
    more: tuple[str, ...] = ()
    for name in ("data", "source"):
        given = values.get(name)
        if isinstance(given, tuple):
            values[name], *rest = given or (None,)
            more = tuple(rest)
            check_files(None, given)
    for name in ("output", "csv", "target"):
        if more and values.get(name) is not None:
            check_files(values[name], more, name.upper() if name == "target" else f"--{name}")
    return more


def reading_options(command: Function) -> Function:
    """Add the options on how to read data; the command gets them together as `reading`."""

    @wraps(command)
    def with_reading(**values: Any) -> Any:
        chosen = {name: values.pop(name) for name in Reading.names()}
        return command(reading=Reading(**chosen, more=_more_files(values)), **values)

    decorated: Function = with_reading
    for name, (kind, about) in reversed(_READING.items()):
        option = list_option if kind is names else partial(click.option, type=kind)
        decorated = option(name, help=about)(decorated)
    return decorated
