"""FOIL's search on a GPU."""

from typing import Any

import numpy as np

from labelrules._types import Floats, Integers, Mask
from labelrules.data.codes.bins import Bins
from labelrules.kernels.device import gpu_errors
from labelrules.scale.gpu.codes import GpuCodes
from labelrules.search.bodies.foil import (
    PRESENT,
    CodedFoilSearch,
    RandomDivision,
    keys_of_codes,
    logarithms,
)


class GpuFoilSearch(CodedFoilSearch):
    """FOIL's search on codes that are counted on a GPU, for rows without weights.

    Rows come and go as bits; sums come back, and the best cut is found on the CPU.
    """

    def __init__(self, bins: Bins, codes: GpuCodes) -> None:
        self.bins, self.on_gpu, self.kernels = bins, codes, codes.kernels
        n_rows, columns = codes.n_rows, range(len(bins.columns))
        try:
            with gpu_errors():
                own = (self.kernels.to_host(codes.column(at))[:n_rows] for at in columns)
                keys = keys_of_codes(bins, own, n_rows)
        except BaseException:
            codes.close()
            raise
        RandomDivision.__init__(self, keys, bins.n_conditions, None, 1.0)
        self.logs = logarithms(n_rows + 1)

    def close(self) -> None:
        """Give the memory of the GPU back."""
        self.on_gpu.close()

    def _set_of(self, rows: Mask) -> Any:
        found = self.kernels.room_for_sets(1, self.n_rows)[0]
        self.kernels.pack(self.kernels.array(rows.view(np.int8)), 1, found)
        return found

    def grow(
        self, positive: Mask, covered: Mask, least: int, cuts: Integers | None = None
    ) -> Integers:
        """Add cuts to a rule, the best by FOIL's gain, while it covers negative rows."""
        from labelrules.kernels.ripper_codes import best_cut

        with gpu_errors():
            rows, right, added = self._set_of(covered), self._set_of(positive), list[Any]()
            while (table := self._table(rows, right)).size:
                inside = int(table[: self.bins.start[1]].sum())
                if inside & PRESENT >= inside >> 32:
                    break
                cut = best_cut(
                    table, self.bins.start, self.bins.nominal, inside, 1.0, least, self.logs
                )
                if cut[0] < 0:
                    break
                added.append(cut)
                rows = self._narrowed(rows, *cut)
        found = np.array(added, dtype=np.int64).reshape(-1, 3)
        return found if cuts is None else np.concatenate([cuts, found])

    def _table(self, rows: Any, positive: Any) -> Integers:
        """The sums of some rows by the codes of all columns."""
        counts = self.kernels.room_for_counts(int(self.bins.start[-1]))
        self.on_gpu.count(rows, positive, counts)
        return np.asarray(self.kernels.read(counts))

    def _narrowed(self, rows: Any, column: int, second: int, code: int) -> Any:
        """The rows of a set for which a cut holds."""
        missing = int(self.bins.start[column + 1] - self.bins.start[column]) - 1
        low, outside = (code, False) if self.bins.nominal[column] else (0, bool(second))
        return self.kernels.narrow(rows, self.on_gpu.column(column), low, code, outside, missing)

    def covered_by(
        self, cuts: Integers, held: Mask, positive: Mask
    ) -> tuple[Mask, Integers | Floats]:
        """The rows that the first 0, 1, ... cuts cover, and counts of those held out."""
        kernels, n = self.kernels, len(cuts) + 1
        with gpu_errors():
            held_out = self._set_of(held)
            right = kernels.common(held_out, self._set_of(positive))
            counts = kernels.room_for_counts(2 * n)
            rows, covered = kernels.every(self.n_rows), np.empty((n, self.n_rows), np.bool_)
            for at in range(n):
                if at:
                    rows = self._narrowed(rows, *cuts[at - 1].tolist())
                kernels.count_common(rows, held_out, counts[at : at + 1])
                kernels.count_common(rows, right, counts[n + at : n + at + 1])
                covered[at] = kernels.unpack(rows, self.n_rows)
            return covered, np.asarray(kernels.read(counts)).reshape(2, n)
