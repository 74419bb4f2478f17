"""
Text classification with TF-IDF
===============================

Which words say what a text is about? Rules on TF-IDF weights answer that in a form that can be
read and checked. The texts are the descriptions of the estimators of scikit-learn, which are
installed with this library; the labels say what an estimator is, and several may apply: a random
forest is a classifier *and* estimates probabilities.
"""

# %%
# Texts and labels
# ----------------
#
# The label names begin with a capital, so that no word of the texts has the same name: in a rule,
# a name must be either a feature or a label.

import inspect

import pandas as pd
from sklearn import base
from sklearn.utils import all_estimators

estimators = [kind for _, kind in all_estimators()]
texts = [inspect.getdoc(kind).partition("\nAttributes\n")[0] for kind in estimators]
labels = pd.DataFrame(
    {
        "Classifier": [
            issubclass(kind, base.ClassifierMixin) for kind in estimators
        ],
        "Regressor": [issubclass(kind, base.RegressorMixin) for kind in estimators],
        "Transformer": [
            issubclass(kind, base.TransformerMixin) for kind in estimators
        ],
        "Clusterer": [issubclass(kind, base.ClusterMixin) for kind in estimators],
        "Probabilities": [hasattr(kind, "predict_proba") for kind in estimators],
    }
).astype(int)
labels.sum()

# %%
# TF-IDF
# ------
#
# The result is a sparse matrix. Its columns have no names, so ``fit`` takes the fitted vectorizer
# as ``feature_names``.

from sklearn.feature_extraction.text import TfidfVectorizer

from labelrules import Scorecard, SeparateAndConquer

words = TfidfVectorizer(
    stop_words="english",
    token_pattern="[a-z]{3,}",
    min_df=12,
    max_df=0.5,
    sublinear_tf=True,
)
X = words.fit_transform(texts)
X.shape

# %%
# A decision list
# ---------------
#
# ``"classifier"`` in quotes means that the text has the word, ``not "classifier"`` that it does
# not; ``cluster > 0.12`` that its TF-IDF weight is above 0.12. A rule may test a label that an
# earlier rule has predicted.

from labelrules import theory_text

model = SeparateAndConquer().fit(X, labels, feature_names=words)
print(theory_text(model, evidence=True))

# %%
# A scorecard
# -----------
#
# A scorecard adds up evidence from several words; the last section compares the two. Each line
# gives points to the labels on its left if the condition on its right holds; a label is predicted
# if its points are above 0. ``max_literals`` keeps the card short.

card = Scorecard(max_literals=40).fit(X, labels, feature_names=words)
print(theory_text(card))

# %%
# Which words made the difference for one text?

from labelrules import explain

row = next(
    n for n, kind in enumerate(estimators) if kind.__name__ == "LogisticRegression"
)
explain(card, X, row)

# %%
# How many words are needed?
# --------------------------
#
# ``frontier`` cross-validates scorecards of several sizes. The ring marks the knee: the smallest
# model whose quality is within one standard error of the best.

from labelrules import dataset, frontier

data = dataset(
    X, labels, feature_names=words.get_feature_names_out(), name="estimators"
)
sizes = frontier(
    data,
    {"scorecard": Scorecard(), "decision list": SeparateAndConquer()},
    sizes=(6, 12, 25, 50, 100),
    n_folds=3,
    measure="micro-F1",
)
ax = sizes.plot()
