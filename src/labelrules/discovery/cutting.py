"""Cut a stretch of rows into pieces, one cut after the other."""

from collections.abc import Callable


def cut_again(
    n_rows: int, best_cut: Callable[[int, int], tuple[float, int]], n_pieces: int
) -> list[int]:
    """Cut the piece whose best cut saves most, as long as it saves anything.

    Of pieces that are as good the first one made is cut.

    Parameters
    ----------
    n_rows : int
    best_cut : function
        From the first row of a piece, and the row after its last, to what its best cut saves
        and the row before which it is.
    n_pieces : int
        How many pieces there may be.

    Examples
    --------
    >>> cut_again(8, lambda start, stop: (stop - start - 2, (start + stop) // 2), 3)
    [2, 4]
    """
    pieces = [(0, n_rows, *best_cut(0, n_rows))]
    cuts: list[int] = []
    while len(cuts) + 1 < n_pieces:
        saved, number = max((piece[2], -k) for k, piece in enumerate(pieces))
        if saved <= 0:
            break
        first, last, _, cut = pieces.pop(-number)
        cuts.append(cut)
        pieces += [(a, b, *best_cut(a, b)) for a, b in ((first, cut), (cut, last))]
    return sorted(cuts)
