"""Theories, predictions and probabilities of the learners, in some eighty settings."""

from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from parts.sets import part
from scipy import sparse

from labelrules import UNSET, Dataset, Feature, Schema, load, planted, scan, theory_text
from records.keeping import Cases, or_refusal
from records.public import made
from records.texts import Sections, labels_text, numbers_text

CHAPTER = "pruning=None, last_resort=None, min_coverage=1, fixed_head=False"
MULTI = f"heads='multi', measure='precision', polarity='both', stop_share=0.01, {CHAPTER}"
TREE = "DecisionTreeClassifier(random_state=0, max_depth=3)"
LIST, COUNTED, SETS = "SeparateAndConquer({})", "SeparateAndConquer(bins=32, {})", "'in', '<=', '>'"

COVERING = {
    "plain": "",
    "bins255": "bins=255",
    "bins32": "bins=32",
    "bins2": "bins=2",
    "multi": f"{MULTI}, max_rules=20",
    "two labels": "heads=2, fixed_head=False, measure='precision', polarity='both', max_rules=6, "
    "pruning='significance'",
    "macro heads": f"heads=2, measure='f1/macro', polarity='both', max_rules=4, {CHAPTER}",
    "complete": f"heads='complete', measure='subset', polarity='both', max_rules=8, {CHAPTER}",
    "complete hamming": f"heads='complete', measure='hamming', polarity='both', max_rules=8, "
    f"{CHAPTER}",
    "size bonus": f"heads=2, measure='f1/macro', size_bonus=kln(0.05), polarity='both', "
    f"max_rules=3, {CHAPTER}",
    "beam": f"beam_width=2, max_rules=5, {CHAPTER}",
    "unpruned": "pruning=None",
    "unpruned bins": "pruning=None, bins=32",
    "irep": "pruning='irep', random_state=1",
    "irep bins": "pruning='irep', random_state=1, bins=32",
    "significance": "pruning='significance'",
    "significance bins": "pruning='significance', bins=32",
    "prepend": "order='prepend', pruning=None",
    "prepend bins": "order='prepend', pruning=None, bins=32",
    "readd": f"readd='incomplete', open_share=0.1, stop_share=0.1, {CHAPTER}",
    "chapter counting": f"counting='chapter', polarity='presence', measure='f1', {CHAPTER}",
    "both": "polarity='both'",
    "both bins": "polarity='both', bins=32",
    "no label conditions": "label_conditions=False",
    "sets": f"operators=({SETS})",
    "sets bins": f"operators=({SETS}), bins=32",
    "differs": "operators=('!=', '=', '<=')",
    "differs bins": "operators=('!=', '=', '<='), bins=32",
    "laplace": "measure='laplace'",
    "m-estimate bins": "measure='m-estimate', bins=32",
    "correlation": "measure='correlation', max_rules=8",
    "klosgen macro": "measure='klosgen/macro', max_rules=8",
    "small": "max_literals=12, max_conditions=2, min_coverage=3",
    "small bins": "max_rules=5, max_conditions=2, min_coverage=3, bins=32",
    "default": "default_rule=True, last_resort=None, smoothing=2.0",
    "last resort": "last_resort=0.2, min_gain=0.001",
    "last resort bins": "last_resort=0.2, min_gain=0.001, bins=32",
}
"""Parameters of the covering learner."""

