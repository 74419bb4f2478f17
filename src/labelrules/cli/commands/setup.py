"""``labelrules warm-up`` and ``labelrules completion``: what is done once, before the first use.

Shells complete commands, options and values by a script, which calls ``labelrules`` with the words
typed so far; click prints the completions. Added here: values after ``--option=``, no space after
``--set NAME=``, and in zsh the second Tab after the script is loaded.
"""

import os
import sys
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
)

from labelrules.cli.app import COMPLETE_VARIABLE
from labelrules.cli.commands import Command, OneOf

EXAMPLES = """
source <(labelrules completion bash)
labelrules completion zsh > ~/.zfunc/_labelrules
labelrules completion fish > ~/.config/fish/completions/labelrules.fish
"""

_NO_SPACE_BASH = """
_labelrules_no_space() {
    _labelrules_completion "$@"
    if [[ "${COMPREPLY[0]}" == *= ]]; then compopt -o nospace; fi
}
complete -o nosort -F _labelrules_no_space labelrules
"""
_NO_SPACE_ZSH = (
    'local -a suffix=(); if [[ $completions[1] == *= ]]; then suffix=(-S ""); fi; '
    'compadd "${suffix[@]}" -U'
)


class WholeWords(ShellComplete):
    """Completions of the whole word, in ``--option=value`` with the option before the value."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """The completions of a word."""
        found = super().get_completions(list(args), incomplete)
        option, equals, _ = incomplete.partition("=")
        if not (equals and option.startswith("--")):
            return found
        return [
            CompletionItem(f"{option}={item.value}", item.type, item.help)
            for item in found
            if item.type == "plain"
        ]


class Bash(WholeWords, BashComplete):
    """Bash, for which ``=`` is a word of its own."""

    def source(self) -> str:
        """The script."""
        return super().source() + _NO_SPACE_BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one to complete, and that one, joined again at ``=``."""
        before, current = super().get_completion_args()
        words: list[str] = []
        for word in [*before, current]:
            is_joined = word == "=" or (words and words[-1].endswith("="))
            if words and is_joined and word:
                words[-1] += word
            else:
                words.append(word)
        return words[:-1], words[-1]

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """The completions, without what stands before the last ``=``."""
        start = incomplete.rfind("=") + 1
        return [
            CompletionItem(item.value[start:], item.type, item.help)
            for item in super().get_completions(args, incomplete)
        ]


class Zsh(WholeWords, ZshComplete):
    """Zsh, which calls a script of ``$fpath`` as the function ``_labelrules``."""

    source_template = ZshComplete.source_template.replace("compadd -U", _NO_SPACE_ZSH).replace(
        "$zsh_eval_context[-1] == loadautofunc", "$funcstack[1] == _labelrules"
    )


class Fish(WholeWords, FishComplete):
    """Fish."""


SHELLS: dict[str, type[ShellComplete]] = {"bash": Bash, "zsh": Zsh, "fish": Fish}


@click.command("completion", cls=Command, examples=EXAMPLES)
@click.argument("shell", type=OneOf("shell", SHELLS), help=", ".join(SHELLS))
@click.pass_context
def completion_command(ctx: click.Context, shell: str) -> None:
    """Print the script."""
    program = ctx.find_root().command
    script = SHELLS[shell](program, {}, "labelrules", COMPLETE_VARIABLE).source()
    sys.stdout.write(script)


def completed(program: click.Command, variable: str) -> str:
    """The completions that a script requests by the environment."""
    shell = SHELLS[os.environ[variable].partition("_")[0]]
    return shell(program, {}, "labelrules", variable).complete()


@click.command("warm-up", cls=Command, examples="labelrules warm-up")
def warm_up_command() -> None:
    """Compile, and say how long it took."""
    from labelrules.learners import warm_up

    seconds = warm_up()
    if seconds:
        print(f"compiled in {seconds:.1f} s; the compiled code is kept on disk")
    else:
        print("nothing to compile: the compiled code is on disk")
