"""Theories: decision lists, whose rules have an order, and rule sets, whose rules vote."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted, truth_value, whole_number
from labelrules._types import UNSET, Board, Floats, Integers, Matrix
from labelrules._wings import blocks_of
from labelrules.data.errors import DataError
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.rows import Partitions
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset
from labelrules.rules.rule import MOST_VOTES, Evidence, Rule, check_rule

if TYPE_CHECKING:
    from labelrules.rules.inference import Inference


def closed(board: Board) -> Board:
    """The board with its open cells set to 0, absent."""
    return np.where(board == UNSET, np.int8(0), board)


def start_board(board: Board | None, X: Matrix, schema: Schema) -> Board:
    """An empty board for the rows of X, or a copy of the given one."""
    if board is None:
        return np.full((X.shape[0], schema.n_labels), UNSET)
    return checked_board(board, X, schema, "board").copy()


def checked_board(board: Any, X: Matrix | Board, schema: Schema, name: str) -> Board:
    """A board given by the user, as int8; its shape and values must fit."""
    cells = np.asarray(board)
    expected = (X.shape[0], schema.n_labels)
    if cells.shape != expected:
        raise ValueError(f"{name} has the shape {cells.shape}, expected {expected}")
    if not np.isin(cells, [0, 1, int(UNSET)]).all():
        raise ValueError(f"{name} has cells other than 0, 1 and UNSET (-1)")
    return cells.astype(np.int8)


class Run(NamedTuple):
    """The board that a decision list has written, and which rule wrote what."""

    board: Board
    """The board after the last rule; cells that no rule wrote are `UNSET`."""
    writer: npt.NDArray[np.int32]
    """For each cell the rule that wrote it, -1 if none did."""
    stopped: npt.NDArray[np.int32]
    """For each row the stopping rule that fired on it, -1 if none did."""

    @property
    def parts(self) -> "tuple[Run, ...]":
        """The runs of the parts of a theory: this one alone."""
        return (self,)

    @classmethod
    def by_none(cls, board: Board) -> "Run":
        """A board of which no rule wrote a cell alone, and none ended a row."""
        none = np.full(board.shape, -1, dtype=np.int32), np.full(len(board), -1, dtype=np.int32)
        return cls(board, *none)

    def before(self, number: int, labels: int | slice = slice(None)) -> Board:
        """The board, or columns of it, as the rules before the one with this number left it."""
        board, writer = self.board[:, labels], self.writer[:, labels]
        return np.where((writer >= 0) & (writer < number), board, UNSET)

    def counts(self, truth: Board, n_rules: int, weights: Floats | None = None) -> Integers:
        """The right and the wrong cells that each rule wrote: two by labels by rules.

        Cells of which the truth is unknown are neither; sums of weights are rounded.
        """
        counts = np.empty((2, self.board.shape[1], n_rules), dtype=np.int64)
        for label in range(self.board.shape[1]):
            own = weights[:, label] if weights is not None and weights.ndim == 2 else weights
            writer = self.writer[:, label]
            written = (writer >= 0) & (truth[:, label] != UNSET)
            right = self.board[:, label] == truth[:, label]
            for place, cells in enumerate((written & right, written & ~right)):
                each = None if own is None else own[cells]
                counts[place, label] = np.rint(np.bincount(writer[cells], each, minlength=n_rules))
        return counts

    def __repr__(self) -> str:
        n_rows, n_labels = self.board.shape
        n_written = int((self.board != UNSET).sum())
        return f"<Run: {n_written} of {n_rows} x {n_labels} cells written>"


@dataclass(frozen=True, repr=False)
class Theory:
    """Base class of theories: rules over one schema; use `DecisionList` or `RuleSet`."""

    schema: Schema
    rules: tuple[Rule, ...] = ()

    ordered: ClassVar[bool]
    numbers: ClassVar[tuple[int, ...] | None] = None
    """The numbers by which people call the rules, if these are some of a longer list."""

    def __init__(self, schema: Schema, rules: Iterable[Rule] = ()) -> None:
        if not isinstance(schema, Schema):
            raise ValueError(
                f"a theory needs a Schema, not {type(schema).__name__}: give data.schema"
            )
        object.__setattr__(self, "schema", schema)
        object.__setattr__(self, "rules", tuple(rules))
        for number, rule in enumerate(self.rules):
            check_rule(rule, schema, f"rule {number + 1}")

    def apply(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Board:
        """Write the rules' predictions into the empty cells of a board.

        Parameters
        ----------
        X : array, sparse matrix, frame or Dataset
            Rows, encoded with the schema of the theory.
        board : array of int8, optional
            Cells written already (0 or 1) or still open (`UNSET`), by default all; not changed.
        reads : array of int8, optional
            Another board on which the conditions on labels are tested, such as the predictions of a
            first layer; by default the board that is being written.

        Returns
        -------
        array of int8
            The board with the predictions; cells that no rule writes stay `UNSET`.
        """
        raise NotImplementedError

    def predict(self, X: Any) -> Board:
        """The labels of each row, 0 or 1; a cell that no rule writes becomes 0."""
        return closed(self.apply(X))

    def to_frame(self, library: str = "pandas", *, per: str = "rule") -> Any:
        """The theory as a data frame, in the order of its rules.

        Columns per rule: `layer`, `is_fallback`, `number` (in its layer, from 1), `head`
        and `body` as text, `n_labels`, `n_conditions`, `n_literals`, `right` and `wrong` (sums over
        the head; missing unless all its labels have evidence), `votes` (sum over the head; missing
        where rules have an order), `stops`, the form of the rule: `polarity`, `extent`,
        `dependence`, `constraint`; and `note`.
        Columns per label: `layer`, `is_fallback`, `number`, `label`, `present`, `right`, `wrong`,
        `votes`, `body`. Columns per label set of rule sets: `layer`, `labels`, `n_labels`, `bonus`.

        A theory without layers is its own layer 1; the fallback counts as a layer after the last.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            The library of the frame, which must be installed.
        per : {"rule", "label", "label set"}, default="rule"
            Whether a row is a rule, a label in the head of a rule, or a usual label set.

        Examples
        --------
        >>> from labelrules import load, parse
        >>> text = "quality, not sports <- sex = Male (6/1, 5/2)"
        >>> theory = parse(text, load("magazines").schema)
        >>> theory.to_frame()[["head", "body", "right", "wrong"]]
                          head        body  right  wrong
        0  quality, not sports  sex = Male     11      3
        >>> theory.to_frame(per="label")[["label", "present", "right", "wrong"]]
             label  present  right  wrong
        0  quality     True      6      1
        1   sports    False      5      2
        """
        from labelrules.rules.views.frame import frame_of_theory

        return frame_of_theory(self, library, per)

    @property
    def layers(self) -> tuple["Theory", ...]:
        """The theories that are applied one after the other: this one alone."""
        return (self,)

    @property
    def fallback(self) -> "DecisionList | None":
        """The list for rows without labels, of a layered theory."""
        return None

    @property
    def inference(self) -> "Inference":
        """How the last layer is applied."""
        from labelrules.rules.inference import Once  # inference needs theories

        return Once()

    @property
    def parts(self) -> tuple["Theory", ...]:
        """The layers, and after them the list for rows without labels, if there is one."""
        return self.layers if self.fallback is None else (*self.layers, self.fallback)

    @property
    def n_conditions(self) -> int:
        """Number of conditions in all bodies."""
        return sum(rule.n_conditions for rule in self.rules)

    @property
    def n_literals(self) -> int:
        r"""Size of the theory: conditions in bodies and labels in heads, of all its parts.

        Of a rule with an empty body only the labels that it predicts present are counted. The
        labels of usual label sets are counted, too.

        Examples
        --------
        >>> from labelrules import load, parse
        >>> text = "quality, not sports <- sex = Male\nnot tabloid, fashion <- true"
        >>> theory = parse(text, load("magazines").schema)
        >>> theory.n_conditions, theory.n_literals
        (1, 4)
        """
        return sum(rule.n_literals for rule in self.rules)

    def with_parts(self, parts: Iterable[Any]) -> "Theory":
        """Replace the parts: of a list or a set by another one."""
        (part,) = parts
        return part  # type: ignore[no-any-return]

    def as_full_predictions(self) -> Self:
        """Complete every head by the absence of the other labels."""
        return self.with_rules(rule.as_full_prediction() for rule in self.rules)

    def with_rules(self, rules: Iterable[Rule]) -> Self:
        """Replace the rules."""
        return replace(self, rules=tuple(rules))

    def numbered(self, numbers: Iterable[int] | None) -> Self:
        r"""Let explanations and findings call the rules by other numbers.

        Theories are equal whatever these numbers, and files do not have them. Other rules in the
        place of these are counted from 1.

        Examples
        --------
        >>> from labelrules import explain, load, parse
        >>> readers = load("magazines")
        >>> theory = parse("quality <- sex = Female\nsports <- sex = Male", readers.schema)
        >>> explain(theory.numbered([2, 5]), readers, 0)["sports"].rule.place.called
        5
        """
        found = None if numbers is None else tuple(numbers)
        if found is not None and len(found) != len(self):
            raise ValueError(f"{len(found)} numbers were given for {counted(len(self), 'rule')}")
        other = copy(self)
        object.__setattr__(other, "numbers", found)
        return other

    def called(self, place: int) -> int:
        """The number by which people call the rule in a place, which is counted from 0."""
        return place + 1 if self.numbers is None else self.numbers[place]

    def rename(self, names: Mapping[str, str]) -> Self:
        r"""Rename features and labels: from old names to new ones.

        Examples
        --------
        >>> from labelrules import load, parse
        >>> theory = parse("sports <- sex = Male  # note: as expected", load("magazines").schema)
        >>> print(theory.rename({"sports": "Sport", "sex": "gender"}))
        Sport <- gender = Male  # note: as expected
        """
        return self.over(self.schema.rename(names))

    def over(self, schema: Schema) -> Self:
        """Name features and labels as another schema does, whose columns are equal but for that."""
        return replace(self, schema=schema)

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> "Rule | Self":
        if isinstance(index, slice):
            return self.with_rules(self.rules[index])
        return self.rules[index]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.size_text} for {self._labels_text}>"

    @property
    def size_text(self) -> str:
        """The numbers of rules and literals, in words."""
        return f"{counted(len(self), 'rule')}, {counted(self.n_literals, 'literal')}"

    @property
    def _labels_text(self) -> str:
        return counted(self.schema.n_labels, "label")

    def __str__(self) -> str:
        from labelrules.rules.language.text import theory_text

        return theory_text(self)

    def _repr_html_(self) -> str:
        """The theory as notebooks display it."""
        from labelrules.rules.views.html import SHOWN_IN_NOTEBOOKS, theory_html

        return theory_html(self, max_rules=SHOWN_IN_NOTEBOOKS)


class DecisionList(Theory):
    r"""Rules in order: the first to write a cell decides it.

    A rule fires on a row if its body holds on the features and on the board as the rules before it
    left it. It then writes the labels of its head that are still open, and if it carries the stop
    mark the row is finished.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("not fashion <- sex = Male\nfashion <- true", readers.schema)
    >>> theory.predict(readers)[:, 2]
    array([0, 0, 0, 1, 1, 0, 0, 1, 1, 0, 1, 0, 0, 0], dtype=int8)
    """

    ordered = True

    def __init__(self, schema: Schema, rules: Iterable[Rule] = ()) -> None:
        super().__init__(schema, rules)
        for number, rule in enumerate(self.rules):
            if rule.votes is not None:
                raise ValueError(
                    f"rule {number + 1} casts several votes, but in a list the first rule decides: "
                    "use a RuleSet"
                )

    def apply(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Board:
        """Apply the rules in order; the first to write a cell decides it."""
        return self.run(X, board, reads=reads).board

    def run(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Run:
        """Apply the rules; the result names the rule that wrote each cell and ended each row."""
        matrix = encode(X, self.schema)
        run = Run.by_none(start_board(board, matrix, self.schema))
        seen = run.board if reads is None else checked_board(reads, matrix, self.schema, "reads")
        for number, rule in enumerate(self.rules):
            fires = rule.body.covers(matrix, seen) & (run.stopped < 0)
            for label, value in rule.head:
                written = fires & (run.board[:, label] == UNSET)
                run.board[written, label] = value
                run.writer[written, label] = number
            if rule.stops:
                run.stopped[fires] = number
        return run

    def with_evidence(self, X: Any, Y: Any = None) -> "DecisionList":
        """The list with evidence counted on the cells that each rule writes.

        X and Y may be collections of Dask; rows that bring their labels, a `Dataset` or
        `Partitions`, need no Y.
        """
        counted: DecisionList = evidence_on(X, Y, self._counted)
        return counted

    def _counted(self, X: Any, Y: Any) -> "DecisionList":
        run = self.run(X)
        truth = encode_labels(Y, self.schema)
        if len(truth) != len(run.board):
            raise ValueError(f"X has {len(run.board)} rows but Y has {len(truth)}")
        return self.with_counts(run, truth, getattr(X, "weights", None))

    def plus(self, other: "DecisionList") -> "DecisionList":
        """Add the evidence of this list on other rows."""
        return self.with_rules(map(Rule.plus, self.rules, other.rules))

    def with_counts(self, run: Run, truth: Board, weights: Floats | None = None) -> "DecisionList":
        """Take the evidence from a run of the list; of weighted rows the sum, rounded."""
        counts = run.counts(truth, len(self), weights)
        rules = [
            rule.with_evidence(
                Evidence(*counts[:, label, n].tolist()) for label in rule.head.labels
            )
            for n, rule in enumerate(self.rules)
        ]
        return DecisionList(self.schema, rules).numbered(self.numbers)


def evidence_on(
    X: Any, Y: Any, count: Callable[[Any, Any], Any], *, needs_all: bool = False
) -> Any:
    """What a theory counts in all rows of X and their labels Y, which X may bring."""
    brings_labels = Y is None and isinstance(X, Dataset | Partitions)
    blocks = X if brings_labels else blocks_of(X=X, Y=Y)
    if needs_all and not blocks.in_memory:
        raise DataError("sampling needs all rows in memory to count evidence")
    return blocks.total(partial(_in_block, count) if brings_labels else count, "counting evidence")


def _in_block(count: Callable[[Any, Any], Any], block: Dataset) -> Any:
    return count(block, block.Y)


def run_of(
    runner: Any, X: Any, board: Board | None = None, reads: Board | None = None, **options: Any
) -> Run:
    """Apply a list or a set, itself or its table; the rules of a set vote, so that none writes."""
    if runner.ordered:
        return runner.run(X, board, reads=reads, **options)  # type: ignore[no-any-return]
    return Run.by_none(runner.apply(X, board, reads=reads, **options))


class LabelSet(NamedTuple):
    """Labels that often occur together, and the points that a row gains by having no others."""

    labels: tuple[int, ...]
    bonus: int


class RuleSet(Theory):
    r"""Rules without order: those that fire on a row give points to labels, which are added up.

    Conditions on labels are tested on the board as it was before any rule of the set. A rule gives
    each label of its head one point for presence or absence, or the number in `Rule.votes`. More
    points for presence than for absence write 1, otherwise 0; a label without points stays open.
    With a rule for all rows (``<- true``) such a set is a scorecard.

    Parameters
    ----------
    schema : Schema
    rules : iterable of Rule
        None with a stop mark, which needs an order.
    label_sets : iterable of LabelSet
        Usual label sets. A row gets the one with the most points, those of its labels plus its
        bonus, if these are no fewer than the points of the labels that the row would get otherwise.
    at_least_one : bool, default=False
        Whether rows that would get no label get the one with the most points, the first of several.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("in any order:\nsports <- marital = Divorced", readers.schema)
    >>> theory.apply(readers)[3]
    array([-1, -1, -1,  1], dtype=int8)
    """

    label_sets: tuple[LabelSet, ...]
    at_least_one: bool
    ordered = False

    def __init__(
        self,
        schema: Schema,
        rules: Iterable[Rule] = (),
        label_sets: Iterable[LabelSet] = (),
        at_least_one: bool = False,
    ) -> None:
        super().__init__(schema, rules)
        object.__setattr__(self, "label_sets", _checked_sets(label_sets, schema.n_labels))
        object.__setattr__(self, "at_least_one", truth_value(at_least_one, "at_least_one"))
        for number, rule in enumerate(self.rules):
            if rule.stops:
                raise ValueError(
                    f"rule {number + 1} has a stop mark, but a rule set has no order: "
                    "use a DecisionList"
                )

    @property
    def n_literals(self) -> int:
        """Size of the set: conditions, labels in heads, and labels in usual label sets."""
        return super().n_literals + sum(len(labels) for labels, _ in self.label_sets)

    @property
    def gives_points(self) -> bool:
        """Whether the votes are shown as points: not if each rule has one vote on each label."""
        return self.decides_rows or any(rule.votes is not None for rule in self.rules)

    @property
    def decides_rows(self) -> bool:
        """Whether labels are decided together, row by row, and not each by its own points."""
        return self.at_least_one or bool(self.label_sets)

    def with_rules(self, rules: Iterable[Rule]) -> "RuleSet":
        """Replace the rules; usual label sets stay."""
        return RuleSet(self.schema, rules, self.label_sets, self.at_least_one)

    def over(self, schema: Schema) -> "RuleSet":
        """Name features and labels as another schema does, whose columns are equal but for that."""
        return RuleSet(schema, self.rules, self.label_sets, self.at_least_one)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same rules, each as often, in any order, and label sets."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        same = self.label_sets == other.label_sets and self.at_least_one == other.at_least_one
        return same and self.schema == other.schema and Counter(self.rules) == Counter(other.rules)

    def __hash__(self) -> int:
        return hash((self.schema, frozenset(Counter(self.rules).items())))

    def apply(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Board:
        """Let the rules vote on the open cells of a board."""
        matrix = encode(X, self.schema)
        board = start_board(board, matrix, self.schema)
        seen = board if reads is None else checked_board(reads, matrix, self.schema, "reads")
        absent, present = self._counted(matrix, seen)
        if self.decides_rows:
            open_cells = board == UNSET
            board[open_cells] = self.decided(present - absent)[open_cells]
            return board
        decided = (board == UNSET) & (present + absent > 0)
        board[decided] = (present > absent)[decided]
        return board

    def decided(self, points: Integers) -> Board:
        """The labels by the points of all labels, rows by labels: 0 or 1."""
        chosen = points > 0
        if self.at_least_one and points.shape[1]:
            none = ~chosen.any(axis=1)
            chosen[none, points[none].argmax(axis=1)] = True
        best = np.where(chosen, points, 0).sum(axis=1)
        for labels, bonus in reversed(self.label_sets):  # of equal ones the first is taken
            total = points[:, labels].sum(axis=1) + bonus
            better = total >= best
            members = np.zeros(points.shape[1], dtype=np.bool_)
            members[list(labels)] = True
            chosen[better], best[better] = members, total[better]
        return chosen.astype(np.int8)

    def margin(self, X: Any, *, reads: Board | None = None) -> Integers:
        r"""Votes for presence minus votes for absence, rows by labels.

        `reads` is the board on which conditions on labels are tested, by default an empty one.

        Examples
        --------
        >>> from labelrules import load, parse
        >>> readers = load("magazines")
        >>> text = "in any order:\nsports +3 <- marital = Divorced\nsports -2 <- true"
        >>> parse(text, readers.schema).margin(readers)[:4, 3]
        array([-2, -2, -2,  1])
        """
        matrix = encode(X, self.schema)
        absent, present = self._counted(matrix, start_board(reads, matrix, self.schema))
        margin: Integers = present - absent
        return margin

    def _counted(self, matrix: Matrix, seen: Board) -> Integers:
        """The votes for absence and for presence."""
        votes = np.zeros((2, *seen.shape), dtype=np.int64)
        for rule in self.rules:
            fires = rule.body.covers(matrix, seen)
            for label, value, number in rule.ballot:
                votes[value, fires, label] += number
        return votes


def _checked_sets(label_sets: Iterable[LabelSet], n_labels: int) -> tuple[LabelSet, ...]:
    """Label sets with their labels in order; each once, with a whole bonus."""
    sets = []
    for labels, bonus in label_sets:
        wrong = [label for label in labels if label not in range(n_labels)]
        if wrong:
            raise ValueError(f"there is no label {wrong[0]} among {n_labels} labels")
        number = whole_number(bonus, "the bonus of a label set", low=-MOST_VOTES, high=MOST_VOTES)
        sets.append(LabelSet(tuple(sorted(set(map(int, labels)))), number))
    if len({one.labels for one in sets}) < len(sets):
        raise ValueError("a label set is given twice: each set has one bonus")
    return tuple(sets)


def theory_of(model: object) -> Theory:
    """The theory of a fitted learner, or the theory itself.

    Examples
    --------
    >>> from labelrules import SeparateAndConquer, load
    >>> model = SeparateAndConquer().fit(load("magazines"))
    >>> theory_of(model) is model.theory_
    True
    """
    if isinstance(model, Theory):
        return model
    if isinstance(model, type) or not hasattr(model, "fit"):
        raise TypeError(
            "a theory must be a DecisionList, RuleSet or LayeredTheory, or a fitted learner, "
            f"not {model if isinstance(model, type) else type(model).__name__}"
        )
    try:
        return model.theory_  # type: ignore[no-any-return, attr-defined]
    except AttributeError as error:
        from sklearn.base import BaseEstimator
        from sklearn.utils.validation import check_is_fitted

        if isinstance(model, BaseEstimator):
            check_is_fitted(model)
        raise TypeError(f"only rules can be shown: {error}") from None
