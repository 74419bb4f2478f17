"""Explanations that fit on a screen: the labels of a row with reasons, the others in short."""

import re
import shutil
import sys
from collections.abc import Iterator
from math import inf
from textwrap import wrap
from typing import NamedTuple

from labelrules._checks import counted, whole_number
from labelrules.inspection.explanation.phrases import (
    body_words,
    change_words,
    choice_words,
    evidence_words,
    needs_words,
    outcome_words,
    rule_words,
    short_sum_words,
    sum_words,
)
from labelrules.inspection.explanation.shortening import ShortWords
from labelrules.inspection.explanation.values import Explanation, LabelExplanation
from labelrules.inspection.tracing import PRESENCE, unsettled_text, value_text, value_words
from labelrules.rules.language.words import name_text
from labelrules.rules.views.terminal import short_label_text, short_name_text

SCREEN = 25  # lines
WIDTH = 100  # characters, if there is no terminal
MORE = "explanation.text(details=True): every label, training rows, later rules"

_INDENT = "    "
_ITEM = re.compile(
    r"""(?:"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | [^,;] | [,;](?!\ ))+ [,;]?""", re.VERBOSE
)
_NARROWEST = 30


class _Layout(NamedTuple):
    """How much room an explanation takes."""

    is_spacious: bool  # an empty line between labels
    is_listed: bool  # reason, evidence and change on lines of their own
    n_absent: int  # absent labels that get a line
    n_terms: int | None = None  # conditions of a rule, points that are added up, changes
    has_precision: bool = True  # if not, the evidence follows the reason in brackets


_LAYOUTS = (
    _Layout(True, True, 5),
    _Layout(False, True, 3),
    _Layout(False, True, 3, n_terms=8, has_precision=False),
    _Layout(False, False, 3, n_terms=8, has_precision=False),
    _Layout(False, False, 1, n_terms=3, has_precision=False),
    _Layout(False, False, 0, n_terms=1, has_precision=False),
)
"""The first one that fits on a screen is taken, or else the last."""


def overview_text(explanation: Explanation, width: int | None = None) -> str:
    """An explanation on a screen, wrapped at a width; by default at that of the terminal.

    Names and thresholds are those of `theory_view`; the last lines tell the abbreviations.
    """
    if width is None:
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH
    width = max(whole_number(width, "width", low=1), _NARROWEST)
    words = ShortWords(explanation.theory)
    short = words.explanation(explanation)
    lines: list[str] = []
    for layout in _LAYOUTS:
        lines = [row_words(short, width, words), *_lines(short, layout, width)]
        legend = ", ".join(words.legend("\n".join(lines)))
        lines += [*_hanging(legend, "", _INDENT, width), *wrap(MORE, width)]
        if len(lines) <= SCREEN:
            break
    return "\n".join(lines)


def _lines(explanation: Explanation, layout: _Layout, width: int) -> Iterator[str]:
    for note in row_notes(explanation):
        yield from wrap(note, width)
    is_chosen = len(explanation) < explanation.theory.schema.n_labels
    shown = [one for one in explanation if one.predicted or is_chosen]
    for number, one in enumerate(shown):
        if layout.is_spacious or not number:
            yield ""
        yield from _label(one, layout, width)
    if not (shown or is_chosen):
        yield from ("", "No label is given.")
    if not is_chosen:
        for title, lines in absent_groups(explanation, layout.n_absent):
            if layout.is_spacious or shown:
                yield ""
            yield from wrap(title, width)
            yield from _table(lines, width)


def row_words(explanation: Explanation, width: int, words: ShortWords | None = None) -> str:
    """The row on one line: the features that it has, or all values if they fit."""
    start, features = f"Row {explanation.row}", explanation.theory.schema.features
    names = [short_name_text(words.name(f.name)) if words else name_text(f.name) for f in features]
    binary = {j for j, f in enumerate(features) if f.present_code is not None or f.kind == "amount"}
    n_binary = len(binary)
    if 2 * n_binary > len(features):
        present = [
            names[j]
            for j in _by_relevance(explanation)
            if j in binary and value_words(explanation.values[j], is_binary=True) == PRESENCE[1]
        ]
        return _cut(start, present, f"({len(present):,} of {n_binary:,} present)", width)
    pairs = [
        f"{name} = {value_text(value)}"
        for name, value in zip(names, explanation.values, strict=True)
    ]
    whole = f"{start}: {', '.join(pairs)}"
    if len(whole) <= width:
        return whole if pairs else start
    found = [pairs[j] for j in _by_relevance(explanation) if explanation.values[j] != 0]
    if 2 * len(found) < len(pairs):
        return _cut(start, found, f"({len(found):,} of {len(pairs):,} are not 0)", width)
    return start


