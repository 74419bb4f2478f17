"""Export a theory to a JavaScript module that needs nothing else."""

import json
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
    return _Module(Plan.of(theory)).source()


class _Module:
    """Writes the module. Rows are arrays of the columns that rules test, boards arrays of labels.

    No name is the key of an object, where ``__proto__`` would be another thing.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.schema = plan, plan.schema
        self.places = {column: place for place, column in enumerate(plan.used)}

    def source(self) -> str:
        """The text of the module."""
        plan = self.plan
        features = [self.schema.features[column] for column in plan.used]
        by_label = isinstance(plan.inference, LabelByLabel)
        return template_file("exported_module.js.jinja").render(
            labels=_text(self.schema.labels),
            columns=_text([feature.name for feature in features]),
            categories=[None if f.categories is None else _text(f.categories) for f in features],
            numerals=[one.name for one in features if stands_for_numbers(one.categories)],
            truth_words=[one.name for one in features if are_truth_words(one.categories)],
            times={f.name: f.time for f in features if f.time is not None},
            as_text=_text,
            calls=self._calls(),
            layers=self._layers(),
            has_wide_heads=has_wide_heads(plan),
            has_sets=not all(is_list(part) for part in plan.parts),
            has_votes=not all(is_list(part) or is_scorecard(part) for part in plan.parts),
            has_scorecards=any(is_scorecard(part) for part in plan.parts),
            inference=type(plan.inference).__name__,
            of_label="(fired[label] ?? [])" if by_label else "fired",
            first_decides=is_list(plan.layers[-1]),
            rules=[
                (one.number, _text(one.text), _text(list(one.values.items())))
                for one in deciding_rules(plan)
            ],
            **self._chances(),
        )

    def _chances(self) -> dict[str, Any]:
        """How probabilities are estimated."""
        chances = self.plan.chances
        if isinstance(chances, ListChances):
            return {"chances": "lists", "undecided": _text(chances.undecided)}
        return {"chances": ""} if chances is None else {"chances": "points", **chances._asdict()}

    def _calls(self) -> list[str]:
        """The body of `decided`: layer after layer."""
        lines, seen = [], "null"
        n_layers, inference = len(self.plan.layers), self.plan.inference
        for number in range(1, n_layers):
            lines.append(f"const seen{number} = closed(layer{number}(x, {seen}, []));")
            seen = f"seen{number}"
        call = f"layer{n_layers}(x, {seen}, fired)"
        if isinstance(inference, UntilStable):
            call = f"untilStable(layer{n_layers}, x, {seen}, {inference.max_rounds}, fired)"
        elif isinstance(inference, LabelByLabel):
            arguments = f"{inference.max_rounds}, {_text(inference.labels(self.schema.n_labels))}"
            call = f"labelByLabel(layer{n_layers}, x, {seen}, {arguments}, fired)"
        if self.plan.fallback is None:
            return [*lines, f"const board = {call};"]
        guess = "if (!board.includes(1)) board = rowsWithoutLabels(x, null, guessed);"
        return [*lines, f"let board = {call};", guess]

    def _layers(self) -> list[str]:
        """The functions that apply the layers, and the list for rows without labels."""
        names = [f"layer{number}" for number in range(1, len(self.plan.layers) + 1)]
        first, functions = 1, []
        for name, part in zip([*names, "rowsWithoutLabels"], self.plan.parts, strict=False):
            functions.append("\n".join(self._layer(part, name, first)))
            first += n_numbers(part)
        return functions

    def _layer(self, part: Theory, name: str, first: int) -> list[str]:
        lines = [f"function {name}(x, seen, fired) {{"]
        lines.append(f"  const {'board' if is_list(part) else 'votes'} = [];")
        if any(rule.body.on_labels for rule in part):
            lines.append(f"  seen ??= {'board' if is_list(part) else '[]'};")
        for number, rule in enumerate(part, first):
            lines += self._rule(rule, number, is_list(part))
        return [*lines, *_end(part, first), "}"]

    def _rule(self, rule: Rule, number: int, ordered: bool) -> list[str]:
        actions = [f"fired.push({number});", _action(rule, ordered)]
        if rule.stops:
            actions.append("return board;")
        comment = f"  // {number}: {printable(rule_text(rule, self.schema))}"
        if not len(rule.body):
            return [comment, *(f"  {line}" for line in actions)]
        tests = " && ".join(map(self._condition, rule.body))
        return [comment, f"  if ({tests}) {{", *(f"    {line}" for line in actions), "  }"]

    def _condition(self, condition: Condition) -> str:
        if condition.on_label:
            return f"seen[{condition.column}] === {int(condition.value)}"
        feature = self.schema.features[condition.column]
        value = f"x[{self.places[condition.column]}]"
        if feature.categories is None:
            threshold = condition.value if feature.time is None else int(condition.value)
            return f"{value} {condition.operator} {threshold!r}"
        category = _text(feature.text(condition.value))
        if condition.operator == "=":
            return f"{value} === {category}"
        if condition.operator == "!=":
            return f"{value} !== null && {value} !== {category}"
        return f"{_text(holding_categories(condition, self.schema))}.includes({value})"


def _text(value: Any) -> str:
    """A value as JavaScript writes it: as JSON does."""
    return json.dumps(value)


def _action(rule: Rule, ordered: bool) -> str:
    """What a rule does: write its head, or vote."""
    if not ordered:
        ballot = [(label, n if value else -n) for label, value, n in rule.ballot]
        return f"vote(votes, {_text(ballot)});"
    if len(rule.head) > 1:
        return f"write(board, {_text(rule.head.literals)});"
    ((label, value),) = rule.head
    return f"board[{label}] ??= {value};"


def _end(part: Theory, first: int) -> list[str]:
    """The last lines of a layer: what it returns."""
    if is_list(part):
        return ["  return board;"]
    if not is_scorecard(part):
        return ["  return counted(votes);"]
    number = first + len(part)
    sets = [(n, one.labels, one.bonus) for n, one in enumerate(part.label_sets, number)]
    resort = number + len(sets) if part.at_least_one else None
    return [f"  return together(votes, {_text(sets)}, {_text(resort)}, fired);"]
