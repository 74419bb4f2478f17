"""The folder of an experiment: a file for each fit that is finished, and the tables of all."""

import errno
import os
from pathlib import Path

import msgspec

from labelrules.data import FileError
from labelrules.data.document import Record, converted, read_document
from labelrules.data.files.access import opened_utf8, replacing, why_unreadable
from labelrules.experiments.running.fitting import Outcome

FITS = "fits"
SCORES, RESOURCES = "scores.csv", "resources.csv"


class _FitFile(Record):
    """The file of a fit: its outcome, and where it stood in the experiment when it was run."""

    data: str
    learner: str
    repeat: int
    fold: int
    outcome: Outcome


class ExperimentFolder:
    """The files of an experiment.

    ``fits/FINGERPRINT.json`` holds the outcome of a fit. A file is there as a whole or not at all,
    whenever the program is killed. One program at a time may use a folder.
    """

    def __init__(self, path: "str | os.PathLike[str]") -> None:
        self.path = Path(path)
        self._fits = self.path / FITS

    def prepare(self, is_restart: bool = False) -> None:
        """Make the folder if need be, and remove files that were not finished; or all of ours."""
        try:
            self._fits.mkdir(parents=True, exist_ok=True)
            if not os.access(self._fits, os.W_OK):
                raise PermissionError(errno.EACCES, "")
        except OSError as wrong:
            raise FileError(
                f"cannot be the folder of an experiment: {why_unreadable(wrong)}", self.path
            ) from None
        useless = list(self._fits.glob(".*.tmp"))
        if is_restart:
            useless += [*self._fits.glob("*.json"), self.path / SCORES, self.path / RESOURCES]
        for file in useless:
            file.unlink(missing_ok=True)

    def outcome(self, fingerprint: str) -> Outcome | None:
        """The outcome of a fit, if it is there."""
        path = self._file(fingerprint)
        if not path.is_file():
            return None
        try:
            with opened_utf8(path) as file:
                return converted(read_document(file.read()), _FitFile).outcome
        except FileError:
            raise
        except ValueError as wrong:
            message = f"this is no fit of an experiment ({wrong}): remove it, and it is run again"
            raise FileError(message, path) from None

    def keep(self, fingerprint: str, place: tuple[str, str, int, int], outcome: Outcome) -> None:
        """Keep the outcome of a fit."""
        content = msgspec.json.encode(_FitFile(*place, outcome))
        with replacing(self._file(fingerprint)) as new:
            new.write_bytes(msgspec.json.format(content, indent=2) + b"\n")

    def _file(self, fingerprint: str) -> Path:
        return self._fits / f"{fingerprint}.json"