OTHERS = {
    "br": "BinaryRelevance()",
    "br bins": "BinaryRelevance(Ripper(bins=32))",
    "br ripper plain": "BinaryRelevance(Ripper(n_passes=0, n_folds=2, smoothing=2.0))",
    "br covering": "BinaryRelevance(SeparateAndConquer(), last_resort=0.2)",
    "br small": "BinaryRelevance(max_literals=20)",
    "br tree": f"BinaryRelevance({TREE})",
    "chain": "ClassifierChain()",
    "chain dependence": "ClassifierChain(SeparateAndConquer(), order='dependence')",
    "chains voting": "ClassifierChain(n_chains=3, random_state=0)",
    "chains whole": "ClassifierChain(n_chains=2, bootstrap=False, threshold=0.5, random_state=0)",
    "stacked": "StackedBinaryRelevance()",
    "stacked truth": "StackedBinaryRelevance(labels_from='truth')",
    "stacked stable": "StackedBinaryRelevance(SeparateAndConquer(), n_layers=3, own_label=True, "
    "inference='until stable', last_resort=0.3)",
    "stacked no features": "StackedBinaryRelevance(with_features=False, own_label=True)",
    "stacked gibbs": "StackedBinaryRelevance(inference=Gibbs(20, 5), labels_from='truth')",
    "stacked label by label": "StackedBinaryRelevance(inference='label by label')",
    "powerset": "LabelPowerset()",
    "powerset list": "LabelPowerset(SeparateAndConquer())",
    "powerset tree": f"LabelPowerset({TREE})",
    "scorecard": "Scorecard(random_state=0)",
    "scorecard small": "Scorecard(max_literals=20, n_cuts=4, random_state=0)",
    "scorecard cheap": "Scorecard(literal_cost=0.5, ridge=8.0, random_state=0)",
    "scorecard no sets": "Scorecard(label_sets=False, teacher_weight=0.2, random_state=0)",
    "scorecard teacher": f"Scorecard(teacher={TREE}, max_literals=30, random_state=0)",
    "associative": "AssociativeClassifier()",
    "associative bins": "AssociativeClassifier(m=0, bins='frequency', n_bins=4, productive=False)",
    "lazy": "LazyAssociativeClassifier()",
    "lazy threshold": "LazyAssociativeClassifier(threshold=0.5, max_conditions=1, bins='width')",
    "constrained": "ConstrainedClassifier(BinaryRelevance(), alpha=None)",
    "constrained tree": f"ConstrainedClassifier({TREE}, tolerance=0.05, max_conditions=2)",
}
"""Learners of other kinds."""

SLOW = ("covering complete", "covering complete hamming", "covering size bonus", "covering beam")
"""Searches for heads or beams that take minutes where there are many values: on the first set only.
"""

SETTINGS = {f"covering {name}": LIST.format(one) for name, one in COVERING.items()} | OTHERS


def _cycle(data: Dataset, n: int, by: int = 1) -> np.ndarray:
    """A pattern over cells that is no accident of a random number generator."""
    rows, labels = np.arange(len(data))[:, None], np.arange(data.schema.n_labels)
    return (rows * 7 + labels * by) % n


def with_holes(data: Dataset) -> Dataset:
    X: Any = np.array(data.X.todense() if data.is_sparse else data.X, order="F")
    rows, columns = np.indices(X.shape)
    X[(rows * 3 + columns * 5) % 11 == 0] = np.nan
    return replace(data, X=X)


ROWS: dict[str, Callable[[Dataset], Dataset]] = {
    "whole weights": lambda data: replace(data, weights=1.0 + np.arange(len(data)) % 3),
    "real weights": lambda data: replace(data, weights=np.linspace(0.5, 1.5, len(data))),
    "cell weights": lambda data: replace(data, weights=0.5 + _cycle(data, 4, 3) / 4),
    "unknown labels": lambda data: replace(
        data, Y=np.where(_cycle(data, 5, 3) == 0, UNSET, data.Y)
    ),
    "missing values": with_holes,
    "sparse": lambda data: replace(_filled(data), X=sparse.csc_array(_filled(data).X)),
    "repeated": lambda data: data.take(np.repeat(np.arange(len(data)), 2)),
}
"""What else rows may be."""


def _filled(data: Dataset) -> Dataset:
    X: Any = np.asarray(data.X.todense() if data.is_sparse else data.X)
    return replace(data, X=np.asfortranarray(np.nan_to_num(X)))


ON_ROWS = (
    "covering plain", "covering bins32", "covering macro heads", "covering irep",
    "covering prepend bins", "covering sets bins", "covering significance bins", "covering beam",
    "br", "br bins", "chain", "chains voting", "stacked", "powerset", "scorecard", "associative",
    "lazy", "constrained",
)  # fmt: skip

