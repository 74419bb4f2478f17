"""Export theories as programs that need nothing else: modules of Python and of JavaScript."""

import json
from collections.abc import Iterable
from typing import Any

from labelrules._html import template_file
from labelrules.data.memory.columns import are_truth_words, stands_for_numbers
from labelrules.export.plan import (
    Plan,
    deciding_rules,
    has_wide_heads,
    holding_categories,
    is_list,
    is_scorecard,
    n_numbers,
    printable,
)
from labelrules.rules.conditions import Condition
from labelrules.rules.inference import LabelByLabel, ListChances, UntilStable
from labelrules.rules.language.text import rule_text
from labelrules.rules.rule import Rule
from labelrules.rules.theory import Theory

PYTHON, JAVASCRIPT = 0, 1

_SYNTAX = {
    "template": ("exported_module.py.jinja", "exported_module.js.jinja"),
    "indent": ("    ", "  "),
    # the layers, from the first to the last, and the list for rows without labels
    "layer": ("_layer_{}", "layer{}"),
    "fallback": ("_rows_without_labels", "rowsWithoutLabels"),
    "seen": ("seen", "seen{}"),
    "read": (
        "seen = _closed({layer}(row, {seen}, []))",
        "const {name} = closed({layer}(x, {seen}, []));",
    ),
    "Once": ("{layer}(row, {seen}, fired)", "{layer}(x, {seen}, fired)"),
    "UntilStable": (
        "_until_stable({layer}, row, {seen}, {rounds}, fired)",
        "untilStable({layer}, x, {seen}, {rounds}, fired)",
    ),
    "LabelByLabel": (
        "_label_by_label({layer}, row, {seen}, {rounds}, {order}, fired)",
        "labelByLabel({layer}, x, {seen}, {rounds}, {order}, fired)",
    ),
    "decide": ("board = {}", "const board = {};"),
    "decide or guess": (
        "board = {}\nif 1 not in board.values():\n"
        "    board = _rows_without_labels(row, None, guessed)",
        "let board = {};\nif (!board.includes(1)) board = rowsWithoutLabels(x, null, guessed);",
    ),
    # the function of a layer: a list, or rules that vote
    "list": (
        "def {}(row, seen, fired):\n    board = {{}}",
        "function {}(x, seen, fired) {{\n  const board = [];",
    ),
    "list on labels": ("    seen = board if seen is None else seen", "  seen ??= board;"),
    "set": (
        "def {}(row, seen, fired):\n    seen, votes = {{}} if seen is None else seen, {{}}",
        "function {}(x, seen, fired) {{\n  const votes = [];",
    ),
    "set on labels": ("", "  seen ??= [];"),
    "end of list": ("    return board", "  return board;\n}}"),
    "end of set": ("    return _counted(votes)", "  return counted(votes);\n}}"),
    "end of scorecard": (
        "    label_sets = [\n{lines}    ]\n"
        "    return _together(votes, label_sets, {resort}, fired)",
        "  return together(votes, {sets}, {resort}, fired);\n}}",
    ),
    # a rule
    "comment": ("# {}: {}", "// {}: {}"),
    "if": ("if {}:", "if ({}) {{"),
    "and": (" and ", " && "),
    "end if": ("", "}}"),
    "fire": ("fired.append({})", "fired.push({});"),
    "vote": ("_vote(votes, {})", "vote(votes, {});"),
    "write": ("_write(board, {})", "write(board, {});"),
    "write one": ("board.setdefault({}, {})", "board[{}] ??= {};"),
    "stop": ("return board", "return board;"),
    # a condition
    "label": ("seen.get({}) == {}", "seen[{}] === {}"),
    "feature": ("row[{name}]", "x[{place}]"),
    "=": ("{0} == {1}", "{0} === {1}"),
    "!=": ("{0} not in (None, {1})", "{0} !== null && {0} !== {1}"),
    "in": ("{0} in {1}", "{1}.includes({0})"),
}
"""What the two languages write for the parts of a theory, side by side."""


