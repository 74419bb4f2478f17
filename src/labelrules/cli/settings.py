"""``--set NAME=VALUE``: parameters of learners and searches, read by their signatures."""

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from labelrules._messages import quoted, suggestion
from labelrules.cli.commands import flag, names, option

Pair = tuple[str, str]
Parameters = Mapping[str, inspect.Parameter]

_CONSTANTS = {"none": None, "true": True, "false": False}
_KINDS: dict[Any, str] = {int: "a whole number", float: "a number", bool: "true or false"}
_LIFT = re.compile(r"(kln|root|peak)\((.*)\)")
_DOCUMENTED = re.compile(r"^(\w[\w, ]*?) :.*$")


class Setting(click.ParamType[Pair]):
    """A name and the text of its value; dashes in the name are underscores in Python.

    Parameters
    ----------
    parameters : callable
        Gives the parameters of a learner or search, by its name.
    chosen : str
        The option or argument that names the learner or search.
    known : callable
        Gives the names of all learners or searches.

    Examples
    --------
    >>> Setting(dict, "learner", tuple).convert("min-coverage=3", None, None)
    ('min_coverage', '3')
    """

    name = "name=value"

    def __init__(
        self, parameters: Callable[[str], Parameters], chosen: str, known: Callable[..., Any]
    ) -> None:
        self.parameters, self.chosen, self.known = parameters, chosen, known

    def convert(self, value: str, param: Any, ctx: Any) -> Pair:
        """The pair."""
        name, equals, text = value.partition("=")
        if not (equals and name.strip()):
            self.fail(f"write NAME=VALUE, not {quoted(value)}", param, ctx)
        return name.strip().replace("-", "_"), text.strip()

    def every(self) -> set[str]:
        """The parameters of all learners or searches."""
        return {name for one in self.known() for name in self.parameters(one)}

    def shell_complete(self, ctx: Any, param: Any, incomplete: str) -> list[CompletionItem]:
        """The parameters of what is chosen, and after ``=`` the words that one takes."""
        # Of an unfinished line, click has parsed the options before the last one only.
        words = {ctx.params.get(self.chosen), *ctx.args}
        chosen = [one for one in self.known() if one in words] or self.known()
        parameters = {name: one for owner in chosen for name, one in self.parameters(owner).items()}
        offered = [f"{name}=" for name in parameters]
        name, equals, _ = incomplete.partition("=")
        if equals and name in parameters:
            offered = [f"{name}={word}" for word in _words(parameters[name].annotation)]
        return [CompletionItem(one) for one in offered if one.startswith(incomplete)]


def _words(annotation: Any) -> Iterator[Any]:
    """The words that an annotation lists."""
    for part in get_args(annotation):
        if get_origin(annotation) is Literal:
            yield part
        else:
            yield from _words(part)


def setting_options(of: str, setting: Setting) -> Callable[..., Any]:
    """The options ``--set`` and ``--settings``."""

    def decorate(command: Callable[..., Any]) -> Any:
        about = f"a parameter of {of}, as in Python; repeatable"
        listing = flag("--settings", "list_settings", about=f"list the parameters of {of} and exit")
        return option("-s", "--set", "settings", kind=setting, multiple=True, about=about)(
            listing(command)
        )

    return decorate


def required_data(data: str | None) -> str:
    """DATA, which only ``--settings`` does without."""
    if data is None:
        raise click.UsageError("missing argument DATA: name a file or a data set")
    return data


def parameters_of(function: Callable[..., Any], without: Iterable[str]) -> Parameters:
    """The parameters that can be set, from the signature."""
    found = inspect.signature(function).parameters
    return {name: one for name, one in found.items() if name not in {"self", *without}}


def checked(settings: Iterable[Pair], known: Iterable[str], owner: str) -> dict[str, str]:
    """The settings by name: each known, each once."""
    parameters = tuple(known)
    found: dict[str, str] = {}
    for name, text in settings:
        if name not in parameters:
            near = suggestion(name, parameters) or f"; it has {', '.join(parameters) or 'none'}"
            raise click.UsageError(f"--set: {owner} has no parameter {quoted(name)}{near}")
        if name in found:
            raise click.UsageError(f"--set {name} is given twice")
        found[name] = text
    return found


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


# ---------------------------------------------------------------- values


def value_of(name: str, text: str, parameter: inspect.Parameter) -> Any:
    """The value that a text stands for, of the parameter's type if that is a number or bool.

    Other types, ranges and words are checked by the learner or search itself.

    Examples
    --------
    >>> from inspect import Parameter
    >>> any_kind = Parameter("x", Parameter.KEYWORD_ONLY)
    >>> [value_of("x", text, any_kind) for text in ("3", "0.5", "none", "true", "micro", '"3"')]
    [3, 0.5, None, True, 'micro', '3']
    >>> value_of("width", "x", Parameter("width", Parameter.KEYWORD_ONLY, annotation=int))
    Traceback (most recent call last):
    click.exceptions.UsageError: --set width: must be a whole number, not 'x'
    """
    if name == "lift":
        return _lift(text)
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
        return names(text)
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    try:
        value = json.loads(text)
    except ValueError:
        if text[:1] in ('"', "[", "{"):
            raise click.UsageError(f"--set {name}: {text} is not valid JSON") from None
        return text
    if not isinstance(value, list):
        return value
    return [tuple(item) if isinstance(item, list) else item for item in value]


def _lift(text: str) -> Any:
    from labelrules.search import kln, peak, root

    if text.lower() == "none":
        return None
    found = _LIFT.fullmatch(text)
    if found is None:
        raise click.UsageError(
            f"--set lift: write kln(A), root(A) or peak(SIZE, LIFT, N_LABELS), not {quoted(text)}"
        )
    makers: dict[str, Callable[..., Any]] = {"kln": kln, "root": root, "peak": peak}
    try:
        return makers[found[1]](*json.loads(f"[{found[2]}]"))
    except json.JSONDecodeError:
        message = f"takes numbers, not {quoted(found[2])}"
    except (ValueError, TypeError) as wrong:
        message = str(wrong)
    raise click.UsageError(f"--set lift: {found[1]}: {message}")


# ---------------------------------------------------------------- the list of parameters


def settings_text(parameters: Parameters, doc: str) -> str:
    """A line for each parameter: its name and default, and the first sentence on it.

    Examples
    --------
    >>> def search(width: int = 5) -> None:
    ...     '''Search.
    ...
    ...     Parameters
    ...     ----------
    ...     width : int
    ...         How many are kept. More is slower.
    ...     '''
    >>> print(settings_text(inspect.signature(search).parameters, search.__doc__))
    width=5  How many are kept.
    """
    meanings = _meanings(doc)
    heads = {name: f"{name}={_default_text(one.default)}" for name, one in parameters.items()}
    width = max(map(len, heads.values()), default=0)
    lines = [f"{head:<{width}}  {meanings.get(name, '')}" for name, head in heads.items()]
    return "\n".join(line.rstrip() for line in lines)


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
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for line in inspect.cleandoc(doc).splitlines():
        match = _DOCUMENTED.match(line)
        if match:
            current = []
            found.update((name.strip(), current) for name in match[1].split(","))
        elif line.startswith("    "):
            current.append(line.strip())
        elif line:
            current = []
    sentences = {name: re.split(r"(?<=[.;])\s", " ".join(text))[0] for name, text in found.items()}
    return {name: text.replace("`", "").removesuffix(";") for name, text in sentences.items()}
