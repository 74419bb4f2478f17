"""Texts, HTML, frames and dicts of results: inspection, discovery, experiments, views, serving."""

from functools import partial
from typing import Any

from records.ground import CLINIC, THEORIES, clinic, thing, told
from records.keeping import Cases, or_refusal
from records.texts import Sections

SETS = "[{'music', 'jazz'}, {'music', 'jazz'}, {'music', 'rock'}, {'music', 'rock', 'loud'}, " \
       "{'music'}, {'news'}, {'news', 'stocks'}, {'news'}]"  # fmt: skip
PREDICTED = "[{'rock'}, {'music', 'rock', 'news'}, {'news'}], 'music <- rock\\nnot news <- music'"
LABELS = "label_names=['music', 'news', 'rock']"
TABLE = "score_table(AUC, learners=['C4.5', 'm', 'cf', 'm, cf'])"
AUC = [
    [0.763, 0.768, 0.771, 0.798], [0.599, 0.591, 0.590, 0.569], [0.954, 0.971, 0.968, 0.967],
    [0.628, 0.661, 0.654, 0.657], [0.882, 0.888, 0.886, 0.898], [0.936, 0.931, 0.916, 0.931],
    [0.661, 0.668, 0.609, 0.685], [0.583, 0.583, 0.563, 0.625], [0.775, 0.838, 0.866, 0.875],
    [1.000, 1.000, 1.000, 1.000], [0.940, 0.962, 0.965, 0.962], [0.619, 0.666, 0.614, 0.669],
    [0.972, 0.981, 0.9751, 0.975], [0.957, 0.978, 0.946, 0.970],
]  # fmt: skip
"""Values of four learners on fourteen data sets, with ties."""

HEAD = "[[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]], " \
       "[False, False, False, True, True, True]"  # fmt: skip
EXPERIMENT = (
    "experiment({'lists': SeparateAndConquer(max_rules=5), 'br': 'binary-relevance'}, "
    "{f'planted {n}': planted(60, random_state=n)[0] for n in range(3)}, "
    "['micro F1', 'subset accuracy'], 3, n_repeats=2)"
)

