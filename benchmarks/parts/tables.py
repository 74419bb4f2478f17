"""Tables in Markdown."""

from typing import Any


def row(*cells: Any) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def header(*cells: str) -> str:
    return f"{row(*cells)}\n{row('---', *['---:'] * (len(cells) - 1))}"
