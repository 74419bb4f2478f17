"""``--set NAME=VALUE``: parameters of learners and searches, by their signatures."""

import inspect
import json
import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from labelrules._checks import quoted, suggestion
from labelrules.cli.errors import UsageError
from labelrules.cli.kinds import check_kind
from labelrules.cli.parser import Parser

Pair = tuple[str, str]

_WORDS = {"none": None, "true": True, "false": False}
_BONUS = re.compile(r"(kln|root|peak)\((.*)\)")


def add_settings(parser: Parser, of: str, names: Callable[[], Collection[str]]) -> None:
    """The option for parameters; `names` gives those of every learner or search."""
    parser.settable = names
    parser.add_argument(
        "-s",
        "--set",
        dest="settings",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        type=pair,
        help=f"a parameter of {of}, as in Python; repeat it for several",
    )


def pair(text: str) -> Pair:
    """A name and the text of its value; dashes in the name are underscores in Python.

    Examples
    --------
    >>> pair("min-coverage=3")
    ('min_coverage', '3')
    """
    name, equals, value = text.partition("=")
    if not (equals and name.strip()):
        raise ArgumentTypeError(f"write NAME=VALUE, not {quoted(text)}")
    return name.strip().replace("-", "_"), value.strip()


def parameters_of(function: Callable[..., Any], without: Iterable[str]) -> dict[str, Any]:
    """The parameters that can be set, with what the signature says of them."""
    found = inspect.signature(function).parameters
    return {name: one for name, one in found.items() if name not in {"self", *without}}


def checked(settings: Sequence[Pair], known: Iterable[str], owner: str) -> dict[str, str]:
    """The settings by name: each known, each once."""
    names = tuple(known)
    found: dict[str, str] = {}
    for name, text in settings:
        if name not in names:
            near = suggestion(name, names) or f"; it has {', '.join(names) or 'none'}"
            raise UsageError(f"{owner} has no setting {quoted(name)}{near}")
        if name in found:
            raise UsageError(f"--set {name} is given twice")
        found[name] = text
    return found


def value_of(name: str, text: str, parameter: inspect.Parameter) -> Any:
    """What a text stands for, if the parameter takes such a value."""
    value = _value(name, text, parameter)
    if name not in ("base", "size_bonus"):
        check_kind(name, value, parameter.annotation)
    return value


def _value(name: str, text: str, parameter: inspect.Parameter) -> Any:
    """What a text stands for: a number, true, false, none, a list, or itself.

    Examples
    --------
    >>> from inspect import Parameter
    >>> any_kind = Parameter("x", Parameter.KEYWORD_ONLY)
    >>> [_value("x", text, any_kind) for text in ("3", "0.5", "none", "true", "micro", '"3"')]
    [3, 0.5, None, True, 'micro', '3']
    """
    if name == "size_bonus":
        return _size_bonus(text)
    takes_list = any(word in str(parameter.annotation) for word in ("Iterable", "Sequence"))
    takes_text = str(parameter.annotation).startswith("str ")
    if takes_list and not text.startswith(("[", "{")) and ("," in text or not takes_text):
        from labelrules.cli.reading import names

        return names(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return _tuples(json.loads(text))
    except ValueError:
        if text[:1] in ('"', "[", "{"):
            raise UsageError(f"--set {name}: {text} is not valid JSON") from None
        return text


@contextmanager
def blamed(settings: Sequence[Pair], option: str = "--set") -> Iterator[None]:
    """An error that names what was set on the command line, or the value, is one of usage."""
    from labelrules.data import DataError

    try:
        yield
    except (ValueError, TypeError) as wrong:
        named = any(
            re.search(rf"\b{re.escape(name)}\b", str(wrong)) or (text and repr(text) in str(wrong))
            for name, text in settings
        )
        is_odd_kind = isinstance(wrong, TypeError) and bool(settings)
        if isinstance(wrong, DataError) or not (named or is_odd_kind):
            raise
        message = str(wrong) if named else f"a value is of the wrong kind ({wrong})"
    else:
        return
    raise UsageError(f"{option}: {message}")


def _size_bonus(text: str) -> Any:
    from labelrules.search import kln, peak, root

    if text.lower() == "none":
        return None
    found = _BONUS.fullmatch(text)
    if found is None:
        raise UsageError(
            "--set size_bonus: write kln(A), root(A) or peak(SIZE, FACTOR, N_LABELS), not "
            f"{quoted(text)}"
        )
    makers: dict[str, Callable[..., Any]] = {"kln": kln, "root": root, "peak": peak}
    try:
        return makers[found[1]](*json.loads(f"[{found[2]}]"))
    except json.JSONDecodeError:
        raise UsageError(
            f"--set size_bonus: {found[1]} takes numbers, not {quoted(found[2])}"
        ) from None
    except (ValueError, TypeError) as wrong:
        raise UsageError(f"--set size_bonus: {found[1]}: {wrong}") from None


def _tuples(value: Any) -> Any:
    """Lists in lists as pairs: a label and a feature, say."""
    if not isinstance(value, list):
        return value
    return [tuple(item) if isinstance(item, list) else item for item in value]
