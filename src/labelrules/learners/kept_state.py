"""What a fitted learner knows, as plain values of a JSON document, and back."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from labelrules.data import DataError, Schema
from labelrules.data.document import Node
from labelrules.learners.associative.classifier import AssociativeClassifier
from labelrules.learners.base.targets import Target
from labelrules.learners.base.theory_classifier import Background, RuleClassifier
from labelrules.learners.binary_relevance import BinaryRelevance
from labelrules.learners.chain import ClassifierChain
from labelrules.learners.constrained import ConstrainedClassifier
from labelrules.learners.covering.learner import SeparateAndConquer
from labelrules.learners.kept_constrained import read_constrained, write_constrained
from labelrules.learners.powerset import LabelPowerset
from labelrules.learners.ripper.learner import Ripper
from labelrules.learners.stacked import StackedBinaryRelevance
from labelrules.learners.voted.learner import VotedRules
from labelrules.rules import DecisionList, Gibbs, LayeredTheory, Rule, RuleSet, Theory
from labelrules.rules.json import read_label_list, read_theory, theory_document

NestedWriter: TypeAlias = Callable[[Any], dict[str, Any]]
NestedReader: TypeAlias = Callable[[Node], Any]

_TYPE = re.compile(r"bool|u?int(8|16|32|64)|float(16|32|64)|text[1-9]\d{0,5}")
_LARGEST_ARRAY = 2**28
_KINDS = ("labels", "two classes", "classes")


@dataclass(frozen=True)
class Keeper:
    """How the models of a learner are kept.

    Parameters
    ----------
    attributes : frozenset of str
        Its attributes beyond those of every model.
    theories : tuple of type
        What its theory may be.
    write : function
        From a model, and a writer for models inside it, to plain values.
    read : function
        Gives a model its own attributes, from the plain values and with a reader for models inside.
    may_lack_theory : bool
        Whether the model may be no single theory.
    has_background : bool
        Whether it counts the cells that no rule writes.
    """

    attributes: frozenset[str]
    theories: tuple[type[Theory], ...]
    write: Callable[[Any, NestedWriter], dict[str, Any]]
    read: Callable[[Any, Node, NestedReader], None]
    may_lack_theory: bool = False
    has_background: bool = True


# ---------------------------------------------------------------- targets and background


def target_document(target: Target) -> dict[str, Any]:
    """The form of Y."""
    values = target.values
    width = values.dtype.itemsize // 4
    name = f"text{width}" if values.dtype.kind == "U" else values.dtype.name
    if not _TYPE.fullmatch(name):
        raise DataError(
            f"the classes are of the type {name}, which a file does not hold: use text or numbers"
        )
    return {"kind": target.kind, "type": name, "values": values.tolist()}


def read_target_document(node: Node, schema: Schema) -> Target:
    """The form of Y, if it goes with the labels."""
    fields = node.fields("kind", "type", "values")
    kind: Any = fields["kind"].word(_KINDS, "kind of target")
    name, items = fields["type"].text(), fields["values"].items()
    if not _TYPE.fullmatch(name):
        fields["type"].refuse(f"there is no type of classes {name[:60]!r}")
    with fields["values"].blamed():
        values = _class_array(name, items)
    expected = schema.n_labels if kind == "classes" else 2
    if len(values) != expected or (kind == "two classes" and schema.n_labels != 1):
        node.refuse(f"{len(values)} values do not go with {schema.n_labels} labels")
    if kind == "labels" and values.tolist() != [0, 1]:
        fields["values"].refuse("a label is absent (0) or present (1)")
    if kind == "classes" and len(values) == 2:
        node.refuse("two classes are one label")
    if not (values[:-1] < values[1:]).all():
        fields["values"].refuse("classes must rise")
    return Target(kind, values)


def _class_array(name: str, items: list[Node]) -> Any:
    if name.startswith("text"):
        width = int(name[4:])
        _check_size(width * len(items))
        texts = [item.text() for item in items]
        # NumPy drops what is too long, and characters of number 0 at the end.
        if any(len(text) > width or text.endswith("\0") for text in texts):
            raise ValueError(f"a text is longer than {width} characters, or ends in a null")
        return np.array(texts, dtype=f"<U{width}")
    if name == "bool":
        return np.array([item.flag() for item in items], dtype=np.bool_)
    dtype = np.dtype(name)
    if dtype.kind == "f":
        numbers = [item.number() for item in items]
        with np.errstate(over="ignore"):
            found = np.array(numbers, dtype=dtype)
        if found.tolist() != numbers:
            raise ValueError(f"a number is no {name}")
        return found
    limits = np.iinfo(dtype)
    return np.array([item.whole(int(limits.min), int(limits.max)) for item in items], dtype=dtype)


def _check_size(n_cells: int) -> None:
    """A small file must not ask for an array that no memory holds."""
    if n_cells > _LARGEST_ARRAY:
        raise ValueError(f"the array would have {n_cells} cells, more than {_LARGEST_ARRAY}")


def background_document(background: Background) -> dict[str, Any]:
    """Counts of cells that no rule writes."""
    return {
        "ones": np.asarray(background.ones).tolist(),
        "zeros": np.asarray(background.zeros).tolist(),
        "share": np.asarray(background.share).tolist(),
    }


def read_background(node: Node, n_labels: int) -> Background:
    """Counts of cells that no rule writes, one for each label."""
    fields = node.fields("ones", "zeros", "share")
    for field in fields.values():
        if len(field.items()) != n_labels:
            field.refuse(f"must have a number for each of {n_labels} labels")
    counts = {
        name: np.array([item.whole() for item in fields[name].items()], dtype=np.int64)
        for name in ("ones", "zeros")
    }
    share = [item.number() for item in fields["share"].items()]
    if not all(0 < number < 1 for number in share):
        fields["share"].refuse("a share must be above 0 and below 1")
    return Background(counts["ones"], counts["zeros"], np.array(share, dtype=np.float64))


# ---------------------------------------------------------------- each learner's own


def _write_nothing(model: Any, nested: NestedWriter) -> dict[str, Any]:
    return {}


def _read_nothing(model: Any, node: Node, nested: NestedReader) -> None:
    node.fields()


def _write_covering(model: Any, nested: NestedWriter) -> dict[str, Any]:
    # A learner inside another one is not warm: it has no such number if it was made by hand.
    return {"n_learned": int(model._n_learned)}


def _read_covering(model: Any, node: Node, nested: NestedReader) -> None:
    model._n_learned = node.fields("n_learned")["n_learned"].whole(0, len(model.theory_))


def _write_associative(model: Any, nested: NestedWriter) -> dict[str, Any]:
    return {"n_mined": int(model.n_mined_)}


def _read_associative(model: Any, node: Node, nested: NestedReader) -> None:
    model.n_mined_ = node.fields("n_mined")["n_mined"].whole()


def _write_voted(model: Any, nested: NestedWriter) -> dict[str, Any]:
    return {"miss_cost": model._odds_of_none}


def _read_voted(model: Any, node: Node, nested: NestedReader) -> None:
    field = node.fields("miss_cost")["miss_cost"]
    model._odds_of_none = field.number()
    if model._odds_of_none <= 0:
        field.refuse("must be above 0")


def _write_relevance(model: Any, nested: NestedWriter) -> dict[str, Any]:
    return {"least": model._least}


def _read_relevance(model: Any, node: Node, nested: NestedReader) -> None:
    model._least = _share(node.fields("least")["least"])
    model.members_ = _by_label(_first_list(model.theory_), range(model.n_labels_))


def _write_chain(model: Any, nested: NestedWriter) -> dict[str, Any]:
    labels = model.schema_.labels
    return {
        "least": model._least,
        "threshold": getattr(model, "threshold_", None),
        "orders": [[labels[label] for label in order] for order in model.orders_],
        "theories": [theory_document(theory) for theory in model.theories_],
    }


def _read_chain(model: Any, node: Node, nested: NestedReader) -> None:
    fields = node.fields("least", "threshold", "orders", "theories")
    schema = model.schema_
    model._least = _share(fields["least"])
    threshold = _share(fields["threshold"])
    if threshold is not None:
        model.threshold_ = threshold
    model.orders_ = [_order(item, schema) for item in fields["orders"].items()]
    model.theories_ = [_list(item, schema) for item in fields["theories"].items()]
    if not model.orders_ or len(model.orders_) != len(model.theories_):
        node.refuse("each chain must have an order and a theory")
    # Of several chains only one may be left, if learning was interrupted.
    if model._has_theory != (threshold is None) or (model._has_theory and len(model.orders_) != 1):
        node.refuse("one chain is a theory, several are not and have a threshold")
    model._chains = [
        _by_label(theory, order)
        for theory, order in zip(model.theories_, model.orders_, strict=True)
    ]


def _write_stacked(model: Any, nested: NestedWriter) -> dict[str, Any]:
    return {"least": model._least, "own_label": model._sees_own_label}


def _read_stacked(model: Any, node: Node, nested: NestedReader) -> None:
    fields = node.fields("least", "own_label")
    model._least = _share(fields["least"])
    model._sees_own_label = fields["own_label"].flag()
    theory, every = model.theory_, range(model.n_labels_)
    for layer in theory.layers:
        if not isinstance(layer, DecisionList):
            node.refuse("the layers of this learner must be decision lists")
    if isinstance(theory.inference, Gibbs) and any(r.evidence is None for r in theory.layers[-1]):
        node.refuse("rules that are sampled from need evidence")
    model._way, model.n_layers_ = theory.inference, len(theory.layers)
    model._layers = [_by_label(layer, every) for layer in theory.layers]


def _write_powerset(model: Any, nested: NestedWriter) -> dict[str, Any]:
    labels = model.schema_.labels
    return {
        "sets": [[labels[j] for j in np.flatnonzero(row)] for row in model.sets_],
        "counts": model._counts.tolist(),
        "base": nested(model.base_) if hasattr(model, "base_") else None,
    }


def _read_powerset(model: Any, node: Node, nested: NestedReader) -> None:
    fields = node.fields("sets", "counts", "base")
    model.sets_ = _label_sets(fields["sets"], model.schema_)
    n_sets = len(model.sets_)
    counts = [item.whole() for item in fields["counts"].items()]
    if len(counts) != n_sets:
        fields["counts"].refuse(f"must have a number for each of {n_sets} label sets")
    model._counts = np.array(counts, dtype=np.int64)
    if fields["base"].is_null != (n_sets == 1):
        fields["base"].refuse("a classifier is needed if there are several label sets, only then")
    if fields["base"].is_null:
        return
    model.base_ = nested(fields["base"])
    if model.base_._target.values.tolist() != list(range(n_sets)):
        fields["base"].refuse(f"its classes must be the numbers of {n_sets} label sets")
    if not _fits(model.base_, model.schema_):
        fields["base"].refuse("its features must be those of the whole")


def _fits(base: Any, schema: Schema) -> bool:
    """Bases that learn rules look at the features as they are, others at numbers made of them."""
    if isinstance(base, RuleClassifier):
        return bool(base.schema_.features == schema.features)
    widths = [len(feature.categories or "1") for feature in schema.features]
    n_columns = sum(1 if width == 2 else width for width in widths)
    return [feature.categories for feature in base.schema_.features] == [None] * n_columns


def _label_sets(node: Node, schema: Schema) -> Any:
    items = node.items()
    with node.blamed():
        _check_size(len(items) * schema.n_labels)
    sets = np.zeros((len(items), schema.n_labels), dtype=np.int8)
    for row, item in enumerate(items):
        labels = read_label_list(item, schema)
        if list(labels) != sorted(set(labels)):
            item.refuse("labels must stand in their order, each once")
        sets[row, list(labels)] = 1
    if not len(sets) or not np.array_equal(np.unique(sets, axis=0), sets):
        node.refuse("label sets must be there, each once and in rising order")
    return sets


def _share(node: Node) -> float | None:
    if node.is_null:
        return None
    share = node.number()
    if not 0 <= share <= 1:
        node.refuse("must be from 0 to 1")
    return share


def _order(node: Node, schema: Schema) -> tuple[int, ...]:
    order = read_label_list(node, schema)
    if sorted(order) != list(range(schema.n_labels)):
        node.refuse("must name each label once")
    return order


def _list(node: Node, schema: Schema) -> DecisionList:
    theory = read_theory(node, schema)
    if not isinstance(theory, DecisionList):
        node.refuse("must be a decision list")
    return theory


def _first_list(theory: Any) -> Iterable[Rule]:
    rules: Iterable[Rule] = theory.layers[0] if isinstance(theory, LayeredTheory) else theory
    return rules


def _by_label(rules: Iterable[Rule], order: Sequence[int]) -> list[list[Rule]]:
    """The rules for each label alone, as they were learned: evidence came later."""
    found: dict[int, list[Rule]] = {label: [] for label in order}
    for rule in rules:
        if len(rule.head) == 1:
            found[rule.head.labels[0]].append(rule.with_evidence(None))
    return list(found.values())


_ANY_THEORY = (DecisionList, LayeredTheory)

KEEPERS: dict[type, Keeper] = {
    SeparateAndConquer: Keeper(
        frozenset({"_n_learned"}), (DecisionList,), _write_covering, _read_covering
    ),
    Ripper: Keeper(frozenset(), (DecisionList,), _write_nothing, _read_nothing),
    RuleClassifier: Keeper(frozenset(), (DecisionList,), _write_nothing, _read_nothing),
    AssociativeClassifier: Keeper(
        frozenset({"n_mined_"}), (DecisionList,), _write_associative, _read_associative
    ),
    VotedRules: Keeper(
        frozenset({"_odds_of_none"}),
        (RuleSet,),
        _write_voted,
        _read_voted,
        has_background=False,
    ),
    BinaryRelevance: Keeper(
        frozenset({"_least", "members_"}), _ANY_THEORY, _write_relevance, _read_relevance
    ),
    ClassifierChain: Keeper(
        frozenset({"_least", "orders_", "theories_", "threshold_", "_chains"}),
        _ANY_THEORY,
        _write_chain,
        _read_chain,
        may_lack_theory=True,
    ),
    StackedBinaryRelevance: Keeper(
        frozenset({"_least", "_way", "_layers", "_sees_own_label", "n_layers_"}),
        (LayeredTheory,),
        _write_stacked,
        _read_stacked,
    ),
    LabelPowerset: Keeper(
        frozenset({"sets_", "_counts", "base_"}),
        (DecisionList,),
        _write_powerset,
        _read_powerset,
        may_lack_theory=True,
    ),
    ConstrainedClassifier: Keeper(
        frozenset({"base_", "constraints_", "found_", "left_out_", "_clauses"}),
        (),
        write_constrained,
        read_constrained,
        may_lack_theory=True,
        has_background=False,
    ),
}
"""By learner; a learner that is none of these is kept as the nearest class it comes from."""
