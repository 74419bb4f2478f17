"""``labelrules workbench``: read and change rules in the browser."""

import shlex
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from labelrules._checks import counted
from labelrules.cli.commands import (
    WORDS,
    Command,
    Count,
    DataName,
    File,
    Text,
    data_argument,
    output_option,
    reading_options,
)
from labelrules.cli.io import Reading, announce, check_files, read_data, say, shown_progress, write
from labelrules.cli.models import data_for, model_and_data, other_part, read_model

if TYPE_CHECKING:
    from labelrules.data import Dataset
    from labelrules.rules import Theory
    from labelrules.studio.web.opening import Material

EXAMPLES = """
labelrules workbench
labelrules workbench medical model.json --part train --test medical
labelrules workbench patients.csv --labels asthma,flu
labelrules workbench patients.csv model.json --validation later.csv --author "A. Physician"
"""

EMBEDDED = "clinic"
EXTRA = "the workbench needs Starlette and uvicorn: pip install 'labelrules[workbench]'"
OPEN = (
    "other machines can reach this address: who knows it can read and change the model, and the "
    "connection is not encrypted"
)


@click.command("workbench", cls=Command, examples=EXAMPLES)
@click.argument(
    "data", type=DataName(), required=False,
    help="the rows that rules are learned from, as for labelrules learn; by default the clinic",
)  # fmt: skip
@click.argument(
    "model", type=File(), required=False,
    help="a model, theory, or rules as text; by default one is learned",
)  # fmt: skip
@click.option(
    "--validation", type=DataName(), help="rows to check edits on; without MODEL a fourth"
)
@click.option("--test", type=DataName(), help="locked rows; if --part train, the test part")
@click.option("--other", type=File(), help="another model, to compare with")
@click.option("--project", type=File(), help="the file of the edits (MODEL.edits.json)")
@click.option("--author", type=Text(), help="who edits, for the history")
@click.option("--host", type=Text(), default="127.0.0.1", help="the address to listen on")
@click.option("--port", type=Count(1), help="the port to listen on (8765, or a free one)")
@click.option("--browser/--no-browser", default=None, help="open the page in the browser")
@reading_options
def command(
    data: str | None, model: str | None, validation: str | None, test: str | None,
    other: str | None, project: str | None, author: str | None, host: str, port: int | None,
    browser: bool | None, reading: Reading,
) -> None:  # fmt: skip
    """Serve until Ctrl-C."""
    check_extra()
    check_files(project, [data, model, validation, test, other, reading.xml], "--project")
    from labelrules.studio.web.opening import is_open_to_others, listening, opened, serve

    with listening(host, port) as listener:
        material, kept = _material(data or EMBEDDED, model, validation, test, reading)
        path = _path_of(project, model, material.data.name)
        beside = {} if other is None else {Path(other).name: _other_rules(other, material.data)}
        material = replace(material, path=path, author=author)
        if not path.exists():
            say(f"edits are written to {path}")
        editor, goes_on = opened(
            material, lambda: _learned(material.data) if kept is None else kept
        )
        if goes_on:
            say(f"going on from {path}")
        if is_open_to_others(listener):
            say(OPEN)
        is_seen = sys.stdout.isatty() if browser is None else browser
        serve(
            editor, material.data.name or str(data), path=path, others=beside,
            listener=listener, host=host, browser=is_seen, announce=_say_where,
            again=_call_again(click.get_current_context().meta[WORDS], path),
        )  # fmt: skip


def _call_again(words: list[str], path: Path) -> str:
    """The call that goes on with the project, in the present folder."""
    is_named = any(word.partition("=")[0] == "--project" for word in words)
    more = [] if is_named else ["--project", str(path)]
    return shlex.join(["labelrules", "workbench", *words, *more])


def check_extra() -> None:
    """Refuse to begin without the libraries of the extra."""
    try:
        import starlette
        import uvicorn
    except ImportError:
        raise click.ClickException(EXTRA) from None
    del starlette, uvicorn


