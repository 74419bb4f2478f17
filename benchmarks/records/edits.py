"""Edits of rules: what the editor says of them, their previews, scripts and files."""

from functools import partial
from pathlib import Path

from records.ground import told
from records.keeping import Cases, or_refusal
from records.texts import Sections

EDITOR = "edit({model}, train, validation=validation, test=test, author='A. Physician')"

SCRIPTS = {
    "nothing": ("rules", ""),
    "replace": ("rules", '.replace(3, "infection <- temperature > 39")'),
    "replace and lock": ("list", '.replace(1, "flu <- \\"aches\\"").lock(1)'
                         '.note(1, "seen\\nby us")'),
    "add": ("rules", '.add("flu <- age > 90", 1).add("not hay_fever <- age <= 1")'),
    "remove and move": ("list", ".remove(2).move(4, to=1).disable(3)"),
    "conditions": ("rules", '.drop_condition(2, condition=2).add_condition(3, "age > 4")'
                   ".set_threshold(1, condition=1, value=155)"),
    "labels": ("rules", '.toggle_label(3, "flu").set_label(3, "infection", None)'
               '.toggle_label(1, "flu")'),
    "undo and redo": ("rules", ".remove(1).remove(1).undo().undo().redo()"),
    "versions": ("rules", '.remove(8).commit("not needed", name="short").branch("bold").remove(1)'
                 '.commit("bolder").switch("main").lock(2)'),
    "enable": ("bins", ".disable(2).enable(2).disable(1).unlock(1)"),
    "relearn after": ("list", ".lock(3).relearn(after=2)"),
    "relearn labels": ("list", '.relearn(labels=["flu", "infection"])'),
    "relearn with knowledge": ("list", '.lock(2).relearn(after=1, knowledge=Knowledge(forbidden='
                               '("region",), preferred=("crp", "age"), constraints=('
                               '"infection <- flu",), max_conditions=2, max_rules=12))'),
    "relearn bins": ("bins", ".replace(1, 'flu <- \"aches\"').lock(1).relearn(after=3)"),
    "layers": ("stacked", ".remove(2).lock(1).move(3, to=1)"),
    "card": ("card", ".remove(2).lock(1)"),
    "votes": ("votes", '.replace(1, "flu +4, infection -2 <- \\"aches\\"").remove(3)'),
    "chain": ("chain", ".remove(1).note(2, 'as it is')"),
    "opened": ("rules", ".remove(1)"),
}  # fmt: skip
"""A theory or learner, and the edits of it."""

WRONG = {
    "no rule": ".remove(99)",
    "unknown feature": '.replace(4, "neuropathy <- glukose > 149")',
    "syntax": '.replace(4, "neuropathy <- glucose >")',
    "threshold": '.set_threshold(1, condition=1, value="high")',
    "nothing to undo": ".undo()",
    "no version": '.go_to("agreed")',
    "label": '.toggle_label(1, "flo")',
    "learner": '.relearn(after=99)',
    "knowledge": '.relearn(after=1, knowledge=Knowledge(forbidden=("regio",)))',
    "card label": '.relearn(labels=["flo"])',
}  # fmt: skip
WHERE = "age > 60, not diabetes"


def cases(sets: tuple[str, ...], n_jobs: int | None) -> Cases:
    """Scripts of edits, and edits that are refused."""
    for name, (model, steps) in SCRIPTS.items():
        yield name, partial(or_refusal, partial(_edited, model, steps))
    for name, steps in WRONG.items():
        yield f"wrong/{name}", partial(or_refusal, partial(told, f"{_editor('rules')}{steps}"))


def _editor(model: str) -> str:
    return EDITOR.format(model=model)


def _edited(model: str, steps: str) -> Sections:
    """What can be asked of an editor after some edits, its file read again."""
    first = told(_editor(model))
    editor = told(f"first{steps}", first=first)
    found = Sections({
        "editor": editor, "rules": [repr(one) for one in editor.rules], "theory": editor.theory,
        "measures": [f"{name}\n{one}" for name, one in editor.measures.items()],
        "steps": [repr(one) for one in editor.steps], "versions": [*map(repr, editor.versions)],
        "branches": dict(editor.branches), "script": editor.script(),
        "model": repr(type(editor.model)), "difference": editor.diff(first),
    })  # fmt: skip
    if steps:
        found |= {"last step": editor.preview(), "all steps": editor.preview(first, where=WHERE)}
        for name, part in editor.preview(first).parts.items():
            values = (part.headline, part.labels, part.measures, part.rows.tolist(), part.n_cells)
            found[f"values, {name}"] = [repr(one) for one in values]
    saved = editor.save("rules.edits.json")
    if steps == SCRIPTS["opened"][1]:
        found["opening"] = repr(saved.open_test("final check"))
    found["file"] = Path("rules.edits.json").read_text(encoding="utf-8")
    again = told("load_edits('rules.edits.json', train, validation=validation, test=test)")
    found["read again"] = str(again.rules == editor.rules and again.steps == editor.steps)
    return found
