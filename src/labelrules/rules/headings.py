"""The headings of layers, printed and parsed.

::

    heading   = "layer" number ["," way] ":"
    way       = "until stable in at most" n "rounds"
              | "label by label in at most" n "rounds" [", in the order" label { "," label }]
              | "sampled" n "times after" n "rounds, seed" n

A way belongs to the last layer. After it may come rules for rows in which no label was found,
under the heading "rows without labels:".
"""

from collections.abc import Iterator

from labelrules.data.schema import Schema
from labelrules.rules.grammar import RuleParser
from labelrules.rules.inference import Gibbs, Inference, LabelByLabel, Once, UntilStable
from labelrules.rules.tokens import RuleSyntaxError, Style, Token, name_text


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
