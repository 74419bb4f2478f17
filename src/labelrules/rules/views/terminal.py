"""Text laid out for the eye: short names and numbers, columns, lines that wrap, colours.

What is made here is to be read by people; `parse` reads what `theory_text` writes.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import NamedTuple

from labelrules.rules.language.text import Notation, label_text, name_text, number_text, quoted_text
from labelrules.rules.theory import Theory

SHORTEST_PREFIX = 8
"""Beginnings of names that are shorter than this are never abbreviated."""
PRICE = 10
"""Characters that an abbreviation must save, besides its own explanation, to be worth it."""
ELLIPSIS = "…"
"""Stands for the ending that many names share."""
DIGITS = 4
"""Digits of thresholds, if they are still different."""

_SEPARATOR = re.compile(r"[_\-. :/]+")
_COLOURS = {"label": "\033[1m", "note": "\033[2m", "for": "\033[32m", "against": "\033[31m"}
_PLAIN = "\033[0m"


def styled(text: str, kind: str, colour: bool) -> str:
    """Text as a label, as a note, or as points for or against a label, if there are colours."""
    return f"{_COLOURS[kind]}{text}{_PLAIN}" if colour and text.strip() else text


def display_width(text: str) -> int:
    """How many columns of a terminal a text takes; some signs take two."""
    from rich.cells import cell_len

    return cell_len(text)


def left(text: str, width: int) -> str:
    """Text with spaces after it, up to a width."""
    return text + " " * (width - display_width(text))


def right(text: str, width: int) -> str:
    """Text with spaces before it, up to a width."""
    return " " * (width - display_width(text)) + text


def wrapped(items: Sequence[str], width: int, between: str = ", ") -> list[str]:
    """Items in lines of at most this width, an item that is longer in a line of its own.

    >>> wrapped(["cough", "fever", "not tract"], 14)
    ['cough, fever,', 'not tract']
    """
    lines: list[str] = []
    for number, item in enumerate(items):
        text = item + (between.rstrip() if number < len(items) - 1 else "")
        space = " " * (len(between) - len(between.rstrip()))
        if lines and display_width(lines[-1] + space + text) <= width:
            lines[-1] += space + text
        else:
            lines.append(text)
    return lines or [""]


def note_lines(note: str, width: int) -> list[str]:
    r"""A note in lines of words; what cannot be printed, as signs that steer a terminal, is shown.

    >>> note_lines("agreed with the clinic\x1b[2J in May", 24)
    ['agreed with the', 'clinic\\x1b[2J in May']
    """
    shown = [sign if sign.isprintable() or sign.isspace() else _code_of(sign) for sign in note]
    return wrapped("".join(shown).split(), width, between=" ")


def _code_of(sign: str) -> str:
    return sign.encode("unicode_escape").decode("ascii")


def broken(name: str, width: int) -> list[str]:
    """A name in lines, broken after the signs between its words where it is wider.

    >>> broken("relaxing-calm", 9), broken("Class-4-753_0", 8)
    (['relaxing-', 'calm'], ['Class-4-', '753_0'])
    """
    ends = [match.end() for match in _SEPARATOR.finditer(name)]
    starts = [0, *(end for end in ends if end < len(name))]
    pieces = [name[a:b] for a, b in zip(starts, [*starts[1:], len(name)], strict=True)]
    lines: list[str] = []
    for piece in pieces:
        if lines and display_width(lines[-1] + piece) <= width:
            lines[-1] += piece
        else:
            lines.append(piece)
    return lines


class ShortNames(NamedTuple):
    """Names without the beginnings and the ending that many of them share."""

    prefixes: Mapping[str, str]
    """From abbreviations to the beginnings of names that they stand for."""
    ending: str = ""
    """The ending for which ``…`` stands; empty if there is none."""

    @classmethod
    def of(cls, names: Iterable[str], taken: Iterable[str] = ()) -> "ShortNames":
        """Abbreviations for some names, so that they differ from each other and those taken.

        >>> names = [f"Mean_Acc1298_Mean_Mem40_{word}" for word in ("Flux", "Rolloff", "MFCC_0")]
        >>> short = ShortNames.of(names)
        >>> short.name(names[0]), short.legend()
        ('M_Flux', ['M_ = Mean_Acc1298_Mean_Mem40_'])
        """
        distinct = sorted(set(names))
        known = {*distinct, *taken}
        chosen = _best_prefixes(distinct, 0)[1]
        first_signs = Counter(prefix[0] for prefix in chosen)
        found: dict[str, str] = {}
        for prefix in chosen:
            short = next(
                one
                for one in _abbreviations(prefix, is_unique=first_signs[prefix[0]] == 1)
                if not any(_begins(one, other) for other in (*found, *known))
            )
            found[short] = prefix
        begun = cls(found)
        if any(ELLIPSIS in name for name in known):
            return begun
        return cls(found, _ending([begun._rest(name) for name in distinct]))

    def name(self, name: str) -> str:
        """A name, shortened if it begins or ends so."""
        rest = self._rest(name)
        short = self._beginning(name)
        if self.ending and rest.endswith(self.ending) and rest != self.ending:
            rest = rest.removesuffix(self.ending) + ELLIPSIS
        return short + rest

    def _beginning(self, name: str) -> str:
        """The abbreviation of the longest prefix with which a name begins; empty without one."""
        fit = [short for short, prefix in self.prefixes.items() if name.startswith(prefix)]
        return max(fit, key=lambda one: len(self.prefixes[one]), default="")

    def _rest(self, name: str) -> str:
        """A name without the prefix that is abbreviated."""
        return name.removeprefix(self.prefixes.get(self._beginning(name), ""))

    def legend(self) -> list[str]:
        """What the abbreviations stand for."""
        beginnings = [f"{short} = {prefix}" for short, prefix in self.prefixes.items()]
        return [*beginnings, *([f"{ELLIPSIS} = {self.ending}"] if self.ending else [])]


def _begins(one: str, other: str) -> bool:
    """Whether one of two texts begins with the other, so that names could become equal."""
    return one.startswith(other) or other.startswith(one)


def _best_prefixes(names: Sequence[str], length: int) -> tuple[int, list[str]]:
    """What abbreviations save at most, and the prefixes, longer than `length`, that do so.

    Either one stands for all these names, or there are others for groups of them.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        match = _SEPARATOR.search(name, length)
        if match is not None and match.end() < len(name):
            groups.setdefault(name[: match.end()], []).append(name)
    saved = 0
    chosen: list[str] = []
    for prefix, members in groups.items():
        inner, prefixes = _best_prefixes(members, len(prefix))
        own = len(members) * (len(prefix) - 2) - len(prefix) - PRICE
        if len(prefix) >= SHORTEST_PREFIX and own > max(inner - _price(members, prefixes), 0):
            inner, prefixes = own, [prefix]
        saved, chosen = saved + inner, [*chosen, *prefixes]
    return saved, chosen


