"""Learners of this library, as `worker.py` runs them."""

from typing import Any

import numpy as np
from parts.sets import part

from labelrules._compiling import compiling_seconds
from labelrules.learners import registered
from peers.counting import Size


def made(settings: dict[str, Any]) -> Any:
    """A learner by its name on the command line and its settings, of which `base` is another one.

    >>> made({"learner": "binary-relevance", "base": {"learner": "ripper"}})
    BinaryRelevance(base=Ripper())
    """
    given = {
        name: made(value) if isinstance(value, dict) else value for name, value in settings.items()
    }
    return registered()[given.pop("learner")](**given)


class Own:
    """A learner with the data set itself, whose schema knows what the features are."""

    reads = "codes"

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        # what is not kept on disk yet is compiled here, and not counted
        made(settings).fit(part("flags", "train")).predict(part("flags", "test"))
        self.name, self.model = name, made(settings)
        self.train, self.test = part(name, "train"), part(name, "test")

    @staticmethod
    def seconds_not_counted() -> float:
        """What was spent on compiling so far."""
        return compiling_seconds()

    def fit(self, X: np.ndarray, Y: np.ndarray, kinds: np.ndarray) -> None:
        """Learn from the training part."""
        self.model.fit(self.train)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The labels of the test part."""
        return np.asarray(self.model.predict(self.test))

    def size(self) -> Size:
        """Rules and literals; of all theories where several vote."""
        theories = getattr(self.model, "theories_", None) or [self.model.theory_]
        return Size(sum(map(len, theories)), sum(int(one.n_literals) for one in theories))
