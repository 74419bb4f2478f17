"""What the chapter says in its second study, examined statement by statement."""

from collections.abc import Iterator
from itertools import combinations
from statistics import fmean

from casestudies.chapter import FLAG_RULES, NOT_REJECTED
from casestudies.claims import Claim, claim, share_text, unexamined
from casestudies.materials import OBJECTIVES, objective_of
from casestudies.multi_heads import (
    EXACT_SUBSET,
    FlagLists,
    FlagRule,
    MultiHeadStudy,
)
from labelrules._checks import counted, listed
from labelrules.lab.comparing.score_tables import p_text
from labelrules.rules import parse_rule

OTHER_SEARCH = (
    "The authors' program searches single-label heads by another learner, which grows a rule for "
    "each label and value, and settles ties by random numbers."
)
LARGEST_DIFFERENCE = 0.05
"""By how much micro F1 of two learners may differ that do not differ largely."""


def claims_on_multi_heads(study: MultiHeadStudy) -> Iterator[Claim]:
    """All statements of the second study, in the chapter's order."""
    if study.flags is None:
        yield unexamined(2, "the flag", "the rules of the figure", "flags is not there")
    else:
        yield from _flag(study.flags)
    yield _shares(study)
    yield _differences(study)
    if study.friedman:
        yield _friedman(study)
        yield _same_objective(study)
    else:
        why = "a test over data sets needs at least two of them"
        yield unexamined(2, "Friedman and Nemenyi tests", "no significant differences", why)
    yield from _times(study)


# ---------------------------------------------------------------- the flag


def _flag(flags: FlagLists) -> Iterator[Claim]:
    multi, single = (flags.covering(heads) for heads in ("multi", "single"))
    for heads, rules, reason in (
        ("multi", multi,
         "The figure shows two rules of a list whose other rules it does not show; after our first "
         "rule another one is best. On the boards that our list leaves, the second rule of the "
         "figure is never without a wrong cell. "),
        ("single", single, ""),
    ):  # fmt: skip
        wanted = FLAG_RULES[heads]
        found = [_is_found(flags, rules, text) for text, _ in wanted]
        same = [
            _is_found(flags, rules, text, counts)
            for (text, counts), yes in zip(wanted, found, strict=True) if yes
        ]  # fmt: skip
        yield claim(
            2,
            f"the flag, {heads}-label heads",
            f"{counted(len(wanted), 'rule')} of the list with {heads}-label heads cover the flag "
            "of the US Virgin Islands.",
            f"{sum(bool(one.written) for one in rules)} rules of ours set its labels, and "
            f"{len(rules)} hold for it. {sum(found)} of the chapter's {len(wanted)} are among "
            f"these, with the same head and covering the same rows, {sum(same)} with the same "
            "counts of right and wrong cells.",
            found,
            reason + OTHER_SEARCH,
        )
    writing = [sum(bool(one.written) for one in rules) for rules in (multi, single)]
    yield claim(
        2,
        "the flag, how direct",
        "Multi-label heads explain more directly why the colours are predicted: 2 rules against 7.",
        f"{writing[0]} rules with multi-label heads set the labels of the flag, {writing[1]} with "
        "single-label heads.",
        [writing[0] < writing[1]],
        "Other lists were learned.",
    )


def _is_found(
    flags: FlagLists, rules: list[FlagRule], text: str, counts: tuple[int, int] | None = None
) -> bool:
    """Whether one of the rules has the head and covers the rows of a rule of the chapter."""
    wanted, truth = parse_rule(text, flags.data.schema), flags.data.Y
    covered = wanted.body.covers(flags.data.X, truth)
    return any(
        one.rule.head == wanted.head
        and (one.rule.body.covers(flags.data.X, truth) == covered).all()
        and (counts is None or (one.right, one.wrong) == counts)
        for one in rules
    )


# ---------------------------------------------------------------- heads and quality


def _shares(study: MultiHeadStudy) -> Claim:
    shares = {objective: study.share(objective) for objective in OBJECTIVES}
    text = ", ".join(f"{objective} {share:.0%}" for objective, share in shares.items())
    exact = [one for one in study.heads if one.objective == EXACT_SUBSET]
    more = f"; on flags {EXACT_SUBSET} {share_text(exact[0].share, 1)}" if exact else ""
    others = [share for objective, share in shares.items() if objective != "precision"]
    return claim(
        2,
        "multi-label heads by objective",
        "Rules with multi-label heads are learned particularly with precision; with the other "
        "objectives single-label heads are preferred.",
        f"Share of rules with several labels in the head, a mean over the sets: {text}{more}.",
        [shares["precision"] > 0.5, max(others) < 0.25],
        "Ties between labels decide, and they depend on the data.",
    )


def _differences(study: MultiHeadStudy) -> Claim:
    table = study.quality.table("micro F1")
    pairs = [(f"single, {one}", f"multi, {one}") for one in OBJECTIVES]
    means = {
        objective: [fmean(table.of(name)) for name in pair]
        for objective, pair in zip(OBJECTIVES, pairs, strict=True)
    }
    text = ", ".join(f"{one} {a:.3f} and {b:.3f}" for one, (a, b) in means.items())
    return claim(
        2,
        "quality of single- and multi-label heads",
        "Large differences in predictive performance between single- and multi-label heads cannot "
        "be expected.",
        f"Micro F1 of single- and of multi-label heads, a mean over the sets: {text}.",
        [abs(a - b) <= LARGEST_DIFFERENCE for a, b in means.values()],
        "By precision, heads of many labels take over labels for which a rule of their own would "
        "be better.",
    )


