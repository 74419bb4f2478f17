"""Features as numbers, for classifiers that know no categories."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from labelrules._types import Floats, Matrix
from labelrules.data.schema import Feature
from labelrules.data.table import Dataset, column_of


def numeric_features(data: Dataset) -> Matrix:
    """Features as numbers for any classifier.

    A nominal feature becomes a column of 0 and 1 for each category, or for the second if it has
    two. Where its value is missing, all of them are 0: most classifiers refuse NaN, and a missing
    value satisfies no condition. Categories that have an order are numbered; these numbers, and
    those of numeric features and times, are NaN where they are missing.

    >>> from labelrules.data import dataset
    >>> size, city = ["S", "M", "L", None], ["Ulm", "Bonn", None, "Ulm"]
    >>> numeric_features(dataset(list(zip(size, city)), [1, 0, 1, 0]))
    array([[0., 0., 1., 1.],
           [0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 1.]])
    """
    if not any(feature.is_nominal for feature in data.schema.features):
        return data.X
    columns = [np.empty((data.n_rows, 0))]
    for index, feature in enumerate(data.schema.features):
        columns += [one[:, None] for one in _columns(data.X, index, feature)]
    if data.is_sparse:
        return sparse.csc_array(sparse.hstack([sparse.csc_array(one) for one in columns]))
    return np.asfortranarray(np.hstack(columns))


def _columns(X: Matrix, index: int, feature: Feature) -> Iterator[Floats]:
    values = column_of(X, index)
    if not feature.is_nominal:
        yield values
        return
    n_categories = len(feature.categories or ())
    for code in [1] if n_categories == 2 else range(n_categories):
        yield (values == code).astype(np.float64)
