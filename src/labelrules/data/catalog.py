"""Data sets by name: part of the package, in a folder, or from OpenML."""

import os
import warnings
from collections.abc import Mapping
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np

from labelrules._checks import quoted, suggestion
from labelrules._types import Board
from labelrules.data.errors import DataError, FileError
from labelrules.data.files.csv import read_csv
from labelrules.data.files.mulan import read_mulan
from labelrules.data.memory.encoding import dataset
from labelrules.data.table import Dataset

FOLDER_VARIABLE = "LABELRULES_DATA"
"""The environment variable that names the folder of data sets."""

EMBEDDED = ("magazines", "clinic")
"""The data sets that are part of the package."""

OPENML: Mapping[str, int] = {
    "birds": 40588,
    "emotions": 40589,
    "enron": 40590,
    "genbase": 40591,
    "image": 40592,
    "langLog": 40593,
    "reuters": 40594,
    "scene": 40595,
    "slashdot": 40596,
    "yeast": 40597,
}
"""The data sets that :func:`fetch` can get, with their numbers at openml.org."""

_ENDINGS = (".arff.gz", ".arff.bz2", ".arff.xz", ".arff.zst", ".arff")
_TRUTH = {"TRUE": 1, "FALSE": 0, "True": 1, "False": 0, "1": 1, "0": 0}


def load(
    name: str, folder: str | Path | None = None, *, part: Literal["train", "test"] | None = None
) -> Dataset:
    """Load a data set by its name.

    ``"magazines"``, the fourteen readers of the chapter, and ``"clinic"``, a thousand invented
    patients (:func:`labelrules.rules.clinic_truth` has the rules behind them), are part of the
    package. Others are files in the format of Mulan: ``NAME.arff``, or ``NAME-train.arff`` and
    ``NAME-test.arff`` (each may be compressed, such as ``.arff.gz``), with ``NAME.xml``.

    Parameters
    ----------
    name : str
    folder : path-like, optional
        Where the files are; the default is the environment variable ``LABELRULES_DATA``.
    part : {"train", "test"}, optional
        Only this part of a data set that has two; by default both, the rows for training first.

    Examples
    --------
    >>> load("magazines").schema.feature_names
    ('education', 'marital', 'sex', 'children')
    """
    if not isinstance(name, str):
        raise DataError(f"name must be the name of a data set, not {name!r:.60}")
    if part not in (None, "train", "test"):
        raise DataError(f"part must be 'train', 'test' or None for all rows, not {part!r}")
    if name in EMBEDDED:
        if part is not None:
            raise DataError(f"{name} is not divided into parts: leave part out")
        with as_file(files("labelrules.data").joinpath("embedded")) as embedded:
            return read_csv(embedded / f"{name}.csv")
    where = _folder(folder, name)
    return read_mulan(_paths(where, name, part), name=f"{name}-{part}" if part else name)


def fetch(name: str) -> Dataset:
    """Fetch a data set from openml.org, through scikit-learn, which keeps a copy.

    Parameters
    ----------
    name : str
        birds, emotions, enron, genbase, image, langLog, reuters, scene, slashdot or yeast.

    Raises
    ------
    DataError
        If the name is unknown, or OpenML cannot be reached and there is no copy.
    ImportError
        If pandas is not installed; scikit-learn needs it for this.
    """
    if name not in OPENML:
        raise DataError(
            f"fetch has no data set {quoted(name)}{suggestion(str(name), OPENML)}; it has "
            f"{', '.join(OPENML)}"
        )
    if find_spec("pandas") is None:
        raise ImportError('fetch needs pandas: pip install "labelrules[pandas]"')
    found = _from_openml(name)
    called = str(found.details["name"])
    if called.lower() != name.lower():
        raise DataError(f"openml.org has {quoted(called)} as number {OPENML[name]}, not {name}")
    Y = found.target
    labels = [str(column) for column in Y.columns]
    board = np.column_stack([_truth(Y[column], str(column)) for column in Y.columns])
    return dataset(found.data, board, label_names=labels, name=name)


def _folder(folder: str | Path | None, name: str) -> Path:
    given = folder if folder is not None else os.environ.get(FOLDER_VARIABLE)
    if not given:
        raise DataError(
            f"where is {quoted(name)}? Set the environment variable {FOLDER_VARIABLE} to the "
            "folder of the data sets, pass folder=, or use fetch() to get it from OpenML; "
            f"only {' and '.join(EMBEDDED)} are part of the package"
        )
    path = Path(given)
    try:
        if path.is_dir():
            return path
    except OSError:  # no folder can have this name
        pass
    raise FileError("this folder does not exist", path)


def _paths(folder: Path, name: str, part: str | None) -> list[Path]:
    """The files to read, in order."""
    parts = ("train", "test") if part is None else (part,)
    whole = _file(folder, name) if part is None else None
    found = [whole] if whole else [_file(folder, f"{name}-{each}") for each in parts]
    present = [path for path in found if path is not None]
    if len(present) < len(found):
        raise DataError(_why_not_there(folder, name, part))
    return present


def _file(folder: Path, stem: str) -> Path | None:
    if Path(stem).name != stem:  # a name must not lead out of the folder
        return None
    return next((p for p in (folder / f"{stem}{end}" for end in _ENDINGS) if _is_file(p)), None)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # no file can have this name
        return False


def _why_not_there(folder: Path, name: str, part: str | None) -> str:
    stems = {path.name.removesuffix(end) for end in _ENDINGS for path in folder.glob(f"*{end}")}
    if name in stems:
        return f"{folder}: {name} is not divided into parts: leave part out"
    pair = {f"{name}-train", f"{name}-test"}
    if pair & stems:
        other = sorted(pair - stems) or [f"{name}-{part}"]
        return f"{folder}: {other[0]}.arff is not there"
    names = sorted({stem.removesuffix("-train").removesuffix("-test") for stem in stems})
    listing = f"it has {', '.join(names)}" if names else "it has no .arff file at all"
    return f"{folder} has no data set {quoted(name)}{suggestion(str(name), names)}; {listing}"


def _from_openml(name: str) -> Any:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # it tries several times; only the last error matters
            warnings.filterwarnings("ignore", "A network error occurred while downloading")
            # its other parser takes TRUE and FALSE for truth values, and then stumbles over them
            return fetch_openml(data_id=OPENML[name], as_frame=True, parser="liac-arff")
    except (OSError, ValueError, LookupError, TypeError) as wrong:  # no network, odd answers
        raise DataError(
            f"{name} could not be fetched from openml.org ({wrong}): check the connection, or "
            f"load() it from files"
        ) from None


def _truth(column: Any, name: str) -> Board:
    """Labels as 0 and 1; OpenML stores them as the words TRUE and FALSE."""
    cells = [str(value) for value in column.tolist()]
    unknown = next((cell for cell in cells if cell not in _TRUTH), None)
    if unknown is not None:
        raise DataError(f"label {quoted(name)} from openml.org is {quoted(unknown)}, not TRUE")
    return np.array([_TRUTH[cell] for cell in cells], dtype=np.int8)
