"""Tests that need a GPU: `make test-gpu`."""

from pathlib import Path

import pytest

from labelrules.kernels.device import why_no_gpu

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    reason = why_no_gpu()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.gpu)
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))
