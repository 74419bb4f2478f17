"""The rule language, printed and parsed.

::

    theory    = ["in any order:"] { rule }                one rule to a line, "#" begins a comment
    rule      = head "<-" body
    head      = part { "," part }
    part      = literal ["(" right "/" wrong ")"] | "not others" | "*"
    body      = "true" | condition { "," condition }
    condition = literal | feature ("<=" | ">") number | feature ("=" | "!=") category
    literal   = ["not"] label

A bare name is a label and a comparison speaks of a feature. Names and categories that
are not plain words stand in double quotes, with backslash escapes. "not others" says that
every label not named is absent, "*" is the stop mark. The signs ``← ≤ ≠ ¬`` may be used too.
"""

from math import isfinite
from typing import NoReturn

from labelrules.data.errors import quoted, suggestion
from labelrules.data.schema import Schema
from labelrules.rules.body import Body
from labelrules.rules.condition import Condition, Operator
from labelrules.rules.head import Head
from labelrules.rules.rule import Evidence, Rule
from labelrules.rules.theory import DecisionList, RuleSet, Theory
from labelrules.rules.tokens import KEYWORDS, Style, Token, fail_at, name_text, number_text, tokens

SPELLED_OUT = 8
"""More absent labels than this in a complete head are shortened to "not others"."""

ANY_ORDER = "in any order:"

