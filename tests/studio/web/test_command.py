"""``labelrules workbench``: what it opens, as one calls it in a shell, up to the serving."""

from pathlib import Path

import pytest

from labelrules.studio.web import opening
from shell import called

RULES = 'flu <- "aches", temperature > 38.4\n'


@pytest.fixture
def served(monkeypatch, tmp_path):
    """What would be served."""
    monkeypatch.chdir(tmp_path)
    Path("model.txt").write_text(RULES, encoding="utf-8")
    given = []
    monkeypatch.setattr(opening, "serve", lambda editor, name, **more: given.append((editor, more)))
    return given


def test_another_model_is_put_beside(served):
    Path("older.txt").write_text("flu <- true\n", encoding="utf-8")
    done = called("workbench", "clinic", "model.txt", "--other", "older.txt", "--no-browser")
    assert done.code == 0, done.err
    [(editor, more)] = served
    assert [one.text for one in editor.rules] == [RULES.strip()]
    assert [str(theory) for theory in more["others"].values()] == ["otherwise: flu"]
    assert list(more["others"]) == ["older.txt"]


def test_another_model_must_be_about_the_same_names(served):
    assert called("learn", "magazines", "-q", "-o", "readers.json").code == 0
    done = called("workbench", "clinic", "model.txt", "--other", "readers.json")
    assert done.code != 0
    assert "readers.json has other features or labels than the data" in done.err
    assert not served