def _by_relevance(explanation: Explanation) -> list[int]:
    """The features: first those that the labels of the row rest on, then all that rules test."""
    columns = range(explanation.theory.schema.n_features)
    tested = {c.column for rule in explanation.theory for c in rule.body.on_features}
    deciding = {
        checked.condition.column
        for one in explanation
        if one.predicted
        for rule in (*one.votes, *([one.rule] if one.rule else []))
        for checked in rule.conditions
        if not checked.condition.on_label
    }
    return sorted(columns, key=lambda j: (j not in deciding, j not in tested, j))


def _cut(start: str, words: list[str], end: str, width: int) -> str:
    """As many words as fit between start and end."""
    if not words:
        return f"{start} {end}"
    line = f"{start}: {words[0]}"
    for number, word in enumerate(words[1:], 1):
        more = f"{line}, {word}"
        dots = " …" if number < len(words) - 1 else ""
        if len(f"{more}{dots} {end}") > width:
            return f"{line} … {end}"
        line = more
    return f"{line} {end}"


def row_notes(explanation: Explanation) -> Iterator[str]:
    """What holds for all labels of the row together."""
    if explanation.unsettled:
        yield unsettled_text(explanation.unsettled)
    choices = {one.choice for one in explanation if one.decided == "label set"}
    for choice in choices:
        if choice is not None:
            yield f"The row gets {choice_words(choice)}."


def _label(one: LabelExplanation, layout: _Layout, width: int) -> Iterator[str]:
    facts = list(label_facts(one, layout.n_terms, layout.has_precision))
    name = short_label_text(one.label)
    if not layout.is_listed:
        parts = [f"{title} {text}".lstrip() for title, text in facts]
        yield from _hanging(f"{name}: {'; '.join(parts)}", "", _INDENT, width)
        return
    if one.votes:
        yield from _hanging(f"{name}: {facts.pop(0)[1]}", "", _INDENT, width)
    else:
        yield name if one.predicted else f"{name}: not given"
    longest = max((len(title) for title, _ in facts), default=0)
    for title, text in facts:
        start = f"{_INDENT}{title:<{longest}}  "
        yield from _hanging(text, start, " " * len(start), width)


def label_facts(
    one: LabelExplanation, n_terms: int | None = None, has_precision: bool = True
) -> Iterator[tuple[str, str]]:
    """Why a label is given or not, the evidence, and what would change it, each with a title."""
    if one.votes:
        yield "", f"{sum_words(one, n_terms)}: {outcome_words(one)}"
    evidence = evidence_words(one, has_precision)
    if not one.votes:
        about = f" ({evidence})" if evidence is not None and not has_precision else ""
        yield "because", f"{reason_words(one, n_terms)}{about}"
    if evidence is not None and has_precision:
        yield "evidence", evidence
    if one.counterfactual is not None:
        yield change_words(one.counterfactual, n_terms)


def reason_words(one: LabelExplanation, n_shown: int | None = None) -> str:
    """Why a label is given, or not; of a rule set only if no rule holds for the label."""
    if one.presence is not None:
        return f"it was sampled with probability {one.presence:.2f}"
    if one.predicted and one.rule is not None:
        return rule_words(one.rule, n_shown)
    if one.decided in ("label set", "most points"):
        return outcome_words(one)
    return absence_words(one)


def absence_words(one: LabelExplanation) -> str:
    """Why a label is absent: no rule for it holds, unless a rule speaks against it."""
    if is_denied(one):
        return denial_words(one)
    start = f"no rule for it holds{_where(one)}"
    return start if one.closest is None else f"{start}; the closest {needs_words(one.closest)}"


def _where(one: LabelExplanation) -> str:
    """The layer that decides, if there are several."""
    layer = one.chain.nodes[0].layer
    return "" if layer is None else f" in layer {layer + 1}"


def is_denied(one: LabelExplanation) -> bool:
    """Whether a rule says that the label is absent, or came before one that would give it."""
    is_late = one.closest is not None and not one.closest.failing
    if one.rule is None:
        return is_late
    names_it = bool(one.rule.conditions) and not one.rule.rule.head.is_complete
    return is_late or names_it


