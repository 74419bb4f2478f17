"""Errors about data and files."""

from pathlib import Path

from labelrules.kernels.device import DeviceError as DeviceError


class DataError(ValueError):
    """The data are wrong; the message names the place and what to do."""


class ClusterError(RuntimeError):
    """The cluster that was asked to work is lost, or has given up; what to do is said."""


class FileError(DataError):
    """A file is wrong; the message begins with its name and the line.

    Parameters
    ----------
    message : str
        What is wrong and what to do.
    path : path-like
    line : int, optional
        Counted from 1.
    """

    def __init__(self, message: str, path: str | Path, line: int | None = None) -> None:
        shown = str(path) if str(path).isprintable() else repr(str(path))
        where = shown if line is None else f"{shown}, line {line}"
        super().__init__(f"{where}: {message}")
        self.path, self.line, self._given = Path(path), line, (message, path, line)

    def __reduce__(self) -> tuple[type["FileError"], tuple[str, str | Path, int | None]]:
        return FileError, self._given
