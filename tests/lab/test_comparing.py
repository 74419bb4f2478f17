"""Comparisons over data sets: published tables, SciPy, scikit-posthocs, slow twins, pictures."""

import itertools
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from extras import needs
from labelrules.lab import (
    average_ranks,
    bayesian_signed_rank,
    critical_difference,
    critical_difference_svg,
    friedman_test,
    nemenyi_test,
    plot_critical_difference,
    score_table,
    wilcoxon_holm,
)

AUC = {
    "C4.5": [
        0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1, 0.940, 0.619, 0.972, 0.957
    ],
    "m": [
        0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1, 0.962, 0.666, 0.981, 0.978
    ],
    "cf": [
        0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1, 0.965, 0.614, 0.9751,
        0.946
    ],
    "m and cf": [
        0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1, 0.962, 0.669, 0.975, 0.970
    ],
}  # fmt: skip
"""J. Demšar, JMLR 7 (2006), Table 6. 0.9751 is printed 0.975 there, but ranked before 0.975."""

TABLE = np.array([
    [0.0343, 0.2947, 0.4205, 0.6329], [0.0377, 0.3733, 0.2916, 0.4639],
    [0.2938, 0.2455, 0.2565, 0.6067], [0.1723, 0.4347, 0.3951, 0.7825],
    [0.1137, 0.4594, 0.3785, 0.5171], [0.0006, 0.5894, 0.2194, 0.5256],
    [0.3567, 0.4341, 0.2885, 0.7093], [0.0121, 0.4828, 0.2497, 0.4363],
    [0.2642, 0.5726, 0.1829, 0.6520],
])  # fmt: skip


# ---------------------------------------------------------------- published figures


def test_the_ranks_and_tests_that_demsar_published():
    ranks = average_ranks(AUC)
    assert {name: round(ranks[name], 3) for name in AUC} == {
        "C4.5": 3.143, "m": 2.0, "cf": 2.893, "m and cf": 1.964,
    }  # fmt: skip
    found = friedman_test(AUC, correct_ties=False)
    assert (round(found.statistic, 2), round(found.f_statistic, 2)) == (9.28, 3.69)
    assert (found.degrees, found.f_degrees) == (3, (3, 39))
    assert found.f_significant
    test = nemenyi_test(AUC, alpha=0.1)
    assert round(test.critical_difference, 2) == 1.12
    better = {(one.better, one.worse) for one in test.pairs if one.significant}
    assert better == {("m", "C4.5"), ("m and cf", "C4.5")}
    assert not any(one.significant for one in nemenyi_test(AUC, alpha=0.05).pairs)


def test_the_signed_ranks_that_demsar_published():
    (one,) = wilcoxon_holm({name: AUC[name] for name in ("m", "C4.5")}, zero_method="zsplit").pairs
    assert (one.plus, one.minus, one.better) == (93, 12, "m")


