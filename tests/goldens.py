"""Theories that a person can read and review; the first line of each says where it comes from."""

from pathlib import Path

from labelrules import DecisionList, load, parse

FOLDER = Path(__file__).parent / "golden"


def golden_text(name: str) -> str:
    return (FOLDER / f"{name}.rules").read_text(encoding="utf-8")


def golden(name: str) -> DecisionList:
    theory = parse(golden_text(name), load("magazines").schema)
    assert isinstance(theory, DecisionList)
    return theory


def bits(row) -> str:
    """Labels of a row as text, in order: quality, tabloid, fashion, sports."""
    return "".join(str(int(cell)) for cell in row)
