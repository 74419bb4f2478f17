"""Where the chapter's searches miss the best head, ours finds it, and they are refused."""

import re
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from labelrules.measures import COUNTEREXAMPLES, Counterexample, Measure, traits
from labelrules.measures.measure_traits import head_vector
from labelrules.search import best_head, no_bonus, root, search_tree
from twins import heads as naive

COUNTED_PLAINLY = {name for name in COUNTEREXAMPLES if "plain" in name}
EXAMPLES = {name: one for name, one in COUNTEREXAMPLES.items() if name not in COUNTED_PLAINLY}
POSITIVE_ONLY = {"size-bonus-prefix"}
"""Examples about heads that predict presence; a head with absence is better there."""


def bonus_of(example):
    return (lambda size: float(example.size_bonus[size - 1])) if example.size_bonus else no_bonus


def search(example, absence):
    return best_head(
        example.Y,
        example.covered,
        example.measure,
        example.board,
        counting=example.counting,
        polarity=naive.POLARITY[absence],
        size_bonus=bonus_of(example),
    )


def tree(example, strategy, **options):
    return search_tree(
        example.Y,
        example.covered,
        example.measure,
        strategy,
        example.board if "#" in str(example.rows) else None,
        counting=example.counting,
        **options,
    )


def lifted(example, found):
    size = found.problem.size(found.vector)
    return found.value * (example.size_bonus[size - 1] if example.size_bonus else 1)


@pytest.mark.parametrize("absence", [False, True])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_best_head_is_found(name, absence):
    example = EXAMPLES[name]
    found = search(example, absence)
    assert found.gap == 0
    if not (absence and name in POSITIVE_ONLY):
        assert lifted(example, found) == example.best
    else:
        assert lifted(example, found) > example.best


@pytest.mark.parametrize("name", sorted(COUNTED_PLAINLY))
def test_plain_counting_is_for_full_predictions_and_no_strategy_is_valid_for_it(name):
    example = COUNTEREXAMPLES[name]
    found = search(example, absence=False)
    assert found.method == "GFM"
    assert found.value == example.best
    with pytest.raises(
        ValueError, match="the counterexample 'f-full-samples-plain-finds' shows it"
    ):
        tree(example, "breadth-first")


def test_pruning_misses_the_best_head_counted_plainly_too():
    example = COUNTEREXAMPLES["f-full-samples-plain-finds"]
    missed = tree(example, "breadth-first", even_if_invalid=True)
    assert missed.value == Fraction(49, 90) < example.best


# Name, and what breadth-first search with pruning returns in its place.
PRUNED_AWAY = {
    "f-partial-samples-finds": "7/10",
    "f0.5-partial-samples-finds": "4/7",
    "f2-partial-samples-finds": "13/15",
    "f-partial-samples-finds-any-beta": "37/50",
    "f-full-samples-finds": "33/40",
    "f2-full-samples-finds": "65/77",
    "subset-full-samples-finds": "1/3",
    "f-full-micro-head-relative": "3/4",
    "f0.5-full-micro-head-relative": "15/22",
    "recall-full-micro-head-relative": "2/3",
    "written-samples-finds": "7/10",
    "written-subset-finds": "1/2",
    "written-recall-finds": "3/4",
}

# Name, and what merging the best single labels gives.
MERGED_WRONGLY = {
    "f-partial-samples-merges": "13/20",
    "recall-full-samples-merges": "0",
    "recall-partial-samples-merges": "2/3",
    "subset-partial-samples-decomposable": "0",
    "subset-full-samples-decomposable": "0",
    "full-votes": "2/3",
    "written-samples-merges": "2/3",
}


@pytest.mark.parametrize("name", PRUNED_AWAY)
def test_pruning_is_refused_and_misses_the_best_head(name):
    example = EXAMPLES[name]
    check_refused(example, "breadth-first", "finds")
    check_refused(example, "tree", "finds")
    missed = tree(example, "breadth-first", even_if_invalid=True)
    assert missed.value == Fraction(PRUNED_AWAY[name]) < example.best
    assert tree(example, "exhaustive").value == example.best


@pytest.mark.parametrize("name", MERGED_WRONGLY)
def test_merging_is_refused_and_misses_the_best_head(name):
    example = EXAMPLES[name]
    check_refused(example, "decomposable", "merges")
    merged = tree(example, "decomposable", even_if_invalid=True)
    assert merged.value == Fraction(MERGED_WRONGLY[name]) < example.best


