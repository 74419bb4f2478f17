"""A toy learner: the most frequent labels for every row."""

import numpy as np

from labelrules import DecisionList, Head, Rule
from labelrules.learners import RuleClassifier, register


@register
class MostFrequent(RuleClassifier):
    """Predict the most frequent labels for every row, if more than half of the rows have them.

    Parameters
    ----------
    n_labels : int, default=1
    smoothing : "laplace" or float, default="laplace"
    """

    def __init__(self, n_labels=1, smoothing="laplace"):
        self.n_labels = n_labels
        self.smoothing = smoothing

    def _learn(self, data, prefix):
        shares = data.Y.mean(axis=0)
        chosen = np.argsort(-shares, kind="stable")[: self.n_labels]
        head = {j: int(j in chosen and shares[j] > 0.5) for j in range(data.schema.n_labels)}
        return DecisionList(data.schema, [*(prefix or ()), Rule(Head(head, len(head)))])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
