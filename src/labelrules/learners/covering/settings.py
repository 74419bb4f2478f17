"""The parameters of the covering learner, checked."""

import os
from dataclasses import dataclass
from typing import Any, Literal

from labelrules._checks import is_whole, number, one_of, suggestion, truth_value, whole_number
from labelrules.data.schema import Schema
from labelrules.learners.base.sampling import random_seed
from labelrules.measures import Measure
from labelrules.search.bodies.language import Language, language
from labelrules.search.heads.batch import tallies_decide
from labelrules.search.heads.problem import known_formula
from labelrules.search.heads.ratio import RATIOS
from labelrules.search.heads.size_bonus import Lift

Order = Literal["append", "prepend"]


@dataclass(frozen=True)
class Settings:
    """What `SeparateAndConquer` was told, ready for use."""

    heads: str
    largest: int
    measure: Measure
    relative: bool
    lift: Lift | None
    polarity: str
    fixed_head: bool
    beam: int
    allowed: Language
    max_conditions: int | None
    min_coverage: int
    min_gain: float
    stop_share: float | None
    readd: str
    open_share: float
    max_rules: int | None
    time_limit: float | None
    order: Order
    default_rule: bool
    pruning: str | None
    prune_share: float
    seed: int
    last_resort: float | None
    n_threads: int

    @property
    def scores_literals(self) -> bool:
        """Whether the best head follows from the scores of its labels, one by one."""
        measure = self.measure
        if measure.predictions == "full" or measure.averaging not in ("micro", "label"):
            return False
        if self.heads == "single":
            return True
        return self.lift is None and (measure.averaging == "label" or _is_ratio(measure))

    @property
    def tallies_decide(self) -> bool:
        """Whether counts per label are enough to find the best head."""
        unrestrained = self.lift is None and self.largest >= self.allowed.labels.shape[0]
        plain = self.min_coverage == 1 and self.polarity != "rarer" and self.heads != "single"
        known = known_formula(self.measure) is not None  # of others, no cells may be worth some
        return unrestrained and plain and known and tallies_decide(self.measure, whole_rows=False)


def checked_settings(learner: Any, schema: Schema) -> Settings:
    """Check the parameters of a learner against the data it shall learn from."""
    order = one_of(learner.order, "order", ("append", "prepend"))
    polarity = one_of(learner.polarity, "polarity", ("rarer", "both", "presence"))
    heads, largest = _heads(learner.heads, schema.n_labels)
    prepends = order == "prepend"
    if prepends and learner.stop_share is not None:
        raise ValueError(
            "stop_share goes with order='append': a rule in front that stops the list would "
            "keep all others from being asked"
        )
    allowed = language(
        schema,
        learner.operators,
        # A rule in front is asked first, when no label is written.
        truth_value(learner.label_conditions, "label_conditions") and not prepends,
        learner.required,
        learner.forbidden,
    )
    default = learner.default_rule
    settings = Settings(
        heads=heads,
        largest=largest,
        measure=_measure(learner.measure, heads),
        relative=one_of(learner.counting, "counting", ("head-relative", "chapter"))
        == "head-relative",
        lift=_lift(learner.lift),
        polarity=polarity,
        fixed_head=truth_value(learner.fixed_head, "fixed_head"),
        beam=whole_number(learner.beam, "beam", low=1),
        allowed=allowed,
        max_conditions=_optional(whole_number, learner, "max_conditions", low=0),
        min_coverage=whole_number(learner.min_coverage, "min_coverage", low=1),
        min_gain=number(learner.min_gain, "min_gain", low=0, infinite=True),
        stop_share=_optional(number, learner, "stop_share", low=0, high=1),
        readd=one_of(learner.readd, "readd", ("all", "incomplete")),
        open_share=number(learner.open_share, "open_share", low=0, high=1),
        max_rules=_optional(whole_number, learner, "max_rules", low=0),
        time_limit=_optional(number, learner, "time_limit", low=0, infinite=True),
        order="prepend" if prepends else "append",
        default_rule=polarity == "rarer"
        if default is None
        else truth_value(learner.default_rule, "default_rule"),
        pruning=_pruning(learner, heads),
        prune_share=number(learner.prune_share, "prune_share", low=0, high=1),
        seed=random_seed(learner.random_state),
        last_resort=_optional(number, learner, "last_resort", low=0, high=1),
        n_threads=_threads(learner),
    )
    _check_together(settings)
    return settings


