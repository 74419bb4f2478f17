"""Fitted models of every learner that can be kept, with rows to ask them about."""

from functools import cache

import numpy as np
from scipy import sparse
from sklearn.base import clone

from extras import pd
from labelrules import Dataset, Feature, Measure, Schema, load
from labelrules.learners import (
    BinaryRelevance,
    ClassifierChain,
    ConstrainedClassifier,
    LabelPowerset,
    Ripper,
    Scorecard,
    SeparateAndConquer,
    StackedBinaryRelevance,
)
from labelrules.learners.base.estimator import TableClassifier
from labelrules.mining import AssociativeClassifier, LazyAssociativeClassifier
from labelrules.rules import Gibbs, LabelByLabel
from labelrules.search import kln, no_bonus, peak, root
from learners import registry
from learners.registry import Stumps

REGISTRY = {
    id(one): one for value in vars(registry).values() if isinstance(value, list) for one in value
}
"""All learners of the registry, in whichever of its lists they are."""


def refusal(learner):
    """Why the models of a learner are not kept; None if they are."""
    if isinstance(learner, LazyAssociativeClassifier):
        return "mines rules from the training rows.* use AssociativeClassifier"
    base = getattr(learner, "base", None)
    if base is not None and not isinstance(base, TableClassifier):
        return f"base of .* is a {type(base).__name__}, .*files hold rules only.*pickle the model"
    return None


NOT_KEPT = [one for one in REGISTRY.values() if refusal(one)]
ONE_LABEL = [one for one in REGISTRY.values() if isinstance(one, Ripper)]
KEPT_OF_REGISTRY = [one for one in REGISTRY.values() if not (refusal(one) or one in ONE_LABEL)]
"""Those learners of the registry that are kept and take several labels."""


@cache
def readers():
    return (load("magazines"),)


