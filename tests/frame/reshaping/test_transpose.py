# SPDX-License-Identifier: Apache-2.0
"""transpose and T."""

import jax
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, on_device


def test_rows_become_columns():
    frame = mixed_frame(5)
    assert_parity(
        lambda f: (f[["x", "y"]].T, f[["k", "x"]].transpose(), f[["s"]].T, f[["t"]].T, f["x"].T),
        frame,
        ways=["eager", "mesh"],
    )


def test_columns_of_several_types_become_objects():
    assert_parity(lambda f: f[["k", "s", "b"]].T, mixed_frame(3), ways=["eager"])


def test_no_rows_and_twice():
    assert_parity(
        lambda f: (f[:0].T.columns, f.set_index("s").T, f[["x", "y"]].T.T),
        mixed_frame(3)[["s", "x", "y"]],
        ways=["eager"],
    )


def test_labels_are_not_known_inside_jit():
    with pytest.raises(NotImplementedError, match="to_jax"):
        jax.jit(lambda f: f.T)(on_device(mixed_frame(3)))
