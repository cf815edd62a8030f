# SPDX-License-Identifier: Apache-2.0
"""Frames in trees that orbax saves and restores."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame


def test_standard_checkpoints_hold_frames(tmp_path):
    ocp = pytest.importorskip("orbax.checkpoint")
    expected = pd.DataFrame({"x": [1.5, np.nan], "i": [3, 4], "s": ["a", None]}, index=[7, 5])
    tree = {"frame": JaxFrame(expected), "weights": jnp.ones(3)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(tmp_path / "step", tree)
            checkpointer.wait_until_finished()
            restored = checkpointer.restore(tmp_path / "step", jax.eval_shape(lambda t: t, tree))
    assert_same(restored["frame"], expected)


@pytest.mark.parametrize("is_on_device", [False, True], ids=["host", "device"])
def test_a_frame_is_its_own_description(tmp_path, is_on_device):
    ocp = pytest.importorskip("orbax.checkpoint")
    expected = pd.DataFrame({"x": [1.5, np.nan, 2.0]})
    frame = JaxFrame(expected)
    tree = {"frame": jax.device_put(frame) if is_on_device else frame, "rows": frame["x"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ocp.StandardCheckpointer() as checkpointer:
            checkpointer.save(tmp_path / "step", tree)
            checkpointer.wait_until_finished()
            restored = checkpointer.restore(tmp_path / "step", tree)
    assert_same(restored["frame"], expected)
    assert_same(restored["rows"], expected["x"])
    assert len(restored["frame"]) == 3
