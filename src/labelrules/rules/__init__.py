"""SAY: conditions, bodies, heads, rules and theories, and the language they are written in."""

from labelrules.rules.body import Body
from labelrules.rules.condition import Condition
from labelrules.rules.frame import theory_frame
from labelrules.rules.generality import conflict, is_more_general, is_more_specific, overlap
from labelrules.rules.head import Head
from labelrules.rules.html import theory_html
from labelrules.rules.inference import Gibbs, LabelByLabel, Once, UntilStable
from labelrules.rules.layered import LayeredTheory
from labelrules.rules.layeredrun import LayeredRun
from labelrules.rules.markdown import rule_markdown, theory_markdown
from labelrules.rules.markup import rule_latex, theory_latex
from labelrules.rules.planted import planted
from labelrules.rules.rule import Evidence, Form, Rule
from labelrules.rules.table import RuleTable
from labelrules.rules.text import parse, parse_rule, rule_text, theory_text
from labelrules.rules.theory import DecisionList, RuleSet, Run, Theory
from labelrules.rules.tokens import RuleSyntaxError

__all__ = [
    "Body",
    "Condition",
    "DecisionList",
    "Evidence",
    "Form",
    "Gibbs",
    "Head",
    "LabelByLabel",
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
    "conflict",
    "is_more_general",
    "is_more_specific",
    "overlap",
    "parse",
    "parse_rule",
    "planted",
    "rule_latex",
    "rule_markdown",
    "rule_text",
    "theory_frame",
    "theory_html",
    "theory_latex",
    "theory_markdown",
    "theory_text",
]