def to_python(theory: Any) -> str:
    r"""The source of a Python module with `predict(row)` and `labels(row)`, which imports nothing.

    A row is a mapping from names to values, which are read as by :class:`Predictor`; None, NaN and
    unknown categories are missing, and values of another kind are an error. Dates, times and
    durations are those of Python, NumPy or pandas, or texts as in ISO 8601. Each rule is an ``if``
    statement, in the order of the rules. `reasons(row)` gives the rules that decided each label,
    and `probabilities(row)`, if a fitted learner is exported, the probability that each label is
    present.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        Not one that is sampled from.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not fashion, * <- sex = Male\nfashion <- true", load("magazines").schema)
    >>> source = to_python(theory)
    >>> print(source[source.index("def _layer_1"):source.index("def _closed")])
    def _layer_1(row, seen, fired):
        board = {}
        # 1: not fashion, * <- sex = Male
        if row['sex'] == 'Male':
            fired.append(1)
            board.setdefault('fashion', 0)
            return board
        # 2: fashion <- true
        fired.append(2)
        board.setdefault('fashion', 1)
        return board
    >>> module = {}
    >>> exec(source, module)
    >>> module["labels"]({"sex": "Female"}), module["reasons"]({"sex": "Female"})["fashion"]
    (['fashion'], ['fashion <- true'])
    """
    return _Program(Plan.of(theory), PYTHON).source()


def to_javascript(theory: Any) -> str:
    r"""The source of an ECMAScript module with `predict(row)`, `labels(row)` and `reasons(row)`.

    As :func:`to_python`; a row is an object, and null and undefined are missing values, too. Dates
    and times are texts as in ISO 8601, or of class Date if they have a time zone; durations are
    milliseconds, as are differences of dates there, or texts. The module imports nothing and runs
    in browsers and in Node.js. `probabilities(row)` is there if a fitted learner is exported.

    Parameters
    ----------
    theory : DecisionList, RuleSet, LayeredTheory or fitted learner
        Not one that is sampled from.

    Examples
    --------
    >>> from labelrules import load, parse
    >>> theory = parse("not fashion, * <- sex = Male\nfashion <- true", load("magazines").schema)
    >>> source = to_javascript(theory)
    >>> print(source[source.index("function layer1"):source.index("/** All labels;")])
    function layer1(x, seen, fired) {
      const board = [];
      // 1: not fashion, * <- sex = Male
      if (x[0] === "Male") {
        fired.push(1);
        board[2] ??= 0;
        return board;
      }
      // 2: fashion <- true
      fired.push(2);
      board[2] ??= 1;
      return board;
    }
    """
    return _Program(Plan.of(theory), JAVASCRIPT).source()