@cache
def with_holes():
    """Numbers and categories with missing values, whose names and texts are hard on a writer."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "a b": rng.normal(size=60),
            'quo"te\\': rng.normal(size=60).astype(np.float32),
            "größe\n€🙂": rng.choice(["it's", "null", "", "\x00", 'a"b'], 60),
        }
    )
    Y = pd.DataFrame(
        {
            "select": frame["a b"] > 0.2,
            "l 2": frame["größe\n€🙂"].isin(["it's", ""]),
            "日本": frame['quo"te\\'] > frame["a b"],
        }
    ).astype(np.int8)
    holes = pd.DataFrame(rng.random(frame.shape) < 0.1, columns=frame.columns)
    return frame.mask(holes), Y


@cache
def plain():
    return np.random.default_rng(0).normal(size=(50, 3))


def three_classes():
    X = plain()
    return X, np.array(["low", "mid", "high"])[(X[:, 0] > -0.5).astype(int) + (X[:, 1] > 0.5)]


def two_classes():
    X, classes = three_classes()
    return X, classes == "mid"


def numbers_as_classes():
    return plain(), (plain()[:, 2] > 0).astype(np.float32) * 3


def numbers_alone():
    frame, Y = with_holes()
    return frame.iloc[:, :2], Y


def sparse_table():
    return sparse.csr_array(np.round(np.maximum(plain(), 0), 1)), with_holes()[1][:50]


def one_set():
    return plain(), np.ones((50, 2), dtype=int)


def label_sets():
    return plain()[:48], [{"b"}, {"a", "b"}, set()] * 16


def family():
    """A hierarchy of labels, of which two always go together."""
    schema = Schema([Feature("x")], ["animal", "cat", "tiger"], [None, "animal", "cat"])
    x = plain()[:, 0]
    return (Dataset(schema, x[:, None], np.column_stack([x > 0, x > 1, x > 1]).astype(np.int8)),)


def lifted(lift):
    return SeparateAndConquer(
        heads="multi", measure="precision", size_bonus=lift, polarity="both", fixed_head=False,
        pruning=None, last_resort=None, n_jobs=np.int64(1), forbidden=[("quality", "sports")],
    )  # fmt: skip


BASE = Ripper(smoothing=3.5)
MEASURE = Measure.parse("f1/macro/partial")

CASES = {
    **{f"registry {number}": (one, readers) for number, one in enumerate(KEPT_OF_REGISTRY)},
    "scorecard": (Scorecard(literal_cost=0.02, random_state=3), with_holes),
    "scorecard of classes": (Scorecard(literal_cost=0.1), three_classes),
    "scorecard, one rule": (Scorecard(literal_cost=1000), readers),
    "associative": (AssociativeClassifier(bins="frequency", n_bins=3, smoothing=2.0), with_holes),
    "constrained": (
        ConstrainedClassifier(
            BinaryRelevance(BASE), constraints=("fashion <- not quality",), alpha=None
        ),
        readers,
    ),
    "constrained frame": (
        ConstrainedClassifier(
            Scorecard(literal_cost=0.1), constraints='select <- "日本"', learn=False, by="labels"
        ),
        with_holes,
    ),
    "constrained classes": (ConstrainedClassifier(Stumps()), three_classes),
    "constrained, alike": (
        ConstrainedClassifier(BinaryRelevance(Stumps()), alpha=None),
        family,
    ),
    "powerset of scorecards": (LabelPowerset(Scorecard(literal_cost=0.1)), numbers_alone),
    "one layer": (StackedBinaryRelevance(BASE, alpha=1e-9, n_folds=2), with_holes),
    "all chains alike": (
        ClassifierChain(BASE, n_chains=2, bootstrap=False, threshold=0.25),
        with_holes,
    ),
    **{f"classes {number}": (one, three_classes) for number, one in enumerate(ONE_LABEL)},
    **{f"two {number}": (one, two_classes) for number, one in enumerate(ONE_LABEL)},
    "classes that are numbers": (Ripper(), numbers_as_classes),
    "frame": (BinaryRelevance(BASE, last_resort=0.05), with_holes),
    "covering": (SeparateAndConquer(smoothing=2, warm_start=True), with_holes),
    "chain by name": (ClassifierChain(BASE, order=["日本", "l 2", "select"]), with_holes),
    "chains": (ClassifierChain(BASE, n_chains=2, last_resort=0.2), with_holes),
    "chain of classes": (ClassifierChain(BASE, last_resort=0.1), three_classes),
    "stacked": (
        StackedBinaryRelevance(BASE, inference=LabelByLabel(4, (2, 0, 1)), last_resort=0.3),
        with_holes,
    ),
    "own label": (StackedBinaryRelevance(BASE, own_label=True), with_holes),
    "drawn": (
        StackedBinaryRelevance(BASE, labels_from="truth", inference=Gibbs(7, 2, 9)),
        with_holes,
    ),
    "powerset": (LabelPowerset(BASE), with_holes),
    "powerset, presence": (
        LabelPowerset(SeparateAndConquer(polarity="presence", label_conditions=False)),
        readers,
    ),
    "powerset of relevance": (LabelPowerset(BinaryRelevance(BASE)), numbers_alone),
    "powerset, one set": (LabelPowerset(), one_set),
    "sparse": (SeparateAndConquer(), sparse_table),
    "options": (
        SeparateAndConquer(
            heads="multi",
            measure=MEASURE,
            beam_width=2,
            required={"education"},
            time_limit=float("inf"),
        ),
        readers,
    ),
    "kln": (lifted(kln(0.3)), readers),
    "root": (lifted(root(2)), readers),
    "peak": (lifted(peak(2, 1.5, 4)), readers),
    "no lift": (lifted(no_bonus), readers),
    "label sets": (BinaryRelevance(Stumps()), label_sets),
}
"""Name -> a learner and what makes its table."""


@cache
def fitted(name):
    """A fitted model, and the rows it has learned from."""
    learner, table = CASES[name]
    given = table()
    return clone(learner).fit(*given), given[0]
