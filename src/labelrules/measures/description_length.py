"""How many bits it takes to tell rules and their exceptions.

As W. W. Cohen's RIPPER counts them ("Fast Effective Rule Induction", ICML 1995), after
J. R. Quinlan ("MDL and Categorical Theories (Continued)", ICML 1995).
"""

from math import inf, log2


def body_bits(size: int, n_possible: int) -> float:
    """The bits for telling how many and which of the possible conditions a body has.

    >>> body_bits(1, 8) == subset_bits(8, 1, 1 / 8)
    True
    """
    if size == 0:
        return 0.0
    bits = log2(size) + (2 * log2(log2(size)) if size > 1 else 0.0)
    return bits + subset_bits(n_possible, size, size / n_possible)


def subset_bits(n: int, k: int, share: float) -> float:
    """The bits for telling which k of n it is, when each is expected with this probability.

    >>> round(subset_bits(8, 4, 0.5), 6)
    8.0
    """
    bits = 0.0
    if k > 0:
        bits -= k * log2(share) if share > 0 else -inf
    if n > k and share < 1:
        bits -= (n - k) * log2(1 - share)
    return bits


def exception_bits(n_said: int, n_unsaid: int, n_wrong: int, n_missed: int, n_true: int) -> float:
    """The bits for telling which rows are wrongly covered and which are missed.

    The errors of the larger part are expected as the other part has them, so that errors may not
    hide where there are many rows.

    >>> exception_bits(0, 7, 0, 0, 0)
    3.0
    """
    n_errors, share = n_wrong + n_missed, n_true / (n_said + n_unsaid)
    wrong_share = n_wrong / n_said if n_said else 0.0
    missed_share = n_missed / n_unsaid if n_unsaid else 0.0
    if n_said > n_unsaid and share * n_errors < n_said:
        wrong_share = share * n_errors / n_said
    elif n_unsaid >= max(1, n_said) and (1 - share) * n_errors < n_unsaid:
        missed_share = (1 - share) * n_errors / n_unsaid
    return (
        log2(n_said + n_unsaid + 1)
        + subset_bits(n_said, n_wrong, wrong_share)
        + subset_bits(n_unsaid, n_missed, missed_share)
    )