RESULTS = {
    # --- data
    "data/statistics": "statistics(train), statistics(readers)",
    "data/dataset": "train, readers, train.schema, train.schema.features",
    "data/cells": "dataset([[1, 'a'], [None, 'b']], [{'x'}, {'x', 'y'}], nominal=[1]).X",
    "data/planted": "planted(30, random_state=5)",
    "data/fingerprint": "fingerprint(train), fingerprint(readers)",
    "data/split labels": "split_labels(['a, b', '', None, 'c'])",
    # --- inspection
    "summary/list": "summary(list, train)",
    "summary/alone": "summary(rules), summary(layers), summary(points)",
    "summary/layers": "summary(stacked, validation)",
    "summary/frames": "[summary(list, train).to_frame(per=one) for one in ('rule', 'label', "
    "'feature')]",
    "comparison/two lists": "compare(list, bins, validation)",
    "comparison/list and chain": "compare(list, chain, validation)",
    "comparison/no data": "compare(list, rules)",
    "comparison/rows": "differing_rows(list, chain, validation, 5)",
    "comparison/frames": "compare(list, bins, validation).to_frame(per='label')",
    "doubtful": "doubtful_rules(list), doubtful_rules(chain)",
    "estimate": "estimate(list.theory_[0].evidence[0]), estimate(Evidence(3, 1), level=0.9)",
    "findings/rules": "findings(rules, train)",
    "findings/list": "findings(list, validation)",
    "findings/alone": "findings(rules), findings(layers)",
    "findings/stacked": "findings(stacked, train)",
    "findings/card": "findings(card, validation)",
    "findings/fixes": "[(one, one.fix, one.fix and theory_text(one.fix.apply(rules))) "
    "for one in findings(rules, train).found]",
    "coverage/rules": "rule_coverage(rules, train, validation)",
    "coverage/list": "rule_coverage(list, train)",
    "coverage/layers": "rule_coverage(stacked, train)",
    "coverage/card": "rule_coverage(card, train)",
    "flow/rules": "row_flow(rules, train), flow_svg(row_flow(rules, train))",
    "flow/label": "row_flow(list, train, label='infection')",
    "flow/layer": "row_flow(stacked, train, layer=2)",
    "matrix/rules": "condition_matrix(rules, train)",
    "matrix/list": "condition_matrix(list, train)",
    "matrix/histogram": "condition_matrix(rules, train).feature('crp'), "
    "histogram_svg(condition_matrix(rules, train).feature('crp'))",
    "alternatives/first": "alternatives(rules, 3, train, limit=4)",
    "alternatives/measure": "alternatives(list, 1, train, 'precision/micro/partial', "
    "validation=validation, limit=4)",
    "graph/rules": "label_graph(rules), label_graph_svg(rules), dependency_matrix_svg(rules)",
    "graph/list": "label_graph(list), label_graph_svg(list), dependency_matrix_svg(list, "
    "order='related')",
    "graph/chain": "label_graph(chain), label_graph(chain).edges(), "
    "label_graph(chain).components()",
    "graph/plots": "plot_label_graph(rules), plot_dependency_matrix(list)",
    "flips": "flips(layers, readers.take([5, 9])), flips(stacked, validation)",
    "trace/list": "trace(list, validation, 3), trace(rules, train, 5)",
    "trace/layers": "trace(layers, readers, 3), trace(stacked, validation, 0)",
    "counterfactual/list": "counterfactual(list, validation, 'flu', row=4)",
    "counterfactual/fixed": "counterfactual(rules, train, 'infection', row=7, "
    "fixed=['temperature'])",
    "counterfactual/points": "counterfactual(points, readers, 'sports', row=3)",
    "counterfactual/layers": "counterfactual(layers, readers, 'sports', row=2)",
    # --- discovery
    "itemsets/all": "frequent_itemsets(readers, 4)",
    "itemsets/closed": "frequent_itemsets(train, 0.2, kind='closed', bins='frequency', "
    "max_conditions=2)",
    "itemsets/maximal": "frequent_itemsets(readers, 3, kind='maximal', absent_items=True)",
    "itemsets/parts": "frequent_itemsets(scan([readers.take(range(5)), readers.take(range(5, "
    "14))]), 4)",
    "items": "[items_of(train, bins=one) for one in ('width', 'frequency', 'entropy', 'labels')]",
    "rules/readers": "association_rules(readers, 3, 0.6)",
    "rules/holm": "association_rules(complete, 0.05, 0.6, bins='entropy', correction='holm', "
    "alpha=0.01)",
    "rules/heads": "association_rules(readers, 2, 0.5, heads='multi', bodies='both', "
    "polarity='both')",
    "rules/leverage": "association_rules(complete, 0.02, 0, bins='labels', top=5, "
    "measure='leverage')",
    "rules/productive": "association_rules(readers, 2, 0.4, productive=True, nonredundant=True)",
    "rules/theory": "association_rules(readers, 3, 0.6).as_rule_set()",
    "constraints/sets": f"find_constraints({SETS})",
    "constraints/clinic": "find_constraints(complete, tolerance=0.05, max_conditions=2, "
    "alpha=0.05)",
    "constraints/rules": f"find_constraints({SETS}).rules(), find_constraints({SETS}).graph()",
    "constraints/plot": f"plot_constraints(find_constraints({SETS}).graph())",
    "repair/sets": f"repair({PREDICTED}, {LABELS}), violations({PREDICTED}, {LABELS})",
    "repair/probabilities": "repair(None, 'music <- rock\\nnot news <- music', "
    f"probabilities=[[0.45, 0.1, 0.9], [0.6, 0.99, 0.55]], {LABELS})",
    "subgroups/wracc": "subgroups(readers, 'wracc', target='quality', top=3)",
    "subgroups/kl": "subgroups(complete, 'kl', top=4, max_overlap=0.5)",
    "subgroups/exact": "subgroups(readers, 'phi', top=3, search='exact', n_permutations=99)",
    "subgroups/bins": "subgroups(complete, 'wracc', target={'flu': 1, 'infection': 1}, "
    "numbers='bins')",
    "subgroups/theory": "subgroups(readers, 'kl', top=2, max_conditions=1, negated=True).theory()",
    "significance": "fisher([3, 4], [5, 5], [4, 6], 14), adjusted([0.01, 0.04, 0.03], 'holm'), "
    "adjusted([0.01, 0.04, 0.03], 'benjamini-hochberg', 5)",
    "dependence": "unconditional_dependence(train), unconditional_dependence(readers.Y, alpha=0.5)",
    "dependence/conditional": "conditional_dependence(readers, n_folds=2, alpha=0.9, "
    "random_state=0)",
    "propagation": "stacked.error_propagation(validation)",
    "writers": "list.writers(validation), stacked.writers(validation), "
    "list.decision_path(validation)",
    "row rules": "[lazy.explain(validation, row) for row in (0, 1)]",
    "several rows": "list.explain(validation, range(3), labels=['flu'])",
    "repairs": "constrained.constraints_, constrained.repairs(validation)",
    # --- experiments
    "cross validation": "cross_validate(readers, SeparateAndConquer(), n_folds=3, random_state=1)",
    "frontier": "frontier(invented, ['separate-and-conquer', 'classifier-chain'], sizes=(4, 10, "
    "20), "
    "n_folds=3, random_state=0)",
    "experiment/results": f"{EXPERIMENT}",
    "experiment/tables": f"(lambda found: (found.table(), found.ranks('micro F1')))({EXPERIMENT})",
    "experiment/fits": "[(one.place, one.status, one.outcome.values) for one in "
    f"{EXPERIMENT}.fits]",
    "splitter": "[[one.tolist() for one in pair] for pair in "
    "IterativeStratifiedKFold(3).split(readers.X, readers.Y)]",
    "tests/table": TABLE,
    "tests/ranks": f"average_ranks({TABLE}), critical_difference(n_datasets=8, n_learners=10)",
    "tests/friedman": f"friedman_test({TABLE}), friedman_test({TABLE}, correct_ties=False)",
    "tests/nemenyi": f"nemenyi_test({TABLE}, alpha=0.1), "
    f"critical_difference_svg(nemenyi_test({TABLE}, alpha=0.1))",
    "tests/nemenyi plot": f"plot_critical_difference(nemenyi_test({TABLE}, alpha=0.1))",
    "tests/wilcoxon": f"wilcoxon_holm({TABLE}, control='C4.5'), wilcoxon_holm({TABLE})",
    "tests/bayes": f"bayesian_signed_rank({TABLE}, control='C4.5', n_samples=2000, random_state=0)",
    # --- measures and heads
    "evaluation": "evaluate(validation.Y, list.predict(validation), "
    "list.predict_proba(validation))",
    "evaluation/weights": "evaluate(train.Y, list.predict(train), "
    "sample_weight=1 + np.arange(len(train)) % 3)",
    "measures": "[(str(one), one.of_predictions(validation.Y, "
    "list.predict(validation))) for one in map("
    "Measure.parse, ('f1/micro/full', 'subset/full', 'precision/macro/full', 'hamming/full'))]",
    "traits": "[(one, traits(Measure.parse(one))) for one in ('f1/samples/partial', 'precision', "
    "'laplace/micro/partial', 'accuracy/macro/full')], COUNTEREXAMPLES",
    "head": f"[best_head({HEAD}, one) for one in ('precision/micro/partial', "
    "'laplace/macro/partial', "
    "'f1/macro/partial', 'f1/samples/partial', 'subset/full')]",
    "head/tree": f"[search_tree({HEAD}, 'precision/micro/partial', one) for one in "
    "('exhaustive', 'tree', 'breadth-first', 'decomposable')]",
    "head/plot": f"plot_search_tree(search_tree({HEAD}, 'precision/micro/partial', 'tree'))",
    "head/rehead": "rehead(rules, train, 'f1/micro/partial')",
    # --- rules
    "language/rules": "rule_text(rules[0], train.schema, 'unicode'), rule_latex(rules[1], "
    "train.schema), "
    "rule_markdown(rules[1], train.schema), rules[0], rules[5], rules[0].form",
    "language/relations": "[(a, b, is_more_general(rules[a], rules[b], train.schema), "
    "overlap(rules[a], "
    "rules[b], train.schema), conflict(rules[a], rules[b], train.schema)) for a in range(9) "
    "for b in range(9)]",
    "language/renamed": "rules.rename({'flu': 'influenza, real', 'crp': 'C'}), "
    "labels_without_rules(rules)",
    "clinic": "clinic_truth(), clinic_notes()",
    # --- serving, storage
    "about": "about(list)",
    "schema of files": "json_schema()",
    "predictor/columns": "[Predictor(one).columns for one in (list, rules, stacked, card)]",
}  # fmt: skip
"""Expressions of public names, and of the things of `records/ground.py`."""

