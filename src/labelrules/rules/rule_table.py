"""Rule tables: theories as flat arrays, which kernels apply fast."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from labelrules._checks import counted
from labelrules._kept import kept
from labelrules._types import Board, Integers, Mask, Matrix
from labelrules.data.memory.encoding import encode
from labelrules.data.schema import Schema
from labelrules.rules.boards import checked_board, closed, start_board
from labelrules.rules.conditions import OPERATORS, Condition
from labelrules.rules.theory import DecisionList, RuleSet, Run, Theory

if TYPE_CHECKING:
    from labelrules.kernels.apply import EncodedFeatures, FlatRules


@dataclass(frozen=True, eq=False, repr=False)
class RuleTable:
    r"""A theory as flat arrays: the same predictions, many times faster on many rows.

    Parameters
    ----------
    theory : DecisionList, RuleSet, or a fitted learner that has one

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> theory = parse("not fashion <- sex = Male\nfashion <- true", readers.schema)
    >>> (RuleTable(theory).predict(readers) == theory.predict(readers)).all()
    np.True_
    """

    schema: Schema
    ordered: bool
    arrays: "FlatRules"

    def __init__(self, theory: Any) -> None:
        from labelrules.rules.theory import theory_of  # it needs rule tables itself

        theory = theory_of(theory)
        if not isinstance(theory, DecisionList | RuleSet):
            raise TypeError(
                f"a RuleTable is made of a DecisionList or a RuleSet, not of a "
                f"{type(theory).__name__}, which applies its layers as fast itself"
            )
        object.__setattr__(self, "schema", theory.schema)
        object.__setattr__(self, "ordered", theory.ordered)
        object.__setattr__(self, "arrays", _flat(theory))

    def apply(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Board:
        """Write the predictions into the empty cells of a board; see `Theory.apply`."""
        return self._run(X, board, reads, traced=False).board

    def run(self, X: Any, board: Board | None = None, *, reads: Board | None = None) -> Run:
        """Apply a decision list; see `DecisionList.run`."""
        if not self.ordered:
            raise TypeError("rules of a rule set vote together: no single rule writes a cell")
        return self._run(X, board, reads, traced=True)

    def predict(self, X: Any) -> Board:
        """The labels of each row, 0 or 1; a cell that no rule writes becomes 0."""
        return closed(self.apply(X))

    def margin(self, X: Any) -> Integers:
        """Votes for presence minus votes for absence, rows by labels; see `RuleSet.margin`."""
        if self.ordered:
            raise TypeError("only the rules of a rule set vote: a decision list has no margins")
        matrix = encode(X, self.schema)
        margins = np.zeros((matrix.shape[0], self.schema.n_labels), dtype=np.int64)
        self._vote(matrix, start_board(None, matrix, self.schema), self._no_board(), margins)
        return margins

    def __repr__(self) -> str:
        rules = counted(len(self.arrays.stops), "rule")
        return f"<RuleTable: {rules} for {counted(self.schema.n_labels, 'label')}>"

    def _run(self, X: Any, board: Board | None, reads: Board | None, traced: bool) -> Run:
        from labelrules.kernels.apply import run_list

        matrix = encode(X, self.schema)
        fresh = board is None
        board = start_board(board, matrix, self.schema)
        seen = self._no_board()
        if reads is not None:
            seen = checked_board(reads, matrix, self.schema, "reads")
        n_labels = self.schema.n_labels
        writer = np.full((len(board) if traced else 0, n_labels), -1, dtype=np.int32)
        stopped = np.full(len(board) if traced else 0, -1, dtype=np.int32)
        if self.ordered:
            run_list(self.arrays, columns_of(matrix), board, fresh, seen, writer, stopped)
        else:
            self._vote(matrix, board, seen, np.empty((0, n_labels), np.int64))
        return Run(board, writer, stopped)

    def _vote(self, X: Matrix, board: Board, seen: Board, margins: Integers) -> None:
        from labelrules.kernels.apply import run_set

        run_set(self.arrays, columns_of(X), board, seen, margins)

    def _no_board(self) -> Board:
        """A board without rows: conditions on labels are tested on the one that is written."""
        return np.empty((0, self.schema.n_labels), np.int8)


@kept
def table_of(theory: Theory) -> RuleTable:
    """The rule table of a decision list or rule set, made once."""
    return RuleTable(theory)


def columns_of(X: Matrix) -> "EncodedFeatures":
    """Encoded features as the kernels take them; only the column pointers are copied."""
    from labelrules.kernels.apply import EncodedFeatures

    if sparse.issparse(X):
        return EncodedFeatures(
            True, _frozen(np.empty((0, 0), order="F")), X.indptr.astype(np.int64), X.indices, X.data
        )
    nothing = _frozen(np.empty(0))
    return EncodedFeatures(False, X, np.empty(0, np.int64), _frozen(np.empty(0, np.int32)), nothing)


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array


def _flat(theory: Theory) -> "FlatRules":
    from labelrules.kernels.apply import FlatRules

    bodies = [rule.body for rule in theory]
    atoms = list(dict.fromkeys(c for body in bodies for c in body.on_features))
    sets_of_codes = [_members(atom) for atom in atoms]
    number = {atom: i for i, atom in enumerate(atoms)}
    looks = [condition for body in bodies for condition in body.on_labels]
    literals = [literal for rule in theory for literal in rule.ballot]
    sets = theory.label_sets if isinstance(theory, RuleSet) else ()
    return FlatRules(
        column=_whole(atom.column for atom in atoms),
        operator=np.array([OPERATORS.index(atom.operator) for atom in atoms], np.int8),
        value=np.array([atom.value for atom in atoms], np.float64),
        member_start=_starts([len(members) for members in sets_of_codes]),
        member=np.concatenate([np.empty(0, np.bool_), *sets_of_codes]),
        atom_start=_starts([len(body.on_features) for body in bodies]),
        atom=_whole(number[c] for body in bodies for c in body.on_features),
        look_start=_starts([len(body.on_labels) for body in bodies]),
        look_label=_whole(condition.column for condition in looks),
        look_value=np.array([condition.value for condition in looks], np.int8),
        head_start=_starts([len(rule.head) for rule in theory]),
        head_label=_whole(label for label, _, _ in literals),
        head_value=np.array([value for _, value, _ in literals], np.int8),
        head_votes=np.array([votes for _, _, votes in literals], np.int32),
        stops=np.array([rule.stops for rule in theory], np.bool_),
        set_start=_starts([len(one.labels) for one in sets]),
        set_label=_whole(label for one in sets for label in one.labels),
        bonus=_whole(one.bonus for one in sets),
        at_least_one=isinstance(theory, RuleSet) and theory.at_least_one,
    )


def _members(atom: Condition) -> Mask:
    """For each category up to the last of a set whether it is in it; nothing for other atoms."""
    members = np.zeros(atom.codes[-1] + 1 if atom.codes else 0, np.bool_)
    members[list(atom.codes)] = True
    return members


def _whole(numbers: Iterable[int]) -> Integers:
    return np.fromiter(numbers, np.int64)


def _starts(lengths: Sequence[int]) -> Integers:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
