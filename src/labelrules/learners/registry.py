"""The registered learners: the command line, model files and their schema follow from it."""

import re
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from inspect import isabstract
from typing import Any, TypeVar, overload

import numpy as np
from scipy import sparse

from labelrules._compiling import compiling_seconds
from labelrules._wings import load_learners
from labelrules.data import Dataset, Feature, Schema
from labelrules.learners.base.estimator import TableClassifier

Learner = TypeVar("Learner", bound=type[TableClassifier])

_PLACES: dict[type[TableClassifier], float] = {}
_LAST = float("inf")


@overload
def register(learner: Learner) -> Learner: ...


@overload
def register(*, order: float) -> Callable[[Learner], Learner]: ...


def register(learner: Any = None, *, order: float = _LAST) -> Any:
    """Make a learner known to the command line and to model files; a class decorator.

    Parameters
    ----------
    learner : class
        A learner, such as a subclass of :class:`RuleClassifier`.
    order : float, optional
        Its place in lists of learners. By default it comes last.

    Examples
    --------
    >>> from labelrules.learners import RuleClassifier, registered
    >>> from labelrules.learners.registry import unregister
    >>> from labelrules.rules import DecisionList, Head, Rule
    >>> @register
    ... class MajorityVote(RuleClassifier):
    ...     def _learn(self, data, prefix):
    ...         majority = (data.Y.mean(axis=0) > 0.5).astype(int)
    ...         return DecisionList(data.schema, [Rule(Head.from_vector(majority))])
    >>> list(registered())[-1]
    'majority-vote'
    >>> unregister(MajorityVote)
    """
    if learner is None:
        return partial(register, order=order)
    if not (isinstance(learner, type) and issubclass(learner, TableClassifier)):
        raise TypeError(f"register takes the class of a learner, not {learner!r:.60}")
    if isabstract(learner):
        raise TypeError(f"{learner.__name__} cannot be registered: it has abstract methods")
    other = loaded().get(command_name(learner))
    if other is not None:
        # A class that is defined again, as by running a cell of a notebook anew, replaces the old.
        if (other.__module__, other.__qualname__) != (learner.__module__, learner.__qualname__):
            raise ValueError(
                f"there is a learner {other.__name__} in {other.__module__} already: rename one "
                "of them"
            )
        unregister(other)
    _PLACES[learner] = order
    return learner


def unregister(learner: type[TableClassifier]) -> None:
    """Forget a learner; the class itself stays as it is."""
    _PLACES.pop(learner, None)


def registered() -> dict[str, type[TableClassifier]]:
    """All learners by their names on the command line, in a fixed order.

    >>> from labelrules.learners import registered
    >>> list(registered())[:3]
    ['separate-and-conquer', 'ripper', 'binary-relevance']
    """
    load_learners()
    return loaded()


def loaded() -> dict[str, type[TableClassifier]]:
    """The learners whose modules are imported."""
    return {command_name(learner): learner for learner in sorted(_PLACES, key=_PLACES.__getitem__)}


def command_name(learner: type) -> str:
    """The name of a learner on the command line, such as separate-and-conquer."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", learner.__name__).lower()


def can_be_stored(learner: type[TableClassifier]) -> bool:
    """Whether a file can hold the fitted models of a learner."""
    return learner._why_not_stored is None


_WAYS: tuple[dict[str, Any], ...] = (
    {"heads": "multi", "measure": "precision", "fixed_head": False, "pruning": None},
    {"heads": "complete", "measure": "hamming", "fixed_head": False, "polarity": "both"},
    {"beam_width": 2, "max_rules": 2},
    {"operators": ("<=", ">", "=", "in")},
)
"""Settings of the covering learner with kernels of their own."""


def warm_up() -> float:
    """Compile all that the learners need, and keep it on disk; returns the seconds it took.

    The first fits and predictions of a fresh installation are otherwise slow, each by some seconds.
    Measures that are no ratios of linear functions of the counts, such as correlation, have kernels
    of their own, which are compiled when they are first used.

    Returns
    -------
    float
        Seconds; 0.0 if everything was on disk already.

    Examples
    --------
    >>> seconds = warm_up()
    >>> warm_up()
    0.0
    """
    before = compiling_seconds()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what is learned here nothing matters
        for data in (_table(), _sparse_table()):
            _use_learners(data)
    return compiling_seconds() - before


def _use_learners(data: Dataset) -> None:
    """Let every learner learn and predict."""
    one_label = Dataset(Schema(data.schema.features, ["first"]), data.X, data.Y[:, :1])
    for name, learner in registered().items():
        ways = ({}, *_WAYS) if name == "separate-and-conquer" else ({},)
        for way in ways:
            rows = one_label if name == "ripper" else data
            learner(**way).fit(rows).predict(rows)
        # Cells with weights are of another type, for which kernels are compiled once more.
        learner().fit(replace(rows, weights=np.linspace(0.5, 1.5, rows.n_rows)))


def _table() -> Dataset:
    """Numbers, some missing, and categories; labels that depend on both."""
    rng = np.random.default_rng(0)
    number, colour, flag = rng.random(80), rng.integers(0, 4, 80), rng.integers(0, 2, 80)
    few = np.where(rng.random(80) < 0.8, 0.0, rng.random(80))
    Y = np.column_stack([number > 0.6, colour == 2, (flag == 1) & (number > 0.3)])
    Y ^= rng.random(Y.shape) < 0.05
    number[:3] = np.nan
    features = [
        Feature("number"),
        Feature("few"),
        Feature("colour", ("red", "green", "blue", "black")),
        Feature("flag", ("no", "yes")),
    ]
    schema = Schema(features, ["first", "second", "third"])
    return Dataset(schema, np.column_stack([number, few, colour, flag]), Y.astype(np.int8))


def _sparse_table() -> Dataset:
    dense = _table()
    return Dataset(dense.schema, sparse.csc_array(np.nan_to_num(np.asarray(dense.X))), dense.Y)
