"""The work of the case studies that is kept in their folder: theories, and times of learning."""

import os
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from sklearn.base import clone

from labelrules._checks import counted
from labelrules.data import Dataset, FileError, fingerprint
from labelrules.data.document import Record, converted, read_document
from labelrules.data.files.access import opened_utf8, replacing
from labelrules.lab import Results, experiment
from labelrules.lab.running.definitions import Division, fit_fingerprint, seeded
from labelrules.lab.running.run import ExperimentFolder
from labelrules.learners import LearningInterrupted
from labelrules.learners.base.progress import Listener, nested_fit
from labelrules.rules import Theory
from labelrules.storage import load_model, save

STUDIES = SINGLE, MULTI = "single-heads", "multi-heads"
"""The folders of the experiments of the two studies."""
MODELS, TIMES = "models", "times"
ROUNDS = ((10.0, 3), (60.0, 2), (float("inf"), 1))
"""How many rounds there are, if the first one takes fewer processor seconds than these."""

Seconds = Annotated[float, Meta(ge=0)]


class LearnerTimes(Record):
    """The processor seconds of learners that were run in turn, the least of all rounds."""

    seconds: dict[str, Seconds]
    n_rounds: int


class StudyFolder:
    """A folder with the fits of two experiments, theories, and times, each kept when finished.

    What is kept is found again by a fingerprint of the rows and of the learner with its settings.
    """

    def __init__(self, path: "str | os.PathLike[str]", restart: bool = False) -> None:
        self.path = Path(path)
        for name in STUDIES:
            ExperimentFolder(self.path / name).prepare(restart)
        for name in (MODELS, TIMES):
            folder = self.path / name
            folder.mkdir(exist_ok=True)
            for file in folder.glob("*.json" if restart else ".*.tmp"):
                file.unlink(missing_ok=True)

    def results(
        self, study: str, learners: Mapping[str, Any], data: Any, measures: Any, progress: Listener
    ) -> Results:
        """The results of the experiment of a study; what is missing is run now.

        Raises
        ------
        KeyboardInterrupt
            If it was interrupted; what is finished is kept.
        RuntimeError
            If a fit has failed.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LearningInterrupted)  # the whole ends, too
            found = experiment(
                learners, data, measures, folder=self.path / study, progress=progress
            )
        if found.stopped is not None:
            raise KeyboardInterrupt
        if found.failures:
            lines = found.failure_lines()
            raise RuntimeError(f"{counted(len(lines), 'fit')} of a case study failed: {lines[0]}")
        return found

    def theory(self, learner: Any, data: Dataset) -> Theory:
        """What a learner learns from all rows; learned now if it is not kept."""
        path = self._file(MODELS, [learner], data)
        if path.is_file():
            kept: Theory = load_model(path)
            return kept
        found = _learned(learner, data)
        save(found, path, about=False)
        return found

    def times(self, learners: Mapping[str, Any], data: Dataset) -> LearnerTimes:
        """The processor time of learning, the learners in turn; measured now if it is not kept.

        The theories that are learned meanwhile are kept, too.
        """
        path = self._file(TIMES, [*learners.values()], data)
        if path.is_file():
            return _read_times(path)
        found, theories = least_times(learners, data)
        for name, theory in theories.items():
            save(theory, self._file(MODELS, [learners[name]], data), about=False)
        with replacing(path) as new:
            new.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
        return found

    def _file(self, kind: str, learners: list[Any], data: Dataset) -> Path:
        whole = Division(0, 0, np.arange(len(data)), np.arange(0))
        keys = [
            fit_fingerprint(fingerprint(data), whole, seeded(one, 0), "columns") for one in learners
        ]
        return self.path / kind / f"{'-'.join(key[: 32 // len(keys)] for key in keys)}.json"


def _read_times(path: Path) -> LearnerTimes:
    try:
        with opened_utf8(path) as file:
            return converted(read_document(file.read()), LearnerTimes)
    except FileError:
        raise
    except ValueError as wrong:
        message = f"these are no times of a case study ({wrong}): remove it, and they are measured"
        raise FileError(message, path) from None


def least_times(
    learners: Mapping[str, Any], data: Dataset
) -> tuple[LearnerTimes, dict[str, Theory]]:
    """The least processor time of each learner over rounds in which each learns once; theories.

    Learners that take long have fewer rounds. Compiled code must be there already.
    """
    least = dict.fromkeys(learners, float("inf"))
    theories: dict[str, Theory] = {}
    n_rounds, wanted = 0, 1
    while n_rounds < wanted:
        for name, learner in learners.items():
            start = time.process_time()
            theories[name] = _learned(learner, data)
            least[name] = min(least[name], time.process_time() - start)
        n_rounds += 1
        first = sum(least.values())
        wanted = next(n for seconds, n in ROUNDS if first < seconds) if n_rounds == 1 else wanted
    seconds = {name: round(spent, 6) for name, spent in least.items()}
    return LearnerTimes(seconds, n_rounds), theories


def _learned(learner: Any, data: Dataset) -> Theory:
    with nested_fit():
        theory: Theory = clone(learner).fit(data).theory_
    return theory
