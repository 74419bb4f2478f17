"""Learners by name, made with what was set."""

from collections.abc import Sequence
from typing import Any

from labelrules._checks import quoted, suggestion
from labelrules.cli.errors import UsageError
from labelrules.cli.settings import Pair, checked, parameters_of, value_of

LEARNERS = {
    "separate-and-conquer": "SeparateAndConquer",
    "ripper": "Ripper",
    "binary-relevance": "BinaryRelevance",
    "stacked-binary-relevance": "StackedBinaryRelevance",
    "classifier-chain": "ClassifierChain",
    "label-powerset": "LabelPowerset",
    "voted-rules": "VotedRules",
    "associative-classifier": "AssociativeClassifier",
    "lazy-associative-classifier": "LazyAssociativeClassifier",
    "constrained-classifier": "ConstrainedClassifier",
}
"""The learners, as they are called here and in Python."""

DEFAULT = "separate-and-conquer"

NOT_KEPT = ("lazy-associative-classifier",)
"""Those whose models are the training rows, which files do not hold."""

_NOT_SET = ("progress", "warm_start", "constraints")
"""Parameters that mean something in Python only."""


def learner_name(text: str) -> str:
    """The name of a learner, however it is written.

    Examples
    --------
    >>> learner_name("BinaryRelevance"), learner_name("binary_relevance")
    ('binary-relevance', 'binary-relevance')
    """
    plain = {name.replace("-", ""): name for name in LEARNERS}
    key = text.lower().replace("-", "").replace("_", "")
    if key not in plain:
        near = suggestion(text.lower(), LEARNERS) or f"; there are {', '.join(LEARNERS)}"
        raise UsageError(f"there is no learner {quoted(text)}{near}")
    return plain[key]


def learner_parameters(name: str) -> dict[str, Any]:
    """What can be set of a learner."""
    return parameters_of(_class(name), _NOT_SET)


def all_parameters() -> list[str]:
    """What can be set of one learner or another."""
    return sorted({key for name in LEARNERS for key in learner_parameters(name)})


def made_learner(text: str, settings: Sequence[Pair]) -> Any:
    """A learner with its settings; ``base.NAME`` is a setting of its base."""
    name = learner_name(text)
    known = learner_parameters(name)
    inner = [(key.removeprefix("base."), value) for key, value in settings if _is_inner(key)]
    texts = checked([one for one in settings if not _is_inner(one[0])], known, name)
    values = {key: value_of(key, value, known[key]) for key, value in texts.items()}
    if inner and "base" not in known:
        raise UsageError(f"{name} has no base, so nothing of it can be set")
    if inner and "base" not in texts:
        raise UsageError(
            f"base.{inner[0][0]} is a setting of the base: choose it first, as by --set base=ripper"
        )
    if values.get("base") is not None:
        values["base"] = made_learner(texts["base"], inner)
    return _class(name)(**values)


def _is_inner(key: str) -> bool:
    return key.startswith("base.")


def _class(name: str) -> Any:
    from labelrules import learners

    return getattr(learners, LEARNERS[name])
