# SPDX-License-Identifier: Apache-2.0
"""to_jax."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from frame_examples import INTEGERS, integers, mixed_frame
from frame_parity import on_device
from jaxframes.shardings import make_mesh, row_sharded

FRAME = mixed_frame()


@pytest.mark.parametrize("num_rows", [0, 1, 37])
def test_as_many_values_as_there_are_rows(num_rows):
    for label in ("k", "x", "f", "b"):
        series = FRAME[label][:num_rows]
        for sharding in (None, row_sharded(make_mesh(3))):
            got = on_device(series, sharding).to_jax()
            assert isinstance(got, jax.Array)
            assert got.dtype == series.dtype
            np.testing.assert_array_equal(np.asarray(got), series.to_numpy())


def test_integers_keep_their_width_and_become_floats_where_one_is_missing():
    for dtype in INTEGERS:
        assert on_device(integers(dtype)).to_jax().dtype == dtype
    shifted = on_device(FRAME["k"]).shift()
    np.testing.assert_array_equal(np.asarray(shifted.to_jax()), FRAME["k"].shift().to_numpy())


def test_strings_and_categories_are_codes_and_times_counts():
    ours = on_device(FRAME)
    np.testing.assert_array_equal(np.asarray(ours.c.to_jax()), FRAME.c.cat.codes)
    distinct = sorted(FRAME.s.dropna().unique())
    codes = [distinct.index(word) if word in distinct else -1 for word in FRAME.s]
    np.testing.assert_array_equal(np.asarray(ours.s.to_jax()), codes)
    np.testing.assert_array_equal(np.asarray(ours.t.to_jax()), FRAME.t.to_numpy().view(np.int64))


def test_inside_jit_it_has_the_capacity():
    series = on_device(FRAME["k"])
    assert jax.jit(lambda s: s.to_jax())(series).shape == (64,)
    squares = jax.jit(lambda s: s.to_frame("k").assign(k=jnp.square(s.to_jax())))(series)
    assert squares.k.tolist() == (FRAME["k"] ** 2).tolist()