def denial_words(one: LabelExplanation) -> str:
    """The rule that says that a label is absent, or that ended the list before."""
    if one.rule is not None:
        found = evidence_words(one, has_precision=False)
        about = "" if found is None else f" ({found})"
        return f"{body_words(one.rule) or 'by default'}{about}"
    if one.closest is not None and one.closest.place.is_fallback:
        return "another rule for rows without a label holds first"
    if one.ended is not None:
        return f"{one.ended.place} ended the list before a rule for it: {one.ended.text}"
    return "another rule came first"


def absent_words(one: LabelExplanation) -> str:
    """Why a label is absent, in a few words."""
    if one.presence is not None:
        return f"probability {one.presence:.2f}"
    if one.votes:
        return short_sum_words(one)
    if _is_by_points(one):
        return "0: no condition gives it points"
    if is_denied(one):
        return denial_words(one)
    return "no rule predicts it" if one.closest is None else needs_words(one.closest)


def absent_groups(
    explanation: Explanation, n_shown: int
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The absent labels in groups: a title with their number, and lines for some of them."""
    groups: dict[str, list[LabelExplanation]] = {}
    for one in explanation:
        if not one.predicted:
            groups.setdefault(_absence(one), []).append(one)
    for why in (" by a rule", " by sampling", " by their points", ""):
        labels = sorted(groups.get(why, ()), key=_closeness)
        lines = [(short_label_text(one.label), absent_words(one)) for one in labels[:n_shown]]
        are = f"{counted(len(labels), 'label')} {'is' if len(labels) == 1 else 'are'} absent"
        if labels and why:
            title = f"{are}{why if len(labels) > 1 else why.replace('their', 'its')}"
            title += " (more than 0 are needed)" if "points" in why else ""
            yield f"{title}{_end(lines, labels, why)}", lines
        elif labels:
            lines = [line for line, one in zip(lines, labels, strict=False) if one.closest]
            them = "it" if len(labels) == 1 else "them"
            holds = f"holds{_where(labels[0])}"
            yield f"{are}: no rule for {them} {holds}{_end(lines, labels, why)}", lines


def _absence(one: LabelExplanation) -> str:
    """What makes a label absent; empty if no rule for it holds."""
    if one.presence is not None:
        return " by sampling"
    if _is_by_points(one):
        return " by their points"
    return " by a rule" if is_denied(one) else ""


def _is_by_points(one: LabelExplanation) -> bool:
    """Whether points decide about a label, those of its own or of label sets."""
    return bool(one.votes) or one.decided in ("label set", "most points")


def _end(lines: list[tuple[str, str]], labels: list[LabelExplanation], why: str) -> str:
    """The end of a title: whether all labels of the group follow, or some of them, or none."""
    if not lines:
        return "."
    if why and len(lines) == len(labels):
        return ":"
    return ". Some of them:" if why == " by a rule" else ". Closest:"


def _closeness(one: LabelExplanation) -> tuple[float, ...]:
    """Labels that are nearer to being given come first: by probability, points, or conditions.

    Of rules with equally many failing conditions, those with more that hold, then with more rows.
    """
    if one.presence is not None:
        return (-one.presence,)
    if one.closest is None:
        return (-one.points if _is_by_points(one) else inf,)
    if is_denied(one):
        return (0,)
    n_failing = len(one.closest.failing)
    counts = [count.right for count in one.closest.rule.evidence or () if count is not None]
    return n_failing, n_failing - len(one.closest.conditions), -max(counts, default=0)


def _table(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    """Names and what is said of them, each on one line, which may end between two items."""
    longest = min(max((len(name) for name, _ in rows), default=0), width // 3)
    for name, text in rows:
        first, *rest = _items(text)
        line = f"{_INDENT}{name:<{longest}}  {first}"
        for n_left, item in zip(range(len(rest) - 1, -1, -1), rest, strict=True):
            end = " …" if n_left else ""
            if len(f"{line} {item}{end}") > width:
                line = f"{line} …"
                break
            line = f"{line} {item}"
        yield line if len(line) <= width else f"{line[: width - 2]} …"


def _items(text: str) -> list[str]:
    """A text in parts that end with a comma or semicolon, none of which is inside quotes."""
    return [item.removeprefix(" ") for item in _ITEM.findall(text)]


def _hanging(text: str, first: str, later: str, width: int) -> list[str]:
    """Text in lines that end after commas and semicolons, or, if they are too far away, words."""
    lines: list[str] = []
    for item in _items(text):
        if lines and len(f"{lines[-1]} {item}") <= width:
            lines[-1] += f" {item}"
            continue
        start = later if lines else first
        lines += wrap(
            item,
            width,
            initial_indent=start,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        )
    return lines