@pytest.mark.parametrize(
    ("alpha", "values"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_the_critical_values_that_demsar_published(alpha, values):
    """Table 5a: for 2 to 10 learners; some of its last digits are rounded otherwise."""
    for k, published in enumerate(values, 2):
        n = k * (k + 1)  # so that the difference is the value divided by the root of 6
        found = critical_difference(n_datasets=n, n_learners=k, alpha=alpha) * math.sqrt(6)
        assert found == pytest.approx(published, abs=1.1e-3)


def test_the_setting_of_the_chapter():
    """Ten learners on eight data sets at 0.05: average ranks differ by 4.789 or not at all."""
    found = critical_difference(n_datasets=8, n_learners=10, alpha=0.05)
    assert round(found, 3) == 4.789
    assert found == pytest.approx(3.1637 * math.sqrt(10 * 11 / (6 * 8)), abs=1e-4)


# ---------------------------------------------------------------- other software


def test_p_values_are_those_of_scikit_posthocs():
    """By posthoc_nemenyi_friedman and posthoc_wilcoxon (Holm) of scikit-posthocs 0.17.1."""
    found = nemenyi_test(AUC).p
    assert np.round(found, 10).tolist() == [
        [1.0, 0.0886727093, 0.9561771752, 0.0741847951],
        [0.0886727093, 1.0, 0.2592280702, 0.9998594494],
        [0.9561771752, 0.2592280702, 1.0, 0.226696886],
        [0.0741847951, 0.9998594494, 0.226696886, 1.0],
    ]
    assert np.round(nemenyi_test(TABLE).p[3], 10).tolist() == [
        0.0007274515, 0.4615310694, 0.0103131947, 1.0
    ]  # fmt: skip
    holm = wilcoxon_holm(TABLE)
    pairs = [
        holm.pair(f"learner {one}", f"learner {other}").corrected
        for one, other in itertools.combinations(range(1, 5), 2)
    ]
    assert pairs == pytest.approx([0.03125, 0.109375, 0.0234375, 0.109375, 0.08203125, 0.0234375])


@pytest.mark.parametrize("seed", range(5))
def test_statistics_are_those_of_scipy(seed):
    random = np.random.default_rng(seed)
    table = random.integers(0, 4, (7, 4)) / 4 if seed % 2 else random.random((7, 4))
    found = friedman_test(table)
    expected = stats.friedmanchisquare(*table.T)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    ranks = average_ranks(table).array().T
    assert found.f_statistic == pytest.approx(two_way_f(ranks))
    for method in ("wilcox", "pratt", "zsplit"):
        tests = wilcoxon_holm(table, zero_method=method)
        assert not any(one.corrected < one.p for one in tests.pairs)
        if not seed % 2:  # without ties and zeros
            for one, other in itertools.combinations(range(4), 2):
                p = stats.wilcoxon(table[:, one], table[:, other]).pvalue
                pair = tests.pair(f"learner {one + 1}", f"learner {other + 1}")
                assert pair.p == pytest.approx(p)


def two_way_f(ranks):
    """The F statistic of an analysis of variance, learners by data sets, without interaction."""
    k, n = ranks.shape
    rows, columns = ranks.mean(axis=1, keepdims=True), ranks.mean(axis=0, keepdims=True)
    between = n * ((rows - ranks.mean()) ** 2).sum() / (k - 1)
    rest = ((ranks - rows - columns + ranks.mean()) ** 2).sum() / ((k - 1) * (n - 1))
    return between / rest


# ---------------------------------------------------------------- slow twins


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([-3, -2, -1, 0, 1, 2, 3]), min_size=2, max_size=8))
def test_signed_ranks_are_exact(gaps):
    scores = {"a": [5.0 + gap for gap in gaps], "b": [5.0] * len(gaps)}
    (one,) = wilcoxon_holm(scores).pairs
    kept = [gap for gap in gaps if gap]
    sizes = [abs(gap) for gap in kept]
    ranks = [sum(s < size for s in sizes) + (sizes.count(size) + 1) / 2 for size in sizes]
    plus = sum(rank for rank, gap in zip(ranks, kept, strict=True) if gap > 0)
    smaller = min(plus, sum(ranks) - plus)
    sums = [
        sum(itertools.compress(ranks, signs))
        for signs in itertools.product([0, 1], repeat=len(kept))
    ]
    p = min(1.0, 2 * sum(value <= smaller + 1e-9 for value in sums) / len(sums))
    assert (one.plus, one.n_equal) == (plus, gaps.count(0))
    assert one.p == pytest.approx(p)


@pytest.mark.parametrize("rope", [0.0, 0.05])
def test_the_bayesian_test_counts_all_pairs_of_differences(rope):
    first, second = [0.5, 0.6, 0.72, 0.4, 0.9], [0.45, 0.62, 0.6, 0.4, 0.8]
    found = bayesian_signed_rank({"a": first, "b": second}, rope=rope, n_samples=400)
    gaps = np.array([0.0, *np.sort(np.round(np.subtract(first, second), 12))])
    drawn = np.random.RandomState(0).dirichlet([0.5, 1, 1, 1, 1, 1], 400)
    won = np.zeros(3)
    for weights in drawn:
        shares = np.zeros(3)
        for (i, one), (j, other) in itertools.product(enumerate(gaps), repeat=2):
            total, weight = round(one + other, 12), weights[i] * weights[j]
            if abs(abs(total) - 2 * rope) < 1e-12:  # at the limit, or 0 without equivalence
                sides = [0, 2] if rope == 0 else [1, 0 if total > 0 else 2]
                for side in sides:
                    shares[side] += weight / 2
            else:
                shares[0 if total > 2 * rope else 2 if total < -2 * rope else 1] += weight
        best = shares >= shares.max() - 1e-12
        won += best / best.sum()
    pair = found.pair("a", "b")
    expected = won / 400
    assert (pair.first_better, pair.equivalent, pair.second_better) == pytest.approx(expected)
    turned = bayesian_signed_rank({"b": second, "a": first}, rope=rope, n_samples=400)
    assert turned.pair("a", "b") == pair


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([0.1, 0.2, 0.3]), min_size=3, max_size=3), min_size=2, max_size=6
    )
)
def test_ranks_with_ties(rows):
    found = average_ranks(rows)
    for row, ranks in zip(rows, found.ranks, strict=True):
        for value, rank in zip(row, ranks, strict=True):
            assert rank == sum(other > value for other in row) + (row.count(value) + 1) / 2
    losses = average_ranks([[-value for value in row] for row in rows], higher_is_better=False)
    assert losses.averages == found.averages


