# SPDX-License-Identifier: Apache-2.0
"""Frames have memory of their own: what callers write to their arrays later changes no frame."""

import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.shardings import make_mesh, row_sharded

# A capacity, and so the length of an array that needs no padding.
NUM_ROWS = 64
DTYPES = ["int64", "float64", "int8", "bool", "M8[ns]", "m8[s]"]


def read_in_place(dtype):
    """An array at an address from which JAX reads host memory without a copy."""
    memory = np.zeros(NUM_ROWS * 8 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + NUM_ROWS * np.dtype(dtype).itemsize].view(dtype)


def frame_of(array):
    return pd.DataFrame(array[:, None], columns=["x"], copy=False)


MADE = {
    "a frame of pandas": lambda array, sharding: JaxFrame(frame_of(array), sharding=sharding)["x"],
    "a series of pandas": lambda array, sharding: JaxSeries(
        pd.Series(array, copy=False), sharding=sharding
    ),
    "an array": lambda array, sharding: JaxSeries(array, sharding=sharding),
    "a dict": lambda array, sharding: JaxFrame({"x": array}, sharding=sharding)["x"],
    "an assigned array": lambda array, sharding: JaxFrame(
        {"k": np.arange(NUM_ROWS)}, sharding=sharding
    ).assign(x=array)["x"],
    "labels": lambda array, sharding: (
        JaxFrame({"k": np.arange(NUM_ROWS)}, index=pd.Index(array), sharding=sharding)
        .reset_index()
        .iloc[:, 0]
    ),
}


@pytest.mark.parametrize("num_devices", [None, 4])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("made", MADE)
def test_arrays_that_change_later(made, dtype, num_devices):
    sharding = None if num_devices is None else row_sharded(make_mesh(num_devices))
    array = read_in_place(dtype)
    series = MADE[made](array, sharding)
    expected = array.copy()
    array[:] = np.ones((), "int8").astype(array.dtype)
    np.testing.assert_array_equal(series.to_pandas().to_numpy(), expected)


def test_objects_that_change_later():
    objects = np.array([1, "a", None], object)
    frame = JaxFrame(frame_of(objects))
    objects[0] = 2
    assert frame["x"].tolist() == [1, "a", None]


def test_a_mask_that_changes_later():
    frame, mask = JaxFrame({"x": np.arange(NUM_ROWS)}), read_in_place("bool")
    mask[3] = True
    selected = frame[mask]
    mask[:] = True
    assert selected["x"].tolist() == [3]
