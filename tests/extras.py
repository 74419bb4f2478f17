"""Packages that an extra brings: where one is missing, what needs it is skipped, with the reason.

Tests import such a package where they need it, or take it from here, where its absence is noticed
on its first use; `needs` is for tests that need one without using it. The hooks in `conftest.py`
make of the error a reason to skip. An error of the library itself is no reason, unless it says
what to install: without extras, it must not need what an extra brings.
"""

import doctest
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "src" / "labelrules"
PLACES = (*(f"{ROOT / name}" for name in ("src", "tests", "docs")), "<doctest")

EXTRAS = {
    "pandas": "pandas",
    "polars": "polars",
    "dask": "dask",
    "distributed": "dask",
    "matplotlib": "plot",
    "PIL": "plot",
    "sqlglot": "sql",
    "starlette": "workbench",
    "uvicorn": "workbench",
    "arff": "test",
    "axe_playwright_python": "test",
    "duckdb": "test",
    "fastapi": "test",
    "httpx2": "test",
    "importlinter": "test",
    "jsonschema": "test",
    "playwright": "test",
    "schemathesis": "test",
    "jupytext": "docs",
    "nbconvert": "docs",
    "sphinx": "docs",
    "sphinx_gallery": "docs",
}
"""The extra that brings each package."""

ROOMS = {"studio/web": ("starlette", "uvicorn")}
"""Folders of the library whose modules import what an extra brings."""


class Missing:
    """A module that is not there, which is an error as soon as anything of it is needed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked for by whoever looks for tests
            raise AttributeError(name)
        return getattr(import_module(self._name), name)


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        return Missing(name)


pd = _module("pandas")
pl = _module("polars")
pa = _module("pyarrow")
pq = _module("pyarrow.parquet")
arff = _module("arff")


def needs(name: str) -> Any:
    """A module that an extra brings; without it the test is skipped."""
    return import_module(name)


def reason_to_skip(error: BaseException | None) -> str | None:
    """Why a test that ended with this error is skipped; None if it has failed."""
    if isinstance(error, doctest.UnexpectedException):
        return reason_to_skip(error.exc_info[1])
    if failures := getattr(error, "failures", None):  # of a page, where the rest builds on it
        return reason_to_skip(failures[0])
    if not isinstance(error, ImportError):
        return None
    if "pip install" in str(error):
        return str(error)
    name = error.name or getattr(error.__cause__, "name", None) or ""  # others say it in words
    package = name.partition(".")[0]
    if package not in EXTRAS or _is_of_library(error, package):
        return None
    return f"{package} is not installed: the extra `{EXTRAS[package]}` brings it"


def _is_of_library(error: BaseException, package: str) -> bool:
    """Whether it is the library that wants a package, where it may not."""
    own = ""
    trace = error.__traceback__
    while trace is not None:
        path = trace.tb_frame.f_code.co_filename
        if path.startswith(
            (str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "docs"), "<doctest")
        ):
            own = path
        trace = trace.tb_next
    may = [str(LIBRARY / room) for room, packages in ROOMS.items() if package in packages]
    return own.startswith(str(LIBRARY)) and not own.startswith(tuple(may))
