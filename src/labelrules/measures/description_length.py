"""The description length of rules and their exceptions, in bits.

As in W. W. Cohen's RIPPER ("Fast Effective Rule Induction", ICML 1995), after J. R. Quinlan
("MDL and Categorical Theories (Continued)", ICML 1995).
"""

from math import comb, inf, log2


def body_bits(size: int, n_possible: int) -> float:
    """The bits that encode how many and which of the possible conditions a body has."""
    if size == 0:
        return 0.0
    bits = log2(size) + (2 * log2(log2(size)) if size > 1 else 0.0)
    return bits + subset_bits(n_possible, size, size / n_possible)


def condition_bits(size: int, n_possible: int) -> float:
    """The bits that encode conditions one by one: each takes as many as the first.

    By `body_bits` a further condition takes fewer bits the longer the body is, so that bodies of
    a hundred conditions on rare words would pay.

    >>> condition_bits(3, 1024)
    30.0
    """
    return size * log2(n_possible) if n_possible > 1 else float(size)


def category_bits(n_categories: int, size: int) -> float:
    """The bits that encode which of the sets of so many categories a condition tests for.

    They come on top of the bits for the column and for a number of categories.

    >>> category_bits(4, 2), category_bits(4, 4)
    (2.584962500721156, 0.0)
    """
    return log2(comb(n_categories, size))


def label_bits(n_labels: int) -> float:
    """The bits for a label in a head: which one, and half as much again for a rule more to read."""
    return 1.5 * log2(n_labels)


def subset_bits(n: float, k: float, share: float) -> float:
    """The bits that encode a choice of k out of n, each expected with this probability."""
    bits = 0.0
    if k > 0:
        bits -= k * log2(share) if share > 0 else -inf
    if n > k and share < 1:
        bits -= (n - k) * log2(1 - share)
    return bits


def exception_bits(
    n_covered: float, n_uncovered: float, n_wrong: float, n_missed: float, n_true: float
) -> float:
    """The bits that encode which rows are wrongly covered and which are missed.

    The expected share of errors in the larger part is that of the other part, so that errors
    cannot hide where there are many rows.
    """
    n_errors, share = n_wrong + n_missed, n_true / (n_covered + n_uncovered)
    wrong_share = n_wrong / n_covered if n_covered else 0.0
    missed_share = n_missed / n_uncovered if n_uncovered else 0.0
    if n_covered > n_uncovered and share * n_errors < n_covered:
        wrong_share = share * n_errors / n_covered
    elif n_uncovered >= max(1, n_covered) and (1 - share) * n_errors < n_uncovered:
        missed_share = (1 - share) * n_errors / n_uncovered
    return (
        log2(n_covered + n_uncovered + 1)
        + subset_bits(n_covered, n_wrong, wrong_share)
        + subset_bits(n_uncovered, n_missed, missed_share)
    )
