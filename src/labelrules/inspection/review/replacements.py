"""Alternatives for a rule in its place: other heads, similar bodies, shorter bodies, ranked."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelrules._checks import one_of, whole_number
from labelrules._html import fragment, html_table, paragraphs
from labelrules._report import pandas_frame
from labelrules._types import UNSET, Board, Mask
from labelrules.data.memory.encoding import encode_labels
from labelrules.data.table import Dataset
from labelrules.inspection.comparison import predicted
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.fixes import Fix, fix_of
from labelrules.inspection.summaries import Table, places_of, text_table
from labelrules.inspection.tracing import encoded_rows
from labelrules.measures import Evaluation, Measure, confusion, evaluate, tally
from labelrules.rules import Evidence, Head, Rule, Theory, rule_text, theory_of
from labelrules.rules.run import PartRun, TheoryRun
from labelrules.search import best_head
from labelrules.search.bodies.variants import BodyPlace, BodyVariant, pruned_bodies, similar_bodies
from labelrules.search.heads.additive import RATIOS
from labelrules.search.heads.problem import Counting, known_formula

if TYPE_CHECKING:
    import pandas


MOST_LABELS = 5
"""Heads of so many labels are looked for; single labels are listed from the best."""


class Alternative(NamedTuple):
    """A rule that may stand in the place of another, counted on the cells that are open there."""

    kind: str
    """"current", "head", "moved", "dropped", "added", "exchanged" or "pruned"."""
    rule: Rule
    text: str
    value: Fraction | float  #: Of the measure, exact unless it is irrational.
    n_rows: int  #: Rows under way at this place that its body covers.
    evidence: Evidence  #: Open cells that it would write rightly and wrongly.
    validation: Evidence | None = None  #: The same on the validation data.
    fix: Fix | None = None  #: The edit that puts it there; None for the current rule.

    def __str__(self) -> str:
        return f"{self.kind}: {self.text} ({self.evidence.right}/{self.evidence.wrong})"


@dataclass(frozen=True, eq=False, repr=False)
class Alternatives:
    """What could stand in the place of a rule, each kind from the best."""

    theory: Theory
    place: Place
    measure: Measure
    current: Alternative
    heads: tuple[Alternative, ...]  #: Other heads for its body.
    bodies: tuple[Alternative, ...]  #: Similar bodies for its head.
    pruned: tuple[Alternative, ...]  #: Bodies of some of its conditions, for its head.
    data: Dataset = field(compare=False)

    @property
    def every(self) -> tuple[Alternative, ...]:
        """All of them, the current rule first."""
        return self.current, *self.heads, *self.bodies, *self.pruned

    def evaluation(
        self, alternative: Alternative, data: Any = None
    ) -> dict[str, tuple[float, float]]:
        """The usual measures of the whole list, before and with this alternative.

        On the training data or, if given, on other ones.
        """
        rows = self.data if data is None else data
        after = self.theory if alternative.fix is None else alternative.fix.apply(self.theory)
        values: list[Evaluation] = [
            evaluate(
                encode_labels(rows, theory.schema), predicted(theory, encoded_rows(theory, rows))
            )
            for theory in (self.theory, after)
        ]
        return {name: (values[0][name], values[1][name]) for name in values[0]}

    def to_frame(self) -> "pandas.DataFrame":
        """A pandas frame with a row for each alternative."""
        every = self.every
        known = [one.validation for one in every]
        return pandas_frame(
            {
                "kind": [one.kind for one in every],
                "rule": [one.text for one in every],
                "value": [float(one.value) for one in every],
                "rows": [one.n_rows for one in every],
                "right": [one.evidence.right for one in every],
                "wrong": [one.evidence.wrong for one in every],
                "validation_right": [None if one is None else one.right for one in known],
                "validation_wrong": [None if one is None else one.wrong for one in known],
            }
        )

    def __repr__(self) -> str:
        return f"Alternatives({self.headline})"

    @property
    def headline(self) -> str:
        """How many there are, for which rule, by which measure."""
        return (
            f"{self.place}: {len(self.heads)} heads, {len(self.bodies)} similar and "
            f"{len(self.pruned)} shorter bodies, by {self.measure}"
        )

    def __str__(self) -> str:
        return "\n".join([self.headline, *text_table(self._table())])

    def _repr_html_(self) -> str:
        titles, rows = self._table()
        return fragment(paragraphs([self.headline]), html_table(rows, titles))

    def _table(self) -> Table:
        has_validation = self.current.validation is not None
        titles = ["kind", "value", "rows", "right", "wrong", "rule"]
        rows: list[list[Any]] = [
            [one.kind, f"{float(one.value):.3f}", one.n_rows, *one.evidence, one.text]
            for one in self.every
        ]
        if has_validation:
            titles[5:5] = ["right in validation", "wrong"]
            for row, one in zip(rows, self.every, strict=True):
                row[5:5] = one.validation or (0, 0)
        return titles, rows


def alternatives(
    theory: Any,
    number: int,
    data: Dataset,
    measure: Measure | str = "f0.8",
    *,
    validation: Dataset | None = None,
    counting: Counting = "head-relative",
    limit: int = 10,
    layer: int | None = None,
) -> Alternatives:
    r"""Other heads, similar bodies and shorter bodies for a rule in its place, ranked by a measure.

    Only what is open at this place counts: rows that no earlier rule has ended, and labels that no
    earlier rule has written there. Every value is exact, and ties go to more right cells.

    Heads are the best single labels, and the best of at most two to five labels, found by
    `best_head`. Similar bodies have one threshold or category moved (the three best for each
    condition), one condition dropped, one exchanged or one added (the best for each feature or
    label; none that leaves the covered open cells as they are).

    Parameters
    ----------
    theory : DecisionList, LayeredTheory or fitted learner
    number : int
        The rule, from 1.
    data : Dataset
        Rows with true labels, to count on.
    measure : Measure or str, default="f0.8"
        With micro or macro averaging; the default is that of `SeparateAndConquer`.
    validation : Dataset, optional
        Other rows with true labels, on which each alternative is counted, too.
    counting : {"chapter", "head-relative"}
        How cells count that a rule does not cover; see `labelrules.measures.confusion`.
    limit : int, default=10
        The most heads, and the most similar bodies.
    layer : int, optional
        Which layer of a layered theory, from 1; by default the last.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("quality <- sex = Male, children = No", readers.schema)
    >>> found = alternatives(theory, 1, readers, limit=3)
    >>> print(found)
    rule 1: 3 heads, 3 similar and 3 shorter bodies, by f0.8/micro/partial
    kind       value  rows  right  wrong  rule
    current    0.346     5      2      3  quality <- sex = Male, children = No
    head       0.681     5      5      0  not fashion <- sex = Male, children = No
    head       0.557     5      3      2  tabloid <- sex = Male, children = No
    head       0.519     5      3      2  not quality <- sex = Male, children = No
    exchanged  0.692     5      4      1  quality <- education != Primary, children = No
    exchanged  0.658     3      3      0  quality <- marital = Divorced, children = No
    exchanged  0.626     6      4      2  quality <- sex = Male, education != Primary
    pruned     0.621    14      7      7  quality <- true
    pruned     0.526     8      4      4  quality <- children = No
    pruned     0.487     9      4      5  quality <- sex = Male
    """
    theory = theory_of(theory)
    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    _check(measure, counting, data, validation)
    whole_number(limit, "limit", low=1)
    training = _Ground.of(theory, number, data, layer)
    other = None if validation is None else _Ground.of(theory, number, validation, layer)
    judge = _Judge(theory, training, other, measure, counting)
    rule = training.rule
    place = judge.place(rule.head)
    near = judge.shortlist(place, similar_bodies(place, rule.body), limit)
    similar = [(one.kind, replace(rule, body=one.body, evidence=None)) for one in near]
    shorter = [
        ("pruned", replace(rule, body=body, evidence=None)) for body in pruned_bodies(rule.body)
    ]
    heads = [("head", replace(rule, head=head, evidence=None)) for head in judge.heads(limit)]
    return Alternatives(
        theory,
        training.place,
        measure,
        judge.judged("current", rule),
        judge.ranked(heads)[:limit],
        judge.ranked(similar)[:limit],
        judge.ranked(shorter),
        data,
    )


def _check(measure: Measure, counting: str, data: object, validation: object) -> None:
    one_of(counting, "counting", ("chapter", "head-relative"))
    if measure.averaging not in ("micro", "macro"):
        raise ValueError(
            "alternatives are compared by a measure with micro or macro averaging, such as "
            f"'f1/micro/partial', not by {measure}"
        )
    for name, given in (("data", data), ("validation", validation)):
        if not isinstance(given, Dataset) and not (given is None and name == "validation"):
            raise TypeError(
                f"{name} must be a Dataset, which has true labels, not {type(given).__name__}: use "
                "dataset(X, Y)"
            )


@dataclass(frozen=True, eq=False)
class _Ground:
    """The place of a rule in its list, as rows see it."""

    place: Place
    part: PartRun
    rule: Rule
    rows: Dataset
    truth: Board
    board: Board  # what earlier rules wrote; the truth in rows that have ended
    labels: Board  # what conditions on labels are tested on
    going: Mask  # rows that no earlier rule has ended

    @classmethod
    def of(cls, theory: Theory, number: int, data: Dataset, layer: int | None) -> "_Ground":
        rows = encoded_rows(theory, data)
        truth = encode_labels(data, theory.schema)
        layers = TheoryRun.of(theory, rows).layers
        at = whole_number(layer or len(layers), "layer", low=1, high=len(layers)) - 1
        part = layers[at]
        if not part.rules.ordered:
            raise ValueError(
                "alternatives are for rules of a list, where earlier rules leave cells open; in a "
                "rule set all rules vote"
            )
        at = whole_number(number, "number", low=1, high=len(part.rules)) - 1
        run = part.run
        going = (run.stopped < 0) | (run.stopped >= at)
        board = np.where(going[:, None], run.before(at), truth)
        place = places_of(theory)[part.start + at]
        return cls(place, part, part.rules[at], rows, truth, board, part.before(at), going)

    def count(self, rule: Rule) -> tuple[Mask, Evidence]:
        """The rows under way that a rule covers, and its right and wrong open cells."""
        covered = rule.body.covers(self.rows.X, self.labels) & self.going
        columns = list(rule.head.labels)
        cells = covered[:, None] & (self.board[:, columns] == UNSET)
        return covered, Evidence.of_cells(cells, rule.head.values, self.truth[:, columns])


@dataclass(frozen=True, eq=False)
class _Judge:
    """Counts and ranks rules for one place."""

    theory: Theory
    ground: _Ground
    validation: _Ground | None
    measure: Measure
    counting: Counting

    def place(self, head: Head) -> BodyPlace:
        """The place, for bodies of rules with this head."""
        ground = self.ground
        return BodyPlace(
            self.theory.schema, ground.rows.X, ground.truth, ground.board, ground.labels,
            ground.going, head.vector(), self.measure, self.counting,
        )  # fmt: skip

    def judged(self, kind: str, rule: Rule) -> Alternative:
        """One rule, counted exactly."""
        ground, schema = self.ground, self.theory.schema
        covered, evidence = ground.count(rule)
        given = (ground.truth, covered, rule.head.vector(), ground.board, self.counting)
        try:
            value: Fraction | float = self.measure.of_rule(*given, exact=True)
        except ValueError:  # an irrational value
            value = self.measure.of_rule(*given)
        other = None if self.validation is None else self.validation.count(rule)[1]
        text = rule_text(rule.with_evidence(None), schema)
        fix = None if kind == "current" else fix_of(ground.place, "replace", text)
        return Alternative(kind, rule, text, value, int(covered.sum()), evidence, other, fix)

    def ranked(self, rules: Sequence[tuple[str, Rule]]) -> tuple[Alternative, ...]:
        """Rules from the best: value, then right cells, then their order."""
        found = [self.judged(kind, rule) for kind, rule in rules]
        return tuple(sorted(found, key=lambda one: (-one.value, -one.evidence.right)))

    def shortlist(
        self, place: BodyPlace, variants: list[BodyVariant], limit: int
    ) -> list[BodyVariant]:
        """The bodies that may be among the best, by values that are nearly exact."""
        if len(variants) <= limit:
            return variants
        values, right = place.scores(np.array([variant.inside for variant in variants]))
        least = np.sort(values)[-limit]
        near = np.flatnonzero(values >= least - 1e-9 * abs(least)).tolist()
        # Among equal values those with more right cells come first.
        best = sorted(near, key=lambda i: (-round(float(values[i]), 12), -right[i], i))
        return [variants[i] for i in sorted(best[: 2 * limit])]

    def heads(self, limit: int) -> list[Head]:
        """The best heads of each size, and the best single labels; not the current one."""
        ground = self.ground
        covered, _ = ground.count(ground.rule)
        is_full = self.measure.predictions == "full"
        writable = (ground.board[covered] == UNSET).any(axis=0)
        labels = np.flatnonzero(writable | is_full).tolist() if writable.any() else []
        sizes = range(2, min(MOST_LABELS, len(labels)) + 1)
        if is_full:
            sizes = range(1, sizes.stop)
        elif self.measure.averaging == "micro" and known_formula(self.measure) not in RATIOS:
            sizes = range(0)  # no exact search is known for more than one label
        found = [self._best(covered, labels, size) for size in sizes]
        if not is_full:
            found += self._singles(covered, labels, limit + 1)  # one may be the current head
        return [head for head in dict.fromkeys(found) if head != ground.rule.head]

    def _singles(self, covered: Mask, labels: list[int], most: int) -> list[Head]:
        """The best single labels: value, then right cells, then presence, then their order."""
        ground, n_labels = self.ground, self.theory.schema.n_labels
        each = tally(ground.truth[:, labels], covered, ground.board[:, labels])
        both = [confusion(each, value, self.counting) for value in (1, 0)]
        ranked = [
            (-self._value(counts), -counts[0], place, label, value)
            for place, (value, matrix) in enumerate(zip((1, 0), both, strict=True))
            for label, *counts in zip(labels, *(part.tolist() for part in matrix), strict=True)
        ]
        return [Head({label: value}, n_labels) for *_, label, value in sorted(ranked)[:most]]

    def _value(self, counts: list[int]) -> Fraction | float:
        """The formula of the counts of one label, exact unless it is irrational."""
        try:
            return self.measure.formula.exact(*counts)
        except ValueError:
            return float(self.measure.formula(*map(np.asarray, counts)))

    def _best(self, covered: Mask, labels: list[int], size: int) -> Head:
        ground = self.ground
        found = best_head(
            ground.truth[:, labels], covered, self.measure, ground.board[:, labels],
            counting=self.counting, max_labels=size,
        )  # fmt: skip
        vector = np.full(self.theory.schema.n_labels, UNSET)
        vector[labels] = found.vector
        head = Head.from_vector(vector)
        return head.completed() if self.measure.predictions == "full" else head
