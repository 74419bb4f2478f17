"""How much there is to read in a model: rules and literals, counted in one way for every program.

A literal is a condition in a body, or a label in a head.

- What holds where no rule fires: labels that are then absent cost nothing, as nobody writes them
  down; each label that is then present is a literal.
- A head that gives points or probabilities to labels has a literal for each label with points
  other than 0; so has the leaf of a tree that votes with others.
- A tree is read once, not once for each leaf: each test of an inner node is a condition, each label
  that is present at a leaf is a label in a head.
- A feature that counts by itself, by a weight, is a condition and a label.

The theories of this library count themselves in this way (`n_literals`). Nothing is imported here,
as these functions run in the environments of the programs whose models they read.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Size(NamedTuple):
    """The size of a model."""

    rules: int
    literals: int


def total(sizes: Iterable[Size]) -> Size:
    """The size of several models together.

    >>> total([Size(2, 5), Size(1, 3)])
    Size(rules=3, literals=8)
    """
    found = [*sizes]
    return Size(sum(one.rules for one in found), sum(one.literals for one in found))


def of_rules(rules: Iterable[tuple[int, int]]) -> Size:
    """Rules as pairs: how many conditions, how many labels in the head.

    >>> of_rules([(2, 1), (1, 3), (0, 0)])
    Size(rules=2, literals=7)
    """
    found = [pair for pair in rules if any(pair)]
    return Size(len(found), sum(map(sum, found)))


def of_mlrl(rules: Iterable[Any], votes: bool) -> Size:
    """The rules of mlrl-boomer, which vote, or of mlrl-seco, of which the first one decides."""
    return of_rules(_mlrl_rule(rule, votes) for rule in rules)


def _mlrl_rule(rule: Any, votes: bool) -> tuple[int, int]:
    n_conditions = len([*rule.body])
    values = [one.value for one in rule.head]
    is_default = not n_conditions
    written = [value for value in values if value] if votes or is_default else values
    return n_conditions, len(written)


def of_wittgenstein(rules: Iterable[Any]) -> Size:
    """The rules for one label of wittgenstein; none of them: absent."""
    return of_rules((len(rule.conds), 1) for rule in rules)


def of_jrip(n_rules: int, n_conditions: int, is_default_present: bool) -> Size:
    """The rules for one label of JRip, whose last one without conditions is not in `n_rules`."""
    return Size(n_rules + is_default_present, n_conditions + n_rules + is_default_present)


def of_cn2(rules: Iterable[Any]) -> Size:
    """The rules for one label of Orange's CN2; the rule without conditions is the default."""
    pairs = ((len(rule.selectors), int(rule.prediction)) for rule in rules)
    return of_rules((n, 1 if n else prediction) for n, prediction in pairs)


def of_greedy_list(rules: Iterable[Any]) -> Size:
    """The list for one label of imodels' greedy learner: steps of one condition, then the default.

    ``val`` of the last step is the probability where no condition holds.
    """
    return of_rules((1, 1) if "col" in step else (0, int(step["val"] > 0.5)) for step in rules)


def of_skope(rules: Iterable[Any]) -> Size:
    """The rules for one label of imodels' SkopeRules."""
    return of_rules((len(rule.agg_dict), 1) for rule in rules)


def of_rulefit(rules: Iterable[Any], weights: Iterable[float]) -> Size:
    """The rules for one label of imodels' RuleFit, and weights of single features.

    Of both those count that are not 0. ``args`` of a rule begins with its weight.
    """
    used = [rule for rule in rules if rule.args[0]]
    linear = [(1, 1) for weight in weights if weight]
    return of_rules([*((len(rule.agg_dict), 1) for rule in used), *linear])


def of_figs(trees: Iterable[Any]) -> Size:
    """The trees for one label of imodels' FIGS, whose leaves add up."""
    return total(_figs_node(tree) for tree in trees)


def _figs_node(node: Any) -> Size:
    branches = [one for one in (node.left, node.right) if one is not None]
    if branches:
        below = total(map(_figs_node, branches))
        return Size(below.rules, below.literals + 1)
    value = node.value if not hasattr(node.value, "__len__") else node.value[-1]
    return Size(1, int(value != 0))


def of_tree(model: Any, votes: bool = False) -> Size:
    """A tree of scikit-learn for one label or several; its rules are its leaves.

    A leaf of a single tree says that a label is present if that is more frequent than not; a leaf
    that votes gives points to each label of which it has rows.
    """
    tree, classes = model.tree_, model.classes_
    per_label = classes if isinstance(classes, list) else [classes]
    present = _votes if votes else _decides
    leaves = [node for node, left in enumerate(tree.children_left) if left < 0]
    n_labels = sum(
        present(tree.value[leaf][place], [int(one) for one in known])
        for leaf in leaves
        for place, known in enumerate(per_label)
    )
    return Size(len(leaves), tree.node_count - len(leaves) + n_labels)


Present = Callable[[Any, "list[int]"], bool]


def _decides(shares: Any, classes: "list[int]") -> bool:
    """Whether the class 1 has the greatest share; the first of equal ones wins."""
    found = [float(share) for share in shares[: len(classes)]]
    return classes[found.index(max(found))] == 1


def _votes(shares: Any, classes: "list[int]") -> bool:
    return 1 in classes and float(shares[classes.index(1)]) > 0


def of_forest(model: Any) -> Size:
    """A forest of scikit-learn, whose trees vote."""
    return total(of_tree(tree, votes=True) for tree in model.estimators_)
