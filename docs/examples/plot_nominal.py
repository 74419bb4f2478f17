"""
Nominal tables
==============

Rules read nominal columns as they are: ``education = University``. No coding is needed, missing
values may stay, and a column may have an order. The table is the chapter's: fourteen readers and
the kinds of magazines that they have subscribed to.
"""

# %%
# The table
# ---------

from io import StringIO

import pandas as pd

table = pd.read_csv(
    StringIO(
        """education,marital,sex,children,quality,tabloid,fashion,sports
Primary,Single,Male,No,0,0,0,0
Primary,Single,Male,Yes,0,0,0,0
Primary,Married,Male,No,0,1,0,0
University,Divorced,Female,No,1,0,1,0
University,Married,Female,Yes,1,0,1,0
Secondary,Single,Male,No,0,1,0,0
University,Single,Male,No,1,1,0,0
Secondary,Divorced,Female,No,1,0,0,1
Secondary,Single,Female,Yes,0,1,1,0
Secondary,Married,Male,Yes,1,1,0,0
Primary,Married,Female,No,0,0,0,0
Secondary,Divorced,Male,Yes,0,0,0,0
University,Divorced,Male,Yes,1,1,0,0
Secondary,Divorced,Male,No,1,0,0,1
"""
    )
)
features, labels = table.loc[:, :"children"], table.loc[:, "quality":]
table.head()

# %%
# Rules with several labels in their heads
# ----------------------------------------
#
# With ``heads="multi"`` a rule may predict several labels at once. The head of each rule is the
# best one for its body, found exactly. In brackets: how often the rule decided a label rightly and
# wrongly. The table is tiny, so rules are not pruned.

from labelrules import SeparateAndConquer, theory_text

model = SeparateAndConquer(heads="multi", measure="f1", pruning=None).fit(
    features, labels
)
print(theory_text(model, evidence=True))

# %%
# Why both labels for readers with secondary education? The search tree has the value of each head
# for this body. What stands below the line need not be evaluated.

from labelrules.inspection import plot_search_tree
from labelrules.search import search_tree

secondary = features["education"] == "Secondary"
tree = search_tree(
    labels.to_numpy(), secondary.to_numpy(), "f1/micro/partial", "tree"
)
ax = plot_search_tree(tree, label_names=list(labels))

# %%
# Categories with an order
# ------------------------
#
# If a column is an ordered ``Categorical``, rules may compare: ``education > Primary``.

levels = ["Primary", "Secondary", "University"]
ordered = features.assign(
    education=pd.Categorical(features["education"], levels, ordered=True)
)
print(
    theory_text(
        SeparateAndConquer(pruning=None, min_coverage=2).fit(ordered, labels)
    )
)

# %%
# Sets of categories
# ------------------
#
# Of a column with many categories, one alone says little. Where a column has at least five, the
# search also finds the best set of categories, and counts what it costs to name the set, so that
# chance does not fill the rules with lists of categories.

import numpy as np

random = np.random.default_rng(0)
regions = ["North", "East", "South", "West", "Centre", "Islands", "Coast", "Hills"]
orders = pd.DataFrame(
    {"region": random.choice(regions, 400), "express": random.random(400) < 0.3}
)
delayed = (
    orders["region"].isin(["Islands", "Hills", "North"]) & ~orders["express"]
).astype(int)
complaint = ((delayed == 1) & (random.random(400) < 0.9)).astype(int)
outcome = pd.DataFrame({"late": delayed, "complaint": complaint})
deliveries = SeparateAndConquer().fit(orders, outcome)
print(theory_text(deliveries, evidence=True))
