"""The chapter's figure of training times: multi- against single-label heads on two log scales."""

from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from casestudies.multi_heads import TimePair
from labelrules._html import render

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"

_SIZE = 380  # of the square between the axes
_LEFT, _TOP, _BOTTOM = 64, 40, 92
_FORMS = ("circle", "square", "triangle", "diamond")
_R = 5.0  # half the size of a form


class _Point(NamedTuple):
    """A form: a pair of times, or the time of single-label heads times the number of labels."""

    path: str
    is_empty: bool
    form: str
    sentence: str


class _Scale(NamedTuple):
    """Seconds to places, from a power of ten to another."""

    low: int
    high: int

    @classmethod
    def of(cls, seconds: Sequence[float]) -> "_Scale":
        low = floor(log10(min(seconds)))
        return cls(low, max(ceil(log10(max(seconds))), low + 1))

    def place(self, seconds: float) -> float:
        return _SIZE * (log10(seconds) - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Places and names of the powers of ten."""
        return [(self.place(10.0**n), _power(n)) for n in range(self.low, self.high + 1)]


def template(name: str) -> str:
    """The text of a template of the report."""
    return (TEMPLATES / name).read_text("utf-8")


def _power(n: int) -> str:
    return f"{10**n:,}" if n >= 0 else f"{10.0**n:.{-n}f}"


def time_picture_svg(times: Sequence[TimePair]) -> "Markup":
    """Draw training times as SVG, a form for each data set and objective.

    Empty forms stand for the time of single-label heads times the number of labels. Each form says
    in words what it stands for, when the pointer is over it and to screen readers.

    Examples
    --------
    >>> picture = time_picture_svg([TimePair("flags", "precision", 7, 0.4, 0.5)])
    >>> "flags by precision: 0.400 s with single-label heads, 0.500 s with multi-label" in picture
    True
    """
    objectives = list(dict.fromkeys(one.objective for one in times))
    forms = dict(zip(objectives, _FORMS, strict=False))
    every = [value for one in times for value in (one.single, one.multi, one.times_labels)]
    scale = _Scale.of(every)
    drawn = [_drawn(one, forms[one.objective], scale, empty) for empty in (True, False)
             for one in times]  # fmt: skip
    return render(
        template("times.svg"),
        title="Processor seconds of learning: multi-label against single-label heads",
        description="; ".join(one.sentence for one in drawn if not one.is_empty),
        points=drawn,
        ticks=scale.ticks,
        legend=[
            (name, _path(form, 8, 0), 130 * number)
            for number, (name, form) in enumerate(forms.items())
        ],
        size=_SIZE,
        left=_LEFT,
        top=_TOP,
        width=_LEFT + _SIZE + 24,
        height=_TOP + _SIZE + _BOTTOM,
    )


def _drawn(one: TimePair, form: str, scale: _Scale, is_empty: bool) -> _Point:
    seconds = one.times_labels if is_empty else one.multi
    what = (
        f"{one.data} by {one.objective}: {one.single:.3f} s with single-label heads times "
        f"{one.n_labels} labels is {seconds:.3f} s"
        if is_empty
        else f"{one.data} by {one.objective}: {one.single:.3f} s with single-label heads, "
        f"{one.multi:.3f} s with multi-label heads, {one.ratio:.2f} times"
    )
    x, y = scale.place(one.single), _SIZE - scale.place(seconds)
    return _Point(_path(form, x, y), is_empty, form, what)


def _path(form: str, x: float, y: float) -> str:
    """The outline of a form around a point."""
    r = _R
    if form == "circle":
        return f"M{x - r:.1f} {y:.1f}a{r} {r} 0 1 1 {2 * r} 0a{r} {r} 0 1 1 {-2 * r} 0z"
    if form == "square":
        s = 0.88 * r
        return f"M{x - s:.1f} {y - s:.1f}h{2 * s:.1f}v{2 * s:.1f}h{-2 * s:.1f}z"
    if form == "triangle":
        return f"M{x:.1f} {y - 1.15 * r:.1f}l{1.1 * r:.1f} {2 * r:.1f}h{-2.2 * r:.1f}z"
    d = 1.25 * r
    return f"M{x:.1f} {y - d:.1f}l{d} {d}l{-d} {d}l{-d} {-d}z"
