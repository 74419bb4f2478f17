"""The rule language: theories as text, and theories from text.

::

    theory    = rules | layer { layer } [fallback]        one rule to a line, "#" begins a comment
    layer     = heading rules                             such as "layer 1:"; see HeadingParser
    fallback  = "rows without labels:" rules
    rules     = ["in any order:"] { rule }
    rule      = head "<-" body
    head      = part { "," part }
    part      = literal ["x" votes] ["(" right "/" wrong ")"] | "not others" | "*"
    body      = "true" | condition { "," condition }
    condition = literal | feature ("<=" | ">") number | feature ("=" | "!=") category
    literal   = ["not"] label

A bare name is a label, and features are compared with values. Names and categories that are not
plain words stand in double quotes, with backslash escapes. "not others" predicts every label that
is not named as absent, "*" is the stop mark, "x3" are three votes in a rule set. The signs
``← ≤ ≠ ¬`` may be used too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from labelrules._checks import one_of
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Body, Condition
from labelrules.rules.formats.language import (
    NO_LABELS,
    HeadingParser,
    RuleParser,
    Style,
    is_fallback,
    is_heading,
    name_text,
    number_text,
    tokens,
)
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import DecisionList, RuleSet, Theory, theory_of

SPELLED_OUT = 8
"""More absent labels than this in a complete head are shortened to "not others"."""

ANY_ORDER = "in any order:"

CATEGORY_KEYWORDS = frozenset({"not"})


def theory_text(theory: Any, style: Style = "plain", evidence: bool = False) -> str:
    """A theory, one rule to a line, as `parse` reads it.

    Parameters
    ----------
    theory : Theory or fitted learner
    style : {"plain", "unicode", "ascii"}
        Signs in ASCII and names as they are; signs in Unicode; or all in ASCII, other characters of
        names escaped.
    evidence : bool, default=False
        Whether to show after each predicted label how often it was right / wrong. A layer that is
        sampled from always shows it, since it gives the probability of a label.
    """
    theory = theory_of(theory)
    if isinstance(theory, LayeredTheory):
        return _layers_text(theory, style, evidence)
    lines = [] if theory.ordered else [ANY_ORDER]
    lines += [rule_text(rule, theory.schema, style, evidence) for rule in theory]
    return "\n".join(lines)


def _layers_text(theory: LayeredTheory, style: Style, evidence: bool) -> str:
    lines = []
    for heading, part in theory_parts(theory, style):
        counts = evidence or is_sampled(theory, part)
        lines += [heading, theory_text(part, style, counts)]
    return "\n".join(line for line in lines if line)


def theory_parts(theory: Theory, style: Style = "plain") -> Iterator[tuple[str, Theory]]:
    """The parts of a layered theory with their headings; any other theory without a heading."""
    if not isinstance(theory, LayeredTheory):
        yield "", theory
        return
    for number, layer in enumerate(theory.layers, 1):
        inference = theory.inference if number == len(theory.layers) else Once()
        yield heading_text(number, inference, theory.schema, style), layer
    if theory.fallback is not None:
        # Each of its rules stops the list, which need not be said.
        unmarked = (replace(rule, stops=False) for rule in theory.fallback)
        yield NO_LABELS, theory.fallback.with_rules(unmarked)


def is_sampled(theory: Theory, part: Theory) -> bool:
    """Whether labels are sampled from this part, which is the last layer."""
    return (
        isinstance(theory, LayeredTheory)
        and isinstance(theory.inference, Gibbs)
        and part is theory.layers[-1]
    )


def heading_text(number: int, inference: Inference, schema: Schema, style: Style) -> str:
    """The heading of a layer, such as "layer 2, until stable in at most 5 rounds:"."""
    return ", ".join([f"layer {number}", *_inference_parts(inference, schema, style)]) + ":"


def inference_text(inference: Inference, schema: Schema, style: Style = "plain") -> str:
    """The inference of a last layer, in words."""
    return ", ".join(_inference_parts(inference, schema, style)) or "once"


def _inference_parts(inference: Inference, schema: Schema, style: Style) -> Iterator[str]:
    if isinstance(inference, UntilStable):
        yield f"until stable in at most {_rounds(inference.max_rounds)}"
    elif isinstance(inference, LabelByLabel):
        yield f"label by label in at most {_rounds(inference.max_rounds)}"
        if inference.order is not None:
            names = [name_text(schema.labels[label], style) for label in inference.order]
            yield f"in the order {', '.join(names)}"
    elif isinstance(inference, Gibbs):
        yield f"sampled {inference.n_samples} times after {_rounds(inference.burn_in)}"
        yield f"seed {inference.random_state}"


def _rounds(number: int) -> str:
    return "1 round" if number == 1 else f"{number} rounds"


def rule_text(rule: Rule, schema: Schema, style: Style = "plain", evidence: bool = False) -> str:
    """One rule in the rule language; see `theory_text`.

    Examples
    --------
    >>> from labelrules import Head, load
    >>> rule = Rule(Head({0: 1, 1: 0}, 4), Body([Condition.equals(0, 2)]), stops=True)
    >>> rule_text(rule, load("magazines").schema)
    'quality, not tabloid, * <- education = University'
    >>> rule_text(rule, load("magazines").schema, style="unicode")
    'quality, ¬tabloid, * ← education = University'
    """
    return _notation(style).rule(rule, schema, evidence)


def head_text(rule: Rule, schema: Schema, style: Style = "plain", evidence: bool = False) -> str:
    """The head of a rule with its votes and its stop mark."""
    return _notation(style).head(rule, schema, evidence)


def body_text(body: Body, schema: Schema, style: Style = "plain") -> str:
    """The conditions of a body, or ``true``."""
    return _notation(style).body(body, schema)


def condition_text(condition: Condition, schema: Schema, style: Style = "plain") -> str:
    """One condition in the rule language."""
    return _notation(style).condition(condition, schema)


class Notation:
    """How a rule is written: the rule language, from which other formats differ in their signs."""

    arrow, true, others, stop = "<-", "true", "others", "*"
    votes, evidence = " x{}", " ({}/{})"
    operators: Mapping[str, str] = {}

    def __init__(self, style: Style) -> None:
        self.style: Style = style
        if style == "unicode":
            self.arrow, self.operators = "←", {"<=": "≤", "!=": "≠"}

    def rule(self, rule: Rule, schema: Schema, evidence: bool) -> str:
        """A whole rule."""
        return f"{self.head(rule, schema, evidence)} {self.arrow} {self.body(rule.body, schema)}"

    def head(self, rule: Rule, schema: Schema, evidence: bool) -> str:
        """A head; many absent labels of a complete one are shortened to "not others"."""
        counts = rule.evidence if evidence else None
        plain = counts is None and rule.votes is None
        short = plain and rule.head.is_complete and rule.head.values.count(0) > SPELLED_OUT
        parts = [
            self.literal(schema.labels[label], value)
            + (self.votes.format(votes) if votes > 1 else "")
            + (self.evidence.format(*count) if count else "")
            for (label, value, votes), count in zip(
                rule.ballot, counts or (None,) * len(rule.head), strict=True
            )
            if value or not short
        ]
        parts += [self.absent(self.others)] if short else []
        return ", ".join([*parts, self.stop] if rule.stops else parts)

    def body(self, body: Body, schema: Schema) -> str:
        """A body."""
        return ", ".join(self.condition(condition, schema) for condition in body) or self.true

    def condition(self, condition: Condition, schema: Schema) -> str:
        """A condition on a label or on a feature."""
        if condition.on_label:
            return self.literal(schema.labels[condition.column], int(condition.value))
        feature = schema.features[condition.column]
        operator = self.operators.get(condition.operator, condition.operator)
        if feature.categories is None:
            value = self.number(condition.value)
        else:
            value = self.category(feature.categories[int(condition.value)])
        return f"{self.feature(feature.name)} {operator} {value}"

    def literal(self, name: str, value: int) -> str:
        """A label, present or absent."""
        return self.label(name) if value else self.absent(self.label(name))

    def label(self, name: str) -> str:
        """The name of a label."""
        return name_text(name, self.style)

    def absent(self, label: str) -> str:
        """The absence of a label that is written already."""
        return f"¬{label}" if self.style == "unicode" else f"not {label}"

    def feature(self, name: str) -> str:
        """The name of a feature."""
        return name_text(name, self.style)

    def category(self, name: str) -> str:
        """The name of a category."""
        return name_text(name, self.style, CATEGORY_KEYWORDS)

    def number(self, value: float) -> str:
        """A threshold."""
        return number_text(value)


@cache
def _notation(style: Style) -> Notation:
    one_of(style, "style", ("plain", "unicode", "ascii"))
    return Notation(style)


def parse(text: str, schema: Schema) -> Theory:
    r"""Read a theory: a decision list, a rule set, or layers of them.

    The text has one rule to a line. A rule set begins with the line "in any order:", a layer with
    its number: "layer 1:".

    Raises
    ------
    RuleSyntaxError
        With the line and the column.

    Examples
    --------
    >>> from labelrules import load
    >>> schema = load("magazines").schema
    >>> theory = parse("quality <- sex = Female  # comment\nnot quality <- true", schema)
    >>> len(theory)
    2
    >>> parse("quality <- eduction = University", schema)
    Traceback (most recent call last):
        ...
    labelrules.rules.formats.language.RuleSyntaxError: line 1, column 12: there is no feature or
    label 'eduction'; did you mean 'education'?
      quality <- eduction = University
                 ^
    """
    _check_types(text, schema)
    sections = [_Section()]
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, 1):
        words = list(tokens(line, number))
        if len(words) == 1:
            continue
        if is_heading(words) or is_fallback(words):
            sections.append(_Section.after(sections, HeadingParser(words, schema, line, number)))
        else:
            sections[-1].read(RuleParser(words, schema, line, number))
    if len(sections) == 1:
        return sections[0].theory(schema)
    fallback = None
    if sections[-1].is_fallback:
        fallback = DecisionList(schema, sections.pop().rules)
    layers = [section.theory(schema) for section in sections[1:]]
    return LayeredTheory(schema, layers, sections[-1].inference, fallback)


@dataclass
class _Section:
    """The lines of a theory, or of one layer of it."""

    inference: Inference = field(default_factory=Once)
    kind: type[DecisionList | RuleSet] | None = None
    rules: list[Rule] = field(default_factory=list)
    is_fallback: bool = False

    @classmethod
    def after(cls, sections: list["_Section"], parser: HeadingParser) -> "_Section":
        if sections[-1].is_fallback:
            parser.fail("nothing comes after the rules for rows without labels", parser.tokens[0])
        if sections[0].kind is not None:
            parser.fail("rules stand before the heading of the first layer", parser.tokens[0])
        if is_fallback(parser.tokens):
            parser.fallback()
            if len(sections) == 1:
                parser.fail("rows without labels come after a layer", parser.tokens[0])
            return cls(is_fallback=True)
        number, inference = parser.heading()
        if number != len(sections):
            parser.fail(f"this is layer {len(sections)}, not {number}", parser.tokens[1])
        if sections[-1].inference != Once():
            parser.fail("only the last layer has an inference", parser.tokens[0])
        return cls(inference)

    def read(self, parser: RuleParser) -> None:
        if self.kind is None:
            start = parser.line.partition("#")[0].strip()
            if start + ":" == ANY_ORDER:
                parser.fail(f"a rule set begins with {ANY_ORDER!r}, with a colon", parser.tokens[0])
            self.kind = RuleSet if start == ANY_ORDER else DecisionList
            if self.kind is RuleSet:
                if self.is_fallback:
                    parser.fail("rules for rows without labels have an order", parser.tokens[0])
                return
        rule = parser.rule()
        if rule.stops and self.kind is RuleSet:
            parser.fail("a rule set has no order, so no rule can stop it", parser.tokens[0])
        if rule.votes is not None and self.kind is DecisionList:
            parser.fail(f"votes need a rule set, which begins with {ANY_ORDER!r}", parser.tokens[0])
        if rule.body.on_labels and self.is_fallback:
            parser.fail("rules for rows without labels test no labels", parser.tokens[0])
        self.rules.append(rule)

    def theory(self, schema: Schema) -> DecisionList | RuleSet:
        return (self.kind or DecisionList)(schema, self.rules)


def parse_rule(text: str, schema: Schema) -> Rule:
    """Read one rule.

    Examples
    --------
    >>> from labelrules import load
    >>> parse_rule("not sports <- fashion", load("magazines").schema).form.constraint
    'exclusion'
    """
    _check_types(text, schema)
    return RuleParser(list(tokens(text, 1)), schema, text, 1).rule()


def _check_types(text: object, schema: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"rules are parsed from text, not from {type(text).__name__}")
    if not isinstance(schema, Schema):
        raise TypeError(
            f"rules are parsed with a Schema, not with {type(schema).__name__}: give data.schema"
        )
