"""Calls of the command line, in this process."""

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import Any, NamedTuple
from unittest.mock import patch

import click

from labelrules.cli import main


class Done(NamedTuple):
    """How a call ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def called(*words: str, stdin: str | bytes = "", command: click.Command | None = None) -> Done:
    """Call ``labelrules`` with these words, and this text as standard input."""
    out, err = io.StringIO(), io.StringIO()
    content = stdin.encode() if isinstance(stdin, str) else stdin
    given = io.TextIOWrapper(io.BytesIO(content))
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", given):
        code = main(words, command)
    return Done(code, out.getvalue(), err.getvalue())


def with_extras(done: Done) -> Done:
    """The same, unless the call has asked for an extra that is missing."""
    if done.code and "pip install" in done.err:
        raise ImportError(done.err.strip())
    return done


def output(*words: str, stdin: str = "", command: click.Command | None = None) -> str:
    """What a call prints that goes well."""
    done = with_extras(called(*words, stdin=stdin, command=command))
    assert done.code == 0, done.err
    return done.out
