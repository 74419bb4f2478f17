"""Examples of pages that write files run in a folder of their own; one finds its table there."""

import shutil
from pathlib import Path

import pytest

TABLE = Path(__file__).parent / "_static" / "patients.csv"


@pytest.fixture(autouse=True)
def _folder_of_the_examples(request, tmp_path, monkeypatch):
    page = request.node.path.name
    if page == "get-started.md":
        shutil.copy(TABLE, tmp_path)
    if page in ("get-started.md", "experiments.md"):
        monkeypatch.chdir(tmp_path)
