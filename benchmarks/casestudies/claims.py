"""Statements of the chapter, what was found, and whether the two agree."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

Verdict = Literal["yes", "partly", "no", "not examined"]

VERDICTS: tuple[Verdict, ...] = ("yes", "partly", "no", "not examined")


class Claim(NamedTuple):
    """A statement of the chapter beside what was found.

    Attributes
    ----------
    study : int
        1 or 2.
    topic : str
        What it is about, in some words.
    chapter : str
        What the chapter says.
    found : str
        What was found here.
    verdict : {"yes", "partly", "no", "not examined"}
        Whether it was seen here, too.
    reason : str
        Why not, or not wholly; empty if it was.
    """

    study: int
    topic: str
    chapter: str
    found: str
    verdict: Verdict
    reason: str = ""


def graded(parts: Sequence[bool]) -> Verdict:
    """Yes if all parts of a statement hold, partly if some do.

    >>> graded([True, True]), graded([True, False]), graded([False]), graded([])
    ('yes', 'partly', 'no', 'not examined')
    """
    if not parts:
        return "not examined"
    return "yes" if all(parts) else "partly" if any(parts) else "no"


def claim(
    study: int, topic: str, chapter: str, found: str, parts: Sequence[bool], reason: str = ""
) -> Claim:
    """A statement whose parts were examined one by one; the reason stays if not all of them hold.

    >>> claim(1, "sizes", "between 50 and 100 rules", "60 rules", [True], "another pruning").reason
    ''
    """
    verdict = graded(parts)
    return Claim(study, topic, chapter, found, verdict, "" if verdict == "yes" else reason)


def unexamined(study: int, topic: str, chapter: str, why: str) -> Claim:
    """A statement that could not be examined."""
    return Claim(study, topic, chapter, "", "not examined", why)


def tally(claims: Iterable[Claim]) -> dict[Verdict, int]:
    """How many statements have each verdict."""
    counts = Counter(one.verdict for one in claims)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def share_text(part: float, whole: float) -> str:
    """A share in percent.

    >>> share_text(1, 3), share_text(0, 0)
    ('33%', '0%')
    """
    return f"{part / whole:.0%}" if whole else "0%"
