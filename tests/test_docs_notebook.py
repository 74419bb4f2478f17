"""The notebook of the docs: its code runs, and its results are those of its code."""

import json
import re
from pathlib import Path

import pytest

from extras import needs

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"
SCRIPT = (NOTEBOOKS / "clinic.py").read_text(encoding="utf-8")
NOTEBOOK = json.loads((NOTEBOOKS / "clinic.ipynb").read_text(encoding="utf-8"))
SERVICE = "# ## A service\n"


def cells_of_script():
    """Kind and text of each cell."""
    parts = re.split(r"^# %%(.*)\n", SCRIPT, flags=re.MULTILINE)[1:]
    for mark, text in zip(parts[::2], parts[1::2], strict=True):
        if "markdown" in mark:
            yield "markdown", re.sub(r"^# ?", "", text.strip("\n"), flags=re.MULTILINE)
        else:
            yield "code", text.strip("\n")


def code(text):
    """A part of the script without its first lines about the notebook, which are comments."""
    return compile(text, "clinic.py", "exec")


@pytest.fixture(scope="module")
def learned():
    """The names that the notebook has made before it serves the model."""
    plt = needs("matplotlib.pyplot")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plt, "show", lambda: plt.close("all"))
        names = {"__name__": "clinic_notebook"}
        exec(code(SCRIPT[: SCRIPT.index(SERVICE)]), names)
    yield names
    names["folder"].cleanup()


def test_the_notebook_has_the_cells_of_the_script():
    """If this fails, run `make notebook` and look at what has changed."""
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in NOTEBOOK["cells"]]
    assert found == list(cells_of_script())


def test_the_notebook_was_run_from_top_to_bottom_without_errors():
    cells = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} <= {
        "stream", "execute_result", "display_data"
    }  # fmt: skip
    assert all(output.get("name") != "stderr" for output in outputs)
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3


def test_rules_are_learned_and_say_what_the_notebook_says(learned):
    text = learned["theory_text"](learned["model"])
    shown = [
        "".join(output["text"])
        for cell in NOTEBOOK["cells"]
        for output in cell.get("outputs", ())
        if output["output_type"] == "stream"
    ]
    assert any(text in printed for printed in shown)
    assert 0.85 < learned["search"].best_score_ < 0.95


def test_the_service_answers(learned):
    needs("fastapi")
    needs("httpx2")
    service = SCRIPT[SCRIPT.index(SERVICE) :]
    exec(code(service[service.index("# %%\n") :]), learned)
    answer = learned["answer"]
    assert answer["labels"] == ["flu", "pneumonia"]
    assert answer["probabilities"]["flu"] > 0.9
    assert answer["reasons"]["flu"] == ['flu <- "aches", temperature > 38.4']
