"""The parameters of the covering learner, checked."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from labelrules._checks import (
    is_whole,
    number,
    one_of,
    random_seed,
    suggestion,
    truth_value,
    whole_number,
)
from labelrules.data.codes.bins import checked_bins
from labelrules.data.schema import Schema
from labelrules.kernels.device import NO_BINS, Engine, checked_engine
from labelrules.learners.covering.board import Order
from labelrules.measures import Measure
from labelrules.search.bodies.rule_language import Language, language
from labelrules.search.heads.additive import RATIOS
from labelrules.search.heads.batch import tallies_decide
from labelrules.search.heads.problem import known_formula
from labelrules.search.heads.size_bonus import SizeBonus

Checked = TypeVar("Checked", int, float)

RuleCounting = Literal["head-relative", "chapter"]


@dataclass(frozen=True)
class Settings:
    """The parameters of `SeparateAndConquer`, ready for use."""

    heads: str
    largest: int
    measure: Measure
    counting: RuleCounting
    size_bonus: SizeBonus | None
    polarity: str
    fixed_head: bool
    beam_width: int
    allowed: Language
    max_conditions: int | None
    min_coverage: int
    min_gain: float
    stop_share: float | None
    readd: str
    open_share: float
    max_rules: int | None
    max_literals: int | None
    time_limit: float | None
    order: Order
    default_rule: bool | None
    pruning: str | None
    prune_share: float
    seed: int
    last_resort: float | None
    n_threads: int
    bins: int | None = None
    engine: Engine = "auto"

    @property
    def are_counted(self) -> bool:
        """Whether counts by codes are all that a search needs, as far as no data are asked."""
        return (
            self.heads == "single"
            and self.fixed_head
            and self.beam_width == 1
            and self.scores_literals
            and self.order == "append"
            and self.stop_share is None
            and self.readd == "all"
            and self.pruning != "irep"
        )

    @property
    def scores_literals(self) -> bool:
        """Whether the best head follows from the scores of its labels, one by one."""
        measure = self.measure
        if measure.predictions == "full" or measure.averaging not in ("micro", "macro"):
            return False
        if self.heads == "single":
            return True
        return self.size_bonus is None and (measure.averaging == "macro" or _is_ratio(measure))

    @property
    def tallies_decide(self) -> bool:
        """Whether counts per label are enough to find the best head."""
        unrestricted = self.size_bonus is None and self.largest >= self.allowed.labels.shape[0]
        plain = self.min_coverage == 1 and self.polarity != "rarer" and self.heads != "single"
        known = known_formula(self.measure) is not None  # of others, no cells may be worth some
        return unrestricted and plain and known and tallies_decide(self.measure, whole_rows=False)


def checked_settings(learner: Any, schema: Schema) -> Settings:
    """Check the parameters of a learner against the data it shall learn from."""
    order = one_of(learner.order, "order", ("append", "prepend"))
    polarity = one_of(learner.polarity, "polarity", ("rarer", "both", "presence"))
    counting = one_of(learner.counting, "counting", ("head-relative", "chapter"))
    heads, largest = _heads(learner.heads, schema.n_labels)
    prepends = order == "prepend"
    if prepends and learner.stop_share is not None:
        raise ValueError(
            "stop_share goes with order='append': a rule in front that stops the list would "
            "end it for all others"
        )
    # A rule in front is applied first, when no label is written.
    labels = truth_value(learner.label_conditions, "label_conditions") and not prepends
    default = learner.default_rule
    settings = Settings(
        heads=heads,
        largest=largest,
        measure=_measure(learner.measure, heads),
        allowed=language(schema, learner.operators, labels, learner.required, learner.forbidden),
        counting="head-relative" if counting == "head-relative" else "chapter",
        size_bonus=_size_bonus(learner.size_bonus),
        polarity=polarity,
        fixed_head=truth_value(learner.fixed_head, "fixed_head"),
        beam_width=whole_number(learner.beam_width, "beam_width", low=1),
        max_conditions=_optional(whole_number, learner, "max_conditions", low=0),
        min_coverage=whole_number(learner.min_coverage, "min_coverage", low=1),
        min_gain=number(learner.min_gain, "min_gain", low=0, infinite=True),
        stop_share=_optional(number, learner, "stop_share", low=0, high=1),
        readd=one_of(learner.readd, "readd", ("all", "incomplete")),
        open_share=number(learner.open_share, "open_share", low=0, high=1),
        max_rules=_optional(whole_number, learner, "max_rules", low=0),
        max_literals=_optional(whole_number, learner, "max_literals", low=0),
        time_limit=_optional(number, learner, "time_limit", low=0, infinite=True),
        order="prepend" if prepends else "append",
        default_rule=None if default is None else truth_value(default, "default_rule"),
        pruning=_pruning(learner),
        prune_share=number(learner.prune_share, "prune_share", low=0, high=1),
        seed=random_seed(learner.random_state),
        last_resort=_optional(number, learner, "last_resort", low=0, high=1),
        n_threads=_threads(learner.n_jobs),
        bins=checked_bins(learner.bins),
        engine=checked_engine(learner.engine),
    )
    _check_together(settings)
    if settings.scores_literals or learner.operators is not None:
        _check_sets(settings, learner.operators)
        return settings
    return replace(settings, allowed=settings.allowed.without_sets())


def _optional(
    check: Callable[..., Checked], learner: Any, name: str, **limits: Any
) -> Checked | None:
    value = getattr(learner, name)
    return None if value is None else check(value, name, also="None", **limits)


def _measure(given: Any, heads: str) -> Measure:
    measure = given if isinstance(given, Measure) else Measure.parse(given)
    if heads == "complete":  # predicts every label, so every label counts
        return Measure(measure.formula, measure.averaging, "full")
    return measure


def _is_ratio(measure: Measure) -> bool:
    return known_formula(measure) in RATIOS


def _check_together(settings: Settings) -> None:
    """Refuse combinations that do not work, and name what does."""
    measure = settings.measure
    if settings.engine == "gpu":
        _check_gpu(settings)
    full = measure.predictions == "full"
    if full and settings.heads == "single":
        raise ValueError(
            f"{measure} scores predictions of every label: use heads='multi' or 'complete', or a "
            "measure of partial predictions"
        )
    if full and settings.polarity == "rarer":
        raise ValueError(
            f"{measure} needs heads that may predict presence or absence of each label: use "
            "polarity='both' (or 'presence')"
        )
    if settings.scores_literals:
        return
    if measure.averaging == "micro" and not _is_ratio(measure):
        raise ValueError(
            f"no exact search is known for heads of several labels under {measure}: use the "
            f"averaging 'macro', as in '{measure.formula}/macro/{measure.predictions}', or "
            "heads='single'"
        )
    _check_slow_search(settings)


COUNTED = (
    "leave heads, size_bonus, fixed_head, beam_width, order, stop_share and readd at their "
    "defaults, and pruning is 'mdl', 'significance' or None"
)
"""What searching by counts alone asks of the parameters."""


def _check_gpu(settings: Settings) -> None:
    if settings.bins is None:
        raise ValueError(NO_BINS)
    if not settings.are_counted:
        raise ValueError(f"engine='gpu' learns by counts alone: {COUNTED}; or set engine='cpu'")


def _check_sets(settings: Settings, operators: Any) -> None:
    if operators is not None and "in" in operators and not settings.scores_literals:
        raise ValueError(
            "operators: 'in' needs a measure of partial predictions with micro or macro "
            f"averaging, and no size_bonus, not {settings.measure}"
        )


def _check_slow_search(settings: Settings) -> None:
    wanted = "a measure of partial predictions with micro or macro averaging, and no size_bonus"
    if settings.order == "prepend":
        raise ValueError(f"order='prepend' needs {wanted}, not {settings.measure}")
    if settings.polarity == "rarer" and settings.counting == "chapter":
        raise ValueError(
            f"polarity='rarer' with {settings.measure} needs counting='head-relative', where "
            "presence and absence count alike"
        )
    partial = settings.measure.predictions == "partial"
    if settings.fixed_head and not (partial and settings.measure.averaging in ("micro", "macro")):
        raise ValueError(
            "fixed_head needs a measure of partial predictions with micro or macro averaging, "
            f"not {settings.measure}"
        )


def _pruning(learner: Any) -> str | None:
    if learner.pruning is None:
        return None
    words = ("mdl", "irep", "significance")
    pruning = one_of(learner.pruning, "pruning", words, also="None")
    share = number(learner.prune_share, "prune_share", low=0, high=1)
    if pruning == "irep" and share in (0, 1):
        raise ValueError(
            "prune_share must be above 0 and below 1: pruning='irep' grows rules on some rows and "
            f"prunes them on others, not {learner.prune_share!r}"
        )
    if learner.order == "prepend":
        raise ValueError("pruning goes with order='append': use pruning=None to prepend rules")
    return pruning


def _heads(heads: Any, n_labels: int) -> tuple[str, int]:
    if isinstance(heads, str) and heads in ("single", "multi", "complete"):
        return heads, 1 if heads == "single" else n_labels
    if is_whole(heads) and heads >= 1:
        return ("single", 1) if heads == 1 else ("multi", min(int(heads), n_labels))
    raise ValueError(
        f"heads must be 'single', 'multi', 'complete' or a number of labels, not {heads!r}"
        f"{suggestion(str(heads), ('single', 'multi', 'complete'))}"
    )


def _size_bonus(size_bonus: Any) -> SizeBonus | None:
    if not (size_bonus is None or callable(size_bonus)):
        raise ValueError(
            "size_bonus must be a function of the head size such as labelrules.search.kln(...), "
            f"not {size_bonus!r}"
        )
    known: SizeBonus | None = size_bonus
    return known


def _threads(n_jobs: Any) -> int:
    if n_jobs is None:
        return 1
    if not is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a number of threads, or -1 for all, not {n_jobs!r}")
    every = os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, every + 1 + int(n_jobs))
