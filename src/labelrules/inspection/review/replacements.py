"""Alternatives for a rule in its place: other heads, similar bodies, shorter bodies, ranked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, NamedTuple

from labelrules._checks import one_of, whole_number
from labelrules._report import Columns, Part, Report, Table, Tabular
from labelrules.data.memory.encoding import encode_labels
from labelrules.data.table import Dataset
from labelrules.inspection.comparison import predicted
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.review.fixes import Fix, fix_of
from labelrules.inspection.summaries import places_of
from labelrules.inspection.tracing import encoded_rows
from labelrules.measures import Evaluation, Measure, evaluate
from labelrules.rules import Evidence, Rule, Theory, rule_text, theory_of
from labelrules.rules.run import TheoryRun
from labelrules.search.bodies.variants import (
    BodyPlace,
    RulePlace,
    pruned_bodies,
    shortlist,
    similar_bodies,
)
from labelrules.search.heads.problem import Counting


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
class Alternatives(Report, Tabular):
    """What could stand in the place of a rule, each kind from the best."""

    theory: Theory
    place: Place
    measure: Measure
    current: Alternative
    heads: tuple[Alternative, ...]  #: Other heads for its body.
    bodies: tuple[Alternative, ...]  #: Similar bodies for its head.
    pruned: tuple[Alternative, ...]  #: Bodies of some of its conditions, for its head.
    data: Dataset = field(compare=False)

    _value = "{}({})"

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

    def as_dict(self) -> Columns:
        """The alternatives as columns, the current rule first."""
        every = self.every
        known = [one.validation for one in every]
        return {
            "kind": [one.kind for one in every],
            "rule": [one.text for one in every],
            "value": [float(one.value) for one in every],
            "rows": [one.n_rows for one in every],
            "right": [one.evidence.right for one in every],
            "wrong": [one.evidence.wrong for one in every],
            "validation_right": [None if one is None else one.right for one in known],
            "validation_wrong": [None if one is None else one.wrong for one in known],
        }

    @property
    def headline(self) -> str:
        """How many there are, for which rule, by which measure."""
        return (
            f"{self.place}: {len(self.heads)} heads, {len(self.bodies)} similar and "
            f"{len(self.pruned)} shorter bodies, by {self.measure}"
        )

    def _parts(self) -> Iterator[Part]:
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
        yield Table(titles, rows)


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
    training = _place(theory, number, data, layer, measure, counting)
    other = None
    if validation is not None:
        other = _place(theory, number, validation, layer, measure, counting)
    rule = training.part.rules[training.number]
    place = BodyPlace(training, rule.head.vector())
    near = shortlist(place, similar_bodies(place, rule.body), limit)
    similar = [(one.kind, replace(rule, body=one.body, evidence=None)) for one in near]
    shorter = [
        ("pruned", replace(rule, body=body, evidence=None)) for body in pruned_bodies(rule.body)
    ]
    heads = [
        ("head", replace(rule, head=head, evidence=None)) for head in training.heads(rule, limit)
    ]
    where = places_of(theory)[training.part.start + training.number]

    def judged(kind: str, one: Rule) -> Alternative:
        """One rule, counted exactly."""
        covered, evidence = training.count(one)
        value = training.value(one, covered)
        text = rule_text(one.with_evidence(None), theory.schema)
        elsewhere = None if other is None else other.count(one)[1]
        fix = None if kind == "current" else fix_of(where, "replace", text)
        return Alternative(kind, one, text, value, int(covered.sum()), evidence, elsewhere, fix)

    def ranked(rules: Sequence[tuple[str, Rule]]) -> tuple[Alternative, ...]:
        """Rules from the best: value, then right cells, then their order."""
        found = [judged(kind, one) for kind, one in rules]
        return tuple(sorted(found, key=lambda one: (-one.value, -one.evidence.right)))

    return Alternatives(
        theory,
        where,
        measure,
        judged("current", rule),
        ranked(heads)[:limit],
        ranked(similar)[:limit],
        ranked(shorter),
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


def _place(
    theory: Theory,
    number: int,
    data: Dataset,
    layer: int | None,
    measure: Measure,
    counting: Counting,
) -> RulePlace:
    """The place of a rule in its list, on some rows."""
    layers = TheoryRun.of(theory, encoded_rows(theory, data)).layers
    at = whole_number(layer or len(layers), "layer", low=1, high=len(layers)) - 1
    part = layers[at]
    if not part.rules.ordered:
        raise ValueError(
            "alternatives are for rules of a list, where earlier rules leave cells open; in a "
            "rule set all rules vote"
        )
    at = whole_number(number, "number", low=1, high=len(part.rules)) - 1
    return RulePlace(part, at, encode_labels(data, theory.schema), measure, counting)
