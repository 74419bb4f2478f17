"""``labelrules warm-up``: compile before the first use."""

import click

from labelrules.cli.commands import Command


@click.command("warm-up", cls=Command, examples="labelrules warm-up")
def command() -> None:
    """Compile, and say how long it took."""
    from labelrules.learners import warm_up

    seconds = warm_up()
    if seconds:
        print(f"compiled in {seconds:.1f} s; the compiled code is kept on disk")
    else:
        print("nothing to compile: the compiled code is on disk")
