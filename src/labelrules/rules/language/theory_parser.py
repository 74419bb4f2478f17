"""Reading theories: sections of rules below their headings.

::

    theory    = rules [fallback] | layer { layer } [fallback]
    layer     = heading rules
    fallback  = "if no label was found:" { rule }
    rules     = { rule } | "in any order:" { rule } [usual] [one]
    usual     = "usual label sets:" { "{" [label { "," label }] "}" points }
    one       = "if no label was found: the label with the most points"

Each rule, heading and label set begins a line, and one that ends with a comma goes on in the next
line; "#" begins a comment. For the rules see
`labelrules.rules.language.text`, for the headings of layers `HeadingParser`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from labelrules.data.schema import Schema
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.language.rule_parser import LineParser, RuleParser
from labelrules.rules.language.text import (
    ANY_ORDER,
    MOST_POINTS,
    NO_LABEL,
    USUAL_SETS,
    RuleSyntaxError,
    Token,
    tokens,
)
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Rule
from labelrules.rules.theory import DecisionList, LabelSet, RuleSet, Theory


def parse(text: str, schema: Schema) -> Theory:
    r"""Read a theory: a decision list, a rule set, or layers of them.

    The text has one rule to a line; a line that ends with a comma goes on in the next. A rule set
    begins with the line "in any order:", a layer with its number: "layer 1:". Rules for rows
    without a label stand at the end, below the line "if no label was found:". A comment that begins
    with "note:", at the end of a rule or in a line before it, is the note of the rule.

    Raises
    ------
    RuleSyntaxError
        With the line and the column.

    Examples
    --------
    >>> from labelrules import load
    >>> schema = load("magazines").schema
    >>> theory = parse("quality <- sex = Female  # comment\notherwise: not quality", schema)
    >>> len(theory)
    2
    >>> parse("quality <- sex = Female  # note: asked again in May", schema)[0].note
    'asked again in May'
    >>> parse("quality <- eduction = University", schema)
    Traceback (most recent call last):
        ...
    labelrules.rules.language.text.RuleSyntaxError: line 1, column 12: there is no feature or
    label 'eduction'; did you mean 'education'?
      quality <- eduction = University
                 ^
    """
    _check_types(text, schema)
    sections = [_Section()]
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    for words, its_lines, number in _joined(lines):
        _read_line(sections, HeadingParser(words, schema, its_lines, number))
    fallback = None
    if sections[-1].is_fallback:
        fallback = DecisionList(schema, sections.pop().rules)
    if len(sections) == 1:
        theory = sections[0].theory(schema)
        return theory if fallback is None else LayeredTheory(schema, [theory], fallback=fallback)
    layers = [section.theory(schema) for section in sections[1:]]
    return LayeredTheory(schema, layers, sections[-1].inference, fallback)


def parse_rule(text: str, schema: Schema) -> Rule:
    """Read one rule.

    Examples
    --------
    >>> from labelrules import load
    >>> parse_rule("not sports <- fashion", load("magazines").schema).form.constraint
    'exclusion'
    """
    _check_types(text, schema)
    return RuleParser(list(tokens(text, 1)), schema, [text], 1).rule()


def _joined(lines: list[str]) -> Iterator[tuple[list[Token], list[str], int]]:
    """The tokens of lines that belong together, these lines, and the number of the first.

    An empty line belongs to no other one; a note alone belongs to the next.
    """
    words: list[Token] = []
    first = 1
    for number, line in enumerate(lines, 1):
        first = first if words else number
        found = list(tokens(line, number, number - first))
        if len(found) > 1:
            words = [*words[:-1], *found]  # but for the end of the line before
            if _goes_on(found):
                continue
        if words:
            yield words, lines[first - 1 : number], first
            words = []
    if words:
        yield words, lines[first - 1 :], first


def _goes_on(found: list[Token]) -> bool:
    """Whether the next line belongs to a line: after a comma, or a note alone."""
    spoken = [token.kind for token in found[:-1] if token.kind != "note"]
    return not spoken or spoken[-1] == "comma"


def _check_types(text: object, schema: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"rules are parsed from text, not from {type(text).__name__}")
    if not isinstance(schema, Schema):
        raise TypeError(
            f"rules are parsed with a Schema, not with {type(schema).__name__}: give data.schema"
        )


def _read_line(sections: list["_Section"], parser: "HeadingParser") -> None:
    """Read a heading, which may begin a section, or add a line to the last section."""
    if parser.notes and not parser.is_rule:
        parser.fail("a note stands at the end of a rule, or in the line before it", parser.notes[0])
    if parser.is_layer:
        sections.append(_Section.layer(sections, parser))
    elif not parser.is_no_label:
        sections[-1].read(parser)
    elif parser.no_label():
        sections[-1].give_one(parser)
    else:
        sections.append(_Section.fallback(sections, parser))


@dataclass
class _Section:
    """The lines of a theory, or of one layer of it."""

    inference: Inference = field(default_factory=Once)
    kind: type[DecisionList | RuleSet] | None = None
    rules: list[Rule] = field(default_factory=list)
    label_sets: list[LabelSet] | None = None
    at_least_one: bool = False
    is_fallback: bool = False
    is_closed: bool = False

    @classmethod
    def layer(cls, sections: list["_Section"], parser: "HeadingParser") -> "_Section":
        if sections[-1].is_fallback:
            parser.fail(f"nothing comes after the rules below {NO_LABEL!r}", parser.tokens[0])
        if sections[0].kind is not None:
            parser.fail("rules stand before the heading of the first layer", parser.tokens[0])
        number, inference = parser.heading()
        if number != len(sections):
            parser.fail(f"this is layer {len(sections)}, not {number}", parser.tokens[1])
        if sections[-1].inference != Once():
            parser.fail("only the last layer has an inference", parser.tokens[0])
        return cls(inference)

    @classmethod
    def fallback(cls, sections: list["_Section"], parser: "HeadingParser") -> "_Section":
        if sections[-1].is_fallback:
            parser.fail(f"nothing comes after the rules below {NO_LABEL!r}", parser.tokens[0])
        return cls(kind=DecisionList, is_fallback=True)

    def read(self, parser: "HeadingParser") -> None:
        """A rule, a label set, or the heading of rules in any order or of label sets."""
        if parser.is_any_order:
            self._any_order(parser)
        elif parser.is_usual_sets:
            self._usual_sets(parser)
        elif parser.next.kind == "left":
            self._label_set(parser)
        else:
            self._rule(RuleParser(*parser.source))

    def give_one(self, parser: "HeadingParser") -> None:
        """The line after which rows without labels get one."""
        self._check_set(parser, f"{MOST_POINTS!r} needs")
        if self.at_least_one:
            parser.fail("this line is given twice", parser.tokens[0])
        self.at_least_one = True

    def _any_order(self, parser: "HeadingParser") -> None:
        parser.end_of_heading(ANY_ORDER)
        if self.is_fallback:
            parser.fail(f"the rules below {NO_LABEL!r} have an order", parser.tokens[0])
        if self.kind is not None:
            parser.fail(f"{ANY_ORDER!r} is the first line of a rule set", parser.tokens[0])
        self.kind = RuleSet

    def _usual_sets(self, parser: "HeadingParser") -> None:
        parser.end_of_heading(USUAL_SETS)
        self._check_set(parser, "usual label sets need")
        if self.label_sets is not None:
            parser.fail(f"{USUAL_SETS!r} is given twice", parser.tokens[0])
        self.label_sets = []

    def _label_set(self, parser: "HeadingParser") -> None:
        if self.label_sets is None:
            parser.fail(f"label sets stand below {USUAL_SETS!r}", parser.tokens[0])
        found = parser.label_set()
        if any(found.labels == other.labels for other in self.label_sets):
            parser.fail("this label set is given twice", parser.tokens[0])
        self.label_sets.append(found)

    def _check_set(self, parser: LineParser, what: str, token: Token | None = None) -> None:
        if self.kind is not RuleSet:
            message = f"{what} a rule set, which begins with {ANY_ORDER!r}"
            parser.fail(message, token or parser.tokens[0])

    def _rule(self, parser: RuleParser) -> None:
        self.kind = self.kind or DecisionList
        rule, start = parser.rule(), parser.tokens[0]
        if self.kind is RuleSet:
            self._check_of_set(rule, parser)
        elif parser.points_at is not None:
            self._check_set(parser, "points need", parser.points_at)
        elif self.is_closed and not parser.is_otherwise:
            parser.fail("no rule comes after 'otherwise:'; before others write '<- true'", start)
        if rule.body.on_labels and self.is_fallback:
            parser.fail(f"the rules below {NO_LABEL!r} test no labels", start)
        self.is_closed = parser.is_otherwise
        self.rules.append(rule)

    def _check_of_set(self, rule: Rule, parser: RuleParser) -> None:
        start = parser.tokens[0]
        if rule.stops:
            parser.fail("a rule set has no order, so no rule can stop it", start)
        if parser.is_otherwise:
            parser.fail("a rule set has no order, so nothing is otherwise: write '<- true'", start)
        if self.label_sets is not None or self.at_least_one:
            parser.fail("the rules of a set come before its label sets and its last line", start)

    def theory(self, schema: Schema) -> DecisionList | RuleSet:
        if self.kind is RuleSet:
            return RuleSet(schema, self.rules, self.label_sets or (), self.at_least_one)
        return DecisionList(schema, self.rules)


class HeadingParser(LineParser):
    """Reads the heading of a layer from the tokens of one line; only the last has an inference.

    ::

        heading   = "layer" number ["," inference] ":"
        inference = "until stable in at most" n "rounds"
                  | "label by label in at most" n "rounds" [", in the order" label { "," label }]
                  | "sampled" n "times after" n "rounds, seed" n

    In a rule no word follows another one, so that labels may be called like words of a heading.
    """

    def __init__(
        self, tokens: list[Token], schema: Schema, lines: Sequence[str], number: int
    ) -> None:
        super().__init__(list(_with_colons_apart(tokens)), schema, lines, number)
        self.source = tokens, schema, lines, number

    def _begins(self, *words: str) -> bool:
        return [(t.kind, t.text) for t in self.tokens[: len(words)]] == [
            ("word", word) for word in words
        ]

    @property
    def is_rule(self) -> bool:
        """Whether the line is a rule, and neither empty nor a heading nor a label set."""
        if self.next.kind in ("end", "left") or self.is_layer:
            return False
        return not (self.is_no_label or self.is_any_order or self.is_usual_sets)

    @property
    def is_layer(self) -> bool:
        """Whether the line is the heading of a layer."""
        second = self.tokens[1]
        return self._begins("layer") and second.kind == "word" and second.text[:1].isdigit()

    @property
    def is_no_label(self) -> bool:
        """Whether the line says what happens if no label was found."""
        return self._begins("if", "no")

    @property
    def is_any_order(self) -> bool:
        """Whether the line begins a rule set."""
        return self._begins("in", "any")

    @property
    def is_usual_sets(self) -> bool:
        """Whether the line is the heading of label sets."""
        return self._begins("usual", "label")

    def end_of_heading(self, heading: str) -> None:
        """A heading of fixed words, and the end of the line."""
        if not self.took_words(heading.replace(":", " :")):
            self.fail(f"expected {heading!r}, with a colon")
        self.expect("end", "the end of the line")

    def no_label(self) -> bool:
        """Whether rows without labels get one by points, and not by rules below this heading."""
        by_points = self.took_words(NO_LABEL.replace(":", " :") + " " + MOST_POINTS)
        if not by_points and not self.took_words(NO_LABEL.replace(":", " :")):
            self.fail(f"expected {NO_LABEL!r}, with a colon")
        self.expect("end", f"the end of the line, or {MOST_POINTS!r}")
        return by_points

    def label_set(self) -> LabelSet:
        """Labels in braces, and the points for having just them."""
        self.take()
        labels = [] if self.next.kind == "right" else [self.label()]
        while self.took("comma"):
            start = self.next
            labels.append(self.label())
            if labels[-1] in labels[:-1]:
                self.fail(f"the set names {self.schema.labels[labels[-1]]!r} twice", start)
        self.expect("right", "a comma or a closing brace")
        points = self.points()
        self.expect("end", "the end of the line")
        return LabelSet(tuple(sorted(labels)), points)

    def heading(self) -> tuple[int, Inference]:
        """The number of the layer and its inference."""
        self.take()
        number = self.count()
        inference = self.inference() if self.took("comma") else Once()
        if not self.took_words(":"):
            self.fail("expected a colon at the end of the heading of a layer")
        self.expect("end", "the end of the line")
        return number, inference

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


def _with_colons_apart(tokens: list[Token]) -> Iterator[Token]:
    """The tokens with a colon at the end of a word as a token of its own."""
    for token in tokens:
        if token.kind == "word" and token.text.endswith(":") and token.text != ":":
            yield replace(token, text=token.text[:-1])
            yield replace(token, text=":", start=token.start + len(token.text) - 1)
        else:
            yield token
