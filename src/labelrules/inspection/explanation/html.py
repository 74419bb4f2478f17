"""Explanations as HTML, with a graph of the labels and rules that a label depends on.

From right to left: labels in round boxes (dashed if absent), rules in square ones with their tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from labelrules._html import fragment, html_page, render
from labelrules.inspection.explanation.screen import values_line
from labelrules.inspection.explanation.values import Chain, ChainNode, Explanation, LabelExplanation
from labelrules.inspection.explanation.writer import ExplainingNotation, Writer, outcome
from labelrules.inspection.tracing import PRESENCE, value_text

MOST_NODES = 40  # larger graphs are written as a list only
_LETTERS, _TESTS = 34, 4  # letters on a line of a box, and tests of a rule, at most

_CHARACTER, _LINE, _PADDING = 7.3, 17, 8
_GAP_ACROSS, _GAP_DOWN = 46, 14
_ROW_WIDTH = 200  # letters of the line about the row
_BELOW = 40  # room for arrows that lead back below the boxes


def explanation_page(explanation: Explanation) -> str:
    """An explanation as a page of its own."""
    title = f"Why row {explanation.row} gets its labels"
    return html_page(explanation_html(explanation), title)


def explanation_html(explanation: Explanation) -> str:
    """An explanation for notebooks: labels that the row has as cards, the others folded away."""
    is_chosen = len(explanation) < explanation.theory.schema.n_labels
    shown = [one for one in explanation if one.predicted or is_chosen]
    absent = [one for one in explanation if not (one.predicted or is_chosen)]
    notation = ExplainingNotation(explanation.theory, is_short=False)
    return _rendered(explanation, shown, absent, Writer(notation))


def label_html(one: LabelExplanation) -> str:
    """The explanation of one label for notebooks."""
    return _rendered(None, [one], [], Writer())


def _rendered(
    explanation: Explanation | None,
    shown: list[LabelExplanation],
    absent: list[LabelExplanation],
    writer: Writer,
) -> str:
    content = render(
        "explanation.html",
        explanation=explanation,
        shown=shown,
        absent=absent,
        row=explanation and values_line(explanation, _ROW_WIDTH, Writer()),
        **means(writer),
    )
    return fragment(content)


def means(writer: Writer) -> dict[str, Any]:
    """What the template of reasons needs beside the labels: a writer in short and one in full."""
    return {
        "writer": writer,
        "full": Writer(),
        "outcome": outcome,
        "presence": PRESENCE,
        "picture": chain_picture,
        "value_text": value_text,
    }


@dataclass(frozen=True, slots=True)
class _Box:
    """A node with its place in the picture; `x` and `y` are its upper left corner."""

    node: ChainNode
    lines: tuple[str, ...]
    x: float
    y: float
    width: float

    @property
    def height(self) -> float:
        return _height(self.lines)

    @property
    def middle(self) -> float:
        return self.y + self.height / 2

    @property
    def style(self) -> str:
        if self.node.kind == "rule":
            return "rule"
        return "label" if self.node.value else "label dashed"


def chain_picture(chain: Chain) -> str:
    r"""The graph as SVG; empty if no other label is involved, or too many are.

    >>> from labelrules import explain, load, parse
    >>> readers = load("magazines")
    >>> theory = parse("quality <- true\nnot sports <- quality", readers.schema)
    >>> chain_picture(explain(theory, readers)["sports"].chain).count("<rect")
    4
    >>> chain_picture(explain(theory, readers)["quality"].chain)
    ''
    """
    n_labels = sum(node.kind == "label" for node in chain.nodes)
    if n_labels < 2 or len(chain.nodes) > MOST_NODES:
        return ""
    boxes = {box.node.key: box for box in _placed(_columns(chain))}
    height = max(box.y + box.height for box in boxes.values()) + (_BELOW if chain.cycle else 2)
    return render(
        "chain.svg",
        name=chain.nodes[0].name,
        width=round(max(box.x + box.width for box in boxes.values()) + 2),
        height=round(height),
        arrows=[_arrow(boxes[link.source], boxes[link.target], height) for link in chain.links],
        boxes=boxes.values(),
        padding=_PADDING,
        line_height=_LINE,
    )


def _columns(chain: Chain) -> list[list[ChainNode]]:
    """The nodes by their distance to the label, the farthest first."""
    distance = _distances(chain)
    columns: list[list[ChainNode]] = [[] for _ in range(max(distance.values()) + 1)]
    for node in chain.nodes:
        columns[distance[node.key]].append(node)
    return columns[::-1]


def _distances(chain: Chain) -> dict[str, int]:
    """Links from each node to the label, on the longest path; with cycles, on the shortest."""
    distance = {chain.nodes[0].key: 0}
    waiting = [chain.nodes[0].key]
    for key in waiting:
        for source in (link.source for link in chain.links if link.target == key):
            is_farther = not chain.cycle and distance[key] >= distance.get(source, 0)
            if source not in distance or is_farther:
                distance[source] = distance[key] + 1
                waiting.append(source)
    return distance


def _placed(columns: list[list[ChainNode]]) -> Iterator[_Box]:
    texts = [[_lines(node) for node in column] for column in columns]
    heights = [
        sum(_height(lines) for lines in column) + _GAP_DOWN * (len(column) - 1) for column in texts
    ]
    x = 1.0
    for column, column_texts, height in zip(columns, texts, heights, strict=True):
        longest = max(len(line) for lines in column_texts for line in lines)
        width = round(longest * _CHARACTER + 2 * _PADDING, 1)
        y = 1 + (max(heights) - height) / 2
        for node, lines in zip(column, column_texts, strict=True):
            yield _Box(node, lines, round(x, 1), round(y, 1), width)
            y += _height(lines) + _GAP_DOWN
        x += width + _GAP_ACROSS


def _lines(node: ChainNode) -> tuple[str, ...]:
    if node.kind == "label":
        state = "before the first round" if node.value is None else PRESENCE[node.value]
        layer = "" if node.layer is None else f", layer {node.layer + 1}"
        return (_short(node.name), f"{state}{layer}")
    tests = [_short(seen.text) for seen in node.conditions if not seen.condition.on_label]
    more = [f"and {len(tests) - _TESTS} more"] if len(tests) > _TESTS else []
    return (str(node.place), *tests[:_TESTS], *more)


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _height(lines: tuple[str, ...]) -> float:
    return len(lines) * _LINE + 2 * _PADDING - 4


def _arrow(source: _Box, target: _Box, lowest: float) -> tuple[str, str]:
    """A line to the right, or below all boxes if a cycle leads back; and its head."""
    if source.x < target.x:
        start, end = source.x + source.width, target.x
        half = (start + end) / 2
        line = (
            f"M{start:.1f} {source.middle:.1f}C{half:.1f} {source.middle:.1f} "
            f"{half:.1f} {target.middle:.1f} {end - 8:.1f} {target.middle:.1f}"
        )
        return line, f"M{end:.1f} {target.middle:.1f}l-8 -4v8z"
    start, end = source.x + source.width / 2, target.x + target.width / 2
    bottom = target.y + target.height
    line = (
        f"M{start:.1f} {source.y + source.height:.1f}C{start:.1f} {lowest:.1f} "
        f"{end:.1f} {lowest:.1f} {end:.1f} {bottom + 8:.1f}"
    )
    return line, f"M{end:.1f} {bottom:.1f}l-4 8h8z"
