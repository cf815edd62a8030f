# SPDX-License-Identifier: Apache-2.0
"""Fixtures for the tests of tables."""

import pytest
from jaxframes.frame.table import _array_owners, _defer, _filter, _host_column


@pytest.fixture
def selections_are_deferred(monkeypatch):
    """Defers every selection outside `jit`, however few rows it has."""
    monkeypatch.setattr(_defer, "LEAST_SELECTED", 0)
    monkeypatch.setattr(_array_owners, "LONGEST_SOURCE", 1 << 30)
    monkeypatch.setattr(_host_column, "MOST_ROWS", 0)
    # Filters of small tables select rows at once.
    monkeypatch.setattr(_filter, "MOST_PADDED", 0)
