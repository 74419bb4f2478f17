"""What the covering loop asks of the training rows, whoever counts them."""

from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers, Mask
from labelrules.data import Schema
from labelrules.learners.base.theory_classifier import Background
from labelrules.learners.covering.board import LabelCounts
from labelrules.learners.covering.pruning import Prefixes
from labelrules.learners.covering.settings import Settings
from labelrules.rules import DecisionList, Evidence, Head, LayeredTheory, Rule
from labelrules.search.bodies.grow import Grown, Growth, Refinements

Values: TypeAlias = npt.NDArray[np.int8]
"""For each label the values that heads may have: 1 absent, 2 present, 3 both."""


class RuleSearch(Protocol):
    """A search for rules; it keeps what it has found for labels whose cells have not changed."""

    merging: bool
    """Whether labels that are equally good make up one head."""
    beam_width: int

    @property
    def stale(self) -> Mask:
        """For each label whether its cells have changed."""

    def refinements(self, growth: Growth) -> Refinements:
        """How bodies are refined, as the cells are now."""

    def drop(self, label: int) -> None:
        """Expect no rule for a label any more."""

    def exclude(self, label: int) -> None:
        """Count the cells of a label no longer, if heads are searched for as a whole."""

    def close(self) -> None:
        """End threads."""


class TrainingRows(Protocol):
    """The rows that a list is learned from, and what its rules have written."""

    schema: Schema
    n_conditions: int
    """How many conditions there are to choose from."""
    n_values: Integers
    """Of each column how many different values it has."""

    @property
    def board(self) -> LabelCounts:
        """What is known, open and written."""

    def replay(self, rules: list[Rule]) -> list[Rule]:
        """Write these rules and no other; returns them with their evidence."""

    def hold_out(self, share: float, seed: int) -> None:
        """Search for rules without some of the rows."""

    def search(self, settings: Settings, values: Values) -> RuleSearch:
        """A search for rules whose heads have these values, which may change."""

    def prefixes(self, grown: Grown) -> Prefixes:
        """What the first conditions of a rule cover."""

    def write(self, grown: Grown, search: RuleSearch) -> Rule:
        """Write a rule, and tell the search what that changes."""

    def wait(self) -> "WaitingRows":
        """The rows in which no label was found."""

    def write_default(self, head: Head) -> Rule:
        """Write a head into all open cells."""

    def settled(self, theory: DecisionList | LayeredTheory) -> DecisionList | LayeredTheory:
        """The finished theory, with all evidence."""

    def background(self, theory: DecisionList | LayeredTheory) -> Background | None:
        """The cells that a finished theory has not written; None if that is not known here."""

    @property
    def known_cells(self) -> tuple[Integers, Integers] | None:
        """For each label the rows in which it is known, and those that have it, if counted."""

    def close(self) -> None:
        """End threads, and whatever else was only for learning."""


class WaitingRows(TrainingRows, Protocol):
    """The rows in which no label was found: their known cells are open, none is written.

    The rows that a rule covers leave.
    """

    def n_decided_and_bare(self) -> tuple[int, int]:
        """The rows of which it is known whether they have a label, and those that have none."""

    def evidence(self, grown: Grown) -> Evidence:
        """The right and wrong cells of a rule for one label, in units."""

    def n_bare(self, grown: Grown) -> int:
        """The covered rows that are known to have no label."""
