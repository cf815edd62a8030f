# SPDX-License-Identifier: Apache-2.0
"""Each named number says why it is what it is."""

import thresholds


def test_each_named_number_has_a_reason():
    found = list(thresholds.thresholds())
    assert len(found) > 100
    assert [f"{one.path}: {one.name}" for one in found if not one.reason] == []
