"""Tables on which claims about measures fail, with every number, in exact fractions."""

from fractions import Fraction
from itertools import product

import pytest

from labelrules.measures import COUNTEREXAMPLES, Counterexample, Measure
from labelrules.measures.measure_traits import head_vector
from twins import measures as naive

POSITIVE_ONLY = {"size-bonus-prefix"}
"""Examples about heads that predict presence; a head with absence is better there."""

SEARCH_MISSES = {
    # name: (worse head, the part of it that is better, the only optimum)
    "f-partial-samples-finds": ("11?", "1??", "111"),
    "f0.5-partial-samples-finds": ("11?", "1??", "111"),
    "f2-partial-samples-finds": ("?11", "?1?", "111"),
    "f-partial-samples-finds-any-beta": ("1?11", "1?1?", "1111"),
    "f-full-samples-finds": ("11?", "1??", "111"),
    "f2-full-samples-finds": ("?11", "?1?", "111"),
    "subset-full-samples-finds": ("11?", "1??", "111"),
    "f-full-micro-head-relative": ("1?1", "1??", "111"),
    "f0.5-full-micro-head-relative": ("1?1", "1??", "111"),
    "recall-full-micro-head-relative": ("?11", "?1?", "111"),
    "f-full-samples-plain-finds": ("1??1?", "1????", "11111"),
    "written-samples-finds": ("1?1", "??1", "111"),
    "written-subset-finds": ("1?1", "1??", "111"),
    "written-recall-finds": ("11?", "1??", "111"),
}


def heads(n_labels, states):
    return ["".join(head) for head in product(states, repeat=n_labels) if set(head) != {"?"}]


def naive_value(example, head):
    measure = example.measure
    return naive.of_rule(
        measure.formula.name,
        measure.formula.parameter,
        measure.averaging,
        measure.predictions,
        example.Y.tolist(),
        example.covered.tolist(),
        [None if cell == "?" else int(cell) for cell in head],
        [[None if cell == -1 else cell for cell in row] for row in example.board.tolist()],
        example.counting,
    )


@pytest.mark.parametrize("example", COUNTEREXAMPLES.values(), ids=list(COUNTEREXAMPLES))
class TestEvery:
    def test_values(self, example):
        for head, value in example.values.items():
            assert example.value(head) == value
            assert naive_value(example, head) == value

    def test_the_best_value_is_the_best_of_all_heads(self, example):
        n_labels = len(example.rows[0])
        for states in ("?1",) if example.name in POSITIVE_ONLY else ("?1", "?01"):
            found = {head: lifted(example, head) for head in heads(n_labels, states)}
            assert max(found.values()) == example.best

    def test_it_says_what_it_shows(self, example):
        assert example.shows.endswith(".")
        assert len({len(row) for row in (*example.rows, *example.uncovered, *example.values)}) == 1


def lifted(example, head):
    size = sum(cell != "?" for cell in head)
    return example.value(head) * (example.size_bonus[size - 1] if example.size_bonus else 1)


@pytest.mark.parametrize("name", SEARCH_MISSES)
def test_a_search_that_prunes_misses_the_optimum(name):
    """The optimum contains a head that is worse than a part of it, and no other head is as good."""
    example, (worse, part, optimum) = COUNTEREXAMPLES[name], SEARCH_MISSES[name]
    assert contains(worse, part)
    assert contains(optimum, worse)
    assert example.value(worse) < example.value(part) < example.value(optimum) == example.best
    others = [head for head in heads(len(optimum), "?1") if head != optimum]
    assert max(example.value(head) for head in others) < example.best


def test_every_table_that_a_search_misses_is_named():
    finds = {name for name in COUNTEREXAMPLES if "finds" in name or "head-relative" in name}
    assert finds == set(SEARCH_MISSES)


def contains(whole, part):
    return whole != part and all(p in ("?", w) for w, p in zip(whole, part, strict=True))


def test_f_example_by_hand():
    """t right of k labels give 2t/(t+k); in a full prediction k is the number of labels."""
    F = Fraction
    expected = {
        "f-partial-samples-decomposable": {"11": (F(2, 3) + F(2, 3)) / 2},
        "f-partial-samples-merges": {"111": (F(1, 2) + F(4, 5)) / 2},
        "f-partial-samples-anti-monotone": {
            "111?": (F(4, 5) + F(1, 2)) / 2,
            "1111": (F(4, 6) + F(4, 6)) / 2,
        },
        "f-partial-samples-finds": {
            "11?": (7 * F(2, 3) + 3 * F(2, 3)) / 10,
            "111": (7 * F(4, 5) + 3 * F(1, 2)) / 10,
        },
        "f-full-samples-anti-monotone": {"?1?": (F(1, 2) + F(4, 5)) / 2, "?11": (F(0) + 1) / 2},
        "f-full-samples-finds": {
            "1??": (3 * F(4, 5) + F(1, 2)) / 4,
            "11?": (1 + 2 * F(1, 2) + F(4, 5)) / 4,
            "111": (3 * F(4, 5) + 1) / 4,
        },
        "f-full-samples-plain-anti-monotone": {
            "1??": (1 + F(2, 4)) / 2,
            "11?": (F(2, 3) + F(4, 5)) / 2,
            "111": (F(1, 2) + 1) / 2,
        },
    }
    for name, values in expected.items():
        example = COUNTEREXAMPLES[name]
        assert {head: example.value(head) for head in values} == values


