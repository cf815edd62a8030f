# SPDX-License-Identifier: Apache-2.0
"""Frames have memory of their own: what callers write to their arrays later changes no frame."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from jaxframes.frame import JaxFrame, JaxSeries, scan_arrow
from jaxframes.frame.table._from_host import column_from
from jaxframes.frame.table._layout import ONE_DEVICE
from jaxframes.shardings import make_mesh, row_sharded

# A capacity, and so the length of an array that needs no padding.
NUM_ROWS = 64
# Arrays of fewer bytes may be copied by a program.
NUM_LARGE = 2**15
DTYPES = ["int64", "float64", "int8", "bool", "M8[ns]", "m8[s]"]


def read_in_place(dtype, num_rows=NUM_ROWS):
    """An array at an address from which JAX reads host memory without a copy."""
    memory = np.zeros(num_rows * 8 + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + num_rows * np.dtype(dtype).itemsize].view(dtype)


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


def arrow_of(array):
    """The memory of an array as an array of Arrow."""
    return pa.Array.from_buffers(pa.int64(), len(array), [None, pa.py_buffer(array)])


@pytest.mark.parametrize("options", [{}, {"batch_rows": NUM_ROWS}])
def test_arrow_data_that_change_later(options):
    array = read_in_place("int64")
    frame = scan_arrow(pa.table({"x": arrow_of(array)})).collect(**options)
    array[:] = 1
    assert not frame["x"].any()


@pytest.mark.parametrize(
    ("values", "is_kept"),
    [
        (lambda data: data, True),
        (lambda data: pa.chunked_array([data]), True),
        (lambda data: data.cast(pa.timestamp("us")), True),
        (lambda data: pa.chunked_array([data[:10], data[10:]]), False),
        (lambda data: data[:-1], False),
        (lambda data: pa.concat_arrays([data[:-1], pa.array([None], pa.int64())]), False),
        (lambda data: data.cast(pa.bool_()), False),
    ],
)
def test_decoded_data_are_kept_if_jax_reads_them_in_place(values, is_kept):
    array = read_in_place("int64", NUM_LARGE)
    array[:] = np.arange(NUM_LARGE) * 3
    given = values(arrow_of(array))
    column = column_from(given, NUM_LARGE, ONE_DEVICE, in_place=True)
    data = np.asarray(column.data)
    chunk = given.chunk(0) if isinstance(given, pa.ChunkedArray) else given
    assert (data.ctypes.data == chunk.buffers()[1].address) == is_kept
    expected = column_from(given, NUM_LARGE, ONE_DEVICE)
    np.testing.assert_array_equal(data, np.asarray(expected.data))
    assert (column.valid is None) == (expected.valid is None)
    # A slice whose first value is not at such an address.
    shifted = column_from(arrow_of(np.append(array, 1))[1:], NUM_LARGE, ONE_DEVICE, in_place=True)
    np.testing.assert_array_equal(np.asarray(shifted.data), [*array[1:], 1])
