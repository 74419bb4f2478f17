"""Rules: a head, a body, the evidence that was counted for them, and a note."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from labelrules._checks import whole_number
from labelrules._types import UNSET, Board, Mask
from labelrules.data.schema import Schema
from labelrules.measures import ratio
from labelrules.rules.conditions import Body, ColumnKey, Condition, Range, condition_numbers


@dataclass(frozen=True, slots=True, repr=False)
class Head:
    """Labels predicted present (1) or absent (0); the other labels are left open.

    Parameters
    ----------
    literals : mapping of int to int
        From the number of a label to 0 or 1.
    n_labels : int
        The size of the label space.

    Examples
    --------
    >>> head = Head({0: 1, 2: 0}, n_labels=4)
    >>> head.vector(), head.completed().vector()
    (array([ 1, -1,  0, -1], dtype=int8), array([1, 0, 0, 0], dtype=int8))
    >>> head.is_complete, len(head)
    (False, 2)
    """

    literals: tuple[tuple[int, int], ...]
    n_labels: int

    def __init__(self, literals: Mapping[int, int], n_labels: int) -> None:
        if not literals:
            raise ValueError("a head names at least one label")
        for label, value in literals.items():
            if label not in range(n_labels):
                raise ValueError(f"there is no label {label} among {n_labels} labels")
            if value not in (0, 1):
                raise ValueError(f"label {label} is present (1) or absent (0), not {value}")
        pairs = tuple(sorted([(int(label), int(value)) for label, value in literals.items()]))
        object.__setattr__(self, "literals", pairs)
        object.__setattr__(self, "n_labels", int(n_labels))

    @classmethod
    def from_vector(cls, vector: npt.ArrayLike) -> "Head":
        """The head with these predictions, `UNSET` for labels that it leaves open."""
        values = np.asarray(vector).tolist()
        return cls({i: value for i, value in enumerate(values) if value != UNSET}, len(values))

    def vector(self) -> Board:
        """One cell per label: 0, 1 or `UNSET`."""
        cells = np.full(self.n_labels, UNSET)
        for label, value in self.literals:
            cells[label] = value
        return cells

    def completed(self) -> "Head":
        """The full prediction: labels not in the head are predicted absent."""
        absent = dict.fromkeys(range(self.n_labels), 0)
        return Head({**absent, **dict(self.literals)}, self.n_labels)

    @property
    def is_complete(self) -> bool:
        """Whether the head predicts every label."""
        return len(self.literals) == self.n_labels

    @property
    def labels(self) -> tuple[int, ...]:
        """The labels in the head, in order."""
        return tuple(label for label, _ in self.literals)

    @property
    def values(self) -> tuple[int, ...]:
        """The predicted value of each of them."""
        return tuple(value for _, value in self.literals)

    def __len__(self) -> int:
        return len(self.literals)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self.literals)

    def __repr__(self) -> str:
        return f"<Head: {_head_numbers(self)}>"


def _head_numbers(head: Head) -> str:
    """The first labels of a head by their numbers, and how many more there are."""
    shown = ", ".join(f"label {label} = {value}" for label, value in head.literals[:5])
    return shown + (f" and {len(head) - 5} more" if len(head) > 5 else "")


class Evidence(NamedTuple):
    """How often a prediction was right and wrong on the cells that its rule wrote.

    Examples
    --------
    >>> Evidence(right=3, wrong=0).probability(), Evidence(4, 0).probability(m=2, prior=0.25)
    (0.8, 0.75)
    """

    right: int
    wrong: int

    @classmethod
    def of_cells(cls, written: Mask, values: Any, truth: Board) -> "Evidence":
        """Count the written cells with the true value, and those with another.

        Cells of which the truth is unknown are neither.
        """
        n_right = int(np.count_nonzero(written & (truth == values)))
        n_known = int(np.count_nonzero(written & (truth != UNSET)))
        return cls(n_right, n_known - n_right)

    def probability(self, m: float = 2.0, prior: float = 0.5) -> float:
        """The m-estimate of being right; the defaults give Laplace's estimate."""
        return float(ratio(self.right + m * prior, self.right + self.wrong + m))


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a multi-label rule, along the dimensions of the chapter.

    `constraint` names the two global dependencies between a pair of labels: in a "subset" the label
    of the body occurs only together with that of the head, in an "exclusion" only without it.
    """

    heads: Literal["single", "multi"]
    polarity: Literal["positive", "negative", "mixed"]
    extent: Literal["partial", "complete"]
    dependence: Literal["independent", "partial", "full"]
    constraint: Literal["subset", "exclusion"] | None = None
    stops: bool = False

    def __str__(self) -> str:
        dependence = {
            "independent": "label-independent",
            "partial": "partially label-dependent",
            "full": "fully label-dependent",
        }[self.dependence]
        constraint = f", {self.constraint} constraint" if self.constraint else ""
        stops = ", stops" if self.stops else ""
        return (
            f"{self.heads}-label, {self.polarity}, {self.extent}, {dependence}{constraint}{stops}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Rule:
    """If the body holds for a row, the head is written into its empty cells.

    Two rules are equal if they predict the same; evidence and notes are not compared.

    Parameters
    ----------
    head : Head
    body : Body
    stops : bool, default=False
        Whether the list ends for a row on which this rule fires: the chapter's star.
    evidence : sequence of (Evidence or None), optional
        One for each label of the head, in the order of the head; None for a label that was not
        counted.
    votes : sequence of int, optional
        In a rule set, the votes for each label of the head; by default one each.
    note : str, optional
        What a person has to say about the rule, in any words; spaces around it are dropped.

    Examples
    --------
    >>> from labelrules.rules import Condition
    >>> rule = Rule(Head({3: 0}, n_labels=4), Body([Condition.label(2)]))
    >>> str(rule.form)
    'single-label, negative, partial, fully label-dependent, exclusion constraint'
    >>> rule.with_note("agreed in March") == rule
    True
    """

    head: Head
    body: Body = field(default_factory=Body)
    stops: bool = False
    evidence: tuple[Evidence | None, ...] | None = field(default=None, compare=False)
    votes: tuple[int, ...] | None = None
    note: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not (isinstance(self.head, Head) and isinstance(self.body, Body)):
            raise ValueError("a rule needs a Head and a Body: Rule(Head(...), Body([...]))")
        if self.evidence is not None:
            object.__setattr__(self, "evidence", _checked(self.evidence, len(self.head)))
        if self.votes is not None:
            object.__setattr__(self, "votes", _checked_votes(self.votes, len(self.head)))
        if self.note is not None:
            object.__setattr__(self, "note", _checked_note(self.note))

    @property
    def form(self) -> Form:
        """The form of the rule along the chapter's dimensions."""
        return Form(
            heads="single" if len(self.head) == 1 else "multi",
            polarity=_polarity(self.head),
            extent="complete" if self.head.is_complete else "partial",
            dependence=_dependence(self.body),
            constraint=_constraint(self.head, self.body),
            stops=self.stops,
        )

    @property
    def n_conditions(self) -> int:
        """Number of conditions in the body."""
        return len(self.body)

    @property
    def n_literals(self) -> int:
        """Size of the rule: conditions in its body and labels in its head.

        Of a rule with an empty body only the labels that it predicts present are counted.
        """
        return len(self.body) + len(self.head) if self.body else sum(self.head.values)

    @property
    def ballot(self) -> tuple[tuple[int, int, int], ...]:
        """For each label of the head: the label, its value, and the votes for it."""
        votes = self.votes or (1,) * len(self.head)
        return tuple((label, value, n) for (label, value), n in zip(self.head, votes, strict=True))

    def evidence_for(self, label: int) -> Evidence | None:
        """The evidence for the prediction of this label, if it was counted."""
        if self.evidence is None or label not in self.head.labels:
            return None
        return self.evidence[self.head.labels.index(label)]

    @property
    def is_counted(self) -> bool:
        """Whether there is evidence for every label of the head."""
        return self.evidence is not None and None not in self.evidence

    def with_evidence(self, evidence: Iterable[Evidence | None] | None) -> "Rule":
        """Replace the evidence."""
        return replace(self, evidence=None if evidence is None else tuple(evidence))

    def plus(self, other: "Rule") -> "Rule":
        """Add the evidence of this rule on other rows."""
        pairs = zip(self.evidence or (), other.evidence or (), strict=True)
        return self.with_evidence(
            a and b and Evidence(a.right + b.right, a.wrong + b.wrong) for a, b in pairs
        )

    def with_note(self, note: str | None) -> "Rule":
        """Replace the note, or leave it out."""
        return replace(self, note=note)

    def as_full_prediction(self) -> "Rule":
        """Complete the head: labels that it does not name become absent."""
        votes = {label: n for label, _, n in self.ballot}
        completed = self.head.completed()
        ballot = tuple(votes.get(label, 1) for label in completed.labels)
        return Rule(completed, self.body, self.stops, votes=ballot, note=self.note)

    def __repr__(self) -> str:
        body = ", ".join(map(condition_numbers, self.body)) or "true"
        return f"<Rule: {_head_numbers(self.head)}{', *' if self.stops else ''} <- {body}>"


