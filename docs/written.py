"""What scripts that write figures into pages have in common.

A page has marks such as ``<!-- sizes -->`` and ``<!-- end of sizes -->``; what stands between them
is written by the script that bears the name of the page.
"""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

DOCS = Path(__file__).parent


def folder() -> Path:
    """Where the data sets are: ``$LABELRULES_DATA``, or ``shared/data`` beside the project."""
    beside = DOCS.resolve().parents[1] / "shared" / "data"
    return Path(os.environ.get("LABELRULES_DATA") or beside)


def table(head: str, lines: list[list[str]]) -> str:
    """A table in Markdown; the names of its columns are parted by a comma and a space."""
    columns = head.split(", ")
    every = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in every)


def marked(mark: str) -> re.Pattern[str]:
    """Finds what stands between two marks."""
    return re.compile(rf"(?<=<!-- {mark} -->\n\n).*?(?=\n\n<!-- end of {mark} -->)", re.DOTALL)


def write(page: str, parts: Mapping[str, Callable[[], str]]) -> None:
    """Write every part into the page, between its marks."""
    path = DOCS / page
    text = path.read_text("utf-8")
    for mark, part in parts.items():
        text, n = marked(mark).subn(lambda _, part=part: part(), text)
        assert n == 1, f"{n} places for {mark}"
    path.write_text(text, "utf-8")
