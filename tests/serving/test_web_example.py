"""The web service of the page on serving, run with a stand-in for the framework."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from labelrules import Predictor, SeparateAndConquer, load

PAGE = Path(__file__).parents[2] / "docs" / "serving.md"
ROW = {"education": "University", "marital": "Single", "sex": "Female", "children": "No"}


class AnswerError(Exception):
    """An answer with a status of its own; of any other exception the status is 500."""

    def __init__(self, status, detail):
        super().__init__(status, detail)


@pytest.fixture
def labels(monkeypatch):
    """The function of the page that answers requests."""
    app = SimpleNamespace(post=lambda path: lambda function: function)
    framework = SimpleNamespace(FastAPI=lambda: app, HTTPException=AnswerError)
    monkeypatch.setitem(sys.modules, "fastapi", framework)
    source = re.search(r"```text\n(.*?@app\.post.*?)```", PAGE.read_text("utf-8"), re.DOTALL)[1]
    predictor = Predictor(SeparateAndConquer().fit(load("magazines")))
    names = {"predictor": predictor, "app": app}
    exec(source, names)
    return names["labels"]


def test_a_row_is_answered(labels):
    assert labels(dict(ROW))["labels"] == ("quality", "fashion")
    assert labels(dict(ROW))["probabilities"]["fashion"] == 0.75


@pytest.mark.parametrize(
    ("row", "message"),
    [({**ROW, "sex": 1}, "it holds numbers"), ({"sex": "Male"}, "no column 'education'")],
)
def test_a_bad_row_is_an_error_of_the_request(labels, row, message):
    with pytest.raises(AnswerError, match=rf"422, .*{message}"):
        labels(row)
