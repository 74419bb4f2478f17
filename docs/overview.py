"""The example table of *Get started*, and the picture of the home page made of it.

``python docs/overview.py`` writes ``_static/patients.csv`` and ``_static/overview.png``. The table
is a part of the clinic: 462 invented patients with nine features and three diagnoses. The picture
is taken by Chromium, which must be on the path. `tests/test_newcomer.py` compares the table.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pandas as pd
from jinja2 import Template
from PIL import Image

from labelrules import SeparateAndConquer, explain, load
from labelrules.rules import theory_html

STATIC = Path(__file__).parent / "_static"
FEATURES = ["age", "sex", "smoker", "temperature", "oxygen", "crp", "cough", "aches", "breathless"]
LABELS = ["pneumonia", "flu", "infection"]
ROW = 42
"""The patient of the picture, who has two diagnoses."""
SIZE = (1240, 512)

PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body { margin: 0; padding: 14px; font: 13.5px/1.45 system-ui, sans-serif; color: #1a1a1a;
  background: #fff; display: grid; grid-template-columns: 30.5% 35.5% 1fr; gap: 14px;
  height: 100vh; box-sizing: border-box; }
section { overflow: hidden; border: 1px solid #c9d1d9; border-radius: 10px; padding: 12px 14px; }
h2 { margin: 0 0 8px; font-size: 15px; }
section > table { border-collapse: collapse; font-size: 12.5px; width: 100%; }
section > table :is(td, th) { padding: 2.5px 3px; border-bottom: 1px solid #e5e9ee;
  text-align: right; }
th.label, td.label { background: #dcebf7; } p { margin: 8px 0 0; color: #444; }
.picked td { font-weight: 700; background: #fff3c4 !important; }
ol { padding-left: 1.5em; } li { margin: 5px 0; } details { display: none; }
section:last-child { font-size: 12.5px; }
</style>
<section><h2>1 · A table with several labels per row</h2><table><tr>
{% for name in names %}<th{% if name in labels %} class="label"{% endif %}>{{ short(name) }}</th>
{% endfor %}</tr>{% for row in rows %}
<tr{% if loop.index == 7 %} class="picked"{% endif %}>{% for name, cell in row.items() %}
<td{% if name in labels %} class="label"{% endif %}>{{ text(cell) }}</td>
{% endfor %}</tr>{% endfor %}
</table><p>… 462 rows, 9 features, 3 labels</p></section>
<section><h2>2 · Rules that a person can read and edit</h2>{{ rules }}</section>
<section><h2>3 · One row explained</h2>{{ row }}</section>
"""


def patients() -> pd.DataFrame:
    """The table, as `pandas.read_csv` reads it."""
    clinic = load("clinic")
    words = {"cough", "aches", "breathless"}
    columns = {}
    for number, feature in enumerate(clinic.schema.features):
        if feature.name in FEATURES:
            values = pd.Series(clinic.X[:, number])
            if feature.name in words:
                columns[feature.name] = values.map({0.0: "no", 1.0: "yes"})
            elif feature.categories:
                columns[feature.name] = values.map(dict(enumerate(feature.categories)))
            else:
                columns[feature.name] = values
    for name in LABELS:
        columns[name] = pd.Series(clinic.Y[:, clinic.schema.labels.index(name)])
    table = pd.DataFrame(columns)[FEATURES + LABELS].head(500)
    known = (table[LABELS] >= 0).all(axis=1)
    return table[known].reset_index(drop=True)


def page() -> str:
    """The HTML page of which the picture is taken."""
    table = patients()
    model = SeparateAndConquer().fit(table[FEATURES], table[LABELS])
    found = explain(model, table[FEATURES], ROW, counterfactuals="given")
    shown = table.loc[ROW - 6 : ROW + 5, ["age", "temperature", "crp", "cough", "aches", *LABELS]]
    short = {"temperature": "temp", "pneumonia": "pneum", "infection": "infect"}
    return Template(PAGE).render(
        names=list(shown),
        labels=LABELS,
        short=lambda name: short.get(name, name),
        text=lambda cell: cell if isinstance(cell, str) else "" if cell != cell else f"{cell:g}",
        rows=shown.to_dict("records"),
        rules=theory_html(model),
        row=found._repr_html_(),
    )


def take_picture(page: str, target: Path) -> None:
    """Let Chromium draw a page."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "page.html"
        source.write_text(page, encoding="utf-8")
        subprocess.run(
            [shutil.which("chromium") or "chrome", "--headless=new", "--no-sandbox",
             "--hide-scrollbars", "--force-device-scale-factor=1.6",
             f"--window-size={SIZE[0]},{SIZE[1]}", f"--screenshot={target}", source.as_uri()],
            check=True, capture_output=True, timeout=60,
        )  # fmt: skip
    Image.open(target).convert("RGB").quantize(48).save(target, optimize=True)


if __name__ == "__main__":
    patients().to_csv(STATIC / "patients.csv", index=False)
    take_picture(page(), STATIC / "overview.png")
