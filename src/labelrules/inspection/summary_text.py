"""Summaries and comparisons as text."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from labelrules._checks import counted
from labelrules.inspection.summaries import FeatureSummary, LabelSummary, Pair, Summary
from labelrules.rules.formats.language import name_text

SHOWN = 10
"""Longer lists are cut; all is in the data."""


def summary_lines(found: Summary) -> Iterator[str]:
    """A theory in figures, line by line."""
    yield from size_lines(found)
    if found.n_rows is not None:
        yield on_data_line(found, found.n_rows)
        never = [f"{rule.place}: {rule.text}" for rule in found.never_reached]
        yield from cut(f"never reached: {len(never)}", never)
    yield from cut(f"subsumed: {len(found.subsumed)}", pair_lines(found.subsumed, "by"))
    # Of a list a number is enough: there the earlier rule wins.
    pairs = () if found.theory.ordered else found.conflicting
    title = f"conflicting pairs: {len(found.conflicting)}"
    yield from cut(title, pair_lines(pairs, "and"), always=bool(found.conflicting))
    yield from table(*labels_table(found.labels))
    yield from _features(found.features)


def size_lines(found: Summary) -> Iterator[str]:
    """How large a theory is, and what kinds of rules it has."""
    n_rules = len(found.theory)
    yield f"{counted(n_rules, 'rule')} with {_conditions(found)}"
    yield f"labels in the head: {_sizes(found.head_sizes)}"
    yield f"conditions in the body: {_sizes(found.body_sizes)}"
    yield (
        f"{_share(found.n_positive, n_rules)} positive, {_share(found.n_negative, n_rules)} "
        f"negative, {_share(found.n_mixed, n_rules)} mixed heads"
    )
    yield (
        f"{_share(found.n_dependent, n_rules)} label-dependent, "
        f"{_share(found.n_stopping, n_rules)} stopping"
    )


def _conditions(found: Summary) -> str:
    if found.n_conditions == 1:
        return f"1 condition, on a {'label' if found.n_label_conditions else 'feature'}"
    on_labels = f", {found.n_label_conditions} of them on labels" if found.n_conditions else ""
    return f"{counted(found.n_conditions, 'condition')}{on_labels}"


def on_data_line(found: Summary, n_rows: int) -> str:
    """What the rules decide on the data."""
    n_open = sum(label.n_undecided or 0 for label in found.labels)
    n_cells = n_rows * len(found.labels)
    share = _share(n_cells - n_open, n_cells)
    return (
        f"on {counted(n_rows, 'row')} {share} of the cells are decided, "
        f"{counted(found.n_undecided_rows or 0, 'row')} not at all"
    )


def pair_lines(pairs: Iterable[Pair], word: str) -> list[str]:
    """Rules and those that they are paired with, on two lines each."""
    found = []
    for pair in pairs:
        others = zip(pair.others, pair.other_texts, strict=True)
        blamed = "; ".join(f"{place}: {text}" for place, text in others)
        end = f"\n  {word} {blamed}" if blamed else " (no row can satisfy it)"
        found.append(f"{pair.place}: {pair.text}{end}")
    return found


Table: TypeAlias = tuple[Sequence[str], Sequence[Sequence[str]]]
"""The titles of columns, and lines."""


def labels_table(labels: Sequence[LabelSummary]) -> Table:
    """A line for each label."""
    titles = ("positive", "negative", "conditions", "dependent", "tested by", "undecided", "wrong")
    n_known = 5 + (labels[0].n_undecided is not None) + (labels[0].n_wrong is not None)
    lines = [(name_text(line.label), *map(str, line[1 : 1 + n_known])) for line in labels]
    return ("label", *titles[:n_known]), lines


def _features(features: Sequence[FeatureSummary]) -> Iterator[str]:
    titles, lines = features_table(features[:SHOWN])
    if lines:
        yield from table(titles, lines)
    if len(features) > SHOWN:
        yield f"and {counted(len(features) - SHOWN, 'more feature')}"


def features_table(features: Sequence[FeatureSummary]) -> Table:
    """A line for each feature."""
    lines = [
        (name_text(line.feature), str(line.n_rules), str(line.n_conditions), _some(line.labels))
        for line in features
    ]
    return ("feature", "rules", "conditions", "labels"), lines


def table(titles: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns side by side: the first to the left, numbers to the right, names at the end."""
    widths = [max(map(len, column)) for column in zip(titles, *lines, strict=True)]
    for line in (titles, *lines):
        first, *middle = [
            cell.ljust(width)
            if i in (0, len(widths) - 1) and titles[i] in NAMES
            else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join([first, *middle]).rstrip()


NAMES = frozenset({"label", "feature", "labels", "rule"})
"""Titles of columns that hold names."""


def cut(title: str, lines: Sequence[str], always: bool = False) -> Iterator[str]:
    """A title and the first lines below it; nothing if there are none."""
    if lines or always:
        yield title
    for line in lines[:SHOWN]:
        yield from (f"  {part}" for part in line.split("\n"))
    if len(lines) > SHOWN:
        yield f"  and {len(lines) - SHOWN} more"


def _sizes(sizes: dict[int, int]) -> str:
    return ", ".join(f"{size} in {counted(n, 'rule')}" for size, n in sizes.items()) or "none"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "0%"


def _some(names: tuple[str, ...]) -> str:
    more = len(names) - SHOWN
    return ", ".join(map(name_text, names[:SHOWN])) + (f" and {more} more" if more > 0 else "")
