"""The best set of categories by trying all of them, in plain Python."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, inf, log2

Counts = tuple[int, int]
"""Right and wrong cells."""


def subsets(codes: Sequence[int], least: int, most: int) -> Iterator[tuple[int, ...]]:
    """All sets of at least and at most so many categories, small ones first."""
    for size in range(least, most + 1):
        yield from combinations(codes, size)


def added(counts: dict[int, Counts], codes: Sequence[int]) -> Counts:
    """Right and wrong cells of some categories."""
    return sum(counts[code][0] for code in codes), sum(counts[code][1] for code in codes)


def confusion(value: int, counting: str, inside: Counts, everywhere: Counts) -> tuple[int, ...]:
    """True and false positives, true and false negatives of predicting a value inside."""
    right, wrong = inside
    missed, rejected = everywhere[0] - right, everywhere[1] - wrong
    if value == 0 and counting == "chapter":  # what is missed are present labels
        missed, rejected = rejected, missed
    return right, wrong, rejected, missed


def score(formula, value, counting, smallest, inside, everywhere) -> float:
    """The value of the measure; minus infinity where nothing is right or too little is covered."""
    if inside[0] == 0 or sum(inside) < smallest:
        return -inf
    return float(formula(*confusion(value, counting, inside, everywhere)))


def best_sets(
    formula, value, counting, smallest, counts, everywhere
) -> tuple[tuple[float, int], list[tuple[int, ...]]]:
    """The score and the right cells of the best sets, single categories and all included."""
    codes = [code for code, cells in counts.items() if sum(cells)]
    merits = {}
    for chosen in subsets(codes, 1, len(codes)):
        cells = added(counts, chosen)
        merits[chosen] = score(formula, value, counting, smallest, cells, everywhere), cells[0]
    best = max(merits.values(), default=(-inf, -1))
    return best, [chosen for chosen, merit in merits.items() if merit == best]


def bits(right: int, wrong: int) -> float:
    """What it takes to tell right cells from wrong ones."""
    return -sum(n * log2(n / (right + wrong)) for n in (right, wrong) if n)


def saved(inside: Counts, around: Counts) -> float:
    """By how many bits it takes less if it is known which cells are inside."""
    outside = around[0] - inside[0], around[1] - inside[1]
    return bits(*around) - bits(*inside) - bits(*outside)


def is_worth_naming(size, inside, counts, around, n_categories) -> bool:
    """Whether a set saves more bits than name it, by size and members, and more than `=` does."""
    single = max(saved(cells, around) - log2(n_categories) for cells in counts.values())
    named = log2(n_categories) + log2(comb(n_categories, size))
    return saved(inside, around) - named > max(single, 0.0) + 1e-9


def greedy_set(formula, counts, everywhere) -> tuple[tuple[float, int], list[int]]:
    """Two categories at least, but not all, each the best one to add, while one makes it better."""
    chosen: list[int] = []
    merit = (-inf, -1)
    while len(chosen) < len(counts) - 1:
        merits = {}
        for code in counts:
            if code not in chosen:
                cells = added(counts, [*chosen, code])
                value = score(formula, 1, "head-relative", 1, cells, everywhere)
                merits[code] = value, cells[0]
        best = max(merits, key=lambda code: merits[code])  # the first of equal ones
        if len(chosen) > 1 and merits[best] <= merit:
            break
        chosen.append(best)
        merit = merits[best]
    return merit, chosen