def _friedman(study: MultiHeadStudy) -> Claim:
    tests = study.friedman
    first = tests[NOT_REJECTED[0]].ranks
    text = ", ".join(f"{name} {_p(tests[name].p)}" for name in NOT_REJECTED)
    others = [
        name for name, test in tests.items() if not test.significant and name not in NOT_REJECTED
    ]
    more = f"; nor by {listed(others)}" if others else ""
    rejected = [name for name in NOT_REJECTED if tests[name].significant]
    kept = [name for name in NOT_REJECTED if not tests[name].significant]
    said = f"not rejected by {listed(kept)}{more}" if kept else "rejected by all three"
    return claim(
        2,
        "Friedman test",
        "That all 10 algorithms are equally good (alpha = 0.05, N = 8) could not be rejected for "
        "many measures, such as subset accuracy, micro and macro F1.",
        f"With N = {len(first.datasets)} and k = {len(first.learners)}: {text}; {said}.",
        [not tests[name].significant for name in NOT_REJECTED],
        _why_rejected(study, rejected),
    )


def _why_rejected(study: MultiHeadStudy, rejected: list[str]) -> str:
    """Between which algorithms the differences are by these measures, and what the tenth does."""
    parts = []
    for name in rejected:
        ranks = study.friedman[name].ranks
        best, worst = ranks.order[0], ranks.order[-1]
        n_pairs = sum(pair.significant for pair in study.nemenyi[name].pairs)
        parts.append(
            f"by {name} from {best} ({ranks[best]:.1f}) to {worst} ({ranks[worst]:.1f}), "
            f"{counted(n_pairs, 'significant pair')}"
        )
    nine, six = (
        ", ".join(f"{name} {_p(tests[name].p)}" for name in rejected)
        for tests in (study.without_label_sets, study.of_lists)
    )
    last = {study.of_lists[name].ranks.order[-1]: study.of_lists[name].ranks for name in rejected}
    behind = "; ".join(f"{one} ({ranks[one]:.1f})" for one, ranks in last.items())
    return (
        f"Average ranks reach {'; '.join(parts)}. Without rules for label sets, which stand for "
        f"multi-label heads by subset accuracy here: {nine}; of the six lists with single- and "
        f"multi-label heads alone: {six}, where the last ones are {behind}. Single-label heads "
        "come here from the same search as multi-label heads, so that ranks vary less than in the "
        "chapter."
    )


def _p(value: float) -> str:
    """A p-value with its sign, such as ``p < 0.0001``."""
    text = p_text(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def _same_objective(study: MultiHeadStudy) -> Claim:
    topic, chapter = (
        "Nemenyi test",
        (
            "Where the Friedman test finds a difference, the Nemenyi test finds none between "
            "algorithms with the same objective."
        ),
    )
    rejected = [name for name, test in study.friedman.items() if test.significant]
    if not rejected:
        return unexamined(2, topic, chapter, "the Friedman test finds no difference here")
    differing = [
        f"{pair.better} before {pair.worse} by {name}"
        for name in rejected
        for pair in study.nemenyi[name].pairs
        if pair.significant and objective_of(pair.better) == objective_of(pair.worse)
    ]
    n_pairs = len(OBJECTIVES) * len(list(combinations(("BR", "single", "multi"), 2)))
    text = (
        f"{counted(len(differing), 'pair')} of {n_pairs * len(rejected)} with the same objective "
        f"differ, by {counted(len(rejected), 'measure')} for which Friedman's test finds a "
        "difference"
    )
    return claim(
        2,
        topic,
        chapter,
        f"{text}: {'; '.join(differing)}." if differing else f"{text}.",
        [not differing],
        "BR predicts the rarer value of each label only, which separates it from lists with heads "
        "of both values.",
    )


# ---------------------------------------------------------------- times


def _times(study: MultiHeadStudy) -> Iterator[Claim]:
    ratios = study.ratios
    longest = max(study.times, key=lambda one: one.ratio)
    yield claim(
        2,
        "time of multi-label heads",
        "The costs of learning multi-label heads are in the same order of magnitude as those of "
        "single-label heads.",
        f"Multi-label heads take {study.median_ratio:.2f} times as long at the median over "
        f"{counted(len(ratios), 'pair')} of data set and objective, {min(ratios):.2f} to "
        f"{max(ratios):.2f} times ({longest.objective} on {longest.data}).",
        [study.median_ratio <= 1.5, max(ratios) < 10],
        "Some lists differ much in their number of rules.",
    )
    below = [one.multi < one.times_labels for one in study.times]
    yield claim(
        2,
        "time against one more order",
        "The times lie below those of single-label heads times the number of labels, the empty "
        "forms of the figure.",
        f"{sum(below)} of {len(below)} are below.",
        below,
        "Where there are few labels, the two are close.",
    )
