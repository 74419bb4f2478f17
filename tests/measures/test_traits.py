"""Every trait, confirmed by brute force: a "yes" holds on all small tables, a "no" is witnessed."""

from itertools import product

import numpy as np
import pytest

from labelrules._types import UNSET
from labelrules.measures import COUNTEREXAMPLES, Formula, Measure, register_formula, traits
from labelrules.measures.formulas import precision
from labelrules.measures.measure_traits import HEAD_RELATIVE, PROPERTIES, TABLE, WRITTEN
from twins import traits as brute

BETAS = (0.5, 1.0, 2.0)
UNIVERSES = ("positive", "all")
COUNTINGS = ("chapter", "head-relative")
MEASURES = [
    Measure(Formula(name, beta), averaging, predictions)
    for name, predictions, averaging in TABLE
    for beta in (BETAS if name == "f" else (None,))
]
EMPTY_BOARD = [(1, 1), (1, 2), (1, 3), (1, 4)]
EMPTY_BOARD += [(2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (2, 6), (3, 1), (3, 2), (3, 3), (3, 4)]
EMPTY_BOARD += [(4, 1), (4, 2)]
SOME_WRITTEN = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)]
MORE_EMPTY_BOARD = [(2, 7), (2, 8), (3, 5), (3, 6), (4, 3), (4, 4), (5, 1), (5, 2), (5, 3)]
MORE_WRITTEN = [(2, 4), (2, 5), (3, 3), (4, 2)]
CELL = {"0": 0, "1": 1, "#": -1}

# The chapter's table: anti-monotone / decomposable, then what is true of it: anti-monotone,
# finds, decomposable, merges. "0/0" is short for "up to 0/0".
CORRECTED = """
precision partial micro macro samples cell  : yes/yes : yes yes yes yes
precision full    micro macro samples cell  : yes/--- : yes yes no  no
recall    partial micro                     : yes/yes : yes yes 0/0 yes
recall    partial macro cell                : yes/yes : yes yes yes yes
recall    partial samples                   : ---/--- : yes yes no  no
recall    full    micro                     : yes/--- : 0/0 yes no  no
recall    full    macro cell                : yes/--- : yes yes no  no
recall    full    samples                   : ---/--- : no  yes no  no
hamming   partial micro macro samples cell  : yes/yes : yes yes yes yes
hamming   full    micro macro samples cell  : yes/--- : yes yes no  no
f         partial micro macro cell          : yes/yes : yes yes yes yes
f         partial samples                   : yes/yes : no  no  no  no
f         full    micro macro cell          : yes/--- : yes yes no  no
f         full    samples                   : yes/--- : no  no  no  no
subset    partial samples                   : yes/--- : yes yes no  no
subset    full    samples                   : ---/--- : no  no  no  no
"""


def test_the_corrected_table():
    rows = {}
    for line in CORRECTED.strip().splitlines():
        cells, claim, verdicts = (part.split() for part in line.split(":"))
        name, predictions, *averagings = cells
        for averaging in averagings:
            rows[name, predictions, averaging] = (claim[0], *verdicts)
    found = {
        cell: (
            "/".join(
                "yes" if claimed else "---"
                for claimed in (one.claimed_anti_monotone, one.claimed_decomposable)
            ),
            *(getattr(one, name).removeprefix("up to ") for name in PROPERTIES),
        )
        for cell, one in TABLE.items()
    }
    assert found == rows
    assert len(found) == 34


def test_five_cells_of_the_chapter_are_wrong():
    assert {cell for cell, one in TABLE.items() if one.differs} == {
        ("f", "partial", "samples"),
        ("f", "full", "samples"),
        ("recall", "partial", "samples"),
        ("recall", "partial", "micro"),
        ("recall", "full", "micro"),
    }


def table_of(example):
    rows = [(*(CELL[cell] for cell in row), 1) for row in example.rows]
    rows += [(*(CELL[cell] for cell in row), 0) for row in example.uncovered]
    return brute.as_tables([rows])


