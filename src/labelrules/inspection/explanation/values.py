"""Explanations as values; their text, sentences and HTML are made from these."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from labelrules._checks import counted, number, quoted, suggestion
from labelrules._types import Board
from labelrules.inspection.counterfactuals import Counterfactual
from labelrules.rules import Condition, Evidence, Rule, Theory


class Place(NamedTuple):
    """Where a rule stands in its theory."""

    number: int  #: Its number in its list, from 0; printed from 1.
    layer: int | None = None  #: Its layer, from 0; None if there is only one.
    is_fallback: bool = False  #: Whether it is in the list for rows without a label.

    @property
    def called(self) -> int:
        """The number by which people call the rule: from 1 in its list, or see `Theory.numbers`."""
        return self.number + 1

    def __str__(self) -> str:
        where = "" if self.layer is None else f" of layer {self.layer + 1}"
        where = " for rows without a label" if self.is_fallback else where
        return f"rule {self.called}{where}"


class NumberedPlace(Place):
    """A place in a theory whose rules people call by other numbers: equal to the place alone."""

    _called: int

    @classmethod
    def of(cls, place: Place, called: int) -> "NumberedPlace":
        """A place, and the number of its rule."""
        made = cls(*place)
        made._called = called
        return made

    @property
    def called(self) -> int:
        """The number by which people call the rule."""
        return self._called

    def __str__(self) -> str:
        return f"rule {self.called}"  # such numbers go through all layers


def place_in(part: Theory, place: Place) -> Place:
    """A place in a list or set of rules, with the number by which people call its rule."""
    if part.numbers is None:
        return place
    return NumberedPlace.of(place, part.numbers[place.number])


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimated precision of a rule for a label, with a confidence interval."""

    right: int  #: Cells that the rule wrote rightly.
    wrong: int  #: Cells that the rule wrote wrongly.
    probability: float  #: Laplace's estimate, (right + 1) / (right + wrong + 2).
    low: float  #: Lower end of Wilson's score interval for the share of right cells.
    high: float  #: Upper end of that interval.
    level: float  #: The confidence level of the interval.

    def __str__(self) -> str:
        return (
            f"right in {self.right} of {counted(self.right + self.wrong, 'cell')}: estimated "
            f"precision {self.probability:.2f} ({100 * self.level:g} % interval {self.low:.2f} to "
            f"{self.high:.2f})"
        )


def estimate(evidence: Evidence, level: float = 0.95) -> Estimate:
    """Estimate the precision of a prediction from its evidence.

    The interval is Wilson's: it stays within 0 and 1, and is useful for few cells too. It takes
    the cells for a sample, so it does not correct for rules being fitted to their training rows.

    Examples
    --------
    >>> print(estimate(Evidence(right=9, wrong=1)))
    right in 9 of 10 cells: estimated precision 0.83 (95 % interval 0.60 to 0.98)
    """
    level = number(level, "level", above=0, below=1)
    low, high = _wilson_interval(evidence.right, evidence.right + evidence.wrong, level)
    return Estimate(*evidence, evidence.probability(), low, high, level)


@cache
def _wilson_interval(right: int, n_cells: int, level: float) -> tuple[float, float]:
    """Cached: many rows share a rule, and SciPy makes a whole test for each interval."""
    from scipy.stats import binomtest  # takes long to import

    if not n_cells:
        return 0.0, 1.0
    low, high = binomtest(right, n_cells).proportion_ci(level, method="wilson")
    return float(low), float(high)


@dataclass(frozen=True, slots=True)
class CheckedCondition:
    """A condition, and the value that the row has."""

    condition: Condition
    text: str  #: In the rule language.
    name: str  #: The feature or label that is tested.
    value: float | str | None
    """Of a feature a number, a category, or None if missing; of a label "present", "absent", or
    "open" if no rule had written it yet."""
    holds: bool
    is_binary: bool = False  #: Whether a feature is tested that is either present or absent.


