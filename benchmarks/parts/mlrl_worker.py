"""Learn with mlrl-seco, in an environment of its own; started by `peer_mlrl.py`.

The argument is a file with the data. Each line on standard input asks for something, each line
on standard output answers, as JSON: ``version``; ``fit`` gives the CPU seconds of one fit;
``rules`` gives the rules of the last one.
"""

import importlib.metadata
import json
import sys
import time

import numpy as np
from mlrl.seco import SeCoClassifier

SAME_SEARCH = {
    "head_type": "single",
    "heuristic": "f-measure{beta=0.5}",
    "rule_induction": "top-down-greedy",
    "rule_pruning": "none",
    "instance_sampling": "none",
    "feature_sampling": "none",
    "output_sampling": "none",
    "feature_binning": "none",
    "holdout": "none",
    "max_rules": 0,
    "parallel_rule_refinement": "false",
    "parallel_statistic_update": "false",
    "parallel_prediction": "false",
}


def fitted(X, Y, nominal):
    """A classifier, and the CPU seconds that its fit took."""
    classifier = SeCoClassifier(**SAME_SEARCH)
    start = time.process_time()
    classifier.fit(X, Y, nominal_feature_indices=nominal)
    return classifier, time.process_time() - start


def as_lists(rule):
    """Conditions as (feature, comparator, threshold), predictions as (label, value)."""
    conditions = [
        (int(one.feature_index), str(one.comparator.value), float(one.threshold))
        for one in rule.body
    ]
    return conditions, [(int(one.output_index), int(one.value)) for one in rule.head]


def main():
    with np.load(sys.argv[1]) as file:
        X, Y, nominal = file["X"], file["Y"], file["nominal"].tolist()
    classifier = None
    for line in sys.stdin:
        match line.strip():
            case "version":
                answer = importlib.metadata.version("mlrl-seco")
            case "fit":
                classifier, answer = fitted(X, Y, nominal)
            case "rules":
                answer = [as_lists(rule) for rule in classifier.model_]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
