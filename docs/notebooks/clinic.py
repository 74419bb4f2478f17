# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # From a table to a service
#
# A table as people have them: numbers, categories, dates, gaps and a column of text; three labels, of which many are unknown. We learn rules from it in a scikit-learn pipeline, choose settings by cross-validation, read the rules, have a prediction explained, save the model, and serve it.
#
# The patients are those of [the clinic](../clinic.md): invented, from known rules. **Nothing here is medical knowledge.** The notebook is made from `docs/notebooks/clinic.py`; a test runs all of it.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd

from labelrules import load
from labelrules.data import write_csv
from labelrules.rules import clinic_notes

folder = tempfile.TemporaryDirectory()
write_csv(load("clinic"), Path(folder.name, "clinic.csv"))

# %% [markdown]
# ## The table
#
# The columns of words are left out: we make our own from the notes. What pandas cannot know from a CSV file, we say: that *smoker* has an order, and that *ill_for* is a duration.

# %%
labels = ["flu", "pneumonia", "neuropathy"]
table = pd.read_csv(Path(folder.name, "clinic.csv"), parse_dates=["admission"])
X = table.loc[:, "age":"glucose"].assign(
    smoker=pd.Categorical(table["smoker"], ["never", "former", "daily"], ordered=True),
    ill_for=pd.to_timedelta(table["ill_for"]),
    note=clinic_notes(),
)
Y = table[labels]
X.head(4).T

# %%
pd.DataFrame({"present": (Y == 1).sum(), "absent": (Y == 0).sum(), "unknown": Y.isna().sum()})

# %% [markdown]
# Unknown cells stay as they are. They count neither as present nor as absent, in learning and in measuring.
#
# ## A pipeline
#
# `CountVectorizer` makes words of the notes. We let it give a frame of truth values, so that it can stand beside the other columns with its names; rules then read `"cough"` and `not "cough"`. Gaps need no treatment, and categories no coding.

# %%
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

from labelrules import SeparateAndConquer


class Words(CountVectorizer):
    """The words of notes, as a frame."""

    def fit_transform(self, notes, y=None):
        super().fit_transform(notes)
        return self.transform(notes)

    def transform(self, notes):
        counts = super().transform(notes).toarray()
        return pd.DataFrame(counts > 0, notes.index, self.get_feature_names_out())

    def set_output(self, *, transform=None):
        return self  # it is a frame in any case


features = ColumnTransformer(
    [("words", Words(min_df=20), "note")],
    remainder="passthrough",
    verbose_feature_names_out=False,
)
pipeline = Pipeline(
    [
        ("features", features.set_output(transform="pandas")),
        ("rules", SeparateAndConquer()),
    ]
)
pipeline.fit(X, Y)
pipeline["rules"]

# %% [markdown]
# The rules behind these labels are known (`clinic_truth()`):
#
# ```text
# pneumonia <- "cough", crp > 80
# pneumonia <- temperature > 38.4, oxygen <= 92
# flu <- "aches", temperature > 38.4
# flu <- "aches", region = North, admission > 2024-10-15
# neuropathy <- "numbness", diabetes        (and diabetes <- glucose > 140)
# ```
#
# ## How good is it?
#
# Scikit-learn's own scores do not know of unknown labels; a measure of this library leaves them out.

# %%
from sklearn.model_selection import KFold, cross_validate

from labelrules import Measure

F1 = Measure.parse("f1/micro/full")


def micro_f1(model, X, Y):
    """F1 of all cells of Y that are known."""
    return F1.of_predictions(Y.fillna(-1).to_numpy(dtype=int), model.predict(X))


folds = KFold(5, shuffle=True, random_state=0)
scores = cross_validate(pipeline, X, Y, cv=folds, scoring=micro_f1)["test_score"]
print(f"micro-F1 {scores.mean():.3f}, standard deviation between folds {scores.std():.3f}")

# %% [markdown]
# ## Other settings
#
# Settings of all steps can be searched together: how rare a word may be, and how many conditions a rule may have.

# %%
from sklearn.model_selection import GridSearchCV

