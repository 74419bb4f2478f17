"""Mine association rules with labels in their heads, depth first over bodies.

Bodies are extended like itemsets, see `labelrules.kernels.mining.itemsets`. Each body has the list
of *literals* (a label, present or absent) that hold in enough of its rows; a literal that a body
loses is lost for all longer bodies, and a body without literals is not extended. Heads of several
labels are sets of such literals, searched in the same manner within each body.
"""

import math
from typing import NamedTuple

import numpy as np

from labelrules._types import Integers
from labelrules.kernels.jit import inner, kernel
from labelrules.kernels.mining.bits import popcount, set_bit
from labelrules.kernels.mining.itemsets import (
    DONE,
    FULL,
    NARROW,
    PATIENCE,
    PAUSED,
    SPENT,
    Numbers,
    Words,
    count_projection,
    fill_projection,
    fits,
    next_level,
    put_rising,
)

NO_ROOM = -1


class Truth(NamedTuple):
    """The labels of each row, and the label that each item is, or -1."""

    row_start: Integers
    labels: Numbers
    label_of: Numbers


class Wanted(NamedTuple):
    """Which rules are searched for."""

    minimum: int
    longest_body: int
    longest_head: int
    confident: Numbers
    """For each size of a body, the least number of its rows in which the head must hold."""
    need: Numbers
    """For each literal the least number of rows that is of use; absence first, then presence."""
    count_all: bool
    """Whether to go through all frequent bodies, to count them."""
    most_bodies: int
    """How many bodies may be visited."""


class Heads(NamedTuple):
    """The labels within a projection, and the literals of each level of the body."""

    words: Words
    """Slot 0 is the body, then one for each label of the projection, then room to work."""
    at: Integers
    """The number of labels of the projection."""
    label: Numbers
    n_present: Numbers
    """Per label: rows of the projection that have it, then its slot."""
    literal: Numbers
    """Of all levels together: twice the number of a slot, and one more for presence."""
    stop: Integers
    """Level l has the literals up to stop[l]."""
    next: Integers
    """For the search within a body: where a level of the head goes on, and where it ends."""
    last: Integers
    chosen: Numbers
    entry: Numbers
    support: Numbers


class MinedRules(NamedTuple):
    """Space for results: bodies, and rules that refer to them."""

    n: Integers
    """Numbers of bodies and of rules, and of bodies visited."""
    body_start: Integers
    body_item: Numbers
    body_support: Numbers
    body: Numbers
    head_start: Integers
    head: Numbers
    """Twice the label, and one more for presence."""
    support: Numbers


@inner
def _project_labels(table, truth, root, wanted, heads, n_words):
    """Make slots of the labels that are of use in the rows of an item; list their literals."""
    start, stop = table.item_start[root], table.item_start[root + 1]
    n_rows = stop - start
    heads.n_present[:] = 0
    for i in range(start, stop):
        row = table.rows[i]
        for k in range(truth.row_start[row], truth.row_start[row + 1]):
            heads.n_present[truth.labels[k]] += 1
    n_slots, n_literals = 0, 0
    for label in range(len(heads.n_present)):
        present = heads.n_present[label]
        heads.n_present[label] = 0
        if label == truth.label_of[root]:
            continue
        is_used = False
        for value in range(2):
            times = present if value else n_rows - present
            if times >= wanted.need[2 * label + value]:
                is_used = True
                heads.literal[n_literals] = 2 * (n_slots + 1) + value
                n_literals += 1
        if is_used:
            n_slots += 1
            heads.n_present[label] = n_slots
            heads.label[n_slots] = label
    heads.at[0] = n_slots
    heads.stop[0] = n_literals
    heads.words[n_words : (n_slots + 1) * n_words] = 0
    for i in range(start, stop):
        row = table.rows[i]
        for k in range(truth.row_start[row], truth.row_start[row + 1]):
            slot = heads.n_present[truth.labels[k]]
            if slot:
                set_bit(heads.words, slot * n_words, i - start)
    return n_literals


@inner
def _with_literal(words, first, literal, target, n_words):
    """Write the rows of a slot in which a literal holds to another slot; their number."""
    total = 0
    start = (literal >> 1) * n_words
    flip = np.uint64(0) if literal & 1 else ~np.uint64(0)
    for k in range(n_words):
        common = words[first * n_words + k] & (words[start + k] ^ flip)
        words[target * n_words + k] = common
        total += popcount(common)
    return total


@inner
def _count_present(words, slot, n_words):
    total = 0
    for k in range(n_words):
        total += popcount(words[k] & words[slot * n_words + k])
    return total


