"""Explanations as HTML: self-contained, readable without colour, and everything escaped."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from labelrules.inspection.counterfactuals.search import shown
from labelrules.inspection.explanation.text import (
    PRESENCE,
    circle_text,
    label_sentence,
    nobody_text,
    node_text,
    rows_text,
    unsettled_text,
)
from labelrules.inspection.explanation.values import (
    Chain,
    ChainNode,
    Explanation,
    LabelExplanation,
    RuleSeen,
)

# -------------------- The chain of labels behind a label as a small picture: SVG that needs
# nothing from elsewhere
# What a label rests on stands to its left, column by column: labels in round boxes (dashed if
# they are absent), rules in square ones with the features that they test.

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


def _columns(chain: Chain) -> list[list[ChainNode]]:
    """The nodes by their distance to the label, the farthest first."""
    distance = _distances(chain)
    columns: list[list[ChainNode]] = [[] for _ in range(max(distance.values()) + 1)]
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


def _placed(columns: list[list[ChainNode]]) -> Iterator[_Box]:
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


def _text(node: ChainNode) -> tuple[str, ...]:
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


# ---------------------------------------------------------------- the main part

STYLE = """
.labelrules-why{font:15px/1.5 system-ui,sans-serif;color:#1a1a1a;background:#fff;max-width:60em}
.labelrules-why section{border:1px solid #bbb;border-radius:6px;padding:.6em 1em;margin:.8em 0}
.labelrules-why h2{font-size:1.2em;margin:.2em 0}.labelrules-why h3{font-size:1.1em;margin:.1em 0}
.labelrules-why h4{font-size:1em;margin:.8em 0 .2em}.labelrules-why ul{margin:.2em 0}
.labelrules-why p{margin:.3em 0}
.labelrules-why table{border-collapse:collapse;margin:.3em 0}
.labelrules-why th,.labelrules-why td{border:1px solid #ccc;padding:.15em .6em;text-align:left}
.labelrules-why code{font:13px/1.5 ui-monospace,monospace;background:#f3f3f3;padding:0 .25em;
overflow-wrap:anywhere}
.labelrules-why .chip{border:2px solid #0b4f8a;border-radius:1em;padding:0 .6em;color:#0b4f8a;
background:#fff;white-space:nowrap}
.labelrules-why svg{max-width:100%;height:auto;margin:.4em 0}
.labelrules-why .chip.absent{border-style:dashed;border-color:#555;color:#555}
"""


def explanation_page(explanation: Explanation) -> str:
    """A whole page."""
    title = escape(f"Why row {explanation.row} gets its labels")
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n</head>\n<body>\n{explanation_part(explanation)}\n"
        "</body>\n</html>\n"
    )


def explanation_part(explanation: Explanation) -> str:
    """What a notebook shows."""
    names = explanation.theory.schema.labels
    present = [_chip(n, 1) for n, cell in zip(names, explanation.board, strict=True) if cell]
    lines = [
        f'<div class="labelrules-why"><style>{STYLE}</style>',
        f"<h2>Row {explanation.row}</h2>",
        f"<p>Labels: {' '.join(present) or 'none'}</p>",
        *([f"<p>{escape(unsettled_text(explanation))}</p>"] if explanation.moving else []),
        *(line for label in explanation for line in _section(label)),
        "</div>",
    ]
    return "\n".join(lines)


def _section(one: LabelExplanation) -> Iterator[str]:
    yield "<section>"
    yield f"<h3>{_chip(one.label, one.predicted)}</h3>"
    yield f"<p>{escape(label_sentence(one))}</p>"
    if one.rule is not None:
        yield f"<h4>Decided by {escape(str(one.rule.place))}</h4>"
        yield f"<p>{_code(one.rule.text)}</p>"
        yield from _conditions(one.rule)
        if one.rule.place.is_fallback:
            yield "<p>It was asked because the layers found no label.</p>"
    elif one.decided == "vote":
        yield f"<h4>Votes: {one.n_for} for, {one.n_against} against</h4>"
        yield from _list(_vote(rule) for rule in one.votes)
    else:
        yield f"<p>{escape(nobody_text(one))}</p>"
    if one.estimate is not None:
        yield f"<h4>Evidence</h4><p>{escape(str(one.estimate))}</p>"
    if one.rows is not None:
        yield f"<h4>On training data</h4><p>{escape(rows_text(one))}</p>"
    yield from _titled("It depended on", _chain(one))
    yield chain_picture(one.chain)
    if one.chain.circle:
        yield f"<p>{escape(circle_text(one))}</p>"
    yield from _titled("Later rules that hold", [_rule(rule) for rule in one.later])
    yield from _titled("Rules that nearly hold", [_near(rule) for rule in one.near])
    if one.counterfactual is not None:
        yield f"<h4>What would change it</h4><p>{escape(str(one.counterfactual))}</p>"
    yield "</section>"


def _conditions(rule: RuleSeen) -> Iterator[str]:
    if rule.conditions:
        yield "<table><tr><th>condition</th><th>in this row</th></tr>"
        for seen in rule.conditions:
            yield f"<tr><td>{_code(seen.text)}</td><td>{escape(shown(seen.value))}</td></tr>"
        yield "</table>"


def _chain(one: LabelExplanation) -> list[str]:
    found = []
    for node in one.chain.nodes[1:]:
        if node.kind == "label":
            rules = [
                f"{escape(str(rule.place))}: {_code(rule.name)}"
                for rule in one.chain.before(node.key)
            ]
            found.append(f"{escape(node_text(node))} ← {'; '.join(rules) or 'no rule'}")
    return found


def _vote(rule: RuleSeen) -> str:
    side = "for" if rule.value else "against"
    return f"{rule.votes} {side}: {escape(str(rule.place))}: {_code(rule.text)}"


def _rule(rule: RuleSeen) -> str:
    return f"{escape(str(rule.place))} says {PRESENCE[rule.value]}: {_code(rule.text)}"


def _near(rule: RuleSeen) -> str:
    (failing,) = rule.failing
    return (
        f"{escape(str(rule.place))} would say {PRESENCE[rule.value]}: {_code(rule.text)} "
        f"(fails by {_code(failing.text)}: here {escape(shown(failing.value))})"
    )


def _titled(title: str, items: list[str]) -> Iterator[str]:
    if items:
        yield f"<h4>{title}</h4>"
        yield from _list(items)


def _list(items: Iterable[str]) -> Iterator[str]:
    yield "<ul>"
    yield from (f"<li>{item}</li>" for item in items)
    yield "</ul>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _chip(label: str, value: int) -> str:
    state = PRESENCE[value]
    return f'<span class="chip {state}">{escape(label)}: {state}</span>'
