"""The tables of the pages on losses and heads, made from what the library knows.

``python docs/tables.py`` writes them into the pages, between the marks that name them;
`tests/test_docs_tables.py` fails when a page says something else.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from labelrules.measures import Measure, Traits, traits
from labelrules.measures.measure_traits import PROPERTIES, TABLE
from labelrules.search import best_head, kln

DOCS = Path(__file__).parent
NAMES = {"hamming": "Hamming", "f": "F", "laplace": "any other"}
AVERAGINGS = "micro, macro, samples, cell"
WHOLE = {AVERAGINGS: "all four", "partial, full": "both"}
Row = tuple[str, ...]


def properties() -> str:
    """The chapter's table of properties: what it says, and what is true."""
    rows = []
    for (name, predictions, averaging), found in TABLE.items():
        claims = found.claimed_anti_monotone, found.claimed_decomposable
        rows.append(
            (
                NAMES.get(name, name),
                predictions,
                averaging,
                _against(claims[0], found, "anti_monotone"),
                "yes" if claims[0] else "—",
                _linked(found, "finds"),
                _against(claims[1], found, "decomposable"),
                "yes" if claims[1] else "—",
                _linked(found, "merges"),
            )
        )
    return _table(
        "measure, predictions, averaging, anti-monotone, chapter, finds, decomposable, chapter,"
        " merges",
        _merged(_merged(rows, 2), 0),
    )


def further_failures() -> str:
    """What else fails with head-relative counting and on a board with written cells."""
    rows = []
    for words, options in (
        ("counted head-relative", {"counting": "head-relative"}),
        ("some cells written", {"written": True}),
    ):
        for (name, predictions, averaging), before in TABLE.items():
            now = traits(Measure.parse(f"{name}/{averaging}/{predictions}"), **options)
            cells = [_linked(now, p) if _differ(before, now, p) else "" for p in PROPERTIES]
            if any(cells):
                rows.append((words, NAMES.get(name, name), predictions, averaging, *cells))
    return _table(
        "when, measure, predictions, averaging, anti-monotone, finds, decomposable, merges",
        _merged(rows, 1),
    )


def _differ(before: Traits, now: Traits, key: str) -> bool:
    return bool(getattr(before, key) != getattr(now, key))


def methods() -> str:
    """Which search finds the best head, in three situations."""
    cells = [*TABLE, *(("laplace", p, a) for p in ("partial", "full") for a in _averagings())]
    rows = [
        (averaging, NAMES.get(name, name), predictions, *_methods(name, averaging, predictions))
        for averaging in _averagings()
        for name, predictions, one in cells
        if one == averaging
    ]
    return _table(
        "averaging, measure, predictions, whole rows, rows written in part, with a size bonus",
        _merged(_merged(_merged(rows, 2), 1), 0),
    )


def _averagings() -> list[str]:
    return AVERAGINGS.split(", ")


def _methods(name: str, averaging: str, predictions: str) -> Iterator[str]:
    measure = Measure.parse(f"{name}/{averaging}/{predictions}")
    Y, covered = np.array([[1, 0], [0, 1], [1, 1]]), np.array([True, True, False])
    board = np.array([[-1, 0], [-1, -1], [-1, -1]], np.int8)
    for options in ({}, {"board": board}, {"size_bonus": kln(0.2)}):
        try:
            ways = (
                best_head(Y, covered, measure, counting=counting, **options).method
                for counting in ("chapter", "head-relative")
            )
            yield " or ".join(dict.fromkeys(ways))
        except ValueError:
            yield "—"


def _against(claimed: bool, found: Traits, key: str) -> str:
    """A verdict, in bold if the chapter says otherwise."""
    text = _linked(found, key)
    return text if claimed == (getattr(found, key) == "yes") else f"**{text}**"


def _linked(found: Traits, key: str) -> str:
    verdict = str(getattr(found, key))
    return verdict if verdict == "yes" else f"[{verdict}](#{anchor(found.witnesses[key])})"


def anchor(name: str) -> str:
    """The anchor of a heading with the name of a counterexample."""
    return name.replace(".", "")


def _merged(rows: list[Row], column: int) -> list[Row]:
    """Rows that differ in one column only become one, at the place of the first."""
    groups: dict[Row, list[str]] = {}
    for row in rows:
        groups.setdefault(row[:column] + row[column + 1 :], []).append(row[column])
    found = []
    for rest, words in groups.items():
        text = ", ".join(words)
        found.append((*rest[:column], WHOLE.get(text, text), *rest[column:]))
    return found


def _table(head: str, rows: list[Row]) -> str:
    columns = head.split(", ")
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


TABLES = {
    ("losses.md", "properties"): properties,
    ("losses.md", "further failures"): further_failures,
    ("heads.md", "methods"): methods,
}
"""From the page and the mark to what belongs there."""


def marked(mark: str) -> re.Pattern[str]:
    """Finds what stands between two marks."""
    return re.compile(rf"(?<=<!-- {mark} -->\n\n).*?(?=\n\n<!-- end of {mark} -->)", re.DOTALL)


def main() -> None:
    """Write every table into its page."""
    for (page, mark), table in TABLES.items():
        path = DOCS / page
        text, n = marked(mark).subn(lambda _, table=table: table(), path.read_text("utf-8"))
        assert n == 1, f"{page} has {n} places for the table of {mark}"
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
