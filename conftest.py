"""Tests, pages and docstrings that need an extra are skipped where it is missing."""

import sys
from collections.abc import Generator
from typing import Any

import pytest

from extras import reason_to_skip


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Generator[None, Any, Any]:
    """Skip tests whose fixtures need what is missing."""
    return (yield from _skipping())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None, Any, Any]:
    """Skip tests that need what is missing."""
    return (yield from _skipping())


def _skipping() -> Generator[None, Any, Any]:
    try:
        return (yield)
    except Exception as wrong:
        reason = reason_to_skip(wrong)
        if reason is None:
            raise
    pytest.skip(reason)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Skip modules that need what is missing as soon as they are imported."""
    report = yield
    error = report.call.excinfo and report.call.excinfo.value
    reason = error and (reason_to_skip(error) or reason_to_skip(error.__cause__))
    if reason and report.outcome == "failed":
        for name, module in list(sys.modules.items()):  # pytest leaves what it has half imported
            if getattr(module, "__file__", None) == str(collector.path):
                del sys.modules[name]
        report.outcome, report.result = "skipped", []
        report.longrepr = (str(collector.path), 0, f"Skipped: {reason}")
    return report
