"""What every test may use."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# Before NumPy is imported: tests run side by side, and on as many cores as there are workers, the
# threads of linear algebra would wait for each other most of the time.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# the same examples on every run and machine; compiling and files make the first one slow
settings.register_profile("ci", derandomize=True, deadline=None)
settings.load_profile("ci")


@pytest.fixture(scope="session", autouse=True)
def heard_ctrl_c() -> Iterator[None]:
    """Ctrl-C as tests need it: a shell has what it starts in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder with the benchmark data sets, which are not part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("LABELRULES_DATA") or beside)
    if not folder.is_dir():
        pytest.skip(f"no data sets: set LABELRULES_DATA to their folder ({folder} is not there)")
    return folder
