# SPDX-License-Identifier: Apache-2.0
"""Scans by a named operator, with heads and padding."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.contract._scan_operators import NAMED_OPERATORS, Scan
from jaxframes.primitives.local._named_scan import scan_named

UFUNCS = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


@pytest.mark.parametrize("op", NAMED_OPERATORS)
def test_each_segment_is_accumulated_by_itself(op):
    rows = np.array([2, 1, 3, 2, 1, 4], np.int32)
    heads = np.array([1, 0, 0, 1, 0, 0], bool)
    found = scan_named(jnp.asarray(rows), jnp.asarray(heads), jnp.int32(6), Scan(op, False, False))
    expected = np.concatenate([UFUNCS[op].accumulate(part) for part in (rows[:3], rows[3:])])
    np.testing.assert_array_equal(found, expected)