def _say_where(address: str) -> None:
    print(address, flush=True)
    heard = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    end = "Ctrl-C" if heard else "SIGTERM, not Ctrl-C, which is ignored here,"
    say(f"open this address in a browser; {end} ends the workbench")


def _material(
    data: str, model: str | None, validation: str | None, test: str | None, reading: Reading
) -> "tuple[Material, Any]":
    """The rows in parts, and the model if one is given."""
    from labelrules.studio.editor import held_out
    from labelrules.studio.web.opening import Material

    kept: Any = None
    if model is None:
        rows = read_data(data, reading)
    else:
        found, rows = model_and_data(model, data, reading, with_labels=True)
        kept = found.kept if found.is_theory else _editable(found, rows)
    locked = other_part(test, reading, rows.schema, "test")
    checked: Dataset | None = None
    if validation is not None:
        checked = data_for(validation, Reading(), rows.schema)
    elif model is None and rows.n_rows >= 8:
        rows, checked = held_out(rows)
    return Material(rows, checked, locked), kept


def _other_rules(other: str, rows: "Dataset") -> "Theory":
    """The rules of another model of the same features and labels."""
    found = read_model(other, lambda: rows.schema)
    if found.schema != rows.schema:
        raise click.ClickException(
            f"{found.source} has other features or labels than the data, so it cannot be compared"
        )
    return found.theory


def _editable(found: Any, rows: "Dataset") -> Any:
    """The learner, if its rules alone predict; else its rules, with a word about it."""
    from labelrules.studio import edit

    try:
        edit(found.kept, rows)
    except ValueError:
        theory = found.theory
        say(f"the rules of {found.source} are edited, without the rest of the {found.kind}")
        return theory
    return found.kept


def _path_of(project: str | None, model: str | None, name: str) -> Path:
    """The project file: next to the model, else in the present folder, named like the data."""
    if project is not None:
        return Path(project)
    if model is not None and model != "-":
        return Path(model).with_suffix(".edits.json")
    return Path(f"{Path(name or 'rules').name}.edits.json")


def run_history(replay: Callable[..., Any], original: str, known: str) -> NoReturn:
    """Run a program that `Editor.script` has written: read its rows, and write the model."""
    from labelrules.cli.app import main

    sys.exit(main(command=_history_command(replay, original, known)))


def _history_command(replay: Callable[..., Any], original: str, known: str) -> click.Command:
    name = Path(sys.argv[0]).name
    about = "further rows, as for the workbench; what is learned does not depend on them"

    @click.command(name, cls=Command, examples=f"python {name} patients.csv -o model.json")
    @data_argument
    @click.option("--validation", type=DataName(), help=about)
    @output_option("the model (JSON)")
    @reading_options
    def command(data: str, validation: str | None, output: str | None, reading: Reading) -> None:
        """Make the model again by the edits in this file."""
        from labelrules.data import fingerprint
        from labelrules.storage import from_json, to_json
        from labelrules.studio.editor import held_out

        check_files(output, [data, validation, reading.xml])
        kept = from_json(original)
        schema = kept.schema if hasattr(kept, "schema") else kept.schema_
        rows, checked = data_for(data, reading, schema), None
        if validation is not None:
            checked = data_for(validation, Reading(), schema)
        elif fingerprint(rows) != known:  # the workbench has held out a fourth of them
            rows, checked = held_out(rows)
        editor = replay(rows, checked)
        write(to_json(editor.model, about=editor.about or True), output)
        say(f"{counted(len(editor.steps), 'step')} on {counted(rows.n_rows, 'row')}")

    return command


def _learned(rows: "Dataset") -> Any:
    """A model with the usual settings."""
    from labelrules.learners import SeparateAndConquer

    with shown_progress("learning", 1.0) as show:
        announce(show, "learning")
        return SeparateAndConquer(progress=show).fit(rows).set_params(progress=False)
