"""The rule language: theories as text, which `parse` reads back.

::

    rule      = (head "<-" body | "otherwise:" head) [counts] ["# note:" text]
    head      = part { "," part }
    part      = ["not"] label | label points | "not others" | "others" points
              | "no other label" | "no label" | "*"
    body      = "true" | condition { "," condition }
    condition = ["not"] label | ["not"] binary feature or amount
              | feature ("<=" | ">") (number | date | time | duration | category)
              | feature ("=" | "!=") category
              | feature "in" "{" category { "," category } "}"
    counts    = "(" count { "," count } ")"
    count     = right "/" wrong | "?"
    points    = ("+" | "-") number

For whole theories see `labelrules.rules.language.theory_parser`. A label is a bare name, in single
quotes if it is no plain word. The name of a binary feature, whose categories are 0 and 1 or False
and True, stands in double quotes and means 1, that of an amount means that it is above 0. A date
is written as 2018-12-30, a time as 2018-12-30T14:00, in UTC with a Z behind it, and a duration as
3 days 4 h 30 min 5.5 s. Other features are compared with values, and their
names and categories stand in double quotes if they are no plain words. "not others" and "no other
label" predict every label that is not named as absent, "*" is the stop mark. The signs ``← ≤ ≠ ¬``
may be used too. What follows "#" is a comment; one that begins with "note:" is kept with the rule.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from labelrules._checks import one_of
from labelrules.data.schema import Feature, Schema
from labelrules.rules.conditions import Body, Condition
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.layered_theory import LayeredTheory
from labelrules.rules.rule import Evidence, Rule
from labelrules.rules.theory import LabelSet, RuleSet, Theory, theory_of

# -------------------------------------------------------------------- words

Style: TypeAlias = Literal["plain", "unicode", "ascii"]
KEYWORDS = frozenset({"not", "true", "others"})
_BARE = re.compile(r"\w[\w.\-]*")
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNESCAPES = {"'": "'", '"': '"', **{text[1]: sign for sign, text in _ESCAPES.items()}}
_SHOWN = 160
"""Characters of a line that an error shows."""
ANY_ORDER = "in any order:"
"""The first line of a rule set."""
USUAL_SETS = "usual label sets:"
"""The heading of the label sets at the end of a rule set."""
NO_LABEL = "if no label was found:"
"""The heading of the rules for rows in which no label was found."""
MOST_POINTS = "the label with the most points"
"""What follows this heading on the same line, at the end of a rule set, in place of rules."""
OTHERWISE = "otherwise:"
"""The first word of a rule with an empty body at the end of a list."""


class RuleSyntaxError(ValueError):
    """An error in the text of a rule; the message shows its `line` and `column`, counted from 1."""

    def __init__(self, message: str, text: str, line: int, column: int) -> None:
        shown, place = _excerpt(text, column - 1)
        # A tab under a tab keeps the mark in place whatever the width of tabs.
        pointer = "".join("\t" if sign == "\t" else " " for sign in shown[:place]) + "^"
        super().__init__(f"line {line}, column {column}: {message}\n  {shown}\n  {pointer}")
        self.problem, self.text, self.line, self.column = message, text, line, column

    def __reduce__(self) -> tuple[type, tuple[str, str, int, int]]:
        return (type(self), (self.problem, self.text, self.line, self.column))


def _excerpt(text: str, place: int) -> tuple[str, int]:
    """The part of a long line around a place, and where the place is in it."""
    start = max(0, place - _SHOWN // 2) if len(text) > _SHOWN else 0
    before, after = "..." * (start > 0), "..." * (start + _SHOWN < len(text))
    return before + text[start : start + _SHOWN] + after, place - start + len(before)


def number_text(value: float) -> str:
    """The shortest text that reads back as the same number: 3.0 is '3'."""
    return repr(float(value)).removesuffix(".0")


def name_text(name: str, style: Style = "plain", keywords: frozenset[str] = KEYWORDS) -> str:
    """The name of a feature or category, in double quotes unless it is a plain word."""
    return name if _is_bare(name, style, keywords) else quoted_text(name, '"', style)


def label_text(name: str, style: Style = "plain") -> str:
    """The name of a label, in single quotes unless it is a plain word."""
    return name if _is_bare(name, style, KEYWORDS) else quoted_text(name, "'", style)


def _is_bare(name: str, style: Style, keywords: frozenset[str]) -> bool:
    is_word = bool(_BARE.fullmatch(name)) and name not in keywords
    return is_word and (style != "ascii" or name.isascii())


def quoted_text(name: str, quote: str, style: Style = "plain") -> str:
    """A name in quotes of this kind, with escapes."""
    return quote + "".join(_escaped(sign, quote, style) for sign in name) + quote


def note_text(note: str, style: Style = "plain") -> str:
    """A note as a comment on one line, with escapes."""
    return "# note: " + "".join(_escaped(sign, "", style) for sign in note)


def _escaped(sign: str, quote: str, style: Style) -> str:
    if sign == quote:
        return f"\\{sign}"
    if sign in _ESCAPES:
        return _ESCAPES[sign]
    if sign.isprintable() and (style != "ascii" or sign.isascii()):
        return sign
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"


@dataclass(frozen=True, slots=True)
class Token:
    """A word, sign or text in quotes, and where it starts: in which of several lines, and there.

    The kind of a text in double quotes is "string", in single quotes "label".
    """

    kind: str
    text: str
    start: int
    row: int = 0


_TOKEN = re.compile(
    r"""(?P<space>\s+) | (?P<note>\#\s*note:.*) | (?P<comment>\#.*)
      | (?P<arrow><-|←) | (?P<operator><=|≤|!=|≠|>|=)
      | (?P<not>¬) | (?P<comma>,) | (?P<star>\*) | (?P<open>\() | (?P<close>\)) | (?P<slash>/)
      | (?P<left>\{) | (?P<right>\})
      | (?P<string>"(?:[^"\\]|\\.)*") | (?P<label>'(?:[^'\\]|\\.)*')
      | (?P<word>[^\s,"'(){}<>=!¬≤≠←*\#/][^\s,"(){}<>=!¬≤≠←*\#/]*)""",
    re.VERBOSE | re.DOTALL,
)
_PROBLEMS = {
    '"': "this quote is never closed",
    "'": "this quote is never closed",
    "<": "numbers are compared by <= or >, and <- stands before the body",
    "!": "a category is compared by = or !=, and a label is negated by not",
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)


def tokens(line: str, number: int, row: int = 0) -> Iterator[Token]:
    """Split a line into tokens; the last one marks its end. `row` is its place among several.

    A note, which is a comment that begins with "note:", is the last but one.
    """
    place = 0
    while place < len(line):
        match = _TOKEN.match(line, place)
        if match is None:
            problem = _PROBLEMS.get(line[place], "unexpected sign")
            fail_at(problem, line, number, place)
        kind = str(match.lastgroup)
        if kind in ("string", "label"):
            text = _unescaped(match.group()[1:-1], line, number, place + 1)
            yield Token(kind, text, place, row)
        elif kind == "note":
            start = place + match.group().index(":") + 1
            yield Token(kind, _unescaped(line[start:], line, number, start).strip(), place, row)
        elif kind not in ("space", "comment"):
            is_not = kind == "word" and match.group() == "not"
            yield Token("not" if is_not else kind, match.group(), place, row)
        place = match.end()
    yield Token("end", "", place, row)


WIDTH = 100
"""Lines that are longer go on in the next line, if they have a comma."""
INDENT = "    "


def text_lines(line: str) -> Iterator[str]:
    """A line, broken after commas outside quotes if it is too long; further lines are indented."""
    if len(line) <= WIDTH:
        yield line
        return
    indent, start, end = "", 0, 0
    commas = [token.start + 1 for token in tokens(line, 1) if token.kind == "comma"]
    for place in [*commas, len(line)]:
        if end > start and len(indent) + place - start > WIDTH:
            yield indent + line[start:end]
            indent, start = INDENT, end + 1
        end = place
    yield indent + line[start:]


def _unescaped(text: str, line: str, number: int, place: int) -> str:
    def sign(match: re.Match[str]) -> str:
        code, long_code, letter = match.groups()
        if letter is None:
            value = int(code or long_code, 16)
            if value <= 0x10FFFF:
                return chr(value)
        elif letter in _UNESCAPES:
            return _UNESCAPES[letter]
        fail_at(f"unknown escape {match.group()}", line, number, place + match.start())

    return _ESCAPE.sub(sign, text)


def fail_at(message: str, line: str, number: int, place: int) -> NoReturn:
    """Raise an error at a place of a line, counted from 0."""
    raise RuleSyntaxError(message, line, number, place + 1)


# -------------------------------------------------------------------- theories, rules, conditions

CATEGORY_KEYWORDS = frozenset({"not"})
ShownEvidence: TypeAlias = bool | Literal["all"]


def theory_text(theory: Any, style: Style = "plain", evidence: ShownEvidence = False) -> str:
    r"""A theory, one rule to a line, as `parse` reads it.

    A rule of more than 100 characters goes on, after a comma, in the next line, which is indented.
    Its note is a comment at the end.

    Parameters
    ----------
    theory : Theory or fitted learner
    style : {"plain", "unicode", "ascii"}
        Signs in ASCII and names as they are; signs in Unicode; or all in ASCII, other characters of
        names escaped.
    evidence : bool or "all", default=False
        Whether to show after each rule how often the labels that it names were right / wrong: one
        count if all have the same, else one for each. With "all", complete heads name every label.
        A layer that is sampled from always shows all counts, since they give the probabilities.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> text = "tabloid, not others <- sex = Male\nquality, sports <- children = No"
    >>> theory = parse(text, readers.schema).with_evidence(readers, readers.Y)
    >>> print(theory_text(theory, evidence=True))
    tabloid, not others <- sex = Male (5/4)
    quality, sports <- children = No (2/1, 1/2)
    """
    lines: list[str] = []
    for section in sections(theory_of(theory), style, evidence):
        lines += text_lines(f"{section.heading}:") if section.heading else []
        lines += _section_lines(section, _notation(style))
    return "\n".join(lines)


def _section_lines(section: "Section", notation: "Notation") -> Iterator[str]:
    if not section.part.ordered:
        yield ANY_ORDER
    for rule, layout in section.rules:
        *first, last = text_lines(notation.rule(rule, section.part.schema, layout))
        yield from first
        yield last + notation.note(rule)
    for heading, label_sets in section.endings:
        yield f"{heading}:" if label_sets else heading
        for one in label_sets:
            yield from text_lines(notation.label_set(one, section.part.schema))


class Section(NamedTuple):
    """A layer, or the rules for rows without a label, as all views of a theory lay it out."""

    heading: str  #: Empty if the theory is a single list or set of rules.
    part: Theory  #: A decision list or a rule set.
    rules: tuple[tuple[Rule, "RuleLayout"], ...]

    @property
    def title(self) -> str:
        """The heading, also of rules in any order."""
        words = [self.heading, "" if self.part.ordered else ANY_ORDER.removesuffix(":")]
        return ", ".join(filter(None, words))

    @property
    def endings(self) -> Iterator[tuple[str, tuple[LabelSet, ...]]]:
        """What stands after the rules of a rule set: headings, and label sets below them."""
        if isinstance(self.part, RuleSet) and self.part.label_sets:
            yield USUAL_SETS.removesuffix(":"), self.part.label_sets
        if isinstance(self.part, RuleSet) and self.part.at_least_one:
            yield f"{NO_LABEL} {MOST_POINTS}", ()

    def noted(self, notation: "Notation") -> Iterator[str]:
        """The rules, each with its note."""
        return (notation.noted(rule, self.part.schema, layout) for rule, layout in self.rules)


def sections(
    theory: Theory, style: Style = "plain", evidence: ShownEvidence = False
) -> Iterator[Section]:
    """The parts of a theory, with their rules and how these are shown."""
    if not isinstance(theory, LayeredTheory):
        yield Section("", theory, _laid_out(theory, evidence))
        return
    is_plain = len(theory.layers) == 1 and theory.inference == Once()
    for number, layer in enumerate(theory.layers, 1):
        inference = theory.inference if number == len(theory.layers) else Once()
        words = [f"layer {number}", *_inference_parts(inference, theory.schema, style)]
        heading = "" if is_plain and theory.fallback is not None else ", ".join(words)
        shown = "all" if isinstance(inference, Gibbs) else evidence
        yield Section(heading, layer, _laid_out(layer, shown))
    if theory.fallback is not None:
        # Each of its rules stops the list, which need not be said.
        part = theory.fallback.with_rules(replace(one, stops=False) for one in theory.fallback)
        yield Section(NO_LABEL.removesuffix(":"), part, _laid_out(part, evidence))


def _laid_out(part: Theory, evidence: ShownEvidence) -> tuple[tuple[Rule, "RuleLayout"], ...]:
    """The rules of a decision list or a rule set, and how they are shown."""
    has_points = isinstance(part, RuleSet) and part.gives_points
    n_others = len(part)  # before rules with empty bodies at the end of a list
    while part.ordered and n_others and not part[n_others - 1].body:
        n_others -= 1
    return tuple(
        (rule, RuleLayout(evidence, has_points, number >= n_others))
        for number, rule in enumerate(part)
    )


def rule_texts(
    theory: Any, style: Style = "plain", evidence: ShownEvidence = False
) -> tuple[str, ...]:
    r"""The text of each rule, as it stands in the text of the theory.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> text = "sports <- tabloid\nquality, not others <- true"
    >>> rule_texts(parse(text, load("magazines").schema))
    ('sports <- tabloid', 'otherwise: quality, no other label')
    """
    notation = _notation(style)
    return tuple(
        notation.rule(rule, section.part.schema, layout)
        for section in sections(theory_of(theory), style, evidence)
        for rule, layout in section.rules
    )


def inference_text(inference: Inference, schema: Schema, style: Style = "plain") -> str:
    """The inference of a last layer, in words."""
    return ", ".join(_inference_parts(inference, schema, style)) or "once"


def _inference_parts(inference: Inference, schema: Schema, style: Style) -> Iterator[str]:
    if isinstance(inference, UntilStable):
        yield f"until stable in at most {_rounds(inference.max_rounds)}"
    elif isinstance(inference, LabelByLabel):
        yield f"label by label in at most {_rounds(inference.max_rounds)}"
        if inference.order is not None:
            names = [label_text(schema.labels[label], style) for label in inference.order]
            yield f"in the order {', '.join(names)}"
    elif isinstance(inference, Gibbs):
        yield f"sampled {inference.n_samples} times after {_rounds(inference.burn_in)}"
        yield f"seed {inference.random_state}"


def _rounds(number: int) -> str:
    return "1 round" if number == 1 else f"{number} rounds"


def rule_text(
    rule: Rule, schema: Schema, style: Style = "plain", evidence: ShownEvidence = False
) -> str:
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
    return _notation(style).noted(rule, schema, layout_of(rule, evidence))


def head_text(rule: Rule, schema: Schema, style: Style = "plain") -> str:
    """The head of a rule with its points and its stop mark."""
    return _notation(style).head(rule, schema, layout_of(rule))


def body_text(body: Body, schema: Schema, style: Style = "plain") -> str:
    """The conditions of a body, or ``true``."""
    return _notation(style).body(body, schema)


def condition_text(condition: Condition, schema: Schema, style: Style = "plain") -> str:
    """One condition in the rule language."""
    return _notation(style).condition(condition, schema)


class RuleLayout(NamedTuple):
    """What is shown of a rule, and how: by its place in a theory."""

    evidence: ShownEvidence = False
    has_points: bool = False  #: Whether the votes are shown, as points.
    is_default: bool = False  #: Whether it has an empty body and stands at the end of a list.


def layout_of(rule: Rule, evidence: ShownEvidence = False) -> RuleLayout:
    """The layout of a rule that stands alone."""
    return RuleLayout(evidence, rule.votes is not None)


class Notation:
    """How a rule is written: the rule language, from which other formats differ in their signs."""

    arrow, true, stop, otherwise = "<-", "true", "*", OTHERWISE
    operators: Mapping[str, str] = {}

    def __init__(self, style: Style) -> None:
        self.style: Style = style
        if style == "unicode":
            self.arrow, self.operators = "←", {"<=": "≤", "!=": "≠"}

    def rule(self, rule: Rule, schema: Schema, layout: RuleLayout) -> str:
        """A whole rule."""
        head, counts = self.head(rule, schema, layout), self.counts(rule, layout)
        if layout.is_default:
            return f"{self.otherwise} {head}{counts}"
        return f"{head} {self.arrow} {self.body(rule.body, schema)}{counts}"

    def noted(self, rule: Rule, schema: Schema, layout: RuleLayout) -> str:
        """A whole rule, and its note."""
        return self.rule(rule, schema, layout) + self.note(rule)

    def note(self, rule: Rule) -> str:
        """The note of a rule, to stand behind it; empty if it has none."""
        return "" if rule.note is None else f"  {note_text(rule.note, self.style)}"

    def head(self, rule: Rule, schema: Schema, layout: RuleLayout) -> str:
        """A head; the absent labels of a complete one are shortened to "not others"."""
        return ", ".join(self.head_parts(rule, schema, layout))

    def head_parts(self, rule: Rule, schema: Schema, layout: RuleLayout) -> list[str]:
        """What a head names: labels, perhaps the others, and the stop mark."""
        is_short = is_shortened(rule, layout)
        parts = [
            self.vote(schema.labels[label], value, votes, layout)
            for label, value, votes in rule.ballot
            if value or not is_short
        ]
        if is_short:
            parts.append(self.rest(rule, layout, is_alone=not parts))
        return [*parts, self.stop] if rule.stops else parts

    def vote(self, name: str, value: int, votes: int, layout: RuleLayout) -> str:
        """A label of a head, present or absent, or with points for or against it."""
        if layout.has_points:
            return f"{self.label(name)}{self.points(votes if value else -votes)}"
        return self.literal(name, value)

    def rest(self, rule: Rule, layout: RuleLayout, is_alone: bool) -> str:
        """The labels that a head does not name, all absent."""
        if layout.has_points:
            votes = next(votes for _, value, votes in rule.ballot if not value)
            return f"{self.words('others')}{self.points(-votes)}"
        if is_alone:
            return self.words("no label")
        if layout.is_default:
            return self.words("no other label")
        return self.absent(self.words("others"))

    def points(self, number: int) -> str:
        """Points after a label, with their sign."""
        return f" {number:+}"

    def counts(self, rule: Rule, layout: RuleLayout) -> str:
        """The evidence after a rule, of the labels that its head names."""
        if not layout.evidence or rule.evidence is None:
            return ""
        is_short = is_shortened(rule, layout)
        every = zip(rule.head, rule.evidence, strict=True)
        shown = counts_text([count for (_, value), count in every if value or not is_short])
        return shown and self.bracket(shown)

    def bracket(self, counts: str) -> str:
        """Counts in brackets."""
        return f" ({counts})"

    def label_set(self, label_set: LabelSet, schema: Schema) -> str:
        """A usual label set and its points."""
        names = ", ".join(self.label(schema.labels[label]) for label in label_set.labels)
        return f"{{{names}}}{self.points(label_set.bonus)}"

    def body(self, body: Body, schema: Schema) -> str:
        """A body."""
        return ", ".join(self.condition(condition, schema) for condition in body) or self.true

    def condition(self, condition: Condition, schema: Schema) -> str:
        """A condition on a label or on a feature."""
        if condition.on_label:
            return self.literal(schema.labels[condition.column], int(condition.value))
        feature = schema.features[condition.column]
        is_present = presence_of(condition, feature)
        if is_present is not None:
            name = self.binary(feature.name)
            return name if is_present else self.absent(name)
        operator = self.operators.get(condition.operator, condition.operator)
        value = self.value(condition.value, feature)
        if condition.operator == "in":
            value = self.category_set([feature.text(code) for code in condition.codes])
        return f"{self.feature(feature.name)} {operator} {value}"

    def category_set(self, names: Sequence[str]) -> str:
        """Several categories."""
        return f"{{{', '.join(map(self.category, names))}}}"

    def value(self, value: float, feature: Feature) -> str:
        """What a feature is compared with."""
        if feature.time is not None:
            return self.time(feature.text(value))
        return self.number(value) if feature.is_numeric else self.category(feature.text(value))

    def literal(self, name: str, value: int) -> str:
        """A label, present or absent."""
        return self.label(name) if value else self.absent(self.label(name))

    def words(self, text: str) -> str:
        """Words of the language."""
        return text

    def label(self, name: str) -> str:
        """The name of a label."""
        return label_text(name, self.style)

    def absent(self, name: str) -> str:
        """The absence of a label or a binary feature that is written already."""
        return f"¬{name}" if self.style == "unicode" else f"not {name}"

    def binary(self, name: str) -> str:
        """The presence of a binary feature."""
        return quoted_text(name, '"', self.style)

    def feature(self, name: str) -> str:
        """The name of a feature that is compared."""
        return name_text(name, self.style)

    def category(self, name: str) -> str:
        """The name of a category."""
        return name_text(name, self.style, CATEGORY_KEYWORDS)

    def number(self, value: float) -> str:
        """A threshold."""
        return number_text(value)

    def time(self, text: str) -> str:
        """A date, a time or a duration."""
        return text


def presence_of(condition: Condition, feature: Feature) -> bool | None:
    """Whether a condition tests that something is there (True) or is not (False); else None.

    What is there is a binary feature that is 1, or an amount above 0.
    """
    if feature.present_code is not None and condition.operator == "=":
        return condition.value == feature.present_code
    if feature.kind == "amount" and condition.value == 0:
        return condition.operator == ">"
    return None


def is_shortened(rule: Rule, layout: RuleLayout) -> bool:
    """Whether a head is complete and its absent labels, two or more, are not named."""
    absent = [votes for _, value, votes in rule.ballot if not value]
    if not rule.head.is_complete or len(absent) < 2:
        return False
    if layout.evidence == "all" and rule.evidence is not None:
        return False
    return not layout.has_points or len(set(absent)) == 1


def counts_text(counts: Sequence[Evidence | None]) -> str:
    """How often labels were right / wrong, once if all counts are the same; "?" if unknown."""
    if not any(counts):
        return ""
    shown = counts[:1] if len(set(counts)) == 1 else counts
    return ", ".join("?" if count is None else f"{count.right}/{count.wrong}" for count in shown)


@cache
def _notation(style: Style) -> Notation:
    one_of(style, "style", ("plain", "unicode", "ascii"))
    return Notation(style)
