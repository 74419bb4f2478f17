"""Hypothesis strategies for layered theories over a given schema."""

from hypothesis import strategies as st

from labelrules import DecisionList, LayeredTheory
from labelrules.rules import LabelByLabel, Once, UntilStable
from theories import decision_lists, theories

ONCE = st.just(Once())
WAYS = st.sampled_from([Once(), UntilStable(2), UntilStable(5), LabelByLabel(1), LabelByLabel(4)])


@st.composite
def layered_theories(draw, schema, values, ways=WAYS, max_size=4):
    layers = draw(st.lists(theories(schema, values, max_size), min_size=1, max_size=3))
    fallback = None
    if draw(st.booleans()):
        rules = draw(decision_lists(schema, values, 3))
        fallback = DecisionList(schema, [rule for rule in rules if not rule.body.on_labels])
    return LayeredTheory(schema, layers, draw(ways), fallback)
