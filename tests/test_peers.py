"""The comparison with other programs: how sizes are counted, and what is made of the outcomes."""

import doctest
import json
import sys
from pathlib import Path
from types import SimpleNamespace as Stand

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from labelrules import load, parse

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from peers import __main__ as command
from peers import counting, fitting, kept, ranking, report
from peers.catalog import BY_SIZE, PEERS, SETS, Peer
from peers.counting import Size
from peers.fitting import Limits, run_limited, too_much
from peers.kept import Store, is_answer


def mlrl_rule(n_conditions, *values):
    return Stand(body=range(n_conditions), head=[Stand(value=value) for value in values])


# ---------------------------------------------------------------- counting


def test_our_theories_count_by_the_same_convention():
    text = "quality, not tabloid <- sex = Female, children = No\nsports <- quality\nfashion <- true"
    theory = parse(text, load("magazines").schema)
    assert theory.n_literals == counting.of_rules([(2, 2), (1, 1), (0, 1)]).literals


def test_rules_of_mlrl_seco_decide_and_its_default_counts_what_is_present():
    rules = [mlrl_rule(2, 1), mlrl_rule(1, 0, 1), mlrl_rule(0, 0, 1, 0)]
    assert counting.of_mlrl(rules, votes=False) == Size(3, 3 + 3 + 1)
    assert counting.of_mlrl([mlrl_rule(1, 1), mlrl_rule(0, 0, 0)], votes=False) == Size(1, 2)


def test_rules_of_mlrl_boomer_vote_for_every_label_with_points():
    rules = [mlrl_rule(0, -0.2, 0.1), mlrl_rule(3, 0.5, 0.0), mlrl_rule(1, 0.5, -0.5)]
    assert counting.of_mlrl(rules, votes=True) == Size(3, 2 + 4 + 3)


def test_rules_of_jrip_and_wittgenstein_have_one_label_each():
    assert counting.of_jrip(2, 5, False) == Size(2, 7)
    assert counting.of_jrip(2, 5, True) == Size(3, 8)
    rules = [Stand(conds=["a=1", "b=2"]), Stand(conds=["c=1"])]
    assert counting.of_wittgenstein(rules) == Size(2, 5)
    assert counting.of_wittgenstein([]) == Size(0, 0)


@pytest.mark.parametrize(("prediction", "size"), [(0, Size(2, 5)), (1, Size(3, 6))])
def test_the_default_of_cn2_counts_if_it_is_presence(prediction, size):
    rules = [
        Stand(selectors=["x<=1", "y>2"], prediction=0),
        Stand(selectors=["z>2"], prediction=1),
        Stand(selectors=[], prediction=prediction),
    ]
    assert counting.of_cn2(rules) == size


def test_the_default_of_a_greedy_list_counts_if_it_is_presence():
    steps = [{"col": "x", "val": 0.9}, {"col": "y", "val": 0.2}]
    assert counting.of_greedy_list([*steps, {"val": 0.2}]) == Size(2, 4)
    assert counting.of_greedy_list([*steps, {"val": 0.8}]) == Size(3, 5)


def test_rules_of_imodels_count_merged_conditions_and_weights_that_are_not_0():
    rules = [
        Stand(agg_dict={("x", "<="): "1", ("y", ">"): "2"}, args=[0.5]),
        Stand(agg_dict={("x", "<="): "3"}, args=[0.0]),
    ]
    assert counting.of_skope(rules) == Size(2, 5)
    assert counting.of_rulefit(rules, [0.0, -0.1, 0.2]) == Size(3, 3 + 2 + 2)


def figs(value=None, left=None, right=None):
    return Stand(left=left, right=right, value=value)


def test_trees_of_figs_add_up():
    tree = figs([0.4, 0.6], figs([0.0, 0.3]), figs([0, 0], figs([0.0, 0.0]), figs([0.0, 0.2])))
    assert counting.of_figs([tree, figs([0.1, 0.1])]) == Size(4, 2 + 2 + 1)


def test_a_tree_counts_each_test_once_and_the_labels_at_its_leaves():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    Y = np.array([[0, 1], [1, 1], [0, 0], [0, 0]])  # x <= 0.5: y then decides the first label
    assert counting.of_tree(DecisionTreeClassifier(random_state=0).fit(X, Y)) == Size(3, 2 + 3)
    one = DecisionTreeClassifier(random_state=0).fit(X, Y[:, 1])
    assert counting.of_tree(one) == Size(2, 1 + 1)


def test_a_tree_counts_the_labels_it_predicts():
    random = np.random.default_rng(0)
    X, Y = random.normal(size=(60, 3)), random.integers(0, 2, (60, 4))
    tree = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, Y)
    leaves = tree.apply(X)
    labels = sum(int(tree.predict(X[leaves == leaf][:1]).sum()) for leaf in np.unique(leaves))
    assert counting.of_tree(tree) == Size(6, 5 + labels)