def _price(names: Sequence[str], prefixes: Sequence[str]) -> int:
    """What it costs if not all names begin with the first of several prefixes.

    One abbreviation for more names is easier to remember than longer ones for some, and a name that
    stays as it is may take a line of its own.
    """
    others = [name for name in names if not name.startswith(tuple(prefixes[:1]))]
    whole = [len(name) for name in others if not name.startswith(tuple(prefixes))]
    return max([PRICE if others else 0, *whole])


def _ending(names: Sequence[str]) -> str:
    """The ending whose abbreviation saves most; empty if none is worth it.

    >>> _ending([f"{word}_WinHamming_HopSize512" for word in ("Flux", "Rolloff", "MFCC_0")])
    '_WinHamming_HopSize512'
    """
    reverse = [name[::-1] for name in names]
    found = [prefix[::-1] for prefix in _best_prefixes(reverse, 0)[1]]
    return max(found, key=lambda end: len(end) * sum(n.endswith(end) for n in names), default="")


def _abbreviations(prefix: str, is_unique: bool) -> Iterator[str]:
    """Abbreviations: the first sign if no other prefix has it, initials of all words, numbers."""
    initials = "".join(word[0] for word in _SEPARATOR.split(prefix) if word)
    if is_unique:
        yield prefix[0] + prefix[-1]
    yield initials + prefix[-1]
    yield from (f"{prefix[0]}{number}{prefix[-1]}" for number in count(1))


