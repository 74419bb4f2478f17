"""
Label constraints around any classifier
=======================================

A classifier that predicts labels one by one may predict sets of labels that cannot occur, such as
pneumonia without an infection. Constraints between labels can be found in the training labels or
given by an expert, and enforced around any classifier: here a logistic regression for each label.
"""

# %%
# Finding constraints
# -------------------
#
# The patients are invented, and some of their labels are wrong on purpose, so a ``tolerance``
# allows for exceptions. Each constraint comes with its support, its exceptions, and a p-value that
# is corrected for the number of candidates tested; ``alpha`` keeps the significant ones.

from labelrules import load
from labelrules.constraints import find_constraints

clinic = load("clinic")  # without the patients of whom some label is unknown:
clinic = clinic.take((clinic.Y >= 0).all(axis=1))
train, test = (
    clinic.take(range(0, len(clinic), 2)),
    clinic.take(range(1, len(clinic), 2)),
)
found = find_constraints(train, tolerance=0.1, alpha=0.05)
found

# %%
# As a picture: an arrow leads from a label to one without which it does not occur; a dashed line
# joins labels that exclude each other.

from labelrules.inspection import plot_constraints

ax = plot_constraints(found.graph())

# %%
# A classifier that satisfies them
# --------------------------------
#
# ``ConstrainedClassifier`` learns the constraints, fits the classifier, and changes as few of its
# predictions as needed, at the least cost by its probabilities. An expert may add constraints as
# text.

from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from labelrules import ConstrainedClassifier

base = make_pipeline(
    SimpleImputer(), StandardScaler(), MultiOutputClassifier(LogisticRegression())
)
model = ConstrainedClassifier(
    base, constraints="not bronchitis <- pneumonia", tolerance=0.1, alpha=0.05
).fit(train)
print(model.constraints_)

# %%
# What it repairs in patients that it has not seen, with the constraint behind each change:

repairs = model.repairs(test)
repairs

# %%
# Before and after
# ----------------

import pandas as pd

from labelrules import evaluate
from labelrules.constraints import violations

predictions = {
    "logistic regression": repairs.before,
    "with constraints": repairs.after,
}
pd.DataFrame(
    {
        name: {
            "violations": len(violations(predicted, model.constraints_)),
            **{
                key: evaluate(test.Y, predicted)[key]
                for key in ("micro F1", "subset accuracy")
            },
        }
        for name, predicted in predictions.items()
    }
).T.round(3)

# %%
# Constraints make predictions consistent. Whether they also make them better depends on how often
# the classifier breaks them, and on whether the constraints are true.
