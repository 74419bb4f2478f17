"""The examples of the gallery run, quickly and without warnings, and draw at least one picture."""

from pathlib import Path

import pytest

from extras import needs

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_runs_and_draws(path, tmp_path, monkeypatch):
    matplotlib = needs("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot

    if "fastapi" in path.read_text("utf-8"):
        needs("fastapi")
        needs("httpx2")
    monkeypatch.chdir(tmp_path)
    pyplot.close("all")
    exec(compile(path.read_text("utf-8"), path.name, "exec"), {"__name__": "__main__"})
    assert pyplot.get_fignums()
    pyplot.close("all")
    assert list(tmp_path.iterdir()) == []


def test_the_gallery_has_the_tasks_that_the_guide_promises():
    titles = [path.read_text("utf-8").splitlines()[1] for path in EXAMPLES]
    assert sorted(titles) == [
        "A measure of one's own",
        "A pipeline with ColumnTransformer and GridSearchCV",
        "Editing a model",
        "Label constraints around any classifier",
        "Medical codes with explanations",
        "Nominal tables",
        "Serving a model",
        "Text classification with TF-IDF",
    ]
