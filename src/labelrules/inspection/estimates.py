"""How sure a count of right and wrong makes us."""

from dataclasses import dataclass
from math import sqrt
from numbers import Real
from statistics import NormalDist

from labelrules.rules import Evidence


@dataclass(frozen=True, slots=True)
class Estimate:
    """How probably a rule is right about a label, with an interval.

    Attributes
    ----------
    right, wrong : int
        Cells that the rule wrote rightly and wrongly.
    probability : float
        Laplace's estimate, (right + 1) / (right + wrong + 2).
    low, high : float
        Wilson's score interval for the share of right cells.
    level : float
        How often such intervals are to contain the true share.
    """

    right: int
    wrong: int
    probability: float
    low: float
    high: float
    level: float

    def __str__(self) -> str:
        return (
            f"right in {self.right} of {self.right + self.wrong} cells: probability "
            f"{self.probability:.2f}, {self.level:.0%} interval (Wilson) {self.low:.2f} to "
            f"{self.high:.2f}"
        )


def estimate(evidence: Evidence, level: float = 0.95) -> Estimate:
    """Estimate how probably a prediction with this evidence is right.

    The interval is Wilson's: it stays within 0 and 1, and is of use for few cells too. It takes
    the cells for a sample, so it says nothing on how evidence from training rows flatters a rule.

    Examples
    --------
    >>> print(estimate(Evidence(right=9, wrong=1)))
    right in 9 of 10 cells: probability 0.83, 95% interval (Wilson) 0.60 to 0.98
    """
    check_level(level)
    low, high = _wilson(evidence.right, evidence.right + evidence.wrong, level)
    return Estimate(*evidence, evidence.probability(), low, high, level)


def check_level(level: object) -> None:
    """Refuse what is no level of an interval."""
    if not isinstance(level, Real) or not 0 < float(level) < 1:
        raise ValueError(f"level must be between 0 and 1, such as 0.95, not {level!r}")


def _wilson(right: int, n: int, level: float) -> tuple[float, float]:
    if n == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = right / n
    middle = share + z * z / (2 * n)
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # The ends are exactly 0 and 1 where no cell is right or wrong; rounding must not hide it.
    low = 0.0 if right == 0 else (middle - spread) / scale
    return low, 1.0 if right == n else (middle + spread) / scale
