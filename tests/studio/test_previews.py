"""Previews have the numbers that a computation from scratch has."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

from edit_cases import clinic, clinic_editor, done, steps
from labelrules import UNSET, edit, evaluate
from labelrules.measures.evaluation import evaluation_of_counts
from labelrules.rules.theory import closed
from labelrules.studio.edit_history import outcome_counts
from layered_theories import layered_theories
from tables import tables
from theories import boards, decision_lists, scorecards


@given(st.data(), st.integers(1, 6), st.integers(1, 4))
def test_measures_from_counts_are_those_of_evaluate_to_the_last_bit(data, n_rows, n_labels):
    truth, predicted = (
        np.array(data.draw(boards(n_rows, n_labels)), dtype=np.int8) for _ in range(2)
    )
    if (truth == UNSET).all():
        with pytest.raises(ValueError, match="all cells of Y are unknown"):
            evaluation_of_counts(outcome_counts(truth, predicted))
        return
    assert evaluation_of_counts(outcome_counts(truth, predicted)) == evaluate(truth, predicted)


def test_measures_of_many_rows_are_those_of_evaluate():
    rng = np.random.default_rng(3)
    truth, predicted = (rng.random((2000, 11)) < 0.3 for _ in range(2))
    truth, predicted = truth.astype(np.int8), predicted.astype(np.int8)
    assert evaluation_of_counts(outcome_counts(truth, predicted)) == evaluate(truth, predicted)


def check_part(part, before, after, rows):
    """All that a part says, counted cell by cell."""
    old, new = closed(before.apply(rows)), closed(after.apply(rows))
    assert np.array_equal(part.before.predicted, old)
    assert np.array_equal(part.after.predicted, new)
    assert np.array_equal(part.changed, old != new)
    assert part.n_cells == (old != new).sum()
    assert part.rows.tolist() == np.flatnonzero((old != new).any(axis=1)).tolist()
    for label, one in enumerate(part.labels):
        cells = list(zip(old[:, label], new[:, label], rows.Y[:, label], strict=True))
        changed = [(o, n, t) for o, n, t in cells if o != n]
        assert one.label == rows.schema.labels[label]
        assert astuple(one)[1:] == (
            len(changed),
            sum(n == 1 for _, n, _ in changed),
            sum(n == 0 for _, n, _ in changed),
            sum(n == t for _, n, t in changed),
            sum(o == t for o, _, t in changed),
        )
    if (rows.Y != UNSET).any():
        assert {m.name: m.before for m in part.measures} == evaluate(rows.Y, old)
        assert {m.name: m.after for m in part.measures} == evaluate(rows.Y, new)


@settings(max_examples=60)
@given(st.data())
def test_previews_equal_a_computation_from_scratch(data):
    table = data.draw(tables(max_rows=6, storage=("dense", "sparse"), missing=False, unknown=True))
    small = st.floats(-3, 3)
    kinds = decision_lists(table.schema, small, 4) | scorecards(table.schema, small, 4)
    theory = data.draw(kinds | layered_theories(table.schema, small))
    start = edit(theory, table, validation=table.take([0]))
    end = done(start, data.draw(st.lists(steps(theory), max_size=5)))
    preview = end.preview(since=start)
    assert preview.before == theory
    assert preview.after == end.theory
    check_part(preview.training, theory, end.theory, table)
    check_part(preview.validation, theory, end.theory, table.take([0]))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table))))
    part = end.preview(since=start, where=mask).slice
    if mask.any():
        assert part.rows.tolist() == [row for row in preview.training.rows if mask[row]]
    else:
        assert (part.n_rows, part.n_cells, part.measures) == (0, 0, ())


def test_a_preview_compares_with_the_state_before_the_last_step():
    editor = clinic_editor().remove(2)
    later = editor.disable(1)
    assert later.preview().before == editor.theory
    assert later.preview().after == later.theory
    assert clinic_editor().preview().training.n_cells == 0
    assert later.undo().preview().after == editor.theory
    with pytest.raises(ValueError, match="the other editor is of another edit"):
        later.preview(since=clinic_editor())
    with pytest.raises(TypeError, match="since must be an editor, a version or its name"):
        later.preview(since=3)


def test_a_slice_is_chosen_by_conditions_on_features_and_known_labels():
    train, validation, _ = clinic()
    preview = clinic_editor().remove(1).preview(where="age > 60, not flu")
    flu = train.schema.label_index["flu"]
    expected = np.flatnonzero((train.column("age") > 60) & (train.Y[:, flu] == 0))
    assert preview.slice.index.tolist() == expected.tolist()
    n_validation = ((validation.column("age") > 60) & (validation.Y[:, flu] == 0)).sum()
    assert preview.parts["validation slice"].n_rows == n_validation
    assert clinic_editor().preview(where="true").slice.n_rows == len(train)


def test_printing():
    preview = clinic_editor().remove(2).preview()
    lines = str(preview).splitlines()
    assert lines[0] == f"training: {preview.training.headline}"
    assert f"validation: {preview.validation.headline}" in lines
    assert "micro F1" in str(preview)
    assert "micro F1" in preview._repr_html_()
    assert preview.rules.headline.startswith("12 rules")
    none = clinic_editor().lock(1).preview()
    assert none.training.headline == "nothing changes in 600 rows"
    assert str(none).splitlines() == [
        "training: nothing changes in 600 rows", "validation: nothing changes in 200 rows",
    ]  # fmt: skip