class ReadingNotation(Notation):
    """Rules for the eye: short names, rounded thresholds, ``≤`` and ``≠``."""

    def __init__(self, theory: Theory) -> None:
        super().__init__("plain")
        self.operators: Mapping[str, str] = {"<=": "≤", "!=": "≠"}
        self.schema = theory.schema
        self._conditions = [condition for rule in theory for condition in rule.body]
        tested = {one.column for one in self._conditions if not one.on_label}
        names = [self.schema.feature_names[column] for column in sorted(tested)]
        self.short = ShortNames.of([*names, *self.schema.labels], self.schema.feature_names)
        # Where no label is tested, a name in a body can only be that of a feature.
        self.is_bare = not any(one.on_label for one in self._conditions)

    @cached_property
    def numbers(self) -> dict[float, str]:
        """The thresholds, rounded as long as those of one column differ."""
        columns: dict[int, set[float]] = {}
        for one in self._conditions:
            if not one.on_label and self.schema.features[one.column].is_numeric:
                columns.setdefault(one.column, set()).add(one.value)
        found: dict[float, str] = {}
        for values in columns.values():
            for value, text in _rounded(sorted(values)).items():
                found[value] = max(found.get(value, ""), text, key=len)
        return found

    @property
    def is_rounded(self) -> bool:
        """Whether some threshold is shown with fewer digits than it has."""
        return any(text != number_text(value) for value, text in self.numbers.items())

    def notes(self) -> Iterator[list[str]]:
        """What a reader must know, in lines: abbreviations, and whether numbers are rounded."""
        if self.short.legend():
            yield self.short.legend()
        if self.is_rounded:
            yield [f"thresholds rounded to {DIGITS} digits"]

    def label(self, name: str) -> str:
        """The name of a label, perhaps shortened."""
        return short_label_text(self.short.name(name))

    def feature(self, name: str) -> str:
        """The name of a feature, perhaps shortened."""
        return short_name_text(self.short.name(name))

    def binary(self, name: str) -> str:
        """The presence of a binary feature; in quotes only where labels are tested, too."""
        short = self.short.name(name)
        if self.is_bare:
            return short_name_text(short)
        return quoted_text(short, '"', self.style)

    def number(self, value: float) -> str:
        """A threshold, perhaps rounded."""
        return self.numbers.get(value) or number_text(value)


def short_label_text(name: str) -> str:
    """The name of a label, in single quotes if it needs them, but not because it is shortened."""
    return _around_ellipsis(name, label_text)


def short_name_text(name: str) -> str:
    """The name of a feature, in double quotes if it needs them, but not because it is shortened."""
    return _around_ellipsis(name, name_text)


def _around_ellipsis(name: str, text: Callable[[str], str]) -> str:
    is_short = name.endswith(ELLIPSIS) and len(name) > 1
    return text(name.removesuffix(ELLIPSIS)) + ELLIPSIS if is_short else text(name)


def _rounded(values: Sequence[float]) -> dict[float, str]:
    """Numbers in few digits, as many as it takes to tell them apart.

    >>> _rounded([0.12345678, 0.5, 1234567.25])
    {0.12345678: '0.1235', 0.5: '0.5', 1234567.25: '1234567.25'}
    """
    for digits in range(DIGITS, 17):
        found = {value: _with_digits(value, digits) for value in values}
        if len(set(found.values())) == len(values):
            return found
    return {value: number_text(value) for value in values}


def _with_digits(value: float, digits: int) -> str:
    """A number with so many digits; one that is large has two after the point."""
    return number_text(
        float(f"{value:.{digits}g}")
        if abs(value) < 10 ** (DIGITS - 2)
        else round(value, digits - 2)
    )
