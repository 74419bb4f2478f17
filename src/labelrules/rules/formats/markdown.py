"""Rules in Markdown: the rule language, with labels in bold.

There are no formulas and no HTML, so that the source reads well too. Names that are not plain
words are in quotes and in code spans. `parse` reads the text that a page shows.
"""

import re
from typing import Any

from labelrules.data.schema import Schema
from labelrules.rules.formats.latex import headed_parts
from labelrules.rules.formats.text import Notation
from labelrules.rules.rule import Rule
from labelrules.rules.theory import theory_of

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def theory_markdown(theory: Any, evidence: bool = False) -> str:
    r"""A theory as a Markdown list, numbered if its order matters.

    Each layer is a list of its own, below its heading in bold; so are rules in any order.

    Parameters
    ----------
    theory, evidence
        As for :func:`theory_text`.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "not sports (5/0) <- fashion\nquality <- education != Primary"
    >>> print(theory_markdown(parse(text, load("magazines").schema), evidence=True))
    1. not **sports** (5/0) ← **fashion**
    2. **quality** ← education ≠ Primary
    """
    lists = []
    for heading, part, counts in headed_parts(theory_of(theory), evidence):
        rules = "\n".join(
            f"{f'{number}.' if part.ordered else '-'} {rule_markdown(rule, part.schema, counts)}"
            for number, rule in enumerate(part, 1)
        )
        lists += [f"**{_heading(heading)}**", rules] if heading else [rules]
    return "\n\n".join(text for text in lists if text)


def rule_markdown(rule: Rule, schema: Schema, evidence: bool = False) -> str:
    r"""One rule in Markdown; see `theory_markdown`.

    Examples
    --------
    >>> from labelrules import load, parse_rule
    >>> schema = load("magazines").schema
    >>> print(rule_markdown(parse_rule("quality, * <- not tabloid", schema), schema))
    **quality**, \* ← not **tabloid**
    """
    return _MARKDOWN.rule(rule, schema, evidence)


class _Markdown(Notation):
    stop = r"\*"

    def label(self, name: str) -> str:
        return f"**{self.feature(name)}**"

    def absent(self, label: str) -> str:
        return f"not {label}"

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
    """Text in quotes as a code span; its fence is longer than any run of backticks in it."""
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}"


def _heading(text: str) -> str:
    """The heading of a layer, which may name labels."""
    words, quoted = _QUOTED.split(text), _QUOTED.findall(text)
    parts = [_word(words[0])]
    for name, after in zip(quoted, words[1:], strict=True):
        parts += [_code(name), _word(after)]
    return "".join(parts)
