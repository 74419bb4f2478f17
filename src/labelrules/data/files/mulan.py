"""Multi-label data in the file formats of Mulan and MEKA."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import IO, NoReturn
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from labelrules._checks import quoted, suggestion
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.access import (
    checked_target,
    is_stream,
    opened_binary,
    replacing,
    written_text,
)
from labelrules.data.files.arff.file import Hierarchy, arff_lines, check_writable, read_arff
from labelrules.data.files.arff.header import Header
from labelrules.data.files.compression import without_compression
from labelrules.data.files.inputs import StrPath, StrPaths, input_files, name_of
from labelrules.data.schema import Schema
from labelrules.data.table import Dataset

# MEKA's options follow the name of the relation: 'IMDB: -C 28 -T 391'.
_N_LABELS = re.compile(r"(?:^|[\s:])-C\s+(\S+)")
_PART_OF_SPLIT = re.compile(r"-(train|test)$", re.IGNORECASE)

# Characters that XML 1.0 excludes, escaped or not.
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST_XML = 1 << 24  # bytes: a small compressed file must not fill memory
_NAMESPACE = "http://mulan.sourceforge.net/labels"


class LabelFile:
    """An XML file and the labels it names, each with its parent and its line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.labels: dict[str, tuple[str | None, int]] = {}
        self._open: list[str | None] = []
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = lambda element: self._open.pop()
        # It could define entities that grow without bound or read other files.
        doctype = "a document type (DOCTYPE) is not accepted: remove it"
        self._parser.StartDoctypeDeclHandler = lambda *declared: self._refuse(doctype)
        with opened_binary(path) as file:
            self._parse(file)
        if not self.labels:
            raise FileError("the file names no label", path)

    def _parse(self, file: IO[bytes]) -> None:
        n_bytes = 0
        try:
            while piece := file.read(1 << 20):
                n_bytes += len(piece)
                if n_bytes > _LONGEST_XML:
                    message = f"the file has more than {_LONGEST_XML:,} bytes, which no list needs"
                    raise FileError(message, self.path)
                self._parser.Parse(piece, False)
            self._parser.Parse(b"", True)
        except FileError:
            raise
        except expat.ExpatError as wrong:
            reason = expat.errors.messages.get(wrong.code, "unknown reason")
            raise FileError(f"this is not valid XML: {reason}", self.path, wrong.lineno) from None
        except (LookupError, ValueError) as wrong:
            message = f"the XML declares an encoding that cannot be read: {wrong}"
            raise FileError(message, self.path) from None

    def _start(self, element: str, given: dict[str, str]) -> None:
        tag, name = element.rpartition(" ")[2], given.get("name")
        if tag != ("label" if self._open else "labels"):
            self._refuse(
                f"unexpected element <{tag}>; labels are listed as <labels><label name=.../>"
            )
        if tag == "labels":
            self._open.append(None)
            return
        if not name:
            self._refuse("a <label> has no name")
        if name in self.labels:
            self._refuse(f"label {quoted(name)} was already named in line {self.labels[name][1]}")
        self.labels[name] = (self._open[-1], self._parser.CurrentLineNumber)
        self._open.append(name)

    def _refuse(self, message: str) -> NoReturn:
        raise FileError(message, self.path, self._parser.CurrentLineNumber)


def labels_as_xml(schema: Schema) -> str:
    """The XML file that names the labels of a schema, nested by their hierarchy."""
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


def read_mulan(
    arff: StrPaths,
    xml: StrPath | None = None,
    *,
    ignore: Sequence[str] = (),
    name: str | None = None,
    encoding: str = "utf-8",
) -> Dataset:
    r"""Read a data set in the format of Mulan: an ARFF file and an XML file naming the labels.

    Features and labels are in the order of their columns in the ARFF file; the order in the XML
    file does not matter. X is sparse if the rows are. A value that a sparse row does not list is 0,
    or the first declared category.

    Parameters
    ----------
    arff : path or sequence of paths
        Plain, or compressed if the name ends in ``.gz``, ``.bz2`` or ``.xz`` (from Python 3.14 on
        also ``.zst``); ``"-"`` is the standard input. The rows of several files, which must declare
        the same attributes, are joined in order.
    xml : path, optional
        By default the (first) ARFF file's name with ``.xml``, also without a final ``-train`` or
        ``-test``.
    ignore : sequence of str
        Features to leave out, such as identifiers; string and date attributes must be left out.
    name : str, optional
        By default the name of the file without a final ``-train`` or ``-test``.
    encoding : str
        The encoding of the ARFF files. An XML file declares its own.

    Raises
    ------
    FileError
        If anything is wrong with a file; the message names the file and the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> lines = ["@relation r", "@attribute age numeric", "@attribute sports {0,1}"]
    >>> with TemporaryDirectory() as folder:
    ...     arff = Path(folder, "readers.arff")
    ...     _ = arff.write_text("\n".join([*lines, "@data", "37,1", "?,0"]))
    ...     _ = Path(folder, "readers.xml").write_text('<labels><label name="sports"/></labels>')
    ...     readers = read_mulan(arff)
    >>> readers
    Dataset('readers': 2 rows, 1 feature, 1 label)
    >>> readers.column("age"), readers.Y.ravel()
    (array([37., nan]), array([1, 0], dtype=int8))
    """
    paths: list[Path] = []

    # Read once, and only if there is an ARFF file.
    @cache
    def label_file() -> LabelFile:
        return LabelFile(_label_path(paths[0]) if xml is None else Path(xml))

    def named_labels(header: Header) -> Hierarchy:
        file = label_file()
        declared = {attribute.name: None for attribute in header.attributes}
        for label, (_, line) in file.labels.items():
            if label not in declared:
                message = f"label {quoted(label)} is not an attribute of {header.path}"
                raise FileError(message + suggestion(label, declared), file.path, line)
        return {label: parent for label, (parent, _) in file.labels.items()}

    with input_files(arff, "arff", ".arff") as found:
        paths += found
        return read_arff(paths, named_labels, ignore, _name(name, paths), encoding)


