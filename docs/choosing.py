"""The measured figures of *Which learner should I use?*, taken from ``benchmarks/README.md``.

``python docs/choosing.py`` writes them into the page, between the marks that name them;
`tests/test_docs_choosing.py` fails when the page says something else.
"""

from written import DOCS, table, write

BENCHMARKS = DOCS.parent / "benchmarks" / "README.md"
HEAD = "learner, micro-F1, example-F1, subset acc., literals, fit: CPU s"

LAYERS = "## Learners made of others"
ASSOCIATIVE = "## Classifiers made of association rules"
FRONTIER = "## Quality against size"

ROWS = [
    ("`SeparateAndConquer()`", LAYERS, "separate-and-conquer"),
    ("`Scorecard()`", LAYERS, "scorecard"),
    ("`BinaryRelevance(Ripper(), last_resort=0.4)`", LAYERS, "BR, last resort (RIPPER)"),
    ("`ClassifierChain(Ripper(), last_resort=0.4)`", LAYERS, "chain, last resort (RIPPER)"),
    ("`StackedBinaryRelevance(Ripper())`", LAYERS, "SBR (RIPPER)"),
    ("`ClassifierChain(Ripper(), n_chains=10)`", LAYERS, "ten chains that vote (RIPPER)"),
    ("`LabelPowerset(SeparateAndConquer())`", LAYERS, "powerset (separate-and-conquer)"),
    ("`AssociativeClassifier()`", ASSOCIATIVE, "associative"),
    ("`LazyAssociativeClassifier()`", ASSOCIATIVE, "lazy associative"),
]
OTHERS = ["random forest", "extra trees", "Weka's JRip for each label", "mlrl-seco 0.12.3"]


def measured() -> str:
    """Learners of this library with their default settings."""
    lines = []
    for name, section, row in ROWS:
        (cells,) = [cells for cells in _rows(section) if cells["learner"] == row]
        time = cells.get("CPU s", cells.get("fit, CPU s", ""))
        quality = [cells[column] for column in ("micro-F1", "example-F1", "subset acc.")]
        lines.append([name, *quality, cells["literals"] or "none", time])
    return table(HEAD, lines)


def others() -> str:
    """Other programs, on the same splits."""
    found = [cells for cells in _rows(FRONTIER) if cells["theory"] in OTHERS]
    columns = ["theory", "setting", "micro-F1", "example-F1", "subset acc.", "literals"]
    return table(
        "program, setting, micro-F1, example-F1, subset acc., literals",
        [[cells[column] for column in columns] for cells in found],
    )


def _rows(section: str) -> list[dict[str, str]]:
    """The rows of the first table of a section with a column of micro-F1."""
    text = BENCHMARKS.read_text("utf-8")
    text = text[text.index(section) :].partition("\n## ")[0]
    first = next(part for part in text.split("\n\n") if "| micro-F1 |" in part)
    lines = [_cells(line) for line in first.strip().splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


PARTS = {"measured": measured, "others": others}

if __name__ == "__main__":
    write("choosing.md", PARTS)
