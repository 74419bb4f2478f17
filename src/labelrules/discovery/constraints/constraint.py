"""Constraints: what the labels of a row have to do with each other, whatever its features."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from labelrules._checks import counted
from labelrules.data.schema import Schema
from labelrules.rules import Body, Condition, Evidence, Head, Rule, RuleSet, rule_text

if TYPE_CHECKING:
    import pandas

    from labelrules.discovery.constraints.graph import ConstraintGraph

Kind: TypeAlias = Literal["subset", "exclusion", "implication"]
GroupKind: TypeAlias = Literal["equivalence", "exclusive group"]

SHOWN = 20
"""Constraints of a kind that are printed; the frame has all."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """One dependency between labels, with what speaks for it.

    Attributes
    ----------
    kind : {"subset", "exclusion", "implication"}
        A label occurs only together with another; labels do not occur all together; several
        labels together occur only with another.
    body : tuple of int
        Labels that are present, by number.
    label : int
        The label that is told.
    present : bool
        Whether it is told to be present, or absent.
    support : int
        Rows that the body covers.
    exceptions : int
        Those of them that are otherwise.
    p : float
        How probable so few exceptions are by chance: Fisher's exact test, one-sided.
    corrected : float
        The same, corrected for the number of tests.
    known : bool
        Whether the label hierarchy of the schema says so already.
    turned : tuple of int
        An exclusion says the same whichever of its labels is told: for each label of the body, how
        many rows have all the other labels. The exceptions are the same. Empty if that is not
        known, and for other kinds.
    """

    schema: Schema = field(repr=False, compare=False)
    kind: Kind
    body: tuple[int, ...]
    label: int
    present: bool
    support: int
    exceptions: int
    p: float
    corrected: float
    known: bool = False
    turned: tuple[int, ...] = ()

    @property
    def rule(self) -> Rule:
        """The constraint as a rule, with evidence."""
        head = Head({self.label: int(self.present)}, self.schema.n_labels)
        body = Body(Condition.label(label) for label in self.body)
        evidence = Evidence(self.support - self.exceptions, self.exceptions)
        return Rule(head, body, evidence=(evidence,))

    @property
    def turned_rules(self) -> tuple[Rule, ...]:
        """What an exclusion says of the labels of its body; with evidence, if it is known."""
        if self.kind != "exclusion":
            return ()
        members = {*self.body, self.label}
        found = []
        for place, label in enumerate(self.body):
            body = Body(Condition.label(other) for other in sorted(members - {label}))
            rule = Rule(Head({label: 0}, self.schema.n_labels), body)
            if self.turned:
                n_covered = self.turned[place]
                rule = rule.with_evidence([Evidence(n_covered - self.exceptions, self.exceptions)])
            found.append(rule)
        return tuple(found)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels it speaks of, that of the head last."""
        return tuple(self.schema.labels[label] for label in (*self.body, self.label))

    def __str__(self) -> str:
        return f"{rule_text(self.rule, self.schema)}  ({_counts(self)})"


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """Labels that always occur together, or of which a row has at most one.

    Attributes
    ----------
    kind : {"equivalence", "exclusive group"}
    members : tuple of int
        The labels by number.
    support : int
        Rows that have any of them.
    exceptions : int
        Rows that have some and not all of the equivalent ones; or more than one of the exclusive.
    p, corrected : float
        The greatest among those of the pairs.
    """

    schema: Schema = field(repr=False, compare=False)
    kind: GroupKind
    members: tuple[int, ...]
    support: int
    exceptions: int
    p: float
    corrected: float

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels."""
        return tuple(self.schema.labels[label] for label in self.members)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """What it says, as rules: round in a circle, or each label against those after it."""
        n_labels, members = self.schema.n_labels, self.members
        if self.kind == "equivalence":
            told = [({after: 1}, label) for label, after in _circle(members)]
        else:
            told = [
                (dict.fromkeys(members[place + 1 :], 0), label)
                for place, label in enumerate(members[:-1])
            ]
        return tuple(
            Rule(Head(literals, n_labels), Body([Condition.label(label)]))
            for literals, label in told
        )

    def __str__(self) -> str:
        words = "always together" if self.kind == "equivalence" else "at most one of"
        return f"{words}: {', '.join(self.labels)}  ({_counts(self)})"


class Descent(NamedTuple):
    """A label and its parent in the label hierarchy of the schema, and what the rows say of it."""

    child: str
    parent: str
    support: int
    exceptions: int
    found: bool


@dataclass(frozen=True, eq=False)
class Constraints:
    """Constraints found among the labels of some rows; printing it shows the surest.

    It is a sequence of `Constraint`, those of each kind the surest first.

    Attributes
    ----------
    schema : Schema
    n_rows : int
    tolerance : float
        The share of exceptions that was allowed.
    n_tests : int
        Constraints that were looked at, for which the probabilities are corrected.
    found : tuple of Constraint
    equivalences : tuple of LabelGroup
        Labels that imply each other, directly or through others.
    groups : tuple of LabelGroup
        Three or more labels that exclude each other. Every pair of labels that exclude each other
        is in one of them, if it has a third; there may be other groups.
    hierarchy : tuple of Descent
        The children and parents in the label hierarchy of the schema, found or not.
    """

    schema: Schema = field(repr=False)
    n_rows: int
    tolerance: float
    n_tests: int
    found: tuple[Constraint, ...] = field(repr=False)
    equivalences: tuple[LabelGroup, ...] = field(default=(), repr=False)
    groups: tuple[LabelGroup, ...] = field(default=(), repr=False)
    hierarchy: tuple[Descent, ...] = field(default=(), repr=False)

    def of_kind(self, kind: Kind) -> tuple[Constraint, ...]:
        """The constraints of one kind."""
        return tuple(constraint for constraint in self.found if constraint.kind == kind)

    def rules(self) -> RuleSet:
        """All constraints as rules; those with the same body are one rule, with evidence.

        Examples
        --------
        >>> from labelrules import load
        >>> from labelrules.discovery import find_constraints
        >>> print(find_constraints(load("magazines")).rules())
        in any order:
        quality, not tabloid, not fashion <- sports
        """
        together: dict[tuple[int, ...], list[Constraint]] = {}
        for constraint in self.found:
            together.setdefault(constraint.body, []).append(constraint)
        return RuleSet(self.schema, [_merged(members) for members in together.values()])

    def graph(self) -> "ConstraintGraph":
        """Subset and exclusion constraints between pairs of labels, so that they can be read."""
        from labelrules.discovery.constraints.graph import reduced

        return reduced(self)

    def as_dict(self) -> dict[str, list[Any]]:
        """Constraints and groups as columns, for a data frame of any library."""
        every: list[Constraint | LabelGroup] = [*self.found, *self.equivalences, *self.groups]
        return {
            "kind": [one.kind for one in every],
            "constraint": [_text(one) for one in every],
            "labels": [one.labels for one in every],
            "support": [one.support for one in every],
            "exceptions": [one.exceptions for one in every],
            "share": [one.exceptions / one.support for one in every],
            "p": [one.p for one in every],
            "corrected": [one.corrected for one in every],
            "known": [isinstance(one, Constraint) and one.known for one in every],
        }

    def frame(self) -> "pandas.DataFrame":
        """Constraints and groups as a pandas frame (needs the extra ``pandas``)."""
        return pandas_frame(self.as_dict())

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self.found)

    def __getitem__(self, index: int) -> Constraint:
        return self.found[index]

    def __str__(self) -> str:
        parts: dict[str, tuple[object, ...]] = {
            "subset": self.of_kind("subset"),
            "implication": self.of_kind("implication"),
            "exclusion": self.of_kind("exclusion"),
            "equivalence": self.equivalences,
            "exclusive group": self.groups,
        }
        lines = [
            f"{counted(len(self), 'constraint')} between "
            f"{counted(self.schema.n_labels, 'label')} in "
            + counted(self.n_rows, "row")
            + (f", with up to {self.tolerance:.0%} exceptions" if self.tolerance else "")
        ]
        for kind, members in parts.items():
            if members:
                lines.append(f"{kind}: {len(members)}")
                lines += [f"  {one}" for one in members[:SHOWN]]
                more = len(members) - SHOWN
                lines += [f"  ... and {more} more"] if more > 0 else []
        return "\n".join(lines)


def pandas_frame(columns: dict[str, list[Any]]) -> "pandas.DataFrame":
    """Columns as a frame, if pandas is there."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            'a frame needs pandas: pip install "labelrules[pandas]", or use as_dict()'
        ) from None
    return pandas.DataFrame(columns)


def _counts(one: Constraint | LabelGroup) -> str:
    exceptions = f", {counted(one.exceptions, 'exception')}" if one.exceptions else ""
    # The smallest probabilities are no longer told from 0 by floating-point numbers.
    p = f"p = {one.corrected:.2g}" if one.corrected >= 1e-300 else "p < 1e-300"
    return f"{counted(one.support, 'row')}{exceptions}, {p}"


def _text(one: Constraint | LabelGroup) -> str:
    if isinstance(one, Constraint):
        return rule_text(one.rule, one.schema)
    return "; ".join(rule_text(rule, one.schema) for rule in one.rules)


def _circle(members: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(members, (*members[1:], members[0]), strict=True))


def _merged(constraints: list[Constraint]) -> Rule:
    """Constraints with the same body as one rule."""
    constraints = sorted(constraints, key=lambda one: one.label)
    literals = {one.label: int(one.present) for one in constraints}
    evidence = [Evidence(one.support - one.exceptions, one.exceptions) for one in constraints]
    first = constraints[0]
    return Rule(Head(literals, first.schema.n_labels), first.rule.body, evidence=tuple(evidence))
