"""
Medical codes with explanations
===============================

Diagnoses depend on each other and on the findings of a patient, and a prediction without a reason
is of no use. This example learns a decision list for ten diagnoses, explains single patients, and
asks what would have to be different for another result. The thousand patients are invented, and
the rules by which they got their diagnoses are known. **Nothing here is medical knowledge.**
"""

# %%
# The data
# --------
#
# Numbers, categories, dates, durations, words of a note; missing values and unknown labels.

from labelrules import SeparateAndConquer, explain, load, statistics, theory_text

clinic = load("clinic")
statistics(clinic)

# %%
# Rules
# -----
#
# In brackets: how often a rule decided a label rightly and wrongly, on the rows that it was learned
# from. The last 200 patients are kept aside.

train, test = clinic.take(range(800)), clinic.take(range(800, 1000))
model = SeparateAndConquer().fit(train)
print(theory_text(model, evidence=True))

# %%
# How good is it on patients that it has not seen? Cells of the test part whose label is unknown do
# not count.

from labelrules import evaluate

evaluate(test.Y, model.predict(test))

# %%
# One patient explained
# ---------------------
#
# For each label: the rule that decided it, with the values of the patient; how often the rule was
# right, with a confidence interval; and a counterfactual explanation, the smallest change of the
# patient that would take the label away.

found = explain(model, test, row=21)
found

# %%
# The same as data, for a program that wants to do something with it:

for label in found.present:
    print(found[label].rule.text)
    print("  would go:", *map(str, found[label].counterfactual.changes))

# %%
# How diagnoses depend on each other
# ----------------------------------
#
# An arrow leads from a label to one that rules predict from it. Orange arrows form a cycle: here
# one rule infers an infection from flu, another flu from an infection.

from labelrules.inspection import plot_label_graph

ax = plot_label_graph(model)

# %%
# What to check first
# -------------------
#
# Rules that are redundant, contradictory or more often wrong than right, each with a fix:

from labelrules.inspection import findings

findings(model, train)
