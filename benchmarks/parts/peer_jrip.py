"""The peer JRip: the jar of Weka that the package python-weka-wrapper3 brings, and a run of it."""

import os
import sys
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from parts.environments import PeerError, peers_folder, run

from labelrules import Dataset

PACKAGE = "python-weka-wrapper3"
WORKER = Path(__file__).resolve().with_name("JRipWorker.java")


class Built(NamedTuple):
    """What came of one build: CPU seconds, size without the default rule, test predictions."""

    label: int
    seed: int
    seconds: float
    n_rules: int
    n_conditions: int
    predicted: np.ndarray


def class_path() -> str:
    """Weka, what it needs, and the compiled worker."""
    folder = peers_folder() / "weka"
    if not (folder / "complete").exists():
        folder.mkdir(exist_ok=True)
        download = ("download", "--quiet", "--no-deps", "--no-binary", ":all:", PACKAGE)
        run(sys.executable, "-m", "pip", *download, "--dest", str(folder))
        for archive in folder.glob("*.tar.gz"):
            _take_jars(archive, folder)
        (folder / "complete").touch()
    jars = os.pathsep.join(str(jar) for jar in sorted(folder.glob("*.jar")))
    run("javac", "-cp", jars, "-d", str(folder), str(WORKER))
    return f"{folder}{os.pathsep}{jars}"


def _take_jars(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as files:
        jars = [file for file in files if "/lib/" in file.name and file.name.endswith(".jar")]
        if not jars:
            raise PeerError(f"{archive.name} brings no jar")
        for jar in jars:
            content = files.extractfile(jar)
            assert content is not None
            (folder / Path(jar.name).name).write_bytes(content.read())


def write_binary(path: Path, train: Dataset, test: Dataset) -> None:
    """The data as the worker reads them."""
    kinds = [len(feature.categories or ()) for feature in train.schema.features]
    parts = [
        (part.X.toarray() if part.is_sparse else np.asarray(part.X), part.Y)
        for part in (train, test)
    ]
    write_arrays(path, kinds, parts)


def write_arrays(path: Path, kinds: list[int], parts: list[tuple[np.ndarray, np.ndarray]]) -> None:
    """Write sizes, categories per feature, and X and Y of the train and the test part."""
    (X, Y), (X_test, _) = parts
    sizes = [len(X), len(X_test), len(kinds), Y.shape[1]]
    with path.open("wb") as file:
        file.write(np.array([*sizes, *kinds], dtype=">i4").tobytes())
        for table in (table for part in parts for table in part):
            file.write(table.astype(">f8").tobytes())


def built(
    train: Dataset, test: Dataset, labels: Iterable[int], seeds: Iterable[int], warm_up: int
) -> Iterator[str | Built]:
    """The version of Weka, then every build, after so many that are not counted per label."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "data.bin")
        write_binary(path, train, test)
        joined = [",".join(map(str, numbers)) for numbers in (seeds, labels)]
        command = ["java", "-XX:+UseSerialGC", "-cp", class_path(), "JRipWorker"]
        printed = run(*command, str(path), str(warm_up), *joined).splitlines()
    yield printed[0]
    for line in printed[1:]:
        label, seed, seconds, n_rules, n_conditions, digits = line.split()
        predicted = np.array(list(digits), dtype=np.int8)
        yield Built(
            int(label), int(seed), float(seconds), int(n_rules), int(n_conditions), predicted
        )
