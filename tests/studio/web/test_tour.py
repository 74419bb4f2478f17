"""The tour on the page about the workbench: what it says is what the editor finds."""

from pathlib import Path

import pytest
import workbench as tour
from msgspec.structs import astuple

from labelrules import SeparateAndConquer, edit, load
from labelrules.inspection import compare
from labelrules.studio import Knowledge
from labelrules.studio.editor import held_out
from labelrules.studio.web.project import figures_of, part_figures
from labelrules.studio.web.views.names import label_score

DOCS = Path(tour.__file__).parent
PAGE = (DOCS / "workbench.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def medical(data_folder):
    training, validation = held_out(load("medical", data_folder, part="train"))
    test = load("medical", data_folder, part="test")
    model = SeparateAndConquer().fit(training)
    return edit(model, training, validation=validation, test=test)


def corrected(editor):
    return editor.replace(tour.RULE, tour.CORRECTED).lock(tour.RULE)


def says(*parts):
    """Whether the page has these parts, in this order, whatever is between them."""
    place = 0
    for part in parts:
        place = PAGE.find(part, place)
        assert place >= 0, part


def test_the_rule_is_as_doubtful_as_the_page_says(medical):
    figures = figures_of(medical)
    label = medical.data.schema.label_index["Class-41-591"]
    rule = medical.rules[tour.RULE - 1]
    assert '"16"' in rule.text
    assert astuple(figures.training.of_label(tour.RULE - 1, label))[:2] == (23, 0)
    assert astuple(figures.validation.of_label(tour.RULE - 1, label))[:2] == (2, 3)
    says("right for 23 of 23 training rows, but for only 2 of 5 validation rows")
    assert figures.validation.rows_of(tour.RULE - 1, label).wrong.tolist() == [4, 60, 61]


def test_the_correction_changes_what_the_page_says(medical):
    preview = corrected(medical).preview(since=medical)
    [change] = [one for one in preview.parts["validation"].labels if one.n_rows]
    assert (change.n_righted, change.n_wronged) == (3, 1)
    [change] = [one for one in preview.parts["training"].labels if one.n_rows]
    assert (change.n_righted, change.n_wronged) == (0, 4)
    says("On validation rows three labels become right and one wrong", "four become wrong")


def test_learning_again_proposes_what_the_page_says(medical):
    editor = corrected(medical)
    first = compare(editor.theory, editor.relearn(tour.RULE).theory)
    assert [one.text for one in first.added] == ['Class-41-591 <- "moderately"']
    words = tuple(tour.NO_FINDINGS.split(", "))
    says(f"`{tour.NO_FINDINGS}`")
    done = editor.relearn(tour.RULE, knowledge=Knowledge(forbidden=words))
    [change] = compare(editor.theory, done.theory).changed
    assert change.one.text == 'Class-37-753_3 <- "duplication", not "2"'
    assert change.other.text == 'Class-37-753_3 <- "duplication", "kidneys"'

    before, after = medical.measures["validation"], done.measures["validation"]
    for name in ("micro F1", "subset accuracy"):
        says(f"from {before[name]:.4f} to {after[name]:.4f}")
    opened = [one.open_test("the tour").measures["micro F1"] for one in (done, medical)]
    says("Micro F1 is {:.4f} there; the list as it was learned has {:.4f}".format(*opened))


def test_the_test_part_says_what_the_page_says(medical, data_folder):
    test = load("medical", data_folder, part="test")
    words = tuple(tour.NO_FINDINGS.split(", "))
    done = corrected(medical).relearn(tour.RULE, knowledge=Knowledge(forbidden=words))
    label = test.schema.label_index["Class-41-591"]
    before, after = (label_score(part_figures(one.theory, test), label) for one in (medical, done))
    says(
        f"the false alarms fall from {before.false} to {after.false}, and the found cases from "
        f"{before.right} to {after.right} of {after.right + after.missed}"
    )


def test_the_pictures_are_there_and_small():
    sizes = []
    for stop in tour.STOPS:
        for scheme in tour.SCHEMES:
            path = tour.PICTURES / f"tour-{stop.name}-{scheme}.webp"
            says(f"_static/workbench/{path.name}")
            sizes.append(path.stat().st_size)
    assert max(sizes) < 100_000


def test_the_page_of_all_views_has_its_pictures():
    page = (DOCS / "workbench-views.md").read_text(encoding="utf-8")
    assert page == tour.views_page()
    paths = [part.partition('"')[0] for part in page.split('src="')[1:]]
    assert len(paths) == len(tour.VIEWS) * len(tour.SETS) * len(tour.SCHEMES)
    sizes = [(DOCS / path).stat().st_size for path in paths]
    assert max(sizes) < 60_000
    assert sum(sizes) < 5_000_000
