# SPDX-License-Identifier: Apache-2.0
"""The dtypes in which columns are reduced."""

import numpy as np
import pytest
from jaxframes.primitives.local._reduced_columns import both, reduced_dtypes


@pytest.mark.parametrize(
    ("op", "dtype", "asked", "expected"),
    [
        ("sum", np.int8, None, ("int8", "int8")),
        ("sum", np.bool_, None, ("int32", "int32")),
        ("sum", np.float16, None, ("float32", "float16")),
        ("sum", np.float32, np.dtype(np.float64), ("float64", "float64")),
        ("max", np.float16, None, ("float16", "float16")),
        ("any", np.int32, None, ("bool", "bool")),
    ],
)
def test_sums_of_narrow_floats_are_computed_in_wider_ones(op, dtype, asked, expected):
    found = reduced_dtypes(op, np.dtype(dtype), asked)
    assert tuple(one.name for one in found) == expected


def test_no_flags_are_all_rows():
    flags = np.array([True, False])
    assert both(None, None) is None
    assert both(flags, None) is flags
    np.testing.assert_array_equal(both(flags, ~flags), [False, False])
