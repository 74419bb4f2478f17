"""How probable a finding is by chance, and what remains of that when many were looked for."""

from typing import Literal

import numpy as np

from labelrules._types import Floats

Correction = Literal["holm", "benjamini-hochberg"] | None


def adjusted(p: Floats, correction: Correction) -> Floats:
    """Probabilities corrected for their number.

    Examples
    --------
    >>> import numpy as np
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "holm")
    array([0.03, 0.06, 0.06])
    >>> adjusted(np.array([0.01, 0.04, 0.03]), "benjamini-hochberg")
    array([0.03, 0.04, 0.04])
    """
    if correction is None:
        return p
    n = len(p)
    order = np.argsort(p, kind="stable")
    if correction == "holm":
        raised = np.maximum.accumulate(p[order] * (n - np.arange(n)))
    elif correction == "benjamini-hochberg":
        raised = np.minimum.accumulate((p[order] * n / (np.arange(n) + 1))[::-1])[::-1]
    else:
        raise ValueError(
            f"correction must be 'holm', 'benjamini-hochberg' or None, not {correction!r}"
        )
    found = np.empty(n)
    found[order] = np.minimum(raised, 1.0)
    return found


def checked_alpha(alpha: float) -> float:
    """The level of significance, if it is one."""
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, not {alpha!r}")
    return float(alpha)
