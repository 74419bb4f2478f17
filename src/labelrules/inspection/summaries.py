"""Summaries: a theory in figures, by rule, label and feature, and its use on data."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from labelrules._checks import counted, one_of
from labelrules._html import SHOWN
from labelrules._report import (
    ITEMS,
    ItemList,
    Lines,
    Part,
    Report,
    Table,
    field_columns,
    pandas_frame,
)
from labelrules._wings import blocks_of
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.regions import conflicting_rules, parts_of, subsumed_rules
from labelrules.inspection.tracing import rows_and_truth
from labelrules.rules import Rule, Theory, theory_of
from labelrules.rules.language.text import label_text, name_text, rule_texts
from labelrules.rules.run import Usage, usage_of
from labelrules.rules.views.frame import WHERE, placed_rules

if TYPE_CHECKING:
    import pandas


class Pair(NamedTuple):
    """A subsumed rule with those that subsume it, or a rule with one that it contradicts."""

    place: Place
    text: str
    others: tuple[Place, ...]
    other_texts: tuple[str, ...]


class LabelSummary(NamedTuple):
    """The rules for one label."""

    label: str
    n_positive: int  #: Rules that predict it present.
    n_negative: int
    n_conditions: int  #: Of these rules together.
    n_dependent: int  #: Rules for it that test labels.
    n_tested_by: int  #: Rules that test it.
    n_undecided: int | None  #: Rows in which no rule decided it; None without data.
    n_wrong: int | None
    """Rows in which the prediction is wrong, of those in which it is known; None without truth."""


class DoubtfulRule(NamedTuple):
    """A label for which a rule was more often wrong than right, by its evidence."""

    place: Place
    text: str
    label: str
    right: int
    wrong: int

    def __str__(self) -> str:
        return f"{self.place} ({label_text(self.label)} {self.right}/{self.wrong})"


class FeatureSummary(NamedTuple):
    """The conditions on one feature."""

    feature: str
    n_rules: int
    n_conditions: int
    labels: tuple[str, ...]  #: Labels for which rules test it.


class RuleSummary(NamedTuple):
    """One rule and its use on data; the counts are None without data."""

    place: Place
    text: str
    n_covered: int | None  #: Rows that it covers.
    n_rows: int | None  #: Rows of which it decides a label, or votes on one.
    n_cells: int | None  #: Cells that it writes, or votes on.
    n_decided: int | None  #: Cells that are decided after it, in the order of the list.
    n_overruled: int | None  #: Cells of rows that it covers where the opposite is decided.
    is_reached: bool | None  #: Whether it decides, votes, or stops for a row in any round.


@dataclass(frozen=True, eq=False, repr=False)
class Summary(Report):
    """A theory in figures."""

    theory: Theory
    head_sizes: dict[int, int]  #: Number of rules by the labels in their heads.
    body_sizes: dict[int, int]  #: Number of rules by the conditions in their bodies.
    n_conditions: int  #: Conditions of all rules.
    n_literals: int  #: Conditions, and labels in heads: the size of the theory.
    n_label_conditions: int  #: Conditions on labels.
    n_positive: int  #: Rules whose heads predict presence only.
    n_negative: int  #: Rules whose heads predict absence only.
    n_mixed: int  #: Rules whose heads predict both.
    n_dependent: int  #: Rules that test labels.
    n_stopping: int  #: Rules with the stop mark.
    rules: tuple[RuleSummary, ...]  #: In the order of the theory.
    labels: tuple[LabelSummary, ...]
    features: tuple[FeatureSummary, ...]  #: Those that are tested, by falling number of rules.
    subsumed: tuple[Pair, ...]  #: Rules that cannot write anything, with those that prevent it.
    conflicting: tuple[Pair, ...]  #: Pairs with opposite predictions that can cover one row.
    n_rows: int | None  #: Of the data.
    n_undecided_rows: int | None  #: Rows in which no rule decided any label.
    doubtful: tuple[DoubtfulRule, ...] = ()  #: Rules that were more often wrong than right.

    @property
    def never_reached(self) -> tuple[RuleSummary, ...]:
        """Rules without effect on the data, which could be left out; none without data."""
        return tuple(rule for rule in self.rules if rule.is_reached is False)

    def to_frame(self, per: str = "rule") -> "pandas.DataFrame":
        """A pandas frame with a row for each ``per="rule"``, ``"label"`` or ``"feature"``.

        For rules, `layer`, `is_fallback` and `number` are as in `Theory.to_frame`, from 1.
        """
        one_of(per, "per", ("rule", "label", "feature"))
        if per == "label":
            return pandas_frame(field_columns(LabelSummary, self.labels))
        if per == "feature":
            return pandas_frame(field_columns(FeatureSummary, self.features))
        columns = field_columns(RuleSummary, self.rules)
        del columns["place"]
        places = [where for where, _, _ in placed_rules(self.theory)]
        return pandas_frame({**{name: [p[name] for p in places] for name in WHERE}, **columns})

    def __repr__(self) -> str:
        data = "" if self.n_rows is None else f"; on {counted(self.n_rows, 'row')}"
        return f"Summary({self.theory.size_text}, {counted(len(self.labels), 'label')}{data})"

    @property
    def headline(self) -> str:
        """How large the theory is."""
        return f"{self.theory.size_text}; {self._conditions_text()}"

    def _parts(self) -> Iterator[Part]:
        yield Lines(list(self._size_lines()))
        *lists, conflicts = self._lists()
        yield from lists
        # For a list a count is enough: there the earlier rule wins.
        is_brief = self.theory.ordered and conflicts.items
        yield Lines([f"{conflicts.title}: {len(conflicts.items)}"]) if is_brief else conflicts
        yield self._label_table()
        features = self._feature_table()
        yield features._replace(rows=features.rows[:ITEMS])
        more = len(features.rows) - ITEMS
        yield Lines([f"and {counted(more, 'more feature')}"] if more > 0 else [])

    def _page(self) -> Iterator[Part]:
        yield Lines(list(self._size_lines()))
        yield self._label_table()
        yield self._feature_table()
        yield from self._lists()

    def _size_lines(self) -> Iterator[str]:
        """The kinds of rules, and how much they decide on the data."""
        n_rules = len(self.theory)
        yield f"labels in the head: {_sizes_text(self.head_sizes)}"
        yield f"conditions in the body: {_sizes_text(self.body_sizes)}"
        yield (
            f"{_share(self.n_positive, n_rules)} positive, {_share(self.n_negative, n_rules)} "
            f"negative, {_share(self.n_mixed, n_rules)} mixed heads"
        )
        yield (
            f"{_share(self.n_dependent, n_rules)} label-dependent, "
            f"{_share(self.n_stopping, n_rules)} stopping"
        )
        if self.n_rows is not None:
            n_cells = self.n_rows * len(self.labels)
            n_open = sum(label.n_undecided or 0 for label in self.labels)
            yield (
                f"on {counted(self.n_rows, 'row')}: {_share(n_cells - n_open, n_cells)} of the "
                f"cells decided, {counted(self.n_undecided_rows or 0, 'row')} without any"
            )

    def _conditions_text(self) -> str:
        if self.n_conditions == 1:
            return f"1 condition, on a {'label' if self.n_label_conditions else 'feature'}"
        on_labels = f", {self.n_label_conditions} of them on labels" if self.n_conditions else ""
        return f"{counted(self.n_conditions, 'condition')}{on_labels}"

    def _lists(self) -> tuple[ItemList, ...]:
        """What a person should look at."""
        doubtful = [
            [f"{one.place}: {one.text}", f"{label_text(one.label)} {one.right}/{one.wrong}"]
            for one in self.doubtful
        ]
        never_reached = [[f"{rule.place}: {rule.text}"] for rule in self.never_reached]
        return (
            ItemList("more often wrong than right", doubtful),
            ItemList("never reached", never_reached),
            ItemList("subsumed", _pairs(self.subsumed, "by")),
            ItemList("conflicting pairs", _pairs(self.conflicting, "and")),
        )

    def _label_table(self) -> Table:
        titles = (
            "label", "positive", "negative", "conditions", "dependent", "tested by", "undecided",
            "wrong",
        )  # fmt: skip
        first = self.labels[0]
        n_known = 6 + (first.n_undecided is not None) + (first.n_wrong is not None)
        rows = [(label_text(row[0]), *row[1:n_known]) for row in self.labels]
        return Table(titles[:n_known], rows, SHOWN)

    def _feature_table(self) -> Table:
        rows = [
            (name_text(row.feature), row.n_rules, row.n_conditions, _names_text(row.labels))
            for row in self.features
        ]
        return Table(("feature", "rules", "conditions", "labels"), rows, SHOWN)


def summary(theory: Any, data: Any = None) -> Summary:
    r"""Summarise a theory, and its use on data if there are any.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        The layers of a layered theory are counted together.
    data : Dataset, array, sparse matrix or frame, optional
        Rows to apply the theory to; true labels are taken from a Dataset only. A Dask frame or
        array is counted by partition.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "quality <- sex = Female\nnot sports <- quality\nquality <- sex = Female"
    >>> print(summary(parse(text, readers.schema), readers))
    3 rules, 6 literals; 3 conditions, 1 of them on labels
    labels in the head: 1 in 3 rules
    conditions in the body: 1 in 3 rules
    67% positive, 33% negative, 0% mixed heads
    33% label-dependent, 0% stopping
    on 14 rows: 18% of the cells decided, 9 rows without any
    never reached: 1
      rule 3: quality <- sex = Female
    subsumed: 1
      rule 3: quality <- sex = Female
        by rule 1: quality <- sex = Female
    label    positive  negative  conditions  dependent  tested by  undecided  wrong
    quality         2         0           2          0          1          9      6
    tabloid         0         0           0          0          0         14      6
    fashion         0         0           0          0          0         14      3
    sports          0         1           1          1          0          9      2
    feature  rules  conditions  labels
    sex          2           2  quality
    """
    theory = theory_of(theory)
    usage: Usage | None = None
    if data is not None:
        usage = blocks_of(data=data).total(partial(_usage, theory), "counting its rules")
    forms = [rule.form for rule in theory]
    polarity = Counter(form.polarity for form in forms)
    return Summary(
        theory,
        dict(sorted(Counter(len(rule.head) for rule in theory).items())),
        dict(sorted(Counter(len(rule.body) for rule in theory).items())),
        theory.n_conditions,
        theory.n_literals,
        sum(len(rule.body.on_labels) for rule in theory),
        polarity["positive"],
        polarity["negative"],
        polarity["mixed"],
        sum(form.dependence != "independent" for form in forms),
        sum(form.stops for form in forms),
        _rules(theory, usage),
        _labels(theory, usage),
        _features(theory),
        _named_pairs(theory, subsumed_rules(theory)),
        _named_pairs(theory, conflicting_rules(theory)),
        None if usage is None else usage.n_rows,
        None if usage is None else usage.n_bare,
        doubtful_rules(theory),
    )


def _usage(theory: Theory, data: Any) -> Usage:
    return usage_of(theory, *rows_and_truth(theory, data))


def doubtful_rules(theory: Any) -> tuple[DoubtfulRule, ...]:
    r"""The rules that were more often wrong than right, for each label of their heads.

    By the evidence that the theory has. Rules that vote are left out, since no rule alone decides.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "quality <- sex = Male (3/6)\nsports <- true (9/5)"
    >>> [str(one) for one in doubtful_rules(parse(text, load("magazines").schema))]
    ['rule 1 (quality 3/6)']
    """
    theory = theory_of(theory)
    ordered = [part.ordered for _, _, part in placed_rules(theory)]
    placed = zip(places_of(theory), theory, rule_texts(theory), ordered, strict=True)
    return tuple(
        DoubtfulRule(place, text, theory.schema.labels[label], count.right, count.wrong)
        for place, rule, text, is_ordered in placed
        if is_ordered
        for label in rule.head.labels
        if (count := rule.evidence_for(label)) is not None and count.wrong > count.right
    )


def places_of(theory: Theory) -> tuple[Place, ...]:
    """Where each rule of a theory stands, with the number by which people call it."""
    return tuple(part.place(n) for part in parts_of(theory) for n in range(len(part.rules)))


def _named_pairs(theory: Theory, pairs: Iterable[tuple[int, list[int]]]) -> tuple[Pair, ...]:
    places = places_of(theory)
    texts = rule_texts(theory)
    return tuple(
        Pair(
            places[number],
            texts[number],
            tuple(places[i] for i in others),
            tuple(texts[i] for i in others),
        )
        for number, others in pairs
    )


def _rules(theory: Theory, usage: Usage | None) -> tuple[RuleSummary, ...]:
    placed = zip(places_of(theory), rule_texts(theory), strict=True)
    return tuple(
        RuleSummary(place, text, *((None,) * 6 if usage is None else usage.of_rule(number)))
        for number, (place, text) in enumerate(placed)
    )


def _labels(theory: Theory, usage: Usage | None) -> tuple[LabelSummary, ...]:
    n_open, n_wrong = (None, None) if usage is None else (usage.n_open, usage.n_wrong)
    lines = []
    for label, name in enumerate(theory.schema.labels):
        rules = [rule for rule in theory if label in rule.head.labels]
        values = [dict(rule.head)[label] for rule in rules]
        lines.append(
            LabelSummary(
                name,
                sum(values),
                len(values) - sum(values),
                sum(len(rule.body) for rule in rules),
                sum(bool(rule.body.on_labels) for rule in rules),
                sum(any(c.column == label for c in rule.body.on_labels) for rule in theory),
                None if n_open is None else int(n_open[label]),
                None if n_wrong is None else int(n_wrong[label]),
            )
        )
    return tuple(lines)


def _features(theory: Theory) -> tuple[FeatureSummary, ...]:
    testing: dict[int, list[Rule]] = {}
    for rule in theory:
        for column in dict.fromkeys(c.column for c in rule.body.on_features):
            testing.setdefault(column, []).append(rule)
    labels = theory.schema.labels
    lines = [
        FeatureSummary(
            theory.schema.features[column].name,
            len(rules),
            sum(c.column == column for rule in rules for c in rule.body.on_features),
            tuple(labels[j] for j in sorted({j for rule in rules for j in rule.head.labels})),
        )
        for column, rules in sorted(testing.items())
    ]
    return tuple(sorted(lines, key=lambda line: -line.n_rules))


def _pairs(pairs: Iterable[Pair], word: str) -> list[list[str]]:
    """Rules and those that they are paired with, on two lines each."""
    items = []
    for pair in pairs:
        others = zip(pair.others, pair.other_texts, strict=True)
        by = "; ".join(f"{place}: {text}" for place, text in others)
        first = f"{pair.place}: {pair.text}"
        items.append([first, f"{word} {by}"] if by else [f"{first} (no row can satisfy it)"])
    return items


def _sizes_text(sizes: dict[int, int]) -> str:
    return ", ".join(f"{size} in {counted(n, 'rule')}" for size, n in sizes.items()) or "none"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "0%"


def _names_text(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - ITEMS} more" if len(names) > ITEMS else ""
    return ", ".join(map(label_text, names[:ITEMS])) + more