class _Program:
    """Writes a plan as a module.

    In JavaScript, rows are arrays of the columns that rules test, and boards arrays of labels: no
    name is the key of an object, where ``__proto__`` would be another thing.
    """

    def __init__(self, plan: Plan, language: int) -> None:
        self.plan, self.schema, self.language = plan, plan.schema, language
        self.places = {column: place for place, column in enumerate(plan.used)}
        self.layers = [self._said("layer", n) for n in range(1, len(plan.layers) + 1)]

    def source(self) -> str:
        """The text of the module."""
        plan = self.plan
        features = [self.schema.features[column] for column in plan.used]
        return template_file(self._said("template")).render(
            text=self._text,
            labels=self.schema.labels,
            features=features,
            columns=tuple(feature.name for feature in features),
            numerals=[one.name for one in features if stands_for_numbers(one.categories)],
            truth_words=[one.name for one in features if are_truth_words(one.categories)],
            times={one.name: one.time for one in features if one.time is not None},
            calls=self._calls(),
            layers=self._functions(),
            has_wide_heads=has_wide_heads(plan),
            has_sets=not all(is_list(part) for part in plan.parts),
            has_votes=not all(is_list(part) or is_scorecard(part) for part in plan.parts),
            has_scorecards=any(is_scorecard(part) for part in plan.parts),
            inference=type(plan.inference).__name__,
            notes_labels=isinstance(plan.inference, LabelByLabel),
            first_decides=is_list(plan.layers[-1]),
            rules=[
                (one.number, self._text(one.text), self._by_label(one.values.items()))
                for one in deciding_rules(plan)
            ],
            **self._chances(),
        )

    def _chances(self) -> dict[str, Any]:
        """How probabilities are estimated."""
        chances = self.plan.chances
        if isinstance(chances, ListChances):
            return {"chances": "lists", "undecided": chances.undecided}
        return {"chances": ""} if chances is None else {"chances": "points", **chances._asdict()}

    def _calls(self) -> list[str]:
        """The body of the function that decides: layer after layer."""
        lines, seen = [], self._text(None)
        for number, layer in enumerate(self.layers[:-1], 1):
            name = self._said("seen", number)
            lines.append(self._said("read", layer=layer, seen=seen, name=name))
            seen = name
        inference, how = self.plan.inference, {"layer": self.layers[-1], "seen": seen}
        if isinstance(inference, UntilStable | LabelByLabel):
            how["rounds"] = str(inference.max_rounds)
        if isinstance(inference, LabelByLabel):
            order = inference.labels(self.schema.n_labels)
            how["order"] = self._text(tuple(map(self._label, order)))
        call = self._said(type(inference).__name__, **how)
        decide = "decide" if self.plan.fallback is None else "decide or guess"
        return [*lines, *self._said(decide, call).split("\n")]

    def _functions(self) -> list[str]:
        """The functions that apply the layers, and the list for rows without labels."""
        names = [*self.layers, self._said("fallback")]
        first, functions = 1, []
        for name, part in zip(names, self.plan.parts, strict=False):
            functions.append("\n".join(self._function(part, name, first)))
            first += n_numbers(part)
        return functions

    def _function(self, part: Theory, name: str, first: int) -> list[str]:
        kind, indent = "list" if is_list(part) else "set", self._said("indent")
        lines = [self._said(kind, name)]
        if any(rule.body.on_labels for rule in part):
            lines += filter(None, [self._said(f"{kind} on labels")])
        for number, rule in enumerate(part, first):
            lines += [f"{indent}{line}" for line in self._rule(rule, number, is_list(part))]
        if not is_scorecard(part):
            return [*lines, self._said(f"end of {kind}")]
        number = first + len(part)
        sets = [
            (n, tuple(map(self._label, one.labels)), one.bonus)
            for n, one in enumerate(part.label_sets, number)
        ]
        how = {
            "lines": "".join(f"        {one!r},\n" for one in sets),
            "sets": self._text(sets),
            "resort": self._text(number + len(sets) if part.at_least_one else None),
        }
        return [*lines, self._said("end of scorecard", **how)]

    def _rule(self, rule: Rule, number: int, ordered: bool) -> list[str]:
        actions = [self._said("fire", number), self._action(rule, ordered)]
        actions += [self._said("stop")] * rule.stops
        comment = self._said("comment", number, printable(rule_text(rule, self.schema)))
        if not len(rule.body):
            return [comment, *actions]
        tests = self._said("and").join(map(self._condition, rule.body))
        inner = [f"{self._said('indent')}{action}" for action in actions]
        return [comment, self._said("if", tests), *inner, *filter(None, [self._said("end if")])]

    def _action(self, rule: Rule, ordered: bool) -> str:
        """What a rule does: write its head, or vote."""
        if not ordered:
            ballot = [(label, n if value else -n) for label, value, n in rule.ballot]
            return self._said("vote", self._by_label(ballot))
        if len(rule.head) > 1:
            return self._said("write", self._by_label(rule.head))
        ((label, value),) = rule.head
        return self._said("write one", self._text(self._label(label)), value)

    def _condition(self, condition: Condition) -> str:
        column, operator = condition.column, condition.operator
        if condition.on_label:
            return self._said("label", self._text(self._label(column)), int(condition.value))
        feature = self.schema.features[column]
        name, place = self._text(feature.name), self.places[column]
        value = self._said("feature", name=name, place=place)
        if feature.categories is None:
            threshold = condition.value if feature.time is None else int(condition.value)
            return f"{value} {operator} {threshold!r}"
        if operator in ("=", "!="):
            return self._said(operator, value, self._text(feature.text(condition.value)))
        return self._said("in", value, self._text(holding_categories(condition, self.schema)))

    def _said(self, what: str, *given: Any, **named: Any) -> str:
        return _SYNTAX[what][self.language].format(*given, **named)

    def _text(self, value: Any) -> str:
        """A value as the language writes it."""
        return repr(value) if self.language == PYTHON else json.dumps(value)

    def _label(self, label: int) -> str | int:
        """A label: its name, in JavaScript its number."""
        return self.schema.labels[label] if self.language == PYTHON else label

    def _by_label(self, values: Iterable[tuple[int, Any]]) -> str:
        """Labels with a value each."""
        pairs = [(self._label(label), value) for label, value in values]
        return self._text(dict(pairs) if self.language == PYTHON else pairs)