def failures(blocks, counting, universe):
    """For each measure and property: does it fail somewhere, and somewhere without 0/0?"""
    failing = {(measure, name): [False, False] for measure in MEASURES for name in PROPERTIES}
    for tables in blocks:
        heads = brute.all_heads(tables.cells.shape[2], universe)
        scorers = {p: brute.Scorer(tables, heads, counting, p) for p in ("partial", "full")}
        for measure in MEASURES:
            scorer, formula = scorers[measure.predictions], measure.formula
            ranks = scorer.ranks(formula.name, formula.parameter, measure.averaging)
            defined = ~scorer.undefined(formula.name)
            for name, holds in brute.verdict(ranks, heads)._asdict().items():
                failing[measure, name][0] |= bool((~holds).any())
                failing[measure, name][1] |= bool((~holds & defined).any())
    verdicts = {(False, False): "yes", (True, False): "up to 0/0", (True, True): "no"}
    return {key: verdicts[tuple(found)] for key, found in failing.items()}


def check_all(sizes, counting, universe, written):
    states = (0, 1, -1) if written else (0, 1)
    blocks = [brute.all_tables(n, m, states) for n, m in sizes]
    blocks += [
        table_of(one) for one in COUNTEREXAMPLES.values() if written or "#" not in str(one.rows)
    ]
    found = failures(blocks, counting, universe)
    expected = {
        (measure, name): getattr(traits(measure, counting, written=written), name)
        for measure in MEASURES
        for name in PROPERTIES
    }
    assert found == expected


@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("counting", COUNTINGS)
def test_traits_on_an_empty_board(counting, universe):
    check_all(EMPTY_BOARD, counting, universe, written=False)


@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("counting", COUNTINGS)
def test_traits_when_cells_are_written(counting, universe):
    check_all(SOME_WRITTEN, counting, universe, written=True)


@pytest.mark.slow
@pytest.mark.parametrize("size", MORE_EMPTY_BOARD, ids=str)
@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("counting", COUNTINGS)
def test_traits_on_larger_tables(counting, universe, size):
    check_all([size], counting, universe, written=False)


@pytest.mark.slow
@pytest.mark.parametrize("size", MORE_WRITTEN, ids=str)
@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("counting", COUNTINGS)
def test_traits_on_larger_written_tables(counting, universe, size):
    check_all([size], counting, universe, written=True)


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize("counting", COUNTINGS)
def test_every_no_names_a_table_that_shows_it(counting, written):
    for measure, universe in product(MEASURES, UNIVERSES):
        known = traits(measure, counting, written=written)
        failing = {name for name in PROPERTIES if getattr(known, name) != "yes"}
        assert set(known.witnesses) == failing
        for name, witness in known.witnesses.items():
            tables = table_of(COUNTEREXAMPLES[witness])
            assert written or (tables.cells >= 0).all()
            heads = brute.all_heads(tables.cells.shape[2], universe)
            scorer = brute.Scorer(tables, heads, counting, measure.predictions)
            formula = measure.formula
            ranks = scorer.ranks(formula.name, formula.parameter, measure.averaging)
            assert not getattr(brute.verdict(ranks, heads), name)[0], (measure, name, witness)


@pytest.mark.parametrize("beta", [0.05, 0.2, 0.5, 1.0, 3.0, 10.0])
def test_the_example_based_f_fails_for_every_beta(beta):
    for predictions, universe in product(("partial", "full"), UNIVERSES):
        for name, witness in TABLE["f", predictions, "samples"].witnesses.items():
            tables = table_of(COUNTEREXAMPLES[witness])
            heads = brute.all_heads(tables.cells.shape[2], universe)
            scorer = brute.Scorer(tables, heads, "chapter", predictions)
            found = brute.verdict(scorer.ranks("f", beta, "samples"), heads)
            assert not getattr(found, name)[0]


@pytest.mark.parametrize("beta", [0.25, 0.5, 1.0, 2.0])
def test_the_head_relative_f_fails_for_every_beta_given_enough_uncovered_rows(beta):
    """More than 1.5/beta² uncovered rows 000 beside the covered row 110."""
    n_uncovered = int(1.5 / beta**2) + 1
    tables = brute.as_tables([[(1, 1, 0, 1), *[(0, 0, 0, 0)] * n_uncovered]])
    for universe in UNIVERSES:
        heads = brute.all_heads(3, universe)
        scorer = brute.Scorer(tables, heads, "head-relative", "full")
        found = brute.verdict(scorer.ranks("f", beta, "micro"), heads)
        assert not found.anti_monotone[0]
        assert not found.finds[0]


