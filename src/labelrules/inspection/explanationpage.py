"""Explanations as HTML: self-contained, readable without colour, and everything escaped."""

from collections.abc import Iterable, Iterator
from html import escape

from labelrules.inspection.chainpicture import chain_picture
from labelrules.inspection.counterfactual import shown
from labelrules.inspection.explanation import Explanation, LabelExplanation, RuleSeen
from labelrules.inspection.telling import (
    PRESENCE,
    circle_text,
    label_sentence,
    nobody_text,
    node_text,
    rows_text,
    unsettled_text,
)

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