def _checked(
    evidence: Iterable[tuple[int, int] | None], n_labels: int
) -> tuple[Evidence | None, ...] | None:
    """The evidence; None if no label was counted."""
    try:
        pairs = tuple([None if pair is None else Evidence(*pair) for pair in evidence])
    except TypeError:
        raise ValueError(
            "evidence must be a sequence with a pair of counts, right and wrong, for each label "
            f"of the head, not {evidence!r}"
        ) from None
    if len(pairs) != n_labels:
        raise ValueError(f"{len(pairs)} pieces of evidence were given for {n_labels} labels")
    for right, wrong in filter(None, pairs):
        if right < 0 or wrong < 0 or right != int(right) or wrong != int(wrong):
            raise ValueError(f"evidence counts cells; {right}/{wrong} are no counts")
    return pairs if any(pairs) else None


MOST_VOTES = 10_000
"""The most votes of one rule, so that the sums of many rules stay small numbers."""


def _checked_votes(votes: Iterable[int], n_labels: int) -> tuple[int, ...] | None:
    """The votes; None, which is the same, if there is one for each label."""
    if not isinstance(votes, Iterable):
        raise ValueError(
            f"votes must be a sequence with a number for each label of the head, not {votes!r}"
        )
    numbers = tuple(whole_number(one, "the votes", low=1, high=MOST_VOTES) for one in votes)
    if len(numbers) != n_labels:
        raise ValueError(f"{len(numbers)} numbers of votes were given for {n_labels} labels")
    return None if set(numbers) == {1} else numbers