@dataclass(frozen=True, slots=True)
class CheckedRule:
    """A rule that predicts a label, with its conditions checked for the row."""

    place: Place
    rule: Rule
    text: str  #: In the rule language.
    value: int  #: What it predicts for the label.
    votes: int  #: Its votes in a rule set.
    conditions: tuple[CheckedCondition, ...]

    def __repr__(self) -> str:
        return f"CheckedRule({self.place}: {self.text})"

    @property
    def points(self) -> int:
        """Its votes, negative if they are against the label."""
        return self.votes if self.value else -self.votes

    @property
    def failing(self) -> tuple[CheckedCondition, ...]:
        """The conditions that the row does not satisfy."""
        return tuple(checked for checked in self.conditions if not checked.holds)


@dataclass(frozen=True, slots=True)
class ChainNode:
    """A label or a rule in the dependency graph of a label."""

    key: str  #: Unique in its graph.
    kind: Literal["label", "rule"]
    name: str  #: The name of the label, or the text of the rule.
    value: int | None = None  #: Of a label: 1 if present, 0 if absent.
    place: Place | None = None  #: Of a rule.
    layer: int | None = None  #: The layer that wrote a label.
    conditions: tuple[CheckedCondition, ...] = ()  #: Of a rule.


class ChainLink(NamedTuple):
    """From a label to a rule that tests it, or from a rule to a label that it wrote: two keys."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Chain:
    """The labels and rules that a label depends on, as a graph."""

    nodes: tuple[ChainNode, ...]  #: The first is the label itself.
    links: tuple[ChainLink, ...]
    cycle: tuple[str, ...] = ()  #: Labels that depend on themselves in a layer that reads itself.
    initial: tuple[ChainNode, ...] = ()
    """The values of these labels before that: those of the layer before or, if there is none, of
    the first round (their layer is None), with the place of the rule that wrote them."""

    def __repr__(self) -> str:
        return f"Chain({self.nodes[0].name!r}: {counted(len(self.nodes), 'node')})"

    def before(self, key: str) -> Iterator[ChainNode]:
        """The nodes with a link to this one."""
        sources = {link.source for link in self.links if link.target == key}
        return (node for node in self.nodes if node.key in sources)

    def labels(self) -> Iterator[tuple[ChainNode, list[ChainNode]]]:
        """The other labels of the graph, each with the rules that wrote it."""
        for node in self.nodes[1:]:
            if node.kind == "label":
                yield node, list(self.before(node.key))


class StoppingRule(NamedTuple):
    """A rule that ended its list."""

    place: Place
    text: str


class SupportingRows(NamedTuple):
    """Training rows on which the same rule wrote the same label, by their numbers."""

    right: tuple[int, ...]
    wrong: tuple[int, ...]


class RowChoice(NamedTuple):
    """How a rule set with usual label sets, or at least one label, chose the labels of a row."""

    kind: Literal["points", "most points", "label set"]
    """Labels with more than 0 points; if there is none, the one with the most; or a usual set."""
    labels: tuple[str, ...]  #: The labels that the row gets.
    points: tuple[int, ...]  #: The points of each of them.
    bonus: int  #: That of the usual set, otherwise 0.
    own_labels: tuple[str, ...]  #: The labels that the row would get without usual sets.
    own_total: int  #: The points of these.

    @property
    def total(self) -> int:
        """The points of the labels that the row gets, with the bonus."""
        return sum(self.points) + self.bonus


Decided: TypeAlias = Literal["rule", "vote", "label set", "most points", "default", "sampled"]
"""What decided a label: a rule; its points ("vote"), a usual label set, or having the most points
of a row without a label; no rule ("default": it is absent); or samples."""


@dataclass(frozen=True, slots=True)
class LabelExplanation:
    """Why one label of a row is predicted present or absent."""

    label: str
    predicted: int
    decided: Decided
    rule: CheckedRule | None  #: The rule that wrote it.
    votes: tuple[CheckedRule, ...]  #: In a rule set, the covering rules that predict the label.
    choice: RowChoice | None  #: If a rule set decides all labels of the row together: how.
    chain: Chain  #: The labels and rules that it depends on.
    estimate: Estimate | None  #: The estimated precision of the rule.
    presence: float | None  #: If the label was sampled, the probability that it is present.
    later: tuple[CheckedRule, ...]
    """Rules after the one that wrote it that predict the label too and whose bodies hold, on the
    board as it was at their turn."""
    near: tuple[CheckedRule, ...]  #: Rules that predict the label and fail by just one condition.
    closest: CheckedRule | None
    """Of an absent label, the rule for its presence with the fewest failing conditions. If none
    fails, another rule has decided the label before. None if no rule predicts its presence."""
    ended: StoppingRule | None  #: The rule that ended the list before any predicted the label.
    rows: SupportingRows | None  #: Training rows on which the rule wrote the label.
    counterfactual: Counterfactual | None  #: The smallest change that changes the label.

    @property
    def points(self) -> int:
        """Votes for presence minus votes for absence."""
        return sum(rule.points for rule in self.votes)

    @property
    def n_for(self) -> int:
        """Votes for presence."""
        return sum(rule.votes for rule in self.votes if rule.value)

    @property
    def n_against(self) -> int:
        """Votes for absence."""
        return sum(rule.votes for rule in self.votes if not rule.value)

    def sentence(self) -> str:
        """The explanation in plain English."""
        from labelrules.inspection.explanation.writer import Writer

        return Writer().label_sentences(self)

    def __repr__(self) -> str:
        state = "present" if self.predicted else "absent"
        by = self.decided if self.rule is None else self.rule.place
        return f"LabelExplanation({self.label!r} {state}, by {by})"

    def __str__(self) -> str:
        from labelrules.inspection.explanation.writer import Writer

        return "\n".join(Writer().label_lines(self))

    def _repr_html_(self) -> str:
        from labelrules.inspection.explanation.html import label_html

        return label_html(self)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Why a row gets its labels."""

    theory: Theory
    row: int
    values: tuple[float | str | None, ...]  #: Numbers and categories; None where missing.
    board: Board  #: The labels predicted, 0 or 1; all of them, explained or not.
    labels: tuple[LabelExplanation, ...]
    unsettled: tuple[str, ...] = ()  #: Labels that never settled: those of the first round stay.

    @property
    def present(self) -> tuple[str, ...]:
        """The names of the labels that are predicted present."""
        names = self.theory.schema.labels
        return tuple(name for name, cell in zip(names, self.board, strict=True) if cell)

    def __getitem__(self, label: str) -> LabelExplanation:
        for one in self.labels:
            if one.label == label:
                return one
        names = [one.label for one in self.labels]
        raise KeyError(f"no label {quoted(label)} is explained{suggestion(str(label), names)}")

    def __iter__(self) -> Iterator[LabelExplanation]:
        return iter(self.labels)

    def __len__(self) -> int:
        return len(self.labels)

    def text(self, details: bool = False, width: int | None = None) -> str:
        """The explanation on one screen: labels that the row gets, then the absent ones in short.

        Parameters
        ----------
        details : bool, default=False
            Whether to print all that is known of every label instead, which may be long.
        width : int, optional
            Where lines are wrapped: by default at the width of the terminal, or at 100 characters
            if there is none. Details are not wrapped.
        """
        if details:
            from labelrules.inspection.explanation.writer import Writer

            return "\n".join(Writer().row_lines(self))
        from labelrules.inspection.explanation.screen import screen_text

        return screen_text(self, width)

    def sentences(self, details: bool = False) -> str:
        """The explanation in plain English: a paragraph on each label that the row gets.

        With `details` on the absent labels, too.
        """
        from labelrules.inspection.explanation.writer import Writer

        return Writer().row_sentences(self, details)

    def html(self) -> str:
        """A page of its own, which fetches nothing from elsewhere."""
        from labelrules.inspection.explanation.html import explanation_page

        return explanation_page(self)

    def __repr__(self) -> str:
        labels = ", ".join(self.present) or "no label"
        return f"Explanation(row {self.row}: {labels}; {counted(len(self), 'label')} explained)"

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        from labelrules.inspection.explanation.html import explanation_html

        return explanation_html(self)
