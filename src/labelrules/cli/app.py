"""The program: its commands, imported on use, its messages on wrong calls, its exit status."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

import click

from labelrules import __version__, _wings
from labelrules._checks import quoted, suggestion
from labelrules.cli.commands import help_option, parameter_name
from labelrules.cli.io import drop_output, in_shell_words, naming_output, say

SUCCESS = 0
FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130  # as shells count signals: 128 + SIGINT
BROKEN_PIPE = 141  # 128 + SIGPIPE: the reader of the output has stopped

COMPLETE_VARIABLE = "_LABELRULES_COMPLETE"
"""The environment variable by which a shell requests completions, as click names it."""

COMMANDS = {
    "learn": "Learn rules from data, print them, and save the model.",
    "predict": "Predict the labels of rows.",
    "evaluate": "Evaluate the predictions of a model.",
    "show": "Show the rules of a model.",
    "explain": "Explain the labels of rows on a screen, and what would change them.",
    "compare": "Compare the rules and the predictions of two models.",
    "workbench": "Read and change rules in the browser, and learn the rest again.",
    "report": "Write a model and its evidence as one HTML file.",
    "frontier": "Cross-validate learners with limits of size, and find the knee.",
    "experiment": "Compare learners over data sets by a plan, with statistical tests.",
    "discover": "Find itemsets, association rules, label constraints, or subgroups.",
    "convert": "Convert data or a model to another format.",
    "stats": "Count rows, features, labels and label sets of data.",
    "demo": "Learn rules for the chapter's magazine readers and for a clinic, and explain them.",
    "warm-up": "Compile all that learners need, before the first use.",
    "completion": "Print the completion script for bash, zsh or fish.",
}
"""Summaries of the commands: known here, so that the list of commands imports none of them."""

_CHAPTERS = {
    "stats": ("show", "stats_command"),
    "evaluate": ("predict", "evaluate_command"),
    "warm-up": ("setup", "warm_up_command"),
    "completion": ("setup", "completion_command"),
}
"""Modules and names of the commands that do not have a module of their own name."""


class Program(click.Group):
    """The group of commands; a command is imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, the most used ones first."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        room = _wings.COMMANDS.get(cmd_name, "cli")
        module, name = _CHAPTERS.get(cmd_name, (cmd_name, "command"))
        found = import_module(f"labelrules.{room}.commands.{module}")
        command: click.Command = getattr(found, name)
        command.help = COMMANDS[cmd_name]
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


program = Program(
    "labelrules",
    help="Interpretable rules for multi-label classification.",
    epilog="'labelrules COMMAND --help' describes a command. Exit status: 0 on success, 1 if the "
    "data or the model are at fault, 2 if the call is, 130 after Ctrl-C.",
    add_help_option=False,
    context_settings={"max_content_width": 100},
)
click.version_option(
    __version__, message="labelrules %(version)s", help="show the version and exit"
)(help_option(program))


def main(arguments: Sequence[str] | None = None, command: click.Command | None = None) -> int:
    """Run a command, by default that of this process, and return the exit status.

    Another program than ``labelrules`` gives its own `command`.

    Examples
    --------
    >>> main(["--version"])
    labelrules ...
    0
    """
    if sys.stdout is None:  # closed by who started the program
        say("cannot write: the standard output is closed; give it a file, or >/dev/null")
        return FAILED
    _prepare_output()
    try:
        status = _run(list(sys.argv[1:] if arguments is None else arguments), command)
        with naming_output():
            sys.stdout.flush()
        return status
    except click.UsageError as wrong:
        path = wrong.ctx.command_path if wrong.ctx else "labelrules"
        name = path.partition(" ")[2]
        say(f"{name}: {_message(wrong)}" if name else _message(wrong))
        say(f"see {path} --help", prefix="")
        return WRONG_USAGE
    except KeyboardInterrupt as stop:
        say(" ".join(["interrupted", *map(str, stop.args)]))
        return INTERRUPTED
    except BrokenPipeError:  # the reader of the output has stopped
        drop_output()
        return BROKEN_PIPE
    except ImportError as wrong:
        if "pip install" not in str(wrong):  # not an extra that is missing, but a defect
            raise
        say(str(wrong))
        return FAILED
    except (click.ClickException, ValueError, OSError, RecursionError, MemoryError) as wrong:
        say(in_shell_words(wrong))
        return FAILED
    except RuntimeError as wrong:
        from labelrules.data.errors import ClusterError, DeviceError

        if not isinstance(wrong, (ClusterError, DeviceError)):
            raise
        say(str(wrong))
        return FAILED


def _run(words: list[str], command: click.Command | None) -> int:
    """Run the program; `click.Command.main` would exit with 1 on Ctrl-C and broken pipes."""
    if COMPLETE_VARIABLE in os.environ:
        from labelrules.cli.commands.setup import completed

        print(completed(program, COMPLETE_VARIABLE))
        return SUCCESS
    if command is None and (not words or words[0] == "help"):
        words = [*words[1:2], "--help"]
    called = command or program
    try:
        with naming_output():  # options such as --help print
            made = called.make_context(called.name, words)
        with made as context:
            return int(called.invoke(context) or SUCCESS)
    except click.exceptions.Exit as end:  # after --help and --version
        return end.exit_code


def _message(wrong: click.UsageError) -> str:
    """What is wrong with a call, and what was probably meant."""
    if isinstance(wrong, click.NoSuchOption):
        name = wrong.option_name
        return f"there is no option {name}{_instead(name, wrong.ctx)}"
    if isinstance(wrong, click.exceptions.NoSuchCommand):
        name = wrong.command_name
        return f"there is no command {quoted(name)}{suggestion(name, COMMANDS)}"
    if isinstance(wrong, click.MissingParameter) and wrong.param is not None:
        return f"missing argument {parameter_name(wrong.param)}: {wrong.param.help}"
    if isinstance(wrong, click.BadOptionUsage):
        takes_value = wrong.option_name in _options(wrong.ctx, with_value=True)
        return f"option {wrong.option_name} {'needs a value' if takes_value else 'takes no value'}"
    if isinstance(wrong, click.BadParameter) and wrong.param is not None:
        return f"{parameter_name(wrong.param)}: {wrong.message}"
    return wrong.message


def _options(context: click.Context | None, with_value: bool = False) -> list[str]:
    """The names of a command's options."""
    params = [] if context is None else context.command.get_params(context)
    options = [one for one in params if isinstance(one, click.Option)]
    named = [one for one in options if not (with_value and one.is_flag)]
    return [name for one in named for name in (*one.opts, *one.secondary_opts)]


def _instead(name: str, context: click.Context | None) -> str:
    """What was probably meant by an option that does not exist."""
    from labelrules.cli.settings import Setting

    params = [] if context is None else context.command.params
    parameter = name.strip("-").replace("-", "_")
    if any(isinstance(one.type, Setting) and one.type.has(parameter) for one in params):
        return f"; write --set {parameter}=VALUE"
    return suggestion(name, [one for one in _options(context) if one.startswith("--")])


def _prepare_output() -> None:
    """Files and pipes get UTF-8 on every platform; a terminal gets what it can show."""
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="backslashreplace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
