"""The tables and pictures of the page on the chapter's case studies.

``python docs/case_studies.py`` writes them into the page, between the marks that name them, and
draws the pictures. The data sets are looked for in ``$LABELRULES_DATA``, or in ``shared/data``
beside the project folder; what ``make casestudies`` has kept in ``casestudies-results`` is taken
from there. `tests/test_docs_case_studies.py` compares what does not depend on the machine.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from casestudies import CaseStudies, Claim, case_studies
from casestudies.chapter import SHOWN_LABELS
from casestudies.materials import OBJECTIVES
from casestudies.time_picture import time_picture_svg
from written import DOCS, folder, table, write

from labelrules.lab import critical_difference_svg
from labelrules.lab.comparing.score_tables import p_text

RESULTS = DOCS.parent / "casestudies-results"
PICTURES = {
    name: DOCS / "_static" / f"case-studies-{name}.svg"
    for name in ("times", "subset-accuracy", "micro-F1")
}


@cache
def found() -> CaseStudies:
    """Both studies on all data sets."""
    return case_studies(folder(), folder=RESULTS)


def headline() -> str:
    """How many statements were seen."""
    return f"**{found().headline}.**"


def statements() -> str:
    """Each statement with its verdict."""
    lines = [[str(one.study), one.topic, one.verdict, _cell(one.found)] for one in found().claims]
    return table("study, statement, seen here, found", lines)


def disagreements() -> str:
    """What the chapter says and is not seen, or in part, with the reason."""
    return "\n".join(_disagreement(one) for one in found().claims if one.reason)


def _disagreement(one: Claim) -> str:
    return f"- *{one.topic}* ({one.verdict}). The chapter: {_cell(one.chapter)} Here: {_cell(one.found)} {_cell(one.reason)}"  # noqa: E501


def _cell(text: str) -> str:
    """Text in a table: no sign that Markdown takes for its own."""
    return text.replace("|", "\\|").replace("<-", "←").replace("_", "\\_")


def sizes() -> str:
    """The models of the three sets of the figure."""
    study = found().single_heads
    assert study is not None
    lines = [
        [name, learner, *map(str, (size.rules, size.conditions, size.literals, size.all_literals)),
         f"{size.per_label:.1f}", str(size.full + size.partial), f"{size.used:.1f}"]
        for name, learner, size in study.sizes(SHOWN_LABELS)
    ]  # fmt: skip
    return table(
        "set, learner, rules, conditions, literals, of all layers, rules per label, "
        "rules that test labels, rules behind a row",
        lines,
    )


def heads() -> str:
    """The share of multi-label heads, sets by objectives."""
    study = found().multi_heads
    assert study is not None
    shown = {(one.data, one.objective): one for one in study.heads}
    lines = [["mean", *(f"{study.share(objective):.0%}" for objective in OBJECTIVES)]]
    for data in study.quality.datasets:
        rows = [shown[data, objective] for objective in OBJECTIVES]
        cells = [f"{one.share:.0%} of {one.n_rules} ({one.mean_size:.1f})" for one in rows]
        lines.append([data, *cells])
    return table(", ".join(["set", *OBJECTIVES]), lines)


def ranks() -> str:
    """Average ranks, and the p-values of Friedman's test below them."""
    study = found().multi_heads
    assert study is not None
    tests = study.friedman
    lines = [
        [learner, *(f"{test.ranks[learner]:.2f}" for test in tests.values())]
        for learner in study.quality.learners
    ]
    for title, some in (
        ("*Friedman, p*", tests),
        ("*without label sets, p*", study.without_label_sets),
        ("*the six lists only, p*", study.of_lists),
    ):
        lines.append([title, *(p_text(test.p) for test in some.values())])
    lines.append([
        "*significant pairs of 45*",
        *(str(sum(pair.significant for pair in study.nemenyi[name].pairs)) for name in tests),
    ])  # fmt: skip
    return table(", ".join(["algorithm", *tests]), lines)


def times() -> str:
    """How much longer multi-label heads take, sets by objectives."""
    study = found().multi_heads
    assert study is not None
    shown = {(one.data, one.objective): one for one in study.times}
    lines = []
    for data in study.quality.datasets:
        rows = [shown[data, objective] for objective in OBJECTIVES]
        lines.append([data, *(f"{one.ratio:.2f} ({one.single:.2f} s)" for one in rows)])
    return table(", ".join(["set", *OBJECTIVES]), lines)


def median() -> str:
    """The median of the ratios."""
    study = found().multi_heads
    assert study is not None
    return (
        f"The median over the {len(study.ratios)} pairs is **{study.median_ratio:.2f}**, the range "
        f"{min(study.ratios):.2f} to {max(study.ratios):.2f}."
    )


def pictures() -> Iterator[tuple[Path, str]]:
    """The files of the pictures, and what they hold."""
    study = found().multi_heads
    assert study is not None
    yield PICTURES["times"], str(time_picture_svg(study.times))
    yield (
        PICTURES["subset-accuracy"],
        str(critical_difference_svg(study.nemenyi["subset accuracy"])),
    )
    yield PICTURES["micro-F1"], str(critical_difference_svg(study.nemenyi["micro F1"]))


PARTS = {
    "headline": headline,
    "statements": statements,
    "disagreements": disagreements,
    "sizes": sizes,
    "heads": heads,
    "ranks": ranks,
    "times": times,
    "median": median,
}
"""From the mark to what belongs there."""


def main() -> None:
    """Write every part into the page, and draw the pictures."""
    write("case-studies.md", PARTS)
    for path, picture in pictures():
        path.write_text(f"{picture}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
