"""From ARFF files and the names of their labels to a data set."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path

from labelrules.data.arff.blocks import BLOCK_SIZE, Block, read_blocks
from labelrules.data.arff.digits import sparse_digits
from labelrules.data.arff.header import Header, read_header
from labelrules.data.arff.layout import Layout, Lookup, layout_of, lookup_of
from labelrules.data.arff.parts import Part, Parts
from labelrules.data.arff.rows import careful
from labelrules.data.arff.words import plain_words
from labelrules.data.dataset import Dataset
from labelrules.data.errors import FileError, quoted
from labelrules.data.schema import Schema

FastWay = Callable[[bytes, Layout, Lookup], Part | None]
Hierarchy = Mapping[str, str | None]
"""Labels and their parents."""

FAST_WAYS: tuple[FastWay, ...] = (sparse_digits, plain_words)


def read_arff(
    paths: Sequence[Path],
    hierarchy_of: Callable[[Header], Hierarchy],
    ignore: Sequence[str],
    name: str,
    encoding: str,
    *,
    fast_ways: Sequence[FastWay] = FAST_WAYS,
    block_size: int = BLOCK_SIZE,
) -> Dataset:
    """Read files that declare the same attributes as one data set.

    Parameters
    ----------
    hierarchy_of : callable
        Tells from a header which attributes are labels, and what their parents are.
    fast_ways : sequence of callable
        Tried in order on each block of rows before it is read carefully. The result
        does not depend on them, nor on the size of the blocks.
    """
    reader: _Reader | None = None
    for path in paths:
        with closing(read_blocks(path, encoding, block_size)) as blocks:
            header, rest = read_header(blocks, path)
            if reader is None:
                reader = _Reader(header, hierarchy_of(header), ignore, fast_ways)
            else:
                _check_same(header, reader.header)
                _check_same_labels(header, hierarchy_of(header), reader)
            reader.read(chain([rest], blocks), path)
    assert reader is not None
    return reader.dataset(name)


class _Reader:
    """Collects the rows of files with one header."""

    def __init__(
        self,
        header: Header,
        hierarchy: Hierarchy,
        ignore: Sequence[str],
        fast_ways: Sequence[FastWay],
    ) -> None:
        self.header = header
        self.hierarchy = hierarchy
        self.fast_ways = fast_ways
        self.layout = layout_of(header, hierarchy, ignore)
        self.lookup = lookup_of(self.layout)
        self.parts = Parts(self.layout.n_features, self.layout.usual_labels)

    def read(self, blocks: Iterable[Block], path: Path) -> None:
        """Append the rows of a file."""
        for block in blocks:
            self.parts.add(self._fast(block) or careful(block, self.layout, path))

    def _fast(self, block: Block) -> Part | None:
        tried = (way(block.data, self.layout, self.lookup) for way in self.fast_ways)
        return next((part for part in tried if part is not None), None)

    def dataset(self, name: str) -> Dataset:
        """All rows as a data set; the collected parts are used up."""
        X, Y = self.parts.joined()
        labels = self.layout.label_names()
        parents = [self.hierarchy[label] for label in labels]
        return Dataset(Schema(self.layout.schema_features(), labels, parents), X, Y, name)


def _check_same(header: Header, first: Header) -> None:
    for attribute, expected in zip(header.attributes, first.attributes, strict=False):
        if not attribute.declares_as(expected):
            what = f"attribute {quoted(expected.name)}"
            if attribute.name != expected.name:
                what = f"{what}, here {quoted(attribute.name)},"
            raise FileError(
                f"{what} is declared differently in {first.path}, line {expected.line}; "
                "files are joined only if their attributes are the same",
                header.path,
                attribute.line,
            )
    n_here, n_first = len(header.attributes), len(first.attributes)
    if n_here != n_first:
        raise FileError(
            f"{n_here} attributes are declared here but {n_first} in {first.path}; "
            "files are joined only if their attributes are the same",
            header.path,
        )


def _check_same_labels(header: Header, hierarchy: Hierarchy, reader: _Reader) -> None:
    if set(hierarchy) != set(reader.hierarchy):
        raise FileError(
            f"other attributes are labels here than in {reader.header.path}",
            header.path,
            header.relation_line,
        )