VIEWED = ("list", "chain", "stacked", "card", "associative", *THEORIES, "layers", "points")
VIEWS = {
    "plain": "theory_text({})",
    "evidence": "theory_text({}, 'unicode', evidence='all')",
    "ascii": "theory_text({}, 'ascii', evidence=True)",
    "view": "theory_view({}), theory_view({}, order='label', width=80), theory_view({}, "
    "colour=True)",
    "table": "theory_table({}), theory_table({}, width=60)",
    "latex": "theory_latex({}, evidence=True)",
    "markdown": "theory_markdown({}, evidence='all')",
    "html": "theory_html({}, page=True), theory_html({}, order='label', evidence='all')",
    "html table": "theory_html({}, order='table', evidence='all')",
    "frame": "[theory_of({}).to_frame(per=one) for one in ('rule', 'label')]",
    "forms": "theory_of({})",
    "json": "to_json({}, about=False)",
}
EXPLAINED = dict.fromkeys(CLINIC, (0, 4, 9)) | {"rules": (5, 7), "votes": (5,)}
EXPLAINED_READERS = {"layers": (2, 3), "points": (3, 7)}


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """Results, views of theories, explanations, and rows one at a time."""
    for name, expression in RESULTS.items():
        yield name, partial(told, expression, AUC=AUC)
    for theory in VIEWED:
        for name, expression in VIEWS.items():
            view = partial(told, expression.replace("{}", theory))
            yield f"views/{theory}/{name}", partial(or_refusal, view)
    for rows, explained in (("validation", EXPLAINED), ("readers", EXPLAINED_READERS)):
        for model, numbers in explained.items():
            for row in numbers:
                explain = partial(explanation, model, rows, row)
                yield f"explanations/{model}, row {row}", partial(or_refusal, explain)
    for model in ("rules", *CLINIC):
        yield f"predictor/{model}", partial(served, model)


