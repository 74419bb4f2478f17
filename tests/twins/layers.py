"""Slow, obvious twins of layered theories: one row, one layer, one label at a time."""

import numpy as np

from labelrules import UNSET
from twins import rules as naive


def close(board):
    return np.array([[0 if cell == UNSET else cell for cell in row] for row in board], np.int8)


def ask(layer, X, known, seen):
    """One layer on a dense X; who wrote what only for lists."""
    if layer.ordered:
        board, writer, _ = naive.run_list(layer, X, known, seen)
        return board, writer
    return naive.run_set(layer, X, known, seen), np.full(known.shape, -1)


def run(layers, X, known, reads=None):
    """All layers, each asked once: for each its board and its writers."""
    found = []
    for layer in layers:
        found.append(ask(layer, X, known, reads))
        reads = close(found[-1][0])
    return found


def fall_back(fallback, X, known, board):
    """Rows without a label that is present are asked anew; what is not said then stays."""
    if fallback is None:
        return board
    anew, _, _ = naive.run_list(fallback, X, known)
    result = board.copy()
    for row in range(len(board)):
        for label, cell in enumerate(anew[row]):
            if 1 not in board[row] and cell != UNSET:
                result[row, label] = cell
    return result


def row_until_stable(layers, x, known, max_rounds):
    """One row: its cells, the rounds it took (0: not settled), the cells that still change."""
    x, known = x[None], known[None]
    seen = None
    for layer in layers[:-1]:
        seen = close(ask(layer, x, known, seen)[0])
    first = ask(layers[-1], x, known, seen)[0]
    history = ([] if seen is None else [seen]) + [close(first)]
    if len(history) == 2 and (history[0] == history[1]).all():
        return first[0], 1, set()
    for number in range(2, max_rounds + 1):
        board = ask(layers[-1], x, known, history[-1])[0]
        if (close(board) == history[-1]).all():
            return board[0], number, set()
        history.append(close(board))
    if len(history) == 1:
        return first[0], 0, set()
    return first[0], 0, set(np.flatnonzero(history[-1] != history[-2]).tolist() or [])


def row_label_by_label(layers, x, known, order, max_rounds):
    """One row, its labels one after the other."""
    x, known = x[None], known[None]
    seen = None
    for layer in layers[:-1]:
        seen = close(ask(layer, x, known, seen)[0])
    state = close(ask(layers[-1], x, known, None)[0]) if seen is None else seen
    first = None
    for number in range(1, max_rounds + 1):
        before, cells = state.copy(), known.copy()
        for label in order:
            cells[0, label] = ask(layers[-1], x, known, state)[0][0, label]
            state[0, label] = close(cells)[0, label]
        first = cells if first is None else first
        if (state == before).all():
            return cells[0], number
    return first[0], 0


def row_sampled(layers, x, way):
    """One row: how probable each label is, by drawing it again and again."""
    x = x[None]
    known = np.full((1, layers[0].schema.n_labels), UNSET)
    seen = None
    for layer in layers[:-1]:
        seen = close(ask(layer, x, known, seen)[0])
    state = close(ask(layers[-1], x, known, None)[0]) if seen is None else seen
    n_labels = known.shape[1]
    lots = np.random.default_rng(way.random_state).random((way.burn_in + way.n_samples, n_labels))
    total = np.zeros(n_labels)
    for number, numbers in enumerate(lots):
        for label in range(n_labels):
            writer = ask(layers[-1], x, known, state)[1][0, label]
            p = 0.0
            if writer >= 0:
                rule = layers[-1][int(writer)]
                p = rule.evidence_for(label).probability()
                if not dict(rule.head)[label]:
                    evidence = rule.evidence_for(label)
                    p = type(evidence)(evidence.wrong, evidence.right).probability()
            state[0, label] = numbers[label] < p
            total[label] += p if number >= way.burn_in else 0.0
    return total / way.n_samples