def _checked_note(note: object) -> str | None:
    """The note without spaces around it; None if nothing is left."""
    if not isinstance(note, str):
        raise ValueError(f"a note must be text, not {note!r:.60}")
    if any(0xD800 <= ord(sign) <= 0xDFFF for sign in note):
        raise ValueError(f"the note {note!r:.60} has half a character, which no file can hold")
    return note.strip() or None


def _polarity(head: Head) -> Literal["positive", "negative", "mixed"]:
    if all(head.values):
        return "positive"
    return "mixed" if any(head.values) else "negative"


def _dependence(body: Body) -> Literal["independent", "partial", "full"]:
    if not body.on_labels:
        return "independent"
    return "partial" if body.on_features else "full"


def _constraint(head: Head, body: Body) -> Literal["subset", "exclusion"] | None:
    if len(head) != 1 or len(body) != 1:
        return None
    (condition,) = body
    if not condition.on_label or condition.value != 1 or condition.column == head.labels[0]:
        return None
    return "subset" if head.values[0] else "exclusion"


def check_rule(rule: Rule, schema: Schema, where: str) -> None:
    """Raise an error if a rule uses columns or categories that the schema does not have."""
    if rule.head.n_labels != schema.n_labels:
        raise ValueError(
            f"{where}: its head is over {rule.head.n_labels} labels, "
            f"the schema has {schema.n_labels}"
        )
    for condition in rule.body:
        problem = _label_problem if condition.on_label else _feature_problem
        message = problem(condition, schema)
        if message:
            raise ValueError(f"{where}: {message}")


