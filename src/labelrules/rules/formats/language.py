"""Reading the lines of the rule language: rules, and headings of layers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Literal, NoReturn, TypeAlias

from labelrules._checks import quoted, suggestion
from labelrules.data.schema import Schema
from labelrules.rules.conditions import Body, Condition, Operator
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.rule import MOST_VOTES, Evidence, Head, Rule

Style: TypeAlias = Literal["plain", "unicode", "ascii"]

KEYWORDS = frozenset({"not", "true", "others"})

_BARE = re.compile(r"\w[\w.\-]*")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {text[1]: sign for sign, text in _ESCAPES.items()}


class RuleSyntaxError(ValueError):
    """An error in the text of a rule; the message shows its `line` and `column`, counted from 1."""

    def __init__(self, message: str, text: str, line: int, column: int) -> None:
        # A tab under a tab keeps the mark in place whatever the width of tabs.
        pointer = "".join("\t" if sign == "\t" else " " for sign in text[: column - 1]) + "^"
        super().__init__(f"line {line}, column {column}: {message}\n  {text}\n  {pointer}")
        self.problem, self.text, self.line, self.column = message, text, line, column

    def __reduce__(self) -> tuple[type, tuple[str, str, int, int]]:
        return (type(self), (self.problem, self.text, self.line, self.column))


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: 3.0 is '3'."""
    return repr(float(value)).removesuffix(".0")


def name_text(name: str, style: Style = "plain", keywords: frozenset[str] = KEYWORDS) -> str:
    """A name, in quotes unless it is a plain word and no keyword."""
    plain = _BARE.fullmatch(name) and name not in keywords
    if plain and (style != "ascii" or name.isascii()):
        return name
    return '"' + "".join(_escaped(sign, style) for sign in name) + '"'


