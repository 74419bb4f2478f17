"""Is what is learned readable? Defects that were seen once, counted on the chapter's data sets.

Each table counts one defect in models with default settings: heads with labels that say nothing,
labels without rules, very long bodies, rules that are wrong more often than right, second layers
that add nothing, rare labels without association rules, far too many labels in a row, points
against the evidence. Learned from training parts, or from the first two thirds of the rows where a
set comes undivided; new rows are the others. Run it with the name of a table, or without for all.
"""

import os
import sys

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from parts.sets import folder, have_data
from parts.tables import header, row

import labelrules
from labelrules import Dataset, load
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    Ripper,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.mining import AssociativeClassifier, LazyAssociativeClassifier

UNDIVIDED = ("CAL500", "ohsumed", "rcv1subset1")
SETS = ("flags", "emotions", "birds", "genbase", "medical", "enron", "scene", "yeast")
MANY_CONDITIONS = 10
"""Bodies with more conditions are counted as long."""

FREQUENT = 0.3
"""Labels that at least this share of the training rows has."""


def halves(name: str) -> tuple[Dataset, Dataset]:
    """Rows to learn from and new rows."""
    if name not in UNDIVIDED:
        return load(name, folder(), part="train"), load(name, folder(), part="test")
    data = load(name, folder())
    n_known = 2 * data.n_rows // 3
    return data.take(np.arange(n_known)), data.take(np.arange(n_known, data.n_rows))


def parts(theory: Any) -> Iterator[Any]:
    """The layers of a theory and its fallback, or the theory itself."""
    yield from getattr(theory, "layers", [theory])
    fallback = getattr(theory, "fallback", None)
    if fallback is not None:
        yield fallback


def rules(theory: Any) -> list[Any]:
    return [rule for part in parts(theory) for rule in part]


def said_present(theory: Any) -> set[int]:
    """The labels whose presence a rule with conditions predicts."""
    heads = [rule.head for rule in rules(theory) if len(rule.body)]
    return {label for head in heads for label, value in head if value}


def literals(theory: Any) -> int:
    """Conditions and labels in heads; of a rule for all rows the labels that are present."""
    return sum(
        len(rule.body) + sum(1 for _, value in rule.head if len(rule.body) or value)
        for rule in rules(theory)
    )


def f1(truth: np.ndarray, predicted: np.ndarray) -> float:
    both = int((truth & predicted).sum())
    return 2 * both / max(1, int(truth.sum() + predicted.sum()))


def decided(model: Any, data: Dataset) -> list[tuple[Any, int, int]]:
    """Each rule with a body, and how many labels it predicts rightly and wrongly in these rows.

    Of layers the last; its fallback apart.
    """
    run, theory = model.writers(data), model.theory_
    if hasattr(run, "layers"):
        run, theory = run.layers[-1], theory.layers[-1]
    right = np.asarray(run.board) == data.Y
    found = []
    for number, rule in enumerate(theory):
        own = np.asarray(run.writer) == number
        if len(rule.body):
            found.append((rule, int((own & right).sum()), int((own & ~right).sum())))
    return found


# ---------------------------------------------------------------- the tables


def heads() -> None:
    """Labels in heads, and what is printed."""
    print(header("list of", "rules", "conditions", "labels in heads", "literals", "lines", "kB"))
    for name in (*SETS, "CAL500", "bibtex"):
        theory = SeparateAndConquer().fit(halves(name)[0]).theory_
        n_conditions = sum(len(rule.body) for rule in rules(theory))
        size = literals(theory)
        text = labelrules.theory_text(theory, evidence=True)
        cells = len(rules(theory)), n_conditions, sum(len(rule.head) for rule in rules(theory))
        print(row(name, *cells, size, text.count("\n") + 1, f"{len(text) / 1000:.1f}"), flush=True)


def given_up() -> None:
    """Frequent labels without a rule, and how well frequent labels are predicted."""
    print(header("list of", "frequent labels", "of them without rule", "their mean F1, new rows"))
    for name in ("flags", "emotions", "yeast", "CAL500"):
        known, new = halves(name)
        model = SeparateAndConquer().fit(known)
        frequent = np.flatnonzero(known.Y.mean(axis=0) >= FREQUENT)
        said = said_present(model.theory_)
        predicted = np.asarray(model.predict(new))
        quality = np.mean([f1(new.Y[:, j], predicted[:, j]) for j in frequent])
        n_without = len(set(frequent.tolist()) - said)
        print(row(name, len(frequent), n_without, f"{quality:.3f}"), flush=True)


def long_bodies() -> None:
    """Long bodies, and whether what they say holds for new rows."""
    print(header(
        "list of", "rules", "longest body", "long bodies", "right / wrong on new rows",
        "wrong more often",
    ))  # fmt: skip
    for name in ("enron", "ohsumed", "rcv1subset1", "bibtex", "tmc2007-500"):
        known, new = halves(name)
        found = decided(SeparateAndConquer().fit(known), new)
        long = [one for one in found if len(one[0].body) > MANY_CONDITIONS]
        n_wrong = sum(wrong > right for _, right, wrong in long)
        counts = f"{sum(one[1] for one in long):,} / {sum(one[2] for one in long):,}"
        longest = max(len(rule.body) for rule, *_ in found)
        print(row(name, len(found), longest, len(long), counts, n_wrong), flush=True)


