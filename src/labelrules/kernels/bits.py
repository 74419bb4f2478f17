"""Sets of rows as bits, 64 to a word."""

from typing import Any

import numpy as np
from numba import njit, types
from numba.core import config
from numba.extending import intrinsic

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


@njit(cache=True, nogil=True)
def count(words, start, n_words):
    """How many bits are set in a stretch of words."""
    total = 0
    for k in range(n_words):
        total += popcount(words[start + k])
    return total


@njit(cache=True, nogil=True)
def count_both(words, first, second, n_words):
    """How many bits two stretches have in common."""
    total = 0
    for k in range(n_words):
        total += popcount(words[first + k] & words[second + k])
    return total


@njit(cache=True, nogil=True)
def put_both(words, first, second, target, n_words):
    """Write what two stretches have in common to a third; how many bits that is."""
    total = 0
    for k in range(n_words):
        common = words[first + k] & words[second + k]
        words[target + k] = common
        total += popcount(common)
    return total


@njit(cache=True, nogil=True)
def lies_within(words, inner, outer, n_words):
    """Whether every bit of the first stretch is set in the second."""
    for k in range(n_words):
        if words[inner + k] & ~words[outer + k]:
            return False
    return True


@njit(cache=True, nogil=True)
def set_bit(words, start, place):
    """Set one bit of a stretch."""
    words[start + (place >> 6)] |= _ONE << np.uint64(place & 63)