# ---------------------------------------------------------------- tables of scores and pictures


def test_frames_and_mappings_give_the_same_table():
    pd = needs("pandas")
    columns = {"lists": [0.6, 0.7], "chain": [0.5, 0.9]}
    frame = pd.DataFrame({"set": ["scene", "yeast"], **columns})
    table = score_table(frame)
    assert (table.datasets, table.learners) == (("scene", "yeast"), ("lists", "chain"))
    assert score_table(frame.set_index("set")) == table
    nested = {name: dict(zip(frame["set"], cells, strict=True)) for name, cells in columns.items()}
    assert score_table(nested) == table
    assert score_table(table.to_frame()) == table


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: friedman_test({"a": [1, 2], "b": [1, 2]}), "at least 3 learners, not 2: compare"),
        (lambda: nemenyi_test({"a": [1.0], "b": [2.0]}), "at least 2 data sets, not 1"),
        (lambda: average_ranks({"a": [1, math.nan], "b": [1, 2]}), "missing: 'a' on 'data set 2'"),
        (lambda: average_ranks({"a": [1, 2], "b": [1]}), "all learners need as many scores"),
        (lambda: wilcoxon_holm(AUC, control="c4.5"), "did you mean 'C4.5'?"),
        (lambda: bayesian_signed_rank(AUC, rope=-1), "rope must be a number of at least 0"),
        (lambda: critical_difference(n_datasets=8, n_learners=1), "n_learners must be a whole"),
        (lambda: nemenyi_test(AUC, alpha=2), "alpha must be a number between 0 and 1"),
    ],
)
def test_wrong_comparisons_are_explained(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_the_diagram_shows_ranks_and_groups():
    test = nemenyi_test(TABLE)
    picture = ElementTree.fromstring(str(critical_difference_svg(test)))
    names = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert names[0] == "4 learners over 9 data sets: average ranks, 1 is best"
    for learner in test.ranks.learners:
        assert f"{learner}: average rank {test.ranks[learner]:.3f}" in names
    joined = [name for name in names if name.endswith("do not differ significantly")]
    expected = [f"{', '.join(group)} do not differ significantly" for group in test.groups]
    assert joined == expected
    texts = [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert f"CD = {test.critical_difference:.3f}" in texts
    everything = nemenyi_test(np.random.default_rng(0).random((4, 101)))
    with pytest.raises(ValueError, match="a diagram can show 100"):
        critical_difference_svg(everything)


def test_the_diagram_of_the_page_is_that_of_the_published_table():
    """To draw it anew: write `picture` to the file."""
    names = {"C4.5": "C4.5", "m": "m", "cf": "cf", "m and cf": "m, cf"}
    test = nemenyi_test({names[name]: scores for name, scores in AUC.items()}, alpha=0.1)
    picture = f"{critical_difference_svg(test)}\n"
    file = Path(__file__).parents[2] / "docs" / "_static" / "critical-difference.svg"
    assert file.read_text(encoding="utf-8") == picture


def test_the_diagram_of_matplotlib_says_the_same():
    pyplot = needs("matplotlib.pyplot")
    ax = plot_critical_difference(nemenyi_test(TABLE))
    texts = " ".join(text.get_text() for text in ax.texts)
    assert "learner 4" in texts
    assert "CD = 1.563" in texts
    pyplot.close(ax.figure)
