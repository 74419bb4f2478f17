"""Two theories side by side."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from labelrules._checks import counted
from labelrules._types import Mask
from labelrules.data.memory.encoding import encode, encode_labels
from labelrules.data.table import Dataset
from labelrules.inspection.explanation.row_history import check_theory
from labelrules.inspection.explanation.values import Place
from labelrules.inspection.summaries import places_of
from labelrules.inspection.summary_text import Table, cut, table
from labelrules.rules import Gibbs, LayeredTheory, Rule, RuleTable, Theory
from labelrules.rules.formats.frame import pandas_frame
from labelrules.rules.formats.language import name_text
from labelrules.rules.formats.text import rule_text, way_text
from labelrules.rules.inference import Inference, Once

if TYPE_CHECKING:
    import pandas

# -------------------- How two theories read their rules, where that is not the same

NO_LAYERS = "none"


class MannerDifference(NamedTuple):
    """Something other than rules in which two theories differ.

    Attributes
    ----------
    what : str
        "layers", "order" (perhaps of a layer), "inference", or "rows without labels".
    one, other : str
        What the first theory does, and the second.
    """

    what: str
    one: str
    other: str

    def __str__(self) -> str:
        return f"{self.what}: {self.one}, now {self.other}"


def manner_differences(one: Theory, other: Theory) -> tuple[MannerDifference, ...]:
    r"""Where two theories differ in layers, in order, in inference, and for rows without labels.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> schema = load("magazines").schema
    >>> one = parse("quality <- true", schema)
    >>> other = parse("in any order:\nquality <- true", schema)
    >>> [str(difference) for difference in manner_differences(one, other)]
    ['order: in order (the first rule decides), now in any order (rules vote)']
    """
    found = [MannerDifference("layers", _layers(one), _layers(other))]
    mine, theirs = layers_of(one), layers_of(other)
    has_one_layer = len(mine) == len(theirs) == 1
    for number, (a, b) in enumerate(zip(mine, theirs, strict=False), 1):
        what = "order" if has_one_layer else f"order of layer {number}"
        found.append(MannerDifference(what, _order_difference(a), _order_difference(b)))
    found.append(MannerDifference("inference", _inference(one), _inference(other)))
    found.append(MannerDifference("rows without labels", _fallback(one), _fallback(other)))
    return tuple(difference for difference in found if difference.one != difference.other)


def layers_of(theory: Theory) -> tuple[Theory, ...]:
    """The layers; a theory without is its own."""
    return theory.layers if isinstance(theory, LayeredTheory) else (theory,)


def inference_of(theory: Theory) -> Inference:
    """How its last layer is read."""
    return theory.inference if isinstance(theory, LayeredTheory) else Once()


def _layers(theory: Theory) -> str:
    return str(len(theory.layers)) if isinstance(theory, LayeredTheory) else NO_LAYERS


def _order_difference(theory: Theory) -> str:
    return "in order (the first rule decides)" if theory.ordered else "in any order (rules vote)"


def _inference(theory: Theory) -> str:
    return way_text(inference_of(theory), theory.schema)


def _fallback(theory: Theory) -> str:
    fallback = theory.fallback if isinstance(theory, LayeredTheory) else None
    return "no rules for them" if fallback is None else counted(len(fallback), "rule")


# ---------------------------------------------------------------- the main part


class PlacedRule(NamedTuple):
    """A rule of one of the two theories, and where it stands."""

    place: Place
    rule: Rule
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"


class ChangedRule(NamedTuple):
    """Two rules that agree in the head or in the body, but do not do the same."""

    one: PlacedRule
    other: PlacedRule
    what: str
    """What differs: "body", "head", "marks" if only the stop mark or the votes do, or "evidence",
    by which both theories draw lots."""


class LabelDifference(NamedTuple):
    """How the predictions for a label differ."""

    label: str
    n_rows: int
    """Rows in which they differ."""
    n_one_right: int | None
    """Those of them in which the first theory is right; None without true labels."""
    n_other_right: int | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """What two theories have in common and where they differ; printing it tells.

    Attributes
    ----------
    one, other : Theory
    kept : tuple of (PlacedRule, PlacedRule)
        Rules that both have.
    removed, added : tuple of PlacedRule
        Rules that only the first has, only the second, and that are like none of the other.
    changed : tuple of ChangedRule
    reordered : bool
        Whether rules that both have stand in another order, where order matters.
    manner : tuple of MannerDifference
        What is different besides the rules: layers, list or set, inference and its settings,
        rules for rows without labels.
    n_rows : int, optional
        Of the data.
    differs : array of bool, optional
        Rows by labels, whether the predictions differ.
    labels : tuple of LabelDifference
        One for each label, if there are data.
    """

    one: Theory
    other: Theory
    kept: tuple[tuple[PlacedRule, PlacedRule], ...]
    removed: tuple[PlacedRule, ...]
    added: tuple[PlacedRule, ...]
    changed: tuple[ChangedRule, ...]
    reordered: bool
    manner: tuple[MannerDifference, ...]
    n_rows: int | None = None
    differs: Mask | None = None
    labels: tuple[LabelDifference, ...] = ()

    def rule_frame(self) -> "pandas.DataFrame":
        """One line per rule or pair of rules, as a pandas frame (needs the extra ``pandas``)."""
        lines = [("kept", *pair) for pair in self.kept]
        lines += [(f"{change.what} changed", change.one, change.other) for change in self.changed]
        columns: dict[str, list[Any]] = {
            "change": [line[0] for line in lines],
            "one": [str(line[1]) for line in lines],
            "other": [str(line[2]) for line in lines],
        }
        for name, only in (("removed", self.removed), ("added", self.added)):
            columns["change"] += [name for _ in only]
            columns["one"] += [str(rule) if name == "removed" else None for rule in only]
            columns["other"] += [str(rule) if name == "added" else None for rule in only]
        return pandas_frame(columns)

    def label_frame(self) -> "pandas.DataFrame":
        """One line per label, as a pandas frame (needs the extra ``pandas``)."""
        names = LabelDifference._fields
        return pandas_frame({name: [getattr(d, name) for d in self.labels] for name in names})

    @property
    def headline(self) -> str:
        """How many rules there are, and how many in both."""
        order = ", in another order" if self.reordered else ""
        return (
            f"{counted(len(self.one), 'rule')} and {counted(len(self.other), 'rule')}, "
            f"{len(self.kept)} of them in both{order}"
        )

    def _repr_html_(self) -> str:
        """How notebooks show it."""
        from labelrules.inspection.summary_html import comparison_html

        return comparison_html(self)

    def __str__(self) -> str:
        lines = [self.headline]
        lines += map(str, self.manner)
        lines += cut(f"removed: {len(self.removed)}", list(map(str, self.removed)))
        lines += cut(f"added: {len(self.added)}", list(map(str, self.added)))
        pairs = [f"{c.what} of {c.one}\n  now {c.other}" for c in self.changed]
        lines += cut(f"changed: {len(self.changed)}", pairs)
        title, (titles, cells) = self.on_data()
        lines += [title] if title else []
        return "\n".join([*lines, *(table(titles, cells) if cells else ())])

    def on_data(self) -> tuple[str, Table]:
        """Where predictions differ, as a line and the table of labels; nothing without data."""
        if self.differs is None or self.n_rows is None:
            return "", ((), ())
        n_cells = int(self.differs.sum())
        share = n_cells / self.differs.size if self.differs.size else 0.0
        title = (
            f"predictions differ in {counted(n_cells, 'cell')} ({share:.1%}), in "
            f"{int(self.differs.any(axis=1).sum())} of {counted(self.n_rows, 'row')}"
        )
        known = any(line.n_one_right is not None for line in self.labels)
        lines = [
            (name_text(line.label), *map(str, line[1:] if known else line[1:2]))
            for line in self.labels
            if line.n_rows
        ]
        titles = ("label", "differ", "one right", "other right")[: 4 if known else 2]
        return title, (titles, lines)


def compare(one: Theory, other: Theory, data: Any = None) -> Comparison:
    r"""Compare two theories over one schema: their rules, and on data their predictions.

    Rules are equal if they do the same; evidence does not matter. Of those that are left, rules
    with equal bodies and heads are paired first (only marks or votes differ), then those with
    equal heads, then those with equal bodies, each time in order, and within one layer only. The
    rules of a theory without layers are compared with those of a first layer. Where both theories
    are sampled from, rules of the last layer that have other evidence are changed, too.

    Parameters
    ----------
    one, other : DecisionList, RuleSet or LayeredTheory
    data : Dataset, array, sparse matrix or frame, optional
        Rows to predict; true labels are taken from a Dataset only.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> readers = load("magazines")
    >>> one = parse("quality <- sex = Female\nsports <- true", readers.schema)
    >>> other = parse("quality <- children = No\nsports <- true\nfashion <- true", readers.schema)
    >>> print(compare(one, other, readers))
    2 rules and 3 rules, 1 of them in both
    added: 1
      rule 3: fashion <- true
    changed: 1
      body of rule 1: quality <- sex = Female
        now rule 1: quality <- children = No
    predictions differ in 21 cells (37.5%), in 14 of 14 rows
    label    differ  one right  other right
    quality       7          4            3
    fashion      14         11            3
    """
    check_theory(one)
    check_theory(other)
    if one.schema != other.schema:
        raise ValueError(
            "the theories are over other schemas: only theories over the same features and labels "
            "can be compared"
        )
    drawn = _drawn_layer(one, other)
    mine, theirs = _placed(one, drawn), _placed(other, drawn)
    kept = _paired(mine, theirs, lambda placed: (placed.rule, _drawn_by(placed, drawn)))
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
        manner_differences(one, other),
        *(() if data is None else _predictions(one, other, data)),
    )


def _placed(theory: Theory, drawn: int | None) -> list[PlacedRule]:
    """The rules; where evidence is of importance, they show it."""
    return [
        PlacedRule(
            place, rule, rule_text(rule, theory.schema, evidence=_part(place) == (False, drawn))
        )
        for place, rule in zip(places_of(theory), theory, strict=True)
    ]


def _paired(
    mine: list[PlacedRule], theirs: list[PlacedRule], key: Any
) -> list[tuple[PlacedRule, PlacedRule]]:
    """Take equal ones out of both lists, the first with the first."""
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
    """Whether it is for rows without labels, and its layer; a theory without is its own."""
    return place.is_fallback, place.layer or 0


def _order(placed: PlacedRule) -> tuple[tuple[bool, int], int]:
    return _part(placed.place), placed.place.number


def _is_reordered(one: Theory, other: Theory, kept: list[tuple[PlacedRule, PlacedRule]]) -> bool:
    """Whether lists have the same rules in another order; that of sets does not matter."""
    mine, theirs = layers_of(one), layers_of(other)
    order = [
        _order(b)
        for a, b in kept
        if a.place.is_fallback
        or (mine[_part(a.place)[1]].ordered and theirs[_part(b.place)[1]].ordered)
    ]
    return order != sorted(order)


def _drawn_layer(one: Theory, other: Theory) -> int | None:
    """The layer in which both theories draw lots, by the evidence of its rules."""
    if not all(isinstance(inference_of(theory), Gibbs) for theory in (one, other)):
        return None
    n_layers = {len(layers_of(theory)) for theory in (one, other)}
    return n_layers.pop() - 1 if len(n_layers) == 1 else None


def _drawn_by(placed: PlacedRule, layer: int | None) -> Any:
    return placed.rule.evidence if _part(placed.place) == (False, layer) else None


def _predictions(one: Theory, other: Theory, data: Any) -> tuple[int, Mask, tuple[Any, ...]]:
    X = encode(data, one.schema)
    truth = encode_labels(data, one.schema) if isinstance(data, Dataset) else None
    rows = Dataset(one.schema, X, np.zeros((X.shape[0], one.schema.n_labels), dtype=np.int8))
    first, second = _predict(one, rows), _predict(other, rows)
    differs = first != second
    lines = []
    for label, name in enumerate(one.schema.labels):
        n_rows, right = int(differs[:, label].sum()), None
        if truth is not None:
            right = int((differs & (first == truth))[:, label].sum())
        lines.append(
            LabelDifference(name, n_rows, right, None if right is None else n_rows - right)
        )
    return len(rows), differs, tuple(lines)


def _predict(theory: Theory, rows: Dataset) -> Any:
    return (theory if isinstance(theory, LayeredTheory) else RuleTable(theory)).predict(rows)