@inner
def _note_body(rules, prefix, n_items, name, support):
    number = rules.n[0]
    start = rules.body_start[number]
    if number == len(rules.body_support) or start + n_items > len(rules.body_item):
        return False
    put_rising(prefix, n_items, name, rules.body_item, start)
    rules.body_start[number + 1] = start + n_items
    rules.body_support[number] = support
    rules.n[0] = number + 1
    return True


@inner
def _note_rule(rules, heads, n_literals, support):
    number = rules.n[1]
    start = rules.head_start[number]
    if number == len(rules.support) or start + n_literals > len(rules.head):
        return False
    for k in range(n_literals):
        literal = heads.chosen[k]
        rules.head[start + k] = 2 * heads.label[literal >> 1] + (literal & 1)
    rules.head_start[number + 1] = start + n_literals
    rules.support[number] = support
    rules.body[number] = rules.n[0] - 1
    rules.n[1] = number + 1
    return True


@inner
def _larger_heads(heads, rules, n_candidates, least, longest, n_words):
    """Note the heads of two and more literals for the body; whether there was room."""
    room = heads.at[0] + 1
    for entry in range(n_candidates):
        _with_literal(heads.words, 0, heads.entry[entry], room + entry, n_words)
    heads.next[0], heads.last[0] = 0, n_candidates
    level = 0
    while level >= 0:
        entry = heads.next[level]
        if entry == heads.last[level]:
            level -= 1
            continue
        heads.next[level] = entry + 1
        heads.chosen[level] = heads.entry[entry]
        if level > 0 and not _note_rule(rules, heads, level + 1, heads.support[entry]):
            return False
        if level + 1 == longest:
            continue
        target = heads.last[level]
        for other in range(entry + 1, heads.last[level]):
            literal = heads.entry[other]
            support = _with_literal(heads.words, room + entry, literal, room + target, n_words)
            if support >= least:
                heads.entry[target], heads.support[target] = literal, support
                target += 1
        heads.next[level + 1], heads.last[level + 1] = heads.last[level], target
        level += 1
    return True


@inner
def _find_heads(table, truth, wanted, stack, heads, rules, level, n_rows):
    """List the literals alive in a body and note its rules; how many are alive, or NO_ROOM."""
    n_words = stack.at[2]
    below = 0 if level < 2 else heads.stop[level - 2]
    end = heads.stop[level - 1] if level else heads.stop[0]
    target = end if level else 0
    begun = target
    label_of_item = truth.label_of[stack.prefix[level]]
    least = max(wanted.minimum, wanted.confident[n_rows])
    is_noted, n_candidates = False, 0
    n_bodies, n_rules = rules.n[0], rules.n[1]
    slot, present = 0, 0
    for i in range(below, end):
        literal = heads.literal[i]
        if literal >> 1 != slot:
            slot = literal >> 1
            present = _count_present(heads.words, slot, n_words)
        label = heads.label[slot]
        support = present if literal & 1 else n_rows - present
        if label == label_of_item or support < wanted.need[2 * label + (literal & 1)]:
            continue
        heads.literal[target] = literal
        target += 1
        if support < least:
            continue
        heads.entry[n_candidates] = literal
        n_candidates += 1
        heads.chosen[0] = literal
        if not is_noted:
            is_noted = _note_body(rules, stack.prefix, level + 1, table.name, n_rows)
        if not is_noted or not _note_rule(rules, heads, 1, support):
            rules.n[0], rules.n[1] = n_bodies, n_rules
            return NO_ROOM
    heads.stop[level] = target
    if wanted.longest_head > 1 and n_candidates > 1:
        longest = wanted.longest_head
        if not _larger_heads(heads, rules, n_candidates, least, longest, n_words):
            rules.n[0], rules.n[1] = n_bodies, n_rules
            return NO_ROOM
    return target - begun


@inner
def _all_rows(words, n_rows, n_words):
    words[:n_words] = ~np.uint64(0)
    if n_rows & 63:
        words[n_words - 1] = (np.uint64(1) << np.uint64(n_rows & 63)) - np.uint64(1)


@inner
def _begin(table, truth, wanted, stack, heads, rules):
    """Start with the next item as a body; returns why that failed, or -1."""
    root = stack.at[0]
    n_rows = table.item_start[root + 1] - table.item_start[root]
    n_words = (n_rows + 63) >> 6
    stack.at[2] = n_words
    stack.prefix[0] = root
    is_alive = _project_labels(table, truth, root, wanted, heads, n_words) > 0
    goes_on = wanted.longest_body > 1 and (is_alive or wanted.count_all)
    if goes_on:
        n_entries = count_projection(table, root, root + 1, wanted.minimum, stack.place)
        if not fits(stack, n_entries, n_words):
            return NARROW
        stack.next[1] = 0
        stack.stop[1] = fill_projection(table, root, root + 1, wanted.minimum, stack, n_words)
    if is_alive:
        _all_rows(heads.words, n_rows, n_words)
        if _find_heads(table, truth, wanted, stack, heads, rules, 0, n_rows) == NO_ROOM:
            return FULL
    rules.n[2] += 1
    stack.at[0] = root + 1
    if goes_on:
        stack.at[1] = 1
    return -1


