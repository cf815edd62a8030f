# SPDX-License-Identifier: Apache-2.0
"""No operation reads the padding: `frame_parity` fills it with arbitrary values."""

import jax
import numpy as np
import pytest
from frame_examples import mixed_frame
from frame_parity import on_device
from jaxframes.shardings import make_mesh, row_sharded


@pytest.mark.parametrize("num_devices", [1, 3])
def test_all_that_is_padding_is_spoiled(num_devices):
    frame = mixed_frame()
    spoiled = on_device(frame, row_sharded(make_mesh(num_devices)))
    leaves = jax.tree.leaves((spoiled._table.columns, spoiled._table.index))
    assert len(leaves) >= frame.shape[1]
    for leaf in map(np.asarray, leaves):
        assert len(leaf) > len(frame)
        padding = leaf[len(frame) :]
        if leaf.dtype.kind in "fc":
            assert {np.isnan(padding).any(), np.isinf(padding).any()} == {True}
        elif leaf.dtype.kind in "iu":
            assert {np.iinfo(leaf.dtype).min, np.iinfo(leaf.dtype).max} <= set(padding.tolist())
    assert spoiled.to_pandas().equals(frame)


def test_a_gradient_does_not_read_it():
    frame = on_device(mixed_frame()[["x"]].dropna())

    def of_all(scale):
        x = frame["x"] * scale
        parts = [x.sum(), x.std(), x.median(), x.cumsum().sum(), x.cumprod().mean(), x.max()]
        return sum(parts) + x.rolling(3).mean().sum() + (x * x.shift(1)).sum()

    step = 1e-6
    expected = (of_all(1 + step) - of_all(1 - step)) / (2 * step)
    np.testing.assert_allclose(jax.jit(jax.grad(of_all))(1.0), expected, rtol=1e-4)
