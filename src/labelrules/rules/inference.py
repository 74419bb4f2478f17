"""How the last layer of a layered theory comes to its result: four ways, as values."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Once:
    """The last layer is asked once; nobody looks at its result."""


@dataclass(frozen=True, slots=True)
class UntilStable:
    """The last layer reads its own result again and again, until nothing changes.

    All labels change at the same time, so that labels which exclude each other may flip for ever.
    A row that is not stable after the last round keeps what the first round said.

    Parameters
    ----------
    max_rounds : int, default=10
        How often the layer is asked at most; the first time counts.
    """

    max_rounds: int = 10

    def __post_init__(self) -> None:
        _check_count(self, "max_rounds", 1)


@dataclass(frozen=True, slots=True)
class LabelByLabel:
    """The last layer writes one label after the other, each seeing those written before it.

    Parameters
    ----------
    max_rounds : int, default=10
        How often all labels are gone through at most; it ends when nothing changes. A row that
        is not stable after the last round keeps what the first round said.
    order : iterable of int, optional
        The labels by their numbers, each once; by default in the order of the schema.
    """

    max_rounds: int = 10
    order: tuple[int, ...] | None = None

    def __init__(self, max_rounds: int = 10, order: Iterable[int] | None = None) -> None:
        object.__setattr__(self, "max_rounds", max_rounds)
        object.__setattr__(self, "order", None if order is None else tuple(order))
        _check_count(self, "max_rounds", 1)

    def labels(self, n_labels: int) -> tuple[int, ...]:
        """All labels, in their order."""
        found = tuple(range(n_labels)) if self.order is None else self.order
        if sorted(found) != list(range(n_labels)):
            raise ValueError(
                f"order must name each of the {n_labels} labels once, by its number; it is {found}"
            )
        return found


@dataclass(frozen=True, slots=True)
class Gibbs:
    """The last layer is sampled from: a conditional dependency network.

    Each round goes through the labels and draws each anew, present with the probability of the
    rule that decides it, given the row and the labels as they are. What is predicted is what is
    present in more than half of the rounds, in the mean of these probabilities. All rows are given
    the same random numbers, so the result for a row does not depend on other rows.

    Parameters
    ----------
    n_samples : int, default=200
        Rounds that count.
    burn_in : int, default=50
        Rounds before them, which do not.
    seed : int, default=0
    """

    n_samples: int = 200
    burn_in: int = 50
    seed: int = 0

    def __post_init__(self) -> None:
        _check_count(self, "n_samples", 1)
        _check_count(self, "burn_in", 0)
        _check_count(self, "seed", 0)


Inference: TypeAlias = Once | UntilStable | LabelByLabel | Gibbs
"""A way to infer labels by rules that test labels."""


def _check_count(way: object, name: str, lowest: int) -> None:
    value = getattr(way, name)
    if isinstance(value, bool) or not isinstance(value, Integral) or value < lowest:
        raise ValueError(f"{name} must be a whole number of at least {lowest}, not {value!r}")
    object.__setattr__(way, name, int(value))