@kernel
def mine_rules(table, truth, wanted, stack, heads, rules):
    """Resume the search for rules; returns why it ended."""
    n_items = len(table.item_start) - 1
    patience = PATIENCE
    while True:
        level = stack.at[1]
        if patience < 0:
            return PAUSED
        if level == 0:
            if stack.at[0] == n_items:
                return DONE
            if rules.n[2] >= wanted.most_bodies:
                return SPENT
            status = _begin(table, truth, wanted, stack, heads, rules)
            if status >= 0:
                return status
            patience -= (stack.stop[1] + heads.at[0]) * stack.at[2]
            continue
        entry = stack.next[level]
        n_after = stack.stop[level] - entry - 1
        if n_after < 0:
            stack.at[1] = level - 1
            continue
        if rules.n[2] >= wanted.most_bodies:
            return SPENT
        if not fits(stack, stack.stop[level] + n_after, stack.at[2]):
            return NARROW
        n_words = stack.at[2]
        stack.prefix[level] = stack.item[entry]
        for word in range(n_words):
            heads.words[word] = stack.words[entry * n_words + word]
        n_rules = rules.n[1]
        n_alive = _find_heads(
            table, truth, wanted, stack, heads, rules, level, stack.support[entry]
        )
        if n_alive == NO_ROOM:
            return FULL
        rules.n[2] += 1
        patience -= (n_after + heads.at[0] + rules.n[1] - n_rules) * n_words
        stack.next[level] = entry + 1
        if level + 1 < wanted.longest_body and (n_alive > 0 or wanted.count_all):
            next_level(wanted.minimum, level, entry, stack)


# Tails of the hypergeometric distribution: the overlap of two sets of rows.
# by chance
# Of `n_rows` rows, `n_first` are in one set and `n_second` in the other. Terms are summed from
# the observed overlap outwards, where each is smaller than the one before.

_NEGLIGIBLE = 1e-17
"""A term this much smaller than the sum does not change it any more."""


@inner
def _log_probability(both, n_first, n_second, n_rows, log_factorial):
    return (
        log_factorial[n_first]
        + log_factorial[n_rows - n_first]
        + log_factorial[n_second]
        + log_factorial[n_rows - n_second]
        - log_factorial[n_rows]
        - log_factorial[both]
        - log_factorial[n_first - both]
        - log_factorial[n_second - both]
        - log_factorial[n_rows - n_first - n_second + both]
    )


@inner
def _outer_tail(both, n_first, n_second, n_rows, log_factorial):
    """The probability of at least `both`, which is not below the most probable overlap."""
    term, total = 1.0, 1.0
    for x in range(both, min(n_first, n_second)):
        term *= (n_first - x) / (x + 1) * (n_second - x) / (n_rows - n_first - n_second + x + 1)
        total += term
        if term < total * _NEGLIGIBLE:
            break
    return total * math.exp(_log_probability(both, n_first, n_second, n_rows, log_factorial))


@inner
def _mode(n_first, n_second, n_rows):
    return (n_first + 1) * (n_second + 1) // (n_rows + 2)


@inner
def _at_least(both, n_first, n_second, n_rows, log_factorial):
    if both <= max(0, n_first + n_second - n_rows):
        return 1.0
    if both > min(n_first, n_second):
        return 0.0
    if both > _mode(n_first, n_second, n_rows):
        return _outer_tail(both, n_first, n_second, n_rows, log_factorial)
    # The rest lies in the other tail: fewer than `both` of the second are more of the others.
    left = n_first - both + 1
    return 1.0 - _outer_tail(left, n_first, n_rows - n_second, n_rows, log_factorial)


@kernel
def upper_tails(both, first, second, n_rows, log_factorial, p):
    """Fill in the probabilities of overlaps at least as large."""
    for i in range(len(p)):
        tail = _at_least(both[i], first[i], second[i], n_rows, log_factorial)
        p[i] = min(max(tail, 0.0), 1.0)


def log_factorials(n_rows: int) -> np.ndarray:
    """The logarithms of 0! to n_rows!."""
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(n_rows + 1) + 1.0))