def _label_problem(condition: Condition, schema: Schema) -> str:
    if condition.column < schema.n_labels:
        return ""
    return f"there is no label {condition.column} among {schema.n_labels} labels"


def _feature_problem(condition: Condition, schema: Schema) -> str:
    if condition.column >= schema.n_features:
        return f"there is no feature {condition.column} among {schema.n_features} features"
    feature = schema.features[condition.column]
    if feature.is_nominal != condition.is_equality:
        right = "=, != or in" if feature.is_nominal else "<= or >"
        return f"{feature.name!r} is {feature.kind}: compare it by {right}"
    return feature.value_problem(condition.codes[-1] if condition.codes else condition.value)


def is_more_general(a: Body | Rule, b: Body | Rule, schema: Schema) -> bool:
    """Whether every row and board that satisfies `b` satisfies `a`; rules are compared by bodies.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> a = parse_rule("quality <- sex != Male", schema)
    >>> b = parse_rule("quality <- sex = Female, children = No", schema)
    >>> is_more_general(a, b, schema), is_more_general(b, a, schema)
    (True, False)
    """
    a, b = _body(a), _body(b)
    if not is_satisfiable(b, schema):
        return True
    if not is_satisfiable(a, schema):
        return False
    values_a, values_b = _values(a, schema), _values(b, schema)
    ranges_b = b.ranges
    return all(
        key in ranges_b and _within(ranges_b[key], wider) for key, wider in a.ranges.items()
    ) and all(key in values_b and values_b[key] <= wider for key, wider in values_a.items())


def is_satisfiable(body: Body, schema: Schema) -> bool:
    """Whether some row and board could satisfy the body, given the categories there are."""
    return body.is_satisfiable and all(_values(body, schema).values())


def overlap(a: Body | Rule, b: Body | Rule, schema: Schema) -> bool:
    r"""Whether some row and board could satisfy both bodies, or fire both rules.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> texts = "sports <- marital = Single\nsports <- sex = Male\nsports <- marital = Married"
    >>> single, male, married = parse(texts, schema := load("magazines").schema)
    >>> overlap(single, male, schema), overlap(single, married, schema)
    (True, False)
    """
    return is_satisfiable(Body((*_body(a), *_body(b))), schema)


def conflict(a: Rule, b: Rule, schema: Schema) -> bool:
    """Whether the two rules could fire together and contradict each other on some label."""
    predicted = dict(a.head)
    contradicts = any(predicted.get(label, value) != value for label, value in b.head)
    return contradicts and overlap(a.body, b.body, schema)


def is_more_specific(a: Body | Rule, b: Body | Rule, schema: Schema) -> bool:
    """Whether every row and board that satisfies `a` satisfies `b`; equal bodies included."""
    return is_more_general(b, a, schema)


def _body(part: Body | Rule) -> Body:
    return part.body if isinstance(part, Rule) else part


def _within(inner: Range, outer: Range) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _values(body: Body, schema: Schema) -> dict[ColumnKey, frozenset[int]]:
    """The categories that a body leaves possible."""
    left: dict[ColumnKey, frozenset[int]] = {}
    for (on_label, column), (named, excluded) in body.choices.items():
        categories = None if on_label else schema.features[column].categories
        every = frozenset(range(2 if categories is None else len(categories)))
        left[on_label, column] = (every if named is None else every & named) - excluded
    return left
