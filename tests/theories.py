"""Hypothesis strategies for conditions, rules and theories over a given schema."""

from hypothesis import strategies as st

from labelrules import (
    UNSET,
    Body,
    Condition,
    DecisionList,
    Evidence,
    Head,
    LabelSet,
    Rule,
    RuleSet,
)
from strategies import times

numbers = st.floats(allow_nan=False, allow_infinity=False)


def conditions(schema, values=numbers):
    tests = [
        st.builds(Condition.label, st.integers(0, schema.n_labels - 1), st.booleans())
        for _ in [0]
        if schema.n_labels
    ]
    for column, feature in enumerate(schema.features):
        codes = st.integers(0, len(feature.categories or "1") - 1)
        if feature.is_nominal and feature.categories:
            tests.append(st.builds(Condition.equals, st.just(column), codes))
            tests.append(st.builds(Condition.differs, st.just(column), codes))
            sets = st.frozensets(codes, min_size=1)
            tests.append(st.builds(Condition.among, st.just(column), sets))
        elif not feature.is_nominal:
            own = values if feature.categories is None else codes
            own = own if feature.time is None else times(feature.time)
            tests.append(st.builds(Condition.at_most, st.just(column), own))
            tests.append(st.builds(Condition.above, st.just(column), own))
    return st.one_of(tests) if tests else st.nothing()


def bodies(schema, values=numbers, max_size=4):
    return st.builds(Body, st.lists(conditions(schema, values), max_size=max_size))


def heads(schema):
    labels = st.integers(0, schema.n_labels - 1)
    cells = st.dictionaries(labels, st.integers(0, 1), min_size=1)
    partial = st.builds(Head, cells, st.just(schema.n_labels))
    return partial | partial.map(Head.completed)


@st.composite
def rules(draw, schema, values=numbers, in_list=True):
    head = draw(heads(schema))
    counts = st.builds(Evidence, st.integers(0, 10**9), st.integers(0, 10**9))
    evidence = draw(st.none() | st.tuples(*[st.none() | counts for _ in head.labels]))
    votes = None if in_list else draw(st.none() | st.tuples(*[st.integers(1, 9) for _ in head]))
    stops = in_list and draw(st.booleans())
    return Rule(head, draw(bodies(schema, values)), stops, evidence, votes)


def decision_lists(schema, values=numbers, max_size=8):
    return st.builds(
        DecisionList, st.just(schema), st.lists(rules(schema, values), max_size=max_size)
    )


def rule_sets(schema, values=numbers, max_size=8):
    unmarked = st.lists(rules(schema, values, in_list=False), max_size=max_size)
    return st.builds(RuleSet, st.just(schema), unmarked)


@st.composite
def scorecards(draw, schema, values=numbers, max_size=8):
    """Rule sets that decide the labels of a row together, or some that do not."""
    plain = draw(rule_sets(schema, values, max_size))
    members = st.frozensets(st.integers(0, schema.n_labels - 1)) if schema.n_labels else st.just(())
    found = draw(st.dictionaries(members, st.integers(-4, 6), max_size=5))
    sets = [LabelSet(tuple(labels), bonus) for labels, bonus in found.items()]
    return RuleSet(schema, plain, sets, draw(st.booleans()))


def theories(schema, values=numbers, max_size=8):
    return decision_lists(schema, values, max_size) | rule_sets(schema, values, max_size)


def boards(n_rows, n_labels):
    cells = st.sampled_from([0, 1, int(UNSET)])
    return st.lists(
        st.lists(cells, min_size=n_labels, max_size=n_labels), min_size=n_rows, max_size=n_rows
    )