IN_PARTS = {
    "covering": "SeparateAndConquer(bins=32)",
    "covering sets": f"SeparateAndConquer(bins=9, operators=({SETS}), pruning='significance')",
    "covering both": "SeparateAndConquer(bins=255, polarity='both', pruning=None, max_rules=12)",
    "br": "BinaryRelevance(SeparateAndConquer(bins=16))",
    "br ripper": "BinaryRelevance(Ripper(bins=16))",
    "chain": "ClassifierChain(SeparateAndConquer(bins=16))",
    "stacked": "StackedBinaryRelevance(SeparateAndConquer(bins=16), random_state=0)",
}
"""Learners of partitions: 1, 3 and 17 of them, and a collection of Dask, must give one model."""


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """Settings on each set, then other rows, partitions, and what else `fit` takes."""
    data = {name: partial(part, name) for name in sets}
    for name, which in data.items():
        for setting, learner in SETTINGS.items():
            if name == sets[0] or setting not in SLOW:
                yield f"{name}/{setting}", partial(_fitted, learner, which, None, n_jobs)
    for setting, learner in SETTINGS.items():
        yield f"ties/{setting}", partial(_fitted, learner, _ties, None, n_jobs)
    small = {"ties": _ties, "clinic": _clinic, **{name: data[name] for name in sets[:1]}}
    for name, which in small.items():
        for rows, change in ROWS.items():
            for setting in ON_ROWS:
                learner = SETTINGS[setting]
                yield f"{name}, {rows}/{setting}", partial(_fitted, learner, which, change, n_jobs)
    for name, which in {"clinic": _clinic, "planted": _planted}.items():
        for setting, learner in IN_PARTS.items():
            for rows in ("plain", "unknown labels", "missing values"):
                whole = partial(_in_parts, learner, which, ROWS.get(rows), n_jobs)
                yield f"{name}, parts/{setting}, {rows}", whole
    yield "clinic, parts/dask", partial(_on_dask, n_jobs)
    for name, expression in GIVEN.items():
        yield f"given/{name}", partial(_given, expression)


def _clinic(which: str) -> Dataset:
    data = load("clinic")
    number = np.arange(len(data)) % 4
    return data.take(number < 2 if which == "train" else number == 2)


def _ties(which: str) -> Dataset:
    """All rows of four columns, and copies and opposites of these: nearly all choices are ties."""
    a, b, c, again = np.indices((2, 2, 3, 2)).reshape(4, -1)
    number = 2 * a + b
    nominal = {"A": a, "not A": 1 - a, "A too": a, "B": b, "C": c, "C too": (c + 1) % 3}
    X = np.column_stack([*nominal.values(), number, -number, c]).astype(float)
    Y = np.column_stack([a, 1 - a, a ^ b, c == 0, (c == 1) | (b & again), again])
    features = [Feature(name, tuple("xyz"[: values.max() + 1])) for name, values in nominal.items()]
    features += [Feature(name) for name in ("n", "minus n", "number c")]
    schema = Schema(features, ["a", "other", "either", "first", "second", "chance"])
    return Dataset(schema, np.asfortranarray(X), Y.astype(np.int8))


def _planted(which: str) -> Dataset:
    return planted(200, noise=0.05, missing=0.1, random_state=1 + (which == "test"))[0]


def _learner(expression: str, n_jobs: int | None) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    learner = made(expression, DecisionTreeClassifier=DecisionTreeClassifier)
    if n_jobs is None:
        return learner
    threads = {name: n_jobs for name in learner.get_params() if name.split("__")[-1] == "n_jobs"}
    return learner.set_params(**threads)


def _fitted(
    expression: str,
    which: Callable[[str], Dataset],
    change: Callable[[Dataset], Dataset] | None,
    n_jobs: int | None,
) -> Sections:
    train, test = which("train"), which("test")
    changed = train if change is None else change(train)
    model = or_refusal(partial(_learner(expression, n_jobs).fit, changed))
    return Sections(refusal=model) if isinstance(model, str) else model_text(model, test)


def model_text(model: Any, test: Any, names: tuple[str, ...] = ()) -> Sections:
    """What a fitted learner says of itself and of rows."""
    names = names or tuple(model.schema_.labels)
    found = Sections()
    for name in ("theory_", "constraints_"):
        one = getattr(model, name, None)
        if one is not None:
            found[name] = theory_text(one, evidence="all") if name == "theory_" else str(one)
    for name in ("labels_without_rules_", "order_", "threshold_", "n_learned_", "alternatives_"):
        if (one := getattr(model, name, None)) is not None:
            found[name] = repr(one)
    found["predictions"] = labels_text(model.predict(test), names)
    for name in ("predict_proba", "decision_function"):
        if hasattr(model, name):
            found[name] = numbers_text(getattr(model, name)(test), names)
    return found


