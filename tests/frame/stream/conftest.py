# SPDX-License-Identifier: Apache-2.0
"""Fixtures of tests whose streams have rows on disk."""

import tempfile

import pytest


@pytest.fixture
def nothing_is_left(tmp_path, monkeypatch):
    """The folder of temporary files, which is empty afterwards."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("jaxframes-")]
