"""Examples of pages run in a folder of their own; *Get started* finds its table there."""

import shutil
from pathlib import Path

import pytest

TABLE = Path(__file__).parent / "_static" / "patients.csv"


@pytest.fixture(autouse=True)
def _folder_of_the_examples(request, tmp_path, monkeypatch):
    if request.node.path.name == "get-started.md":
        shutil.copy(TABLE, tmp_path)
        monkeypatch.chdir(tmp_path)
