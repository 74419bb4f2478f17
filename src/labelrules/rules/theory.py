"""Theories: decision lists, whose rules have an order, and rule sets, whose rules vote."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from labelrules._checks import counted
from labelrules._types import UNSET, Board, Integers, Matrix
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.rule import Evidence, Rule


class Run(NamedTuple):
    """The board that a decision list has written, and which rule wrote what."""

    board: Board
    """The board after the last rule; cells that no rule wrote are `UNSET`."""
    writer: npt.NDArray[np.int32]
    """For each cell the rule that wrote it, -1 if none did."""
    stopped: npt.NDArray[np.int32]
    """For each row the stopping rule that fired on it, -1 if none did."""

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
        and `body` as text, `n_labels`, `n_conditions`, `right` and `wrong` (sums over the head;
        missing without evidence), `votes` (sum over the head; missing where rules have an order),
        `stops`, and the form of the rule: `polarity`, `extent`, `dependence`, `constraint`.
        Columns per label: `layer`, `is_fallback`, `number`, `label`, `present`, `right`, `wrong`,
        `votes`, `body`.

        A theory without layers is its own layer 1; the fallback counts as a layer after the last.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"
            The library of the frame, which must be installed.
        per : {"rule", "label"}, default="rule"
            Whether a row is a rule, or a label in the head of a rule.

        Examples
        --------
        >>> from labelrules import load, parse
        >>> text = "quality (6/1), not sports (5/2) <- sex = Male"
        >>> theory = parse(text, load("magazines").schema)
        >>> theory.to_frame()[["head", "body", "right", "wrong"]]
                          head        body  right  wrong
        0  quality, not sports  sex = Male     11      3
        >>> theory.to_frame(per="label")[["label", "present", "right", "wrong"]]
             label  present  right  wrong
        0  quality     True      6      1
        1   sports    False      5      2
        """
        from labelrules.rules.formats.frame import frame_of_theory

        return frame_of_theory(self, library, per)

    def as_full_predictions(self) -> Self:
        """The same bodies with every head completed by the absence of the other labels."""
        return replace(self, rules=tuple(rule.as_full_prediction() for rule in self.rules))

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
            return replace(self, rules=self.rules[index])
        return self.rules[index]

    def __repr__(self) -> str:
        rules, labels = counted(len(self), "rule"), counted(self.schema.n_labels, "label")
        return f"<{type(self).__name__}: {rules} for {labels}>"

    def __str__(self) -> str:
        from labelrules.rules.formats.text import theory_text

        return theory_text(self)

    def _repr_html_(self) -> str:
        """The theory as notebooks display it."""
        from labelrules.rules.formats.html import SHOWN_IN_NOTEBOOKS, theory_html

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
        """Apply the rules in order; see `Theory.apply`."""
        return self.run(X, board, reads=reads).board

    def run(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Run:
        """Apply the rules; the result names the rule that wrote each cell and ended each row."""
        matrix = encode(X, self.schema)
        board = start_board(board, matrix, self.schema)
        seen = board if reads is None else checked_board(reads, matrix, self.schema, "reads")
        writer = np.full(board.shape, -1, dtype=np.int32)
        stopped = np.full(len(board), -1, dtype=np.int32)
        for number, rule in enumerate(self.rules):
            fires = rule.body.covers(matrix, seen) & (stopped < 0)
            for label, value in rule.head:
                written = fires & (board[:, label] == UNSET)
                board[written, label] = value
                writer[written, label] = number
            if rule.stops:
                stopped[fires] = number
        return Run(board, writer, stopped)

    def with_evidence(self, X: Any, Y: Any) -> "DecisionList":
        """The same list with evidence counted on the cells that each rule writes."""
        run = self.run(X)
        truth = encode_labels(Y, self.schema)
        if len(truth) != len(run.board):
            raise ValueError(f"X has {len(run.board)} rows but Y has {len(truth)}")
        return self.with_counts(run, truth)

    def with_counts(self, run: Run, truth: Board) -> "DecisionList":
        """The same list with evidence from a run of it, counted against the true labels."""
        right = run.board == truth
        writers = run.writer + 1  # 0 for none
        counts = np.array(
            [
                [
                    np.bincount(writers[cells[:, label], label], minlength=len(self) + 1)
                    for label in range(self.schema.n_labels)
                ]
                for cells in (right, ~right)
            ]
        )
        rules = [
            rule.with_evidence(
                Evidence(*counts[:, label, number].tolist()) for label in rule.head.labels
            )
            for number, rule in enumerate(self.rules, 1)
        ]
        return DecisionList(self.schema, rules)


class RuleSet(Theory):
    r"""Rules without order: those that fire on a row vote on each label.

    Conditions on labels are tested on the board as it was before any rule of the set. A rule casts
    one vote on each label of its head, or the number in `Rule.votes`. More votes for presence than
    for absence write 1, otherwise 0; a label without votes stays open.

    Parameters
    ----------
    schema : Schema
    rules : iterable of Rule
        None with a stop mark, which needs an order.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("in any order:\nsports <- marital = Divorced", readers.schema)
    >>> theory.apply(readers)[3]
    array([-1, -1, -1,  1], dtype=int8)
    """

    ordered = False

    def __init__(self, schema: Schema, rules: Iterable[Rule] = ()) -> None:
        super().__init__(schema, rules)
        for number, rule in enumerate(self.rules):
            if rule.stops:
                raise ValueError(
                    f"rule {number + 1} has a stop mark, but a rule set has no order: "
                    "use a DecisionList"
                )

    def __eq__(self, other: object) -> bool:
        """Whether both have the same rules, each as often, in any order."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        return self.schema == other.schema and Counter(self.rules) == Counter(other.rules)

    def __hash__(self) -> int:
        return hash((self.schema, frozenset(Counter(self.rules).items())))

    def apply(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Board:
        """Let the rules vote; see `Theory.apply`."""
        matrix = encode(X, self.schema)
        board = start_board(board, matrix, self.schema)
        seen = board if reads is None else checked_board(reads, matrix, self.schema, "reads")
        absent, present = self._counted(matrix, seen)
        decided = (board == UNSET) & (present + absent > 0)
        board[decided] = (present > absent)[decided]
        return board

    def margin(self, X: Any) -> Integers:
        r"""Votes for presence minus votes for absence, rows by labels.

        Examples
        --------
        >>> from labelrules import load, parse
        >>> readers = load("magazines")
        >>> text = "in any order:\nsports x3 <- marital = Divorced\nnot sports x2 <- true"
        >>> parse(text, readers.schema).margin(readers)[:4, 3]
        array([-2, -2, -2,  1])
        """
        matrix = encode(X, self.schema)
        absent, present = self._counted(matrix, start_board(None, matrix, self.schema))
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
    if feature.categories is None:
        fits = not condition.is_equality
        return "" if fits else f"{feature.name!r} is numeric: compare it by <= or >"
    if not condition.is_equality:
        return f"{feature.name!r} is nominal: compare it by = or !="
    if condition.value >= len(feature.categories):
        return f"{feature.name!r} has no category number {condition.value:g}"
    return ""


def theory_of(model: object) -> Theory:
    """The theory itself, or that of a fitted learner.

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
