"""The rule language, printed and parsed.

::

    theory    = rules | layer { layer } [fallback]        one rule to a line, "#" begins a comment
    layer     = heading rules                             such as "layer 1:"; see headings.py
    fallback  = "rows without labels:" rules
    rules     = ["in any order:"] { rule }
    rule      = head "<-" body
    head      = part { "," part }
    part      = literal ["x" votes] ["(" right "/" wrong ")"] | "not others" | "*"
    body      = "true" | condition { "," condition }
    condition = literal | feature ("<=" | ">") number | feature ("=" | "!=") category
    literal   = ["not"] label

A bare name is a label and a comparison speaks of a feature. Names and categories that
are not plain words stand in double quotes, with backslash escapes. "not others" says that
every label not named is absent, "*" is the stop mark; "x3" are three votes, in a rule set. The
signs ``← ≤ ≠ ¬`` may be used too.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from labelrules.data.schema import Schema
from labelrules.rules.conditions import Body, Condition
from labelrules.rules.formats.language import (
    RuleParser,
    RuleSyntaxError,
    Style,
    Token,
    name_text,
    number_text,
    tokens,
)
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Evidence, Rule
from labelrules.rules.theory import DecisionList, RuleSet, Theory

# -------------------- The headings of layers, printed and parsed
# ::
#
#     heading   = "layer" number ["," way] ":"
#     way       = "until stable in at most" n "rounds"
#               | "label by label in at most" n "rounds" [", in the order" label { "," label }]
#               | "sampled" n "times after" n "rounds, seed" n
#
# A way belongs to the last layer. After it may come rules for rows in which no label was found,
# under the heading "rows without labels:".


def heading_text(number: int, way: Inference, schema: Schema, style: Style) -> str:
    """The line before the rules of a layer.

    Examples
    --------
    >>> heading_text(2, UntilStable(5), Schema([], ["a"]), "plain")
    'layer 2, until stable in at most 5 rounds:'
    """
    return ", ".join([f"layer {number}", *_way_parts(way, schema, style)]) + ":"


def way_text(way: Inference, schema: Schema, style: Style = "plain") -> str:
    """How a last layer is read.

    Examples
    --------
    >>> way_text(Once(), Schema([], ["a"]))
    'once'
    """
    return ", ".join(_way_parts(way, schema, style)) or "once"


def _way_parts(way: Inference, schema: Schema, style: Style) -> Iterator[str]:
    if isinstance(way, UntilStable):
        yield f"until stable in at most {_rounds(way.max_rounds)}"
    elif isinstance(way, LabelByLabel):
        yield f"label by label in at most {_rounds(way.max_rounds)}"
        if way.order is not None:
            names = [name_text(schema.labels[label], style) for label in way.order]
            yield f"in the order {', '.join(names)}"
    elif isinstance(way, Gibbs):
        yield f"sampled {way.n_samples} times after {_rounds(way.burn_in)}"
        yield f"seed {way.seed}"


def _rounds(number: int) -> str:
    return "1 round" if number == 1 else f"{number} rounds"


def is_heading(words: list[Token]) -> bool:
    """Whether a line names a layer; in a rule no number stands behind a label called "layer"."""
    first, second = words[0], words[1]
    named = (first.kind, first.text) == ("word", "layer")
    return named and second.kind == "word" and second.text[:1].isdigit()


NO_LABELS = "rows without labels:"


def is_fallback(words: list[Token]) -> bool:
    """Whether a line says that rules for rows without labels follow; no rule has two such words."""
    return [(word.kind, word.text) for word in words[:2]] == [("word", "rows"), ("word", "without")]


class HeadingParser(RuleParser):
    """Reads the heading of a layer from the tokens of one line."""

    def __init__(self, tokens: list[Token], schema: Schema, line: str, number: int) -> None:
        super().__init__(list(_with_colons_apart(tokens)), schema, line, number)

    def heading(self) -> tuple[int, Inference]:
        """The number of the layer, and how it is to be read."""
        self.take()
        number = self.count()
        way = self.way() if self.took("comma") else Once()
        if not self.said(":"):
            self.fail("expected a colon at the end of the heading of a layer")
        self.expect("end", "the end of the line")
        return number, way

    def fallback(self) -> None:
        """The heading of the rules for rows without labels."""
        if not self.said("rows without labels :"):
            self.fail(f"expected {NO_LABELS!r}, with a colon")
        self.expect("end", "the end of the line")

    def way(self) -> Inference:
        """How the last layer is read."""
        start = self.next
        try:
            return self.known_way()
        except RuleSyntaxError:
            raise
        except ValueError as problem:  # of the numbers or labels, which have no place of their own
            self.fail(str(problem), start)

    def known_way(self) -> Inference:
        """One of the ways there are."""
        if self.said("until stable in at most"):
            return UntilStable(self.rounds())
        if self.said("label by label in at most"):
            found = LabelByLabel(self.rounds(), self.order() if self.took("comma") else None)
            found.labels(self.schema.n_labels)
            return found
        if not self.said("sampled"):
            self.fail(
                "expected 'until stable in at most', 'label by label in at most' or 'sampled' "
                "after the number of the layer"
            )
        return self.sampling()

    def sampling(self) -> Gibbs:
        """How often the labels are drawn."""
        n_samples = self.count()
        if not self.said("times after"):
            self.fail("expected 'times after' and a number of rounds")
        burn_in = self.rounds()
        if not (self.took("comma") and self.said("seed")):
            self.fail("expected a comma, 'seed' and a number")
        return Gibbs(n_samples, burn_in, self.count())

    def rounds(self) -> int:
        """A number of rounds."""
        number = self.count()
        if not (self.said("rounds") or self.said("round")):
            self.fail("expected 'rounds' after their number")
        return number

    def order(self) -> list[int]:
        """The labels, in their order."""
        if not self.said("in the order"):
            self.fail("expected 'in the order' and the labels")
        labels = [self.label()]
        while self.took("comma"):
            labels.append(self.label())
        return labels

    def label(self) -> int:
        """A label by its name."""
        token = self.next
        label, value = self.literal()
        if not value:
            self.fail("expected a label", token)
        return label

    def said(self, text: str) -> bool:
        """Take these words if they come next."""
        words = text.split()
        coming = self.tokens[self.at : self.at + len(words)]
        found = [(token.kind, token.text) for token in coming] == [("word", word) for word in words]
        self.at += len(words) * found
        return found


def _with_colons_apart(tokens: list[Token]) -> Iterator[Token]:
    """A colon at the end of a word is a word of its own."""
    for token in tokens:
        if token.kind == "word" and token.text.endswith(":") and token.text != ":":
            yield Token("word", token.text[:-1], token.start)
            yield Token("word", ":", token.start + len(token.text) - 1)
        else:
            yield token


# ---------------------------------------------------------------- the main part

SPELLED_OUT = 8
"""More absent labels than this in a complete head are shortened to "not others"."""

ANY_ORDER = "in any order:"

CATEGORY_KEYWORDS = frozenset({"not"})
_SIGNS = {
    "plain": {"<-": "<-", "not": "not ", "<=": "<=", "!=": "!="},
    "unicode": {"<-": "←", "not": "¬", "<=": "≤", "!=": "≠"},
}


# ---------------------------------------------------------------- printing


def theory_text(theory: Theory, style: Style = "plain", evidence: bool = False) -> str:
    """A theory, one rule to a line, as `parse` reads it.

    Parameters
    ----------
    theory : Theory
    style : {"plain", "unicode", "ascii"}
        Signs in ASCII and names as they are; signs in Unicode; or all in ASCII,
        other characters of names escaped.
    evidence : bool, default=False
        Whether to show after each predicted label how often it was right / wrong. A layer that
        is sampled from shows it in any case: there it says how probable a label is.
    """
    if isinstance(theory, LayeredTheory):
        return _layers_text(theory, style, evidence)
    lines = [] if theory.ordered else [ANY_ORDER]
    lines += [rule_text(rule, theory.schema, style, evidence) for rule in theory]
    return "\n".join(lines)


def _layers_text(theory: LayeredTheory, style: Style, evidence: bool) -> str:
    lines = []
    last = len(theory.layers)
    for number, layer in enumerate(theory.layers, 1):
        way = theory.inference if number == last else Once()
        lines.append(heading_text(number, way, theory.schema, style))
        counts = evidence or isinstance(way, Gibbs)
        lines += [theory_text(layer, style, counts)] if len(layer) or not layer.ordered else []
    if theory.fallback is not None:
        lines.append(NO_LABELS)
        lines += [rule_text(rule, theory.schema, style, evidence) for rule in theory.fallback]
    return "\n".join(lines)


def rule_text(rule: Rule, schema: Schema, style: Style = "plain", evidence: bool = False) -> str:
    """One rule in the rule language; see `theory_text`.

    Examples
    --------
    >>> from labelrules import Head, load
    >>> schema = load("magazines").schema
    >>> rule = Rule(Head({0: 1, 1: 0}, 4), Body([Condition.equals(0, 2)]), stops=True)
    >>> rule_text(rule, schema)
    'quality, not tabloid, * <- education = University'
    >>> rule_text(rule, schema, style="unicode")
    'quality, ¬tabloid, * ← education = University'
    """
    arrow = _signs(style)["<-"]
    return (
        f"{head_text(rule, schema, style, evidence)} {arrow} {body_text(rule.body, schema, style)}"
    )


def body_text(body: Body, schema: Schema, style: Style = "plain") -> str:
    """The conditions of a body, or ``true``."""
    return ", ".join(condition_text(condition, schema, style) for condition in body) or "true"


def condition_text(condition: Condition, schema: Schema, style: Style = "plain") -> str:
    """One condition in the rule language."""
    if condition.on_label:
        return _literal_text(condition.column, int(condition.value), schema, style)
    feature = schema.features[condition.column]
    sign = _signs(style).get(condition.operator, condition.operator)
    if feature.categories is None:
        value = number_text(condition.value)
    else:
        value = name_text(
            feature.categories[int(condition.value)], style, keywords=CATEGORY_KEYWORDS
        )
    return f"{name_text(feature.name, style)} {sign} {value}"


def _signs(style: Style) -> dict[str, str]:
    if style not in ("plain", "unicode", "ascii"):
        raise ValueError(f"there is no style {style!r}: use 'plain', 'unicode' or 'ascii'")
    return _SIGNS["unicode" if style == "unicode" else "plain"]


def _literal_text(label: int, value: int, schema: Schema, style: Style) -> str:
    return ("" if value else _signs(style)["not"]) + name_text(schema.labels[label], style)


def head_text(rule: Rule, schema: Schema, style: Style = "plain", evidence: bool = False) -> str:
    """The head of a rule with its votes and its stop mark."""
    shown, others = head_parts(rule, evidence)
    parts = [
        _literal_text(part.label, part.value, schema, style)
        + (f" x{part.votes}" if part.votes > 1 else "")
        + (f" ({part.evidence.right}/{part.evidence.wrong})" if part.evidence else "")
        for part in shown
    ]
    if others:
        parts.append(_signs(style)["not"] + "others")
    return ", ".join([*parts, "*"] if rule.stops else parts)


class HeadPart(NamedTuple):
    """What a rule says of one label, and what is shown of it."""

    label: int
    value: int
    votes: int
    evidence: Evidence | None


def head_parts(rule: Rule, evidence: bool) -> tuple[list[HeadPart], bool]:
    """What is shown of a head, and whether "not others" is said instead of the absent labels."""
    counts = rule.evidence if evidence else None
    parts = [
        HeadPart(*said, count)
        for said, count in zip(rule.ballot, counts or (None,) * len(rule.head), strict=True)
    ]
    plain = counts is None and rule.votes is None
    n_absent = rule.head.values.count(0)
    if not (plain and rule.head.is_complete and n_absent > SPELLED_OUT):
        return parts, False
    return [part for part in parts if part.value], True


# ---------------------------------------------------------------- parsing


def parse(text: str, schema: Schema) -> Theory:
    r"""Read a theory: a decision list, a rule set, or layers of them.

    A rule set begins with the line "in any order:", a layer with its number: "layer 1:".

    Parameters
    ----------
    text : str
        One rule to a line.
    schema : Schema
        The features and labels that the rules speak of.

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
    return LayeredTheory(schema, layers, sections[-1].way, fallback)


@dataclass
class _Section:
    """The lines of a theory, or of one layer of it."""

    way: Inference = field(default_factory=Once)
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
        number, way = parser.heading()
        if number != len(sections):
            parser.fail(f"this is layer {len(sections)}, not {number}", parser.tokens[1])
        if sections[-1].way != Once():
            parser.fail("only the last layer says how it is read", parser.tokens[0])
        return cls(way)

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