def test_only_merging_fails_with_negative_labels():
    """With absence allowed the first table shows it too: {1, not 2} merges two best labels."""
    example = COUNTEREXAMPLES["f-partial-samples-decomposable"]
    assert example.value("10") == Fraction(1, 2) < example.best
    rest = set(heads(2, "?01")) - {"11", "00"}
    assert {example.value(head) for head in rest} == {Fraction(1, 2)}


@pytest.mark.parametrize(("a", "b"), [(3, 7), (5, 11), (5, 12), (4, 9), (7, 17)])
def test_the_family_of_the_missed_optimum(a, b):
    """a rows 010 and b rows 101 with 2a < b < 2.5a."""
    assert missed(a, b)


@pytest.mark.parametrize(("a", "b"), [(3, 6), (2, 5), (3, 8), (1, 1)])
def test_the_bounds_of_the_family(a, b):
    assert not missed(a, b)


def missed(a, b):
    example = Counterexample(
        "family", ".", Measure.parse("f1/samples/partial"), ("010",) * a + ("101",) * b, {}
    )
    return example.value("11?") < example.value("1??") < example.value("111")


def test_the_same_rows_miss_the_optimum_for_other_betas():
    """Full predictions: beta = 1/2 misses it on the rows of F1."""
    rows = COUNTEREXAMPLES["f-full-samples-finds"].rows
    example = Counterexample("half", ".", Measure.parse("f0.5/samples/full"), rows, {})
    assert example.value("11?") < example.value("1??") < example.value("111")
    others = [head for head in heads(3, "?01") if head != "111"]
    assert all(example.value(head) <= example.value("111") for head in others)


def test_recall_with_the_empty_head():
    """Row 10: the empty head is right on label 2, {2} nowhere, {1, 2} on label 1."""
    measure = Measure.parse("recall/micro/full")
    values = [measure.of_rule([[1, 0]], [True], head_vector(text)) for text in ("??", "?1", "11")]
    assert values == [1, 0, 1]


def test_recall_does_not_see_uncovered_rows_without_labels():
    example = COUNTEREXAMPLES["recall-full-micro-anti-monotone"]
    larger = Counterexample("larger", ".", example.measure, example.rows, {}, ("000", "000"))
    assert all(larger.value(head) == value for head, value in example.values.items())


def test_head_relative_counts_by_hand():
    """TP, FP and FN of the four heads that matter."""
    example = COUNTEREXAMPLES["f-full-micro-head-relative"]
    expected = {"1??": (2, 1, 4), "1?1": (1, 2, 2), "11?": (3, 0, 2), "111": (2, 1, 0)}
    for head, counts in expected.items():
        found = example.measure.outcomes(
            example.Y, example.covered, head_vector(head), None, "head-relative"
        ).sum()
        assert (int(found.tp), int(found.fp), int(found.fn)) == counts


class TestLift:
    def test_prefixes_of_sorted_labels_miss_the_optimum(self):
        """Labels by value: 2, 3, 1."""
        example = COUNTEREXAMPLES["size-bonus-prefix"]
        assert [example.value_with_bonus(head) for head in ("?1?", "?11", "111")] == [
            Fraction(8, 9),
            Fraction(12, 17) * Fraction(5, 4),
            Fraction(49, 55),
        ]
        assert example.value_with_bonus("11?") == example.best == Fraction(25, 28)

    def test_single_labels_as_numerator_and_denominator(self):
        """2 TP and 2 TP + FN + FP: (2, 5), (8, 9) and (4, 8)."""
        example = COUNTEREXAMPLES["size-bonus-prefix"]
        for head, pair in {"1??": (2, 5), "?1?": (8, 9), "??1": (4, 8)}.items():
            found = example.measure.outcomes(example.Y, example.covered, head_vector(head)).sum()
            tp, fp, _, fn = (int(part) for part in found)
            assert (2 * tp, 2 * tp + fn + fp) == pair

    def test_equal_labels_of_different_weight(self):
        """TP and TP + FN: not 1 (3, 4), 2 (1, 1), not 2 (2, 2)."""
        example = COUNTEREXAMPLES["size-bonus-polarity"]
        for head, pair in {"0?": (3, 4), "?1": (1, 1), "?0": (2, 2)}.items():
            found = example.measure.outcomes(example.Y, example.covered, head_vector(head)).sum()
            assert (int(found.tp), int(found.tp + found.fn)) == pair
        assert example.value("?1") == example.value("?0")
        assert example.value("01") < example.value("00")
