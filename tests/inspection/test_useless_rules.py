"""Rules that are said to do nothing can be struck out, on any row that there could be."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from labelrules import Dataset, Evidence, Feature, LayeredTheory, Schema, parse
from labelrules.inspection import summary
from labelrules.rules import Gibbs
from layered_theories import layered_theories
from theories import theories

SCHEMA = Schema([Feature("x"), Feature("y", ("p", "q"))], ["a", "b", "c"])
ROWS = np.array([(x, y) for x in (-0.5, 0.5, 1.5, np.nan) for y in (0, 1, np.nan)])
"""All rows that thresholds 0 and 1 can tell apart."""
DATA = Dataset(SCHEMA, ROWS, np.zeros((len(ROWS), 3)))
GRID = st.sampled_from([0.0, 1.0])
# To make a theory smaller takes minutes, and they are small.
QUICK = {"phases": [Phase.generate]}


def without(theory, number):
    """The same theory, but for one rule."""
    if not isinstance(theory, LayeredTheory):
        return replace(theory, rules=theory.rules[:number] + theory.rules[number + 1 :])
    parts = [*theory.layers, *([] if theory.fallback is None else [theory.fallback])]
    for place, part in enumerate(parts):
        if number < len(part):
            parts[place] = without(part, number)
            break
        number -= len(part)
    n_layers = len(theory.layers)
    fallback = parts[n_layers] if theory.fallback is not None else None
    return LayeredTheory(theory.schema, parts[:n_layers], theory.inference, fallback)


def check(theory):
    found = summary(theory, DATA)
    useless = {rule.place for rule in found.never_reached} | {pair.place for pair in found.subsumed}
    for number, rule in enumerate(found.rules):
        if rule.place in useless:
            shorter = without(theory, number)
            np.testing.assert_array_equal(shorter.apply(DATA), theory.apply(DATA))
    assert {pair.place for pair in found.subsumed} <= {rule.place for rule in found.never_reached}


@settings(max_examples=150, **QUICK)
@given(theories(SCHEMA, GRID, 7) | layered_theories(SCHEMA, GRID))
def test_useless_rules_can_be_left_out(theory):
    check(theory)


def with_counts(theory):
    """Some evidence for every rule, so that it can be sampled from."""
    parts = [
        replace(
            layer,
            rules=tuple(
                rule.with_evidence([Evidence(3 + n, n) for _ in rule.head])
                for n, rule in enumerate(layer)
            ),
        )
        for layer in theory.layers
    ]
    return LayeredTheory(theory.schema, parts, theory.inference, theory.fallback)


@settings(max_examples=30, **QUICK)
@given(layered_theories(SCHEMA, GRID))
def test_useless_rules_of_sampled_layers_too(theory):
    if theory.layers[-1].ordered:
        check(with_counts(theory).with_inference(Gibbs(5, 2)))


@pytest.mark.parametrize(
    "text",
    [
        "b <- y = p, y = q\nb <- y = p",
        "a <- true\nb <- a, not a\nb <- a",
        # it writes nothing, but ends the list
        "a <- true\na, * <- y = p\nb <- true",
        # b is told by a rule that is no longer needed when a is there
        "layer 1, until stable in at most 5 rounds:\na <- b\na <- x > 0\nb <- not a\nb <- a",
    ],
)
def test_rules_that_matter_are_not_called_useless(text):
    check(parse(text, SCHEMA))


def test_a_rule_that_ends_the_list_is_reached_though_it_writes_nothing():
    found = summary(parse("a <- true\na, * <- y = p\nb <- true", SCHEMA), DATA)
    assert found.rules[1].n_cells == 0
    assert found.rules[1].is_reached
    assert found.never_reached == ()
