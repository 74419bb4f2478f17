"""``labelrules learn``: a model from data."""

import signal
import sys
import time
import warnings
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from labelrules._checks import counted
from labelrules.cli.errors import INTERRUPTED, OK, CommandError, UsageError
from labelrules.cli.evaluate import usual_values, values_text
from labelrules.cli.learners import (
    DEFAULT,
    LEARNERS,
    NOT_KEPT,
    all_parameters,
    learner_name,
    learner_parameters,
)
from labelrules.cli.messages import say
from labelrules.cli.models import Model
from labelrules.cli.parser import OneOf, Parser
from labelrules.cli.progress import shown_news
from labelrules.cli.reading import add_data, is_data, read_data
from labelrules.cli.settings import add_settings, blamed
from labelrules.cli.writing import (
    STANDARD,
    add_json,
    add_output,
    check_place,
    check_standard_input,
    ending_of,
    write_json,
    write_text,
)

if TYPE_CHECKING:
    from labelrules.data import Dataset, Schema

SUMMARY = "Learn rules from data, print them, and keep the model."
EXAMPLES = """
labelrules learn magazines
labelrules learn emotions --part train --test emotions -o model.json
labelrules learn readers.csv --labels quality,tabloid --set heads=multi --set max_rules=20
labelrules learn yeast --learner binary-relevance --set base=ripper --set base.folds=5
labelrules learn --learner ripper --settings
"""


def add_arguments(parser: Parser) -> None:
    """What the command takes."""
    parser.add_argument(
        "-l",
        "--learner",
        metavar="NAME",
        default=DEFAULT,
        type=_Learner(),
        help=f"{', '.join(LEARNERS)}; by default {DEFAULT}",
    )
    add_settings(parser, "the learner", all_parameters)
    parser.add_argument("--settings", dest="list_settings", action="store_true",
                        help="list what can be set of the learner, and learn nothing")  # fmt: skip
    parser.add_argument("--test", metavar="DATA",
                        help="also measure there; with --part train, the test part")  # fmt: skip
    add_output(parser, "the model (JSON)")
    add_json(parser, "what was learned")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing but the result")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each step")
    add_data(parser, nargs="?")


def run(options: Namespace) -> int:
    """Learn."""
    if options.list_settings:
        from labelrules.cli.settinghelp import settings_text

        print(settings_text(learner_parameters(options.learner), _class_doc(options.learner)))
        return OK
    if options.data is None:
        raise UsageError("DATA is missing: name a file or a data set")
    _check_output(options)
    from labelrules.cli.learners import made_learner

    with blamed(options.settings):
        learner = made_learner(options.learner, options.settings)
    data = read_data(options.data, options)
    if options.learner == "ripper" and data.schema.n_labels != 1:
        raise UsageError(
            f"ripper learns one label, and these data have {data.schema.n_labels}: use --learner "
            "binary-relevance --set base=ripper, or --learner label-powerset"
        )
    test = _test_data(options, data.schema)  # before the work, in case something is wrong with it
    start = time.perf_counter()
    interrupted = _fit(learner, data, options)
    seconds = time.perf_counter() - start
    model = Model(learner, options.learner)
    try:
        _keep(model, options)
    finally:  # if it cannot be kept, it can at least be read
        if options.output != STANDARD:
            about = {"data": data.name, "rows": len(data), "seconds": round(seconds, 3)}
            _print(model, about, test, options)
    if options.output is not None and not options.quiet:
        say(f"kept in {'standard output' if options.output == STANDARD else options.output}")
    return INTERRUPTED if interrupted else OK


class _Learner(OneOf):
    def __init__(self) -> None:
        super().__init__("learner", LEARNERS)

    def __call__(self, text: str) -> str:
        return learner_name(text)


def _class_doc(name: str) -> str:
    from labelrules import learners

    return getattr(learners, LEARNERS[name]).__doc__ or ""


def _check_output(options: Namespace) -> None:
    check_place(options.output, [options.data, options.test, options.xml])
    check_standard_input(options.data, options.test)
    if options.output is None:
        return
    if is_data(options.output) or ending_of(options.output) == ".xml":
        raise UsageError(f"--output: {options.output} is a name for data; name a .json file")
    if options.learner in NOT_KEPT:
        raise UsageError(
            f"--output: files hold rules, and {options.learner} makes them for each row"
        )


def _fit(learner: Any, data: "Dataset", options: Namespace) -> bool:
    """Learn; tell whether Ctrl-C has ended it early."""
    from labelrules.kernels.interrupts import heard_interrupts

    settings = [(name.removeprefix("base."), text) for name, text in options.settings]
    with (
        _interrupts() as noted,
        warnings.catch_warnings(record=True) as warned,
        shown_news(options.quiet, options.verbose) as listener,
    ):
        warnings.simplefilter("always")
        has_progress = "progress" in learner.get_params(deep=False)
        if has_progress:
            learner.set_params(progress=listener)
        try:
            with heard_interrupts(), blamed(settings):
                learner.fit(data)
        except KeyboardInterrupt:
            raise KeyboardInterrupt("before there was a model, so nothing is kept") from None
        if has_progress:
            learner.set_params(progress=False)  # a function is not kept
    for message in dict.fromkeys(str(one.message) for one in warned):
        say(message)
    return bool(noted)


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Take note of Ctrl-C, which learners make an early end of."""
    noted: list[int] = []
    before, complain = signal.getsignal(signal.SIGINT), sys.unraisablehook

    def note(number: int, frame: Any) -> None:
        noted.append(number)
        raise KeyboardInterrupt

    def tell_of_others(lost: Any) -> None:
        # The compiler loses an interrupt while it hands over what it has compiled, and then fails
        # in a way that `heard_interrupts` knows.
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            complain(lost)

    with suppress(ValueError):  # not in the main thread, where no signals arrive
        signal.signal(signal.SIGINT, note)
    sys.unraisablehook = tell_of_others
    try:
        yield noted
    finally:
        sys.unraisablehook = complain
        with suppress(ValueError):
            signal.signal(signal.SIGINT, before)


def _keep(model: Model, options: Namespace) -> None:
    if options.output is not None:
        from labelrules.storage import to_json

        write_text(to_json(model.kept), options.output)


def _print(model: Model, about: dict[str, Any], test: "Dataset | None", options: Namespace) -> None:
    from labelrules.cli.show import document, text_of

    try:
        n_rules = sum(map(len, model.theories))
    except CommandError:
        n_rules = None  # rules are made for each row
    values = None if test is None else usual_values(model, test)
    if options.json:
        rules = {} if n_rules is None else document(model)
        tested = {} if values is None else {"values": values}
        write_json({"learner": model.kind, **about, "model": options.output, **rules, **tested})
    else:
        if n_rules is not None:
            print(text_of(model, "plain", evidence=True))
        if values is not None:
            print("\n" * (n_rules is not None) + values_text(values))
    if not options.quiet:
        rules_text = "no rules of its own" if n_rules is None else counted(n_rules, "rule")
        rows = counted(about["rows"], "row")
        say(f"{rules_text} from {rows} in {about['seconds']:.1f} s")


def _test_data(options: Namespace, schema: "Schema") -> "Dataset | None":
    if options.test is None:
        return None
    from labelrules.cli.fitting import fitted

    part = "test" if options.part == "train" else options.part
    chosen = Namespace(**{**vars(options), "part": part})
    return fitted(read_data(options.test, chosen, schema), schema, with_labels=True)
