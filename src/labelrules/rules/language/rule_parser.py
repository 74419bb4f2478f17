"""Reading the rules of the rule language, each from the tokens of its lines."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import NoReturn

from labelrules._checks import quoted, suggestion
from labelrules.data.schema import Feature, Schema
from labelrules.data.times import TimeKind, example_of, read_time
from labelrules.rules.conditions import Body, Condition, Operator
from labelrules.rules.language.text import KEYWORDS, Token, fail_at, quoted_text
from labelrules.rules.rule import MOST_VOTES, Evidence, Head, Rule

_ASCII_OPERATORS: dict[str, Operator] = {
    "<=": "<=", "≤": "<=", ">": ">", "=": "=", "!=": "!=", "≠": "!=",
}  # fmt: skip

_OTHERS = ("not others", "no other label", "no label", "others")
"""What a head says of the labels that it does not name; the last with points."""


@dataclass
class _HeadParts:
    """The parts of a head: votes for and (negative) against the labels that it names, and marks."""

    named: dict[int, int] = field(default_factory=dict)
    others: int = 0
    none_at: Token | None = None
    stops: bool = False

    def ballot(self, n_labels: int) -> dict[int, int]:
        """The votes for and against every label of the head."""
        every = dict.fromkeys(range(n_labels), self.others) if self.others else {}
        return every | self.named


class LineParser:
    """Moves through the tokens of a line, or of several that belong together."""

    def __init__(
        self, tokens: list[Token], schema: Schema, lines: Sequence[str], number: int
    ) -> None:
        self.tokens = [token for token in tokens if token.kind != "note"]
        self.notes = [token for token in tokens if token.kind == "note"]
        self.schema = schema
        self.lines = lines
        self.number = number  # of the first line
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

    def took_words(self, text: str) -> bool:
        """Move past these words if they come next."""
        words = text.split()
        coming = self.tokens[self.at : self.at + len(words)]
        matches = [_word(token) for token in coming] == words
        self.at += len(words) * matches
        return matches

    def expect(self, kind: str, what: str) -> Token:
        """The next token, which must be of this kind."""
        if self.next.kind != kind:
            instead = f"not {quoted(self.next.text)}" if self.next.text else "but the line ends"
            self.fail(f"expected {what}, {instead}")
        return self.take()

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        """Raise an error at a token, the next one by default."""
        place = token or self.next
        fail_at(message, self.lines[place.row], self.number + place.row, place.start)

    def count(self) -> int:
        """A whole number."""
        token = self.expect("word", "a count")
        if not (token.text.isascii() and token.text.isdigit() and len(token.text) < 20):
            self.fail(f"{quoted(token.text)} is not a count", token)
        return int(token.text)

    def name(self, what: str) -> Token:
        """A word, or a text in quotes."""
        if self.next.kind in ("string", "label"):
            return self.take()
        token = self.expect("word", what)
        if token.text in KEYWORDS:
            self.fail(f"{quoted(token.text)} is not a name unless it stands in quotes", token)
        return token

    def label(self) -> int:
        """A label by its name, in quotes of either kind or in none."""
        token = self.name("a label")
        if token.text not in self.schema.label_index:
            if token.text in self.schema.feature_index:
                self.fail(f"{quoted(token.text)} is a feature; a label is needed here", token)
            if (token.kind, token.text) == ("word", "otherwise"):
                self.fail("a colon follows 'otherwise'", token)
            hint = suggestion(token.text, self.schema.labels)
            self.fail(f"there is no label {quoted(token.text)}{hint}", token)
        return self.schema.label_index[token.text]

    def comes_points(self) -> bool:
        """Whether a number with a sign comes next."""
        return self.next.kind == "word" and self.next.text[:1] in ("+", "-", "−")

    def points(self) -> int:
        """A whole number with a sign, as in +3."""
        token = self.expect("word", "points, such as +3 or -2")
        sign, digits = token.text[:1], token.text[1:]
        if sign not in ("+", "-", "−") or not (digits.isascii() and digits.isdigit()):
            self.fail(f"{quoted(token.text)} are no points, such as +3 or -2", token)
        if len(digits) > 9 or int(digits) > MOST_VOTES:
            self.fail(f"there are at most {MOST_VOTES:,} points, not {digits}", token)
        return int(digits) if sign == "+" else -int(digits)


class RuleParser(LineParser):
    """Reads one rule from the tokens of its lines."""

    is_otherwise = False
    """Whether the rule begins with "otherwise:", so that it has no body."""
    points_at: Token | None = None
    """The first points of the head, if it has any: only rules of a rule set have them."""

    def rule(self) -> Rule:
        """The rule."""
        self.is_otherwise = self.took_words("otherwise:") or self.took_words("otherwise :")
        parts = self.head()
        body = Body() if self.is_otherwise else self.body()
        counts = self.counts(list(parts.named)) if self.took("open") else {}
        self.end(body, bool(counts))
        ballot = sorted(parts.ballot(self.schema.n_labels).items())
        return Rule(
            Head({label: int(votes > 0) for label, votes in ballot}, self.schema.n_labels),
            body,
            parts.stops,
            tuple(counts.get(label) for label, _ in ballot) if counts else None,
            tuple(abs(votes) for _, votes in ballot),
            "\n".join(token.text for token in self.notes),
        )

    def end(self, body: Body, has_counts: bool) -> None:
        """The end of the line."""
        if self.is_otherwise and self.next.kind == "arrow":
            self.fail("a rule that begins with 'otherwise:' has no body: it is for every row")
        comma = not has_counts and (self.is_otherwise or bool(body))
        self.expect("end", "a comma or the end of the line" if comma else "the end of the line")

    def head(self) -> _HeadParts:
        """The labels with their votes, and the marks."""
        parts = _HeadParts()
        self.part(parts)
        while self.took("comma"):
            self.part(parts)
        if parts.none_at and parts.named:
            self.fail("beside labels write 'no other label', not 'no label'", parts.none_at)
        if not parts.named and not parts.others:
            self.fail("the head names no label", self.tokens[0])
        return parts

    def part(self, parts: _HeadParts) -> None:
        """A label, the other labels, or the stop mark."""
        start = self.next
        if self.took("star"):
            if parts.stops:
                self.fail("the stop mark is given twice", start)
            parts.stops = True
            return
        others = next((words for words in _OTHERS if self.took_words(words)), None)
        if others is None:
            self.named(parts, start)
            return
        if parts.others:
            self.fail("the other labels are given twice", start)
        parts.others = self.votes(start) if others == "others" else -1
        parts.none_at = start if others == "no label" else None

    def named(self, parts: _HeadParts, start: Token) -> None:
        """A label of the head, with not before it or points behind it."""
        is_absent = self.took("not")
        label = self.label()
        if label in parts.named:
            name = self.schema.labels[label]
            self.fail(f"the head names the label {quoted(name)} twice", start)
        if not self.comes_points():
            parts.named[label] = -1 if is_absent else 1
        elif is_absent:
            self.fail("points against a label have a minus sign, and there is no 'not' before it")
        else:
            parts.named[label] = self.votes(self.next)
        if self.next.kind == "open" and not self.is_otherwise:
            self.fail("the counts of right and wrong predictions come after the body")
        if self.next.kind == "word" and self.next.text[:1] == "x" and self.next.text[1:].isdigit():
            self.fail("points have a sign: +3 for a label, -3 against it")

    def votes(self, start: Token) -> int:
        """Points for or against a label."""
        points = self.points()
        if not points:
            self.fail(f"a rule gives from 1 to {MOST_VOTES:,} points, not 0", start)
        self.points_at = self.points_at or start
        return points

    def counts(self, named: list[int]) -> dict[int, Evidence | None]:
        """How often labels of the head were right and wrong, after the bracket.

        One count for all labels that the head names, or one for each, in their order.
        """
        start = self.tokens[self.at - 1]
        found = [self.evidence()]
        while self.took("comma"):
            found.append(self.evidence())
        self.expect("close", "a comma or a closing bracket")
        if len(found) == 1:
            found *= len(named)
        if not named:
            self.fail("counts are for labels that the head names, and this one names none", start)
        if len(found) != len(named):
            self.fail(
                f"expected one count for all labels that the head names, or {len(named)}, one for "
                f"each, not {len(found)}",
                start,
            )
        return dict(zip(named, found, strict=True))

    def evidence(self) -> Evidence | None:
        """The numbers of right and wrong predictions; a question mark if they are not known."""
        if self.took_words("?"):
            return None
        right = self.count()
        self.expect("slash", "a slash between the numbers of right and wrong predictions")
        return Evidence(right, self.count())

    def body(self) -> Body:
        """The conditions after the arrow."""
        self.expect("arrow", "a comma or <-")
        if self.took_words("true"):
            return Body()
        conditions = [self.condition()]
        while self.took("comma"):
            conditions.append(self.condition())
        return Body(conditions)

    def condition(self) -> Condition:
        """One condition, on a label or on a feature."""
        value = not self.took("not")
        token = self.name("a condition, or true")
        compared = value and (self.next.kind == "operator" or self.comes_set())
        if token.text in self.schema.feature_index:
            column = self.schema.feature_index[token.text]
            if token.kind == "label":
                self.fail(f"single quotes are for labels: {_is_feature(token.text)}", token)
            return self.comparison(column) if compared else self.presence(column, value, token)
        if token.text not in self.schema.label_index:
            self.unknown(token)
        if compared:
            self.fail(
                f"{quoted(token.text)} is a label: write its name, or not and its name", token
            )
        return Condition.label(self.schema.label_index[token.text], value)

    def comes_set(self) -> bool:
        """Whether "in" and a brace come next."""
        coming = self.tokens[self.at : self.at + 2]
        return [_word(coming[0]), coming[-1].kind] == ["in", "left"]

    def unknown(self, token: Token) -> NoReturn:
        """Fail at a name of nothing."""
        if (token.kind, token.text) == ("word", "otherwise"):
            self.fail("write 'otherwise:' before the labels, or '<- true'", token)
        hint = suggestion(token.text, [*self.schema.feature_names, *self.schema.labels])
        self.fail(f"there is no feature or label {quoted(token.text)}{hint}", token)

    def presence(self, column: int, value: bool, token: Token) -> Condition:
        """The presence or absence of a binary feature or amount, by its name in double quotes."""
        feature = self.schema.features[column]
        if feature.present_code is None and feature.kind != "amount":
            self.fail(f"{quoted(feature.name)} is a feature: compare it with a value", token)
        if token.kind != "string":
            self.fail(_is_feature(feature.name), token)
        if feature.present_code is None:
            return Condition(column, ">" if value else "<=", 0)
        return Condition.equals(column, feature.present_code if value else 1 - feature.present_code)

    def comparison(self, column: int) -> Condition:
        """The comparison of a feature with a value."""
        feature = self.schema.features[column]
        sign = self.take()
        operator = "in" if sign.text == "in" else _ASCII_OPERATORS[sign.text]
        if feature.is_nominal != (operator in ("=", "!=", "in")):
            right = "=, != or in" if feature.is_nominal else "<= or >"
            self.fail(f"{quoted(feature.name)} is {feature.kind}: compare it by {right}", sign)
        if operator == "in":
            return Condition.among(column, self.category_set(feature))
        if feature.categories is not None:
            return Condition(column, operator, self.category(feature))
        number = self.number_value() if feature.time is None else self.time_value(feature.time)
        return Condition(column, operator, number)

    def time_value(self, kind: TimeKind) -> int:
        """A date, a time or a duration, which may be of several words."""
        first = self.expect("word", example_of(kind))
        words = [first.text]
        while self.next.kind == "word":
            words.append(self.take().text)
        number = read_time(" ".join(words), kind)
        if number is None:
            self.fail(f"expected {example_of(kind)}, not {quoted(' '.join(words))}", first)
        return number

    def category_set(self, feature: Feature) -> list[int]:
        """The numbers of categories in braces."""
        self.expect("left", "categories in braces")
        codes: list[int] = []
        while not codes or self.took("comma"):
            token = self.next
            codes.append(self.category(feature))
            if codes[-1] in codes[:-1]:
                self.fail(f"the category {quoted(token.text)} is named twice", token)
        self.expect("right", "a comma or a closing brace")
        return codes

    def category(self, feature: Feature) -> int:
        """The number of a category, which comes next."""
        if self.next.kind == "label":
            self.fail("single quotes are for labels: a category stands in double quotes")
        token = self.take() if self.next.kind == "string" else self.expect("word", "a category")
        categories = feature.categories or ()
        if token.text not in categories:
            hint = suggestion(token.text, categories)
            some = ", ".join(quoted(category) for category in categories[:5])
            more = ", ..." if len(categories) > 5 else ""
            self.fail(
                f"{quoted(feature.name)} has no category {quoted(token.text)}{hint} "
                f"(it has {some}{more})",
                token,
            )
        return categories.index(token.text)

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


def _word(token: Token) -> str | None:
    """The word of a token, "not" for a sign of absence; None for another sign and in quotes."""
    return "not" if token.kind == "not" else token.text if token.kind == "word" else None


def _is_feature(name: str) -> str:
    written = quoted_text(name, '"')
    return f"{quoted(name)} is a feature: it stands in double quotes, as in {written}"