def _in_parts(
    expression: str,
    which: Callable[[str], Dataset],
    change: Callable[[Dataset], Dataset] | None,
    n_jobs: int | None,
) -> Sections:
    """The model of all rows, and whether partitions give it, too."""
    train, test = which("train"), which("test")
    train = train if change is None else change(train)
    expected = model_text(_learner(expression, n_jobs).fit(train), test)
    found = Sections({f"in memory, {name}": one for name, one in expected.items()})
    for n_parts in (1, 3, 17):
        edges = np.linspace(0, len(train), n_parts + 1).astype(int)
        parts = scan([train.take(np.arange(a, b)) for a, b in pairwise(edges)])
        got = model_text(_learner(expression, n_jobs).fit(parts), test)
        found |= _beside(f"{n_parts} parts", got, expected)
    return found


def _beside(name: str, got: Sections, expected: Sections) -> dict[str, Any]:
    """One line where all is equal; what differs, else."""
    other = {f"{name}, {key}": one for key, one in got.items() if one != expected.get(key)}
    return other or {name: "equal"}


@contextmanager
def _cluster() -> Any:
    import distributed

    options = {"threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, processes=False, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def _on_dask(n_jobs: int | None) -> Sections:
    """The models of a Dask collection beside those of the frame in memory."""
    import dask.dataframe as dd
    import pandas as pd

    X, Y = _frames(_clinic("train"))
    test, _ = _frames(_clinic("test"))
    whole = dd.from_pandas(pd.concat([X, Y], axis=1), npartitions=5)
    found = Sections()
    for name, expression in IN_PARTS.items():
        expected = model_text(_learner(expression, n_jobs).fit(X, Y), test)
        # The first asks a cluster; the others what runs without one.
        with _cluster() if name == "covering" else nullcontext():
            got = model_text(_learner(expression, n_jobs).fit(whole, list(Y.columns)), test)
        found |= {f"in memory, {name}, {key}": one for key, one in expected.items()}
        found |= _beside(f"Dask, {name}", got, expected)
    return found


def _frames(data: Dataset) -> tuple[Any, Any]:
    """Features and labels as frames, nominal features as categories."""
    import pandas as pd

    columns = {}
    for feature in data.schema.features:
        values = data.column(feature.name)
        if feature.categories is not None:
            codes = np.where(np.isnan(values), -1, values).astype(int)
            values = pd.Categorical.from_codes(codes, list(feature.categories),
                                               ordered=feature.kind == "ordered")  # fmt: skip
        columns[feature.name] = values
    return pd.DataFrame(columns), pd.DataFrame(data.Y, columns=list(data.schema.labels))


GIVEN = {
    "three classes": "Ripper().fit(X, three)",
    "three classes bins": "Ripper(bins=8).fit(X, three)",
    "three classes br": "BinaryRelevance().fit(X, three)",
    "two classes": "SeparateAndConquer().fit(X, three == 'mid')",
    "two classes card": "Scorecard(random_state=0).fit(X, three == 'mid')",
    "sample weights": "Ripper().fit(X, three, sample_weight=1 + np.arange(90) % 3)",
    "frame": "SeparateAndConquer().fit(*frames)",
    "frame with theory": "SeparateAndConquer(max_rules=4).fit(clinic, theory='flu <- \"aches\"')",
    "label sets": "BinaryRelevance().fit(X, [{'a'} if one > 0 else {'b', 'c'} for one in X[:, 0]])",
    "warm start": "SeparateAndConquer(max_rules=3, warm_start=True).fit(clinic)"
    ".set_params(max_rules=6).fit(clinic)",
    "constraints given": "ConstrainedClassifier(BinaryRelevance(), learn=False, "
    "constraints='infection <- flu').fit(clinic)",
    "required": "SeparateAndConquer(required=['age'], forbidden=['crp']).fit(clinic)",
    "no rows of one label": "SeparateAndConquer().fit(X, np.zeros((90, 2), int))",
}
"""Calls of ``fit`` with arrays, classes, frames and further arguments."""


def _given(expression: str) -> Sections:
    X = np.random.default_rng(3).normal(size=(90, 3)).round(2)
    three = np.array(["low", "mid", "high"])[(X[:, 0] > -0.5).astype(int) + (X[:, 1] > 0.5)]
    clinic = _clinic("train")
    frames = _frames(clinic)
    model = made(expression, X=X, three=three, clinic=clinic, frames=frames, np=np)
    rows = {"clinic": clinic, "frames": frames[0]}
    test = next((rows[name] for name in rows if name in expression), X)
    return model_text(model, test)
