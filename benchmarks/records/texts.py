"""Any answer as text: readable, of short lines, and the same at any time and on any machine."""

import inspect
import json
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from records import ROOT

WIDTH = 200
"""Longer lines are folded, so that a difference shows where it is."""

FORMS = ("headline", "text", "sentences", "as_dict", "to_frame", "_repr_html_", "html", "svg")
"""How results show themselves, besides ``repr`` and ``str``."""

MEASURED = re.compile("(?:cpu_|predict_)?seconds|peak_memory")
"""Columns of frames that are others in each run."""

PACKAGES = ("labelrules", "numpy", "scipy", "scikit-learn", "pandas", "sqlglot", "numba")


class Sections(dict[str, Any]):
    """Several answers in one record, each under its heading."""


def shown(value: Any) -> str:
    """An answer as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Sections):
        return "\n".join(f"=== {name}\n{shown(one)}" for name, one in value.items())
    if isinstance(value, np.ndarray) or sparse.issparse(value):
        return array_text(value)
    if isinstance(value, Mapping):
        return json.dumps(value, indent=1, default=_plain, ensure_ascii=False)
    if type(value) in (list, tuple) or inspect.isgenerator(value):
        return "\n".join(shown(one) for one in value)
    if hasattr(value, "to_csv"):
        kept = [name for name in value if not MEASURED.fullmatch(str(name))]
        return str(value[kept].to_csv(index=False))
    if hasattr(value, "get_figure"):
        return figure_text(value.get_figure())
    return shown(Sections(_forms(value)))


def _forms(value: Any) -> Iterable[tuple[str, Any]]:
    yield type(value).__name__, repr(value)
    if str(value) != repr(value):
        yield "str", str(value)
    for name in FORMS:
        form = getattr(value, name, None)
        if callable(form) and not _needs_arguments(form):
            yield name, form()
        elif isinstance(form, str):
            yield name, form


def _needs_arguments(form: Callable[..., Any]) -> bool:
    parameters = inspect.signature(form).parameters.values()
    return any(one.default is one.empty and one.kind < one.VAR_POSITIONAL for one in parameters)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): one for key, one in value.items()}
    return list(value) if isinstance(value, (set, frozenset)) else repr(value)


def array_text(array: Any) -> str:
    dense = np.asarray(array.todense() if sparse.issparse(array) else array)
    return np.array2string(dense, threshold=sys.maxsize, max_line_width=100)


def figure_text(figure: Any) -> str:
    """A picture of matplotlib as SVG, its texts as texts."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    with (
        mpl.rc_context({"svg.hashsalt": "records", "svg.fonttype": "none"}),
        tempfile.TemporaryDirectory() as folder,
    ):
        path = Path(folder) / "figure.svg"
        figure.savefig(path, metadata={"Date": None, "Creator": None})
        plt.close(figure)
        return path.read_text(encoding="utf-8")


def labels_text(Y: Any, names: Sequence[str]) -> str:
    """A line for each row, with the labels that it gets."""
    dense = np.asarray(Y.todense() if sparse.issparse(Y) else Y)
    if dense.ndim == 1 or dense.dtype.kind not in "bif" or len(names) != dense.shape[1]:
        return "\n".join(f"{row} {value}" for row, value in enumerate(dense.tolist()))
    return "\n".join(
        f"{row} " + " ".join(f"{'' if one == 1 else '?'}{names[j]}" for j, one in enumerate(cells)
                             if one)
        for row, cells in enumerate(dense.tolist())
    )  # fmt: skip


def numbers_text(scores: Any, names: Sequence[str]) -> str:
    """For each label the mean of its numbers and a hash of all, rounded to twelve decimals."""
    columns = np.asarray(scores, dtype=float)
    columns = columns.reshape(len(columns), -1).round(12) + 0.0
    heads = names if len(names) == columns.shape[1] else range(columns.shape[1])
    return "\n".join(
        f"{name}: {column.mean():.10g} {digest(column)}"
        for name, column in zip(heads, columns.T, strict=True)
    )


def digest(content: Any) -> str:
    whole = content if isinstance(content, bytes) else np.ascontiguousarray(content).tobytes()
    return sha256(whole).hexdigest()[:12]


@cache
def _versions() -> list[str]:
    found = [platform.python_version()]
    for name in PACKAGES:
        try:
            found.append(version(name))
        except PackageNotFoundError:
            continue
    try:
        from labelrules import __version__

        found.append(__version__)
    except ImportError:
        pass
    return sorted({*found}, key=len, reverse=True)


_SECONDS = re.compile(r"\b\d[\d,]*(?:\.\d+)?(?:e-\d+)?(?= (?:s|ms|µs|seconds?|minutes?|MiB)\b)")
_FIELDS = re.compile(
    r'(\b(?:cpu_|predict_)?seconds|\bpeak_memory)("?: |=)(\[[^]]*\]|[^][,)}\n]+)'
)  # of JSON, and of values as Python shows them
_AS_LONG = re.compile(r"\btake \d+\.\d+ times as long.*")
_STYLE = re.compile(r"(<style>)(.*?)(</style>)", re.DOTALL)
_FOLD = re.compile(rf"(?=.{{{WIDTH}}}).{{60,}}?(?:, |; |\}},)")


def _first_day() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d")


_BEGUN = _first_day()


def masked(text: str, folder: Path | None = None) -> str:
    """A text without what differs from run to run: places, days, versions, times."""
    if folder is not None:
        text = text.replace(str(folder.resolve()), "<folder>").replace(str(folder), "<folder>")
    for place, name in ((ROOT, "<root>"), (sys.prefix, "<python>"), (Path.home(), "<home>")):
        text = text.replace(f"{place}/", f"{name}/")
    for day in {_BEGUN, _first_day()}:
        text = re.sub(rf"{day}(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\+00:00| UTC)?)?", "<now>",
                      text)  # fmt: skip
        year, month, number = map(int, day.split("-"))
        text = re.sub(rf"datetime\.datetime\({year}, {month}, {number}, [^()]*\)", "<now>", text)
    for one in _versions():
        text = re.sub(rf"(?<![\w.]){re.escape(one)}(?![\w.]*\d)", "<version>", text)
    text = _STYLE.sub(lambda m: f"{m[1]}{digest(m[2].encode())}{m[3]}", text)
    text = _AS_LONG.sub("take <n> times as long", _FIELDS.sub(r"\1\2<n>", text))
    text = _SECONDS.sub("<n>", text)
    return re.sub(r" at 0x[0-9a-f]+", " at <address>", text)


def folded(text: str) -> str:
    """A text whose long lines are cut at tags and after commas."""
    lines = (_FOLD.sub(r"\g<0>\n", line) if len(line) > WIDTH else line
             for line in text.replace("><", ">\n<").splitlines())  # fmt: skip
    return "\n".join(lines).rstrip() + "\n"