def _escaped(sign: str, style: Style) -> str:
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign.isprintable() and (style != "ascii" or sign.isascii()):
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, sign or string of a line, and where it starts."""

    kind: str
    text: str
    start: int


_TOKEN = re.compile(
    r"""(?P<space>\s+) | (?P<comment>\#.*) | (?P<arrow><-|←) | (?P<operator><=|≤|!=|≠|>|=)
      | (?P<not>¬) | (?P<comma>,) | (?P<star>\*) | (?P<open>\() | (?P<close>\)) | (?P<slash>/)
      | (?P<string>"(?:[^"\\]|\\.)*") | (?P<word>[^\s,"()<>=!¬≤≠←*\#/]+)""",
    re.VERBOSE | re.DOTALL,
)
_PROBLEMS = {
    '"': "this quote is never closed",
    "<": "numbers are compared by <= or >, and <- stands before the body",
    "!": "a category is compared by = or !=, and a label is negated by not",
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


def tokens(line: str, number: int) -> Iterator[Token]:
    """Split a line into tokens; the last one marks its end."""
    place = 0
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None:
            problem = _PROBLEMS.get(line[place], "unexpected sign")
            fail_at(problem, line, number, place)
        kind = str(match.lastgroup)
        if kind == "string":
            yield Token(kind, _unescaped(match.group(), line, number, place), place)
        elif kind not in ("space", "comment"):
            is_not = kind == "word" and match.group() == "not"
            yield Token("not" if is_not else kind, match.group(), place)
        place = match.end()
    yield Token("end", "", place)


def _unescaped(text: str, line: str, number: int, place: int) -> str:
    def sign(match: re.Match[str]) -> str:
        code, long_code, letter = match.groups()
        if letter is None:
            value = int(code or long_code, 16)
            if value <= 0x10FFFF:
                return chr(value)
        elif letter in _UNESCAPES:
            return _UNESCAPES[letter]
        fail_at(f"unknown escape {match.group()}", line, number, place + 1 + match.start())

    return _ESCAPE.sub(sign, text[1:-1])


def fail_at(message: str, line: str, number: int, place: int) -> NoReturn:
    """Raise an error at a place of a line, counted from 0."""
    raise RuleSyntaxError(message, line, number, place + 1)


_ASCII_OPERATORS: dict[str, Operator] = {
    "<=": "<=", "≤": "<=", ">": ">", "=": "=", "!=": "!=", "≠": "!=",
}  # fmt: skip


class RuleParser:
    """Reads one rule from the tokens of one line."""

    def __init__(self, tokens: list[Token], schema: Schema, line: str, number: int) -> None:
        self.tokens = tokens
        self.schema = schema
        self.line = line
        self.number = number
        self.at = 0

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.tokens[self.at]

    def take(self) -> Token:
        """Return the next token and move on, but not past the end."""
        token = self.next
        self.at += token.kind != "end"
        return token

    def took(self, kind: str) -> bool:
        """Move on if the next token is of this kind."""
        matches = self.next.kind == kind
        self.at += matches
        return matches

    def expect(self, kind: str, what: str) -> Token:
        """The next token, which must be of this kind."""
        if self.next.kind != kind:
            instead = f"not {quoted(self.next.text)}" if self.next.text else "but the line ends"
            self.fail(f"expected {what}, {instead}")
        return self.take()

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise an error at a token, the next one by default."""
        fail_at(message, self.line, self.number, (token or self.next).start)

    def rule(self) -> Rule:
        """The rule that the line holds."""
        literals, evidence, votes, stops = self.head()
        self.expect("arrow", "a comma or <-")
        body = self.body()
        self.expect("end", "a comma or the end of the line" if body else "the end of the line")
        counts = [evidence[label] for label in sorted(literals) if label in evidence]
        if counts and len(counts) < len(literals):
            self.fail("either all labels of the head carry evidence or none", self.tokens[0])
        ballot = tuple(votes.get(label, 1) for label in sorted(literals))
        head = Head(literals, self.schema.n_labels)
        return Rule(head, body, stops, tuple(counts) or None, ballot)

    def head(self) -> tuple[dict[int, int], dict[int, Evidence], dict[int, int], bool]:
        """The labels with their values, evidence and votes, and whether there is a stop mark."""
        literals: dict[int, int] = {}
        evidence: dict[int, Evidence] = {}
        votes: dict[int, int] = {}
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
                if self.next.kind == "word":
                    votes[label] = self.votes()
                if self.took("open"):
                    evidence[label] = self.evidence()
            if not self.took("comma"):
                break
        if others:
            literals = {**dict.fromkeys(range(self.schema.n_labels), 0), **literals}
        if not literals:
            self.fail("the head names no label", self.tokens[0])
        return literals, evidence, votes, stops

    def others(self) -> bool:
        """Move past "not others" if it comes next."""
        following = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
        comes = self.next.kind == "not" and (following.kind, following.text) == ("word", "others")
        self.at += 2 * comes
        return comes

    def evidence(self) -> Evidence:
        """The counts of right and wrong predictions, after the bracket."""
        right = self.count()
        self.expect("slash", "a slash between the numbers of right and wrong predictions")
        wrong = self.count()
        self.expect("close", "a closing bracket")
        return Evidence(right, wrong)

    def votes(self) -> int:
        """A number of votes, as in x3."""
        token = self.take()
        sign, digits = token.text[:1], token.text[1:]
        if sign != "x" or not (digits.isascii() and digits.isdigit()):
            self.fail(f"expected a comma or <-, not {quoted(token.text)}", token)
        if len(digits) > 9 or not 1 <= int(digits) <= MOST_VOTES:
            self.fail(f"a rule casts from 1 to {MOST_VOTES:,} votes, not {digits}", token)
        return int(digits)

    def count(self) -> int:
        """A whole number."""
        token = self.expect("word", "a count")
        if not (token.text.isascii() and token.text.isdigit() and len(token.text) < 20):
            self.fail(f"{quoted(token.text)} is not a count", token)
        return int(token.text)

    def literal(self) -> tuple[int, int]:
        """A label, and whether it is present."""
        value = 0 if self.took("not") else 1
        token = self.name("a label")
        if token.text not in self.schema.label_index:
            if token.text in self.schema.feature_index:
                self.fail(f"{quoted(token.text)} is a feature; a label is needed here", token)
            hint = suggestion(token.text, self.schema.labels)
            self.fail(f"there is no label {quoted(token.text)}{hint}", token)
        return self.schema.label_index[token.text], value

    def name(self, what: str) -> Token:
        """A word, or a text in quotes."""
        if self.next.kind == "string":
            return self.take()
        token = self.expect("word", what)
        if token.text in KEYWORDS:
            self.fail(f"{quoted(token.text)} is not a name unless it stands in quotes", token)
        return token

    def body(self) -> Body:
        """The conditions up to the end of the line."""
        if (self.next.kind, self.next.text) == ("word", "true"):
            self.take()
            return Body()
        conditions = [self.condition()]
        while self.took("comma"):
            conditions.append(self.condition())
        return Body(conditions)

    def condition(self) -> Condition:
        """One condition, on a label or on a feature."""
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
        """The comparison of a feature with a value."""
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
        """A finite number."""
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


NO_LABELS = "rows without labels:"
"""The heading of the rules for rows in which no label is predicted."""


def is_heading(words: list[Token]) -> bool:
    """Whether a line is the heading of a layer; in a rule no number follows a label "layer"."""
    first, second = words[0], words[1]
    named = (first.kind, first.text) == ("word", "layer")
    return named and second.kind == "word" and second.text[:1].isdigit()


def is_fallback(words: list[Token]) -> bool:
    """Whether a line is the heading of rules for rows without labels."""
    return [(word.kind, word.text) for word in words[:2]] == [("word", "rows"), ("word", "without")]


class HeadingParser(RuleParser):
    """Reads the heading of a layer from the tokens of one line; only the last has an inference.

    ::

        heading   = "layer" number ["," inference] ":"
        inference = "until stable in at most" n "rounds"
                  | "label by label in at most" n "rounds" [", in the order" label { "," label }]
                  | "sampled" n "times after" n "rounds, seed" n
    """

    def __init__(self, tokens: list[Token], schema: Schema, line: str, number: int) -> None:
        super().__init__(list(_with_colons_apart(tokens)), schema, line, number)

    def heading(self) -> tuple[int, Inference]:
        """The number of the layer and its inference."""
        self.take()
        number = self.count()
        inference = self.inference() if self.took("comma") else Once()
        if not self.took_words(":"):
            self.fail("expected a colon at the end of the heading of a layer")
        self.expect("end", "the end of the line")
        return number, inference

    def fallback(self) -> None:
        """The heading of the rules for rows without labels."""
        if not self.took_words("rows without labels :"):
            self.fail(f"expected {NO_LABELS!r}, with a colon")
        self.expect("end", "the end of the line")

    def inference(self) -> Inference:
        """The inference of the last layer."""
        start = self.next
        try:
            if self.took_words("until stable in at most"):
                return UntilStable(self.rounds())
            if self.took_words("label by label in at most"):
                return self.label_by_label()
            if not self.took_words("sampled"):
                self.fail(
                    "expected 'until stable in at most', 'label by label in at most' or 'sampled' "
                    "after the number of the layer"
                )
            return self.sampling()
        except RuleSyntaxError:
            raise
        except ValueError as problem:  # of the numbers or labels, which have no place of their own
            self.fail(str(problem), start)

    def label_by_label(self) -> LabelByLabel:
        """A number of rounds, and perhaps an order of the labels."""
        inference = LabelByLabel(self.rounds(), self.order() if self.took("comma") else None)
        inference.labels(self.schema.n_labels)
        return inference

    def sampling(self) -> Gibbs:
        """The numbers of samples and of rounds before them, and the seed."""
        n_samples = self.count()
        if not self.took_words("times after"):
            self.fail("expected 'times after' and a number of rounds")
        burn_in = self.rounds()
        if not (self.took("comma") and self.took_words("seed")):
            self.fail("expected a comma, 'seed' and a number")
        return Gibbs(n_samples, burn_in, self.count())

    def rounds(self) -> int:
        """A number of rounds."""
        number = self.count()
        if not (self.took_words("rounds") or self.took_words("round")):
            self.fail("expected 'rounds' after their number")
        return number

    def order(self) -> list[int]:
        """The labels, in their order."""
        if not self.took_words("in the order"):
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

    def took_words(self, text: str) -> bool:
        """Move past these words if they come next."""
        words = [("word", word) for word in text.split()]
        coming = self.tokens[self.at : self.at + len(words)]
        matches = [(token.kind, token.text) for token in coming] == words
        self.at += len(words) * matches
        return matches


def _with_colons_apart(tokens: list[Token]) -> Iterator[Token]:
    """The tokens with a colon at the end of a word as a token of its own."""
    for token in tokens:
        if token.kind == "word" and token.text.endswith(":") and token.text != ":":
            yield Token("word", token.text[:-1], token.start)
            yield Token("word", ":", token.start + len(token.text) - 1)
        else:
            yield token
