"""A real browser on a real server: Chromium of the system, driven by Playwright."""

from collections.abc import Iterator
from contextlib import contextmanager

import browser as real
import pytest
from browser import served

from extras import needs
from workbench_site import TOKEN

__all__ = ["chromium", "opened", "served"]


@contextmanager
def chromium() -> Iterator:
    """The browser; tests are skipped where there is none."""
    if real.CHROMIUM is None:
        pytest.skip("there is no Chromium on this system")
    needs("playwright.sync_api")
    with real.chromium() as found:
        yield found


def opened(browser, base: str, **options):
    """A page that has opened the address with the token; errors in it fail the test."""
    return real.opened(browser, base, TOKEN, **options)