def check_refused(example, strategy, needed):
    """The error names the counterexample for this measure, which may be another table."""
    written = "#" in str(example.rows)
    witness = traits(example.measure, example.counting, written=written).witnesses[needed]
    message = (
        f"the strategy {strategy!r} may miss the best head for {example.measure}; "
        f"the counterexample {witness!r} shows it: use best_head"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        tree(example, strategy)
    assert witness in COUNTEREXAMPLES


def test_every_example_of_a_missed_head_is_above():
    about_search = {n for n in EXAMPLES if "finds" in n or "head-relative" in n}
    assert about_search == set(PRUNED_AWAY)
    assert {n for n in EXAMPLES if "merges" in n} < set(MERGED_WRONGLY)


def test_tree_only_pruning_misses_it_too():
    """{1, 2, 3} hangs below {1, 2}, which is worse than {1}."""
    missed = tree(EXAMPLES["f-partial-samples-finds"], "tree", even_if_invalid=True)
    assert missed.value == Fraction(7, 10)
    fates = {node.literals: node.fate for node in missed.nodes()}
    assert fates[(0, 1), (1, 1)] == "pruned"
    assert fates[(0, 1), (1, 1), (2, 1)] == "skipped"


def test_merging_with_absence():
    """Rows 10 and 01: presences merge to 2/3, and any presence beside an absence is worth 1/2."""
    example = EXAMPLES["f-partial-samples-decomposable"]
    assert search(example, absence=True).value == Fraction(2, 3)
    assert tree(example, "decomposable", even_if_invalid=True, polarity="both").value == Fraction(
        2, 3
    )
    assert example.value("10") == Fraction(1, 2)


@pytest.mark.parametrize(("a", "b"), [(3, 7), (5, 11), (5, 12), (4, 9), (7, 17)])
def test_the_family_of_missed_heads(a, b):
    """a rows 010 and b rows 101 with 2a < b < 2.5a: the search prunes {1, 2}."""
    Y = np.array([[0, 1, 0]] * a + [[1, 0, 1]] * b)
    everywhere = np.ones(len(Y), dtype=bool)
    for absence in (False, True):
        found = best_head(Y, everywhere, "f1/samples/partial", polarity=naive.POLARITY[absence])
        assert found.vector.tolist() == [1, 1, 1]
    missed = search_tree(Y, everywhere, "f1/samples/partial", "breadth-first", even_if_invalid=True)
    assert missed.value == Fraction(b, a + b) < found.value


ROOT = tuple(Fraction(root(2)(size)) for size in range(1, 6))


def as_text(Y, covered):
    """Covered rows, values and uncovered rows of a counterexample."""
    rows = ["".join(map(str, row)) for row in Y.tolist()]
    inside = tuple(row for row, taken in zip(rows, covered, strict=True) if taken)
    outside = tuple(row for row, taken in zip(rows, covered, strict=True) if not taken)
    return inside, {}, outside


def prefixes(example):
    """The published search for a lifted head: labels by their own value, then every prefix."""
    n_labels = len(example.rows[0])
    singles = ["?" * i + "1" + "?" * (n_labels - 1 - i) for i in range(n_labels)]
    order = sorted(range(n_labels), key=lambda i: -example.value(singles[i]))
    for size in range(1, n_labels + 1):
        chosen = order[:size]
        head = "".join("1" if i in chosen else "?" for i in range(n_labels))
        yield head, example.value(head) * example.size_bonus[size - 1]


class TestLift:
    def test_prefixes_of_the_sorted_labels_miss_the_best_head(self):
        example = EXAMPLES["size-bonus-prefix"]
        assert dict(prefixes(example)) == {
            "?1?": Fraction(8, 9),
            "?11": Fraction(12, 17) * Fraction(5, 4),
            "111": Fraction(49, 55),
        }
        found = search(example, absence=False)
        assert found.vector.tolist() == head_vector("11?").tolist()
        assert lifted(example, found) == Fraction(25, 28) > max(dict(prefixes(example)).values())

    @pytest.mark.parametrize(("text", "n_missed"), [("f1/micro/partial", 2), ("recall/micro", 11)])
    def test_prefixes_miss_it_elsewhere_and_never_exceed_it(self, text, n_missed):
        """On 99 generated tables with five labels, positive heads."""
        tables = naive.generated(np.random.default_rng(0), 99, 8, 5)
        reached = []
        for Y, covered, _ in naive.instances(tables):
            found = best_head(Y, covered, text, polarity="presence", size_bonus=root(2))
            example = Counterexample(
                "generated", ".", Measure.parse(text), *as_text(Y, covered), size_bonus=ROOT
            )
            best = found.value * ROOT[found.problem.size(found.vector) - 1]
            reached.append(max(dict(prefixes(example)).values()) - best)
        assert max(reached) == 0
        assert sum(difference < 0 for difference in reached) == n_missed

    def test_polarities_that_tie_alone_do_not_tie_together(self):
        """Both polarities of label 2 are worth 1, but with not 1 they give 4/5 and 5/6."""
        example = EXAMPLES["size-bonus-polarity"]
        heads = [
            [values[labels.index(i)] if i in labels else -1 for i in range(2)]
            for labels in combinations(range(2), 2)
            for values in product((0, 1), repeat=2)
        ]
        found = best_head(
            example.Y, example.covered, example.measure, size_bonus=lambda size: size**9.0
        )
        assert found.vector.tolist() == [0, 0]
        assert found.value == Fraction(5, 6) == max(found.problem.exact_value(h) for h in heads)
        assert example.value("01") == Fraction(4, 5)
