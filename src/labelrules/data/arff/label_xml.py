"""The XML file beside a Mulan data set: which attributes are labels, and their hierarchy."""

import gzip
import re
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from labelrules.data.errors import DataError, FileError, quoted
from labelrules.data.files import UNREADABLE, is_gzip, unreadable
from labelrules.data.schema import Schema

# What XML 1.0 excludes, escaped or not.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NAMESPACE = "http://mulan.sourceforge.net/labels"


class LabelEntry(NamedTuple):
    """A label as the XML file lists it."""

    parent: str | None
    line: int


class LabelFile(NamedTuple):
    """An XML file and the labels it names."""

    path: Path
    labels: dict[str, LabelEntry]


def read_labels(path: Path) -> LabelFile:
    """Read an XML file."""
    labels = _LabelReader(path).read(_content(path))
    if not labels:
        raise FileError("the file names no label", path)
    return LabelFile(path, labels)


def _content(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes()) if is_gzip(path) else path.read_bytes()
    except (*UNREADABLE, ValueError) as wrong:
        raise unreadable(wrong, path) from None


class _LabelReader:
    """Follows the parser from element to element."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.labels: dict[str, LabelEntry] = {}
        self.open: list[str | None] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype

    def read(self, content: bytes) -> dict[str, LabelEntry]:
        try:
            self.parser.Parse(content, True)
        except FileError:
            raise
        except expat.ExpatError as wrong:
            reason = expat.errors.messages.get(wrong.code, "unknown reason")
            raise FileError(f"this is not sound XML: {reason}", self.path, wrong.lineno) from None
        except (LookupError, ValueError) as wrong:
            raise FileError(
                f"the XML declares an encoding that cannot be read: {wrong}", self.path
            ) from None
        return self.labels

    def _start(self, element: str, given: dict[str, str]) -> None:
        tag = element.rpartition(" ")[2]
        if tag != ("label" if self.open else "labels"):
            self._refuse(
                f"unexpected element <{tag}>; labels are listed as <labels><label name=.../>"
            )
        self.open.append(self._take(given) if tag == "label" else None)

    def _take(self, given: dict[str, str]) -> str:
        name = given.get("name")
        if not name:
            self._refuse("a <label> has no name")
        if name in self.labels:
            earlier = self.labels[name].line
            self._refuse(f"label {quoted(name)} was already named in line {earlier}")
        self.labels[name] = LabelEntry(self.open[-1], self.parser.CurrentLineNumber)
        return name

    def _end(self, element: str) -> None:
        self.open.pop()

    def _refuse_doctype(self, *declared: object) -> None:
        # It could define entities that grow without bound or read other files.
        self._refuse("a document type (DOCTYPE) is not accepted: remove it")

    def _refuse(self, message: str) -> NoReturn:
        raise FileError(message, self.path, self.parser.CurrentLineNumber)


def labels_as_xml(schema: Schema) -> str:
    """The content of the file that names the labels of a schema.

    >>> print(labels_as_xml(Schema([], ["sport", "football", "news"], [None, "sport", None])))
    <?xml version="1.0" encoding="utf-8"?>
    <labels xmlns="http://mulan.sourceforge.net/labels">
    <label name="sport">
    <label name="football"></label>
    </label>
    <label name="news"></label>
    </labels>
    <BLANKLINE>
    """
    children: dict[str | None, list[str]] = {}
    for label, parent in zip(schema.labels, schema.parents, strict=True):
        children.setdefault(parent, []).append(label)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f'<labels xmlns="{_NAMESPACE}">']
    # Not recursive: a hierarchy may be deeper than Python's stack.
    waiting = [(label, False) for label in reversed(children.get(None, []))]
    while waiting:
        label, is_closing = waiting.pop()
        if is_closing:
            lines.append("</label>")
        elif label in children:
            lines.append(f"<label name={quoteattr(label)}>")
            waiting.append((label, True))
            waiting.extend((child, False) for child in reversed(children[label]))
        else:
            lines.append(f"<label name={quoteattr(label)}></label>")
    return "\n".join([*lines, "</labels>", ""])


def check_xml_names(schema: Schema) -> None:
    """Refuse label names with characters that XML cannot hold in any form."""
    for label in schema.labels:
        odd = _NO_XML.search(label)
        if odd:
            raise DataError(
                f"label {quoted(label)} has the character {odd[0]!r}, "
                "which an XML file cannot hold: rename it"
            )
