"""What one prediction costs when rows come one at a time, as in a service.

CPU per call: the median of `ROUNDS` rounds of many calls each, in one process. Two models: one of a
frame with nine columns of numbers, texts, truth values and categories, and one of medical, whose
rows are sparse.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from parts.tables import header, row
from scipy import sparse

from labelrules import Predictor, SeparateAndConquer, load
from labelrules.export import to_python

ROUNDS = 31
SECONDS = 0.05
"""How long a round takes, about."""

FOLDER = Path(os.environ.get("LABELRULES_DATA", "data"))


def mixed_frame(n_rows: int = 1000) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Nine columns of all kinds, and four labels that depend on most of them."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n_rows),
            "income": random.normal(3000, 900, n_rows).round(2),
            "visits": random.poisson(3, n_rows),
            "score": random.random(n_rows),
            "sex": random.choice(["Female", "Male"], n_rows),
            "region": random.choice(["North", "South", "East", "West"], n_rows),
            "plan": pd.Categorical(random.choice(["basic", "plus", "pro"], n_rows)),
            "member": random.random(n_rows) < 0.5,
            "channel": random.choice(["web", "shop", "phone"], n_rows),
        }
    )
    frame.loc[random.random(n_rows) < 0.05, "income"] = np.nan
    labels = pd.DataFrame(
        {
            "renews": (frame["age"] > 50) & (frame["plan"] != "basic"),
            "complains": (frame["visits"] > 4) | ((frame["score"] < 0.2) & ~frame["member"]),
            "upgrades": (frame["income"] > 3500) & (frame["channel"] == "web"),
            "leaves": (frame["region"] == "North") & (frame["sex"] == "Male"),
        }
    )
    noise = random.random(labels.shape) < 0.05
    return frame, (labels ^ noise).astype(int)


def cpu_per_call(call: Callable[[], Any]) -> float:
    """Microseconds of CPU per call, the median of the rounds."""
    call()
    start = time.process_time()
    call()
    n_calls = max(1, int(SECONDS / max(time.process_time() - start, 1e-6)))
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for _ in range(n_calls):
            call()
        found.append((time.process_time() - start) / n_calls)
    return median(found) * 1e6


def exported(model: Any) -> dict[str, Any]:
    module: dict[str, Any] = {}
    exec(to_python(model), module)
    return module


def frame_calls() -> dict[str, Callable[[], Any]]:
    X, Y = mixed_frame()
    model = SeparateAndConquer().fit(X, Y)
    one = X.iloc[[7]]
    values = one.iloc[0].to_dict()
    print(f"frame: {len(model.theory_)} rules\n")
    return {
        "`predict`, frame": lambda: model.predict(one),
        "`predict_proba`, frame": lambda: model.predict_proba(one),
        **dict_calls(model, values),
    }


def dict_calls(model: Any, values: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    predictor, module = Predictor(model), exported(model)
    return {
        "`Predictor`, labels": lambda: predictor(values).labels,
        "`Predictor`, probabilities": lambda: predictor(values).probabilities,
        "`Predictor`, reasons": lambda: predictor(values).reasons,
        "exported Python, `predict`": lambda: module["predict"](values),
        "exported Python, `probabilities`": lambda: module["probabilities"](values),
        "exported Python, `reasons`": lambda: module["reasons"](values),
    }


def medical_calls() -> dict[str, Callable[[], Any]]:
    data = load("medical", FOLDER, part="train")
    model = SeparateAndConquer().fit(data)
    one = sparse.csr_array(data.X.tocsr()[[7]])
    values = {
        feature.name: feature.text(value)
        for feature, value in zip(data.schema.features, one.toarray()[0].tolist(), strict=True)
    }
    print(f"medical: {len(model.theory_)} rules\n")
    return {
        "`predict`, sparse row": lambda: model.predict(one),
        "`predict_proba`, sparse row": lambda: model.predict_proba(one),
        **dict_calls(model, values),
    }


def main() -> None:
    for calls in (frame_calls(), medical_calls()):
        print(header("call", "µs"))
        for name, call in calls.items():
            print(row(name, f"{cpu_per_call(call):.1f}"))
        print()


if __name__ == "__main__":
    main()
