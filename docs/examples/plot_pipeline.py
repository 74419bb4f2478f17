"""
A pipeline with ColumnTransformer and GridSearchCV
==================================================

Learners of rules are scikit-learn classifiers: they stand at the end of a pipeline, behind a
``ColumnTransformer`` that prepares columns of different kinds, and ``GridSearchCV`` chooses their
parameters. Numbers, categories, dates and missing values need no preparation at all.
"""

# %%
# A table with a column of text
# -----------------------------
#
# The patients are invented. Each has a short note, which must become words; the other columns may
# stay as they are.

import tempfile
from pathlib import Path

import pandas as pd

from labelrules import load
from labelrules.data import write_csv
from labelrules.rules import clinic_notes

clinic = load("clinic")
with tempfile.TemporaryDirectory() as folder:
    write_csv(clinic, Path(folder, "clinic.csv"))
    table = pd.read_csv(Path(folder, "clinic.csv"), parse_dates=["admission"])
features = ["age", "sex", "smoker", "temperature", "oxygen", "crp", "admission"]
X = table[features].assign(note=clinic_notes())
Y = table[["flu", "pneumonia", "infection"]]
known = Y.notna().all(axis=1)  # scikit-learn's scores take no unknown labels
X, Y = X[known], Y[known].astype(int)
X.head()

# %%
# The pipeline
# ------------
#
# ``set_output(transform="pandas")`` keeps the names and kinds of columns. Vectorizers give sparse
# matrices, which cannot stand beside text in a frame, so a small subclass makes a frame of truth
# values: rules then read ``"cough"`` and ``not "cough"``.

from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

from labelrules import SeparateAndConquer


class Words(CountVectorizer):
    """The words of texts, as a frame."""

    def fit_transform(self, texts, y=None):
        super().fit_transform(texts)
        return self.transform(texts)

    def transform(self, texts):
        found = super().transform(texts).toarray() > 0
        return pd.DataFrame(found, texts.index, self.get_feature_names_out())

    def set_output(self, *, transform=None):
        return self  # it is a frame in any case


prepare = ColumnTransformer(
    [("words", Words(min_df=20), "note")],
    remainder="passthrough",
    verbose_feature_names_out=False,
)
pipeline = Pipeline(
    [
        ("prepare", prepare.set_output(transform="pandas")),
        ("rules", SeparateAndConquer()),
    ]
)

# %%
# Choosing parameters
# -------------------
#
# Parameters of the preparation and of the learner are searched together. Multi-label folds are not
# stratified by scikit-learn, so they are shuffled.

from sklearn.model_selection import GridSearchCV, KFold

search = GridSearchCV(
    pipeline,
    {"prepare__words__min_df": [5, 20], "rules__max_conditions": [1, 2, 4]},
    scoring="f1_micro",
    cv=KFold(3, shuffle=True, random_state=0),
)
search.fit(X, Y)
results = pd.DataFrame(search.cv_results_["params"])
results["micro-F1"] = search.cv_results_["mean_test_score"].round(3)
results.sort_values("micro-F1", ascending=False, kind="stable")

# %%
# The chosen model
# ----------------

best = search.best_estimator_
best["rules"].theory_

# %%
# An explanation is given for the prepared row, in the names of its columns:

from labelrules import explain

explain(best["rules"], best["prepare"].transform(X), row=14)

# %%
# Which labels the rules predict from which others:

from labelrules.inspection import plot_label_graph

ax = plot_label_graph(best["rules"])
