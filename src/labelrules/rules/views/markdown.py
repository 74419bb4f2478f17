"""Rules in Markdown: the rule language, with labels in bold.

There are no formulas and no HTML, so that the source reads well too. Names that are not plain
words are in quotes and in code spans, and so are notes. `parse` reads the text that a page shows.
"""

import re
from collections.abc import Iterable
from itertools import repeat
from typing import Any

from labelrules.data.schema import Schema
from labelrules.rules.language.text import (
    Notation,
    ShownEvidence,
    endings,
    layout_of,
    name_text,
    note_text,
    noted_rules,
)
from labelrules.rules.rule import Rule
from labelrules.rules.theory import theory_of
from labelrules.rules.views.latex import headed_parts

_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'")


def theory_markdown(theory: Any, evidence: ShownEvidence = False) -> str:
    r"""A theory as a Markdown list, numbered if its order matters.

    Each layer is a list of its own, below its heading in bold; so are rules in any order.

    Parameters
    ----------
    theory, evidence
        As for :func:`theory_text`.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "not sports <- fashion (5/0)\nquality <- education != Primary"
    >>> print(theory_markdown(parse(text, load("magazines").schema), evidence=True))
    1. not **sports** ← **fashion** (5/0)
    2. **quality** ← education ≠ Primary
    """
    blocks = []
    for heading, part, shown in headed_parts(theory_of(theory), evidence):
        rules = noted_rules(part, _MARKDOWN, shown)
        numbers = [part.called(place) for place in range(len(part))] if part.ordered else None
        blocks += [_heading(heading), _list(rules, numbers)]
        for ending, label_sets in endings(part):
            sets = (_MARKDOWN.label_set(one, part.schema) for one in label_sets)
            blocks += [_heading(ending.removesuffix(":")), _list(sets)]
    return "\n\n".join(block for block in blocks if block)


def _list(items: Iterable[str], numbers: Iterable[int] | None = None) -> str:
    marks = repeat("-") if numbers is None else (f"{number}." for number in numbers)
    return "\n".join(f"{mark} {item}" for mark, item in zip(marks, items, strict=False))


def rule_markdown(rule: Rule, schema: Schema, evidence: ShownEvidence = False) -> str:
    r"""One rule in Markdown; see `theory_markdown`.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> print(rule_markdown(parse_rule("quality, * <- not tabloid", schema), schema))
    **quality**, \* ← not **tabloid**
    """
    return _MARKDOWN.noted(rule, schema, layout_of(rule, evidence))


class _Markdown(Notation):
    stop = r"\*"

    def note(self, rule: Rule) -> str:
        return "" if rule.note is None else f" {_code(note_text(rule.note))}"

    def label(self, name: str) -> str:
        return f"**{_plain_or_code(name, super().label(name))}**"

    def absent(self, name: str) -> str:
        return f"not {name}"

    def binary(self, name: str) -> str:
        text = super().binary(name)
        return _word(text) if name_text(name) == name else _code(text)

    def feature(self, name: str) -> str:
        return _plain_or_code(name, super().feature(name))

    def category(self, name: str) -> str:
        return _plain_or_code(name, super().category(name))


_MARKDOWN = _Markdown("unicode")


def _plain_or_code(name: str, text: str) -> str:
    return _word(text) if text == name else _code(text)


def _word(text: str) -> str:
    """Plain words, in which only the underscore has a meaning in Markdown."""
    return text.replace("_", r"\_")


def _code(text: str) -> str:
    """Text as a code span; its fence is longer than any run of backticks in it."""
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    space = " " if text.endswith("`") else ""  # which is not shown
    return f"{fence}{space}{text}{space}{fence}"


def _heading(text: str) -> str:
    """A heading in bold, if there is one; that of a layer may name labels."""
    if not text:
        return ""
    words, quoted = _QUOTED.split(text), _QUOTED.findall(text)
    parts = [_word(words[0])]
    for name, after in zip(quoted, words[1:], strict=True):
        parts += [_code(name), _word(after)]
    return f"**{''.join(parts)}**"
