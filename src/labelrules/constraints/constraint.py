"""Constraints between labels, whatever the features, as values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from labelrules._checks import counted
from labelrules._report import Columns, Excerpt, Lines, Part, Report, Tabular, first_lines
from labelrules.data.schema import Schema
from labelrules.rules import Body, Condition, Evidence, Head, Rule, RuleSet, rule_text

if TYPE_CHECKING:
    from labelrules.constraints.graph import ConstraintGraph

Kind: TypeAlias = Literal["subset", "exclusion", "implication"]
GroupKind: TypeAlias = Literal["equivalence", "exclusive group"]

SHOWN = 20  # constraints of a kind that are printed


@dataclass(frozen=True, slots=True, repr=False)
class Constraint:
    """One dependency between labels, with its counts and its p-value.

    Attributes
    ----------
    kind : {"subset", "exclusion", "implication"}
        A label occurs only together with another; labels do not occur all together; several labels
        together occur only with another.
    body : tuple of int
        Labels that are present, by number.
    label, present : int, bool
        The label of the head, and whether it is then present, or absent.
    support, exceptions : int
        Rows that the body covers, and those of them that violate the constraint.
    p, corrected : float
        P-value of Fisher's exact test, one-sided: so few exceptions by chance; and corrected for
        the number of tests.
    known : bool
        Whether it follows from the label hierarchy of the schema.
    turned : tuple of int
        For each label of the body of an exclusion, which could as well be its head, the rows that
        have all the other labels; empty if unknown. The exceptions are the same.
    """

    schema: Schema = field(compare=False)
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
        return Rule(head, body, evidence=(self.evidence,))

    @property
    def evidence(self) -> Evidence:
        """The covered rows that satisfy the constraint, and the exceptions."""
        return Evidence(self.support - self.exceptions, self.exceptions)

    @property
    def turned_rules(self) -> tuple[Rule, ...]:
        """An exclusion as rules for the labels of its body; with evidence, if it is known."""
        if self.kind != "exclusion":
            return ()
        members = {*self.body, self.label}
        rules = []
        for place, label in enumerate(self.body):
            body = Body(Condition.label(other) for other in sorted(members - {label}))
            rule = Rule(Head({label: 0}, self.schema.n_labels), body)
            if self.turned:
                n_covered = self.turned[place]
                rule = rule.with_evidence([Evidence(n_covered - self.exceptions, self.exceptions)])
            rules.append(rule)
        return tuple(rules)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels, with the head last."""
        return tuple(self.schema.labels[label] for label in (*self.body, self.label))

    @property
    def text(self) -> str:
        """The constraint in the rule language."""
        return rule_text(self.rule, self.schema)

    def __repr__(self) -> str:
        return f"<Constraint: {self}>"

    def __str__(self) -> str:
        return f"{self.text}  ({_figures(self)})"


@dataclass(frozen=True, slots=True, repr=False)
class LabelGroup:
    """Labels that always occur together, or of which a row has at most one.

    Attributes
    ----------
    kind : {"equivalence", "exclusive group"}
    members : tuple of int
        The labels by number.
    support, exceptions : int
        Rows that have any of them; those that have not all equivalent ones, or two exclusive ones.
    p, corrected : float
        The greatest among those of the pairs.
    """

    schema: Schema = field(compare=False)
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
        """The group as rules: a cycle of implications, or each label against those after it."""
        members = self.members
        if self.kind == "equivalence":
            heads = [{after: 1} for after in (*members[1:], members[0])]
        else:
            heads = [dict.fromkeys(members[n:], 0) for n in range(1, len(members))]
        return tuple(
            Rule(Head(head, self.schema.n_labels), Body([Condition.label(label)]))
            for label, head in zip(members, heads, strict=False)
        )

    @property
    def text(self) -> str:
        """The group in the rule language."""
        return "; ".join(rule_text(rule, self.schema) for rule in self.rules)

    def __repr__(self) -> str:
        return f"<LabelGroup: {self}>"

    def __str__(self) -> str:
        words = "always together" if self.kind == "equivalence" else "at most one of"
        return f"{words}: {', '.join(self.labels)}  ({_figures(self)})"


def _figures(one: Constraint | LabelGroup) -> str:
    exceptions = f", {counted(one.exceptions, 'exception')}" if one.exceptions else ""
    # Floating-point numbers do not distinguish the smallest p-values from 0.
    p = f"p = {one.corrected:.2g}" if one.corrected >= 1e-300 else "p < 1e-300"
    return f"{counted(one.support, 'row')}{exceptions}, {p}"


class Descent(NamedTuple):
    """A label and its parent in the label hierarchy of the schema, and their rows."""

    child: str
    parent: str
    support: int
    exceptions: int
    found: bool


