"""Tables of scores, data sets by learners: what all comparisons over data sets begin with."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from math import isfinite, isnan
from typing import Any, TypeAlias

import numpy as np

from labelrules._checks import counted, is_number, listed, one_of, quoted
from labelrules._report import Columns, FigureTable, Part, Report, Tabular
from labelrules._types import Floats
from labelrules.data.memory.arrays import as_array
from labelrules.data.memory.columns import kind_of
from labelrules.data.memory.frames import FrameTable, is_frame, is_series, native, refuse_lazy
from labelrules.data.schema import repeated

DIGITS = 12
"""Significant digits to which scores are compared, so that sums in another order still tie."""


@dataclass(frozen=True, repr=False)
class ScoreTable(Report, Tabular):
    """A score for each learner on each data set; from `score_table`.

    Attributes
    ----------
    datasets, learners : tuple of str
        Their names, each once.
    values : tuple of tuple of float
        For each data set the scores of the learners; none is missing.

    Examples
    --------
    >>> ScoreTable(("emotions", "scene"), ("lists", "chain"), ((0.6, 0.5), (0.7, 0.6)))
    <ScoreTable: 2 data sets, 2 learners>
    """

    datasets: tuple[str, ...]
    learners: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        for names, what in ((self.datasets, "data sets"), (self.learners, "learners")):
            twice = repeated(names)
            if twice:
                raise ValueError(f"two {what} have the same name: {listed(twice)}")
        if len(self.datasets) != len(self.values):
            raise ValueError(
                f"there are scores on {counted(len(self.values), 'data set')}, but "
                f"{counted(len(self.datasets), 'name')} of data sets"
            )
        for name, row in zip(self.datasets, self.values, strict=True):
            if len(row) != len(self.learners):
                raise ValueError(
                    f"data set {quoted(name)} has {counted(len(row), 'score')}, but there are "
                    f"{counted(len(self.learners), 'learner')}"
                )
        self._refuse_cells("missing", isnan)
        self._refuse_cells("infinite", lambda value: not isfinite(value))

    def _refuse_cells(self, word: str, is_refused: Any) -> None:
        cells = [
            f"{quoted(learner)} on {quoted(dataset)}"
            for dataset, row in zip(self.datasets, self.values, strict=True)
            for learner, value in zip(self.learners, row, strict=True)
            if is_refused(value)
        ]
        if cells:
            shown = ", ".join(cells[:5])
            more = f" and {len(cells) - 5:,} more" if len(cells) > 5 else ""
            raise ValueError(
                f"{counted(len(cells), 'score')} {'is' if len(cells) == 1 else 'are'} {word}: "
                f"{shown}{more}; every learner needs a score on every data set: complete them, or "
                "leave out these data sets or learners"
            )

    def array(self) -> Floats:
        """The scores as an array, data sets by learners."""
        return np.array(self.values, dtype=np.float64).reshape(
            len(self.datasets), len(self.learners)
        )

    def of(self, learner: str) -> tuple[float, ...]:
        """The scores of one learner."""
        place = self.learners.index(one_of(learner, "learner", self.learners))
        return tuple(row[place] for row in self.values)

    def as_dict(self) -> Columns:
        """The table as columns: `data set`, and one for each learner."""
        return {
            "data set": list(self.datasets),
            **{name: [*self.of(name)] for name in self.learners},
        }

    @property
    def headline(self) -> str:
        """How many data sets and learners."""
        sets, learners = len(self.datasets), len(self.learners)
        return f"{counted(sets, 'data set')}, {counted(learners, 'learner')}"

    def _parts(self) -> Iterator[Part]:
        rows = [
            [name, *(f"{value:.6g}" for value in row)]
            for name, row in zip(self.datasets, self.values, strict=True)
        ]
        yield FigureTable(["data set", *self.learners], rows)

    def __str__(self) -> str:
        return "\n".join(line for part in self._parts() for line in part.lines())


Scores: TypeAlias = Any
"""A `ScoreTable` or what `score_table` makes one of."""


def score_table(
    scores: Scores,
    *,
    datasets: str | Sequence[str] | None = None,
    learners: Sequence[str] | None = None,
) -> ScoreTable:
    """Make a table of scores of a frame, a mapping or an array.

    Parameters
    ----------
    scores : frame, mapping, array or ScoreTable
        A frame of pandas, polars or another library has a row for each data set and a column for
        each learner. A mapping goes from learners to their scores: lists of equal length, or
        mappings from data sets to scores. An array is data sets by learners.
    datasets : str or sequence of str, optional
        The column of a frame that names the data sets, or the names themselves. By default the only
        column of text, else the index of a pandas frame, else numbers from 1.
    learners : sequence of str, optional
        For an array the names of its columns, numbers from 1 by default; else which learners to
        take, by default all.

    Returns
    -------
    ScoreTable

    Examples
    --------
    >>> found = score_table({"lists": [0.61, 0.7], "chain": [0.59, 0.72]})
    >>> print(found)
    data set    lists  chain
    data set 1   0.61   0.59
    data set 2    0.7   0.72

    >>> score_table([[0.61, 0.59], [0.7, 0.72]], learners=["lists", "chain"]) == found
    True
    >>> nested = {"lists": {"scene": 0.7, "yeast": 0.6}, "chain": {"scene": 0.7}}
    >>> score_table(nested)
    Traceback (most recent call last):
        ...
    ValueError: 1 score is missing: 'chain' on 'yeast'; every learner needs a score on every ...
    """
    if isinstance(scores, ScoreTable):
        rows = [f"{name}" for name in scores.datasets]
        columns = {name: [*scores.of(name)] for name in scores.learners}
        return _table(columns, rows if datasets is None else datasets, learners)
    data = native(scores)
    refuse_lazy(data, "scores")
    if is_frame(data):
        return _table(*_of_frame(data, datasets), learners)
    if isinstance(data, Mapping):
        columns, names = _of_mapping(data)
        return _table(columns, names if datasets is None else datasets, learners)
    return _of_array(data, datasets, learners)


def _of_frame(data: Any, datasets: str | Sequence[str] | None) -> tuple[Columns, Sequence[str]]:
    """The columns of a frame, and the names of the data sets."""
    table = FrameTable(data, "scores")
    columns = {name: list(table.values(place)) for place, name in enumerate(table.names)}
    texts = [name for name, cells in columns.items() if cells and _are_texts(cells)]
    if isinstance(datasets, str):
        texts = [one_of(datasets, "datasets", table.names, also="names of the data sets")]
    elif datasets is not None:
        texts = []
    if len(texts) > 1:
        raise ValueError(
            f"the columns {listed(texts)} of scores are text: name the data sets by one of them, "
            f"as in datasets={texts[0]!r}, and leave out the others; a row for each single score "
            "is made a table by pivot"
        )
    if texts:
        return columns, [str(cell) for cell in columns.pop(texts[0])]
    if datasets is not None:
        return columns, datasets
    return columns, _index_names(data) or _numbered("data set", table.shape[0])


def _index_names(data: Any) -> list[str] | None:
    """The index of a pandas frame or series as names, if it is more than the numbers of rows."""
    index = getattr(data, "index", None)
    if index is None or type(index).__name__ == "RangeIndex" or not hasattr(index, "tolist"):
        return None
    return [str(name) for name in index.tolist()]


def _are_texts(cells: Iterable[Any]) -> bool:
    return all(isinstance(cell, str) for cell in cells)


def _of_mapping(data: Mapping[Any, Any]) -> tuple[Columns, Sequence[str]]:
    """The scores of each learner, and the names of the data sets."""
    given = {str(learner): _named(scores) for learner, scores in data.items()}
    if any(isinstance(scores, Mapping) for scores in given.values()):
        for learner, scores in given.items():
            if not isinstance(scores, Mapping):
                raise ValueError(
                    f"the scores of {quoted(learner)} have no names of data sets, but those of "
                    "others have: give lists for all learners, or mappings from data sets"
                )
        names = list(dict.fromkeys(name for scores in given.values() for name in scores))
        columns = {
            learner: [scores.get(name) for name in names] for learner, scores in given.items()
        }
        return columns, [str(name) for name in names]
    columns = {learner: list(scores) for learner, scores in given.items()}
    lengths = {len(scores) for scores in columns.values()}
    if len(lengths) > 1:
        said = ", ".join(f"{quoted(name)} has {len(cells)}" for name, cells in columns.items())
        raise ValueError(f"all learners need as many scores: {said}")
    return columns, _numbered("data set", max(lengths, default=0))


def _named(scores: Any) -> Any:
    """The scores of a learner: as a mapping, if they say on which data sets."""
    scores = native(scores)
    if is_series(scores):
        names, cells = _index_names(scores), scores.to_list()
        return cells if names is None else dict(zip(names, cells, strict=True))
    if hasattr(scores, "__iter__") and not isinstance(scores, str):
        return scores
    raise ValueError(
        f"scores maps a learner to {scores!r:.60}: it must be a list of scores, or a mapping from "
        "data sets to scores"
    )


def _of_array(
    data: Any, datasets: str | Sequence[str] | None, learners: Sequence[str] | None
) -> ScoreTable:
    array = as_array(data, "scores")
    if array.ndim != 2:
        raise ValueError(
            f"scores has {counted(array.ndim, 'dimension')}, but data sets by learners are two"
        )
    n_rows, n_columns = array.shape
    names = _numbered("learner", n_columns) if learners is None else [str(n) for n in learners]
    if len(names) != n_columns:
        raise ValueError(
            f"scores has {counted(n_columns, 'column')}, but learners has {len(names)}"
        )
    if repeated(names):
        raise ValueError(f"two learners have the same name: {listed(repeated(names))}")
    cells = np.ma.filled(array.astype(object), None).T.tolist()
    columns = dict(zip(names, cells, strict=True))
    return _table(columns, _numbered("data set", n_rows) if datasets is None else datasets, None)


def _numbered(noun: str, n: int) -> list[str]:
    return [f"{noun} {number}" for number in range(1, n + 1)]


def _table(
    columns: Columns, datasets: str | Sequence[str], learners: Sequence[str] | None
) -> ScoreTable:
    """The table of these columns, or of the columns of `learners`, in their order."""
    if isinstance(datasets, str):
        raise ValueError(
            f"datasets={datasets!r:.60} is one text: only a frame has a column of that name; give "
            "the names of all data sets"
        )
    chosen = [*columns] if learners is None else [str(name) for name in learners]
    for name in chosen:
        one_of(name, "learner", [*columns])
    names = tuple(str(name) for name in datasets)
    n_rows = len(next(iter(columns.values()), []))
    values = tuple(
        tuple(_score(columns[learner][row], learner, names, row) for learner in chosen)
        for row in range(n_rows)
    )
    return ScoreTable(names, tuple(chosen), values)


def _score(cell: Any, learner: str, datasets: Sequence[str], row: int) -> float:
    """A cell as a number, NaN if it is missing."""
    if isinstance(cell, Decimal) or is_number(cell):
        return float(cell)
    if kind_of(cell) == "missing":
        return float("nan")
    where = quoted(datasets[row]) if row < len(datasets) else f"row {row}"
    raise ValueError(f"the score of {quoted(learner)} on {where} is {cell!r:.60}, not a number")


def table_for(scores: Scores, purpose: str, n_learners: int, n_datasets: int) -> ScoreTable:
    """The table of scores, which must have so many learners and data sets for the purpose."""
    table = score_table(scores)
    for n, least, noun in (
        (len(table.learners), n_learners, "learner"),
        (len(table.datasets), n_datasets, "data set"),
    ):
        if n < least:
            raise ValueError(
                f"{purpose} needs at least {counted(least, noun)}, not {n}{_advice(noun, n)}"
            )
    return table


def _advice(noun: str, n: int) -> str:
    if noun == "learner" and n == 2:
        return ": compare 2 by wilcoxon_holm or bayesian_signed_rank"
    return ""


def ordered_digits(row: Sequence[float]) -> list[float]:
    """Scores rounded to 12 significant digits, so that equal ones tie however they were summed.

    >>> ordered_digits([0.1 + 0.2, 0.3])
    [0.3, 0.3]
    """
    return [float(f"{value:.{DIGITS - 1}e}") for value in row]


def differences(first: Sequence[float], second: Sequence[float]) -> Floats:
    """First less second, rounded to 12 significant digits of the greater of both.

    Differences that are equal in decimals are then equal, as tests of signed ranks ask for.

    >>> differences([0.8, 0.7, 0.5], [0.7, 0.6, 0.5]).tolist()
    [0.1, 0.1, 0.0]
    """
    return np.array([_difference(*pair) for pair in zip(first, second, strict=True)])


def _difference(first: float, second: float) -> float:
    largest = max(abs(first), abs(second))
    if largest == 0.0:
        return 0.0
    exponent = Decimal(largest).adjusted()  # of the first digit
    return round(first - second, DIGITS - 1 - exponent) + 0.0


def pairs_of(learners: Sequence[str], control: str | None = None) -> list[tuple[str, str]]:
    """All pairs of learners, or a control with each other one."""
    if control is None:
        return list(combinations(learners, 2))
    one_of(control, "control", learners)
    return [(control, other) for other in learners if other != control]


def p_text(p: float) -> str:
    """A p-value for tables.

    >>> p_text(0.04123), p_text(0.00002), p_text(1.0)
    ('0.0412', '< 0.0001', '1.0000')
    """
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def verdict_on(pairs: Sequence[Any]) -> str:
    """How many pairs of learners differ, in words."""
    n = sum(pair.significant for pair in pairs)
    verb = "differs" if n == 1 else "differ"
    return f"{n} of {counted(len(pairs), 'pair')} of learners {verb} significantly"


def yes_no(found: bool) -> str:
    """A truth value for tables."""
    return "yes" if found else "no"