@pytest.mark.parametrize("counting", COUNTINGS)
def test_the_brute_force_orders_heads_as_the_package_does(counting):
    """What is confirmed above is a statement about the measures of the package."""
    generator = np.random.default_rng(0)
    cells = generator.choice([0, 1, -1], size=(4, 4, 3), p=[0.4, 0.4, 0.2]).astype(np.int8)
    covered = generator.random((4, 4)) < 0.7
    heads = brute.all_heads(3, "all")
    for predictions in ("partial", "full"):
        scorer = brute.Scorer(brute.Tables(cells, covered), heads, counting, predictions)
        for measure in (one for one in MEASURES if one.predictions == predictions):
            formula = measure.formula
            ranks = scorer.ranks(formula.name, formula.parameter, measure.averaging)
            for table, mask, ranked in zip(cells, covered, ranks, strict=True):
                Y, board = np.maximum(table, 0), np.where(table == -1, 0, UNSET)
                values = [
                    measure.of_rule(Y, mask, head, board, counting, exact=True)
                    for head in heads.values
                ]
                assert np.array_equal(dense_ranks(values), dense_ranks(ranked.tolist()))


def dense_ranks(values):
    order = {value: rank for rank, value in enumerate(sorted(set(values)))}
    return [order[value] for value in values]


def test_the_enumeration_is_complete():
    """Against counting orbits by hand: 2 x 2 tables by their 4 labels' cells and coverage."""
    assert [len(brute.all_tables(1, m).cells) for m in (1, 2, 3)] == [2, 7, 16]
    tables = brute.all_tables(2, 2, (0, 1, -1))
    seen = set()
    for rows in product(product((0, 1, -1), (0, 1, -1), (0, 1)), repeat=2):
        if any(row[-1] for row in rows):
            swapped = [(b, a, c) for a, b, c in rows]
            seen.add(min(tuple(sorted(rows)), tuple(sorted(swapped))))
    assert len(tables.cells) == len(seen)


class TestLookup:
    def test_f0_is_precision(self):
        for predictions, averaging in product(("partial", "full"), ("micro", "samples")):
            f0 = Measure(Formula("f", 0), averaging, predictions)
            assert traits(f0) == traits(Measure(Formula("precision"), averaging, predictions))

    @pytest.mark.parametrize("text", ["laplace", "m-estimate(2)", "jaccard", "correlation"])
    def test_other_formulas_are_unknown(self, text):
        assert traits(Measure.parse(text)) is None

    def test_plain_counting_is_unknown(self):
        assert traits(Measure.parse("precision"), "plain") is None

    def test_a_replaced_formula_is_unknown(self):
        measure = Measure.parse("precision")
        register_formula("precision", lambda tp, fp, tn, fn: fp * 1.0, replace=True)
        try:
            assert traits(measure) is None
        finally:
            register_formula("precision", precision, replace=True)
        assert traits(measure) is not None

    def test_decomposable_implies_the_rest(self):
        for one in (traits(m, c, written=w) for m in MEASURES for c in COUNTINGS for w in (0, 1)):
            if one.decomposable == "yes":
                assert (one.anti_monotone, one.finds, one.merges) == ("yes", "yes", "yes")
            if one.anti_monotone == "yes":
                assert one.finds == "yes"

    def test_frozen(self):
        one = TABLE["f", "partial", "samples"]
        with pytest.raises(AttributeError):
            one.finds = "yes"
        with pytest.raises(TypeError):
            one.witnesses["finds"] = "nothing"

    def test_differences_are_about_cells_of_the_table(self):
        assert set(HEAD_RELATIVE) | set(WRITTEN) <= set(TABLE)


def test_one_label_steps_prune_the_same_heads():
    """Looking at heads with one more label finds the same heads to skip as looking at all."""
    tables = brute.all_tables(3, 3)
    heads = brute.all_heads(3, "all")
    size = (heads.values != -1).sum(axis=1)
    step = heads.below & (size[:, None] + 1 == size[None, :])
    ranks = brute.Scorer(tables, heads, "chapter", "full").ranks("f", 1.0, "samples")
    by_all = (np.where(heads.below, ranks[:, :, None], -1).max(axis=1) > ranks) @ heads.below
    by_step = (np.where(step, ranks[:, :, None], -1).max(axis=1) > ranks) @ heads.below
    assert np.array_equal(by_all, by_step)
