"""Count rows on packed bits (see ../README.md): conditions, rules and votes."""

from typing import Any

import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic

from labelrules.kernels.jit import inner, kernel

_ONE = np.uint64(1)

if config.DISABLE_JIT:  # type: ignore[attr-defined]  # set when it is imported

    def popcount(word: Any) -> int:
        """How many bits of a word are set."""
        return int(word).bit_count()

else:

    @intrinsic
    def popcount(typingctx, word):
        """How many bits of a word are set, by the instruction of the processor."""

        def generate(context, builder, signature, arguments):
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate


@inner
def count_both(words, first, second, n_words):
    """How many bits two stretches have in common."""
    total = 0
    for k in range(n_words):
        total += popcount(words[first + k] & words[second + k])
    return total


@inner
def put_both(words, first, second, target, n_words):
    """Write what two stretches have in common to a third; how many bits that is."""
    total = 0
    for k in range(n_words):
        common = words[first + k] & words[second + k]
        words[target + k] = common
        total += popcount(common)
    return total


@inner
def lies_within(words, inner, outer, n_words):
    """Whether every bit of the first stretch is set in the second."""
    for k in range(n_words):
        if words[inner + k] & ~words[outer + k]:
            return False
    return True


@inner
def set_bit(words, start, place):
    """Set one bit of a stretch."""
    words[start + (place >> 6)] |= _ONE << np.uint64(place & 63)


@inner
def _common(rows, others):
    """How many rows two arrays of words have in common."""
    n_rows = 0
    for word in range(len(rows)):
        n_rows += popcount(rows[word] & others[word])
    return n_rows


@kernel
def count_extensions(blocks, sets, stop, counts):
    """Count the rows of sets with one more item each.

    Set i is extended by the last items of the sets after it up to ``stop[i]``, which have the same
    other items; `counts` has its extensions one after the other, then those of the next set. Item
    j holds in the rows ``blocks[b, j]`` of each block b.
    """
    common = np.empty(blocks.shape[2], np.uint64)
    for block in range(len(blocks)):
        words, place = blocks[block], 0
        for one in range(len(sets)):
            if stop[one] == one + 1:
                continue
            common[:] = words[sets[one, 0]]
            for k in range(1, sets.shape[1]):
                for word in range(len(common)):
                    common[word] &= words[sets[one, k], word]
            for other in range(one + 1, stop[one]):
                counts[place] += _common(common, words[sets[other, sets.shape[1] - 1]])
                place += 1


@kernel
def count_conditions(group, conditions, columns, least, counts):
    """Count the rows of a group that satisfy each condition, in all and within each column.

    `counts` is conditions by 1 + columns; columns are skipped below `least` rows of a condition.
    """
    n_words = len(group)
    refined = np.empty(n_words, np.uint64)
    for condition in range(len(conditions)):
        n_rows = 0
        for word in range(n_words):
            refined[word] = group[word] & conditions[condition, word]
            n_rows += popcount(refined[word])
        counts[condition, 0] = n_rows
        counts[condition, 1:] = 0
        # A condition with fewer rows makes no group, so its columns are not counted.
        if n_rows >= least:
            for column in range(len(columns)):
                counts[condition, 1 + column] = _common(refined, columns[column])