def test_trees_of_a_forest_vote_with_every_label_they_have_seen_at_a_leaf():
    X, y = np.zeros((8, 1)), np.array([0, 0, 0, 0, 0, 0, 1, 1])  # no test is possible
    forest = RandomForestClassifier(5, bootstrap=False, random_state=0).fit(X, y)
    assert counting.of_forest(forest) == Size(5, 5)
    never = RandomForestClassifier(5, bootstrap=False, random_state=0).fit(X, 0 * y)
    assert counting.of_forest(never) == Size(5, 0)


# ---------------------------------------------------------------- running


def test_a_fit_is_run_again_only_where_that_may_help():
    late = {"status": "timed out", "limits": [60.0, 3000]}
    assert is_answer(late, Limits(60.0), retry=False)
    assert not is_answer(late, Limits(120.0), retry=False)
    assert not is_answer(late, Limits(60.0), retry=True)
    skipped = {"status": "not tried", "limits": [60.0, 3000]}
    assert is_answer(skipped, Limits(60.0), retry=False)
    assert not is_answer(skipped, Limits(61.0), retry=False)
    large = {"status": "out of memory", "limits": [60.0, 3000]}
    assert is_answer(large, Limits(120.0, 3000), retry=False)
    assert not is_answer(large, Limits(60.0, 4000), retry=False)
    assert is_answer({"status": "done"}, Limits(60.0), retry=True)
    assert not is_answer(None, Limits(60.0), retry=False)


def test_a_process_that_only_waits_is_stopped_too():
    assert too_much(5.0, 10.0, 59.0, Limits(6.0)) is None
    assert too_much(5.0, 10.0, 61.0, Limits(6.0))["status"] == "timed out"


def run_python(program, folder, limits):
    return run_limited([sys.executable, "-c", program], str(folder), limits)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are watched by /proc")
def test_a_process_is_ended_at_its_limits_and_its_error_is_named(tmp_path):
    limits = Limits(0.5, 100)
    found = run_python("while True: pass", tmp_path, limits)
    assert found == {"status": "timed out", "message": "stopped after 0.5 s of processor time"}
    found = run_python("import time; b = b'1' * 200_000_000; time.sleep(60)", tmp_path, limits)
    assert found == {"status": "out of memory", "message": "stopped at more than 100 MB"}
    found = run_python("raise ValueError('no rules')", tmp_path, limits)
    assert found == {"status": "failed", "message": "ValueError: no rules"}
    assert run_python("print('done')", tmp_path, limits) is None


def test_outcomes_are_kept_whole(tmp_path):
    store = Store(tmp_path / "results")
    assert store.get("a") is None
    store.put("a", {"status": "done"})
    store.put("a", {"status": "failed"})
    assert store.get("a") == {"status": "failed"}
    assert [path.name for path in store.folder.iterdir()] == ["a.json"]


def test_after_two_time_outs_larger_sets_are_not_tried_and_a_second_run_has_nothing_to_do(
    tmp_path, monkeypatch
):
    tried = []

    def outcome(peer, name, limits):
        tried.append(name)
        status = "timed out" if name in ("emotions", "scene") else "done"
        return {"status": status, "message": ""}

    monkeypatch.setattr(command, "outcome", outcome)
    monkeypatch.setattr(command, "key", lambda peer, name: f"{peer.name} {name}")
    monkeypatch.setattr(command, "results_folder", lambda: tmp_path)
    peer = Peer("X", "rules", "weka", {})
    for _ in range(2):
        command.run([peer], [*SETS], Limits(60.0), retry=False, give_up=2)
        assert tried == ["flags", "emotions", "birds", "scene"]
    assert Store(tmp_path).get("X enron")["message"] == "timed out on emotions and scene"
    command.run([peer], [*SETS], Limits(60.0), retry=True, give_up=None)
    assert sorted(tried[4:]) == sorted({*SETS} - {"flags", "birds"})


def test_data_sets_are_ordered_by_size():
    assert sorted(BY_SIZE) == sorted(SETS)


def test_names_and_settings_are_told_apart():
    assert len({peer.name for peer in PEERS}) == len(PEERS)
    told = {json.dumps([peer.program, peer.settings], sort_keys=True) for peer in PEERS}
    assert len(told) == len(PEERS)


# ---------------------------------------------------------------- results


def done(micro, subset, literals, **more):
    qualities = {"micro_f1": micro, "example_f1": micro, "subset": subset}
    sizes = {"literals": literals, "rules": 5, "fit_seconds": 1.0, "predict_seconds": 0.5}
    return {"status": "done", "message": "", "version": "1", **qualities, **sizes, **more}


