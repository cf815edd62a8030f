# SPDX-License-Identifier: Apache-2.0
"""The Python blocks of the README run in sequence and compute the documented results."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).resolve().parents[1] / "README.md"


@pytest.fixture(scope="module")
def names():
    """The global names after all blocks."""
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    names = {}
    for block in blocks:
        exec(compile(block, str(README), "exec"), names)
    return names


def test_smallest_example(names):
    assert names["keys"].tolist() == [1, 1, 2, 3]
    np.testing.assert_allclose(names["values"], [0.1, 0.4, 0.2, 0.3], rtol=1e-6)


def test_step_sorts_by_cell(names):
    position, velocity = np.asarray(names["state"])
    order = np.argsort((position * 64).astype(np.int32), kind="stable")
    np.testing.assert_array_equal(names["velocity"], velocity[order])
    np.testing.assert_array_equal(names["fastest"], np.argsort(-velocity[order], kind="stable")[:3])


def test_spread_from_median(names):
    x = np.asarray(names["position"])[:960]
    np.testing.assert_array_equal(names["spread"], np.abs(x - np.sort(x)[480]))


def test_frames(names):
    # The late flight of UA costs 0.5 * 8 * 149, the one of AA 0.5 * 30 * 191.
    assert names["worst"] == 0.5 * 30 * 191
    assert names["gradient"] == 30 * 191
    assert names["by_carrier"].to_dict() == {
        "size": {"AA": 1, "UA": 2},
        "mean": {"AA": 30.0, "UA": 6.0},
    }
