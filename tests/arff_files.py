"""ARFF files for tests, made and read in one go."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from labelrules.data import Dataset
from labelrules.data.files.arff.file import FAST_READERS, FastReader, read_arff


def read(
    content: str | bytes,
    labels: Sequence[str] = ("l",),
    *,
    ignore: Sequence[str] = (),
    encoding: str = "utf-8",
    name: str = "t.arff",
    fast_readers: Sequence[FastReader] = FAST_READERS,
    block_size: int = 1 << 18,
) -> Dataset:
    """The data set in a file with this content."""
    data = content.encode() if isinstance(content, str) else content
    with TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        return read_arff(
            [path],
            lambda header: dict.fromkeys(labels),
            ignore,
            "t",
            encoding,
            fast_readers=fast_readers,
            block_size=block_size,
        )


def file(*rows: str, a: str = "numeric", l: str = "{0,1}") -> str:  # noqa: E741
    """A file with one feature and one label."""
    return "\n".join(["@relation r", f"@attribute a {a}", f"@attribute l {l}", "@data", *rows, ""])
