"""``--set NAME=VALUE``: parameters of learners and searches, read by their signatures."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from labelrules._checks import quoted, suggestion
from labelrules.cli.commands import names

Pair = tuple[str, str]

_CONSTANTS = {"none": None, "true": True, "false": False}
_KINDS: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false"}
_BONUS = re.compile(r"(kln|root|peak)\((.*)\)")
_DOCUMENTED = re.compile(r"^(\w[\w, ]*?) :.*\n((?: {4}.*\n|\n)*)", re.MULTILINE)


class Setting(click.ParamType[Pair]):
    """The type of ``--set``: a name, with dashes or underscores, and the text of its value.

    `owners` finds the learners or searches by name, of which the option `chosen` names one; it is
    called only when it must be, since it imports them. Parameters in `without` cannot be set.
    """

    name = "name=value"

    def __init__(
        self, owners: Callable[[], Mapping[str, Any]], chosen: str, without: tuple[str, ...] = ()
    ) -> None:
        self.owners, self.chosen, self.without = owners, chosen, ("self", *without)

    def convert(self, value: str, param: Any, ctx: Any) -> Pair:
        """The pair."""
        name, equals, text = value.partition("=")
        if not (equals and name.strip()):
            self.fail(f"write NAME=VALUE, not {quoted(value)}", param, ctx)
        return name.strip().replace("-", "_"), text.strip()

    def parameters(self, owners: Iterable[str]) -> dict[str, inspect.Parameter]:
        """The parameters of learners or searches, from their signatures."""
        known = self.owners()
        found: dict[str, inspect.Parameter] = {}
        for owner in owners:
            found |= inspect.signature(known[owner]).parameters
        return {name: one for name, one in found.items() if name not in self.without}

    def has(self, name: str) -> bool:
        """Whether some learner or search has this parameter."""
        return name in self.parameters(self.owners())

    def values(self, owner: str, settings: Iterable[Pair]) -> dict[str, Any]:
        """The values that are set: each of a known parameter, each once."""
        parameters = self.parameters([owner])
        found: dict[str, Any] = {}
        for name, text in settings:
            if name not in parameters:
                near = suggestion(name, parameters) or f"; it has {', '.join(parameters) or 'none'}"
                raise click.UsageError(f"--set: {owner} has no parameter {quoted(name)}{near}")
            if name in found:
                raise click.UsageError(f"--set {name} is given twice")
            found[name] = parsed_value(name, text, parameters[name])
        return found

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """The parameters of what is chosen, and after ``=`` the words that one takes."""
        # Of an unfinished line, click has parsed the options before the last one only.
        words = {ctx.params.get(self.chosen), *ctx.args}
        owners = [*self.owners()]
        parameters = self.parameters([one for one in owners if one in words] or owners)
        offered = [f"{name}=" for name in parameters]
        name, equals, _ = incomplete.partition("=")
        if equals and name in parameters:
            offered = [f"{name}={word}" for word in _words(parameters[name].annotation)]
        return [CompletionItem(one) for one in offered if one.startswith(incomplete)]

    def print_list(self, ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
        """List the parameters of the chosen learner or search, and exit."""
        if wanted and not ctx.resilient_parsing:
            owner = ctx.params[self.chosen]
            print(settings_text(self.parameters([owner]), self.owners()[owner].__doc__ or ""))
            ctx.exit()


def _words(annotation: Any) -> Iterator[Any]:
    """The words that an annotation lists."""
    for part in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield part
        else:
            yield from _words(part)


def setting_options(of: str, setting: Setting) -> Callable[..., Any]:
    """The options ``--set`` and ``--settings``; what is chosen must be an eager parameter."""
    listing = click.option(
        "--settings", "listed", is_flag=True, expose_value=False, callback=setting.print_list,
        help=f"list the parameters of {of} and exit",
    )  # fmt: skip
    about = f"a parameter of {of}, as in Python; repeatable"
    setter = click.option("-s", "--set", "settings", type=setting, multiple=True, help=about)
    return lambda command: setter(listing(command))


@contextmanager
def blaming(settings: Sequence[Pair], option_name: str = "--set") -> Iterator[None]:
    """Report an error that names a setting, or its value, as one of usage."""
    from labelrules.data import DataError

    try:
        yield
    except (ValueError, TypeError) as wrong:
        message = str(wrong)
        named = [
            text
            for name, text in settings
            if re.search(rf"\b{re.escape(name)}\b", message) or (text and repr(text) in message)
        ]
        is_wrong_kind = isinstance(wrong, TypeError) and bool(settings)
        if isinstance(wrong, DataError) or not (named or is_wrong_kind):
            raise
        if not named:
            message = f"a value has the wrong type ({message})"
        elif "did you mean" not in message:
            words = [word for word in re.findall(r"'([^']+)'", message) if word not in named]
            message += suggestion(named[0], words)
    else:
        return
    raise click.UsageError(f"{option_name}: {message}")


def parsed_value(name: str, text: str, parameter: inspect.Parameter) -> Any:
    """The value that a text stands for, of the parameter's type if that is a number or bool.

    Other types, ranges and words are checked by the learner or search itself.
    """
    if name == "size_bonus":
        return _size_bonus(text)
    value = _value(name, text, str(parameter.annotation))
    kind = parameter.annotation
    if name == "random_state":  # annotated by what scikit-learn takes, which is more
        kind = int if value is not None else None
        if isinstance(value, int) and value < 0:
            raise click.UsageError(f"--set random_state: must be at least 0, not {value}")
    fits = type(value) in ((int, float) if kind is float else (kind,))
    if kind in _KINDS and not fits:
        raise click.UsageError(f"--set {name}: must be {_KINDS[kind]}, not {quoted(value)}")
    return value


def _value(name: str, text: str, annotation: str) -> Any:
    """A number, true, false, none, a list, or the text itself."""
    takes_list = "Iterable" in annotation or "Sequence" in annotation
    takes_text = annotation.startswith("str ")
    if takes_list and not text.startswith(("[", "{")) and ("," in text or not takes_text):
        try:
            return names(text)
        except click.BadParameter as wrong:
            raise click.UsageError(f"--set {name}: {wrong.message}") from None
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        value = json.loads(text)
    except RecursionError:
        raise click.UsageError(f"--set {name}: {quoted(text)} is nested too deeply") from None
    except ValueError:
        if text[:1] in ('"', "[", "{"):
            raise click.UsageError(f"--set {name}: {_shown(text)} is not valid JSON") from None
        return text
    if not isinstance(value, list):
        return value
    return [tuple(item) if isinstance(item, list) else item for item in value]


def _shown(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _size_bonus(text: str) -> Any:
    from labelrules.search import kln, peak, root

    if text.lower() == "none":
        return None
    found = _BONUS.fullmatch(text)
    if found is None:
        raise click.UsageError(
            "--set size_bonus: write kln(A), root(A) or peak(SIZE, FACTOR, N_LABELS), "
            f"not {quoted(text)}"
        )
    makers: dict[str, Callable[..., Any]] = {"kln": kln, "root": root, "peak": peak}
    try:
        return makers[found[1]](*json.loads(f"[{found[2]}]"))
    except (json.JSONDecodeError, RecursionError):
        message = f"takes numbers, not {quoted(found[2])}"
    except (ValueError, TypeError) as wrong:
        message = str(wrong)
    raise click.UsageError(f"--set size_bonus: {found[1]}: {message}")


def settings_text(parameters: Mapping[str, inspect.Parameter], doc: str) -> str:
    """A line for each parameter: its name and default, and the first sentence on it."""
    from labelrules._report import aligned

    meanings = _meanings(doc)
    heads = {name: f"{name}={_default_text(one.default)}" for name, one in parameters.items()}
    rows = [[head, meanings.get(name, "")] for name, head in heads.items()]
    return "\n".join(aligned(rows, left=(0, 1)))


def _default_text(default: object) -> str:
    if default is inspect.Parameter.empty:
        return ""
    if default is None or isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ",".join(map(str, default))
    return f"{default:.4g}" if isinstance(default, float) else str(default)


def _meanings(doc: str) -> dict[str, str]:
    """The first sentence on each parameter, from the section of a docstring."""
    found: dict[str, str] = {}
    for listed, text in _DOCUMENTED.findall(inspect.cleandoc(doc) + "\n"):
        sentence = re.split(r"(?<=[.;])\s", " ".join(text.split()))[0]
        plain = sentence.replace("`", "").removesuffix(";")
        found |= dict.fromkeys(listed.split(", "), plain)
    return found
