"""Lists and scorecards on data sets for which nothing was tuned, by cross-validation.

Five folds of the training part, or of all rows of a set that comes undivided; of bibtex the first
100 labels. Defaults everywhere. Logistic regression is scikit-learn's, once per label, on columns
scaled to unit variance. Literals are those of one theory in the mean, for logistic regression the
weights that are not 0; CPU time is that of five times learning and predicting.
``python other_sets.py SET...`` runs some of the sets only.
"""

import os
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from parts.sets import folder, have_data
from parts.tables import header, row
from quality import qualities
from scipy.sparse import issparse
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from labelrules import Dataset, Schema, load
from labelrules.learners import BinaryRelevance, Ripper, Scorecard, SeparateAndConquer
from labelrules.learners.base.sampling import folds_of

N_FOLDS, N_LABELS = 5, 100
DIVIDED = ("bibtex", "tmc2007-500")
SETS = ("bibtex", "CAL500", "ohsumed", "tmc2007-500", "rcv1subset1")


class LogisticRegressions:
    """Logistic regression for each label; a label that all rows have, or none, stays so."""

    def fit(self, data: Dataset) -> "LogisticRegressions":
        """Fit one for each label."""
        self.scaler = StandardScaler(with_mean=not issparse(data.X))
        X = self.scaler.fit_transform(data.X)
        self.models = [
            LogisticRegression(solver="liblinear").fit(X, truth)
            if 0 < truth.mean() < 1
            else truth[0]
            for truth in data.Y.T
        ]
        return self

    def predict(self, data: Dataset) -> np.ndarray:
        """Rows by labels."""
        X = self.scaler.transform(data.X)
        found = [
            one.predict(X) if isinstance(one, LogisticRegression) else np.full(data.n_rows, one)
            for one in self.models
        ]
        return np.column_stack(found)

    @property
    def n_weights(self) -> int:
        """Weights that are not 0."""
        fitted = [one for one in self.models if isinstance(one, LogisticRegression)]
        return sum(int(np.count_nonzero(one.coef_)) for one in fitted)


LEARNERS: dict[str, Callable[[], Any]] = {
    "separate-and-conquer": SeparateAndConquer,
    "scorecard": Scorecard,
    "BR (RIPPER)": lambda: BinaryRelevance(Ripper()),
    "BR, last resort (RIPPER)": lambda: BinaryRelevance(Ripper(), last_resort=0.4),
    "logistic regression": LogisticRegressions,
}


def data_of(name: str) -> Dataset:
    """The rows, with at most `N_LABELS` labels if the set is bibtex."""
    data = load(name, folder(), part="train" if name in DIVIDED else None)
    if name != "bibtex":
        return data
    schema = Schema(data.schema.features, data.schema.labels[:N_LABELS])
    return Dataset(schema, data.X, data.Y[:, :N_LABELS])


def literals(model: Any) -> int:
    return int(model.theory_.n_literals if hasattr(model, "theory_") else model.n_weights)


def measured(data: Dataset, make: Callable[[], Any]) -> list[float]:
    """Qualities, literals and CPU seconds, by cross-validation."""
    folds = folds_of(data, N_FOLDS, 0)
    predicted, sizes, seconds = np.zeros_like(data.Y), [], 0.0
    for fold in range(N_FOLDS):
        known, new = (data.take(np.flatnonzero(part)) for part in (folds != fold, folds == fold))
        start = time.process_time()
        model = make().fit(known)
        found = model.predict(new)
        seconds += time.process_time() - start
        predicted[folds == fold] = np.asarray(found)
        sizes.append(literals(model))
    return [*qualities(data.Y, predicted)[:3], float(np.mean(sizes)), seconds]


def main() -> None:
    if not have_data():
        return
    warnings.simplefilter("ignore")
    for make in LEARNERS.values():
        make().fit(load("emotions", folder(), part="train"))  # compiles
    print(header(
        "set", "learner", "micro-F1", "example-F1", "subset acc.", "literals", "CPU s"
    ))  # fmt: skip
    for name in sys.argv[1:] or SETS:
        data = data_of(name)
        for learner, make in LEARNERS.items():
            *found, size, seconds = measured(data, make)
            cells = [*(f"{one:.3f}" for one in found), f"{size:,.0f}", f"{seconds:.1f}"]
            print(row(name, learner, *cells), flush=True)


if __name__ == "__main__":
    main()
