"""Frequent itemsets beside PyFIM and mlxtend, and rules for the labels of delicious.

One thread, CPU time, in one run. Ours and PyFIM's `eclat` take turns, and the median is shown;
mlxtend is asked once. Ours is measured twice: to arrays, and to tuples of Python as PyFIM gives
them; it begins from a table of items, as the others begin from transactions. Before anything is
measured, the sets and their rows are compared one by one.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from parts.environments import PeerError
from parts.peaks import MEGABYTE, in_fresh_process, measuring
from parts.peer_miners import miner
from parts.sets import have_data, part
from parts.tables import header, row

from labelrules import Dataset, association_rules, dataset, frequent_itemsets, load
from labelrules.mining import Items, items_of

REPEATS = 7
COMPARED: dict[str, tuple[dict[str, Any], tuple[float, ...], int | None]] = {
    "magazines": ({"absence": True}, (1, 2, 4), None),
    "emotions": ({"bins": "frequency", "n_bins": 3}, (0.2, 0.15, 0.12), None),
    "yeast": ({"bins": "frequency", "n_bins": 4}, (0.2, 0.1, 0.08), 3),
    "medical": ({}, (0.1, 0.05, 0.02), None),
    "bibtex": ({}, (0.2, 0.17, 0.15), None),
}
"""How items are made, supports, and the longest sets."""

AMPLE = {"max_rules": 10**7, "max_memory": 4096, "max_visited": 10**12}
RULES: tuple[dict[str, Any], ...] = (
    {"min_support": 0.02, "min_confidence": 0.3},
    {"min_support": 0.005, "min_confidence": 0.3, "max_conditions": 2},
    {"min_support": 0.001, "min_confidence": 0.3, "max_conditions": 2},
    {"min_support": 0.02, "min_confidence": 0.5, "heads": "multi"},
    {"min_support": 0.01, "min_confidence": 0.3, "bodies": "both", "max_conditions": 2},
    {"min_support": 0.001, "min_confidence": 0.0, "top": 100, "measure": "leverage"},
    {
        "min_support": 0.005,
        "max_conditions": 2,
        "correction": "holm",
        "alpha": 0.05,
        "productive": True,
    },
)


COLUMNS = (
    "sets",
    "arrays",
    "tuples",
    "PyFIM",
    "mlxtend",
    "arrays / PyFIM",
    "tuples / PyFIM",
    "mlxtend / arrays",
    "MB, arrays",
)


def quartile_items() -> Items:
    """Yeast: below the first quartile, from the third; and the labels. 220 items."""
    data = part("yeast", "train")
    X = np.asarray(data.X)
    low, high = np.quantile(X, [0.25, 0.75], axis=0)
    both = np.hstack([low > X, high <= X]).astype(float)
    return items_of(dataset(both, data.Y))


def bibtex_items() -> Items:
    return items_of(part("bibtex", "train"))


MEASURED: tuple[tuple[str, Callable[[], Items], int, int | None, bool], ...] = (
    ("yeast, 220 items", quartile_items, 75, 3, True),
    ("bibtex", bibtex_items, 800, None, True),
    ("bibtex", bibtex_items, 600, None, False),
    ("bibtex", bibtex_items, 50, 3, False),
)


def training_rows(name: str) -> Dataset:
    return load(name) if name == "magazines" else part(name, "train")


def compare(name: str, peers: list[str]) -> None:
    """The same sets in the same rows, all of them and the closed and maximal ones."""
    settings, supports, longest = COMPARED[name]
    items = items_of(training_rows(name), **settings)
    for peer in peers:
        kinds = ("all", "closed", "maximal") if longest is None else ("all",)
        with miner(peer, items) as other:
            for support in supports:
                for kind in kinds[:1] if peer == "mlxtend" else kinds:
                    ours = frequent_itemsets(
                        items, support, max_conditions=longest, kind=kind, max_sets=10**8
                    )
                    same = dict(ours.as_tuples()) == other.sets(ours.minimum, longest, kind)
                    share = f"{support:.0%}" if isinstance(support, float) else f"{support} rows"
                    verdict = "the same" if same else "DIFFERENT"
                    print(row(name, peer, share, kind, f"{len(ours):,}", verdict), flush=True)


def measure(number: int, has_mlxtend: bool) -> None:
    title, make, support, longest, asks_mlxtend = MEASURED[number]
    items = make()

    def ours() -> Any:
        return frequent_itemsets(items, support, max_conditions=longest, max_sets=10**8)

    n_sets = len(ours())
    with miner("pyfim", items) as peer:
        assert peer.mine(support, longest)["n"] == n_sets
        to_arrays, to_tuples, theirs = [], [], []
        for _ in range(REPEATS):
            start = time.process_time()
            found = ours()
            to_arrays.append(time.process_time() - start)
            found.as_tuples()
            to_tuples.append(time.process_time() - start)
            theirs.append(peer.mine(support, longest)["cpu"])
            del found
    slow = asked(items, support, longest) if asks_mlxtend and has_mlxtend else None
    medians = [statistics.median(times) for times in (to_arrays, to_tuples, theirs)]
    print(
        row(
            f"{title}, {support} rows" + (f", length {longest}" if longest else ""),
            f"{n_sets:,}",
            *(f"{seconds:.3f}" for seconds in medians),
            "" if slow is None else f"{slow:.1f}",
            f"{medians[0] / medians[2]:.2f}",
            f"{medians[1] / medians[2]:.2f}",
            "" if slow is None else f"{slow / medians[0]:.0f}",
            f"{resident('sets', number) / MEGABYTE:.0f}",
        ),
        flush=True,
    )


def asked(items: Items, support: int, longest: int | None) -> float:
    with miner("mlxtend", items) as peer:
        return float(peer.mine(support, longest)["cpu"])


def rules_of_delicious() -> None:
    data = part("delicious", "train")
    print(f"\ndelicious: {data.n_rows:,} rows, {data.schema.n_labels} labels\n")
    print(header("asked for", "rules", "CPU s", "MB"))
    for number, settings in enumerate(RULES):
        start = time.process_time()
        found = association_rules(data, **settings, **AMPLE)
        seconds = time.process_time() - start
        text = ", ".join(f"{name}={value}" for name, value in settings.items())
        n_rules = f"{len(found):,}" + (" (stopped)" if found.stopped else "")
        memory = f"{resident('rules', number) / MEGABYTE:.0f}"
        print(row(text, n_rules, f"{seconds:.1f}", memory), flush=True)
        del found


def resident(what: str, number: int) -> float:
    """By how much a fresh process grows, at most, while it searches."""
    return float(in_fresh_process(__file__, "--report", what, number).get("resident", 0))


def report(what: str, number: int) -> None:
    association_rules(load("magazines"), 2, productive=True)  # loads what is compiled
    if what == "sets":
        _, make, support, longest, _ = MEASURED[number]
        items = make()
        frequent_itemsets(items, items.n_rows)
        with measuring() as taken:
            frequent_itemsets(items, support, max_conditions=longest, max_sets=10**8)
    else:
        data = part("delicious", "train")
        with measuring() as taken:
            association_rules(data, **RULES[number], **AMPLE)
    print(json.dumps(taken))


def main() -> None:
    if not have_data():
        return
    association_rules(load("magazines"), 2, productive=True)  # compiles
    peers = []
    for name in ("pyfim", "mlxtend"):
        try:
            with miner(name, items_of(load("magazines"))) as peer:
                print(f"{name} {peer.version()}")
                peers.append(name)
        except PeerError as error:
            print(f"no {name}: {error}")
    print()
    print(header("data", "peer", "support", "kind", "sets", ""))
    for name in COMPARED:
        compare(name, peers)
    if "pyfim" in peers:
        print()
        print(header("data", *COLUMNS))
        for number in range(len(MEASURED)):
            measure(number, "mlxtend" in peers)
    rules_of_delicious()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--report"]:
        report(sys.argv[2], int(sys.argv[3]))
    else:
        main()
