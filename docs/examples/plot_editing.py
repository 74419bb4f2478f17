"""
Editing a model
===============

A learned rule can be wrong for a reason that only a person knows. This example removes a condition
that cannot matter, sees what that changes, learns the rest again, and keeps a record of it all.
"""

# %%
# A model with a doubtful condition
# ---------------------------------

from labelrules import SeparateAndConquer, edit, load

clinic = load("clinic")
train, validation = clinic.take(range(600)), clinic.take(range(600, 1000))
model = SeparateAndConquer().fit(train)
editor = edit(model, train, validation=validation, author="Dr. Adams")
print(editor)

# %%
# The first rule tests the date of admission, which can hardly matter for high blood pressure.
# Each edit gives a new editor and leaves the old one as it is.

shorter = editor.drop_condition(1, condition=2)
shorter.preview()

# %%
# Learning the rest again
# -----------------------
#
# The expert also knows that diagnoses do not depend on the region, that flu and pneumonia are
# infections, and that pneumonia excludes bronchitis. The first two rules stay; the others are
# learned again, under these constraints. Where new rules could break one, a rule before them keeps
# it.

from labelrules.studio import Knowledge

expert = Knowledge(
    forbidden=("region",),
    constraints=(
        "infection <- flu",
        "infection <- pneumonia",
        "not bronchitis <- pneumonia",
    ),
    max_conditions=3,
)
agreed = shorter.relearn(after=2, knowledge=expert)
print(agreed)

# %%
# What has changed since the model was learned, on the training and on the validation rows:

agreed.preview(since=editor)

# %%
# Label dependencies
# ------------------
#
# Which labels are predicted from which others: the dashed arrow is new, since the absence of
# bronchitis follows from pneumonia.

from labelrules.inspection import plot_label_graph

ax = plot_label_graph(agreed.model)

# %%
# A record
# --------
#
# Every step is kept and can be undone. ``agreed.save(path)`` writes the history to a file,
# ``agreed.script()`` a program that repeats the edits, and ``agreed.model`` predicts like any other
# model.

for step in agreed.commit("reviewed with Dr. Adams", name="agreed").steps:
    print(step)
