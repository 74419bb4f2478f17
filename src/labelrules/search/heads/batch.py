"""The best heads of many bodies at once, for measures that tallies determine."""

from typing import NamedTuple

import numpy as np

from labelrules._checks import counted, one_of, whole_number
from labelrules._types import UNSET, Board, Floats, Integers
from labelrules.measures import Measure, Tally, confusion
from labelrules.search.heads.additive import RATIOS, literal_ratios, unit_values
from labelrules.search.heads.problem import Counting, Polarity, known_formula


class HeadsFound(NamedTuple):
    """For each body the best head, its value, and its right cells."""

    vectors: Board
    values: Floats
    correct: Integers

    def __repr__(self) -> str:
        n_bodies, n_labels = self.vectors.shape
        return f"HeadsFound({counted(n_bodies, 'body')}, {counted(n_labels, 'label')})"


def tallies_decide(measure: Measure, *, whole_rows: bool = True) -> bool:
    """Whether the best head follows from counts per label.

    `whole_rows`: whether each row counts with all its labels or with none.

    >>> [tallies_decide(Measure.parse(text)) for text in ("f1/micro/full", "f1/samples/full")]
    [True, False]
    """
    name = known_formula(measure)
    if measure.averaging == "samples":
        return whole_rows and name in ("precision", "hamming")
    return measure.averaging != "micro" or name in RATIOS


def best_heads(
    tallies: Tally,
    n_rows: int,
    measure: Measure | str,
    *,
    counting: Counting = "chapter",
    polarity: Polarity = "both",
    single: bool = False,
) -> HeadsFound:
    """The best head of every body.

    The same heads as :func:`labelrules.search.best_head` finds one by one, except that literals
    which add nothing to a ratio (0/0) are left out: a rule has nothing to write there.
    Scores within 1e-12 of each other, relatively, are equal.

    Parameters
    ----------
    tallies : Tally
        Covered ones and zeros, bodies by labels; all ones and zeros, per label. Open cells only.
    n_rows : int
        All rows, covered or not, for means over rows.
    measure : Measure or str
        One that tallies decide; see :func:`tallies_decide`.
    counting, polarity
        As for :func:`labelrules.search.best_head`.
    single : bool, default=False
        Whether heads have one label only (partial predictions).

    Examples
    --------
    >>> import numpy as np
    >>> from labelrules.measures import Tally
    >>> ones, zeros = [[3, 0], [1, 1]], [[1, 4], [0, 0]]
    >>> tallies = Tally(*(np.array(part) for part in (ones, zeros, [4, 1], [2, 5])))
    >>> best_heads(tallies, 6, "precision/micro/partial").vectors.tolist()
    [[-1, 0], [1, 1]]
    """
    from labelrules.kernels import heads as kernel

    measure = measure if isinstance(measure, Measure) else Measure.parse(measure)
    one_of(counting, "counting", ("chapter", "head-relative"))
    absence = one_of(polarity, "polarity", ("both", "presence")) == "both"
    whole_number(n_rows, "n_rows", low=1)
    _check_decided(measure, single)
    tallies = _checked(tallies)
    vectors = np.empty(tallies.covered_ones.shape, np.int8)
    full, micro = measure.predictions == "full", measure.averaging == "micro"
    if full and micro and measure.formula.name in ("recall", "f"):
        parts = literal_ratios(measure.formula, confusion(tallies, _BOTH, counting), n_rows)
        upper, lower = (part.astype(np.float64) for part in parts)
        values = kernel.dinkelbach(upper, lower, absence, vectors)
    else:
        scores = _scores(measure, n_rows, counting, tallies)
        values = (
            kernel.vote(scores, absence, vectors)
            if full
            else kernel.merge_singles(scores, absence, single, vectors)
        )
    counts = confusion(tallies, vectors, counting)
    totals = [np.where(full | (vectors != UNSET), part, 0).sum(axis=1) for part in counts]
    if full and micro:
        values = np.asarray(measure.formula(*totals), dtype=np.float64)
    return HeadsFound(vectors, values, totals[0])


_BOTH = np.array([[[0]], [[1]]])


def _check_decided(measure: Measure, single: bool) -> None:
    if single and measure.predictions == "full":
        raise ValueError("single=True is for partial predictions: a full one predicts every label")
    if single and measure.averaging == "micro":
        return  # the formula of the only label
    if not tallies_decide(measure):
        instead = "single=True" if measure.averaging == "micro" else "best_head"
        raise ValueError(
            f"counts per label do not determine the best head for {measure}: use {instead}"
        )


def _checked(tallies: Tally) -> Tally:
    """Whole numbers, bodies by labels and per label: compiled code does not check them."""
    inside = [np.atleast_2d(np.asarray(part)) for part in tallies[:2]]
    everywhere = [np.asarray(part) for part in tallies[2:]]
    shapes = [part.shape for part in (*inside, *everywhere)]
    n_labels = inside[0].shape[-1]
    if shapes != [inside[0].shape, inside[0].shape, (n_labels,), (n_labels,)]:
        raise ValueError(
            "a tally has covered ones and zeros of one shape, bodies by labels, and all ones and"
            f" zeros, one per label; these have the shapes {', '.join(map(str, shapes))}"
        )
    if inside[0].ndim != 2 or n_labels == 0:
        raise ValueError(f"the tally has no labels: its counts have the shape {shapes[0]}")
    for part in (*inside, *everywhere):
        if part.dtype.kind not in "iu":
            raise ValueError(f"a tally holds whole numbers, not {part.dtype}")
    return Tally(*(np.ascontiguousarray(part, np.int64) for part in (*inside, *everywhere)))


def _scores(measure: Measure, n_rows: int, counting: Counting, tallies: Tally) -> Floats:
    """The score of each literal: bodies by values (0, 1) by labels."""
    from labelrules.kernels.compile import kernels_for, scoring_for

    weights = _weights(measure, n_rows)
    if weights is None:
        scoring = scoring_for(measure.formula, counting)
        by_formula: Floats = kernels_for(measure.formula, counting).score_tallies(scoring, *tallies)
        return by_formula
    *weights_of_counts, constant = weights
    counts = confusion(tallies, _BOTH, counting)
    total = sum(weight * part for weight, part in zip(weights_of_counts, counts, strict=True))
    return np.ascontiguousarray(np.moveaxis(total + constant, 0, 1))


def _weights(measure: Measure, n_rows: int) -> Floats | None:
    """Weights of the four counts, and a constant; None where the score is the formula's."""
    is_hamming = measure.formula.name == "hamming"
    if measure.averaging == "cell":
        *each, empty = unit_values(measure.formula)
        return np.array([*((value - empty) / n_rows for value in each), empty])
    if measure.averaging == "samples":
        return np.array([1, 0, is_hamming, 0, 0]) / n_rows
    if measure.predictions == "full" and measure.averaging == "micro":
        # The summed counts rise with the right cells, so each label votes by these.
        return np.array([1.0, 0.0, is_hamming, 0.0, 0.0])
    return None
