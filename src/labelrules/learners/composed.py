"""What classifiers that are made of other classifiers have in common."""

from typing import Any

import numpy as np
from sklearn.utils import get_tags

from labelrules.data import Dataset
from labelrules.data.memory.encoding import encode
from labelrules.learners.explained import TheoryClassifier
from labelrules.learners.probability import Background, Smoothing
from labelrules.rules import DecisionList, LayeredTheory


class _NoTheory:
    """What `theory_` is as long as `fit` has made none."""

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        raise AttributeError(model._why_no_theory())


class ComposedClassifier(TheoryClassifier):
    """A multi-label classifier made of other classifiers.

    If these learn rules, it has a `theory_`.

    Parameters
    ----------
    base : classifier, optional
        What it is made of. By default `Ripper()`.
    """

    base: Any = None

    theory_ = _NoTheory()

    def _keep(self, theory: DecisionList | LayeredTheory, data: Dataset) -> None:
        """Take a theory for the result, with evidence from the training rows."""
        self.theory_ = theory.with_evidence(data, data.Y)
        self.background_ = Background.count(self._run(data).board, data.Y)

    @property
    def _smoothing(self) -> Smoothing:
        """As the base does it."""
        found: Smoothing = getattr(self.base, "smoothing", "laplace")
        return found

    def _forget(self) -> None:
        """Drop a theory that was learned before, maybe with another base."""
        self.__dict__.pop("theory_", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.base is not None:
            of_base = get_tags(self.base)
            tags.input_tags.allow_nan = of_base.input_tags.allow_nan
            tags.input_tags.sparse = of_base.input_tags.sparse
            tags.classifier_tags.poor_score = of_base.classifier_tags.poor_score
        return tags

    @property
    def _has_theory(self) -> bool:
        return "theory_" in self.__dict__

    def _why_no_theory(self) -> str:
        name = type(self).__name__
        if not hasattr(self, "schema_"):
            return f"this {name} has no theory_ yet: call fit first"
        return (
            f"this {name} has no theory_, because its base {type(self.base).__name__} does not "
            "learn rules; use SeparateAndConquer, Ripper or another RuleClassifier"
        )

    def _rows(self, X: Any) -> Dataset:
        """New rows, encoded; their labels do not matter."""
        matrix = encode(X, self.schema_)
        return Dataset(
            self.schema_, matrix, np.zeros((matrix.shape[0], self.n_labels_), dtype=np.int8)
        )
