"""The flow of the rows through a list as SVG."""

from typing import TYPE_CHECKING, NamedTuple

from labelrules._checks import counted
from labelrules._html import render
from labelrules.inspection.pictures.drawing import cut_short, linked
from labelrules.inspection.review.flow import FlowStep, RowFlow

if TYPE_CHECKING:
    from markupsafe import Markup

_STEP = 26  # height of a rule
_TOP = 34  # height of the titles of the columns
_TEXT, _TRUNK, _CAUGHT, _COUNTS = 0, 400, 590, 780  # where the columns begin
_WIDTH, _TRUNK_WIDTH, _CAUGHT_WIDTH = 960, 160, 180
_LETTERS = 52  # of a rule


class _Row(NamedTuple):
    """How one rule is drawn."""

    step: FlowStep
    text: str
    y: float
    width: float  # of the rows that reach it
    left: float  # of the rows that go on
    first: float  # of the rows of which it writes the first label
    further: float  # of those of which it writes a further label
    note: str
    sentence: str
    href: str | None


def flow_svg(flow: RowFlow, link: str | None = None) -> "Markup":
    r"""Draw the way of the rows through a list, as SVG.

    The grey band is the rows that are still under way; it narrows where rules end or complete
    rows. The bars are the rows in which a rule writes: dark where it is the first to write, striped
    where it writes a further label. All numbers are written, too.

    Parameters
    ----------
    flow : RowFlow
    link : str, optional
        The address behind each rule, such as ``"/rules/{rule}"``, with ``{rule}`` for the number
        by which it is called and ``{layer}`` for its layer, both from 1.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> from labelrules.inspection import row_flow
    >>> readers = load("magazines")
    >>> flow = row_flow(parse("quality <- sex = Female", readers.schema), readers)
    >>> flow_svg(flow).startswith("<svg")
    True
    """
    most = max(max((step.n_writing for step in flow.steps), default=0), 1)
    rows = [_row(flow, number, step, most, link) for number, step in enumerate(flow.steps)]
    height = _TOP + _STEP * (len(rows) + 1)
    return render(
        "flow.svg",
        title=f"The way of {flow.headline}",
        description="; ".join(row.sentence for row in rows[:20]),
        rows=rows,
        left=flow.n_left,
        left_words=flow.left_words,
        left_width=_TRUNK_WIDTH * flow.n_left / max(flow.n_rows, 1),
        width=_WIDTH,
        height=height,
        step=_STEP,
        top=_TOP,
        columns=(_TEXT, _TRUNK, _CAUGHT, _COUNTS),
    )


def _row(flow: RowFlow, number: int, step: FlowStep, most: int, link: str | None) -> _Row:
    scale = _TRUNK_WIDTH / max(flow.n_rows, 1)
    caught = _CAUGHT_WIDTH / most
    text = f"{step.place.called}  {step.text}"
    layer = 1 if step.place.layer is None else step.place.layer + 1
    return _Row(
        step,
        cut_short(text, _LETTERS),
        _TOP + _STEP * number,
        scale * step.n_reaching,
        scale * (step.n_reaching - step.n_leaving),
        caught * step.n_first,
        caught * (step.n_writing - step.n_first),
        _note(step),
        _sentence(step),
        linked(link, rule=step.place.called, layer=layer),
    )


def _note(step: FlowStep) -> str:
    parts = [f"{step.n_writing:,}"]
    if step.n_right is not None:
        parts.append(f"{step.n_right:,}/{step.n_wrong:,}")
    if step.n_leaving:
        parts.append(f"−{step.n_leaving:,}")
    return "  ".join(parts)


def _sentence(step: FlowStep) -> str:
    cells = "" if step.n_right is None else f", {step.n_right:,} right and {step.n_wrong:,} wrong"
    ends = f"; {counted(step.n_leaving, 'row')} go no further" if step.n_leaving else ""
    return (
        f"{step.place}: {step.text}: {counted(step.n_reaching, 'row')} reach it, it covers "
        f"{step.n_covered:,} and writes in {step.n_writing:,}, in {step.n_first:,} first"
        f"{cells}{ends}"
    )
