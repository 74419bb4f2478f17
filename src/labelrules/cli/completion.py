"""``labelrules completion``: what a shell offers when Tab is pressed."""

import shlex
from argparse import Action, Namespace

from labelrules.cli.errors import OK
from labelrules.cli.parser import OneOf, Parser

SUMMARY = "Print the completion script for a shell: bash, zsh or fish."
EXAMPLES = """
source <(labelrules completion bash)
labelrules completion zsh > ~/.zfunc/_labelrules
labelrules completion fish > ~/.config/fish/completions/labelrules.fish
"""

SHELLS = ("bash", "zsh", "fish")
_FIRST = ["--help", "--version"]  # in the place of a command


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    parser.add_argument("shell", metavar="SHELL", type=OneOf("shell", SHELLS),
                        help=", ".join(SHELLS))  # fmt: skip


def run(options: Namespace) -> int:
    """Print the script."""
    print({"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](), end="")
    return OK


class _Command:
    """What can be completed of a command."""

    def __init__(self, name: str) -> None:
        from labelrules.cli.front import COMMANDS, parser_of

        parser = parser_of(name)
        self.name, self.summary = name, COMMANDS[name].SUMMARY
        self.options = parser.options()
        self.settings = [f"{name}=" for name in parser.settable()]
        self.words = [word for one in parser.operands() for word in _words(one)]

    @property
    def flags(self) -> list[str]:
        return [name for one in self.options for name in one.option_strings]

    @property
    def choices(self) -> dict[str, list[str]]:
        """The values offered after an option."""
        found = {}
        for one in self.options:
            words = self.settings if "--set" in one.option_strings else _words(one)
            found.update(dict.fromkeys(one.option_strings, words) if words else {})
        return found


def _words(action: Action) -> list[str]:
    return list(action.type.words) if isinstance(action.type, OneOf) else []


def _commands() -> list[_Command]:
    from labelrules.cli.front import COMMANDS

    return [_Command(name) for name in COMMANDS]


def _bash() -> str:
    commands = _commands()
    lines = [
        "# bash completion for labelrules",
        "_labelrules_offer() {",
        "    local line",
        '    while IFS= read -r line; do COMPREPLY+=("$line"); done '
        '< <(compgen -W "$1" -- "$word")',
        "}",
        "_labelrules() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        "    COMPREPLY=()",
        "    # In --option=value, = is a word of its own.",
        '    if [[ "$word" == "=" ]]; then word=""',
        '    elif [[ "$before" == "=" ]]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi',
        "    if [ $COMP_CWORD -eq 1 ]; then",
        f'        _labelrules_offer "{_joined([c.name for c in commands])} {_joined(_FIRST)}"',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $before" in',
    ]
    for command in commands:
        for option, words in command.choices.items():
            nospace = " -o nospace" if option in ("-s", "--set") else ""
            lines.append(f'        "{command.name} {option}")')
            lines.append(f"            compopt +o default{nospace} 2> /dev/null")
            lines.append(f'            _labelrules_offer "{_joined(words)}"; return ;;')
    lines += ["    esac", '    case "${COMP_WORDS[1]}" in']
    for command in commands:
        lines.append(f"        {command.name})")
        lines.append(
            f'            if [[ "$word" == -* ]]; then _labelrules_offer "{_joined(command.flags)}"'
        )
        lines.append(f'            else _labelrules_offer "{_joined(command.words)}"; fi ;;')
    # Where nothing is offered, files are, and their names are quoted as they must be.
    lines += ["    esac", "}", "complete -o default -F _labelrules labelrules", ""]
    return "\n".join(lines)


def _zsh() -> str:
    commands = _commands()
    lines = [
        "#compdef labelrules",
        "_labelrules() {",
        "    if (( CURRENT == 2 )); then",
        f"        if [[ $PREFIX == -* ]]; then compadd -- {_joined(_FIRST)}; return; fi",
        "        local -a commands=(",
        *(f"            {shlex.quote(f'{c.name}:{c.summary}')}" for c in commands),
        "        )",
        "        _describe command commands",
        "        return",
        "    fi",
        '    local before="$words[CURRENT-1]"',
        "    # In --option=value, the value is completed by itself.",
        '    if [[ $PREFIX == --*=* ]]; then before="${PREFIX%%=*}"; compset -P 1 "*="; fi',
        '    case "$words[2] $before" in',
    ]
    for command in commands:
        for option, words in command.choices.items():
            suffix = " -S ''" if option in ("-s", "--set") else ""
            lines.append(f'        "{command.name} {option}")')
            lines.append(f"            compadd{suffix} -- {_joined(words)}; return ;;")
    lines += ["    esac", '    case "$words[2]" in']
    for command in commands:
        operands = f"compadd -- {_joined(command.words)}; " if command.words else ""
        lines.append(f"        {command.name})")
        lines.append(
            f"            if [[ $PREFIX == -* ]]; then compadd -- {_joined(command.flags)}"
        )
        lines.append(f"            else {operands}_files; fi ;;")
    lines += ["    esac", "}"]
    # A file of $fpath is called as the function itself; other files are sourced.
    lines += ['if [ "$funcstack[1]" = "_labelrules" ]; then _labelrules "$@"', ""]
    lines[-1] = "else compdef _labelrules labelrules; fi\n"
    return "\n".join(lines)


def _fish() -> str:
    first = "complete -c labelrules -n __fish_use_subcommand -f"
    lines = ["# fish completion for labelrules"]
    lines += [f"{first} -l {name.removeprefix('--')}" for name in _FIRST]
    for command in _commands():
        here = f"complete -c labelrules -n '__fish_seen_subcommand_from {command.name}'"
        lines.append(f"{first} -a {command.name} -d {shlex.quote(command.summary)}")
        if command.words:
            lines.append(f"{here} -a '{_joined(command.words)}'")
        for option in command.options:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.option_strings
            )
            words = command.choices.get(option.option_strings[-1])
            value = f" -x -a '{_joined(words)}'" if words else " -r" if option.nargs != 0 else ""
            help_text = shlex.quote((option.help or "").replace("%", ""))
            lines.append(f"{here} {names}{value} -d {help_text}")
    return "\n".join(lines) + "\n"


def _joined(words: list[str]) -> str:
    return " ".join(words)
