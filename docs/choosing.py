"""The measured figures of *Which learner should I use?*, taken from the folder of benchmarks.

``python docs/choosing.py`` writes them into the page, between the marks that name them;
`tests/test_docs_choosing.py` fails when the page says something else.
"""

from written import DOCS, table, write

BENCHMARKS = DOCS.parent / "benchmarks"
HEAD = "learner, micro-F1, example-F1, subset acc., literals, fit: CPU s"

LAYERS = "README.md", "## Learners made of others"
ASSOCIATIVE = "README.md", "## Classifiers made of association rules"
SHORT = "README.md", "## Other programs on nine data sets"
PEERS = "figures/peers.md", "# Other programs on nine data sets"

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


def measured() -> str:
    """Learners of this library with their default settings."""
    lines = []
    for name, section, row in ROWS:
        (cells,) = [cells for cells in rows_of(section) if cells["learner"] == row]
        time = cells.get("CPU s", cells.get("fit, CPU s", ""))
        quality = [cells[column] for column in ("micro-F1", "example-F1", "subset acc.")]
        lines.append([name, *quality, cells["literals"] or "none", time])
    return table(HEAD, lines)


def others() -> str:
    """Other programs beside ours on nine data sets; those that are not ranked have no rank."""
    ranks = {cells["learner"]: cells["together"] for cells in rows_of(PEERS, "together")}
    every = [cells for cells in rows_of(PEERS) if not _is_setting(cells["learner"])]
    every.sort(key=lambda cells: float(ranks.get(cells["learner"], "inf")))
    columns = ["sets", "micro-F1", "example-F1", "subset acc.", "literals", "fit: CPU s"]
    return table(
        f"learner, mean rank, {', '.join(columns)}",
        [
            [cells["learner"], ranks.get(cells["learner"], ""), *(cells[one] for one in columns)]
            for cells in every
        ],
    )


def plainly() -> str:
    """Who is best, and how far it is to mlrl-boomer and to forests, in sentences."""
    wanted = (
        " has the best mean rank",
        "Ranked with",
        " and mlrl-boomer",
        " and random forest, tuned",
    )
    lines = _section(PEERS).splitlines()
    start = next(place for place, line in enumerate(lines) if wanted[0] in line)
    end = lines.index("", start)
    return "\n".join(line for line in lines[start:end] if any(one in line for one in wanted))


def _is_setting(learner: str) -> bool:
    """Whether this is one of the further settings, which are only for the picture."""
    return learner.split(" ")[-1] in ("literals", "leaves") or ", cost" in learner


def rows_of(section: tuple[str, str], column: str = "micro-F1") -> list[dict[str, str]]:
    """The rows of the first table of a section with this column."""
    first = next(part for part in _section(section).split("\n\n") if f"| {column} |" in part)
    lines = [_cells(line) for line in first.strip().splitlines()]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def _section(section: tuple[str, str]) -> str:
    page, title = section
    text = (BENCHMARKS / page).read_text("utf-8")
    return text[text.index(title) :].partition("\n## ")[0]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


PARTS = {"measured": measured, "others": others, "plainly": plainly}

if __name__ == "__main__":
    write("choosing.md", PARTS)
