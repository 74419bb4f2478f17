"""What all SVG pictures share: links, and texts that fit."""

from string import Formatter
from urllib.parse import quote

from labelrules._checks import suggestion


def linked(link: str | None, **values: object) -> str | None:
    """The address that a template gives for these values, each quoted as a part of an address.

    >>> linked("/rules?predicts={predicted}", predicted="hay fever & flu", tested="crp")
    '/rules?predicts=hay%20fever%20%26%20flu'
    """
    if link is None:
        return None
    for _, name, _, _ in Formatter().parse(link):
        if name is not None and name not in values:
            near = suggestion(name, values)
            raise ValueError(
                f"the link names {{{name}}}, but there are only "
                f"{', '.join(f'{{{known}}}' for known in values)}{near}"
            )
    quoted = {name: quote(str(value), safe="") for name, value in values.items()}
    return link.format(**quoted)


def cut_short(text: str, length: int) -> str:
    """A text of at most so many letters; what is left out at the end is marked.

    >>> cut_short("a rule of many words", 10), cut_short("short", 10)
    ('a rule of…', 'short')
    """
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"
