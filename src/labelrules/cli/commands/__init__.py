"""What commands share: the layout of their help, types of options, common options.

Each command is a module of this folder, and has its `command`.
"""

import codecs
import csv
import os
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from labelrules._checks import quoted, suggestion
from labelrules.cli.io import FORMATS, Reading

Function = Callable[..., Any]

help_option = click.help_option("-h", "--help", help="show this help and exit")


class Command(click.Command):
    """A command whose help lists examples, and options section by section."""

    allow_extra_args = True  # `parse_args` refuses them

    def __init__(self, name: str, examples: str, **more: Any) -> None:
        super().__init__(name, add_help_option=False, **more)
        help_option(self)
        self.examples = examples.strip().splitlines()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; errors carry the context, by which messages name the command."""
        try:
            rest = super().parse_args(ctx, args)
        except click.UsageError as wrong:
            wrong.ctx = wrong.ctx or ctx
            raise
        if rest and not ctx.resilient_parsing:
            raise click.UsageError(f"unexpected argument {quoted(rest[0])}", ctx)
        return rest

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if isinstance(param, click.Option) and record is not None:
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the examples, each on its line."""
        with formatter.section("Examples"):
            for line in self.examples:
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class SectionOption(click.Option):
    """An option that the help lists under a title of its own."""

    def __init__(self, *given: Any, section: str, **more: Any) -> None:
        super().__init__(*given, **more)
        self.section = section


def shown_name(param: click.Parameter) -> str:
    """A parameter as messages name it: ``--output``, ``DATA``."""
    return param.opts[-1] if isinstance(param, click.Option) else param.human_readable_name


# ---------------------------------------------------------------- types, named as the help does


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
        fit = [name for name in ("magazines", *sorted(known)) if name.startswith(incomplete)]
        if not fit or any(name.startswith(incomplete) for name in os.listdir()):
            return super().shell_complete(ctx, param, incomplete)
        return [CompletionItem(name) for name in fit]


class OneOf(click.ParamType[str]):
    """One of the words that `words` returns; `name` is what they stand for.

    Examples
    --------
    >>> OneOf("style", lambda: ["plain", "unicode"]).convert("unicod", None, None)
    Traceback (most recent call last):
    click.exceptions.BadParameter: there is no style 'unicod'; did you mean 'unicode'?
    """

    def __init__(self, name: str, words: Callable[[], Iterable[str]]) -> None:
        self.name, self.words = name, words

    def convert(self, value: str, param: Any, ctx: Any) -> str:
        """The word, if it is known."""
        words = [*self.words()]
        if value not in words:
            near = suggestion(value.lower(), words) or f"; there are {', '.join(words)}"
            self.fail(f"there is no {self.name} {quoted(value)}{near}", param, ctx)
        return value

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """The words that begin so."""
        return [CompletionItem(word) for word in self.words() if word.startswith(incomplete)]


def one_of(name: str, words: Iterable[str]) -> OneOf:
    """The type of one of these words."""
    return OneOf(name, lambda: words)


class Count(click.ParamType[int]):
    """A whole number of at least `least`."""

    name = "n"

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: str, param: Any, ctx: Any) -> int:
        """The number, if it is one."""
        if not (value.isascii() and value.isdigit() and int(value) >= self.least):
            message = f"must be a whole number of at least {self.least}, not {quoted(value)}"
            self.fail(message, param, ctx)
        return int(value)


def names(text: str) -> list[str]:
    """Names separated by commas; a name with a comma stands in double quotes.

    Examples
    --------
    >>> names('a,"b, c"')
    ['a', 'b, c']
    """
    found = next(csv.reader([text], skipinitialspace=True), [])
    if not found or "" in found:
        raise click.BadParameter("a name is empty: give names separated by commas")
    return found


def _character(text: str) -> str:
    """One character; a tab may be given by name, which is easier in a shell."""
    character = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(character) != 1:
        raise click.BadParameter(f"must be one character, or tab, not {quoted(text)}")
    return character


def _encoding(text: str) -> str:
    try:
        codecs.lookup(text)
    except LookupError:
        raise click.BadParameter(f"there is no encoding {quoted(text)}") from None
    return text


# ---------------------------------------------------------------- options


def option(*given: str, kind: Any, about: str, **more: Any) -> Function:
    """An option with a value; with a `section`, it stands in that section of the help."""
    cls = SectionOption if "section" in more else click.Option
    return click.option(*given, type=kind, help=about, cls=cls, **more)


def flag(*given: str, about: str, value: bool = True) -> Function:
    """An option without a value, by which the command gets this one."""
    return click.option(*given, is_flag=True, flag_value=value, default=not value, help=about)


def model_argument(name: str = "model") -> Function:
    """The argument for a model."""
    about = "a model or theory (.json), rules as text, or - for standard input"
    return click.argument(name, type=File(), help=about)


def data_argument(required: bool = True) -> Function:
    """The argument for data."""
    about = (
        "a file (.arff, .csv, .parquet), - for standard input, the name of a data set in the "
        "folder $LABELRULES_DATA, openml:NAME, or magazines"
    )
    return click.argument("data", type=DataName(), required=required, help=about)


def output_option(what: str) -> Function:
    """The option for a file, - being the standard output."""
    about = f"write {what} to this file (- is standard output)"
    return option("-o", "--output", kind=File(), about=about)


def json_option(what: str) -> Function:
    """The option for results that programs read."""
    return flag("--json", "as_json", about=f"print {what} as JSON")


_READING = {
    "--labels": (names, "label columns: a,b,c"),
    "--part": (one_of("part", ("train", "test")), "train or test, of a data set by name"),
    "--format": (one_of("format", FORMATS), f"{', '.join(FORMATS)}; default: by file extension"),
    "--xml": (File(), "Mulan's XML file that lists the labels"),
    "--nominal": (names, "columns of numbers that stand for categories"),
    "--ignore": (names, "columns to leave out"),
    "--delimiter": (_character, "the character between cells (,)"),
    "--missing": (str, "the cell that stands for a missing value (empty)"),
    "--encoding": (_encoding, "the encoding of the file (utf-8)"),
}


def reading_options(command: Function) -> Function:
    """Add the options on how to read data; the command gets them together as `reading`."""

    @wraps(command)
    def with_reading(**values: Any) -> Any:
        chosen = {name: values.pop(name) for name in Reading.names()}
        return command(reading=Reading(**chosen), **values)

    decorated: Function = with_reading
    for name, (kind, about) in reversed(_READING.items()):
        decorated = option(name, kind=kind, about=about, section="Reading data")(decorated)
    return decorated
