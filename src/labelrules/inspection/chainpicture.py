"""The chain of labels behind a label as a small picture: SVG that needs nothing from elsewhere.

What a label rests on stands to its left, column by column: labels in round boxes (dashed if they
are absent), rules in square ones with the features that they test.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from labelrules.inspection.explanation import Chain, Node

MOST_NODES = 40
"""Larger graphs are told as a list only."""

_PRESENCE = {1: "present", 0: "absent", None: "before the first round"}
_LETTERS, _LINES = 34, 4
_CHARACTER, _LINE, _PADDING = 7.3, 17, 8
_GAP_ACROSS, _GAP_DOWN = 46, 14
_BELOW = 40
_BOLD = ' font-weight="600"'


@dataclass(frozen=True, slots=True)
class _Box:
    """A node with its place in the picture; `x` and `y` are its upper left corner."""

    node: Node
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


def chain_picture(chain: Chain) -> str:
    r"""The picture; nothing if no other label is involved, or too many are.

    Examples
    --------
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
    width = max(box.x + box.width for box in boxes.values()) + 2
    height = max(box.y + box.height for box in boxes.values()) + (_BELOW if chain.circle else 2)
    arrows = [_arrow(boxes[link.source], boxes[link.target], height) for link in chain.links]
    drawn = [*arrows, *(_drawn(box) for box in boxes.values())]
    return (
        f'<svg role="img" aria-label="What {escape(chain.nodes[0].name, quote=True)} rests on" '
        f'width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="system-ui,sans-serif" '
        f'font-size="13">\n' + "\n".join(drawn) + "\n</svg>"
    )


def _columns(chain: Chain) -> list[list[Node]]:
    """The nodes by their distance to the label, the farthest first."""
    distance = _distances(chain)
    columns: list[list[Node]] = [[] for _ in range(max(distance.values()) + 1)]
    for node in chain.nodes:
        columns[distance[node.key]].append(node)
    return columns[::-1]


def _distances(chain: Chain) -> dict[str, int]:
    """How many links lead from each node to the label, by the longest way.

    If there are circles, by the shortest: then some arrows lead back.
    """
    distance = {chain.nodes[0].key: 0}
    waiting = [chain.nodes[0].key]
    for key in waiting:
        for source in (link.source for link in chain.links if link.target == key):
            is_farther = not chain.circle and distance[key] >= distance.get(source, 0)
            if source not in distance or is_farther:
                distance[source] = distance[key] + 1
                waiting.append(source)
    return distance


def _placed(columns: list[list[Node]]) -> Iterator[_Box]:
    texts = [[_text(node) for node in column] for column in columns]
    heights = [
        sum(_height(lines) for lines in column) + _GAP_DOWN * (len(column) - 1) for column in texts
    ]
    x = 1.0
    for column, lines, height in zip(columns, texts, heights, strict=True):
        width = max(len(line) for text in lines for line in text) * _CHARACTER + 2 * _PADDING
        y = 1 + (max(heights) - height) / 2
        for node, text in zip(column, lines, strict=True):
            yield _Box(node, text, x, y, width)
            y += _height(text) + _GAP_DOWN
        x += width + _GAP_ACROSS


def _text(node: Node) -> tuple[str, ...]:
    if node.kind == "label":
        layer = "" if node.layer is None else f", layer {node.layer + 1}"
        return (_short(node.name), f"{_PRESENCE[node.value]}{layer}")
    tests = [_short(seen.text) for seen in node.conditions if not seen.condition.on_label]
    more = [f"and {len(tests) - _LINES} more"] if len(tests) > _LINES else []
    return (str(node.place), *tests[:_LINES], *more)


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"


def _height(lines: tuple[str, ...]) -> float:
    return len(lines) * _LINE + 2 * _PADDING - 4


def _drawn(box: _Box) -> str:
    is_label = box.node.kind == "label"
    look = f'rx="{14 if is_label else 2}" fill="#fff" stroke="{"#0b4f8a" if is_label else "#555"}"'
    dashes = ' stroke-dasharray="5 3"' if is_label and not box.node.value else ""
    frame = (
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" {look}{dashes}/>'
    )
    words = "".join(
        f'<text x="{box.x + _PADDING:.1f}" y="{box.y + _PADDING + 10 + _LINE * n:.1f}"'
        f"{_BOLD if n == 0 else ''}>{escape(line)}</text>"
        for n, line in enumerate(box.lines)
    )
    return f"<g><title>{escape(box.node.name)}</title>{frame}{words}</g>"


def _arrow(source: _Box, target: _Box, lowest: float) -> str:
    """A line to the right; if a circle leads back, one below all boxes."""
    if source.x < target.x:
        start, end, half = source.x + source.width, target.x - 8, (source.x + source.width) / 2
        half += target.x / 2
        path = (
            f"M{start:.1f} {source.middle:.1f}C{half:.1f} {source.middle:.1f} "
            f"{half:.1f} {target.middle:.1f} {end:.1f} {target.middle:.1f}"
        )
        head = f"M{target.x:.1f} {target.middle:.1f}l-8 -4v8z"
    else:
        start, end = source.x + source.width / 2, target.x + target.width / 2
        bottom = target.y + target.height
        path = (
            f"M{start:.1f} {source.y + source.height:.1f}C{start:.1f} {lowest:.1f} "
            f"{end:.1f} {lowest:.1f} {end:.1f} {bottom + 8:.1f}"
        )
        head = f"M{end:.1f} {bottom:.1f}l-4 8h8z"
    return f'<path d="{path}" fill="none" stroke="#555"/><path d="{head}" fill="#555"/>'