@dataclass(frozen=True, eq=False, repr=False)
class Constraints(Report, Tabular):
    """Constraints between the labels of some rows; printing shows the most significant.

    It is a sequence of `Constraint`, those of each kind by rising p-value.

    Attributes
    ----------
    schema : Schema
    n_rows, n_tests : int
        The numbers of rows, and of tests, for which p-values are corrected.
    tolerance : float
        The largest share of exceptions.
    found : tuple of Constraint
    equivalences, groups : tuple of LabelGroup
        Labels that imply each other, directly or through others; three or more labels that exclude
        each other. Every pair with a third is in a group, but not all groups are listed.
    hierarchy : tuple of Descent
        The children and parents in the label hierarchy of the schema, found or not.
    """

    schema: Schema
    n_rows: int
    tolerance: float
    n_tests: int
    found: tuple[Constraint, ...]
    equivalences: tuple[LabelGroup, ...] = ()
    groups: tuple[LabelGroup, ...] = ()
    hierarchy: tuple[Descent, ...] = ()

    _heading = "h4"

    def of_kind(self, kind: Kind) -> tuple[Constraint, ...]:
        """The constraints of one kind."""
        return tuple(constraint for constraint in self.found if constraint.kind == kind)

    def rules(self) -> RuleSet:
        """All constraints as rules with evidence, one rule for each body.

        Examples
        --------
        >>> from labelrules import load
        >>> from labelrules.constraints import find_constraints
        >>> print(find_constraints(load("magazines")).rules())
        in any order:
        quality, not tabloid, not fashion <- sports
        """
        by_body: dict[tuple[int, ...], list[Constraint]] = {}
        for constraint in self.found:
            by_body.setdefault(constraint.body, []).append(constraint)
        return RuleSet(self.schema, [_merged(members) for members in by_body.values()])

    def rename(self, names: Mapping[str, str]) -> "Constraints":
        """Rename labels, from old names to new ones."""
        schema = self.schema.rename(names)

        def renamed(parts: tuple[Any, ...]) -> tuple[Any, ...]:
            return tuple(replace(part, schema=schema) for part in parts)

        hierarchy = tuple(
            one._replace(
                child=names.get(one.child, one.child), parent=names.get(one.parent, one.parent)
            )
            for one in self.hierarchy
        )
        return replace(
            self,
            schema=schema,
            found=renamed(self.found),
            equivalences=renamed(self.equivalences),
            groups=renamed(self.groups),
            hierarchy=hierarchy,
        )

    def graph(self) -> "ConstraintGraph":
        """Subset and exclusion constraints between pairs of labels, without redundant ones."""
        from labelrules.constraints.graph import reduced

        return reduced(self)

    @property
    def _every(self) -> list[Constraint | LabelGroup]:
        return [*self.found, *self.equivalences, *self.groups]

    def as_dict(self) -> Columns:
        """Constraints and groups as columns, for a data frame of any library."""
        every = self._every
        return {
            "kind": [one.kind for one in every],
            "constraint": [one.text for one in every],
            "labels": [one.labels for one in every],
            "support": [one.support for one in every],
            "exceptions": [one.exceptions for one in every],
            "share": [one.exceptions / one.support for one in every],
            "p": [one.p for one in every],
            "corrected": [one.corrected for one in every],
            "known": [isinstance(one, Constraint) and one.known for one in every],
        }

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Constraint]:
        return iter(self.found)

    def __getitem__(self, index: int) -> Constraint:
        return self.found[index]

    @property
    def headline(self) -> str:
        """How many constraints, between how many labels, in how many rows."""
        labels, rows = counted(self.schema.n_labels, "label"), counted(self.n_rows, "row")
        exceptions = f", with up to {self.tolerance:.0%} exceptions" if self.tolerance else ""
        return f"{counted(len(self), 'constraint')} between {labels} in {rows}{exceptions}"

    def _page(self) -> Iterator[Part]:
        every = self._every
        rows = [
            (one.kind, one.text, one.support, one.exceptions, f"{one.corrected:.2g}")
            for one in every[:20]
        ]
        head = "kind", "constraint", "rows", "exceptions", "corrected p"
        yield Excerpt(head, rows, len(every))

    def _parts(self) -> Iterator[Part]:
        parts: dict[str, tuple[object, ...]] = {
            "subset": self.of_kind("subset"),
            "implication": self.of_kind("implication"),
            "exclusion": self.of_kind("exclusion"),
            "equivalence": self.equivalences,
            "exclusive group": self.groups,
        }
        for kind, members in parts.items():
            if members:
                shown = first_lines(map(str, members[:SHOWN]), len(members))
                yield Lines([f"{kind}: {len(members)}", *shown])


def _merged(constraints: list[Constraint]) -> Rule:
    """Join constraints with one body in a rule."""
    constraints = sorted(constraints, key=lambda one: one.label)
    literals = {one.label: int(one.present) for one in constraints}
    first = constraints[0]
    head = Head(literals, first.schema.n_labels)
    return Rule(head, first.rule.body, evidence=tuple(one.evidence for one in constraints))
