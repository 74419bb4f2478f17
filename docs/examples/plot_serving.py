"""
Serving a model
===============

From a fitted model to a service that answers single requests in well under a millisecond, gives
reasons, and can say later which model it was.
"""

# %%
# A model and its file
# --------------------
#
# The file is JSON: it can be read by people, runs no code when loaded, and has a schema. It also
# says where the model comes from.

import tempfile
from pathlib import Path

from labelrules import SeparateAndConquer, about, load, load_model, save

clinic = load("clinic")
folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "clinic.json")
save(SeparateAndConquer().fit(clinic), path, author="Ada", notes="first version")
print(about(path))

# %%
# One request
# -----------
#
# A ``Predictor`` takes a row as a dict, as it comes from JSON, and reads only the columns that
# rules test. ``None`` is a missing value.

from labelrules import Predictor

predictor = Predictor(load_model(path))
patient = dict.fromkeys(predictor.columns) | {
    "temperature": 39.2,
    "crp": 112,
    "age": 44,
    "aches": 1,
    "cough": 1,
}
answer = predictor(patient)
for label in answer.labels:
    print(
        f"{label}: probability {answer.probabilities[label]:.2f}, by {answer.reasons[label]}"
    )

# %%
# A request without a needed column is an error that names it, not a wrong answer:

from labelrules.data import DataError

try:
    predictor({"temperature": 39.2})
except DataError as error:
    print(error)

# %%
# How long does an answer take?
# -----------------------------

from timeit import repeat

seconds = (
    min(repeat(lambda: predictor(patient).labels, number=1000, repeat=3)) / 1000
)
print(f"{1e6 * seconds:.0f} microseconds")

# %%
# In a web framework
# ------------------
#
# The service itself is a few lines, here with FastAPI:

from fastapi import FastAPI
from fastapi.testclient import TestClient

app = FastAPI()


@app.post("/labels")
def labels(patient: dict) -> dict:
    """Labels, probabilities and reasons."""
    found = predictor(patient)
    return {
        name: getattr(found, name)
        for name in ("labels", "probabilities", "reasons")
    }


TestClient(app).post("/labels", json=patient).json()["labels"]

# %%
# Without this library
# --------------------
#
# ``to_python`` and ``to_javascript`` write the model as a module that imports nothing; ``to_sql``
# writes a query and ``to_pmml`` a document for other engines. All of them give the same labels.

from labelrules.export import to_javascript, to_python

module = {}
exec(to_python(load_model(path)), module)
print(module["labels"](patient))
source = to_javascript(load_model(path))
print(source[source.index("function layer1") :].partition("  // 3:")[0], "...")

# %%
# What is served
# --------------
#
# How many patients reach each rule for infection, and how many it catches:

from labelrules.inspection import row_flow

row_flow(load_model(path), clinic, label="infection")

# %%
# And how the labels of the served model depend on each other:

from labelrules.inspection import plot_dependency_matrix

ax = plot_dependency_matrix(load_model(path), only_dependent=True)
folder.cleanup()
