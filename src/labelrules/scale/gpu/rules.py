"""Theories applied on a GPU, to tables there or in host memory."""

from typing import Any

import numpy as np
from scipy import sparse

from labelrules._types import Board, Integers
from labelrules.data.memory.encoding import encode
from labelrules.kernels.device import is_on_gpu
from labelrules.rules.rule_table import RuleTable, Start
from labelrules.rules.theory import Run, checked_board
from labelrules.scale.gpu.kernels import applying, pieces
from labelrules.scale.gpu.kernels.pieces import RulesOnGpu, TestedColumns, WantedCells


def run(table: RuleTable, X: Any, start: Start) -> Run:
    """Apply the rules of a table; the CPU has nothing to do but to check numbers."""
    n_labels = table.schema.n_labels
    if not n_labels:  # there is nothing to write
        return table.run_on_cpu(table_in_host(X), start)
    rules, source = _rules_and_source(table, X)
    rows = np.empty((source.n_rows, 0))  # for the checks of boards, which need their number
    reads = start.reads
    if reads is not None:
        reads = checked_board(reads, rows, table.schema, "reads")
    if start.board is None:
        board: Board = np.empty((source.n_rows, n_labels), np.int8)
    else:
        board = checked_board(start.board, rows, table.schema, "board")
    found = Run(board, *start.numbers(board, filled=False))
    numbers = (found.writer, found.stopped) if start.traced else ()
    wanted = WantedCells(board, start.board is not None, reads, start.closes, *numbers)
    if rules.apply(source, wanted):
        _refuse(table, X)
    return found


def margin(table: RuleTable, X: Any) -> Integers:
    """The votes of the rules of a set for presence, minus those for absence."""
    if not table.schema.n_labels:
        return table.margin_on_cpu(table_in_host(X))
    rules, source = _rules_and_source(table, X)
    margins: Integers = np.empty((source.n_rows, table.schema.n_labels), dtype=np.int64)
    nothing: Board = np.empty((0, table.schema.n_labels), np.int8)
    if rules.apply(source, WantedCells(nothing, points=margins)):
        _refuse(table, X)
    return margins


def table_in_host(X: Any) -> Any:
    """A table on a GPU in host memory."""
    if not is_on_gpu(X):
        return X
    return X.to_pandas() if hasattr(X, "columns") else applying.in_host(X)  # a frame of cuDF


def is_read_as_it_is(X: Any, n_columns: int) -> bool:
    """Whether kernels read a table of numbers without a copy."""
    return is_on_gpu(X) or pieces.are_plain_numbers(X, n_columns)


def _rules_and_source(table: RuleTable, X: Any) -> tuple[RulesOnGpu, TestedColumns]:
    """The rules for the GPU, and the columns that they test, as far as possible as given."""
    schema = table.schema
    rules = RulesOnGpu(table.arrays, table.ordered, schema.n_labels)
    are_numbers = all(feature.is_numeric for feature in schema.features)
    if is_on_gpu(X):
        names, tested = schema.feature_names, rules.tested
        source = pieces.columns_in_place(X, names, tested) if are_numbers else None
        if source is not None:
            return rules, source
        X = table_in_host(X)
    if are_numbers and pieces.are_plain_numbers(X, schema.n_features):
        return rules, pieces.columns_in_host(X, rules.tested)
    matrix = encode(X, schema)
    if sparse.issparse(matrix):
        return rules, pieces.columns_of_sparse(matrix, rules.tested)
    return rules, pieces.columns_in_host(matrix, rules.tested)


def _refuse(table: RuleTable, X: Any) -> None:
    """Raise the error that says which number no table may hold."""
    encode(table_in_host(X), table.schema)
