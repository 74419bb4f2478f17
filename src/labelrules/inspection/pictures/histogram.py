"""The histogram of a feature with the thresholds of rules, as SVG."""

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from labelrules._checks import counted
from labelrules._html import render
from labelrules.inspection.pictures.drawing import cut_short
from labelrules.inspection.review.histograms import Bar
from labelrules.inspection.review.matrix import ConditionCell, MatrixFeature, Threshold

if TYPE_CHECKING:
    from markupsafe import Markup

_WIDTH, _HEIGHT = 260, 76  # of the bars
_SIDE, _TOP, _BOTTOM = 10, 24, 34
_NAMED = 6  # of more categories only the tested ones have their names below


class _Column(NamedTuple):
    """How one bar is drawn."""

    bar: Bar
    x: float
    width: float
    height: float
    is_covered: bool
    name: str


class _Line(NamedTuple):
    """How a threshold is drawn."""

    threshold: Threshold
    x: float
    is_own: bool  # whether the rule that is shown has it
    anchor: str


def histogram_svg(tested: MatrixFeature, cell: ConditionCell | None = None) -> "Markup":
    r"""Draw the histogram of a feature with the thresholds of rules, as SVG.

    What the conditions of a rule cover is shaded, and its bars are framed. Each threshold is a line
    with its value; those of other rules are thin. The element has the attributes ``data-feature``,
    ``data-low`` and ``data-high``, the ends of the scale, and each line has ``data-threshold``, for
    scripts that let a person drag it.

    Parameters
    ----------
    tested : MatrixFeature
        Of a `ConditionMatrix`.
    cell : ConditionCell, optional
        The conditions of one rule on this feature; by default nothing is covered.

    Examples
    --------
    >>> from labelrules import load
    >>> from labelrules.inspection import condition_matrix
    >>> from labelrules.rules import clinic_truth
    >>> matrix = condition_matrix(clinic_truth(), load("clinic"))
    >>> 'data-threshold="80.0"' in histogram_svg(matrix.feature("crp"))
    True
    """
    histogram = tested.histogram
    most = max(histogram.most, 1)
    n = max(len(histogram.bars), 1)
    columns = []
    for number, bar in enumerate(histogram.bars):
        start, end = number / n, (number + 1) / n
        if not histogram.is_by_value:
            start, end = histogram.position(bar.low), histogram.position(bar.high)
        columns.append(
            _Column(
                bar,
                _SIDE + _WIDTH * start,
                _WIDTH * (end - start),
                _HEIGHT * bar.n_rows / most,
                _covers(cell, bar),
                _bar_name(tested, cell, bar, n),
            )
        )
    return render(
        "histogram.svg",
        title=_title(tested, cell),
        description="; ".join(f"{bar.text}: {bar.n_rows:,}" for bar in histogram.bars),
        name=tested.feature.name,
        ends=(histogram.bars[0], histogram.bars[-1]) if histogram.bars else (),
        shows_ends=tested.feature.categories is None,
        n_missing=histogram.n_missing,
        columns=columns,
        lines=_lines(tested, cell),
        shade=_shade(tested, cell),
        size=(_SIDE, _TOP, _WIDTH, _HEIGHT),
        width=_WIDTH + 2 * _SIDE,
        height=_TOP + _HEIGHT + _BOTTOM,
    )


def _title(tested: MatrixFeature, cell: ConditionCell | None) -> str:
    name = tested.feature.name
    if cell is None:
        return f"{name}, tested by {counted(tested.n_rules, 'rule')}"
    return f"{cell.text}: {counted(cell.n_inside, 'row')}"


def _covers(cell: ConditionCell | None, bar: Bar) -> bool:
    """Whether all rows of a bar are covered."""
    if cell is None:
        return False
    if cell.codes is not None:
        return int(bar.high) in cell.codes
    is_above = bar.low > cell.low if bar.low == bar.high else bar.low >= cell.low
    return is_above and bar.high <= cell.high


def _bar_name(tested: MatrixFeature, cell: ConditionCell | None, bar: Bar, n_bars: int) -> str:
    """The name below the bar of a category, if there is room, or if it is tested."""
    if tested.feature.categories is None:
        return ""
    is_named = n_bars <= _NAMED or (cell is not None and int(bar.high) in (cell.codes or ()))
    return cut_short(bar.text, max(4, 38 // n_bars)) if is_named else ""


def _lines(tested: MatrixFeature, cell: ConditionCell | None) -> list[_Line]:
    own = () if cell is None else (cell.low, cell.high)
    both = all(isfinite(value) for value in own)
    lines = []
    for threshold in tested.thresholds:
        share = tested.histogram.position(threshold.value)
        anchor = "start" if share < 0.2 else "end" if share > 0.8 else "middle"
        if both and own:  # texts of two lines side by side point away from each other
            anchor = "end" if threshold.value == own[0] and share > 0.2 else "start"
            anchor = "end" if share > 0.8 else anchor
        lines.append(_Line(threshold, _SIDE + _WIDTH * share, threshold.value in own, anchor))
    return lines


def _shade(tested: MatrixFeature, cell: ConditionCell | None) -> tuple[float, float] | None:
    """Where the covered values begin, and how wide they are; None for categories."""
    if cell is None or cell.codes is not None:
        return None
    low, high = (tested.histogram.position(value) for value in (cell.low, cell.high))
    return _SIDE + _WIDTH * low, max(_WIDTH * (high - low), 0.0)
