"""Random numbers that are the same with every version of every library."""

import numpy as np
import numpy.typing as npt

from labelrules._types import Integers

Bits = npt.NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)
_SHIFTS = np.array([30, 27, 31], dtype=np.uint64)
_FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)


class Chance:
    """SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators").

    Parameters
    ----------
    seed : int

    Examples
    --------
    >>> [hex(number) for number in Chance(0).draw(2).tolist()]
    ['0x7110541cbd8ee6d7', '0x373c4f3550dcb2fa']
    """

    def __init__(self, seed: int) -> None:
        self.state = np.array([seed % 2**64], dtype=np.uint64)

    def draw(self, size: int) -> Integers:
        """So many numbers from 0 to below 2**63."""
        # Arrays, not numbers: they wrap around without a warning.
        states = self.state + np.arange(1, size + 1, dtype=np.uint64) * _STEP
        self.state = self.state + np.array([size], dtype=np.uint64) * _STEP
        return (_mixed(states) >> np.uint64(1)).astype(np.int64)


def _mixed(bits: Bits) -> Bits:
    for shift, factor in zip(_SHIFTS, _FACTORS, strict=False):
        bits = (bits ^ (bits >> shift)) * factor
    return np.asarray(bits ^ (bits >> _SHIFTS[2]))
