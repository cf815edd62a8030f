# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of tables."""

import pytest
from jaxframes.frame.table import _filter, _unmoved


@pytest.fixture
def selections_wait(monkeypatch):
    """Lets every selection outside `jit` wait, however few rows it has."""
    monkeypatch.setattr(_unmoved, "LEAST_UNMOVED", 0)
    monkeypatch.setattr(_unmoved, "LONGEST_SOURCE", 1 << 30)
    # Filters of small tables move rows at once.
    monkeypatch.setattr(_filter, "MOST_PADDED", 0)
