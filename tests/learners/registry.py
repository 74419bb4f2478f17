"""Every learner, as the tests of scikit-learn's conventions take it."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from labelrules import Body, Condition, DecisionList, Head, Rule
from labelrules.data import Dataset
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    LabelPowerset,
    Ripper,
    RuleClassifier,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.mining import AssociativeClassifier, LazyAssociativeClassifier
from labelrules.rules import Gibbs


class Stumps(RuleClassifier):
    """For each label its best single condition, and the majority last: the least of a learner."""

    def __init__(self, *, use_conditions=True, smoothing="laplace", warm_start=False):
        self.use_conditions = use_conditions
        self.smoothing = smoothing
        self.warm_start = warm_start

    def _learn(self, data, prefix):
        n_labels = data.schema.n_labels
        rules = list(prefix or ())
        for label in range(n_labels if self.use_conditions else 0):
            condition = best_condition(data, label)
            if condition is not None:
                rules.append(Rule(Head({label: 1}, n_labels), Body([condition])))
        majority = data.Y.mean(axis=0) > 0.5
        rules.append(Rule(Head(dict(enumerate(majority.astype(int).tolist())), n_labels)))
        return DecisionList(data.schema, rules)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


def best_condition(data: Dataset, label: int) -> Condition | None:
    """The condition that covers most ones more than zeros, the first of several."""
    truth = data.Y[:, label] == 1
    best, most = None, 0
    for column in range(data.schema.n_features):
        cells = data.column(column)
        for value in np.unique(cells[~np.isnan(cells)])[:20].tolist():
            if data.schema.features[column].is_nominal:
                conditions = [Condition(column, "=", value)]
            else:
                conditions = [Condition(column, "<=", value), Condition(column, ">", value)]
            for condition in conditions:
                covered = condition.holds(cells)
                gain = int((covered & truth).sum()) - int((covered & ~truth).sum())
                if gain > most:
                    best, most = condition, gain
    return best


CHAPTER = {"pruning": None, "last_resort": None, "min_coverage": 1, "fixed_head": False}
"""The chapter's algorithm: every rule stays as it was found."""

RULE_LEARNERS = [
    Stumps(),
    SeparateAndConquer(),
    SeparateAndConquer(bins=16),
    SeparateAndConquer(
        heads="multi", measure="precision", polarity="both", stop_share=0.01, **CHAPTER
    ),
]
"""Learners of one decision list."""

ONE_LABEL_LEARNERS = [
    Ripper(),
    Ripper(bins=16),
    Ripper(n_passes=0, n_folds=2, min_coverage=1, smoothing=2.0),
]
"""Learners that refuse several labels."""

COMPOSED = [
    BinaryRelevance(SeparateAndConquer()),
    ClassifierChain(Stumps(), order="dependence"),
    StackedBinaryRelevance(SeparateAndConquer(), labels_from="truth"),
    StackedBinaryRelevance(
        Stumps(), own_label=True, n_layers=3, inference="until stable", last_resort=0.3
    ),
]
"""Learners that make one theory of the rules of others."""

VOTING = [
    Scorecard(literal_cost=0.3),
    ClassifierChain(Stumps(), n_chains=3),
    LabelPowerset(SeparateAndConquer()),
    StackedBinaryRelevance(Stumps(), inference=Gibbs(20, 5), labels_from="truth"),
    BinaryRelevance(LogisticRegression(max_iter=10_000)),
    ClassifierChain(LogisticRegression(max_iter=10_000)),
    LabelPowerset(LogisticRegression(max_iter=10_000)),
    StackedBinaryRelevance(
        LogisticRegression(max_iter=10_000), inference="label by label", labels_from="truth"
    ),
    ConstrainedClassifier(BinaryRelevance(Stumps()), alpha=None),
]
"""Learners whose answer is not that of one theory, or is drawn by lot."""

VARIANTS = [
    ClassifierChain(n_chains=2),
    ClassifierChain(Stumps(), n_chains=2, bootstrap=False),
    SeparateAndConquer(pruning="irep"),
    SeparateAndConquer(polarity="both"),
    SeparateAndConquer(polarity="presence", smoothing=2.0),
    SeparateAndConquer(order="prepend", pruning=None),
    Ripper(pruning=False),
    LabelPowerset(),
    ConstrainedClassifier(),
]
"""Other settings, which the checks of scikit-learn and the tests of weights take, too."""

WRAPPED = [ConstrainedClassifier(DecisionTreeClassifier(random_state=0))]
"""Around classifiers that are not ours, and so with their ways with tables."""

EXCEPTIONS = {
    "check_classifiers_multilabel_output_format_predict_proba": (
        "an array of probabilities must be above 0 and below 1 there, and those of a tree are not"
    )
}
"""Checks of scikit-learn that those do not pass, and why."""

ASSOCIATIVE = [AssociativeClassifier(), AssociativeClassifier(m=0, bins="frequency", n_bins=4)]
"""Learners of a list that is chosen from mined rules."""

LAZY = [
    LazyAssociativeClassifier(),
    LazyAssociativeClassifier(threshold=0.5, max_conditions=1, bins="width", n_bins=4),
]
"""Learners that make rules only when they are asked."""

LEARNERS = [*RULE_LEARNERS, *COMPOSED, *ASSOCIATIVE, *VOTING, *LAZY]
