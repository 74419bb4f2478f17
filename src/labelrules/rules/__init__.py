"""SAY: conditions, bodies, heads, rules and theories, and the language they are written in."""

from labelrules.rules.conditions import Body, Condition
from labelrules.rules.inference import Gibbs, LabelByLabel, Once, UntilStable
from labelrules.rules.invented_data import clinic_data, clinic_notes, clinic_truth, planted
from labelrules.rules.language.text import RuleSyntaxError, rule_text, theory_text
from labelrules.rules.language.theory_parser import parse, parse_rule
from labelrules.rules.layered_theory import LayeredRun, LayeredTheory, labels_without_rules
from labelrules.rules.rule import (
    Evidence,
    Form,
    Head,
    Rule,
    conflict,
    is_more_general,
    is_more_specific,
    overlap,
)
from labelrules.rules.rule_table import RuleTable
from labelrules.rules.theory import DecisionList, LabelSet, RuleSet, Run, Theory, theory_of
from labelrules.rules.views.html import theory_html
from labelrules.rules.views.markup import rule_latex, rule_markdown, theory_latex, theory_markdown
from labelrules.rules.views.tables import theory_table, theory_view

__all__ = [
    "Body",
    "Condition",
    "DecisionList",
    "Evidence",
    "Form",
    "Gibbs",
    "Head",
    "LabelByLabel",
    "LabelSet",
    "LayeredRun",
    "LayeredTheory",
    "Once",
    "Rule",
    "RuleSet",
    "RuleSyntaxError",
    "RuleTable",
    "Run",
    "Theory",
    "UntilStable",
    "clinic_data",
    "clinic_notes",
    "clinic_truth",
    "conflict",
    "is_more_general",
    "is_more_specific",
    "labels_without_rules",
    "overlap",
    "parse",
    "parse_rule",
    "planted",
    "rule_latex",
    "rule_markdown",
    "rule_text",
    "theory_html",
    "theory_latex",
    "theory_markdown",
    "theory_of",
    "theory_table",
    "theory_text",
    "theory_view",
]