_NOT = frozenset({"not"})
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
        Whether to show after each predicted label how often it was right / wrong.
    """
    lines = [] if theory.ordered else [ANY_ORDER]
    lines += [rule_text(rule, theory.schema, style, evidence) for rule in theory]
    return "\n".join(lines)


def rule_text(rule: Rule, schema: Schema, style: Style = "plain", evidence: bool = False) -> str:
    """One rule in the rule language; see `theory_text`.

    Examples
    --------
    >>> from labelrules import load
    >>> schema = load("magazines").schema
    >>> rule = Rule(Head({0: 1, 1: 0}, 4), Body([Condition.equals(0, 2)]), stops=True)
    >>> rule_text(rule, schema)
    'quality, not tabloid, * <- education = University'
    >>> rule_text(rule, schema, style="unicode")
    'quality, ¬tabloid, * ← education = University'
    """
    arrow = _signs(style)["<-"]
    return (
        f"{_head_text(rule, schema, style, evidence)} {arrow} {body_text(rule.body, schema, style)}"
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
        value = name_text(feature.categories[int(condition.value)], style, keywords=_NOT)
    return f"{name_text(feature.name, style)} {sign} {value}"


def _signs(style: Style) -> dict[str, str]:
    if style not in ("plain", "unicode", "ascii"):
        raise ValueError(f"there is no style {style!r}: use 'plain', 'unicode' or 'ascii'")
    return _SIGNS["unicode" if style == "unicode" else "plain"]


def _literal_text(label: int, value: int, schema: Schema, style: Style) -> str:
    return ("" if value else _signs(style)["not"]) + name_text(schema.labels[label], style)


def _head_text(rule: Rule, schema: Schema, style: Style, evidence: bool) -> str:
    shown = list(rule.head)
    counts = rule.evidence if evidence else None
    n_absent = rule.head.values.count(0)
    shortened = counts is None and rule.head.is_complete and n_absent > SPELLED_OUT
    if shortened:
        shown = [(label, value) for label, value in shown if value]
    parts = [_literal_text(label, value, schema, style) for label, value in shown]
    if counts is not None:
        parts = [f"{part} ({e.right}/{e.wrong})" for part, e in zip(parts, counts, strict=True)]
    if shortened:
        parts.append(_signs(style)["not"] + "others")
    return ", ".join([*parts, "*"] if rule.stops else parts)


# ---------------------------------------------------------------- parsing


def parse(text: str, schema: Schema) -> Theory:
    r"""Read a theory: a decision list, or a rule set if it begins with "in any order:".

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
    labelrules.rules.tokens.RuleSyntaxError: line 1, column 12: there is no feature or label
    'eduction'; did you mean 'education'?
      quality <- eduction = University
                 ^
    """
    _check_types(text, schema)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    kind: type[Theory] | None = None
    rules = []
    for number, line in enumerate(lines, 1):
        words = list(tokens(line, number))
        if len(words) == 1:
            continue
        if kind is None:
            start = line.partition("#")[0].strip()
            if start + ":" == ANY_ORDER:
                fail_at(f"a rule set begins with {ANY_ORDER!r}, with a colon", line, number, 0)
            kind = RuleSet if start == ANY_ORDER else DecisionList
            if kind is RuleSet:
                continue
        rule = _Parser(words, schema, line, number).rule()
        if rule.stops and kind is RuleSet:
            fail_at("a rule set has no order, so no rule can stop it", line, number, 0)
        rules.append(rule)
    return (kind or DecisionList)(schema, rules)


def parse_rule(text: str, schema: Schema) -> Rule:
    """Read one rule.

    Examples
    --------
    >>> from labelrules import load
    >>> parse_rule("not sports <- fashion", load("magazines").schema).form.constraint
    'exclusion'
    """
    _check_types(text, schema)
    return _Parser(list(tokens(text, 1)), schema, text, 1).rule()


def _check_types(text: object, schema: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"rules are parsed from text, not from {type(text).__name__}")
    if not isinstance(schema, Schema):
        raise TypeError(
            f"rules are parsed with a Schema, not with {type(schema).__name__}: give data.schema"
        )


_ASCII_OPERATORS: dict[str, Operator] = {
    "<=": "<=", "≤": "<=", ">": ">", "=": "=", "!=": "!=", "≠": "!=",
}  # fmt: skip


class _Parser:
    """Reads one rule from the tokens of one line."""

    def __init__(self, tokens: list[Token], schema: Schema, line: str, number: int) -> None:
        self.tokens = tokens
        self.schema = schema
        self.line = line
        self.number = number
        self.at = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        token = self.next
        self.at += token.kind != "end"
        return token

    def took(self, kind: str) -> bool:
        found = self.next.kind == kind
        self.at += found
        return found

    def expect(self, kind: str, what: str) -> Token:
        if self.next.kind != kind:
            found = f"not {quoted(self.next.text)}" if self.next.text else "but the line ends"
            self.fail(f"expected {what}, {found}")
        return self.take()

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        fail_at(message, self.line, self.number, (token or self.next).start)

    def rule(self) -> Rule:
        literals, evidence, stops = self.head()
        self.expect("arrow", "a comma or <-")
        body = self.body()
        self.expect("end", "a comma or the end of the line" if body else "the end of the line")
        counts = [evidence[label] for label in sorted(literals) if label in evidence]
        if counts and len(counts) < len(literals):
            self.fail("either all labels of the head carry evidence or none", self.tokens[0])
        return Rule(Head(literals, self.schema.n_labels), body, stops, tuple(counts) or None)

    def head(self) -> tuple[dict[int, int], dict[int, Evidence], bool]:
        literals: dict[int, int] = {}
        evidence: dict[int, Evidence] = {}
        stops = others = False
        while True:
            start = self.next
            if self.took("star"):
                if stops:
                    self.fail("the stop mark is given twice", start)
                stops = True
            elif self.others():
                if others:
                    self.fail("'not others' is given twice", start)
                others = True
            else:
                label, value = self.literal()
                if label in literals:
                    name = self.schema.labels[label]
                    self.fail(f"the head names the label {quoted(name)} twice", start)
                literals[label] = value
                if self.took("open"):
                    evidence[label] = self.evidence()
            if not self.took("comma"):
                break
        if others:
            literals = {**dict.fromkeys(range(self.schema.n_labels), 0), **literals}
        if not literals:
            self.fail("the head names no label", self.tokens[0])
        return literals, evidence, stops

    def others(self) -> bool:
        following = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        found = self.next.kind == "not" and (following.kind, following.text) == ("word", "others")
        self.at += 2 * found
        return found

    def evidence(self) -> Evidence:
        right = self.count()
        self.expect("slash", "a slash between the numbers of right and wrong predictions")
        wrong = self.count()
        self.expect("close", "a closing bracket")
        return Evidence(right, wrong)

    def count(self) -> int:
        token = self.expect("word", "a count")
        if not (token.text.isascii() and token.text.isdigit() and len(token.text) < 20):
            self.fail(f"{quoted(token.text)} is not a count", token)
        return int(token.text)

    def literal(self) -> tuple[int, int]:
        value = 0 if self.took("not") else 1
        token = self.name("a label")
        if token.text not in self.schema.label_index:
            if token.text in self.schema.feature_index:
                self.fail(f"{quoted(token.text)} is a feature; a label is needed here", token)
            hint = suggestion(token.text, self.schema.labels)
            self.fail(f"there is no label {quoted(token.text)}{hint}", token)
        return self.schema.label_index[token.text], value

    def name(self, what: str) -> Token:
        if self.next.kind == "string":
            return self.take()
        token = self.expect("word", what)
        if token.text in KEYWORDS:
            self.fail(f"{quoted(token.text)} is not a name unless it stands in quotes", token)
        return token

    def body(self) -> Body:
        if (self.next.kind, self.next.text) == ("word", "true"):
            self.take()
            return Body()
        conditions = [self.condition()]
        while self.took("comma"):
            conditions.append(self.condition())
        return Body(conditions)

    def condition(self) -> Condition:
        if self.next.kind == "not":
            label, value = self.literal()
            return Condition.label(label, bool(value))
        token = self.name("a condition, or true")
        compared = self.next.kind == "operator"
        if token.text in self.schema.feature_index:
            if not compared:
                self.fail(f"{quoted(token.text)} is a feature: compare it with a value", token)
            return self.comparison(self.schema.feature_index[token.text])
        if token.text not in self.schema.label_index:
            hint = suggestion(token.text, [*self.schema.feature_names, *self.schema.labels])
            self.fail(f"there is no feature or label {quoted(token.text)}{hint}", token)
        if compared:
            self.fail(
                f"{quoted(token.text)} is a label: write its name, or not and its name", token
            )
        return Condition.label(self.schema.label_index[token.text])

    def comparison(self, column: int) -> Condition:
        feature = self.schema.features[column]
        sign = self.take()
        operator = _ASCII_OPERATORS[sign.text]
        if feature.categories is None:
            if operator in ("=", "!="):
                self.fail(f"{quoted(feature.name)} is numeric: compare it by <= or >", sign)
            return Condition(column, operator, self.number_value())
        if operator not in ("=", "!="):
            self.fail(f"{quoted(feature.name)} is nominal: compare it by = or !=", sign)
        token = self.take() if self.next.kind == "string" else self.expect("word", "a category")
        if token.text not in feature.categories:
            hint = suggestion(token.text, feature.categories)
            some = ", ".join(quoted(category) for category in feature.categories[:5])
            more = ", ..." if len(feature.categories) > 5 else ""
            self.fail(
                f"{quoted(feature.name)} has no category {quoted(token.text)}{hint} "
                f"(it has {some}{more})",
                token,
            )
        return Condition(column, operator, feature.categories.index(token.text))

    def number_value(self) -> float:
        if self.next.text == "=":
            self.fail("numbers are compared by <= or >; for >= take the next smaller number and >")
        token = self.expect("word", "a number")
        try:
            value = float(token.text)
        except ValueError:
            self.fail(f"{quoted(token.text)} is not a number", token)
        if not isfinite(value) or "_" in token.text or not token.text.isascii():
            self.fail(f"{quoted(token.text)} is not a finite number", token)
        return value
