"""``--set NAME=VALUE``: parameters of learners and searches, read by their signatures."""

import inspect
import json
import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Union, get_args, get_origin

import click
from click.shell_completion import CompletionItem

from labelrules._messages import quoted, suggestion
from labelrules.cli.commands import names

Pair = tuple[str, str]
Parameters = Mapping[str, inspect.Parameter]

_CONSTANTS = {"none": None, "true": True, "false": False}
_LIFT = re.compile(r"(kln|root|peak)\((.*)\)")
_DOCUMENTED = re.compile(r"^(\w[\w, ]*?) :.*$")
_KINDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a word",
    type(None): "none",
}
_LISTS: set[Any] = {Iterable, Sequence}
_ANYTHING = object()


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

    name = "setting"

    def __init__(
        self,
        parameters: Callable[[str], Parameters],
        chosen: str,
        known: Callable[[], Iterable[str]],
    ) -> None:
        self.parameters, self.chosen, self.known = parameters, chosen, known

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Pair:
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
            kinds = _alternatives(parameters[name].annotation)
            offered = [f"{name}={word}" for word in kinds if isinstance(word, str)]
        return [CompletionItem(one) for one in offered if one.startswith(incomplete)]


def setting_options(of: str, setting: Setting) -> Callable[..., Any]:
    """The options ``--set`` and ``--settings``."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        listing = click.option("--settings", "list_settings", is_flag=True,
                               help=f"list the parameters of {of} and exit")  # fmt: skip
        return click.option("-s", "--set", "settings", metavar="NAME=VALUE", multiple=True,
                            type=setting, help=f"a parameter of {of}, as in Python; repeatable")(
            listing(command))  # fmt: skip

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
            raise click.UsageError(f"{owner} has no parameter {quoted(name)}{near}")
        if name in found:
            raise click.UsageError(f"--set {name} is given twice")
        found[name] = text
    return found


@contextmanager
def blaming(settings: Sequence[Pair], option: str = "--set") -> Iterator[None]:
    """Report an error that names a setting, or its value, as one of usage."""
    from labelrules.data import DataError

    try:
        yield
    except (ValueError, TypeError) as wrong:
        named = any(
            re.search(rf"\b{re.escape(name)}\b", str(wrong)) or (text and repr(text) in str(wrong))
            for name, text in settings
        )
        is_wrong_kind = isinstance(wrong, TypeError) and bool(settings)
        if isinstance(wrong, DataError) or not (named or is_wrong_kind):
            raise
        message = str(wrong) if named else f"a value has the wrong type ({wrong})"
    else:
        return
    raise click.UsageError(f"{option}: {message}")


# ---------------------------------------------------------------- values


def value_of(name: str, text: str, parameter: inspect.Parameter) -> Any:
    """The value that a text stands for, if the parameter takes such a value.

    Examples
    --------
    >>> from inspect import Parameter
    >>> any_kind = Parameter("x", Parameter.KEYWORD_ONLY)
    >>> [value_of("x", text, any_kind) for text in ("3", "0.5", "none", "true", "micro", '"3"')]
    [3, 0.5, None, True, 'micro', '3']
    """
    if name == "lift":
        return _lift(text)
    value = _value(name, text, str(parameter.annotation))
    if name != "base":
        # `random_state` is annotated by what scikit-learn takes, which is more than a number.
        check_kind(name, value, int | None if name == "random_state" else parameter.annotation)
    if name == "random_state" and value is not None and value < 0:
        raise click.UsageError(f"--set random_state: must be at least 0, not {value}")
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


def check_kind(name: str, value: Any, annotation: Any) -> None:
    """Refuse a value of a type that the parameter does not take.

    Examples
    --------
    >>> check_kind("alpha", 0.05, float | None)
    >>> check_kind("alpha", "x", float | None)
    Traceback (most recent call last):
    click.exceptions.UsageError: --set alpha: must be a number or none, not 'x'
    >>> check_kind("bins", "widht", Literal["width", "frequency"])
    Traceback (most recent call last):
    click.exceptions.UsageError: --set bins: must be 'width' or 'frequency', not 'widht'; did
    you mean 'width'?
    """
    kinds = _alternatives(annotation)
    if any(_fits(value, kind) for kind in kinds):
        return
    words = [kind for kind in kinds if isinstance(kind, str)]
    allowed = [_KINDS[kind] for kind in kinds if kind in _KINDS and kind is not type(None)]
    allowed += ["names separated by commas"] if _LISTS & {*kinds} else []
    allowed += [repr(word) for word in words]
    allowed += ["none"] if type(None) in kinds else []
    near = suggestion(value, words) if isinstance(value, str) else ""
    raise click.UsageError(
        f"--set {name}: must be {' or '.join(allowed)}, not {quoted(value)}{near}"
    )


def _alternatives(annotation: Any) -> list[Any]:
    """The kinds of value that an annotation allows: types, words, or anything."""
    origin = get_origin(annotation)
    if origin is Union or isinstance(annotation, types.UnionType):
        return [kind for part in get_args(annotation) for kind in _alternatives(part)]
    if origin is Literal:
        return list(get_args(annotation))
    if origin in _LISTS:
        return [origin]
    if annotation in _KINDS or isinstance(annotation, type):
        return [annotation]
    return [_ANYTHING]


def _fits(value: Any, kind: Any) -> bool:
    if kind is _ANYTHING or kind is inspect.Parameter.empty:
        return True
    if isinstance(kind, str):
        return bool(value == kind)
    if kind in _LISTS:
        return isinstance(value, list)
    if isinstance(value, bool) or kind is bool:
        return isinstance(value, bool) and kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


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
    return {name: _sentence(" ".join(text)) for name, text in found.items()}


def _sentence(text: str) -> str:
    first = re.split(r"(?<=[.;])\s", text, maxsplit=1)[0]
    return first.replace("`", "").removesuffix(";")