def wrong_rules() -> None:
    """Rules of lists and chains that are wrong more often than right where they decide."""
    print(header("theory", "rules", "wrong more often than right, in the rows learned from"))
    makers: dict[str, Callable[[], Any]] = {
        "list": SeparateAndConquer,
        "chain (RIPPER)": lambda: ClassifierChain(Ripper()),
        "chain (separate-and-conquer)": lambda: ClassifierChain(SeparateAndConquer()),
    }
    for kind, make in makers.items():
        n_rules = n_wrong = 0
        for name in (*SETS, "CAL500"):
            known = halves(name)[0]
            found = decided(make().fit(known), known)
            n_rules += len(found)
            n_wrong += sum(wrong > right for _, right, wrong in found)
        print(row(f"{kind}, nine sets", n_rules, n_wrong), flush=True)


def layers() -> None:
    """Rules of second layers, how many test no label, and how many are printed twice."""
    print(header(
        "stacked (RIPPER)", "layers", "rules", "of layer 2", "of them test no label",
        "of them also in layer 1",
    ))  # fmt: skip
    for name in ("emotions", "enron", "medical", "yeast", "CAL500"):
        theory = StackedBinaryRelevance(Ripper()).fit(halves(name)[0]).theory_
        first, *others = theory.layers
        second = [rule for rule in (others[0] if others else []) if len(rule.body)]
        known = {(rule.head, rule.body) for rule in first}
        n_plain = sum(not rule.body.on_labels for rule in second)
        n_twice = sum((rule.head, rule.body) in known for rule in second)
        cells = len(theory.layers), len(rules(theory)), len(second), n_plain, n_twice
        print(row(name, *cells), flush=True)


def rare_labels() -> None:
    """Labels with 3 to 20 training rows, by association rules and by RIPPER."""
    print(header(
        "set", "rare labels", "with rules: associative", "with rules: RIPPER",
        "their F1: associative", "their F1: RIPPER", "micro-F1: associative", "micro-F1: RIPPER",
    ))  # fmt: skip
    for name in ("medical", "enron", "birds", "CAL500", "rcv1subset1"):
        known, new = halves(name)
        n_present = known.Y.sum(axis=0)
        rare = np.flatnonzero((n_present >= 3) & (n_present <= 20))
        n_said, own, every = [], [], []
        for model in (AssociativeClassifier(), BinaryRelevance(Ripper())):
            model.fit(known)
            predicted = np.asarray(model.predict(new))
            said = said_present(model.theory_)
            n_said.append(len(said & set(rare.tolist())))
            own.append(f"{f1(new.Y[:, rare], predicted[:, rare]):.3f}")
            every.append(f"{f1(new.Y, predicted):.3f}")
        print(row(name, len(rare), *n_said, *own, *every), flush=True)


def lazy_labels() -> None:
    """Labels that the lazy classifier gives to a row, where scores carry little or nothing."""
    print(header("set", "labels in a row", "predicted", "micro-F1"))
    rng = np.random.RandomState(0)
    for name in ("birds", "CAL500", "ohsumed"):
        known, new = halves(name)
        known, new = known.take(np.arange(min(800, known.n_rows))), new.take(np.arange(150))
        _print_lazy(name, known, new)
    known, new = halves("birds")
    shuffled = Dataset(known.schema, known.X, known.Y[rng.permutation(known.n_rows)])
    _print_lazy("birds, labels shuffled", shuffled, new)


def _print_lazy(name: str, known: Dataset, new: Dataset) -> None:
    predicted = np.asarray(LazyAssociativeClassifier(max_conditions=1).fit(known).predict(new))
    sizes = f"{new.Y.sum() / new.n_rows:.2f}", f"{predicted.sum() / new.n_rows:.2f}"
    print(row(name, *sizes, f"{f1(new.Y, predicted):.3f}"), flush=True)


def votes() -> None:
    """Points of rules that vote: against their evidence, or resting on few rows."""
    voting = getattr(labelrules, "Scorecard", None) or labelrules.VotedRules
    print(header(
        f"`{voting.__name__}()`", "rules", "conditions", "points given", "against the evidence",
        "fewer than 3 rows",
    ))  # fmt: skip
    totals = np.zeros(5, dtype=int)
    for name in SETS:
        known = halves(name)[0]
        share = known.Y.mean(axis=0)
        theory = voting().fit(known).theory_
        n_against = n_few = n_votes = 0
        for rule in theory:
            rows = rule.body.covers(known.X, known.empty_board())
            n_rows = int(np.sum(rows))
            for label, value in rule.head if len(rule.body) else ():
                n_votes += 1
                n_few += n_rows < 3
                present = known.Y[rows, label].mean() if n_rows else 0.0
                n_against += bool(present < share[label] if value else present > share[label])
        n_conditions = sum(len(rule.body) for rule in theory)
        cells = len(theory), n_conditions, n_votes, n_against, n_few
        totals += cells
        print(row(name, *cells), flush=True)
    print(row("sum", *totals))


TABLES: dict[str, Callable[[], None]] = {
    "heads": heads,
    "given-up": given_up,
    "long-bodies": long_bodies,
    "wrong-rules": wrong_rules,
    "layers": layers,
    "rare-labels": rare_labels,
    "lazy-labels": lazy_labels,
    "votes": votes,
}


def main() -> None:
    if not have_data():
        return
    warnings.simplefilter("ignore")
    for name in sys.argv[1:] or TABLES:
        print(f"\n**{name}**: {TABLES[name].__doc__}\n")
        TABLES[name]()


if __name__ == "__main__":
    main()