def _optional(check: Any, learner: Any, name: str, **limits: Any) -> Any:
    value = getattr(learner, name)
    return None if value is None else check(value, name, also="None", **limits)


def _measure(given: Any, heads: str) -> Measure:
    measure = given if isinstance(given, Measure) else Measure.parse(given)
    if heads == "complete":  # says something of every label, so every label counts
        return Measure(measure.formula, measure.averaging, "full")
    return measure


def _is_ratio(measure: Measure) -> bool:
    return known_formula(measure) in RATIOS


def _check_together(settings: Settings) -> None:
    """Refuse what does not go together, saying what does."""
    measure = settings.measure
    full = measure.predictions == "full"
    if full and settings.heads == "single":
        raise ValueError(
            f"{measure} judges what is said of every label: use heads='multi' or 'complete', or "
            "a measure of partial predictions"
        )
    if full and settings.polarity == "rarer":
        raise ValueError(
            f"{measure} needs heads that may say of each label that it is present or absent: use "
            "polarity='both' (or 'presence')"
        )
    if settings.scores_literals:
        return
    if measure.averaging == "micro" and not _is_ratio(measure):
        raise ValueError(
            f"no exact search is known for heads of several labels under {measure}: use the "
            f"averaging 'label', as in '{measure.formula}/label/{measure.predictions}', or "
            "heads='single'"
        )
    _check_slow_search(settings)


def _check_slow_search(settings: Settings) -> None:
    wanted = "a measure of partial predictions with micro or label averaging, and no lift"
    if settings.order == "prepend":
        raise ValueError(f"order='prepend' needs {wanted}, not {settings.measure}")
    if settings.polarity == "rarer" and not settings.relative:
        raise ValueError(
            f"polarity='rarer' with {settings.measure} needs counting='head-relative', where "
            "presence and absence count alike"
        )
    partial = settings.measure.predictions == "partial"
    if settings.fixed_head and not (partial and settings.measure.averaging in ("micro", "label")):
        raise ValueError(
            "fixed_head needs a measure of partial predictions with micro or label averaging, "
            f"not {settings.measure}"
        )


def _pruning(learner: Any, heads: str) -> str | None:
    if learner.pruning is None:
        return None
    pruning = one_of(learner.pruning, "pruning", ("mdl", "irep", "significance"))
    share = number(learner.prune_share, "prune_share", low=0, high=1)
    if pruning == "irep" and not (share and share < 1):
        raise ValueError(
            "prune_share must be above 0 and below 1: some rows to grow rules on, some to prune "
            f"them on, not {learner.prune_share!r}"
        )
    if learner.order == "prepend":
        raise ValueError("pruning goes with order='append': use pruning=None to prepend rules")
    return pruning


def _heads(heads: Any, n_labels: int) -> tuple[str, int]:
    if heads == "single":
        return "single", 1
    if isinstance(heads, str) and heads in ("multi", "complete"):
        return heads, n_labels
    if is_whole(heads) and heads >= 1:
        return ("single", 1) if heads == 1 else ("multi", min(int(heads), n_labels))
    raise ValueError(
        f"heads must be 'single', 'multi', 'complete' or a number of labels, not {heads!r}"
        f"{suggestion(str(heads), ('single', 'multi', 'complete'))}"
    )


def _lift(lift: Any) -> Lift | None:
    if not (lift is None or callable(lift)):
        raise ValueError(
            f"lift must be a function of the head size such as labelrules.search.kln(...), "
            f"not {lift!r}"
        )
    known: Lift | None = lift
    return known


def _threads(learner: Any) -> int:
    given = learner.n_jobs
    if given is None:
        return 1
    if not is_whole(given) or given == 0:
        raise ValueError(f"n_jobs must be a number of threads, or -1 for all, not {given!r}")
    every = os.cpu_count() or 1
    return int(given) if int(given) > 0 else max(1, every + 1 + int(given))
