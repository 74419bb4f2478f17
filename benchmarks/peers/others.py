"""Learners of other programs, each with `fit`, `predict` and `size`; run by `worker.py`.

Each is imported when it is made: this runs in the environment of the other programs.
"""

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from peers import counting
from peers.counting import Size

SEQUENTIAL = {"parallel_rule_refinement": "false", "parallel_statistic_update": "false"}


class Mlrl:
    """mlrl-seco and mlrl-boomer, which know of nominal features."""

    reads = "codes"

    def __init__(self, program: str, settings: dict[str, Any]) -> None:
        if program == "mlrl-seco":
            from mlrl.seco import SeCoClassifier as Learner
        else:
            from mlrl.boosting import BoomerClassifier as Learner
        self.votes = program == "mlrl-boomer"
        # one thread by OMP_NUM_THREADS: mlrl-boomer 0.12.3 crashes with parallel_prediction=false
        self.model = Learner(**SEQUENTIAL, **settings)

    def fit(self, X: np.ndarray, Y: np.ndarray, kinds: np.ndarray) -> None:
        """Learn; features with three categories or more are nominal."""
        nominal = np.flatnonzero(kinds > 2).tolist()
        options = {"nominal_feature_indices": nominal} if nominal else {}
        self.model.fit(np.asfortranarray(X), Y.astype(np.uint8), **options)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Rows by labels."""
        found = self.model.predict(X)
        return np.asarray(found.toarray() if hasattr(found, "toarray") else found)

    def size(self) -> Size:
        """Rules and literals."""
        return counting.of_mlrl(self.model.model_, self.votes)


class PerLabel:
    """Binary relevance over a learner of one label; constant labels are not learned."""

    def __init__(
        self, make: Callable[[], Any], size: Callable[[Any], Size], reads: str = "numbers"
    ) -> None:
        self.make, self.size_of, self.reads = make, size, reads

    def fit(self, X: np.ndarray, Y: np.ndarray, kinds: np.ndarray) -> None:
        """Learn a model for each label."""
        self.models: list[Any] = []
        for truth in Y.T.astype(int):
            if truth.min() == truth.max():
                self.models.append(int(truth[0]))
                continue
            model = self.make()
            if self.reads == "codes":
                model.fit(X, truth, kinds)
            else:
                model.fit(X, truth)
            self.models.append(model)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Rows by labels."""
        found = [
            np.full(len(X), one) if isinstance(one, int) else np.asarray(one.predict(X))
            for one in self.models
        ]
        return np.column_stack(found)

    def size(self) -> Size:
        """The models of all labels."""
        constant = [Size(one, one) for one in self.models if isinstance(one, int)]
        learned = [self.size_of(one) for one in self.models if not isinstance(one, int)]
        return counting.total(constant + learned)


class AllLabels:
    """A learner of scikit-learn for all labels at once."""

    reads = "numbers"

    def __init__(self, model: Any, size: Callable[[Any], Size]) -> None:
        self.model, self.size_of = model, size

    def fit(self, X: np.ndarray, Y: np.ndarray, kinds: np.ndarray) -> None:
        """Learn; scikit-learn knows of no kinds."""
        self.model.fit(X, Y.astype(int))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Rows by labels."""
        return np.asarray(self.model.predict(X))

    def size(self) -> Size:
        """Rules and literals."""
        return self.size_of(self.model)


class Wittgenstein:
    """RIPPER of wittgenstein for one label; categories are texts."""

    def __init__(self, **settings: Any) -> None:
        import wittgenstein

        self.model = wittgenstein.RIPPER(**settings)

    def fit(self, X: np.ndarray, y: np.ndarray, kinds: np.ndarray) -> None:
        """Learn rules for the presence of the label."""
        import pandas as pd

        self.nominal = [f"x{j}" for j in np.flatnonzero(kinds > 2)]
        self.model.fit(self._table(X), pd.Series(y, name="y"), pos_class=1)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Presence in each row."""
        return np.array([int(one) for one in self.model.predict(self._table(X))])

    def _table(self, X: np.ndarray) -> Any:
        import pandas as pd

        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        return table.astype(dict.fromkeys(self.nominal, str))


class OrangeCN2:
    """CN2 of Orange for one label."""

    def __init__(self, ordered: bool) -> None:
        from Orange.classification import rules

        self.learner = rules.CN2Learner() if ordered else rules.CN2UnorderedLearner()

    def fit(self, X: np.ndarray, y: np.ndarray, kinds: np.ndarray) -> None:
        """Learn rules for presence and absence of the label."""
        from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table

        names = [f"x{j}" for j in range(X.shape[1])]
        features = [
            DiscreteVariable(name, [str(code) for code in range(kind)])
            if kind
            else ContinuousVariable(name)
            for name, kind in zip(names, kinds.tolist(), strict=True)
        ]
        domain = Domain(features, DiscreteVariable("y", ("0", "1")))
        self.model = self.learner(Table.from_numpy(domain, X, y.astype(float)))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Presence in each row."""
        return np.asarray(self.model.predict(X)).argmax(axis=1)


def _imodels(name: str, settings: dict[str, Any]) -> PerLabel:
    import imodels

    sizes: dict[str, Callable[[Any], Size]] = {
        "GreedyRuleListClassifier": lambda model: counting.of_greedy_list(model.rules_),
        "FIGSClassifier": lambda model: counting.of_figs(model.trees_),
        "SkopeRulesClassifier": lambda model: counting.of_skope(model.rules_),
        "RuleFitClassifier": lambda model: counting.of_rulefit(
            model.rules_, model.coef[: model.n_features_]
        ),
    }
    return PerLabel(lambda: getattr(imodels, name)(**settings), sizes[name])


def _scikit_learn(settings: dict[str, Any]) -> Any:
    from sklearn import ensemble, tree

    settings = dict(settings)
    name, per_label = settings.pop("learner"), settings.pop("per_label", False)
    if name == "tuned forest":
        from parts.forests import TunedForest

        kind = TunedForest(**settings)
        return AllLabels(kind, lambda model: counting.of_forest(model.forest))
    if name == "DecisionTreeClassifier":
        make, size = lambda: tree.DecisionTreeClassifier(**settings), counting.of_tree
    else:
        make, size = lambda: getattr(ensemble, name)(**settings), counting.of_forest
    return PerLabel(make, size) if per_label else AllLabels(make(), size)


def made(program: str, settings: dict[str, Any]) -> Any:
    """A learner by its program and settings."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    if program.startswith("mlrl-"):
        return Mlrl(program, settings)
    if program == "wittgenstein":
        return PerLabel(
            lambda: Wittgenstein(**settings),
            lambda one: counting.of_wittgenstein(one.model.ruleset_.rules),
            "codes",
        )
    if program == "orange3":
        return PerLabel(
            lambda: OrangeCN2(**settings),
            lambda one: counting.of_cn2(one.model.rule_list),
            "codes",
        )
    if program == "imodels":
        given = dict(settings)
        return _imodels(given.pop("learner"), given)
    if program == "scikit-learn":
        return _scikit_learn(settings)
    raise ValueError(f"there is no program {program!r}")
