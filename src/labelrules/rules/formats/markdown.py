"""Rules in Markdown: the rule language, with labels in bold.

It is made to be read as it stands and as a page, in a README, a wiki or a notebook, so there are
no formulas and no HTML. Names that are not plain words stand in quotes, as in the rule language,
and in code spans, where no sign has a meaning. What a page shows can be given to `parse`.
"""

import re

from labelrules.data.schema import Schema
from labelrules.rules.conditions import Condition
from labelrules.rules.formats.language import KEYWORDS, name_text, number_text
from labelrules.rules.formats.latex import headed_parts
from labelrules.rules.formats.text import CATEGORY_KEYWORDS, head_parts
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory

_SIGNS = {"<=": "≤", ">": ">", "=": "=", "!=": "≠"}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def theory_markdown(theory: Theory, evidence: bool = False) -> str:
    r"""A theory as a Markdown list, numbered if its order matters.

    Each layer is a list of its own, below its heading in bold; so are rules in any order.

    Parameters
    ----------
    theory : Theory
    evidence : bool, default=False
        Whether to show after each predicted label how often it was right / wrong. A layer that
        is sampled from shows it in any case: there it says how probable a label is.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "not sports (5/0) <- fashion\nquality <- education != Primary"
    >>> print(theory_markdown(parse(text, load("magazines").schema), evidence=True))
    1. not **sports** (5/0) ← **fashion**
    2. **quality** ← education ≠ Primary
    """
    lists = []
    for heading, part, counts in headed_parts(theory, evidence):
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
    shown, others = head_parts(rule, evidence)
    parts = [
        _literal(part.label, part.value, schema)
        + (f" x{part.votes}" if part.votes > 1 else "")
        + (f" ({part.evidence.right}/{part.evidence.wrong})" if part.evidence else "")
        for part in shown
    ]
    parts += ["not others"] if others else []
    parts += [r"\*"] if rule.stops else []
    body = ", ".join(_condition(condition, schema) for condition in rule.body)
    return f"{', '.join(parts)} ← {body or 'true'}"


def _literal(label: int, value: int, schema: Schema) -> str:
    return ("" if value else "not ") + f"**{_name(schema.labels[label])}**"


def _condition(condition: Condition, schema: Schema) -> str:
    if condition.on_label:
        return _literal(condition.column, int(condition.value), schema)
    feature = schema.features[condition.column]
    if feature.categories is None:
        value = number_text(condition.value)
    else:
        value = _name(feature.categories[int(condition.value)], CATEGORY_KEYWORDS)
    return f"{_name(feature.name)} {_SIGNS[condition.operator]} {value}"


def _name(name: str, keywords: frozenset[str] = KEYWORDS) -> str:
    text = name_text(name, "unicode", keywords)
    return _word(text) if text == name else _code(text)


def _word(text: str) -> str:
    """Plain words; of their signs only the underscore could mean something."""
    return text.replace("_", r"\_")


def _code(text: str) -> str:
    """Text in quotes as a code span; its fence is longer than any row of backticks in it."""
    fence = "`" * (1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    return f"{fence}{text}{fence}"


def _heading(text: str) -> str:
    """The heading of a layer, which may name labels."""
    words, quoted = _QUOTED.split(text), _QUOTED.findall(text)
    parts = [_word(words[0])]
    for name, after in zip(quoted, words[1:], strict=True):
        parts += [_code(name), _word(after)]
    return "".join(parts)
