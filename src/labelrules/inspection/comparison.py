"""Comparisons of two theories: rules that differ, and predictions that differ."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelrules._checks import counted, one_of, whole_number
from labelrules._html import SHOWN
from labelrules._report import ItemList, Lines, Part, Report, Table, field_columns, pandas_frame
from labelrules._types import UNSET, Mask
from labelrules.data.table import Dataset
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.summaries import places_of
from labelrules.inspection.tracing import label_set_text, rows_and_truth
from labelrules.rules import Gibbs, LayeredTheory, Rule, RuleSet, Theory, theory_of
from labelrules.rules.inference import Once
from labelrules.rules.language.text import inference_text, label_text, rule_texts
from labelrules.rules.rule_table import runner_of

if TYPE_CHECKING:
    import pandas


class StructureDifference(NamedTuple):
    """A difference between two theories other than in their rules."""

    what: str
    """"layers", "order", "usual label sets" or "at least one label" (perhaps of a layer),
    "inference", or "if no label was found"."""
    one: str  #: In the first theory.
    other: str  #: In the second theory.

    def __str__(self) -> str:
        return f"{self.what}: {self.one}, now {self.other}"


class PlacedRule(NamedTuple):
    """A rule of one of the two theories, and where it stands."""

    place: Place
    rule: Rule
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class ChangedRule(NamedTuple):
    """Two rules with the same head or body that are not equal."""

    one: PlacedRule
    other: PlacedRule
    what: str  #: "body", "head", "marks" (stop mark or votes), "evidence" (if sampled).


class LabelDifference(NamedTuple):
    """How the predictions for a label differ."""

    label: str
    n_rows: int  #: Rows in which they differ.
    n_one_right: int | None  #: Those in which the first is right; None without true labels.
    n_other_right: int | None  #: The same for the second theory.


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Report):
    """The rules that two theories share, and where they differ."""

    one: Theory
    other: Theory
    kept: tuple[tuple[PlacedRule, PlacedRule], ...]  #: Rules that both have.
    removed: tuple[PlacedRule, ...]  #: Rules that only the first theory has.
    added: tuple[PlacedRule, ...]  #: Rules that only the second theory has.
    changed: tuple[ChangedRule, ...]  #: Pairs of similar rules.
    reordered: bool  #: Whether rules that both have stand in another order, where order matters.
    structure: tuple[StructureDifference, ...]  #: In layers, order, inference, fallback rules.
    n_rows: int | None = None  #: Of the data.
    differs: Mask | None = None  #: Rows by labels, whether the predictions differ.
    labels: tuple[LabelDifference, ...] = ()  #: One for each label, if there are data.

    _value = "{}({})"

    def to_frame(self, per: str = "rule") -> "pandas.DataFrame":
        """A pandas frame with a row for each rule or pair of rules, or ``per="label"``."""
        if one_of(per, "per", ("rule", "label")) == "label":
            return pandas_frame(field_columns(LabelDifference, self.labels))
        rows = [("kept", str(one), str(other)) for one, other in self.kept] + self._rule_rows()
        titles = ("change", "one", "other")
        return pandas_frame({name: [row[i] for row in rows] for i, name in enumerate(titles)})

    def _rule_rows(self) -> list[tuple[str, str | None, str | None]]:
        """The change of each rule that is not kept, and the rules."""
        rows: list[tuple[str, str | None, str | None]] = [
            (f"{change.what} changed", str(change.one), str(change.other))
            for change in self.changed
        ]
        rows += [("removed", str(rule), None) for rule in self.removed]
        return [*rows, *(("added", None, str(rule)) for rule in self.added)]

    @property
    def headline(self) -> str:
        """How large the theories are, and how many rules they share."""
        order = ", in another order" if self.reordered else ""
        one, other = _size_text(self.one), _size_text(self.other)
        return f"{one} and {other}, {len(self.kept)} of them in both{order}"

    def _parts(self) -> Iterator[Part]:
        pairs = [[f"{c.what} of {c.one}", f"now {c.other}"] for c in self.changed]
        yield Lines(list(map(str, self.structure)))
        yield ItemList("removed", [[str(rule)] for rule in self.removed])
        yield ItemList("added", [[str(rule)] for rule in self.added])
        yield ItemList("changed", pairs)
        yield from self._predictions()

    def _page(self) -> Iterator[Part]:
        rules = [tuple(cell or "" for cell in row) for row in self._rule_rows()]
        yield Table(("what", "one", "other"), self.structure)
        yield Table(("rule", "one", "other"), rules, SHOWN)
        yield from self._predictions()

    def _predictions(self) -> tuple[Part, Part]:
        """Where predictions differ, as a line and a table of labels; empty without data."""
        if self.differs is None or self.n_rows is None:
            return Lines(()), Table((), ())
        n_cells = int(self.differs.sum())
        share = n_cells / self.differs.size if self.differs.size else 0.0
        title = (
            f"predictions differ in {counted(n_cells, 'cell')} ({share:.1%}), in "
            f"{int(self.differs.any(axis=1).sum())} of {counted(self.n_rows, 'row')}"
        )
        n_known = 2 if any(row.n_one_right is None for row in self.labels) else 4
        rows = [(label_text(row.label), *row[1:n_known]) for row in self.labels if row.n_rows]
        titles = ("label", "differ", "one right", "other right")[:n_known]
        return Lines([title]), Table(titles, rows, SHOWN)


def compare(one: Any, other: Any, data: Any = None) -> Comparison:
    r"""Compare two theories over one schema: their rules, and on data their predictions.

    Rules are equal whatever their evidence. Of the others, rules with equal bodies and heads are
    paired first (only marks or votes differ), then those with equal heads, then those with equal
    bodies, each time in order, and within one layer only. A theory without layers counts as a
    first layer. Where both theories are sampled from, rules of the last layer with other evidence
    are changed, too.

    Parameters
    ----------
    one, other : DecisionList, RuleSet, LayeredTheory or fitted learner
    data : Dataset, array, sparse matrix or frame, optional
        Rows to predict; true labels are taken from a Dataset only.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> one = parse("quality <- sex = Female\nsports <- true", readers.schema)
    >>> other = parse("quality <- children = No\nsports <- true\nfashion <- true", readers.schema)
    >>> print(compare(one, other, readers))
    2 rules (3 literals) and 3 rules (4 literals), 1 of them in both
    added: 1
      rule 3: otherwise: fashion
    changed: 1
      body of rule 1: quality <- sex = Female
        now rule 1: quality <- children = No
    predictions differ in 21 cells (37.5%), in 14 of 14 rows
    label    differ  one right  other right
    quality       7          4            3
    fashion      14         11            3
    """
    one, other = theory_of(one), theory_of(other)
    if one.schema != other.schema:
        raise ValueError(
            "the theories have different schemas: only theories over the same features and labels "
            "can be compared"
        )
    sampled = _sampled_layer(one, other)
    mine, theirs = _placed(one), _placed(other)
    kept = _paired(mine, theirs, lambda placed: (placed.rule, _sampled_evidence(placed, sampled)))
    evidence = _paired(mine, theirs, lambda placed: placed.rule)
    marks = _paired(mine, theirs, lambda placed: (placed.rule.head, placed.rule.body))
    bodies = _paired(mine, theirs, lambda placed: placed.rule.head)
    heads = _paired(mine, theirs, lambda placed: placed.rule.body)
    changed = [
        ChangedRule(a, b, what)
        for what, pairs in (
            ("evidence", evidence), ("marks", marks), ("body", bodies), ("head", heads),
        )
        for a, b in pairs
    ]  # fmt: skip
    changed.sort(key=lambda change: _order(change.one))
    return Comparison(
        one,
        other,
        tuple(kept),
        tuple(mine),
        tuple(theirs),
        tuple(changed),
        _is_reordered(one, other, kept),
        structure_differences(one, other),
        *(() if data is None else _predictions(one, other, data)),
    )


def _size_text(theory: Theory) -> str:
    return f"{counted(len(theory), 'rule')} ({counted(theory.n_literals, 'literal')})"


def _placed(theory: Theory) -> list[PlacedRule]:
    """The rules with their places; those that labels are sampled by show their evidence."""
    return list(map(PlacedRule, places_of(theory), theory, rule_texts(theory)))


def _paired(
    mine: list[PlacedRule], theirs: list[PlacedRule], key: Any
) -> list[tuple[PlacedRule, PlacedRule]]:
    """Remove rules with equal keys from both lists, the first with the first."""
    waiting: dict[Any, list[PlacedRule]] = {}
    for placed in theirs:
        waiting.setdefault((_part(placed.place), key(placed)), []).append(placed)
    pairs = []
    for placed in list(mine):
        same = waiting.get((_part(placed.place), key(placed)))
        if same:
            pairs.append((placed, same.pop(0)))
    for a, b in pairs:
        mine.remove(a)
        theirs.remove(b)
    return pairs


def _part(place: Place) -> tuple[bool, int]:
    """Whether it is for rows without labels, and its layer."""
    return place.is_fallback, place.layer or 0


def _order(placed: PlacedRule) -> tuple[tuple[bool, int], int]:
    return _part(placed.place), placed.place.number


def _is_reordered(one: Theory, other: Theory, kept: list[tuple[PlacedRule, PlacedRule]]) -> bool:
    """Whether lists have the same rules in another order; the order of sets does not matter."""
    mine, theirs = one.layers, other.layers
    order = [
        _order(b)
        for a, b in kept
        if a.place.is_fallback
        or (mine[_part(a.place)[1]].ordered and theirs[_part(b.place)[1]].ordered)
    ]
    return order != sorted(order)


def _sampled_layer(one: Theory, other: Theory) -> int | None:
    """The layer that both theories sample from, by the evidence of its rules."""
    if not all(isinstance(theory.inference, Gibbs) for theory in (one, other)):
        return None
    n_layers = {len(theory.layers) for theory in (one, other)}
    return n_layers.pop() - 1 if len(n_layers) == 1 else None


def _sampled_evidence(placed: PlacedRule, layer: int | None) -> Any:
    return placed.rule.evidence if _part(placed.place) == (False, layer) else None


def _predictions(one: Theory, other: Theory, data: Any) -> tuple[int, Mask, tuple[Any, ...]]:
    rows, truth = rows_and_truth(one, data)
    first, second = predicted(one, rows), predicted(other, rows)
    differs = first != second
    lines = []
    for label, name in enumerate(one.schema.labels):
        n_rows = int(differs[:, label].sum())
        right: list[int | None] = [None, None]
        if truth is not None:  # where the truth is unknown, neither is right
            right = [int((differs & (b == truth))[:, label].sum()) for b in (first, second)]
        lines.append(LabelDifference(name, n_rows, *right))
    return len(rows), differs, tuple(lines)


def predicted(theory: Theory, rows: Dataset) -> Any:
    """The labels of each row, by the compiled theory."""
    return runner_of(theory).predict(rows)


class RowDifference(NamedTuple):
    """A label that two theories predict differently for a row, and why each does."""

    row: int
    label: str
    one: int  #: The first prediction: 1 for present, 0 for absent.
    other: int  #: The second prediction.
    truth: int | None  #: The true value; None if it is unknown.
    one_reason: str  #: What decides the label in the first theory.
    other_reason: str  #: The same for the second.

    def __str__(self) -> str:
        words = ("absent", "present")
        truth = "" if self.truth is None else f" (in truth {words[self.truth]})"
        return (
            f"{label_text(self.label)}{truth}: {words[self.one]}, {self.one_reason}\n"
            f"  now {words[self.other]}, {self.other_reason}"
        )


def differing_rows(one: Any, other: Any, data: Any, first: int = 3) -> list[RowDifference]:
    r"""The first rows for which two theories predict different labels, with the reasons.

    Parameters
    ----------
    one, other : DecisionList, RuleSet, LayeredTheory or fitted learner
    data : Dataset, array, sparse matrix or frame
        True labels are taken from a Dataset only.
    first : int, default=3
        How many rows.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> old = parse("quality <- education = University", readers.schema)
    >>> new = parse("quality <- children = No", readers.schema)
    >>> for difference in differing_rows(old, new, readers, first=1):
    ...     print(difference)
    quality (in truth absent): absent, by default: no rule that covers the row predicts it
      now present, by rule 1: quality <- children = No
    """
    from labelrules.inspection.explanation.explaining import explain
    from labelrules.inspection.explanation.writer import Writer

    one, other = theory_of(one), theory_of(other)
    whole_number(first, "first", low=1)
    rows, truth = rows_and_truth(one, data)
    boards = [predicted(theory, rows) for theory in (one, other)]
    differs = boards[0] != boards[1]
    found = []
    for row in np.flatnonzero(differs.any(axis=1))[:first].tolist():
        labels = np.flatnonzero(differs[row]).tolist()
        names = [one.schema.labels[label] for label in labels]
        reasons = [
            explain(theory, rows, row, labels=names, counterfactuals=False)
            for theory in (one, other)
        ]
        for label, name in zip(labels, names, strict=True):
            values = [int(board[row, label]) for board in boards]
            known = truth is not None and truth[row, label] != UNSET
            true = int(truth[row, label]) if known and truth is not None else None
            texts = [next(Writer().cause(explanation[name])) for explanation in reasons]
            found.append(RowDifference(row, name, values[0], values[1], true, *texts))
    return found


def structure_differences(one: Theory, other: Theory) -> tuple[StructureDifference, ...]:
    r"""Differences in layers, order, usual label sets, inference, and rows without a label.

    >>> from labelrules import load, parse
    >>> schema = load("magazines").schema
    >>> one = parse("quality <- true", schema)
    >>> other = parse("in any order:\nquality <- true", schema)
    >>> [str(difference) for difference in structure_differences(one, other)]
    ['order: in order (the first rule decides), now in any order (rules vote)']
    """
    every = [StructureDifference("layers", _layers(one), _layers(other))]
    mine, theirs = one.layers, other.layers
    has_one_layer = len(mine) == len(theirs) == 1
    for number, (a, b) in enumerate(zip(mine, theirs, strict=False), 1):
        where = "" if has_one_layer else f" of layer {number}"
        every += [
            StructureDifference(f"{what}{where}", text(a), text(b)) for what, text in _TEXTS.items()
        ]
    every.append(StructureDifference("inference", _inference(one), _inference(other)))
    every.append(StructureDifference("if no label was found", _fallback(one), _fallback(other)))
    return tuple(difference for difference in every if difference.one != difference.other)


def _layers(theory: Theory) -> str:
    if not isinstance(theory, LayeredTheory):
        return "none"
    is_once = len(theory.layers) == 1 and theory.inference == Once()
    return "none" if is_once and theory.fallback is not None else str(len(theory.layers))


def _order_text(theory: Theory) -> str:
    return "in order (the first rule decides)" if theory.ordered else "in any order (rules vote)"


def _sets_text(theory: Theory) -> str:
    sets = theory.label_sets if isinstance(theory, RuleSet) else ()
    return ", ".join(label_set_text(one, theory.schema) for one in sets) or "none"


def _least_text(theory: Theory) -> str:
    return "yes" if isinstance(theory, RuleSet) and theory.at_least_one else "no"


_TEXTS = {
    "order": _order_text,
    "usual label sets": _sets_text,
    "at least one label": _least_text,
}


def _inference(theory: Theory) -> str:
    return inference_text(theory.inference, theory.schema)


def _fallback(theory: Theory) -> str:
    return "nothing" if theory.fallback is None else counted(len(theory.fallback), "rule")
