# SPDX-License-Identifier: Apache-2.0
"""The stub of the methods that lazy objects record is that of the tables."""

import lazy_stubs


def test_the_stub_is_the_one_of_the_tables():
    assert lazy_stubs.STUB.read_text() == lazy_stubs.stub(), "Run python tests/lazy_stubs.py."