FAILED = {"status": "timed out", "message": "stopped after 60 s of processor time"}


@pytest.fixture
def outcomes(monkeypatch):
    """Three learners on two sets; one has no result on the second."""
    peers = tuple(
        Peer(name, group, program, {})
        for name, group, program in (
            ("A", "ours", "labelrules"), ("B", "rules", "mlrl-boomer"), ("C", "rules", "weka"),
            ("F", "forests", "scikit-learn"),
        )
    )  # fmt: skip
    monkeypatch.setattr(report, "PEERS", peers)
    monkeypatch.setattr(report, "SETS", ("one", "two"))
    monkeypatch.setattr(report.begun, "__defaults__", (peers,))
    return {
        ("A", "one"): done(0.6, 0.30, 10), ("A", "two"): done(0.5, 0.20, 20),
        ("B", "one"): done(0.7, 0.25, 500), ("B", "two"): done(0.6, 0.20, 700),
        ("C", "one"): done(0.5, 0.20, 5), ("C", "two"): FAILED,
        ("F", "one"): done(0.8, 0.40, 9000), ("F", "two"): done(0.7, 0.30, 9000),
    }  # fmt: skip


def test_without_a_result_a_learner_is_last_in_every_rank(outcomes):
    found = ranking.ranks(outcomes, ["A", "B", "C"], ["one", "two"], "micro_f1")
    assert found.ranks == ((2.0, 1.0, 3.0), (2.0, 1.0, 3.0))
    found = ranking.ranks(outcomes, ["A", "B", "C"], ["one", "two"], "literals")
    assert found.ranks == ((2.0, 3.0, 1.0), (1.0, 2.0, 3.0))


def test_ranks_together_are_means_over_sets_and_measures(outcomes):
    # A: micro 2, 2; subset 1, 1.5; literals 2, 1.  B: 1, 1; 2, 1.5; 3, 2.  C: 3, 3; 3, 3; 1, 3.
    found = ranking.together(outcomes, ["A", "B", "C"], ["one", "two"])
    assert [*found] == ["A", "B", "C"]
    assert found == pytest.approx({"A": 9.5 / 6, "B": 10.5 / 6, "C": 16 / 6})
    friedman, nemenyi = ranking.tests_of(outcomes, ["A", "B", "C"], ["one", "two"])
    assert nemenyi.ranks.averages == pytest.approx((1.25, 1.75, 3.0))
    assert friedman.ranks == nemenyi.ranks


def test_the_report_names_what_was_not_finished_and_how_far_it_is(outcomes):
    text = report.report(outcomes)
    assert "- C on two (timed out: stopped after 60 s of processor time)" in text
    assert "| C | weka 1 | 1 of 2 | 0.500 |" in text
    assert (
        "- A and B: micro-F1 0.550 against 0.650 (-0.100; better on 0 of 2 sets) and subset "
        "accuracy 0.250 against 0.225 (+0.025; better on 1 of 2 sets), with 30 literals against "
        "1,200." in text
    )
    assert "The best of ours is A (1.58), the best of the others B (1.75)." in text
    assert "Ranked with the others only, A has 1.58 and B 1.75." in text
    assert "| F |" not in report.rank_table(outcomes)


def test_the_short_table_has_the_best_mean_rank_first_and_forests_last(outcomes):
    assert report.brief(outcomes).splitlines()[2:] == [
        "| A | 1.58 | 2 of 2 | 0.550 | 0.250 | 30 | 2.0 |",
        "| B | 1.75 | 2 of 2 | 0.650 | 0.225 | 1,200 | 2.0 |",
        "| C | 2.67 | 1 of 2 | 0.500 | 0.200 | 5 | 1.0 |",
        "| F |  | 2 of 2 | 0.750 | 0.350 | 18,000 | 2.0 |",
    ]


def test_sets_on_which_the_other_one_learns_next_to_nothing_are_also_left_out(outcomes):
    outcomes["B", "one"] = done(0.0, 0.25, 7, rules=2)
    found = report.distance(outcomes, "A", "B")
    assert found.startswith("A and B: micro-F1 0.550 against 0.300 (+0.250; better on 1 of 2 sets)")
    assert (
        "Without one, where B learns at most two rules: micro-F1 0.500 against 0.600 "
        "(-0.100; better on 0 of 1 sets)" in found
    )


def test_what_was_not_tried_on_all_sets_is_left_out(outcomes):
    del outcomes["B", "two"]
    assert "B" not in {peer.name for peer in report.begun(outcomes)}
    assert "| B |" not in report.report(outcomes)


@pytest.mark.parametrize("module", [counting, fitting, kept, report])
def test_examples_are_true(module):
    found = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0


def test_the_sets_are_the_nine_of_the_chapter_with_cal500():
    assert len(SETS) == 9
    assert SETS[-1] == "CAL500"
