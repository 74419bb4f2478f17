"""The parameters of the covering learner, checked."""

import os
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

from labelrules._checks import suggestion
from labelrules.data.schema import Schema
from labelrules.learners.base.progress import needed, number, seed, truth, whole, word
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
        if measure.predictions == "full" or measure.averaging not in ("micro", "macro"):
            return False
        if self.heads == "single":
            return True
        return self.lift is None and (measure.averaging == "macro" or _is_ratio(measure))

    @property
    def tallies_decide(self) -> bool:
        """Whether counts per label are enough to find the best head."""
        unrestrained = self.lift is None and self.largest >= self.allowed.labels.shape[0]
        plain = self.min_coverage == 1 and self.polarity != "rarer" and self.heads != "single"
        known = known_formula(self.measure) is not None  # of others, no cells may be worth some
        return unrestrained and plain and known and tallies_decide(self.measure, whole_rows=False)


def checked_settings(learner: Any, schema: Schema) -> Settings:
    """Check the parameters of a learner against the data it shall learn from."""
    order = word(learner, "order", ("append", "prepend"))
    polarity = word(learner, "polarity", ("rarer", "both", "presence"))
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
        truth(learner, "label_conditions") and not prepends,
        learner.required,
        learner.forbidden,
    )
    default = learner.default_rule
    settings = Settings(
        heads=heads,
        largest=largest,
        measure=_measure(learner.measure, heads),
        relative=word(learner, "counting", ("head-relative", "chapter")) == "head-relative",
        lift=_lift(learner.lift),
        polarity=polarity,
        fixed_head=truth(learner, "fixed_head"),
        beam=needed(whole(learner, "beam", 1), "beam"),
        allowed=allowed,
        max_conditions=whole(learner, "max_conditions", 0),
        min_coverage=needed(whole(learner, "min_coverage", 1), "min_coverage"),
        min_gain=needed(number(learner, "min_gain"), "min_gain"),
        stop_share=number(learner, "stop_share", highest=1),
        readd=word(learner, "readd", ("all", "incomplete")),
        open_share=needed(number(learner, "open_share", highest=1), "open_share"),
        max_rules=whole(learner, "max_rules", 0),
        time_limit=number(learner, "time_limit"),
        order="prepend" if prepends else "append",
        default_rule=polarity == "rarer" if default is None else truth(learner, "default_rule"),
        pruning=_pruning(learner, heads),
        prune_share=needed(number(learner, "prune_share", highest=1), "prune_share"),
        seed=seed(learner),
        last_resort=number(learner, "last_resort", highest=1),
        n_threads=_threads(learner),
    )
    _check_together(settings)
    return settings


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
            f"averaging 'macro', as in '{measure.formula}/macro/{measure.predictions}', or "
            "heads='single'"
        )
    _check_slow_search(settings)


def _check_slow_search(settings: Settings) -> None:
    wanted = "a measure of partial predictions with micro or macro averaging, and no lift"
    if settings.order == "prepend":
        raise ValueError(f"order='prepend' needs {wanted}, not {settings.measure}")
    if settings.polarity == "rarer" and not settings.relative:
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


def _pruning(learner: Any, heads: str) -> str | None:
    if learner.pruning is None:
        return None
    pruning = word(learner, "pruning", ("mdl", "irep", "significance"))
    share = number(learner, "prune_share", highest=1)
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
    if isinstance(heads, Integral) and not isinstance(heads, bool) and int(heads) >= 1:
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
    if isinstance(given, bool) or not isinstance(given, Integral) or given == 0:
        raise ValueError(f"n_jobs must be a number of threads, or -1 for all, not {given!r}")
    every = os.cpu_count() or 1
    return int(given) if int(given) > 0 else max(1, every + 1 + int(given))
