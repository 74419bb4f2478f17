"""A small theory as a document, and the same with something changed."""

import json

from labelrules import Feature, Schema, parse, to_json

SCHEMA = Schema(
    [Feature("x y"), Feature("größe", ("", 'a"b', "\x00\n")), Feature("select")],
    ["quality", "日本", "it's"],
    [None, "quality", None],
)
THEORY = parse('quality <- "x y" > 2\nnot quality, "it\'s", * <- true', SCHEMA)


def changed(theory=THEORY, /, **fields):
    return json.dumps({**json.loads(to_json(theory)), **fields})


def rule(kind="decision list", /, **fields):
    usual = {"head": {"quality": 1}, "body": [], "stops": False, "evidence": None}
    return changed(theory={"kind": kind, "rules": [{**usual, **fields}]})


def voting(votes):
    return rule("rule set", votes=votes)


def scoring(**fields):
    """A rule set without rules, with such further fields."""
    return changed(theory={"kind": "rule set", "rules": [], **fields})


def usual(*labels, bonus=1):
    return scoring(label_sets=[{"labels": list(labels), "bonus": bonus}])