search = GridSearchCV(
    pipeline,
    {
        "features__words__min_df": [5, 20],
        "rules__max_conditions": [2, 3, 10],
    },
    cv=folds,
    scoring=micro_f1,
)
search.fit(X, Y)
results = pd.DataFrame(search.cv_results_["params"])
results["micro-F1"] = search.cv_results_["mean_test_score"].round(3)
results.sort_values("micro-F1", ascending=False, kind="stable").head(6)

# %%
model = search.best_estimator_["rules"]
patients = search.best_estimator_["features"].transform(X)
model

# %% [markdown]
# ## One patient
#
# Why does this patient get these labels, and what would have to be different?

# %%
from labelrules import explain

print(X["note"][21])
explain(model, patients, 21)

# %% [markdown]
# ## Pictures
#
# What does a smaller model cost? The size of a model is its number of literals: conditions, and labels in heads.

# %%
from labelrules import Scorecard, dataset, frontier

sizes = frontier(
    dataset(patients, Y, name="clinic"),
    {"list": SeparateAndConquer(), "scorecard": Scorecard()},
    sizes=(3, 6, 9, 12, 20, 40),
    n_folds=3,
    measure="micro-F1",
)
sizes.plot()
plt.show()

# %% [markdown]
# And which of all ten diagnoses depend on which others: in truth, and in a learned list?

# %%
from labelrules.inspection import plot_label_graph
from labelrules.rules import clinic_truth

plot_label_graph(clinic_truth())
plt.show()

# %%
plot_label_graph(SeparateAndConquer().fit(load("clinic")))
plt.show()

# %% [markdown]
# The list tests labels less often than the true rules do: where a label follows from features, these say the same.

# %% [markdown]
# ## Keeping the model
#
# As text, which can be edited and read back, and as a file, which has all that `predict` and `predict_proba` need.

# %%
from labelrules import load_model, parse, save, theory_text

print(theory_text(model))
assert parse(theory_text(model), model.theory_.schema) == model.theory_

path = Path(folder.name, "clinic.json")
save(model, path)
again = load_model(path)
assert (again.predict(patients) == model.predict(patients)).all()
print(f"\n{path.stat().st_size:,} bytes")

# %% [markdown]
# ## A service
#
# A `Predictor` takes a row as a dict and reads only the columns that rules test. The words of a note come from the vectorizer of the pipeline.

# %%
from fastapi import FastAPI
from fastapi.testclient import TestClient

from labelrules import Predictor

predictor = Predictor(again)
words = search.best_estimator_["features"].named_transformers_["words"]
tokens = words.build_analyzer()
app = FastAPI()


@app.post("/labels")
def labels_of(patient: dict) -> dict:
    """Labels, probabilities and reasons of one patient."""
    note = set(tokens(patient["note"]))
    found = predictor(patient | {word: word in note for word in words.vocabulary_})
    return {
        "labels": found.labels,
        "probabilities": found.probabilities,
        "reasons": found.reasons,
    }


print(predictor.columns)

# %%
patient = {
    "region": "South",
    "admission": "2024-11-20",
    "temperature": 39.2,
    "oxygen": 96,
    "crp": 112,
    "glucose": None,  # missing
    "note": "Aches, cough, tired",
}
service = TestClient(app)
answer = service.post("/labels", json=patient).json()
answer

# %% [markdown]
# How long does an answer take? Medians of processor time of many calls, in this process. The first two begin with a row of features, the others with a patient and a note.

# %%
from statistics import median
from time import process_time


def microseconds(call, times):
    """Median processor time of a call."""
    found = []
    for _ in range(times):
        start = process_time()
        call()
        found.append(process_time() - start)
    return round(1e6 * median(found), 1)


one, raw = patients.iloc[[21]], X.iloc[[21]]
row = one.iloc[0].to_dict()
calls = {
    "predictor(row), labels only": (lambda: predictor(row).labels, 1000),
    "model.predict(frame of one row)": (lambda: again.predict(one), 50),
    "labels_of(patient), with reasons": (lambda: labels_of(patient), 500),
    "the service, with HTTP and JSON": (lambda: service.post("/labels", json=patient), 100),
    "pipeline.predict(frame of one patient)": (lambda: search.predict(raw), 20),
}
times = {name: microseconds(*call) for name, call in calls.items()}
pd.Series(times, name="microseconds").to_frame()
