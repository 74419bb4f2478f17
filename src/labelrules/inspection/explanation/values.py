"""Why a row gets its labels, as data; its text, page and sentences are made from it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from labelrules._checks import quoted, suggestion
from labelrules._types import Board
from labelrules.inspection.counterfactuals.search import Counterfactual
from labelrules.inspection.estimates import Estimate
from labelrules.rules import Condition, Rule, Theory


class Place(NamedTuple):
    """Where a rule stands in its theory.

    Attributes
    ----------
    number : int
        Its number in its list, from 0; printed from 1.
    layer : int, optional
        Its layer, from 0; None if there are no layers.
    is_fallback : bool
        Whether it is in the list for rows without labels.
    """

    number: int
    layer: int | None = None
    is_fallback: bool = False

    def __str__(self) -> str:
        where = "" if self.layer is None else f" of layer {self.layer + 1}"
        where = " for rows without labels" if self.is_fallback else where
        return f"rule {self.number + 1}{where}"


@dataclass(frozen=True, slots=True)
class ConditionSeen:
    """A condition and what the row had to say to it.

    Attributes
    ----------
    condition : Condition
    text : str
        In the rule language.
    name : str
        The feature or label that is tested.
    value : float, str or None
        What the row has: a number, a category, None if it is missing; of a label "present",
        "absent" or "open", if it was not written yet.
    holds : bool
    """

    condition: Condition
    text: str
    name: str
    value: float | str | None
    holds: bool


@dataclass(frozen=True, slots=True)
class RuleSeen:
    """A rule that speaks of a label, and how its conditions stood for the row.

    Attributes
    ----------
    place : Place
    rule : Rule
    text : str
        In the rule language.
    value : int
        What it says of the label.
    votes : int
        How many votes it has in a rule set.
    conditions : tuple of ConditionSeen
    """

    place: Place
    rule: Rule
    text: str
    value: int
    votes: int
    conditions: tuple[ConditionSeen, ...]

    @property
    def failing(self) -> tuple[ConditionSeen, ...]:
        """The conditions that the row does not satisfy."""
        return tuple(seen for seen in self.conditions if not seen.holds)


@dataclass(frozen=True, slots=True)
class ChainNode:
    """A label or a rule in the graph of what a label depended on.

    Attributes
    ----------
    key : str
        Unique in its graph.
    kind : {"label", "rule"}
    name : str
        The name of the label, the text of the rule.
    value : int, optional
        Of a label: present or absent.
    place : Place, optional
        Of a rule.
    layer : int, optional
        The layer that has written a label.
    conditions : tuple of ConditionSeen
        Of a rule.
    """

    key: str
    kind: Literal["label", "rule"]
    name: str
    value: int | None = None
    place: Place | None = None
    layer: int | None = None
    conditions: tuple[ConditionSeen, ...] = ()


class ChainLink(NamedTuple):
    """From a label to a rule that tests it, or from a rule to a label that it wrote: two keys."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The labels and rules that a label depended on, as a graph.

    Attributes
    ----------
    nodes : tuple of Node
        The first is the label itself.
    links : tuple of Link
    circle : tuple of str
        Labels that depend on themselves, since a layer has read its own labels until nothing
        changed.
    began : tuple of Node
        What these labels were before that, in the layer before or, if there is none, in the
        first round (their layer is None), with the place of the rule that wrote it.
    """

    nodes: tuple[ChainNode, ...]
    links: tuple[ChainLink, ...]
    circle: tuple[str, ...] = ()
    began: tuple[ChainNode, ...] = ()

    def before(self, key: str) -> Iterator[ChainNode]:
        """The nodes from which a link leads to this one."""
        sources = {link.source for link in self.links if link.target == key}
        return (node for node in self.nodes if node.key in sources)


class Ending(NamedTuple):
    """A rule that has ended its list: where it stands and what it says."""

    place: Place
    text: str


class SupportingRows(NamedTuple):
    """Training rows on which the same rule wrote the same label, by their numbers."""

    right: tuple[int, ...]
    wrong: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LabelExplanation:
    """Why a row gets or does not get one label; printing it tells why.

    Attributes
    ----------
    label : str
    predicted : int
    decided : {"rule", "vote", "nobody", "sampled"}
        Who has decided it. What nobody decides is absent.
    rule : RuleSeen, optional
        The rule that wrote it.
    votes : tuple of RuleSeen
        In a rule set, the rules that fire and speak of the label.
    chain : Chain
        The labels and rules that it depended on.
    estimate : Estimate, optional
        How probably the rule is right, by its evidence.
    presence : float, optional
        If the label was sampled, how probably it is present.
    later : tuple of RuleSeen
        Rules behind the one that wrote it that speak of the label, and whose bodies hold for the
        row on the board as it stood at their turn.
    near : tuple of RuleSeen
        Rules that speak of the label and fail by just one condition.
    ended : Ending, optional
        The rule that ended the list before any spoke of the label.
    rows : Rows, optional
        Training rows on which the rule wrote this label; None without training data.
    counterfactual : Counterfactual, optional
        The smallest change that changes the label, if it was asked for.
    """

    label: str
    predicted: int
    decided: Literal["rule", "vote", "nobody", "sampled"]
    rule: RuleSeen | None
    votes: tuple[RuleSeen, ...]
    chain: Chain
    estimate: Estimate | None
    presence: float | None
    later: tuple[RuleSeen, ...]
    near: tuple[RuleSeen, ...]
    ended: Ending | None
    rows: SupportingRows | None
    counterfactual: Counterfactual | None

    @property
    def n_for(self) -> int:
        """Votes for presence."""
        return sum(rule.votes for rule in self.votes if rule.value)

    @property
    def n_against(self) -> int:
        """Votes for absence."""
        return sum(rule.votes for rule in self.votes if not rule.value)

    def sentence(self) -> str:
        """Why, in plain English."""
        from labelrules.inspection.explanation.text import label_sentence

        return label_sentence(self)

    def __str__(self) -> str:
        from labelrules.inspection.explanation.text import label_lines

        return "\n".join(label_lines(self))


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a row gets its labels; printing it tells why, label by label.

    Attributes
    ----------
    theory : Theory
    row : int
    values : tuple of (float, str or None)
        The features of the row: numbers and categories, None where missing.
    board : array of int8
        The labels predicted, 0 or 1; all of them, explained or not.
    labels : tuple of LabelExplanation
    moving : tuple of str
        Labels that had not settled when the last layer had read its own labels as often as it
        may: what it said first is kept.
    """

    theory: Theory = field(repr=False)
    row: int
    values: tuple[float | str | None, ...] = field(repr=False)
    board: Board = field(repr=False)
    labels: tuple[LabelExplanation, ...]
    moving: tuple[str, ...] = ()

    def __getitem__(self, label: str) -> LabelExplanation:
        """Why the row gets or does not get this label."""
        for one in self.labels:
            if one.label == label:
                return one
        names = [one.label for one in self.labels]
        raise KeyError(f"no label {quoted(label)} is explained{suggestion(str(label), names)}")

    def __iter__(self) -> Iterator[LabelExplanation]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def sentences(self) -> str:
        """Why, in plain English: which labels the row gets, and a paragraph on each."""
        from labelrules.inspection.explanation.text import row_sentences

        return row_sentences(self)

    def html(self) -> str:
        """A page of its own: no style, script or picture comes from elsewhere."""
        from labelrules.inspection.explanation.html import explanation_page

        return explanation_page(self)

    def _repr_html_(self) -> str:
        from labelrules.inspection.explanation.html import explanation_part

        return explanation_part(self)

    def __str__(self) -> str:
        from labelrules.inspection.explanation.text import row_lines

        return "\n".join(row_lines(self))
