"""Association rules: their values, their order, the best of them, and what is refused."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from labelrules import Measure, Schema, association_rules, dataset, load, parse_rule, rule_text
from labelrules.data import Dataset
from labelrules.mining import Items, items_of
from labelrules.mining import association_search as search
from labelrules.mining.associations import (
    INTERESTS,
    interest_measure,
    needed,
    needed_by_any,
    upper_bounds,
)
from tables import tables
from twins import mining as naive

MEASURES = [
    *INTERESTS,
    "precision",
    "f1",
    "recall/macro/partial",
    "m-estimate",
    "linear-cost",
    "correlation",
    "weighted-relative-accuracy",
    "f1/samples/partial",
    "subset",
    "hamming/micro/full",
]


def texts(rules):
    return [rule_text(rule, rules.data.schema) for rule in rules]


# ---------------------------------------------------------------- values


@settings(max_examples=40)
@given(tables(max_rows=9), st.sampled_from(MEASURES[len(INTERESTS) :]))
def test_measures_are_those_of_candidate_rules(data, measure):
    items = items_of(data, bins="width", n_bins=2)
    rules = association_rules(
        data, 1, 0, heads="multi", polarity="both", bodies="both", items=items, max_conditions=2
    )
    values = rules.measure(measure)
    for value, rule in zip(values.tolist(), rules, strict=True):
        covered = rule.body.covers(data.X, data.Y)
        expected = Measure.parse(measure).of_rule(data.Y, covered, rule.head.vector())
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_figures_of_the_readers():
    readers = load("magazines")
    rules = association_rules(readers, 3, 0.75)
    assert texts(rules) == [
        "quality <- education = University",
        "quality <- marital = Divorced",
    ]
    assert rules.n_body.tolist() == [4, 5]
    assert rules.n_both.tolist() == [4, 4]
    assert rules.n_head.tolist() == [7, 7]
    assert rules.support.tolist() == [4 / 14, 4 / 14]
    assert rules.confidence.tolist() == [1.0, 0.8]
    assert rules.lift.tolist() == [2.0, 1.6]
    assert rules.leverage == pytest.approx([4 / 14 - 4 / 14 * 7 / 14, 4 / 14 - 5 / 14 * 7 / 14])
    assert rules.conviction.tolist() == [np.inf, 2.5]
    assert rules.p == pytest.approx([35 / 1001, 0.13286713])


@settings(max_examples=30)
@given(tables(max_rows=9))
def test_chi_square_and_p_are_those_of_scipy(data):
    items = items_of(data, bins="width", n_bins=2)
    rules = association_rules(data, 1, 0, polarity="both", bodies="both", items=items)
    counts = (rules.n_both, rules.n_body, rules.n_head, rules.chi_square, rules.p)
    for both, body, head, found, p in zip(*(part.tolist() for part in counts), strict=True):
        table = [[both, body - both], [head - both, data.n_rows - body - head + both]]
        assert p == pytest.approx(stats.fisher_exact(table, alternative="greater").pvalue)
        if 0 < body < data.n_rows and 0 < head < data.n_rows:
            expected = stats.chi2_contingency(table, correction=False).statistic
            assert abs(found) == pytest.approx(expected)
            assert np.sign(found) == np.sign(both * data.n_rows - body * head)
        else:
            assert found == 0


def test_a_head_that_is_always_right_is_not_convincing():
    data = dataset([["x"], ["x"], ["y"]], [[1], [1], [1]])
    rules = association_rules(data, 1, 0)
    assert rules.conviction.tolist() == [0.0, 0.0]
    assert rules.lift.tolist() == [1.0, 1.0]
    assert rules.p.tolist() == [1.0, 1.0]


# ---------------------------------------------------------------- order


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("settings", [
    {},
    {"polarity": "both", "bodies": "both"},
    {"heads": "multi", "max_head": 2},
    {"heads": "multi", "polarity": "both", "productive": True},
])  # fmt: skip
def test_the_best_rules_are_the_first_of_all(monkeypatch, measure, settings):
    """Whatever is left out on the way, and however ties fall."""
    monkeypatch.setattr(search, "TOP_BATCH", 16)  # so that what is found guides the search soon
    data = naive.wide_table(3, n_rows=80, n_items=6, n_labels=3)
    every = association_rules(data, 5, 0, measure=measure, max_conditions=2, **settings)
    values = every.measure(measure)
    assert (np.diff(values) <= 0).all()
    for top in (1, 7, 40):
        best = association_rules(data, 5, 0, measure=measure, max_conditions=2, top=top, **settings)
        assert texts(best) == texts(every[:top])


@settings(max_examples=60)
@given(tables(max_rows=12), st.sampled_from(MEASURES), st.integers(1, 6), st.integers(1, 3))
def test_the_best_rules_of_small_tables(data, measure, top, minimum):
    items = items_of(data, bins="width", n_bins=2, absent_items=True)
    common = {"polarity": "both", "bodies": "both", "items": items, "measure": measure}
    every = association_rules(data, minimum, 0.3, **common)
    best = association_rules(data, minimum, 0.3, top=top, **common)
    assert texts(best) == texts(every[:top])


@pytest.mark.parametrize("correction", [None, "holm", "benjamini-hochberg"])
def test_the_best_of_the_significant_rules_are_kept(correction):
    """The best rule was chosen first, and lost again since chance explains it: none was left."""
    X = np.array([["p" if i < 2 else "q", "u" if i % 2 else "v"] for i in range(40)])
    Y = np.array([[int(i % 2 == 1 or i < 2)] for i in range(40)])
    Y[3] = 0
    settings = {"max_conditions": 1, "alpha": 0.05, "correction": correction}
    every = association_rules(dataset(X, Y), 2, 0.5, **settings)
    best = association_rules(dataset(X, Y), 2, 0.5, top=1, **settings)
    assert texts(every) == texts(best) == ["y0 <- x1 = u"]


@settings(max_examples=40)
@given(
    tables(max_rows=12), st.sampled_from([None, "holm", "benjamini-hochberg"]), st.integers(1, 4)
)
def test_the_best_significant_rules_are_the_first_of_all_that_are(data, correction, top):
    """Significant is what is so among all rules that are found, not among the best of them."""
    items = items_of(data, bins="width", n_bins=2)
    assume((~items.is_label).any())
    asked = {"items": items, "correction": correction, "measure": "lift"}
    every = association_rules(data, 1, 0, **asked)
    p = every.p if correction is None else every.corrected
    expected = every[p <= 0.4]
    found = association_rules(data, 1, 0, alpha=0.4, **asked)
    best = association_rules(data, 1, 0, alpha=0.4, top=top, **asked)
    assert texts(found) == texts(expected)
    assert texts(best) == texts(expected)[:top]
    if correction is not None:
        np.testing.assert_array_equal(best.corrected, expected.corrected[:top])


@pytest.mark.parametrize("measure", ["leverage", "chi-square", "f1", "weighted-relative-accuracy"])
def test_a_bound_spares_bodies(monkeypatch, measure):
    looked_at = []
    usual = search.AssociationSearch.batches

    def counting(self, limits):
        yield from usual(self, limits)
        looked_at.append(self.n_bodies)

    monkeypatch.setattr(search.AssociationSearch, "batches", counting)
    monkeypatch.setattr(search, "TOP_BATCH", 8)
    data = naive.wide_table(0, n_labels=1)
    Y = data.Y | (data.X[:, [5]] == 1)
    for top in (3, None):
        association_rules(
            Dataset(data.schema, data.X, Y), 5, 0, top=top, measure=measure, max_conditions=None
        )
    assert looked_at[0] < looked_at[1] / 2


@settings(max_examples=60)
@given(tables(max_rows=12), st.sampled_from(MEASURES))
def test_no_rule_is_worth_more_than_its_bound(data, measure):
    items = items_of(data, bins="width", n_bins=2, absent_items=True)
    rules = association_rules(
        data, 1, 0, polarity="both", bodies="both", items=items, measure=measure
    )
    if not len(rules):
        return
    means = interest_measure(measure)
    literals = rules.head.values.astype(np.int64)
    bound = upper_bounds(means, data.Y, rules.n_both, literals)
    if bound is None:
        return
    values = rules.measure(measure)
    assert (values <= bound + 1e-12).all()
    for number, value in enumerate(values.tolist()):
        need = needed(means, data.Y, 1, literals[[number]], value)
        assert need[0] <= rules.n_both[number]
        assert needed_by_any(means, data.n_rows, 1, value) <= rules.n_both[number]


def test_of_equal_rules_those_with_more_rows_and_shorter_bodies_come_first():
    rules = association_rules(load("magazines"), 1, 1.0)
    keys = list(zip((-rules.n_both).tolist(), rules.body.lengths.tolist(), strict=True))
    assert keys == sorted(keys)
    assert len(set(keys)) > 2


def test_the_order_of_rows_does_not_matter():
    data = naive.wide_table(1)
    turned = data.take(np.random.default_rng(0).permutation(data.n_rows))
    one, other = (association_rules(d, 20, 0.5, bodies="both") for d in (data, turned))
    assert texts(one) == texts(other)


# ---------------------------------------------------------------- what is given back


def test_what_is_shown_is_what_is_found():
    data = load("magazines")
    rules = association_rules(data, 2, 0.6, heads="multi", polarity="both", bodies="both")
    for number, rule in enumerate(rules):
        covered = rule.body.covers(data.X, data.Y)
        assert covered.sum() == rules.n_body[number]
        assert parse_rule(rule_text(rule, data.schema), data.schema) == rule
    some = rules[rules.lift > 2]
    assert texts(some) == [
        text for text, lift in zip(texts(rules), rules.lift, strict=True) if lift > 2
    ]
    assert texts(rules[::-1]) == texts(rules)[::-1]
    assert some.right.size == some.head.values.size
    assert len(some.as_rule_set()) == len(some)
    frame = rules.to_frame()
    assert frame["rule"].tolist() == texts(rules)
    assert frame["confidence"].tolist() == rules.confidence.tolist()
    with pytest.raises(IndexError, match="none with the number"):
        rules[len(rules)]


def test_binned_bodies_are_what_is_run():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    data = dataset(X, (X[:, :2] + rng.normal(size=(120, 2)) > 0).astype(int))
    for bins in ("width", "frequency", "entropy"):
        rules = association_rules(data, 10, 0.6, bins=bins)
        assert len(rules) > 0
        for number, rule in enumerate(rules):
            read = parse_rule(rule_text(rule, data.schema), data.schema)
            assert read.body.covers(data.X, data.Y).sum() == rules.n_body[number]


def test_numeric_features_that_are_left_out_are_told():
    data = dataset([["x", 0.5], ["x", 1.5], ["y", 2.5]], [[1], [1], [0]])
    assert "without 1 numeric feature: give bins" in str(association_rules(data, 1, 0))


# ---------------------------------------------------------------- limits and errors


def test_a_search_that_finds_too_much_stops_and_says_so():
    data = naive.wide_table(0)
    with pytest.warns(RuntimeWarning, match="more than 20 rules"):
        rules = association_rules(data, 5, 0, max_rules=20, correction="holm")
    assert len(rules) == 20
    assert "not all of them: there are more than 20 rules (max_rules)" in str(rules)
    # 8 items that are in enough rows, in bodies of up to three, for two labels
    assert rules.n_tests == (9 + 36 + 84) * 2


@pytest.mark.parametrize("limit", [{"top": 800_000}, {"max_rules": 10**7}])
@pytest.mark.parametrize("max_conditions", [4, None])
def test_memory_is_kept_to(limit, max_conditions):
    """The best rules took memory without end, and all rules up to 1.75 times what was allowed."""
    generator = np.random.default_rng(0)
    data = dataset(
        (generator.random((200, 40)) < 0.8).astype(float), generator.integers(0, 2, (200, 12))
    )
    association_rules(
        data, 2, 0, max_conditions=1, **limit
    )  # what is loaded on first use is not meant
    tracemalloc.start()
    with pytest.warns(RuntimeWarning, match="max_memory"):
        rules = association_rules(data, 2, 0, max_conditions=max_conditions, max_memory=32, **limit)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rules.stopped == "more than 32 MB are needed (max_memory)"
    assert 20 < peak / 2**20 < 34
    assert len(rules) > 10_000


def test_many_best_rules_are_not_put_in_order_again_and_again(monkeypatch):
    """Everything held was sorted for each batch: 70 times slower than to keep all rules."""
    sorted_ = []
    usual = search.in_order

    def counted(found, values):
        sorted_.append(values.size)
        return usual(found, values)

    monkeypatch.setattr(search, "in_order", counted)
    monkeypatch.setattr(search, "TOP_BATCH", 4)
    data = naive.wide_table(0)
    every = association_rules(data, 2, 0)
    best = association_rules(data, 2, 0, top=len(every) // 2)
    assert texts(best) == texts(every)[: len(best)]
    assert len(every) > 4 * 50
    assert sum(sorted_) < 5 * len(every)


@pytest.mark.parametrize(
    "settings",
    [
        {"min_support": 2, "min_confidence": 0, "top": 10, "measure": "lift"},
        {"min_support": 30, "min_confidence": 0.99, "correction": "holm", "max_rules": 1000},
    ],
)
def test_a_search_that_looks_at_too_much_stops_and_says_so(settings):
    """The best rules, and all bodies for a correction, may take more looking than there is time.

    The limits counted the rules that were kept alone, and these searches did not come back.
    """
    generator = np.random.default_rng(0)
    dense = (generator.random((300, 60)) < 0.8).astype(float)
    data = dataset(dense, generator.integers(0, 2, (300, 5)))
    with pytest.warns(RuntimeWarning, match="max_visited"):
        rules = association_rules(data, **settings, max_conditions=None, max_visited=3000)
    assert rules.stopped == "there are more than 3,000 bodies and rules to visit (max_visited)"


def test_just_as_much_to_look_at_as_allowed_is_no_stop():
    """Each of the two categories is a body."""
    data = dataset([["a"], ["a"], ["b"]], [[1], [1], [0]])
    assert association_rules(data, 1, max_visited=2).stopped is None
    with pytest.warns(RuntimeWarning, match="max_visited"):
        association_rules(data, 1, max_visited=1)


def test_heads_without_number_stop_the_search_too():
    """Absence of 24 labels, in heads of up to 12, all from one body."""
    data = dataset([["x"]] * 40 + [["y"]], np.zeros((41, 24), dtype=int))
    with pytest.warns(RuntimeWarning, match="more than 1,000 rules"):
        rules = association_rules(
            data, 5, 0, heads="multi", max_head=12, polarity="absence", max_rules=1000
        )
    assert len(rules) <= 1000


def test_memory_stops_the_search_too():
    data = dataset([["x"]] * 40 + [["y"]], np.zeros((41, 24), dtype=int))
    with pytest.warns(RuntimeWarning, match="more than 32 MB"):
        rules = association_rules(
            data, 5, 0, heads="multi", max_head=12, polarity="absence", max_rules=10**9,
            max_memory=32,
        )  # fmt: skip
    assert rules.stopped == "more than 32 MB are needed (max_memory)"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_support": 0}, "min_support must be a whole number of at least 1 or a share"),
        ({"min_support": -0.1}, "above 0"),
        ({"min_confidence": 1.1}, "from 0 to 1"),
        ({"min_confidence": "high"}, "must be a number"),
        ({"heads": "multiple"}, "did you mean 'multi'"),
        ({"heads": "multi", "max_head": 0}, "max_head must be a whole number"),
        ({"polarity": "present"}, "did you mean 'presence'"),
        ({"bodies": "label"}, "did you mean 'labels'"),
        ({"max_conditions": 0}, "max_conditions must be a whole number"),
        ({"measure": "confidense"}, "did you mean 'confidence'"),
        ({"measure": 3}, "must be a name or a Measure"),
        ({"top": 0}, "top must be a whole number"),
        ({"correction": "bonferroni"}, "correction must be"),
        ({"alpha": 0}, "alpha must be a number between 0 and 1, not 0"),
        ({"productive": True, "max_conditions": 17}, "set max_conditions"),
        ({"max_rules": 0}, "max_rules must be a whole number"),
        ({"max_visited": 0}, "max_visited must be a whole number"),
        ({"alpha": ".05"}, "alpha must be a number between 0 and 1, not '.05'"),
    ],
)
def test_malformed_requests_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        association_rules(load("magazines"), **settings)


def test_data_without_labels_have_no_rules():
    data = Dataset(
        Schema(load("magazines").schema.features, []), load("magazines").X, np.empty((14, 0))
    )
    with pytest.raises(ValueError, match="no labels"):
        association_rules(data)


def test_data_must_be_a_data_set():
    with pytest.raises(ValueError, match="use dataset"):
        association_rules([[1, 0]])


def test_numeric_features_alone_need_bins():
    data = dataset([[0.5, 1.5], [2.5, 3.5]], [[1], [0]])
    with pytest.raises(ValueError, match=r"give bins=.* or 'labels', or bodies='labels' for"):
        association_rules(data)
    assert len(association_rules(data, 1, bodies="labels")) == 0


def test_bodies_of_labels_miss_no_feature():
    """With items made before, numeric features without bins were missed, and the search refused."""
    data = dataset([[0.5], [2.5], [1.5]], [[1, 1], [0, 1], [1, 1]])
    rules = association_rules(data, 1, bodies="labels", items=items_of(data))
    assert texts(rules) == texts(association_rules(data, 1, bodies="labels"))
    assert len(rules) == 2
    assert "without" not in str(rules)


def test_a_name_with_an_arrow_is_not_cut():
    """Head and body were told apart by the first arrow in the text, here one of the label's."""
    data = dataset([["a"], ["a"], ["b"]], [[1], [1], [0]], label_names=["l <- m"])
    columns = association_rules(data, 1).as_dict()
    assert columns["head"] == ["'l <- m'"]
    assert columns["body"] == ["x0 = a"]
    assert columns["rule"] == ["'l <- m' <- x0 = a"]


def test_one_rule_holds():
    data = dataset([["a"], ["a"], ["b"]], [[1], [1], [0]])
    assert str(association_rules(data, 1)).startswith("1 rule that holds in at least 1 row\n")


def test_a_table_without_rows_has_no_items():
    with pytest.raises(ValueError, match="no feature or label that may be one is in any row"):
        association_rules(load("magazines").take([]))


def test_items_of_other_data_are_refused():
    items = items_of(load("magazines").take([0, 1]))
    assert isinstance(items, Items)
    with pytest.raises(ValueError, match="other data"):
        association_rules(load("magazines"), items=items)