def read_meka(
    arff: StrPaths,
    *,
    ignore: Sequence[str] = (),
    name: str | None = None,
    encoding: str = "utf-8",
) -> Dataset:
    r"""Read a data set in the format of MEKA: an ARFF file with the number of labels.

    ``-C n`` in the name of the relation makes the first n attributes labels, or the last ones if n
    is negative.

    Parameters
    ----------
    arff, ignore, name, encoding
        As for :func:`read_mulan`; so are the errors.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> text = "@relation 'r: -C 1'\n@attribute a {0,1}\n@attribute b numeric\n@data\n{1 0.5}\n"
    >>> with TemporaryDirectory() as folder:
    ...     arff = Path(folder, "small.arff")
    ...     _ = arff.write_text(text)
    ...     read_meka(arff).schema.labels
    ('a',)
    """
    with input_files(arff, "arff", ".arff") as paths:
        return read_arff(paths, _first_or_last, ignore, _name(name, paths), encoding)


def write_mulan(data: Dataset, arff: StrPath, xml: StrPath | None = None) -> None:
    """Write a data set for Mulan: an ARFF file and an XML file naming the labels.

    The rows are sparse if the data are. :func:`read_mulan` returns an equal data set. Existing
    files are replaced when both new ones are complete.

    Parameters
    ----------
    data : Dataset
    arff : path
        Compressed if the name ends in ``.gz``, ``.bz2`` or ``.xz``.
    xml : path, optional
        By default the ARFF file's name with ``.xml``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from labelrules.data import load
    >>> with TemporaryDirectory() as folder:
    ...     write_mulan(load("magazines"), f"{folder}/magazines.arff.gz")
    ...     read_mulan(f"{folder}/magazines.arff.gz") == load("magazines")
    True
    """
    arff_path = checked_target(arff)
    if xml is None and is_stream(arff_path):
        raise FileError("this is a stream, so no XML file can be beside it: pass xml=", arff_path)
    beside = arff_path.with_name(f"{_stem(arff_path)}.xml")
    xml_path = beside if xml is None else checked_target(xml)
    if arff_path == xml_path:
        raise DataError(f"{arff_path}: the ARFF file and the XML file need two names")
    relation = data.name or _stem(Path(name_of(arff_path)))
    check_writable(data)
    for label in data.schema.labels:
        if odd := _NO_XML.search(label):
            character = f"the character {odd[0]!r}, which an XML file cannot hold"
            raise DataError(f"label {quoted(label)} has {character}: rename it")
    with replacing(arff_path) as new_arff, replacing(xml_path) as new_xml:
        with written_text(new_arff, arff_path) as file:
            file.writelines(arff_lines(data, relation))
        with written_text(new_xml, xml_path) as file:
            file.write(labels_as_xml(data.schema))


def _name(name: str | None, paths: Sequence[Path]) -> str:
    return _PART_OF_SPLIT.sub("", _stem(Path(name_of(paths[0])))) if name is None else name


def _stem(arff: Path) -> str:
    """The file's name without ``.arff``, and without ``.gz`` and the like."""
    return re.sub(r"\.arff$", "", without_compression(arff.name), flags=re.IGNORECASE)


def _label_path(arff: Path) -> Path:
    """The XML file that belongs to an ARFF file."""
    stems = dict.fromkeys([_stem(arff), _PART_OF_SPLIT.sub("", _stem(arff))])
    candidates = [arff.with_name(f"{stem}.xml") for stem in stems]
    for candidate in candidates:
        if candidate.exists():
            return candidate
    raise FileError(
        f"no XML file names its labels: looked for {' and '.join(map(str, candidates))}; pass "
        "xml=, or use read_meka if the relation name has -C",
        arff,
    )


def _first_or_last(header: Header) -> Hierarchy:
    """The attributes that MEKA's ``-C`` option counts."""
    given = set(_N_LABELS.findall(header.relation or ""))
    names = [attribute.name for attribute in header.attributes]
    if not given:
        problem = "has no -C option that counts the labels; with an XML file use read_mulan"
    elif len(given) > 1:
        problem = f"has several -C options: {', '.join(sorted(given))}"
    elif not re.fullmatch(r"[+-]?[0-9]{1,9}", number := given.pop()) or int(number) == 0:
        problem = f"has -C {number}; it must be the number of labels, negative if they come last"
    elif abs(int(number)) > len(names):
        problem = f"has -C {number} but only {len(names)} attributes are declared"
    else:
        n_labels = int(number)
        return dict.fromkeys(names[:n_labels] if n_labels > 0 else names[n_labels:])
    message = f"the relation name {quoted(header.relation or '')} {problem}"
    raise FileError(message, header.path, header.relation_line)