@kernel
def phi_coefficients(counts, n_labels):
    """The correlation of each pair of labels within groups: groups by pairs, 0 if constant.

    `counts` are by groups: all rows, those with each label, and those with both labels of each
    pair, in the order (0, 1), (0, 2), ..., (1, 2), ...
    """
    phi = np.zeros((len(counts), n_labels * (n_labels - 1) // 2))
    spread = np.empty(n_labels)
    for group in range(len(counts)):
        n_rows = counts[group, 0]
        for label in range(n_labels):
            ones = counts[group, 1 + label]
            spread[label] = np.sqrt(np.float64(ones * (n_rows - ones)))
        pair = 0
        for first in range(n_labels):
            for second in range(first + 1, n_labels):
                size = spread[first] * spread[second]
                if size > 0:
                    both = n_rows * counts[group, 1 + n_labels + pair]
                    expected = counts[group, 1 + first] * counts[group, 1 + second]
                    phi[group, pair] = (both - expected) / size
                pair += 1
    return phi


@kernel
def choose_rules(start, items, words, order, wanted, left, kept, errors):
    """Keep each rule that is right about a row that no rule before covers; returns how many.

    Rule r has the items ``items[start[r] : start[r + 1]]``, and item i covers the rows
    ``words[i]``. `order` are the rules for one label, the best first, which are right about the
    rows `wanted`; `left` are the rows not covered, updated in place. `errors` receives, for each
    number of rules from 0, the wrong rows if the rows left get their majority.
    """
    n_words = len(wanted)
    covered = np.empty(n_words, np.uint64)
    n_kept, n_wrong = 0, 0
    n_wanted, n_other = 0, 0
    for word in range(n_words):
        n_wanted += popcount(left[word] & wanted[word])
        n_other += popcount(left[word] & ~wanted[word])
    errors[0] = min(n_wanted, n_other)
    for rule in order:  # where no wanted row is left, no rule can be right about one
        if n_wanted == 0:
            break
        n_right, n_covered = 0, 0
        for word in range(n_words):
            both = left[word]
            for item in range(start[rule], start[rule + 1]):
                both &= words[items[item], word]
            covered[word] = both
            n_covered += popcount(both)
            n_right += popcount(both & wanted[word])
        if n_right == 0:
            continue
        for word in range(n_words):
            left[word] &= ~covered[word]
        n_wanted -= n_right
        n_other -= n_covered - n_right
        n_wrong += n_covered - n_right
        kept[n_kept] = rule
        n_kept += 1
        errors[n_kept] = n_wrong + min(n_wanted, n_other)
    return n_kept


@inner
def _literal(labels, code, k):
    word = labels[code >> 1, k]
    return word if code & 1 else ~word


@kernel
def count_heads(body, items, head, labels, everywhere, right, n_head):
    """For each literal of a head the covered rows where it holds; for each head all its rows."""
    n_words = len(everywhere)
    covered = np.empty(n_words, np.uint64)
    for r in range(len(n_head)):
        for k in range(n_words):
            covered[k] = everywhere[k]
        for i in range(body[0][r], body[0][r + 1]):
            for k in range(n_words):
                covered[k] &= items[body[1][i], k]
        start, stop = head[0][r], head[0][r + 1]
        right[start:stop] = 0
        n_head[r] = 0
        for k in range(n_words):
            held = everywhere[k]
            for i in range(start, stop):
                literal = _literal(labels, head[1][i], k)
                right[i] += popcount(covered[k] & literal)
                held &= literal
            n_head[r] += popcount(held)


@inner
def _subset_counts(items, chosen, which, held, everywhere):
    """Rows covered by some conditions of a body, and those of them in which the head holds."""
    n_body, n_both = 0, 0
    for k in range(len(everywhere)):
        covered = everywhere[k]
        for i in range(len(chosen)):
            if (which >> i) & 1:
                covered &= items[chosen[i], k]
        n_body += popcount(covered)
        n_both += popcount(covered & held[k])
    return n_body, n_both


@kernel
def compare_with_general(body, items, head, labels, everywhere, counts, productive, needed):
    """Whether each rule is more confident than all with fewer conditions, and needs all of its.

    `counts` are the rows that each rule covers, and those of them in which its head holds.
    """
    n_words = len(everywhere)
    held = np.empty(n_words, np.uint64)
    for r in range(len(productive)):
        chosen = body[1][body[0][r] : body[0][r + 1]]
        for k in range(n_words):
            held[k] = everywhere[k]
            for i in range(head[0][r], head[0][r + 1]):
                held[k] &= _literal(labels, head[1][i], k)
        n_body, n_both = counts[0][r], counts[1][r]
        whole = (1 << len(chosen)) - 1
        productive[r], needed[r] = True, True
        for i in range(len(chosen)):
            fewer, _ = _subset_counts(items, chosen, whole ^ (1 << i), held, everywhere)
            needed[r] &= fewer > n_body
        for which in range(whole):
            n_covered, n_right = _subset_counts(items, chosen, which, held, everywhere)
            # Confidences compared by products of whole numbers, so without rounding.
            if n_both * n_covered <= n_right * n_body:
                productive[r] = False
                break


# A body votes for each label with the share of its rows that have the label, shrunk towards the
# share of all rows, and with a weight: the correlation of the body and the label.


@inner
def _vote(n_rows, n_ones, n_all, ones_all, m):
    """The m-estimate that a body votes for, and its weight |phi|, 0 if either is constant."""
    share = (n_ones + m * ones_all / n_all) / (n_rows + m)
    spread = np.sqrt(np.float64(n_rows * (n_all - n_rows)))
    spread *= np.sqrt(np.float64(ones_all * (n_all - ones_all)))
    if spread > 0:
        return share, abs(np.float64(n_ones * n_all - n_rows * ones_all)) / spread
    return share, 0.0


@kernel
def votes_of(counts, all_counts, m, shares, weights):
    """The votes of bodies from counts, bodies by 1 + labels: rows, and rows with each label."""
    for body in range(len(counts)):
        for label in range(len(all_counts) - 1):
            shares[body, label], weights[body, label] = _vote(
                counts[body, 0], counts[body, 1 + label], all_counts[0], all_counts[1 + label], m
            )


@inner
def _intersect(words, item, body, level):
    """Put the rows of an item and of the body one level up into the body; how many they are."""
    n_rows = 0
    for word in range(words.shape[1]):
        both = words[item, word]
        if level > 0:
            both &= body[level - 1, word]
        body[level, word] = both
        n_rows += popcount(both)
    return n_rows


@inner
def _mean_votes(
    words, labels, own, truth, out, times, ones, least, longest, m, body, upcoming, sums
):
    """Add up the votes of all bodies made of a row's own items, depth first; their number."""
    n_all = len(truth) - times
    sums[:] = 0.0
    n_bodies = 0
    level = 0
    upcoming[0] = 0
    while level >= 0:
        if upcoming[level] == len(own):
            level -= 1
            continue
        place = upcoming[level]
        upcoming[level] += 1
        # The row left out has all its items, so it is in every body.
        n_rows = _intersect(words, own[place], body, level) - times
        if n_rows < least:
            continue
        n_bodies += 1
        for label in range(len(labels)):
            n_ones = _common(body[level], labels[label])
            if out >= 0:
                n_ones -= times * truth[out, label]
            share, weight = _vote(n_rows, n_ones, n_all, ones[label], m)
            sums[0, label] += weight * share
            sums[1, label] += weight
        if level + 1 < longest:
            upcoming[level + 1] = place + 1
            level += 1
    return n_bodies


@kernel
def score_rows(words, labels, start, items, left_out, copies, truth, least, longest, m, scores):
    """The weighted mean of the votes for each label, rows by labels; without votes, the prior.

    `words` and `labels` are the training rows of each item and label. Row r has the items
    ``items[start[r] : start[r + 1]]``; the training row ``left_out[r]`` (-1: none) is not counted
    for it, nor are its other `copies`. Bodies have at least `least` rows, and at most `longest`
    items.
    """
    n_labels, n_words = labels.shape
    body = np.empty((longest, n_words), np.uint64)
    upcoming = np.empty(longest, np.int64)
    ones = np.empty(n_labels, np.int64)
    sums = np.empty((2, n_labels))
    for row in range(len(start) - 1):
        out = left_out[row]
        times = copies[row] if out >= 0 else np.int64(0)
        n_all = len(truth) - times
        for label in range(n_labels):
            ones[label] = _common(labels[label], labels[label])
            if out >= 0:
                ones[label] -= times * truth[out, label]
        own = items[start[row] : start[row + 1]]
        _mean_votes(
            words, labels, own, truth, out, times, ones, least, longest, m, body, upcoming, sums
        )
        for label in range(n_labels):
            if sums[1, label] > 0:
                scores[row, label] = sums[0, label] / sums[1, label]
            else:
                scores[row, label] = ones[label] / max(n_all, 1)
