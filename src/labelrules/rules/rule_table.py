"""Rule tables: theories as flat arrays, which kernels apply fast."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from labelrules._checks import counted
from labelrules._kept import kept
from labelrules._types import Board, Integers, Mask, Matrix
from labelrules._wings import back_end
from labelrules.data.errors import DeviceError
from labelrules.data.memory.encoding import encode, new_rows
from labelrules.data.schema import Schema
from labelrules.kernels.device import (
    LOGGER,
    Engine,
    checked_engine,
    forget_arrays,
    gpu_errors,
    is_on_gpu,
    predicts_on_gpu,
)
from labelrules.rules.conditions import OPERATORS, Condition
from labelrules.rules.theory import (
    DecisionList,
    RuleSet,
    Run,
    Theory,
    checked_board,
    closed,
    start_board,
)

if TYPE_CHECKING:
    from labelrules.kernels.apply import EncodedFeatures, FlatRules

Found = TypeVar("Found")

Numbers: TypeAlias = npt.NDArray[np.int32]
"""Numbers of rules, -1 for none."""


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

    def apply(
        self,
        X: Any,
        board: Board | None = None,
        *,
        reads: Board | None = None,
        engine: Engine = "auto",
    ) -> Board:
        """Write the predictions into the empty cells of a board.

        Parameters
        ----------
        X, board, reads
            As for :meth:`Theory.apply`. X may also be in the memory of a GPU.
        engine : {"auto", "cpu", "gpu"}, default="auto"
            Where rules are applied. "auto" takes a GPU if there is one, and the table is large or
            in its memory; the result is the same.
        """
        return self._run(X, Start(board, reads), engine).board

    def run(
        self,
        X: Any,
        board: Board | None = None,
        *,
        reads: Board | None = None,
        engine: Engine = "auto",
    ) -> Run:
        """Apply a decision list, and name the rules that wrote and that ended rows."""
        if not self.ordered:
            raise TypeError("rules of a rule set vote together: no single rule writes a cell")
        return self._run(X, Start(board, reads, traced=True), engine)

    def predict(self, X: Any, *, engine: Engine = "auto") -> Board:
        """The labels of each row, 0 or 1; a cell that no rule writes becomes 0.

        `engine` is that of `apply`.
        """
        return self._run(X, Start(closes=True), engine).board

    def margin(self, X: Any, *, engine: Engine = "auto") -> Integers:
        """Votes for presence minus votes for absence, rows by labels."""
        if self.ordered:
            raise TypeError("only the rules of a rule set vote: a decision list has no margins")
        n_tests = self._n_tests(X)

        def on_gpu(X: Any) -> Integers:
            found: Integers = back_end("gpu", "rules").margin(self, X)
            return found

        return on_engine(X, engine, n_tests, on_gpu, self.margin_on_cpu)

    def __repr__(self) -> str:
        rules = counted(len(self.arrays.stops), "rule")
        return f"<RuleTable: {rules} for {counted(self.schema.n_labels, 'label')}>"

    def _run(self, X: Any, start: "Start", engine: Engine) -> Run:
        X = X.X if isinstance(X, RowsAsGiven) else X

        def on_gpu(X: Any) -> Run:
            found: Run = back_end("gpu", "rules").run(self, X, start)
            return found

        def on_cpu(X: Any) -> Run:
            return self.run_on_cpu(X, start)

        return on_engine(X, engine, self._n_tests(X), on_gpu, on_cpu)

    def _n_tests(self, X: Any) -> int:
        """Rows times conditions on features."""
        return n_rows_of(X) * len(self.arrays.atom)

    def run_on_cpu(self, X: Any, start: "Start") -> Run:
        """Apply the rules by the kernels of the CPU."""
        from labelrules.kernels.apply import run_list

        matrix = encode(X, self.schema)
        board = start_board(start.board, matrix, self.schema)
        seen = self._no_board()
        if start.reads is not None:
            seen = checked_board(start.reads, matrix, self.schema, "reads")
        writer, stopped = start.numbers(board)
        if self.ordered:
            fresh = start.board is None
            run_list(self.arrays, kernel_columns(matrix), board, fresh, seen, writer, stopped)
        else:
            self._vote(matrix, board, seen, np.empty((0, self.schema.n_labels), np.int64))
        return Run(closed(board) if start.closes else board, writer, stopped)

    def margin_on_cpu(self, X: Any) -> Integers:
        """Count the votes by the kernels of the CPU."""
        matrix = encode(X, self.schema)
        margins = np.zeros((matrix.shape[0], self.schema.n_labels), dtype=np.int64)
        self._vote(matrix, start_board(None, matrix, self.schema), self._no_board(), margins)
        return margins

    def _vote(self, X: Matrix, board: Board, seen: Board, margins: Integers) -> None:
        from labelrules.kernels.apply import run_set

        run_set(self.arrays, kernel_columns(X), board, seen, margins)

    def _no_board(self) -> Board:
        """A board without rows: conditions on labels are tested on the one that is written."""
        return np.empty((0, self.schema.n_labels), np.int8)


class Start(NamedTuple):
    """What rules start from, and whether open cells are closed, or rules noted."""

    board: Board | None = None
    reads: Board | None = None
    traced: bool = False
    closes: bool = False

    def numbers(self, board: Board, *, filled: bool = True) -> tuple[Numbers, Numbers]:
        """Room for the numbers of rules, by cells and by rows; none if they are not noted."""
        n_rows = len(board) if self.traced else 0
        room = np.empty((n_rows, board.shape[1]), np.int32), np.empty(n_rows, np.int32)
        for one in room if filled else ():
            one.fill(-1)
        return room


class RowsAsGiven(NamedTuple):
    """Rows for theories that apply several tables to them on a GPU; encoded if they must be."""

    X: Any
    schema: Schema
    Y: Board
    """No label is present."""

    @classmethod
    def of(cls, X: Any, schema: Schema) -> "RowsAsGiven":
        """The rows of a table that fits the schema."""
        are_numbers = all(feature.is_numeric for feature in schema.features)
        is_read = back_end("gpu", "rules").is_read_as_it_is
        if not (are_numbers and is_read(X, schema.n_features)):
            X = new_rows(host_table(X), schema)
        return cls(X, schema, np.broadcast_to(np.int8(0), (n_rows_of(X), schema.n_labels)))


def on_engine(
    X: Any,
    engine: Engine,
    n_tests: int,
    on_gpu: Callable[[Any], Found],
    on_cpu: Callable[[Any], Found],
) -> Found:
    """Do something with a table where the engine says, or where it is worth its while.

    The CPU is given the table in host memory.
    """
    is_automatic = checked_engine(engine) == "auto"
    # Sparse matrices store little, which the CPU reads fast.
    if is_automatic and sparse.issparse(getattr(X, "X", X)):
        return on_cpu(X)
    if predicts_on_gpu(engine, X, n_tests):
        try:
            with gpu_errors():
                return on_gpu(X)
        except DeviceError as error:
            if not is_automatic:
                raise
            LOGGER.warning("engine='auto' takes the CPU: %s", error)
            forget_arrays(error)
    return on_cpu(host_table(X))


def n_rows_of(X: Any) -> int:
    """The number of rows, 0 if the table does not know it."""
    try:
        return int(X.shape[0]) if hasattr(X, "shape") else len(X)
    except (TypeError, IndexError, ValueError):
        return 0


def host_table(X: Any) -> Any:
    """A table in host memory."""
    return back_end("gpu", "rules").table_in_host(X) if is_on_gpu(X) else X


@kept
def table_of(theory: Theory) -> RuleTable:
    """The rule table of a decision list or rule set, made once."""
    return RuleTable(theory)


def runner_of(theory: Theory) -> Any:
    """What applies a theory fast: its rule table, or a layered theory itself."""
    return table_of(theory) if isinstance(theory, DecisionList | RuleSet) else theory


def kernel_columns(X: Matrix) -> "EncodedFeatures":
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