def explanation(model: str, rows: str, row: int) -> Sections:
    """An explanation brief and full, as sentences, page, values and parts of it."""
    training = {"validation": "train"}.get(rows, rows)
    found = told(f"explain({model}, {rows}, row={row}, training={training})")
    if not hasattr(found, "sentences"):
        return Sections({type(found).__name__: found, "each label": list(found)})
    label = thing(rows).schema.labels[-1]
    return Sections({
        "brief": found.text(width=88), "full": found.text(details=True, width=88),
        "sentences": found.sentences(), "all sentences": found.sentences(details=True),
        "page": found.html(), "values": [repr(found[name]) for name in thing(rows).schema.labels],
        "one label": found[label], "no changes": told(
            f"explain({model}, {rows}, row={row}, counterfactuals=False, level=0.9, "
            f"labels=[{label!r}])"
        ).text(width=60),
    })  # fmt: skip


def served(model: str) -> Sections:
    """Rows one at a time, as mappings."""
    predictor = told(f"Predictor({model})")
    schema, rows = clinic()[0].schema, clinic()[1].take(range(12))
    found = Sections()
    for row in range(len(rows)):
        values: dict[str, Any] = {}
        for feature in schema.features:
            value = rows.column(feature.name)[row]
            known = None if value != value else float(value)
            categories = feature.categories
            if known is not None and categories is not None:
                values[feature.name] = categories[int(known)]
            else:
                values[feature.name] = feature.text(known) if known and feature.time else known
        answer = predictor(values)
        asked = (partial(getattr, answer, name) for name in ("reasons", "probabilities"))
        found[f"row {row}"] = [repr(answer), *(repr(or_refusal(one)) for one in asked)]
    return found
