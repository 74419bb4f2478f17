"""Every page is built without a warning, the examples of the gallery included."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
MADE = shutil.ignore_patterns("_build", "gallery", "generated", "__pycache__")


@pytest.mark.slow
def test_the_documentation_is_built_without_warnings(tmp_path):
    """In a copy, for the build writes pages of reference and gallery beside the others."""
    for name in ("sphinx", "sphinx_gallery", "myst_nb", "numpydoc", "pydata_sphinx_theme"):
        pytest.importorskip(name, reason="the documentation needs the extra docs")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=MADE)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", "html"],
        cwd=tmp_path, capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    pages = {path.stem for path in (tmp_path / "html").glob("*.html")}
    assert {path.stem for path in DOCS.glob("*.md")} <= pages
    examples = {path.stem for path in (tmp_path / "html" / "gallery").glob("plot_*.html")}
    assert examples == {path.stem for path in (DOCS / "examples").glob("plot_*.py")}
